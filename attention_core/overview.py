"""Every head of a trace at a glance: a small picture and a few measures of each.

A picture is the head's weights, made smaller by keeping the largest of every block of cells (an average would lose thin
peaks). Its levels are uint8:

    0 (`MASKED`)     no cell of the block may be seen
    1 (`NO_KEYS`)    … and some of its rows see no key at all
    2 … 255          the largest weight w of the block: 2 + 253·√w, so that small weights keep apart

The two that are no weights come lowest, so that making a picture smaller again is taking the largest again.

The measures of a head are means over rows; a row counts only where the measure says something about it:

    entropy    −Σ w ln w / ln(number of places), 0 (all on one) to 1 (all alike). Places are the keys that the row may
               see, and the sink where the head has one: the sink counts as one more place that weight can go to. Rows
               with one place are left out (nothing to divide by), and rows whose numbers are no shares: negative, or
               adding up to something else than 1 (own arrays may hold such).
    previous   the weight on the token just before the one that asks, over the rows that may see it
    self       the weight on the asking token itself, likewise
    next       the weight on the token just after it, likewise
    first      the weight on the first token of the keys, likewise
    sink       the weight that goes to no key, over the rows that see any

Where queries and keys are two sequences (cross-attention), no token has a previous, a self or a next among the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from jaxtyping import Bool, Float, UInt8

from attention_core.errors import UnsupportedModel
from attention_core.steps import HeadWeights, read_only
from attention_core.trace import LayerTrace, Trace

MEASURES = ("entropy", "previous", "self", "next", "first", "sink")
NEIGHBOURS = {"previous": -1, "self": 0, "next": 1}  # Where the key stands, seen from the query.
MASKED, NO_KEYS, LEAST = 0, 1, 2
HIGHEST = 255
SIDE = 64
OFF = 1e-2  # What a row of shares may lack of 1: half precision rounds every weight.


@dataclass(frozen=True)
class Mean:
    """A mean over `n_rows` rows; None where there is no such row."""

    value: float | None
    n_rows: int


@dataclass(frozen=True, eq=False)
class HeadView:
    """One head: its numbers in the model, its picture (levels as the module says), its measures by name."""

    layer: int
    head: int
    kv_head: int
    levels: UInt8[np.ndarray, "row column"]
    measures: Mapping[str, Mean]


@dataclass(frozen=True, eq=False)
class Overview:
    """All heads of one stack of a trace.

    Attributes:
        kind: the stack, "self", "encoder", "decoder" or "cross".
        n_queries, n_keys: the size of every head.
        block: rows and columns of cells behind each point of a picture; (1, 1) where nothing was made smaller. The last
            block of a side may hold fewer.
        heads: layer by layer, in the model's order. Layers may have different numbers of heads.
    """

    kind: str
    n_queries: int
    n_keys: int
    block: tuple[int, int]
    heads: tuple[HeadView, ...]


def overview(
    trace: Trace,
    kind: str | None = None,
    side: int = SIDE,
    progress: Callable[[int, int], None] | None = None,
) -> Overview:
    """Look at every head of a stack, one after the other, so that one head's matrices are held at a time.

    Args:
        kind: which stack of `trace.stacks`; None means the first.
        side: the most points that a picture may have in each direction.
        progress: told after each head how many of how many are done. What it raises ends the work.

    Raises:
        UnsupportedModel: the trace has no such stack.

    >>> import attention_core as ac
    >>> seen = overview(ac.load("pronoun").trace("the dog saw it"))
    >>> [(head.layer, head.head, head.levels.shape) for head in seen.heads]
    [(0, 0, (4, 4)), (1, 0, (4, 4))]
    """
    chosen = next(iter(trace.stacks)) if kind is None else kind
    if chosen not in trace.stacks:
        raise UnsupportedModel(f"this model has no {chosen} attention")
    if side < 1:
        raise ValueError(f"a picture has at least one point, not {side}")
    layers = trace.stacks[chosen]
    n_queries, n_keys = layers[0].allowed.shape
    block = (-(-n_queries // side), -(-n_keys // side))
    places = [(layer, h) for layer in layers for h in range(layer.n_heads)]
    heads = []
    for done, (layer, h) in enumerate(places, 1):
        heads.append(_view(layer, h, block))
        if progress is not None:
            progress(done, len(places))
    return Overview(chosen, n_queries, n_keys, block, tuple(heads))


def pooled(seen: HeadWeights, block: tuple[int, int]) -> UInt8[np.ndarray, "row column"]:
    """The head's picture, with levels as the module says."""
    weights = np.clip(seen.weights, 0, 1)
    levels = np.rint(LEAST + (HIGHEST - LEAST) * np.sqrt(weights)).astype(np.uint8)
    levels[~seen.allowed] = MASKED
    levels[~seen.has_keys] = NO_KEYS
    rows, columns = (np.arange(0, size, step) for size, step in zip(levels.shape, block, strict=True))
    return read_only(np.maximum.reduceat(np.maximum.reduceat(levels, rows, axis=0), columns, axis=1))


def measure(seen: HeadWeights, *, is_one_sequence: bool) -> Mapping[str, Mean]:
    """The head's measures by name, each with the rows that it is a mean over; only those that such a head has."""
    found = {"entropy": _entropy(seen)}
    if is_one_sequence:
        found |= {name: _neighbour(seen, offset) for name, offset in NEIGHBOURS.items()}
    found["first"] = _mean(seen.weights[:, 0], seen.allowed[:, 0] & seen.has_keys)
    if seen.sink is not None:
        found["sink"] = _mean(seen.sink, seen.has_keys)
    return MappingProxyType(found)


def _view(layer: LayerTrace, h: int, block: tuple[int, int]) -> HeadView:
    seen = layer.head_weights(h)
    measures = measure(seen, is_one_sequence=layer.kind != "cross")
    return HeadView(layer.index, h, h * layer.n_kv_heads // layer.n_heads, pooled(seen, block), measures)


def _entropy(seen: HeadWeights) -> Mean:
    weights = seen.weights
    shares = weights if seen.sink is None else np.column_stack([weights, seen.sink])
    n_places = seen.allowed.sum(axis=1) + (seen.sink is not None)
    is_share = (shares.min(axis=1) >= 0) & (np.abs(shares.sum(axis=1) - 1) <= OFF)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy = -np.einsum("qk,qk->q", shares, logs)
    return _mean(entropy / np.log(np.maximum(n_places, 2)), is_share & seen.has_keys & (n_places > 1))


def _neighbour(seen: HeadWeights, offset: int) -> Mean:
    allowed, weights = (np.diagonal(matrix, offset) for matrix in (seen.allowed, seen.weights))
    rows = seen.has_keys[max(0, -offset) :][: len(allowed)]
    return _mean(weights, allowed & rows)


def _mean(values: Float[np.ndarray, " row"], counted: Bool[np.ndarray, " row"]) -> Mean:
    n_rows = int(counted.sum())
    return Mean(float(values[counted].mean(dtype=np.float64)) if n_rows else None, n_rows)
