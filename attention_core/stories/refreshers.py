"""What the formula of attention is made of, each with an example small enough to work out on a blackboard.

Every function draws small whole numbers from a seed and returns all that a worked example shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attention_core.steps import softmax as normalised

RATE = 0.05  # How far one step of gradient descent goes.
NUDGE = 1e-6  # For the slope by differences, which the formula is held against.


def dot(seed: int) -> Mapping[str, Any]:
    """A dot product, term by term.

    Returns:
        a, b: (3,) whole numbers; terms: (3,) a · b, number by number; total: their sum; lengths: (2,); cosine.
    """
    a, b = _whole(seed, 2, 3)
    lengths = np.linalg.norm(a), np.linalg.norm(b)
    return {
        "a": a,
        "b": b,
        "terms": a * b,
        "total": int(a @ b),
        "lengths": (float(lengths[0]), float(lengths[1])),
        "cosine": float(a @ b / (lengths[0] * lengths[1])),
    }


def product(seed: int) -> Mapping[str, Any]:
    """A matrix product: every row of the first with every column of the second.

    Returns:
        x: (2, 3); w: (3, 2); result: (2, 2); row, column: which cell is worked out; terms: (3,) its products; cell.
    """
    x, w = _whole(seed, 2, 3), _whole(seed + 1, 3, 2)
    return {
        "x": x,
        "w": w,
        "result": x @ w,
        "row": 1,
        "column": 0,
        "terms": x[1] * w[:, 0],
        "cell": int(x[1] @ w[:, 0]),
    }


def softmax(seed: int) -> Mapping[str, Any]:
    """Softmax of three scores, and of the same scores with a number added to each.

    Returns:
        scores: (3,) whole numbers; powers: (3,) exp of them; total: Σ powers; shares: (3,); row_sum; added: what is
        added; apart: the largest |difference| of the shares then, which is rounding.
    """
    (scores,) = _whole(seed, 1, 3)
    shares = normalised(scores[None].astype(float))[0][0]
    moved = normalised(scores[None] + 100.0)[0][0]
    powers = np.exp(scores)
    return {
        "scores": scores,
        "powers": powers,
        "total": float(powers.sum()),
        "shares": shares,
        "row_sum": float(shares.sum()),
        "added": 100,
        "apart": float(np.abs(shares - moved).max()),
    }


def gradient(seed: int) -> Mapping[str, Any]:
    """The slope of L(w) = (w·x − y)², one step of gradient descent along it, and the slope by differences.

    Returns:
        x, y, w: whole numbers; loss; slope: 2 (w·x − y) x; measured: (L(w + h) − L(w − h)) / 2h; rate; next_w: w −
        rate · slope; next_loss.
    """
    x, y, w = (int(number) for number in _whole(seed, 1, 3)[0])
    y += w * x  # What was drawn is how far the guess is off: never 0, or there would be nothing to learn.

    def loss(at: float) -> float:
        return (at * x - y) ** 2

    slope = 2 * (w * x - y) * x
    next_w = w - RATE * slope
    return {
        "x": x,
        "y": y,
        "w": w,
        "loss": loss(w),
        "slope": slope,
        "measured": (loss(w + NUDGE) - loss(w - NUDGE)) / (2 * NUDGE),
        "rate": RATE,
        "next_w": next_w,
        "next_loss": loss(next_w),
    }


def _whole(seed: int, rows: int, columns: int) -> np.ndarray:
    """Whole numbers from −3 to 3 without 0, drawn from the seed."""
    drawn = np.random.default_rng(seed).integers(1, 4, (rows, columns))
    signs = np.random.default_rng(seed + 1000).choice((-1, 1, 1), (rows, columns))
    return drawn * signs
