"""What the Steps picture says of a head in sentences: what goes in, what is missing, what happens to the output."""

from __future__ import annotations

from typing import Any

import numpy as np

import attention_core as ac
from ui.pictures import parts
from ui.pictures.answers import answers_after
from ui.selection import Selection
from ui.translations import Words

ONE_SIDED = ("self", "encoder", "decoder")  # Stacks whose rows and columns are the same tokens.

# The reasons of attention_core.capture, by the key of their translation; any other stands as it is.
REASONS = {
    "the module does not make q of one input, and k and v of one, by matrices of a known form": "steps.reason_form",
    "this model hands out its weights only, not what they are made of": "steps.reason_weights",
}


def missing(layer: ac.LayerTrace, words: Words) -> str | None:
    """Why the walk doesn't begin with X; None where it does."""
    if layer.x is not None and layer.w_q is not None:
        return None
    if layer.reason is None:  # Own arrays.
        return words("steps.no_input_given") if layer.given is None else words("steps.no_factors_given")
    reason = words(REASONS[layer.reason]) if layer.reason in REASONS else layer.reason
    return words("steps.no_input" if layer.given is None else "steps.no_factors", reason=reason)


def is_one_input(head: ac.HeadSteps) -> bool:
    """Whether keys and values are made from the rows that the queries are made from."""
    x, x_key = head.x, head.x_key
    return x_key is None or x is x_key or (x is not None and x.shape == x_key.shape and np.array_equal(x, x_key))


def columns(trace: ac.Trace, selection: Selection, words: Words) -> list[str] | None:
    """The names of X's columns where they are more than their numbers."""
    if not _is_taught(trace):
        return None
    everything, _ = _reads(trace, selection.layer)
    if len(everything) == 1:
        return None
    names = {part: words(f"steps.part_{part}") for part in everything}
    return [f"{names[part]} {i}" for part in everything for i in range(trace.card.d_model)]


def input_note(trace: ac.Trace, selection: Selection, head: ac.HeadSteps, words: Words) -> str | None:
    """What X is made of."""
    if head.x is None or head.x_key is None:
        return None
    if _is_taught(trace):
        return _taught_note(trace, selection, words)
    unit, units = _unit(trace, words), words(f"units.{trace.card.details['tokenizer']}_many")
    if is_one_input(head):
        return words("steps.input_real", unit=unit, d=head.x.shape[1])
    return words("steps.input_crossed", units=units, d=head.x.shape[1], d_key=head.x_key.shape[1])


def then(trace: ac.Trace, selection: Selection, words: Words) -> dict[str, Any]:
    """What happens to the output after the fourth step."""
    layer = parts.layer_of(trace, selection)
    if _is_taught(trace):
        return _then_taught(trace, selection, words)
    if layer.given is not None or (layer.reason is None and layer.w_o is None):
        sentences = [words("steps.then_unknown")]
    else:
        sentences = _then_real(trace, layer, words)
    return {"sentences": sentences, "written_label": None, "answer": None}


def _is_taught(trace: ac.Trace) -> bool:
    """Whether the card says, layer by layer, what is read and written."""
    return "readouts" in trace.card.details


def _unit(trace: ac.Trace, words: Words) -> str:
    return words(f"units.{trace.card.details['tokenizer']}_one")


def _reads(trace: ac.Trace, layer: int) -> tuple[list[str], list[str]]:
    """The parts of the stream that X̃ holds side by side, and those among them that the keys read."""
    facts = trace.card.details["layers"][layer]
    return list(dict.fromkeys(facts["query_reads"] + facts["key_reads"])), facts["key_reads"]


def _taught_note(trace: ac.Trace, selection: Selection, words: Words) -> str:
    """The token's vector and its position, what the layers below added, or notes beside it."""
    everything, by_keys = _reads(trace, selection.layer)
    below = trace.card.details["layers"][: selection.layer]
    if len(everything) > 1:
        kind = "note" if everything == by_keys else "word_note"
    elif any(facts["writes"] == "word" for facts in below):
        kind = "stream"
    else:
        kind = "plain" if trace.card.details["positions"] == "none" else "word"
    return words(f"steps.input_{kind}", unit=_unit(trace, words), d=trace.card.d_model)


def _then_taught(trace: ac.Trace, selection: Selection, words: Words) -> dict[str, Any]:
    facts = trace.card.details["layers"][selection.layer]
    unit = _unit(trace, words)
    is_last = selection.layer == trace.card.n_layers - 1
    answer = answers_after(trace, selection.layer, words)
    sentences = [
        _summed(parts.layer_of(trace, selection).n_heads, unit, words),
        words(f"steps.then_{facts['writes']}", unit=unit),
        words("steps.then_mlp", unit=unit) if facts["mlp"] else None,
        None if is_last else words("steps.then_next", next=selection.layer + 1),
        words("steps.then_read", unit=unit) if answer else None,
    ]
    return {
        "sentences": [sentence for sentence in sentences if sentence is not None],
        "written_label": words("steps.written", layer=selection.layer),
        "answer": answer,
    }


def _summed(n_heads: int, unit: str, words: Words) -> str:
    return words("steps.then_one_head", unit=unit) if n_heads == 1 else words("steps.then_heads", unit=unit, n=n_heads)


def _rest(layer: ac.LayerTrace, unit: str, words: Words) -> str:
    return words("steps.then_rest_one", unit=unit) if layer.n_heads == 1 else words("steps.then_rest", unit=unit)


def _then_real(trace: ac.Trace, layer: ac.LayerTrace, words: Words) -> list[str]:
    """The head's own part is all that a trace has numbers of; the rest is told."""
    unit = _unit(trace, words)
    if layer.w_o is None:
        known = [words("steps.then_no_w_o")]
    else:
        bias = [words("steps.then_bias")] if layer.b_o is not None else []
        known = [_summed(layer.n_heads, unit, words), *bias, _rest(layer, unit, words)]
    above = [other.index for other in trace.stacks[layer.kind] if other.index > layer.index]
    if layer.kind == "decoder" and "cross" in trace.stacks:
        return [*known, words("steps.then_cross", layer=layer.index)]
    return [*known, words("steps.then_above", next=above[0])] if above else known
