"""A second, plain forward pass of the taught models, written apart from the steps that are shown.

It follows the training code: parts of the stream are added, not set side by side; all heads and rows go at once; no
stage is kept. The steps on the screen must give the same numbers, and `verify` holds them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from attention_core.edits import EMPTY, Edits
from attention_core.steps import HeadSteps
from attention_core.trace import LayerTrace, Trace, Verification

if TYPE_CHECKING:
    from attention_core.taught import TaughtLayer, TaughtModel

REFERENCE = "plain-forward"
TOLERANCE = 1e-10  # Two orders of the same float64 sums differ by about 1e-15 per term.
N_ROWS = 8  # Query rows compared per layer unless all are asked for.


@dataclass(frozen=True, eq=False)
class PlainForward:
    """weights: by layer (head, query, key); written: by layer (query, d_model); logits: by read-out (query, answer)."""

    weights: tuple[Float[np.ndarray, "head query key"], ...]
    written: tuple[Float[np.ndarray, "query d_model"], ...]
    logits: tuple[Float[np.ndarray, "query answer"], ...]


def forward(model: TaughtModel, ids: Int[np.ndarray, " token"], edits: Edits = EMPTY) -> PlainForward:
    """The model's own computation, start to end, from its matrices as trained.

    Args:
        ids: in the order in which they are fed; `edits.order` only tells which token of the text stands where.
    """
    stream = {"word": _embedded(model, ids, edits.positions)}
    weights, written, streams = [], [], []
    for index, layer in enumerate(model.layers):
        looks, adds = _attend(layer, stream, model.card.causal, edits.within(index))
        stream = {**stream, layer.writes: stream.get(layer.writes, 0.0) + adds}
        if layer.mlp is not None:
            hidden = sum(stream[part] for part in dict.fromkeys((*layer.query_reads, layer.writes)))
            active = np.einsum("nd,dh->nh", hidden, layer.mlp.w_in) + layer.mlp.b_in
            stream[layer.writes] = stream[layer.writes] + (active * (active > 0)) @ layer.mlp.w_out + layer.mlp.b_out
        weights.append(looks)
        written.append(adds)
        streams.append(stream)
    logits = []
    for readout in model.readouts:
        read = sum(streams[readout.after][part] for part in readout.reads) @ readout.matrix
        logits.append(read if readout.bias is None else read + readout.bias)
    return PlainForward(tuple(weights), tuple(written), tuple(logits))


def _embedded(
    model: TaughtModel, ids: Int[np.ndarray, " token"], with_places: bool
) -> Float[np.ndarray, "token d_model"]:
    words = model.embedding[ids]
    if model.card.details["positions"] == "none" or not with_places:
        return words
    if model.card.details["positions"] == "learned":
        return words + np.asarray(model.positions)[: len(ids)]
    column, position = np.arange(model.card.d_model), np.arange(len(ids))[:, None]
    angle = position / 10000.0 ** ((column - column % 2) / model.card.d_model)
    return words + np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


def _attend(
    layer: TaughtLayer, stream: Mapping[str, Float[np.ndarray, "token d_model"]], is_causal: bool, edits: Edits
) -> tuple[Float[np.ndarray, "head query key"], Float[np.ndarray, "query d_model"]]:
    asks = np.add.reduce([stream[part] for part in layer.query_reads])
    answers = np.add.reduce([stream[part] for part in layer.key_reads])
    q = np.einsum("nd,hde->hne", asks, layer.w_q)
    k = np.einsum("nd,hde->hne", answers, layer.w_q if edits.tie == "qk" else layer.w_k)
    v = np.einsum("nd,hde->hne", answers, layer.w_k if edits.tie == "kv" else layer.w_v)
    logits = np.einsum("hqe,hke->hqk", q, k) / (np.sqrt(q.shape[-1]) if edits.scale else 1) / edits.temperature
    n = len(asks)
    if is_causal if edits.causal is None else edits.causal:
        logits = logits + np.triu(np.full((n, n), -np.inf), k=1)
    if layer.window is not None:
        logits = logits + np.triu(np.full((n, n), -np.inf), k=layer.window + 1)
        logits = logits + np.tril(np.full((n, n), -np.inf), k=-layer.window - 1)
    logits = logits + _hidden(logits.shape, edits)
    top = logits.max(axis=-1, keepdims=True)
    odds = np.exp(logits - np.where(np.isinf(top), 0, top))
    # A row without any key has no sum to divide by: it stays 0.
    weights = odds / np.maximum(odds.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
    return weights, np.einsum("hqk,hke,hed->qd", weights, v, layer.w_o)


def _hidden(shape: tuple[int, ...], edits: Edits) -> Float[np.ndarray, "head query key"]:
    """−∞ at silenced keys and cut edges, 0 elsewhere."""
    added = np.zeros(shape)
    token_at = np.arange(shape[-1]) if edits.order is None else np.array(edits.order)
    silent = np.isin(token_at, list(edits.silenced))
    added[:, (token_at[:, None] != token_at) & silent] = -np.inf
    for _, head, query, key in edits.cut:
        heads = np.full(shape[0], True) if head is None else np.arange(shape[0]) == head
        added[heads[:, None, None] & (token_at[:, None] == query) & (token_at == key)] = -np.inf
    return added


def verify(model: TaughtModel, trace: Trace, full: bool) -> Verification:
    """Compare every head's weights, every layer's output and every answer's logit with the plain forward pass."""
    expected = forward(model, np.array([token.id for token in trace.tokens]), trace.edits)
    n = len(trace.tokens)
    rows = np.arange(n) if full else np.unique(np.linspace(0, n - 1, N_ROWS).round().astype(int))
    layers = zip(trace.layers, expected.weights, expected.written, strict=True)
    differences = [_layer_difference(layer, weights, written, rows) for layer, weights, written in layers]
    differences.append(_answer_difference(model, trace, expected.logits))
    worst = int(np.argmax(differences))
    return Verification(
        reference=REFERENCE,
        largest_difference=differences[worst],
        tolerance=TOLERANCE,
        layer=worst,
        n_rows=len(rows),
        row_sum_error=max(_row_sum_error(layer) for layer in trace.layers),
        forbidden_weight=max(_forbidden_weight(layer) for layer in trace.layers),
    )


def _layer_difference(
    layer: LayerTrace,
    weights: Float[np.ndarray, "head query key"],
    written: Float[np.ndarray, "query d_model"],
    rows: Int[np.ndarray, " row"],
) -> float:
    heads = [layer.head(h) for h in range(layer.n_heads)]
    found = [np.abs(head.weights - w)[rows].max() for head, w in zip(heads, weights, strict=True)]
    by_heads = sum(head.output @ head.w_o for head in heads)
    found += [difference for head in heads for difference in _projections(head)]
    found += [np.abs(by_heads - written)[rows].max(), np.abs(layer.written - written)[rows].max()]
    return _largest(found)


def _projections(head: HeadSteps) -> Iterator[float]:
    # What the page shows as X W must be the q, k and v that were multiplied.
    for w, made in ((head.w_q, head.q), (head.w_k, head.k), (head.w_v, head.v)):
        yield float(np.abs(np.asarray(head.x) @ np.asarray(w) - made).max())


def _answer_difference(
    model: TaughtModel, trace: Trace, logits: tuple[Float[np.ndarray, "query answer"], ...]
) -> float:
    differences = [0.0]
    for i, (token, answers) in enumerate(zip(trace.tokens, trace.predictions or (), strict=False)):
        for answer in answers:
            which = next(r for r, readout in enumerate(model.readouts) if readout.answers_at(token))
            column = model.readouts[which].column[answer.word]
            row = logits[which][i]
            odds = np.exp(row - row.max())
            probability = float(odds[column] / odds.sum())
            differences += [abs(answer.logit - float(row[column])), abs(answer.probability - probability)]
    return _largest(differences)


def _largest(differences: list[float]) -> float:
    # What is no number equals nothing.
    return float("inf") if np.isnan(differences).any() else float(max(differences))


def _row_sum_error(layer: LayerTrace) -> float:
    sums = [(head.weights.sum(axis=1), head.has_keys) for head in map(layer.head, range(layer.n_heads))]
    return max(float(np.abs(total - has_keys).max()) for total, has_keys in sums)


def _forbidden_weight(layer: LayerTrace) -> float:
    heads = map(layer.head, range(layer.n_heads))
    return max(float(np.abs(head.weights[~head.allowed]).max(initial=0.0)) for head in heads)
