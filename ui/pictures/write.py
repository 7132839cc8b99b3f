"""The frame of the Write picture: what it writes with. What is written it asks the server for (ui/written.py)."""

from __future__ import annotations

from ui import models
from ui.frame import pack
from ui.selection import Selection
from ui.translations import Words, with_unit
from ui.writers import Choice

PER_PRESS = 24  # Tokens that are written at one press, unless they are stopped.


def frame(selection: Selection, choice: Choice, reader: str, words: Words) -> bytes:
    card = models.card(choice.model)
    unit, units = (words(f"units.{card.details['tokenizer']}_{n}") for n in ("one", "many"))
    section = words.section("write")
    strings = {key: with_unit(with_unit(text, "unit", unit), "units", units) for key, text in section.items()}
    header = {
        "strings": strings,
        "language": words.language,
        "projector": selection.is_projected,
        "reader": reader,
        "model": choice.model,
        "prompt": choice.prompt,
        "layer": choice.layer,
        "head": choice.head,
        "how": choice.how,
        "temperature": choice.temperature if choice.how == "sampled" else None,
        "seed": choice.seed,
        "limit": card.max_tokens,
        "per_press": PER_PRESS,
    }
    return pack(header, {})
