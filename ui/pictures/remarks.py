"""What a reader should know about the tokens and about the way in which a head is drawn, as sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

import attention_core as ac
from ui.pictures import head_view, parts
from ui.pictures.head_view import ALL, HeadView
from ui.translations import Words

MOST = 8  # Notes told one by one; the rest are counted.
PLACED = ("doubled_begin", "typed_special", "unplaced")


def of_tokens(trace: ac.Trace, words: Words) -> list[str]:
    """The trace's notes: of its text, or of own arrays that are no weights."""
    found = [_note(trace, note, words) for note in trace.notes[:MOST]]
    left = len(trace.notes) - MOST
    return [*found, words("remarks.more", n=left)] if left > 0 else found


def of_head(view: HeadView, words: Words) -> list[str]:
    """What the head is, and what of it is drawn."""
    found = [_group(view, words), _no_key(view, words), _sink(view, words), _whole(view, words), _block(view, words)]
    return [said for said in found if said is not None]


def share(part: float) -> str:
    """0.4321 → "43.2%"."""
    return f"{100 * part:.1f}%"


def pooling(view: HeadView, square: tuple[int, int], words: Words) -> str:
    """How a matrix too large to draw cell by cell is drawn."""
    n_rows, n_keys = view.shown.weights.shape
    _, units = parts.units(view.trace, words)
    told = {"rows": n_rows, "columns": n_keys, "a": square[0], "b": square[1]}
    return words(f"remarks.pooled_{view.look}", units=units, unit=parts.units(view.trace, words)[0], **told)


def _note(trace: ac.Trace, note: ac.Note, words: Words) -> str:
    told: dict[str, Any] = {"layer": note.layer, "head": note.head, "value": f"{note.value:.4g}", "n": note.n}
    if note.kind in PLACED:
        token = trace.tokens[note.tokens[0]]
        told |= {"token": token.shown, "first": note.tokens[0], "last": note.tokens[-1]}
    elif note.kind == "unread":
        text = trace.text if note.segment == 0 else trace.pair or ""
        told |= {"text": text[note.start : note.end], "first": note.start, "last": note.end - 1}
    elif note.kind in {"row_sums", "outside"}:
        told |= {"first": note.tokens[0], "last": note.tokens[-1]}
    return words(f"remarks.note_{note.kind}", **told)


def _group(view: HeadView, words: Words) -> str | None:
    """Which key/value head is read, where several query heads share one."""
    n_heads, n_shared = view.layer.n_heads, view.layer.n_kv_heads
    if n_heads == n_shared:
        return None
    shared = view.number * n_shared // n_heads
    with_it = [h for h in range(n_heads) if h * n_shared // n_heads == shared]
    return words("remarks.group", head=view.number, shared=shared, first=with_it[0], last=with_it[-1])


def _no_key(view: HeadView, words: Words) -> str | None:
    if view.head.sink is None:
        return None
    mean = float(view.head.sink[view.head.has_keys].mean()) if view.head.has_keys.any() else 1.0
    return words("remarks.no_key", share=share(mean), unit=parts.units(view.trace, words)[0])


def _sink(view: HeadView, words: Words) -> str | None:
    if view.sink is None:
        return None
    token = view.trace.answering(view.layer.kind)[view.sink.key]
    told = {"token": token.shown, "position": view.sink.key, "share": share(view.sink.share), "n": view.sink.n_rows}
    if view.removed is None:
        return words("remarks.sink", **told)
    total = view.head.weights.sum(dtype=np.float64)
    gone = float(view.head.weights[:, view.sink.key].sum(dtype=np.float64) / total) if total else 0.0
    return words("remarks.sink_left_out", **told, gone=share(gone))


def _whole(view: HeadView, words: Words) -> str | None:
    if not view.is_whole:
        return None
    _, units = parts.units(view.trace, words)
    n_tokens = sum(len(head_view.pieces(view.rows, i)) for i in range(len(view.rows)))
    return words("remarks.whole", n=n_tokens, units=units, words=len(view.rows))


def _block(view: HeadView, words: Words) -> str | None:
    if view.block == ALL:
        return None
    weights = view.shown.weights
    inside = ac.blocks(view.rows, view.keys)[view.block]
    total = float(weights.sum(dtype=np.float64))
    held = float(weights[~inside].sum(dtype=np.float64)) / total if total else 0.0
    return words("remarks.block", asks=view.block[0], answers=view.block[1], hidden=share(held))
