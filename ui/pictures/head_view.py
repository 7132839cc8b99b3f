"""A head as it is drawn: token by token or in whole words, with or without its sink, whole or one block of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

import attention_core as ac
from attention_core import views
from attention_core.views import Sink
from ui.pictures import parts
from ui.selection import Selection

ALL = "all"
LARGEST = 256  # Positions of a side that are drawn cell by cell; beyond, a square stands for several.
SQUARES = 192  # The most squares of a side then: they find room beside the ranking.
EXACT = 50  # Positions up to which weights travel in full precision, and the picture stays within its budget.

Labels = Sequence[ac.Token] | Sequence[ac.Word]


@dataclass(frozen=True, eq=False)
class HeadView:
    """One head of a trace, as drawn.

    Attributes:
        head: token by token, as the model has it; shown: as drawn, positions being words where `is_whole`.
        rows, keys: what stands at the rows and the columns.
        is_whole: whether some pieces are read as one word.
        sink: the token that takes most of the attention, or None; removed: (row,) what each row gave to it, where it is
            left out, else None.
        block: which block of a pair is drawn: "AA", "AB", "BA", "BB" or "all".
    """

    trace: ac.Trace
    layer: ac.LayerTrace
    number: int
    look: str
    head: ac.HeadWeights
    shown: ac.HeadWeights
    rows: Labels
    keys: Labels
    is_whole: bool
    sink: Sink | None
    removed: np.ndarray | None
    block: str

    @property
    def is_crossed(self) -> bool:
        """Whether rows and columns are two sequences."""
        return self.layer.kind == "cross"

    @property
    def is_large(self) -> bool:
        return max(self.shown.weights.shape) > LARGEST

    @cached_property
    def left_out(self) -> int | None:
        """The column of the sink that is left out; None where other pieces of its word stay."""
        if self.sink is None or self.removed is None:
            return None
        column = place(self.keys, self.sink.key)
        word = None if column is None else self.keys[column]
        return None if isinstance(word, ac.Word) and word.end - word.first > 1 else column

    @cached_property
    def hidden(self) -> np.ndarray | None:
        """(row, column) the cells that are left out of the picture, which is neither masked nor zero; None: no cell."""
        found = np.zeros(self.shown.weights.shape, dtype=bool)
        if self.block != ALL:
            found |= ~ac.blocks(self.rows, self.keys)[self.block]
        if self.left_out is not None:
            found[:, self.left_out] = True
        return found if found.any() else None

    @cached_property
    def visible(self) -> np.ndarray:
        """(row, column) the weights that are drawn; 0 where a cell is left out."""
        return self.shown.weights if self.hidden is None else np.where(self.hidden, 0, self.shown.weights)

    def chosen(self, selection: Selection) -> tuple[int | None, int | None]:
        """The chosen token and its partner as positions of the picture."""
        own, others = (self.rows, self.keys) if self.look == "asks" else (self.keys, self.rows)
        token = place(own, selection.token)
        return token, None if token is None else place(others, selection.key)

    def cell(self, selection: Selection) -> tuple[int, int] | None:
        """The chosen cell of the picture: where no answer is chosen, the strongest one that is drawn."""
        return parts.cell_at(self.visible, self.look, *self.chosen(selection))


def of(trace: ac.Trace, selection: Selection) -> HeadView:
    """The chosen head, as the selection's switches say."""
    layer = parts.layer_of(trace, selection)
    head = layer.head_weights(selection.head)
    sink = views.sink_of(head)
    asking, answering = trace.asking(layer.kind), trace.answering(layer.kind)
    is_pair = any(token.segment for token in (*asking, *answering))
    view = HeadView(
        *(trace, layer, selection.head, selection.look, head, head, asking, answering),
        is_whole=False,
        sink=sink,
        removed=None,
        block=selection.block if is_pair else ALL,
    )
    if sink is not None and selection.is_sink_left_out:
        shown, removed = views.without_key(head, sink.key)
        view = replace(view, shown=shown, removed=removed)
    return _in_words(view) if selection.is_whole else view


def place(labels: Labels, token: int | None) -> int | None:
    """Where a token stands among the labels; None where it does not."""
    if token is None or not labels:
        return None
    if isinstance(labels[0], ac.Token):
        return token if token < len(labels) else None
    return next((i for i in range(len(labels)) if token in pieces(labels, i)), None)


def listed(labels: Labels, trace: ac.Trace) -> list[dict[str, Any]]:
    """What stands at the positions, for a picture; `at` is a word's first token."""
    found, each = parts.listed(labels), list[ac.Token | ac.Word](labels)
    for facts, label in zip(found, each, strict=True):
        if label.segment:
            facts["segment"] = label.segment
        if isinstance(label, ac.Word):
            facts["at"] = label.first
        elif is_read_by_ids(trace):
            facts |= _fed(label)
    return found


def is_read_by_ids(trace: ac.Trace) -> bool:
    """Whether the tokens' ids are a tokenizer's own, which a reader may look up."""
    return trace.card.details["tokenizer"] == "tokens"


def pieces(labels: Labels, position: int) -> range:
    """The tokens that a position stands for."""
    label = labels[position]
    return range(label.first, label.end) if isinstance(label, ac.Word) else range(position, position + 1)


def _fed(token: ac.Token) -> dict[str, Any]:
    facts: dict[str, Any] = {"id": token.id} if token.id >= 0 else {}
    if token.is_unknown and token.piece is not None:
        facts["piece"] = token.piece
    return facts | ({"added": True} if token.is_added else {})


def _in_words(view: HeadView) -> HeadView:
    """The same, with pieces read as whole words; as it is where there are none."""
    trace, kind = view.trace, view.layer.kind
    queries = _words(view.rows, trace, kind in {"decoder", "cross"})
    keys = _words(view.keys, trace, kind == "decoder") if view.is_crossed else queries
    if len(queries) == len(view.rows) and len(keys) == len(view.keys):
        return view
    removed = None
    if view.removed is not None:
        removed = np.add.reduceat(view.removed, [word.first for word in queries])
        removed = removed / np.array([word.end - word.first for word in queries])
    shown = views.in_words(view.shown, queries, keys)
    return replace(view, shown=shown, rows=queries, keys=keys, is_whole=True, removed=removed)


def _words(tokens: Labels, trace: ac.Trace, is_target: bool) -> tuple[ac.Word, ...]:
    texts = (trace.target,) if is_target else (trace.text, *([] if trace.pair is None else [trace.pair]))
    return ac.whole_words([token for token in tokens if isinstance(token, ac.Token)], texts).words
