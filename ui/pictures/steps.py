"""The frame of the Steps picture: the factors and weights of one head. The browser multiplies the stages itself."""

from __future__ import annotations

from typing import Any

import numpy as np

import attention_core as ac
from ui.frame import pack
from ui.pictures import parts
from ui.pictures.answers import answers_after
from ui.pictures.notice import notice
from ui.selection import Selection
from ui.translations import Words

FACTORS = ("w_q", "w_k", "w_v", "w_o", "q", "k", "v")
VECTORS = ("b_q", "b_k", "b_v")


def frame(trace: ac.Trace, selection: Selection, words: Words) -> bytes:
    head = parts.head_of(trace, selection)
    query, key = _cell(head, selection)
    header = {
        **parts.place(trace, selection),
        "strings": parts.strings(trace, words, words.section("steps")),
        "tokens": parts.tokens(trace),
        "keys": None,
        "content": f"{trace.card.name}/{selection.layer}/{selection.head}/{trace.text}",
        "step": selection.step,
        "query": query,
        "key": key,
        "d_head": head.q.shape[1],
        "scale": head.scale,
        "x_columns": _columns(trace, selection, words),
        "x_key_columns": None,
        "x_note": _input_note(trace, selection, words),
        "notice": notice(trace, words),
        "missing": words("steps.no_input") if head.x is None else None,
        "then": _then(trace, selection, words),
    }
    return pack(header, _arrays(trace, head, selection))


def _cell(head: ac.HeadSteps, selection: Selection) -> tuple[int | None, int | None]:
    found = parts.cell(head, selection)
    return (None, None) if found is None else found


def _arrays(trace: ac.Trace, head: ac.HeadSteps, selection: Selection) -> dict[str, np.ndarray]:
    arrays = {name: getattr(head, name) for name in ("x", *FACTORS)}
    if head.x_key is not head.x:
        arrays["x_key"] = head.x_key
    arrays |= {name: None if getattr(head, name) is None else getattr(head, name)[None] for name in VECTORS}
    arrays |= {"bias": head.bias, "written": parts.layer_of(trace, selection).written}
    return {name: array for name, array in arrays.items() if array is not None} | parts.masks(head)


def _reads(trace: ac.Trace, layer: int) -> tuple[list[str], list[str]]:
    """The parts of the stream that X̃ holds side by side, and those among them that the keys read."""
    facts = trace.card.details["layers"][layer]
    return list(dict.fromkeys(facts["query_reads"] + facts["key_reads"])), facts["key_reads"]


def _columns(trace: ac.Trace, selection: Selection, words: Words) -> list[str]:
    everything, _ = _reads(trace, selection.layer)
    d = trace.card.d_model
    if len(everything) == 1:
        return [str(i) for i in range(d)]
    names = {part: words(f"steps.part_{part}") for part in everything}
    return [f"{names[part]} {i}" for part in everything for i in range(d)]


def _input_note(trace: ac.Trace, selection: Selection, words: Words) -> str:
    """What X is made of: the token's vector and its position, what the layers below added, or notes beside it."""
    everything, by_keys = _reads(trace, selection.layer)
    below = trace.card.details["layers"][: selection.layer]
    unit = words(f"units.{trace.card.details['tokenizer']}_one")
    if len(everything) > 1:
        kind = "note" if everything == by_keys else "word_note"
    elif any(facts["writes"] == "word" for facts in below):
        kind = "stream"
    else:
        kind = "plain" if trace.card.details["positions"] == "none" else "word"
    return words(f"steps.input_{kind}", unit=unit, d=trace.card.d_model)


def _then(trace: ac.Trace, selection: Selection, words: Words) -> dict[str, Any]:
    """What happens to the output after the fourth step."""
    facts = trace.card.details["layers"][selection.layer]
    n_heads = parts.layer_of(trace, selection).n_heads
    unit = words(f"units.{trace.card.details['tokenizer']}_one")
    is_last = selection.layer == trace.card.n_layers - 1
    answer = answers_after(trace, selection.layer, words)
    sentences = [
        words("steps.then_one_head", unit=unit) if n_heads == 1 else words("steps.then_heads", unit=unit, n=n_heads),
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
