"""Exercises: the same from the same seed; every right answer is accepted, every slip is called by its name."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_core import slips
from attention_core.exercises import ASKS, STAGES, WIDTHS, Exercise, Verdict, check, exercise
from attention_core.notation import Unreadable, read

SEEDS = range(200)
VARIANTS = [{"ask": a, "masked": m, "d_head": d} for a, m, d in product(ASKS, (False, True), WIDTHS)]
NAMED = ["-".join(map(str, variant.values())) for variant in VARIANTS]
every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=NAMED)


@cache
def made(seed: int, **variant: object) -> Exercise:
    """Drawn once for all tests."""
    return exercise(seed, **variant)


def typed(values: np.ndarray, digits: int = 3) -> list[list[str]]:
    return [["-inf" if value == -np.inf else f"{value:.{digits}f}" for value in row] for row in values]


def softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores)
    return raised / raised.sum(axis=1, keepdims=True)


def hidden(e: Exercise, scores: np.ndarray) -> np.ndarray:
    return np.where(e.steps.allowed, scores, -np.inf)


def hard(e: Exercise) -> np.ndarray:
    masked = hidden(e, e.steps.q @ e.steps.k.T)
    return np.eye(masked.shape[1])[masked.argmax(axis=1)]


# What people do instead, worked out here on its own: (stage, name) → the numbers, None where it cannot be done.
PLANTED: dict[tuple[str, str], Callable[[Exercise], np.ndarray | None]] = {
    ("scores", "transposed"): lambda e: e.steps.k @ e.steps.q.T if e.ask == "all" else None,
    ("scores", "not_transposed"): lambda e: e.steps.q @ e.steps.k if e.steps.k.shape == (4, 4) else None,
    ("scores", "already_scaled"): lambda e: e.steps.q @ e.steps.k.T / math.sqrt(e.d_head),
    ("scores", "row_order"): lambda e: np.roll(e.steps.scores, 1, axis=0) if e.ask == "all" else None,
    ("scaled", "not_scaled"): lambda e: e.steps.q @ e.steps.k.T,
    ("scaled", "multiplied"): lambda e: e.steps.q @ e.steps.k.T * math.sqrt(e.d_head),
    ("scaled", "divided_by_d"): lambda e: e.steps.q @ e.steps.k.T / e.d_head,
    ("scaled", "row_order"): lambda e: e.steps.scaled[::-1] if e.ask == "all" else None,
    ("masked", "sees_all"): lambda e: e.steps.scaled,
    ("masked", "zero_mask"): lambda e: np.where(e.steps.allowed, e.steps.scaled, 0),
    ("masked", "sees_future"): lambda e: np.where(np.tri(3).T > 0, e.steps.scaled, -np.inf) if e.ask == "all" else None,
    ("weights", "columns"): lambda e: softmax(hidden(e, e.steps.scaled).T).T if e.ask == "all" else None,
    ("weights", "not_scaled"): lambda e: softmax(hidden(e, e.steps.scores)),
    ("weights", "multiplied"): lambda e: softmax(hidden(e, e.steps.scores * math.sqrt(e.d_head))),
    ("weights", "mask_after"): lambda e: softmax(e.steps.scaled) * e.steps.allowed if e.is_masked else None,
    ("weights", "sees_all"): lambda e: softmax(e.steps.scaled) if e.is_masked else None,
    ("weights", "zero_mask"): lambda e: softmax(e.steps.scaled * e.steps.allowed) if e.is_masked else None,
    ("weights", "not_normalised"): lambda e: np.exp(hidden(e, e.steps.scaled)),
    ("weights", "hard"): hard,
    ("weights", "row_order"): lambda e: np.roll(e.steps.weights, 1, axis=0) if e.ask == "all" else None,
    ("output", "own_value"): lambda e: e.steps.v if e.asker is None else e.steps.v[[e.asker]],
    ("output", "transposed"): lambda e: e.steps.weights.T @ e.steps.v if e.ask == "all" else None,
    ("output", "not_scaled"): lambda e: softmax(hidden(e, e.steps.scores)) @ e.steps.v,
    ("output", "keys_as_values"): lambda e: e.steps.weights @ e.steps.k if e.d_head == 2 else None,
    ("output", "hard"): lambda e: hard(e) @ e.steps.v,
    ("output", "columns"): lambda e: softmax(hidden(e, e.steps.scaled).T).T @ e.steps.v if e.ask == "all" else None,
    ("output", "mask_after"): lambda e: softmax(e.steps.scaled) * e.steps.allowed @ e.steps.v if e.is_masked else None,
    ("output", "sees_all"): lambda e: softmax(e.steps.scaled) @ e.steps.v if e.is_masked else None,
    ("output", "plain_mean"): lambda e: np.stack([e.steps.v[seen].mean(axis=0) for seen in e.steps.allowed]),
    ("masked", "hides_itself"): lambda e: (
        np.where(np.tri(3, k=-1), e.steps.scaled, -np.inf) if e.ask == "all" else None),
}  # fmt: skip


@every_variant
def test_every_right_answer_is_accepted_in_two_to_four_decimals(variant: dict) -> None:
    for seed in SEEDS:
        e = made(seed, **variant)
        for stage, digits in product(e.stages, (2, 3, 4)):
            assert check(e, stage, typed(e.right(stage), digits)).kind == "right", (seed, stage, digits)


@every_variant
def test_who_goes_on_with_two_decimals_arrives(variant: dict) -> None:
    for seed in SEEDS:
        e = made(seed, **variant)
        scaled = np.round(e.steps.q @ e.steps.k.T / math.sqrt(e.d_head), 2)
        weights = np.round(softmax(hidden(e, scaled)), 2)
        assert check(e, "weights", typed(weights, 2)).kind == "right", seed
        assert check(e, "output", typed(np.round(weights @ e.steps.v, 2), 2)).kind == "right", seed


@pytest.mark.parametrize(("stage", "name"), PLANTED, ids=["-".join(key) for key in PLANTED])
def test_every_planted_slip_is_named(stage: str, name: str) -> None:
    """On 200 seeds, in turn in every kind of exercise in which it can be made."""
    possible = [variant for variant in VARIANTS if _planted(0, variant, stage, name) is not None]
    assert possible
    for seed in SEEDS:
        variant = possible[seed % len(possible)]
        values = _planted(seed, variant, stage, name)
        assert values is not None
        verdict = check(made(seed, **variant), stage, typed(values))
        assert verdict.kind == name, (seed, variant, verdict)
        # Numbers may happen to be those of a slip in one product as well: then it is said.
        assert set(verdict.also) <= {"sign", "left_out"}, (seed, variant, verdict)


def _planted(seed: int, variant: dict, stage: str, name: str) -> np.ndarray | None:
    e = made(seed, **variant)
    with np.errstate(all="ignore"):
        return PLANTED[stage, name](e) if stage in e.stages else None


@every_variant
def test_shares_without_exp_are_named_wherever_there_are_any(variant: dict) -> None:
    n_named = 0
    for seed in SEEDS:
        e = made(seed, **variant)
        visible = e.steps.scaled * e.steps.allowed
        sums = visible.sum(axis=1, keepdims=True)
        if (np.abs(sums) > 1e-9).all():
            n_named += 1
            assert check(e, "weights", typed(visible / sums)).kind == "shares", seed
    assert n_named > 50


def test_a_slip_in_one_product_is_named_with_its_cell() -> None:
    for seed in SEEDS:
        e = exercise(seed)
        i, j, c = seed % 3, seed // 3 % 3, seed // 9 % 4
        change = float(e.steps.q[i, c] * e.steps.k[j, c])
        for name, off in (("sign", -2 * change), ("left_out", -change)):
            values = e.steps.scores.copy()
            values[i, j] += off
            verdict = check(e, "scores", typed(values, 0))
            if change == 0:
                assert verdict.kind == "right"
            else:
                assert name in (verdict.kind, *verdict.also), (seed, verdict)
                assert verdict.cells == ((i, j),)


def test_one_decimal_is_too_coarse() -> None:
    n_named = 0
    for seed in SEEDS:
        e = exercise(seed)
        verdict = check(e, "weights", typed(e.steps.weights, 1))
        if verdict.kind != "right":
            n_named += 1
            assert "coarse" in (verdict.kind, *verdict.also), (seed, verdict)
    assert n_named > 190


@every_variant
def test_what_is_off_by_more_than_rounding_is_not_right(variant: dict) -> None:
    for seed in SEEDS:
        e = made(seed, **variant)
        for stage in e.stages:
            values = e.right(stage).astype(float).copy()
            row, column = np.argwhere(np.isfinite(values))[seed % np.isfinite(values).sum()]
            carried = 0.006 + 0.005 * np.abs(e.steps.v).sum(axis=0).max()  # Weights of two decimals, multiplied.
            values[row, column] += {"weights": 0.012, "output": carried + 0.002}.get(stage, 0.008)
            assert check(e, stage, typed(values)).kind != "right", (seed, stage)


def test_infinite_numbers_before_excuse_nothing() -> None:
    e = exercise(5, masked=True)
    weights = typed(softmax(hidden(e, e.steps.scores)))
    assert check(e, "weights", weights, {"masked": [["inf"] * 3] * 3}).kind == "not_scaled"


def test_two_decimals_that_are_wrong_are_not_called_coarse() -> None:
    for seed in SEEDS:
        e = exercise(seed)
        values = e.steps.weights.copy()
        values[seed % 3, seed // 3 % 3] += 0.03
        assert check(e, "weights", typed(values, 2)).kind == "differs", seed


def test_what_fits_no_slip_differs_in_its_cells() -> None:
    e = exercise(11)
    values = e.steps.weights.copy()
    values[2, 0] += 0.2
    values[0, 1] -= 0.07
    assert check(e, "weights", typed(values)) == Verdict("differs", ((0, 1), (2, 0)))


def test_empty_and_unreadable_cells_are_named() -> None:
    e = exercise(3)
    answer = typed(e.steps.scores, 0)
    answer[1][2] = "  "
    assert check(e, "scores", answer) == Verdict("incomplete", ((1, 2),))
    answer[0][0] = "99"
    assert check(e, "scores", answer) == Verdict("differs", ((0, 0),))
    answer[2][1] = "about 3"
    assert check(e, "scores", answer) == Verdict("unreadable", ((2, 1),))


def test_what_code_writes_for_minus_infinity_is_taken_for_it() -> None:
    for seed in SEEDS:
        e = made(seed, masked=True)
        for text in ("-1e9", "-10^9", "−∞", "-inf", "-1000000000"):
            answer = [[text if value == -np.inf else f"{value:.2f}" for value in row] for row in e.steps.masked]
            assert check(e, "masked", answer).kind == "right", (seed, text)
        assert (
            check(e, "masked", [[cell.replace("-inf", "-99") for cell in row] for row in typed(e.steps.masked)]).kind
            == "differs"
        )


def test_two_slips_at_once_pass_for_neither_the_right_answer_nor_a_third_slip() -> None:
    for seed in SEEDS:
        e = made(seed, masked=True)
        twice = {
            "weights": (softmax(hidden(e, e.steps.scores).T).T, {"differs", "columns", "not_scaled"}),
            "scaled": (e.steps.scaled.T, {"differs"}),
        }
        for stage, (values, kinds) in twice.items():
            assert check(e, stage, typed(values)).kind in kinds, (seed, stage)


def test_an_answer_that_follows_from_a_wrong_one_is_told_so() -> None:
    e = exercise(5, masked=True)
    scaled = typed(e.steps.scores)
    masked = typed(hidden(e, e.steps.scores))
    weights = typed(softmax(hidden(e, e.steps.scores)))
    assert check(e, "masked", masked, {"scaled": scaled}).kind == "follows"
    verdict = check(e, "weights", weights, {"masked": masked})
    assert (verdict.kind, verdict.also) == ("follows", ("not_scaled",))
    turned = e.steps.scores.T
    follows = {"scaled": turned / 2, "output": softmax(hidden(e, turned / 2)) @ e.steps.v}
    before = {"scores": typed(turned), "scaled": typed(turned / 2), "weights": typed(softmax(hidden(e, turned / 2)))}
    for stage, values in follows.items():
        assert check(e, stage, typed(values), before).kind == "follows"
    # Scores follow from nothing that is typed, whatever stands in the last stage.
    assert check(e, "scores", typed(turned), {"output": typed(e.steps.output)}).kind == "transposed"
    # A stage before that was right, or was never filled in, excuses nothing.
    assert check(e, "weights", weights, {"masked": typed(e.steps.masked)}).kind == "not_scaled"
    assert check(e, "weights", weights, {"masked": [["", "", ""]] * 3}).kind == "not_scaled"


NOTATIONS = ("{0}", "{0:.3f}", "+{0:.2f}", "{0:.2f}00", "({0})", "{1}/2", " {0} ", "{1} ÷ 2", "{1}/√4", "{1}/sqrt(4)")


@pytest.mark.parametrize("notation", NOTATIONS)
def test_any_usual_notation_is_accepted(notation: str) -> None:
    for seed in SEEDS:
        e = exercise(seed)
        answer = [[notation.format(v, int(2 * v)) for v in row] for row in e.steps.scaled]
        answer = [[text.replace("+-", "-") for text in row] for row in answer]
        assert check(e, "scaled", answer).kind == "right", (seed, answer)
        comma = [[text.replace(".", ",").replace("-", "−") for text in row] for row in answer]
        assert check(e, "scaled", comma).kind == "right", (seed, comma)


def test_roots_powers_and_percents_are_accepted() -> None:
    for seed in SEEDS:
        e = exercise(seed, d_head=2)
        for root in ("{}/√2", "{}/sqrt(2)", "{}√2/2", "{}*2^(-1/2)", "{} · sqrt2/2"):
            answer = [[root.format(int(v)) for v in row] for row in e.steps.scores]
            assert check(e, "scaled", answer).kind == "right", (seed, root)
        sums = [" + ".join(f"e^({v})" for v in row) for row in e.steps.scaled]
        exact = [[f"exp({v})/({total})" for v in row] for row, total in zip(e.steps.scaled, sums, strict=True)]
        assert check(e, "weights", exact).kind == "right", seed
        percent = [[f"{100 * v:.0f}%" for v in row] for row in e.steps.weights]
        assert check(e, "weights", percent).kind == "right", seed


@pytest.mark.parametrize(
    ("text", "value", "digits"),
    [
        ("3", 3, 0), ("−1,5", -1.5, 1), ("０．２５", 0.25, 2), ("3/4", 0.75, None), ("1 1/2", 1.5, None),
        ("-1 1/2", -1.5, None), ("2√3", 2 * math.sqrt(3), None), ("-2^2", -4, None), ("2^-1", 0.5, None),
        ("67 %", 0.67, 2), ("12.5%", 0.125, 3), ("−∞", -math.inf, None), ("-inf", -math.inf, None),
        ("e", math.e, None), ("1/(1+e^-1)", 1 / (1 + math.exp(-1)), None), ("√(1+3)", 2, None), (".5", 0.5, 1),
        ("2(3−1)", 4, None), ("1－3", -2, None), ("8/2/2", 2, None), ("2^3^2", 512, None),
        ("2.5e-3", 0.0025, None), ("1,2E-02", 0.012, None), ("-1e9", -1e9, None), ("2e - 1", 2 * math.e - 1, None),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(text: str, value: float, digits: int | None) -> None:
    number = read(text)
    assert number.value == pytest.approx(value, rel=1e-15)
    assert number.digits == digits


@pytest.mark.parametrize(
    "text",
    ["", " ", "three", "1.2.3", "1,000.5", "3/", "(1", "1)", "1/0", "9^9^9^9", "sqrt(-1)", "inf-inf", "2 3", "--", "%",
     "__import__('os')", "1" * 200, "(" * 100],
)  # fmt: skip
def test_what_is_no_number_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)


@settings(max_examples=300)
@given(st.text(alphabet="0123456789.,+-*/^()%√e sqrtxpinf−∞", max_size=40) | st.text(max_size=20))
def test_anything_typed_is_a_number_or_unreadable(text: str) -> None:
    with suppress(Unreadable):
        assert not math.isnan(read(text).value)


@every_variant
def test_the_same_seed_is_the_same_exercise_and_another_one_another(variant: dict) -> None:
    found = {}
    for seed in SEEDS:
        e = made(seed, **variant)
        assert e.steps.q.shape[1] == variant["d_head"]
        for matrix in (e.steps.q, e.steps.k, e.steps.v):
            assert (matrix == matrix.round()).all()
            assert np.abs(matrix).max() <= 4
        assert e.asker is None or (1 <= e.asker < len(e.steps.k) - 1 and len(e.steps.q) == 1)
        # Nothing that is seen rounds away, and one key of each row stands out.
        assert e.steps.weights[e.steps.allowed].min() >= 0.02
        assert ((e.steps.masked == e.steps.masked.max(axis=1, keepdims=True)).sum(axis=1) == 1).all()
        found[e.steps.q.tobytes() + e.steps.k.tobytes() + e.steps.v.tobytes()] = seed
    assert len(found) == len(SEEDS)
    again = exercise.__wrapped__(7, **variant)
    np.testing.assert_array_equal(again.steps.q, exercise(7, **variant).steps.q)


def test_the_numbers_of_one_seed_stay_what_they_are() -> None:
    """A sheet that was printed last year still fits."""
    e = exercise(17)
    assert e.steps.scores.astype(int).tolist() == SEVENTEEN


SEVENTEEN = [[3, 5, 3], [-1, 3, 4], [8, 11, 6]]


def test_wrong_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="no stage 'masked'"):
        check(exercise(1), "masked", [["0"]])
    with pytest.raises(ValueError, match="3 × 3 cells"):
        check(exercise(1), "scores", [["0"]])
    for bad in ({"ask": "none"}, {"d_head": 3}):
        with pytest.raises(ValueError, match="no exercise"):
            exercise(1, **bad)
    with pytest.raises(ValueError, match="no exercise"):
        exercise(-1)


def test_every_slip_has_a_name_and_every_stage_its_slips() -> None:
    assert len(slips.NAMES) >= 20
    e = exercise(1, masked=True)
    assert e.stages == STAGES
    assert all(len(list(slips.whole(e, stage))) >= 3 for stage in STAGES)
