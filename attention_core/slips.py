"""The slips that people make when they work attention out by hand, each as the numbers that it leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from attention_core.steps import softmax

if TYPE_CHECKING:
    from attention_core.exercises import Exercise

Slip = Callable[["Exercise"], "np.ndarray | None"]

# Rounding to two decimals, twice: in the numbers that were carried on, and in the answer.
_ROUNDED = {"scores": 0.006, "scaled": 0.006, "masked": 0.006, "weights": 0.011, "output": 0.006}
_SLACK = 1e-9


def tolerance(exercise: Exercise, stage: str) -> Float[np.ndarray, "query column"]:
    """How far from the right number a cell may be, so that people may go on with two decimals."""
    right = exercise.right(stage)
    least = np.full(right.shape, _ROUNDED[stage])
    if stage != "output":
        return least
    # Each weight was rounded to two decimals: its half unit counts as often as the value does.
    return least + 0.005 * np.abs(exercise.steps.v).sum(axis=0)


def whole(exercise: Exercise, stage: str) -> Iterator[tuple[str, np.ndarray]]:
    """The slips that change a stage as a whole, with the numbers that they lead to here."""
    for name, slip in _WHOLE[stage].items():
        with np.errstate(all="ignore"):
            given = slip(exercise)
        if given is not None and not np.isnan(given).any():
            yield name, given


def fits(exercise: Exercise, stage: str, values: np.ndarray, given: np.ndarray) -> bool:
    """Whether the typed numbers are these, but for rounding."""
    with np.errstate(invalid="ignore"):
        return bool(((values == given) | (np.abs(values - given) <= tolerance(exercise, stage))).all())


def is_reordered(exercise: Exercise, stage: str, values: np.ndarray) -> bool:
    """Whether the right rows stand in another order."""
    right = exercise.right(stage)
    orders = permutations(range(len(right)))
    next(orders)  # The first one is their own order.
    return any(fits(exercise, stage, values, right[list(order)]) for order in orders)


def in_one_cell(
    exercise: Exercise, stage: str, values: np.ndarray, wrong: Bool[np.ndarray, "query column"]
) -> list[str]:
    """Slips in one product of one cell: its sign turned round, or the product left out."""
    if stage != "scores" or wrong.sum() != 1:
        return []
    i, j = np.argwhere(wrong)[0]
    steps = exercise.steps
    products = steps.q[i] * steps.k[j]
    off = values[i, j] - steps.scores[i, j]
    kinds = {"sign": -2 * products, "left_out": -products}
    return [name for name, change in kinds.items() if (np.abs(change - off)[products != 0] <= _SLACK).any()]


def _square(exercise: Exercise) -> bool:
    return exercise.asker is None


def _transposed(exercise: Exercise) -> np.ndarray | None:
    return exercise.steps.scores.T if _square(exercise) else None


def _not_transposed(exercise: Exercise) -> np.ndarray | None:
    """Rows times columns of K itself, which only fits where K is square."""
    q, k = exercise.steps.q, exercise.steps.k
    return q @ k if k.shape[0] == k.shape[1] else None


def _added(exercise: Exercise) -> np.ndarray:
    q, k = exercise.steps.q, exercise.steps.k
    return (q[:, None] + k[None]).sum(axis=2)


def _kept(exercise: Exercise, values: np.ndarray) -> np.ndarray:
    return np.where(exercise.steps.allowed, values, -np.inf)


def _weights(masked: np.ndarray) -> np.ndarray:
    return softmax(masked)[0]


def _diagonal(exercise: Exercise) -> np.ndarray:
    return np.eye(len(exercise.steps.q), dtype=bool)


def _columns(exercise: Exercise) -> np.ndarray:
    """Each column's shares instead of each row's."""
    return _weights(exercise.steps.masked.T).T


def _shares(exercise: Exercise) -> np.ndarray | None:
    """Shares of the scaled scores themselves, without exp."""
    visible = np.where(exercise.steps.allowed, exercise.steps.scaled, 0)
    sums = visible.sum(axis=1, keepdims=True)
    return None if (sums == 0).any() else visible / sums


def _exponentials(exercise: Exercise) -> np.ndarray:
    return np.exp(exercise.steps.masked)


def _hard(exercise: Exercise) -> np.ndarray | None:
    """Everything to the largest one."""
    masked = exercise.steps.masked
    largest = masked == masked.max(axis=1, keepdims=True)
    return None if (largest.sum(axis=1) > 1).any() else largest.astype(float)


def _zeroed_after(exercise: Exercise) -> np.ndarray:
    """Softmax over all, and only then the forbidden ones put to 0: the rows no longer add up to 1."""
    return np.where(exercise.steps.allowed, _weights(exercise.steps.scaled), 0)


def _own_value(exercise: Exercise) -> np.ndarray:
    """The asker's own value instead of a mixture."""
    v = exercise.steps.v
    return v if exercise.asker is None else v[exercise.asker : exercise.asker + 1]


def _plain_mean(exercise: Exercise) -> np.ndarray:
    seen = exercise.steps.allowed / exercise.steps.allowed.sum(axis=1, keepdims=True)
    return seen @ exercise.steps.v


def _masked_only(slip: Slip) -> Slip:
    return lambda exercise: slip(exercise) if exercise.is_masked else None


def _full_only(slip: Slip) -> Slip:
    return lambda exercise: slip(exercise) if _square(exercise) else None


def _summed(weights: Slip) -> Slip:
    """The output that these weights lead to."""

    def slip(exercise: Exercise) -> np.ndarray | None:
        given = weights(exercise)
        return None if given is None else given @ exercise.steps.v

    return slip


_UNSCALED: Slip = lambda e: _weights(_kept(e, e.steps.scores))  # noqa: E731
_UPSCALED: Slip = lambda e: _weights(_kept(e, e.steps.scores / e.steps.scale))  # noqa: E731
_SEES_ALL: Slip = _masked_only(lambda e: _weights(e.steps.scaled))
_ZERO_COUNTS: Slip = _masked_only(lambda e: _weights(np.where(e.steps.allowed, e.steps.scaled, 0)))

_WHOLE: dict[str, dict[str, Slip]] = {
    "scores": {
        "transposed": _transposed,
        "not_transposed": _not_transposed,
        "already_scaled": lambda e: e.steps.scaled,
        "added": _added,
    },
    "scaled": {
        "not_scaled": lambda e: e.steps.scores,
        "multiplied": lambda e: e.steps.scores / e.steps.scale,
        "divided_by_d": lambda e: e.steps.scores / e.d_head,
    },
    "masked": {
        "sees_all": lambda e: e.steps.scaled,
        "zero_mask": lambda e: np.where(e.steps.allowed, e.steps.scaled, 0),
        "sees_future": _full_only(lambda e: np.where(e.steps.allowed.T, e.steps.scaled, -np.inf)),
        "hides_itself": _full_only(lambda e: np.where(e.steps.allowed & ~_diagonal(e), e.steps.scaled, -np.inf)),
    },
    "weights": {
        "columns": _full_only(_columns),
        "not_scaled": _UNSCALED,
        "multiplied": _UPSCALED,
        "shares": _shares,
        "mask_after": _masked_only(_zeroed_after),
        "sees_all": _SEES_ALL,
        "zero_mask": _ZERO_COUNTS,
        "not_normalised": _exponentials,
        "hard": _hard,
    },
    "output": {
        "own_value": _own_value,
        "columns": _summed(_full_only(_columns)),
        "transposed": _full_only(lambda e: e.steps.weights.T @ e.steps.v),
        "keys_as_values": lambda e: e.steps.weights @ e.steps.k if e.steps.k.shape == e.steps.v.shape else None,
        "plain_mean": _plain_mean,
        "hard": _summed(_hard),
        "not_scaled": _summed(_UNSCALED),
        "shares": _summed(_shares),
        "mask_after": _summed(_masked_only(_zeroed_after)),
        "sees_all": _summed(_SEES_ALL),
    },
}
NAMES = tuple(
    dict.fromkeys([*(name for kinds in _WHOLE.values() for name in kinds), "sign", "left_out", "row_order", "coarse"])
)
