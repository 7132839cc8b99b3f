"""Numbers of a trace against the model's own: what `trace.check()` and loading compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from attention_core.capture.layers import Kept
from attention_core.steps import HeadSteps, HeadWeights
from attention_core.trace import LayerTrace, Verification

REFERENCE = "model-output"


def verify(layers: Sequence[LayerTrace], kept: Sequence[Kept], tolerance: float, dtype: str) -> Verification:
    """Hold each layer's weights · v, its projections and what it writes against what the model computed in `dtype`."""
    found = [compare(layer.at_rows(own.rows), own) for layer, own in zip(layers, kept, strict=True)]
    differences = [difference for difference, _, _ in found]
    worst = int(np.argmax(differences))
    return Verification(
        reference=REFERENCE,
        largest_difference=differences[worst],
        tolerance=tolerance,
        layer=layers[worst].index,
        n_rows=max(len(own.rows) for own in kept),
        row_sum_error=max(row_sum for _, row_sum, _ in found),
        forbidden_weight=max(forbidden for _, _, forbidden in found),
        dtype=dtype,
    )


def compare(part: LayerTrace, own: Kept) -> tuple[float, float, float]:
    """The largest difference, the largest |row sum − 1|, the largest weight on a forbidden key, at the kept rows."""
    heads = [part.head_weights(h) for h in range(part.n_heads)]
    steps = [head for head in heads if isinstance(head, HeadSteps)]
    found = [*_outputs(part, steps, own), *_projected(part, own)] if steps else [0.0]
    forbidden = max(float(np.abs(head.weights[~head.allowed]).max(initial=0.0)) for head in heads)
    return _largest(found), max(map(_row_sum_error, heads)), forbidden


def _outputs(layer: LayerTrace, heads: Sequence[HeadSteps], own: Kept) -> Iterator[float]:
    # A padded query that may see no key shows zeros here, while models give it some mean that nobody reads.
    seen = np.any([head.has_keys for head in heads], axis=0)
    made = np.stack([head.output for head in heads], axis=1)[seen]
    yield difference(made, own.output[seen])
    if layer.w_o is not None and own.written is not None and own.o_in is not None:
        yield difference(made.reshape(len(made), -1), own.o_in[seen])
        written = np.tensordot(made, np.asarray(layer.w_o), axes=2)
        yield difference(written if layer.b_o is None else written + layer.b_o, own.written[seen])


def _projected(part: LayerTrace, own: Kept) -> Iterator[float]:
    """What the page shows as x W + b against what was projected, and that against what was multiplied."""
    if part.x is None or part.x_key is None or part.q is None or part.k is None or part.v is None:
        return
    keys = own.rows[own.rows < len(part.x_key)]
    v = _made(part.x_key[keys], part.w_v, part.b_v)
    q, k = _made(part.x, part.w_q, part.b_q), _made(part.x_key[keys], part.w_k, part.b_k)
    yield difference(v, part.v[:, keys].swapaxes(0, 1))
    for made, wanted in ((q, own.q_made), (k, own.k_made)):
        yield float("inf") if wanted is None else difference(made, wanted)
    if not part.is_turned:
        yield difference(q, part.q.swapaxes(0, 1))
        yield difference(k, part.k[:, keys].swapaxes(0, 1))


def _made(x: np.ndarray, w: np.ndarray | None, b: np.ndarray | None) -> np.ndarray:
    made: np.ndarray = np.swapaxes(x @ np.asarray(w), 0, 1)
    return made if b is None else made + b


def difference(made: np.ndarray, wanted: np.ndarray) -> float:
    """The largest difference, as a share of the largest wanted number where that is above 1; no number equals NaN."""
    if made.shape != wanted.shape:
        return float("inf")
    size = max(1.0, float(np.abs(wanted).max(initial=0.0)))
    return _largest([float(np.abs(made - wanted).max(initial=0.0)) / size])


def _row_sum_error(head: HeadWeights) -> float:
    total = head.weights.sum(axis=1, dtype=np.float64)
    wanted = head.has_keys.astype(float) if head.sink is None else np.ones(len(total))
    return float(np.abs(total + (0 if head.sink is None else head.sink) - wanted).max(initial=0.0))


def _largest(differences: Sequence[float]) -> float:
    return float("inf") if np.isnan(differences).any() else float(max(differences))
