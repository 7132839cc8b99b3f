"""Attention to work out with pencil and paper: small integers from a seed, and a check that names the slip.

    exercise(seed) → Exercise       what is given (q, k, v, which keys may be seen) and, hidden, every stage of it
    check(exercise, stage, answer) → Verdict       "right", or which slip gives the numbers that were typed

The slips themselves are in `attention_core.slips`; how typed numbers are read in `attention_core.notation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from attention_core import slips
from attention_core.notation import Number, Unreadable, read
from attention_core.steps import HeadSteps, attention, causal, softmax

Ask = Literal["row", "all"]
Typed = Sequence[Sequence[str]]

ASKS: tuple[Ask, ...] = ("row", "all")
WIDTHS = (4, 2)
STAGES = ("scores", "scaled", "masked", "weights", "output")
MAX_SEED = 2**31 - 1
MAX_TRIES = 20_000
NO_SCORE = -1e6  # Code often writes a number below this where −∞ is meant.


@dataclass(frozen=True, eq=False)
class Exercise:
    """What one reader works out.

    Attributes:
        seed, ask, is_masked, d_head: what it was made from.
        asker: the position that asks where only one does, else None; its row is then row 0 of the stages.
        steps: the right answer, stage by stage.
    """

    seed: int
    ask: Ask
    is_masked: bool
    d_head: int
    asker: int | None
    steps: HeadSteps

    @property
    def stages(self) -> tuple[str, ...]:
        """What is filled in, in order."""
        return tuple(stage for stage in STAGES if self.is_masked or stage != "masked")

    def right(self, stage: str) -> Float[np.ndarray, "query column"]:
        return getattr(self.steps, stage)


@dataclass(frozen=True)
class Verdict:
    """What is said of an answer.

    Attributes:
        kind: "right"; "incomplete" or "unreadable", with the cells; a slip by its name (`slips.NAMES`); "follows"
            where it is worked out properly from a stage before that is wrong; "differs" where nothing fits.
        cells: (row, column) of the cells that are not right, in reading order.
        also: other slips that give the same numbers.
    """

    kind: str
    cells: tuple[tuple[int, int], ...] = ()
    also: tuple[str, ...] = ()


@lru_cache(maxsize=1024)
def exercise(seed: int, *, ask: Ask = "all", masked: bool = False, d_head: int = 4) -> Exercise:
    """The exercise of that seed; the same one always and everywhere.

    Three tokens (four where one of them asks and d_head is 4), integers from −2 to 4. Numbers are drawn until every
    slip gives something else than the right answer and, where that is possible, than every other slip.

    Raises:
        ValueError: there is no such exercise.
    """
    if ask not in ASKS or d_head not in WIDTHS or not 0 <= seed <= MAX_SEED:
        raise ValueError(f"no exercise for seed {seed}, ask {ask!r}, d_head {d_head}")
    rng = np.random.default_rng([seed, ASKS.index(ask), int(masked), d_head])
    for _ in range(MAX_TRIES):
        drawn = _draw(rng, seed, ask, masked, d_head)
        if _is_tame(drawn) and _is_clear(drawn):
            return drawn
    raise ValueError(f"no clear exercise for seed {seed}, ask {ask!r}, d_head {d_head}")


def check(exercise: Exercise, stage: str, answer: Typed, before: Mapping[str, Typed] | None = None) -> Verdict:
    """What is to be said of the numbers typed for one stage.

    Args:
        answer: what was typed, cell by cell; "" where nothing was.
        before: what was typed for other stages, if known: an answer that is worked out properly from them is
            "follows", however wrong they are.

    Raises:
        ValueError: the exercise has no such stage, or the answer not its shape.
    """
    if stage not in exercise.stages:
        raise ValueError(f"this exercise has no stage {stage!r}")
    right = exercise.right(stage)
    if [len(row) for row in answer] != [right.shape[1]] * len(right):
        raise ValueError(f"{stage} has {right.shape[0]} × {right.shape[1]} cells")
    numbers = [[_number(text) for text in row] for row in answer]
    unreadable = _places(np.array([[cell is None for cell in row] for row in numbers]) & ~_empty(answer))
    if unreadable:
        return Verdict("unreadable", unreadable)
    values = np.array([[np.nan if cell is None else _value(cell) for cell in row] for row in numbers])
    wrong = ~_near(values, right, slips.tolerance(exercise, stage)) & ~_empty(answer)
    if _empty(answer).any():
        return Verdict("differs", _places(wrong)) if wrong.any() else Verdict("incomplete", _places(_empty(answer)))
    if not wrong.any():
        return Verdict("right")
    digits = [[None if cell is None else cell.digits for cell in row] for row in numbers]
    return _named(exercise, stage, values, digits, wrong, before or {})


def _named(
    exercise: Exercise,
    stage: str,
    values: np.ndarray,
    digits: list[list[int | None]],
    wrong: np.ndarray,
    before: Mapping[str, Typed],
) -> Verdict:
    found = [name for name, given in slips.whole(exercise, stage) if slips.fits(exercise, stage, values, given)]
    found += slips.in_one_cell(exercise, stage, values, wrong)
    if slips.is_reordered(exercise, stage, values):
        found.append("row_order")
    if _is_coarse(values, digits, exercise.right(stage)):
        found.append("coarse")
    if _follows(exercise, stage, values, before):
        found.insert(0, "follows")
    kind, *also = found or ["differs"]
    return Verdict(kind, _places(wrong), tuple(also))


def _number(text: str) -> Number | None:
    try:
        return read(text)
    except Unreadable:
        return None


def _value(number: Number) -> float:
    return -np.inf if number.value <= NO_SCORE else number.value


def _empty(answer: Typed) -> Bool[np.ndarray, "query column"]:
    return np.array([[not text.strip() for text in row] for row in answer])


def _places(where: Bool[np.ndarray, "query column"]) -> tuple[tuple[int, int], ...]:
    return tuple((int(i), int(j)) for i, j in np.argwhere(where))


def _near(values: np.ndarray, wanted: np.ndarray, tolerance: np.ndarray) -> Bool[np.ndarray, "query column"]:
    with np.errstate(invalid="ignore"):  # −∞ − −∞ is no number; equal they are.
        return (values == wanted) | (np.abs(values - wanted) <= tolerance)


def _is_coarse(values: np.ndarray, digits: list[list[int | None]], right: np.ndarray) -> bool:
    """Every cell is the right number, rounded: but to less than two decimals."""
    steps = np.array([[0.0 if n is None else 0.5 * 10.0**-n for n in row] for row in digits])
    return bool(_near(values, right, steps + 1e-9).all())


def _follows(exercise: Exercise, stage: str, values: np.ndarray, before: Mapping[str, Typed]) -> bool:
    """Whether the answer is right for what was typed one stage before."""
    at = exercise.stages.index(stage)
    source = exercise.stages[at - 1]
    if at == 0 or source not in before:
        return False
    numbers = [[_number(text) for text in row] for row in before[source]]
    if any(cell is None for row in numbers for cell in row):
        return False
    given = np.array([[_value(cell) for cell in row if cell is not None] for row in numbers])
    if given.shape != exercise.right(source).shape or not (given < np.inf).all():
        return False
    expected = _next(exercise, stage, given)
    return bool(_near(values, expected, slips.tolerance(exercise, stage)).all())


def _next(exercise: Exercise, stage: str, given: np.ndarray) -> np.ndarray:
    """One stage, from the numbers of the stage before it."""
    match stage:
        case "scaled":
            return given * exercise.steps.scale
        case "masked":
            return np.where(exercise.steps.allowed, given, -np.inf)
        case "weights":
            return softmax(given)[0]
    return given @ exercise.steps.v


def _draw(rng: np.random.Generator, seed: int, ask: Ask, masked: bool, d_head: int) -> Exercise:
    n = 4 if ask == "row" and d_head == 4 else 3
    q, k = rng.integers(-2, 4, size=(2, n, d_head))
    v = rng.integers(-2, 5, size=(n, 2))
    allowed = causal(n) if masked else np.ones((n, n), dtype=bool)
    # Whoever asks alone sees at least two keys, and with a mask not all of them.
    asker = int(rng.integers(1, n - 1)) if ask == "row" else None
    rows = slice(None) if asker is None else slice(asker, asker + 1)
    return Exercise(seed, ask, masked, d_head, asker, attention(q[rows], k, v, allowed=allowed[rows]))


def _is_tame(exercise: Exercise) -> bool:
    """Scores that can be worked out in the head, one largest in each row, no visible weight next to nothing."""
    steps = exercise.steps
    largest = (steps.masked == steps.masked.max(axis=1, keepdims=True)).sum(axis=1)
    is_small = np.abs(steps.scores).max() <= 12 and (steps.scores != 0).sum() > 1
    return bool(is_small and (largest == 1).all() and steps.weights[steps.allowed].min() >= 0.02)


def _is_clear(exercise: Exercise) -> bool:
    """No slip looks like the right answer or like another slip."""
    return all(_is_apart(exercise, stage) for stage in exercise.stages)


def _is_apart(exercise: Exercise, stage: str) -> bool:
    tolerance = slips.tolerance(exercise, stage)
    answers = [exercise.right(stage), *(given for _, given in slips.whole(exercise, stage))]
    if any(_near(one, other, 2 * tolerance).all() for one, other in combinations(answers, 2)):
        return False
    return not any(slips.is_reordered(exercise, stage, given) for given in answers)
