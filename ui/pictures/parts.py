"""What several pictures say in the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import attention_core as ac
from attention_core import views
from attention_core.views import Sink
from ui.selection import Selection
from ui.translations import Words, with_unit

# What was checked once of a trace stays so: a trace is a value.
_checked: WeakKeyDictionary[ac.Trace, ac.Verification] = WeakKeyDictionary()

# What a trace is held against, and how its factors were had, each told in a sentence of its own.
CHECKED = {
    ("model-output", "interface"): "check.interface",
    ("model-output", "watched"): "check.watched",
    ("model-output", "eager"): "check.eager",
}
ROUNDED = ("bfloat16", "float16")


def strings(trace: ac.Trace, words: Words, section: Mapping[str, str]) -> dict[str, str]:
    """A picture's sentences, speaking of words or of characters, whichever the model reads."""
    one, many = units(trace, words)
    return {key: with_unit(with_unit(text, "unit", one), "units", many) for key, text in section.items()}


def units(trace: ac.Trace, words: Words) -> tuple[str, str]:
    """What one position is called, and several."""
    tokenizer = trace.card.details["tokenizer"]
    return words(f"units.{tokenizer}_one"), words(f"units.{tokenizer}_many")


def tokens(trace: ac.Trace) -> list[dict[str, Any]]:
    """The text's tokens as they are shown."""
    return listed(trace.tokens)


def listed(tokens: Sequence[ac.Token | ac.Word]) -> list[dict[str, Any]]:
    """Tokens as they are shown; a flag is sent only where it is up."""
    # The browser isolates each word itself; the marks would show up in widths and in copied text.
    return [
        {"shown": token.shown.removeprefix("\u2068").removesuffix("\u2069")}
        | ({"special": True} if token.is_special else {})
        | ({"unknown": True} if token.is_unknown else {})
        for token in tokens
    ]


def layer_of(trace: ac.Trace, selection: Selection) -> ac.LayerTrace:
    """The chosen layer, by its number in the model."""
    return next(layer for layer in trace.stacks[selection.stack] if layer.index == selection.layer)


def head_of(trace: ac.Trace, selection: Selection) -> ac.HeadWeights:
    """The chosen head: a `HeadSteps`, unless only its weights are known."""
    return layer_of(trace, selection).head_weights(selection.head)


def sink_of(trace: ac.Trace, selection: Selection) -> Sink | None:
    """The token that takes most of the chosen head's attention, or None."""
    return views.sink_of(head_of(trace, selection))


def masks(head: ac.HeadWeights) -> dict[str, np.ndarray]:
    """The masks that a picture must draw; none where everything may be seen."""
    found = {}
    if not head.allowed.all():
        found["allowed"] = head.allowed
    if not head.has_keys.all():
        found["has_keys"] = head.has_keys
    return found


def cell(head: ac.HeadWeights, selection: Selection) -> tuple[int, int] | None:
    """The chosen cell (query, key): where no answer is chosen, the strongest one. None when no token is locked."""
    return cell_at(head.weights, selection.look, selection.token, selection.key)


def cell_at(weights: np.ndarray, look: str, token: int | None, key: int | None) -> tuple[int, int] | None:
    """The same for any matrix; what it has no place for counts as not chosen."""
    asks = look == "asks"
    around = weights if asks else weights.T
    if token is None or token >= len(around):
        return None
    partner = int(around[token].argmax()) if key is None or key >= around.shape[1] else key
    return (token, partner) if asks else (partner, token)


def place(trace: ac.Trace, selection: Selection) -> Mapping[str, Any]:
    """What every frame says about where it stands."""
    return {
        "model": trace.card.name,
        "layer": selection.layer,
        "head": selection.head,
        "projector": selection.is_projected,
    }


def checked(trace: ac.Trace) -> ac.Verification:
    """The trace held against the model's own computation, once."""
    if trace not in _checked:
        _checked[trace] = trace.check()
    return _checked[trace]


def check_sentence(trace: ac.Trace, words: Words) -> dict[str, Any]:
    """The check of the trace as one line that names what was compared with what."""
    found = checked(trace)
    return {
        "passed": found.passed,
        "sentence": _given(trace, words) if found.reference == "given" else _own(trace, words),
    }


def _own(trace: ac.Trace, words: Words) -> str:
    """Held against the model."""
    found, dtype = checked(trace), trace.card.details.get("dtype")
    key = CHECKED.get((found.reference, trace.method), "check.plain_forward")
    said = words(
        key,
        difference=scientific(found.largest_difference),
        rows=found.n_rows,
        tolerance=scientific(found.tolerance),
        sums=scientific(found.row_sum_error),
    )
    return said + words("check.rounded", dtype=dtype) if dtype in ROUNDED else said


def _given(trace: ac.Trace, words: Words) -> str:
    """Own arrays have no model to be held against."""
    found = checked(trace)
    key = "check.given" if found.passed else "check.given_off"
    made = "check.made_here" if trace.layers[0].given is None else "check.as_given"
    sums, tolerance = scientific(found.row_sum_error), scientific(found.tolerance)
    return words(made) + words(key, sums=sums, tolerance=tolerance, forbidden=scientific(found.forbidden_weight))


def scientific(value: float) -> str:
    """2.2e-16 → "2.2·10⁻¹⁶"."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}·10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
