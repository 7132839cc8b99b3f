"""What stands behind one cell: its bill, term by term; or the pieces of words that it is made of; or why not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import attention_core as ac
from attention_core import views
from ui.pictures import head_view
from ui.pictures.head_view import HeadView
from ui.translations import Words

MOST_PIECES = 16  # Of a word, listed one by one.

Facts = dict[str, Any]
Arrays = dict[str, np.ndarray]


def behind(view: HeadView, cell: tuple[int, int] | None, words: Words) -> tuple[Facts, Arrays]:
    """The header's `bill`, `pieces` and `no_bill` for the chosen cell, and the arrays that belong to them."""
    facts: Facts = {"bill": None, "pieces": None, "no_bill": None}
    if cell is None:
        return facts, {}
    asks, answers = (head_view.pieces(each, at) for each, at in zip((view.rows, view.keys), cell, strict=True))
    if len(asks) > 1 or len(answers) > 1:
        pieces, arrays = _pieces(view, cell, asks, answers)
        return {**facts, "pieces": pieces}, arrays
    if not isinstance(view.head, ac.HeadSteps):
        return {**facts, "no_bill": _why_none(view, words)}, {}
    bill, arrays = _bill(view, view.head, cell, (asks[0], answers[0]))
    return {**facts, "bill": bill}, arrays


def _bill(view: HeadView, head: ac.HeadSteps, cell: tuple[int, int], at: tuple[int, int]) -> tuple[Facts, Arrays]:
    """The bill of the cell `at` of the head, which stands at `cell` of the picture."""
    bill, between = head.explain(*at), views.links(head, *at)
    facts: Facts = {
        "query": cell[0],
        "key": cell[1],
        "score": bill.score,
        "scale": head.scale,
        "multiplied": between.multiplied,
        "softcap": head.softcap,
        "capped": between.capped,
        "bias": _finite(bill.bias),
        "has_bias": bill.bias is not None,
        "scaled": _finite(bill.scaled),
        "row_max": _finite(bill.row_max) if head.has_keys[bill.query] or head.sink is not None else 0.0,
        "exp": bill.exp,
        "sink_exp": bill.sink_exp,
        "row_sum": bill.row_sum,
        "weight": bill.weight,
        "removed": None if view.removed is None else float(view.removed[cell[0]]),
        "shown": float(view.visible[cell]),
        "d_head": head.q.shape[1],
        "allowed": bill.is_allowed and bool(head.has_keys[bill.query]),
    }
    vectors = {"q": head.q[at[0]], "k": head.k[at[1]], "products": bill.products, "handed": bill.weighted_value}
    return facts, {f"bill_{name}": vector for name, vector in vectors.items()}


def _pieces(view: HeadView, cell: tuple[int, int], asks: range, answers: range) -> tuple[Facts, Arrays]:
    """The cells of the tokens that a cell between whole words is made of; none of them where they are too many."""
    tokens = view.trace.asking(view.layer.kind), view.trace.answering(view.layer.kind)
    facts: Facts = {
        "query": cell[0],
        "key": cell[1],
        "n_asks": len(asks),
        "n_answers": len(answers),
        "weight": float(view.shown.weights[cell]),
        "asks": None,
        "answers": None,
    }
    if max(len(asks), len(answers)) > MOST_PIECES:
        return facts, {}
    head = view.head if view.sink is None or view.removed is None else views.without_key(view.head, view.sink.key)[0]
    facts["asks"] = head_view.listed([tokens[0][i] for i in asks], view.trace)
    facts["answers"] = head_view.listed([tokens[1][j] for j in answers], view.trace)
    return facts, {"pieces": head.weights[asks.start : asks.stop, answers.start : answers.stop]}


def _why_none(view: HeadView, words: Words) -> str:
    if view.trace.method == "arrays":
        return words("remarks.weights_given")
    if view.trace.method == "eager":
        return words("remarks.weights_eager")
    return view.layer.reason or words("remarks.weights_given")


def _finite(value: float | None) -> float | None:
    """JSON knows no infinity; None stands for −∞."""
    return value if value is not None and math.isfinite(value) else None
