"""One head's stages: against torch, against numbers worked out by hand, and against their own definitions."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

import attention_core as ac

PRIMES = (2, 3, 5, 7, 11, 13)
STAGES = ("scores", "scaled", "masked", "weights", "output")
INF = float("inf")


@st.composite
def cases(draw, dtype=np.float64) -> dict:
    """q, k, v with a different prime on every axis, and a scale, a mask and a bias or none of them."""
    n_queries, n_keys, d_head, d_v = draw(st.permutations(PRIMES))[:4]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.sampled_from([1e-3, 1.0, 5.0]))
    shapes = {"q": (n_queries, d_head), "k": (n_keys, d_head), "v": (n_keys, d_v)}
    case = {name: (size * rng.standard_normal(shape)).astype(dtype) for name, shape in shapes.items()}
    case["scale"] = draw(st.none() | st.floats(0.01, 3))
    case["bias"] = draw(st.sampled_from([None, rng.standard_normal((n_queries, n_keys)).astype(dtype)]))
    share = draw(st.sampled_from([None, 0.0, 0.3, 0.8]))
    case["allowed"] = None if share is None else rng.random((n_queries, n_keys)) < share
    if case["allowed"] is not None and draw(st.booleans()):
        case["allowed"][draw(st.integers(0, n_queries - 1))] = False
    return case


def attend(case: dict) -> ac.HeadSteps:
    return ac.attention(**case)


def by_torch(case: dict) -> np.ndarray:
    q, k, v = (torch.from_numpy(case[name])[None] for name in "qkv")
    bias, allowed = case["bias"], case["allowed"]
    mask = None if allowed is None else torch.from_numpy(allowed)
    if bias is not None:
        mask = torch.from_numpy(bias if allowed is None else np.where(allowed, bias, -np.inf).astype(bias.dtype))
    return scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=case["scale"])[0].numpy()


def arrays(value: object) -> dict[str, np.ndarray]:
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: array for name, array in found.items() if isinstance(array, np.ndarray)}


@given(cases())
def test_output_equals_torch_in_double(case: dict) -> None:
    np.testing.assert_allclose(attend(case).output, by_torch(case), rtol=0, atol=1e-12)


@given(cases(np.float32))
def test_single_precision_stays_single(case: dict) -> None:
    steps = attend(case)
    assert {str(getattr(steps, stage).dtype) for stage in STAGES} == {"float32"}
    np.testing.assert_allclose(steps.output, by_torch(case), rtol=0, atol=2e-5)


def test_single_precision_is_not_widened_by_a_bias_or_a_scale_in_double() -> None:
    one = np.eye(3, dtype=np.float32)
    assert ac.attention(one, one, one, bias=np.ones((3, 3)), scale=np.float64(0.3)).weights.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.int64, np.float16, np.float64])
def test_everything_else_is_computed_in_double(dtype: type) -> None:
    one = np.eye(3, dtype=dtype)
    assert ac.attention(one, one.astype(np.float32), one).weights.dtype == np.float64


@given(cases())
def test_stages_are_what_their_names_say(case: dict) -> None:
    steps = attend(case)
    q, k, v = case["q"], case["k"], case["v"]
    factor = 1 / math.sqrt(q.shape[1]) if case["scale"] is None else case["scale"]
    products = [[math.fsum(a * b for a, b in zip(asks, answers, strict=True)) for answers in k] for asks in q]
    np.testing.assert_allclose(steps.scores, products, rtol=1e-13, atol=1e-12)
    bias = 0 if case["bias"] is None else case["bias"]
    np.testing.assert_array_equal(steps.scaled, steps.scores * factor + bias)
    visible = np.ones(steps.scores.shape, bool) if case["allowed"] is None else case["allowed"]
    np.testing.assert_array_equal(steps.masked, np.where(visible, steps.scaled, -np.inf))
    for row, weights in zip(steps.masked, steps.weights, strict=True):
        exps = [math.exp(cell - max(row)) if cell > -INF else 0.0 for cell in row]
        shares = [each / math.fsum(exps) for each in exps] if any(exps) else exps
        np.testing.assert_allclose(weights, shares, rtol=1e-12, atol=0)
    np.testing.assert_allclose(steps.output, np.einsum("ij,jd->id", steps.weights, v), rtol=0, atol=1e-12)
    assert steps.scale == factor
    np.testing.assert_array_equal(steps.allowed, visible)


@given(cases())
def test_rows_sum_to_one_and_forbidden_cells_are_exactly_zero(case: dict) -> None:
    steps = attend(case)
    np.testing.assert_allclose(steps.weights.sum(axis=1), steps.has_keys, rtol=0, atol=1e-12)
    assert (steps.weights[~steps.allowed] == 0).all()
    np.testing.assert_array_equal(steps.has_keys, steps.allowed.any(axis=1))


@given(cases(), st.integers(-50, 50))
def test_a_constant_added_to_a_row_changes_no_weight(case: dict, shift: int) -> None:
    shape = len(case["q"]), len(case["k"])
    bias = np.zeros(shape) if case["bias"] is None else case["bias"]
    shifted = attend({**case, "bias": bias + shift * np.arange(shape[0])[:, None]})
    np.testing.assert_allclose(shifted.weights, attend(case).weights, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("dtype", "large"), [(np.float32, 1e18), (np.float64, 1e150)])
def test_huge_scores_stay_finite(dtype: type, large: float) -> None:
    q = np.array([[large], [-large]], dtype)
    k = np.array([[large], [0.5 * large], [-large]], dtype)
    steps = ac.attention(q, k, np.eye(3, dtype=dtype))
    np.testing.assert_array_equal(steps.weights, [[1, 0, 0], [0, 0, 1]])
    assert np.isfinite(steps.output).all()


def test_example_worked_by_hand() -> None:
    # Two queries of four numbers, three keys, values of two numbers; query 1 may not see key 2.
    q = np.array([[1, 1, 0, 0], [0, 0, 2, 0]])
    k = np.array([[1, 3, 0, 0], [2, 0, 0, 5], [0, 0, 1, 7]])
    v = np.array([[1, 0], [0, 10], [100, 0]])
    steps = ac.attention(q, k, v, allowed=np.array([[True, True, True], [True, True, False]]))
    # Query 0: 1·1 + 1·3 = 4, 1·2 = 2, nothing in common = 0. Query 1: 0, 0, 2·1 = 2.
    np.testing.assert_array_equal(steps.scores, [[4, 2, 0], [0, 0, 2]])
    # d_head = 4, so every score is divided by √4 = 2.
    np.testing.assert_array_equal(steps.scaled, [[2, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(steps.masked, [[2, 1, 0], [0, 0, -INF]])
    # Query 0: e² = 7.389056, e = 2.718282, 1; sum 11.107338. Query 1: 1 and 1, so one half each.
    np.testing.assert_allclose(steps.weights[0], [0.66524096, 0.24472847, 0.09003057], rtol=0, atol=5e-9)
    np.testing.assert_array_equal(steps.weights[1], [0.5, 0.5, 0])
    # 0.66524096·1 + 0.09003057·100 = 9.66829796 and 0.24472847·10 = 2.4472847; then ½·1 and ½·10.
    np.testing.assert_allclose(steps.output, [[9.66829796, 2.4472847], [0.5, 5]], rtol=0, atol=5e-7)
    # The bill of (0, 1): products 1·2, 1·0, 0·0, 0·5; exp(1 − 2) = 0.36787944 of 1 + 0.36787944 + 0.13533528.
    bill = steps.explain(0, 1)
    np.testing.assert_array_equal(bill.products, [2, 0, 0, 0])
    assert (bill.score, bill.scaled, bill.row_max, bill.bias, bill.is_allowed) == (2, 1, 2, None, True)
    assert bill.exp == pytest.approx(0.36787944, abs=5e-9)
    assert bill.row_sum == pytest.approx(1.50321472, abs=1e-8)
    np.testing.assert_allclose(bill.weighted_value, [0, 2.4472847], rtol=0, atol=5e-8)


@given(cases())
def test_bills_add_up(case: dict) -> None:
    steps = attend(case)
    n_queries, n_keys = steps.scores.shape
    for i in range(n_queries):
        bills = [steps.explain(i, j) for j in range(n_keys)]
        for j, bill in enumerate(bills):
            assert (bill.query, bill.key) == (i, j)
            np.testing.assert_array_equal(bill.products, case["q"][i] * case["k"][j])
            assert bill.products.sum() == pytest.approx(bill.score, rel=1e-12, abs=1e-12)
            bias = 0 if bill.bias is None else bill.bias
            assert bill.scaled == pytest.approx(bill.score * steps.scale + bias, rel=1e-12, abs=1e-12)
            assert bill.is_allowed == steps.allowed[i, j]
            if bill.is_allowed:
                assert bill.exp == pytest.approx(math.exp(bill.scaled - bill.row_max), rel=1e-12)
            if steps.has_keys[i]:
                assert bill.weight == pytest.approx(bill.exp / bill.row_sum, rel=1e-12)
            assert bill.weight == steps.weights[i, j]
        assert sum(bill.exp for bill in bills) == pytest.approx(bills[0].row_sum, rel=1e-12)
        total = sum(bill.weighted_value for bill in bills)
        np.testing.assert_allclose(total, steps.output[i], rtol=0, atol=1e-12)


def test_the_bill_of_a_masked_cell_is_nothing() -> None:
    rng = np.random.default_rng(0)
    steps = ac.attention(*rng.standard_normal((3, 3, 2)), allowed=ac.causal(3))
    bill = steps.explain(1, 2)
    assert (bill.is_allowed, bill.exp, bill.weight) == (False, 0, 0)
    assert bill.score == steps.scores[1, 2] != 0  # The score stands; only the seeing is forbidden.
    assert bill.row_max == max(steps.scaled[1, :2])
    np.testing.assert_array_equal(bill.weighted_value, [0, 0])


@pytest.mark.parametrize("cell", [(-1, 0), (0, -1), (2, 0), (0, 3)])
def test_a_cell_outside_the_head_has_no_bill(cell: tuple[int, int]) -> None:
    steps = ac.attention(np.ones((2, 5)), np.ones((3, 5)), np.ones((3, 7)))
    with pytest.raises(IndexError):
        steps.explain(*cell)


def test_case_5_no_token_sees_what_comes_after_it() -> None:
    rng = np.random.default_rng(5)
    q, k, v = rng.standard_normal((3, 7, 5))
    steps = ac.attention(q, k, v, allowed=ac.causal(7))
    above = np.triu_indices(7, k=1)
    assert (steps.weights[above] == 0).all()
    assert (steps.masked[above] == -np.inf).all()
    expected = scaled_dot_product_attention(*(torch.from_numpy(each)[None] for each in (q, k, v)), is_causal=True)
    np.testing.assert_allclose(steps.output, expected[0].numpy(), rtol=0, atol=1e-12)


def test_case_18_rows_without_keys_are_zeros_and_flagged() -> None:
    allowed = np.array([[False] * 4, [False] * 4, [False, False, True, False], [False, False, True, True]])
    rng = np.random.default_rng(18)
    steps = ac.attention(*rng.standard_normal((3, 4, 5)), allowed=allowed)
    np.testing.assert_array_equal(steps.has_keys, [False, False, True, True])
    assert (steps.weights[:2] == 0).all()
    assert (steps.output[:2] == 0).all()
    assert not any(np.isnan(array).any() for array in arrays(steps).values())
    bill = steps.explain(0, 2)
    assert (bill.exp, bill.row_sum, bill.weight) == (0, 0, 0)
    assert (bill.weighted_value == 0).all()


def test_causal() -> None:
    np.testing.assert_array_equal(ac.causal(3), [[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    assert ac.causal(3).dtype == bool
    assert not ac.causal(3).flags.writeable


def test_project() -> None:
    x, w = np.array([[1, 2], [3, 4]]), np.array([[1, 0, 2], [0, 1, 1]])
    np.testing.assert_array_equal(ac.project(x, w), [[1, 2, 4], [3, 4, 10]])
    np.testing.assert_array_equal(ac.project(x, w, np.array([10, 20, 30])), [[11, 22, 34], [13, 24, 40]])
    assert not ac.project(x, w).flags.writeable
    single = ac.project(x.astype(np.float32), w.astype(np.float32), np.zeros(3))
    assert single.dtype == np.float32
