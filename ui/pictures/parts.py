"""What several pictures say in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import attention_core as ac
from ui.selection import Selection
from ui.translations import Words


def strings(trace: ac.Trace, words: Words, section: Mapping[str, str]) -> dict[str, str]:
    """A picture's sentences, speaking of words or of characters, whichever the model reads."""
    tokenizer = trace.card.details["tokenizer"]
    one, many = words(f"units.{tokenizer}_one"), words(f"units.{tokenizer}_many")
    return {key: text.replace("{unit}", one).replace("{units}", many) for key, text in section.items()}


def tokens(trace: ac.Trace) -> list[dict[str, Any]]:
    """The tokens as they are shown; a flag is sent only where it is up."""
    return [
        {"shown": token.text}
        | ({"special": True} if token.is_special else {})
        | ({"unknown": True} if token.is_unknown else {})
        for token in trace.tokens
    ]


def layer_of(trace: ac.Trace, selection: Selection) -> ac.LayerTrace:
    """The chosen layer, by its number in the model."""
    return next(layer for layer in trace.stacks[selection.stack] if layer.index == selection.layer)


def head_of(trace: ac.Trace, selection: Selection) -> ac.HeadSteps:
    return layer_of(trace, selection).head(selection.head)


def masks(head: ac.HeadSteps) -> dict[str, np.ndarray]:
    """The masks that a picture must draw; none where everything may be seen."""
    found = {}
    if not head.allowed.all():
        found["allowed"] = head.allowed
    if not head.has_keys.all():
        found["has_keys"] = head.has_keys
    return found


def cell(head: ac.HeadSteps, selection: Selection) -> tuple[int, int] | None:
    """The chosen cell (query, key): where no answer is chosen, the strongest one. None when no token is locked."""
    token, key = selection.token, selection.key
    if token is None:
        return None
    if selection.look == "asks":
        return token, int(head.weights[token].argmax()) if key is None else key
    return (int(head.weights[:, token].argmax()) if key is None else key), token


def place(trace: ac.Trace, selection: Selection) -> Mapping[str, Any]:
    """What every frame says about where it stands."""
    return {
        "model": trace.card.name,
        "layer": selection.layer,
        "head": selection.head,
        "projector": selection.is_projected,
    }


def check_sentence(trace: ac.Trace, words: Words) -> dict[str, Any]:
    """The check of the trace as one line that names what was compared with what."""
    checked = trace.check()
    return {
        "passed": checked.passed,
        "sentence": words(
            f"check.{checked.reference.replace('-', '_')}",
            difference=scientific(checked.largest_difference),
            rows=checked.n_rows,
        ),
    }


def scientific(value: float) -> str:
    """2.2e-16 → "2.2·10⁻¹⁶"."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}·10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
