"""The frame of the Explore picture: one head's weights, the chosen cell's bill, the answers and the check."""

from __future__ import annotations

from typing import Any

import numpy as np

import attention_core as ac
from attention_core import views
from ui import examples
from ui.frame import pack
from ui.pictures import bill, head_view, parts, remarks
from ui.pictures.answers import answers, listed, named, readout_at
from ui.pictures.head_view import EXACT, SQUARES, HeadView
from ui.pictures.notice import notice
from ui.selection import Selection
from ui.translations import Words


def frame(trace: ac.Trace, selection: Selection, words: Words) -> bytes:
    view = head_view.of(trace, selection)
    token, key = view.chosen(selection)
    cell, square = view.cell(selection), _square(view)
    asker = token if selection.look == "asks" or not view.is_crossed else None
    facts, arrays = bill.behind(view, cell, words)
    header = {
        **parts.place(trace, selection),
        "strings": parts.strings(trace, words, words.section("explore")),
        "tokens": head_view.listed(view.rows, trace),
        "keys": head_view.listed(view.keys, trace) if view.is_crossed else None,
        "token": token,
        "key": key,
        "direction": selection.look,
        "answers": None if view.is_whole else answers(trace, words, view.layer.kind),
        "answer_sum": None if view.is_whole else _answer_sum(trace, asker, words),
        "answer_list": None if view.is_whole else listed(trace, asker, view.layer.kind),
        **facts,
        "left_out": view.left_out,
        "sink": None if view.sink is None else head_view.place(view.keys, view.sink.key),
        "square": None if square is None else list(square),
        "check": parts.check_sentence(trace, words),
        "hint": _hint(trace.text, words),
        "notice": notice(trace, words),
        "remarks": remarks.of_tokens(trace, words),
        "about": [*remarks.of_head(view, words), *([] if square is None else [remarks.pooling(view, square, words)])],
    }
    return pack(header, arrays | _arrays(view, token, square))


def _square(view: HeadView) -> tuple[int, int] | None:
    """How many rows and columns one square of the picture stands for; None where every cell is drawn."""
    if not view.is_large:
        return None
    n_rows, n_keys = view.shown.weights.shape
    return -(-n_rows // SQUARES), -(-n_keys // SQUARES)


def _arrays(view: HeadView, token: int | None, square: tuple[int, int] | None) -> dict[str, np.ndarray]:
    arrays = _cells(view) if square is None else _squares(view, token, square)
    arrays |= {"has_keys": view.shown.has_keys, "no_key": view.shown.sink, "removed": view.removed}
    found = {name: array for name, array in arrays.items() if array is not None}
    if view.shown.has_keys.all():
        del found["has_keys"]
    return found


def _cells(view: HeadView) -> dict[str, np.ndarray | None]:
    """Every cell: its weight, whether it may be seen, whether it is left out."""
    weights, allowed = view.shown.weights, view.shown.allowed
    whole = weights if max(weights.shape) <= EXACT else weights.astype(np.float32)
    return {"weights": whole, "allowed": None if allowed.all() else allowed, "hidden": view.hidden}


def _squares(view: HeadView, token: int | None, square: tuple[int, int]) -> dict[str, np.ndarray | None]:
    """The largest weight of each square, and the row or column of the chosen token in full."""
    weights, allowed = view.shown.weights, view.shown.allowed & view.shown.has_keys[:, None]
    hidden = np.zeros_like(allowed) if view.hidden is None else view.hidden
    pooled = views.pooled(weights, allowed, hidden, square)
    arrays: dict[str, np.ndarray | None] = {
        "weights": pooled.weights.astype(np.float32),
        "peak_rows": pooled.peak_rows,
        "peak_columns": pooled.peak_columns,
        "states": pooled.states,
    }
    if token is not None:
        at = (token, slice(None)) if view.look == "asks" else (slice(None), token)
        arrays |= {"line": weights[at], "line_allowed": allowed[at], "line_hidden": hidden[at]}
    return arrays


def _answer_sum(trace: ac.Trace, token: int | None, words: Words) -> dict[str, Any] | None:
    if token is None or trace.sum_answer is None or trace.predictions is None or not trace.predictions[token]:
        return None
    total, facts = trace.explain_answer(token), readout_at(trace, token)
    last = trace.card.n_layers - 1 if facts is None else facts["after"]
    return {
        "token": total.token,
        "word": named(trace, token, total.word, words),
        "logit": total.logit,
        "probability": total.probability,
        "log_sum_exp": total.log_sum_exp,
        "parts": [_part(part, last) for part in total.parts],
    }


def _part(part: ac.LogitPart, last: int) -> dict[str, Any]:
    """One part of the sum; `last` is the layer after which the answer is read."""
    return {
        "part": part.kind,
        "layer": part.layer,
        "logit": part.logit,
        "reads": part.is_read,
        "is_later": part.layer is not None and part.layer > last,
        "words": [
            {"token": term.key, "head": term.head, "weight": term.weight, "logit": term.logit} for term in part.terms
        ],
    }


def _hint(text: str, words: Words) -> str | None:
    example, flip = examples.of_text(text), examples.flip_of(text)
    if example is None or flip is None:
        return None
    return words("explore.hint", old=example.changed, new=flip.changed)
