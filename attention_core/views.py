"""Other ways of looking at a head's weights: without its sink, in whole words, in squares of a large matrix.

A sink is a key on which a head leaves its weight where it has nothing to look for, usually the first token (Xiao et al.
2023, "Efficient Streaming Language Models with Attention Sinks"). Here it is the key that takes at least half of a
row's weight on average, over the rows that may see it and something else besides, where these are at least three and at
least half of all rows with such a choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, UInt8

from attention_core.groups import Word, merge
from attention_core.steps import HeadSteps, HeadWeights, read_only

SINK_SHARE = 0.5
SINK_ROWS = 3

OPEN, MASKED, PARTLY, HIDDEN = range(4)  # What a square of cells is: `Pooled.states`.


@dataclass(frozen=True)
class Sink:
    """The key that takes most of a head's weight: on average `share` of each of `n_rows` rows."""

    key: int
    share: float
    n_rows: int


@dataclass(frozen=True, eq=False)
class Pooled:
    """A matrix of weights in squares of `rows` × `columns` cells; the last ones of a side may hold fewer.

    Attributes:
        weights: (row, column) the largest weight of each square that may be seen and is not hidden, else 0.
        peak_rows, peak_columns: (row, column) where in its square that weight stands.
        states: (row, column) `OPEN`; `MASKED` where no cell may be seen; `PARTLY` where some may not; `HIDDEN` where a
            view leaves out all that might be seen.
    """

    rows: int
    columns: int
    weights: Float[np.ndarray, "row column"]
    peak_rows: UInt8[np.ndarray, "row column"]
    peak_columns: UInt8[np.ndarray, "row column"]
    states: UInt8[np.ndarray, "row column"]


@dataclass(frozen=True)
class Links:
    """What stands between a score and the bias: score · scale, and after the soft-cap (None where there is none)."""

    multiplied: float
    capped: float | None


def sink_of(head: HeadWeights) -> Sink | None:
    """The head's sink, or None where no key is one (the criterion stands at the top of this module)."""
    has_choice = head.has_keys & (head.allowed.sum(axis=1) > 1)
    seen = head.allowed & has_choice[:, None]
    n_rows = seen.sum(axis=0)
    is_enough = n_rows >= max(SINK_ROWS, has_choice.sum() / 2)
    total = np.where(seen, head.weights, 0).sum(axis=0, dtype=np.float64)
    share = np.divide(total, n_rows, out=np.zeros(len(total)), where=is_enough)
    key = int(share.argmax())
    return Sink(key, float(share[key]), int(n_rows[key])) if share[key] >= SINK_SHARE else None


def without_key(head: HeadWeights, key: int) -> tuple[HeadWeights, Float[np.ndarray, " query"]]:
    """The weights with one key left out and each row's rest made 1 again, and what each row gave to that key.

    A row that gave all of its weight to the key is zeros.
    """
    removed = head.weights[:, key]
    rest = head.weights.copy()
    rest[:, key] = 0
    left = rest.sum(axis=1, dtype=np.float64) + (0 if head.sink is None else head.sink)
    factor = np.divide(1, left, out=np.zeros(len(left)), where=left > 0)
    sink = None if head.sink is None else read_only((head.sink * factor).astype(head.sink.dtype))
    weights = read_only((rest * factor[:, None]).astype(rest.dtype))
    return HeadWeights(weights=weights, allowed=head.allowed, has_keys=head.has_keys, sink=sink), removed


def in_words(head: HeadWeights, queries: Sequence[Word], keys: Sequence[Word]) -> HeadWeights:
    """The weights between whole words (`merge`); a word may see another if any piece of it may see one of the other's.

    Rows of weights sum to 1, with the sink where the head has one, as those of the tokens did.
    """
    rows, columns = [word.first for word in queries], [word.first for word in keys]
    allowed = np.logical_or.reduceat(np.logical_or.reduceat(head.allowed, rows, axis=0), columns, axis=1)
    return HeadWeights(
        weights=merge(head.weights, queries, keys),
        allowed=read_only(allowed),
        has_keys=read_only(np.logical_or.reduceat(head.has_keys, rows)),
        sink=None if head.sink is None else _mean_sink(head, rows),
    )


def pooled(
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    hidden: Bool[np.ndarray, "query key"],
    square: tuple[int, int],
) -> Pooled:
    """The largest weight of every square of cells. `hidden` are cells that a view leaves out."""
    bands = [
        _band(weights[i : i + square[0]], allowed[i : i + square[0]], hidden[i : i + square[0]], square[1])
        for i in range(0, len(weights), square[0])
    ]
    found = [read_only(np.stack(parts)) for parts in zip(*bands, strict=True)]
    return Pooled(square[0], square[1], *found)


def links(steps: HeadSteps, i: int, j: int) -> Links:
    """What stands between the score and the bias of one cell, in the precision of the head."""
    number = steps.scores.dtype.type
    multiplied = steps.scores[i, j] * number(steps.scale)
    if steps.softcap is None:
        return Links(float(multiplied), None)
    cap = number(steps.softcap)
    return Links(float(multiplied), float(cap * np.tanh(multiplied / cap)))


def _mean_sink(head: HeadWeights, rows: Sequence[int]) -> Float[np.ndarray, " query_word"]:
    """As `merge` has it: over the pieces that look at any key; over all of them where none does."""
    sink = np.asarray(head.sink)
    asks = (head.weights != 0).any(axis=1)
    n_asking, n = (np.add.reduceat(flags.astype(sink.dtype), rows) for flags in (asks, np.ones(len(asks), dtype=bool)))
    asked, total = np.add.reduceat(sink * asks, rows), np.add.reduceat(sink, rows)
    return read_only(np.where(n_asking > 0, asked / np.maximum(n_asking, 1), total / n))


def _band(weights: np.ndarray, allowed: np.ndarray, hidden: np.ndarray, width: int) -> tuple[np.ndarray, ...]:
    """One row of squares: weights, where the largest stands (row, column), states."""
    seen = allowed & ~hidden
    cells = _squares(np.where(seen, weights, -np.inf), width, -np.inf)
    at = cells.argmax(axis=1)
    any_seen, any_masked, any_hidden = (
        _squares(flags, width, False).any(axis=1) for flags in (seen, ~allowed, hidden & allowed)
    )
    largest = np.where(any_seen, np.take_along_axis(cells, at[:, None], axis=1)[:, 0], 0).astype(weights.dtype)
    states = np.where(any_seen, np.where(any_masked, PARTLY, OPEN), np.where(any_hidden, HIDDEN, MASKED))
    return largest, (at // width).astype(np.uint8), (at % width).astype(np.uint8), states.astype(np.uint8)


def _squares(band: np.ndarray, width: int, padding: float | bool) -> np.ndarray:
    """(row, key) → (square, cells of the square, row by row)."""
    missing = -band.shape[1] % width
    padded = np.pad(band, ((0, 0), (0, missing)), constant_values=padding)
    return padded.reshape(len(band), -1, width).swapaxes(0, 1).reshape(-1, len(band) * width)
