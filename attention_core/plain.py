"""A second, plain forward pass of the taught models, written apart from the steps that are shown.

It follows the training code: parts of the stream are added, not set side by side; all heads and rows go at once; no stage is
kept. The steps on the screen must give the same numbers, and `verify` holds them together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from attention_core.trace import LayerTrace, Trace, Verification

if TYPE_CHECKING:
    from attention_core.taught import TaughtModel

REFERENCE = "plain-forward"
TOLERANCE = 1e-10  # Two orders of the same float64 sums differ by about 1e-15 per term.
N_ROWS = 8  # Query rows compared per layer unless all are asked for.


@dataclass(frozen=True, eq=False)
class PlainForward:
    """weights: per layer (head, query, key); written: per layer (query, d_model); logits: (query, word)."""

    weights: tuple[Float[np.ndarray, "head query key"], ...]
    written: tuple[Float[np.ndarray, "query d_model"], ...]
    logits: Float[np.ndarray, "query word"]


def forward(model: TaughtModel, ids: Int[np.ndarray, " token"]) -> PlainForward:
    """The model's own computation, start to end, from its matrices as trained."""
    n, d = len(ids), model.card.d_model
    position = np.arange(n)[:, None]
    column = np.arange(d)
    angle = position / 10000.0 ** ((column - column % 2) / d)
    stream = {"word": model.embedding[ids] + np.where(column % 2 == 0, np.sin(angle), np.cos(angle))}
    all_weights, all_written = [], []
    for layer in model.layers:
        asks = sum(stream[part] for part in layer.query_reads)
        answers = sum(stream[part] for part in layer.key_reads)
        q = np.einsum("nd,hde->hne", asks, layer.w_q)
        k = np.einsum("nd,hde->hne", answers, layer.w_k)
        v = np.einsum("nd,hde->hne", answers, layer.w_v)
        logits = np.einsum("hqe,hke->hqk", q, k) / np.sqrt(q.shape[-1])
        if model.card.causal:
            logits = logits + np.triu(np.full((n, n), -np.inf), k=1)
        odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
        weights = odds / odds.sum(axis=-1, keepdims=True)
        written = np.einsum("hqk,hke,hed->qd", weights, v, layer.w_o)
        stream[layer.writes] = stream.get(layer.writes, np.zeros((n, d))) + written
        all_weights.append(weights)
        all_written.append(written)
    read = sum(stream[part] for part in model.readout_reads)
    return PlainForward(tuple(all_weights), tuple(all_written), read @ model.readout)


def verify(model: TaughtModel, trace: Trace, full: bool) -> Verification:
    """Compare every head's weights, every layer's output and every answer's logit with the plain forward pass."""
    expected = forward(model, np.array([token.id for token in trace.tokens]))
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
    by_weight = max(np.abs(head.weights - w)[rows].max() for head, w in zip(heads, weights, strict=True))
    by_output = np.abs(sum(head.output @ head.w_o for head in heads) - written)[rows].max()
    return float(max(by_weight, by_output))


def _answer_difference(model: TaughtModel, trace: Trace, logits: Float[np.ndarray, "query word"]) -> float:
    if trace.predictions is None:
        return 0.0
    return max(
        abs(answer.logit - float(logits[i, model.vocabulary.index(answer.word)]))
        for i, answers in enumerate(trace.predictions)
        for answer in answers
    )


def _row_sum_error(layer: LayerTrace) -> float:
    sums = [(head.weights.sum(axis=1), head.has_keys) for head in map(layer.head, range(layer.n_heads))]
    return max(float(np.abs(total - has_keys).max()) for total, has_keys in sums)


def _forbidden_weight(layer: LayerTrace) -> float:
    forbidden = ~layer.allowed
    return max(float(np.abs(layer.weights(h)[forbidden]).max(initial=0.0)) for h in range(layer.n_heads))
