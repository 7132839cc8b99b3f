"""The frame of the Steps picture: the factors of one head. The browser makes the stages of them, row by row."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

import attention_core as ac
from ui.frame import pack
from ui.pictures import parts, steps_said
from ui.pictures.notice import notice
from ui.selection import Selection
from ui.translations import Words

FACTORS = ("w_q", "w_k", "w_v", "w_o", "q", "k", "v", "q_projected", "k_projected")
VECTORS = ("b_q", "b_k", "b_v")
SAME = 1e-4  # Two float32 ways to one number differ by less than this share of the largest one.


def frame(trace: ac.Trace, selection: Selection, words: Words) -> bytes:
    layer = parts.layer_of(trace, selection)
    head = layer.head_weights(selection.head)
    query, key = parts.cell(head, selection) or (None, None)
    header = {
        **parts.place(trace, selection),
        "strings": parts.strings(trace, words, words.section("steps")),
        "tokens": parts.listed(trace.asking(layer.kind)),
        "keys": None if layer.kind in steps_said.ONE_SIDED else parts.listed(trace.answering(layer.kind)),
        "content": _content(trace, selection, head),
        "step": selection.step,
        "query": query,
        "key": key,
        "notice": notice(trace, words),
        "missing": steps_said.missing(layer, words),
        "then": steps_said.then(trace, selection, words),
    }
    if not isinstance(head, ac.HeadSteps):
        return pack(header, {"weights": head.weights, **parts.masks(head)})
    return pack({**header, **_facts(trace, selection, head, words)}, _arrays(head, layer))


def _content(trace: ac.Trace, selection: Selection, head: ac.HeadWeights) -> str:
    """What tells this head's numbers from any other's: two traces of one text may have other weights."""
    place = f"{trace.card.name}/{selection.stack}/{selection.layer}/{selection.head}"
    return f"{place}/{crc32(head.weights.tobytes()):08x}/{trace.text}/{trace.pair}/{trace.target}"


def _facts(trace: ac.Trace, selection: Selection, head: ac.HeadSteps, words: Words) -> dict[str, Any]:
    """The plain numbers of a head, and what is said of where its rows come from."""
    layer = parts.layer_of(trace, selection)
    return {
        "d_head": head.q.shape[1],
        "scale": head.scale,
        "softcap": head.softcap,
        "sink": head.sink_logit,
        "dtype": trace.card.details.get("dtype"),
        "reach": _reaches(head),
        "turns": _turns(head),
        "group": _group(layer, selection.head),
        "x_columns": steps_said.columns(trace, selection, words),
        "x_note": steps_said.input_note(trace, selection, head, words),
    }


def _arrays(head: ac.HeadSteps, layer: ac.LayerTrace) -> dict[str, np.ndarray]:
    arrays = {name: getattr(head, name) for name in ("x", *FACTORS)}
    if not steps_said.is_one_input(head):
        arrays["x_key"] = head.x_key
    arrays |= {name: None if getattr(head, name) is None else getattr(head, name)[None] for name in VECTORS}
    # T5's cross-attention has a bias of zeros: it adds nothing.
    bias = head.bias if head.bias is not None and head.bias.any() else None
    arrays |= {"bias": bias, "written": layer.written}
    return {name: array for name, array in arrays.items() if array is not None} | parts.masks(head)


def _reaches(head: ac.HeadSteps) -> dict[str, float]:
    """The largest absolute number of each stage: the range of its colours, which no single row knows."""
    stages = {"scores": head.scores, "scaled": head.scaled, "output": head.output}
    if head.w_o is not None:
        stages["head_written"] = head.output @ head.w_o
    return {name: float(np.abs(stage).max(initial=0.0)) for name, stage in stages.items()}


def _group(layer: ac.LayerTrace, head: int) -> dict[str, int] | None:
    """Which key/value head is read, and by which query heads; None where each has its own."""
    if layer.n_kv_heads == layer.n_heads:
        return None
    size = layer.n_heads // layer.n_kv_heads
    kv = head // size
    first = kv * size
    return {
        "head": head,
        "kv": kv,
        "first": first,
        "last": first + size - 1,
        "n": layer.n_heads,
        "n_kv": layer.n_kv_heads,
    }


def _turns(head: ac.HeadSteps) -> dict[str, dict[str, Any]] | None:
    """What the model does to q and to k between x w + b and the product, as far as the numbers tell."""
    if head.q_projected is None or head.k_projected is None:
        return None
    return {"q": _turn(head.q_projected, head.q), "k": _turn(head.k_projected, head.k)}


def _turn(before: np.ndarray, after: np.ndarray) -> dict[str, Any]:
    if before.shape != after.shape:
        return {"kind": "changed"}
    tolerance = SAME * float(np.abs(before).max(initial=0.0))
    if np.abs(after - before).max(initial=0.0) <= tolerance:
        return {"kind": "same"}
    factor = float((after * before).sum() / (before * before).sum())
    if np.abs(after - factor * before).max() <= tolerance * max(1.0, abs(factor)):
        return {"kind": "scaled", "factor": factor}
    was, is_now = (np.linalg.norm(rows.astype(np.float64), axis=1) for rows in (before, after))
    stretch = float((is_now * was).sum() / (was * was).sum())
    if np.abs(is_now - stretch * was).max() > SAME * was.max():
        return {"kind": "changed"}
    return {"kind": "rotated"} if abs(stretch - 1) <= SAME else {"kind": "stretched", "factor": stretch}
