"""What a picture says of words that the model does not know, and what it offers instead."""

from __future__ import annotations

from typing import Any

import attention_core as ac
from ui import examples, models
from ui.translations import Words

MAX_NAMED = 6  # Unknown words named one by one; the rest are counted.


def notice(trace: ac.Trace, words: Words) -> dict[str, Any] | None:
    """Which words are unknown and what the model did with them, with buttons; None where it knows them all."""
    unknown = list(dict.fromkeys(token.text for token in trace.tokens if token.is_unknown))
    if not unknown:
        return None
    named = words("notes.join").join(words("notes.quoted", word=word) for word in unknown[:MAX_NAMED])
    if len(unknown) > MAX_NAMED:
        named += " " + words("notes.and_more", n=len(unknown) - MAX_NAMED)
    said = words("notes.unknown", model=trace.card.name, words=named, stand_in=_stand_in(trace))
    return {"text": said, "offers": _offers(trace, words)}


def _offers(trace: ac.Trace, words: Words) -> list[dict[str, str]]:
    """A model that knows more of these words, and an example that this one knows."""
    if "ask" not in trace.card.details:  # No taught model: none of ours has its kind of tokens.
        return []
    offers = []
    other = knows_more(trace)
    if other is not None:
        offers.append({"label": words("notes.open_in", model=other), "model": other})
    example = examples.first(examples.family_of(trace.card))
    if example.text != trace.text.strip():
        offers.append({"label": words("notes.known_example"), "title": example.text, "example": example.id})
    return offers


def _stand_in(trace: ac.Trace) -> str:
    """What the model reads in place of an unknown word."""
    pieces = (token.piece for token in trace.tokens if token.is_unknown and token.piece is not None)
    return trace.card.details.get("unknown") or next(pieces, "[UNK]")


def knows_more(trace: ac.Trace) -> str | None:
    """The base model with the same kind of tokens and the same asker that knows most of this text; None if no other."""
    here = trace.card.details
    rivals = [
        card.name
        for card in ac.models()
        if card.is_available and card.name != trace.card.name and "variant_of" not in card.details
        if all(card.details.get(fact) == here[fact] for fact in ("tokenizer", "ask"))
    ]
    counts = {name: _unknown(name, trace.text) for name in rivals}
    best = min(counts, key=counts.__getitem__, default=None)
    n_here = sum(token.is_unknown for token in trace.tokens)
    return best if best is not None and counts[best] < n_here else None


def _unknown(name: str, text: str) -> float:
    """How many tokens of the text the model does not know; infinitely many where it cannot take it."""
    try:
        return sum(token.is_unknown for token in models.load(name).tokenize(text))
    except ac.AttentionError:
        return float("inf")
