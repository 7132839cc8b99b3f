"""Other ways of looking at a head: without its sink, in whole words, in squares."""

from __future__ import annotations

import numpy as np
import pytest

import attention_core as ac
from attention_core import views


def head_of(weights: np.ndarray, allowed: np.ndarray | None = None, sink: np.ndarray | None = None) -> ac.HeadWeights:
    allowed = np.ones(weights.shape, dtype=bool) if allowed is None else allowed
    return ac.HeadWeights(weights=weights, allowed=allowed, has_keys=(weights != 0).any(axis=1), sink=sink)


def rows(n_queries: int, n_keys: int, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).random((n_queries, n_keys))
    return drawn / drawn.sum(axis=1, keepdims=True)


def towards(key: int, share: float, n: int) -> np.ndarray:
    weights = np.full((n, n), (1 - share) / (n - 1))
    weights[:, key] = share
    return weights


def test_a_key_with_half_of_the_weight_is_a_sink() -> None:
    found = views.sink_of(head_of(towards(2, 0.5, 5)))
    assert found == views.Sink(2, 0.5, 5)
    assert views.sink_of(head_of(towards(2, 0.49, 5))) is None


def test_rows_without_a_choice_do_not_make_a_sink() -> None:
    causal = np.tri(4, dtype=bool)
    weights = np.where(causal, [[1, 0, 0, 0], [0.4, 0.6, 0, 0], [0.4, 0.2, 0.4, 0], [0.4, 0.2, 0.2, 0.2]], 0)
    assert views.sink_of(head_of(weights, causal)) is None, "the first row has no other key"
    assert views.sink_of(head_of(np.array([[0.9, 0.1], [0.9, 0.1]]))) is None, "two rows are too few"


def test_a_key_that_few_rows_may_see_is_no_sink() -> None:
    weights, allowed = rows(9, 9), np.ones((9, 9), dtype=bool)
    allowed[:5, 8] = weights[:5, 8] = 0
    weights[5:] = towards(8, 0.9, 9)[5:]
    assert views.sink_of(head_of(weights, allowed)) is None


def test_what_is_left_of_a_row_is_one_again_and_proportional() -> None:
    weights = rows(3, 5)
    weights[2] = np.eye(5)[1]
    left, removed = views.without_key(head_of(weights), 1)
    np.testing.assert_array_equal(removed, weights[:, 1])
    assert (left.weights[:, 1] == 0).all()
    np.testing.assert_allclose(left.weights.sum(axis=1), [1, 1, 0])
    np.testing.assert_allclose(left.weights[0, 0] / left.weights[0, 4], weights[0, 0] / weights[0, 4])


def test_a_heads_own_sink_takes_its_part_of_the_rest() -> None:
    weights, sink = rows(3, 5) * 0.75, np.full(3, 0.25)
    left, removed = views.without_key(head_of(weights, sink=sink), 0)
    np.testing.assert_allclose(left.weights.sum(axis=1) + left.sink, 1)
    np.testing.assert_allclose(left.sink, 0.25 / (1 - removed))


def test_words_keep_the_sum_of_a_row_with_its_sink() -> None:
    sink = np.array([0.5, 0.25, 0.125, 1.0, 0.0])
    weights = rows(5, 5) * (1 - sink[:, None])
    words = [ac.Word(0, 2, "ab"), ac.Word(2, 4, "cd"), ac.Word(4, 5, "e")]
    allowed = np.tri(5, dtype=bool)
    merged = views.in_words(head_of(weights * 1.0, allowed, sink), words, words)
    np.testing.assert_allclose(merged.weights.sum(axis=1) + merged.sink, 1)
    assert merged.sink[1] == 0.125, "a piece that looks at no key does not enter the mean"
    np.testing.assert_array_equal(merged.allowed, np.tri(3, dtype=bool))


@pytest.mark.parametrize("square", [(3, 2), (1, 1), (7, 11), (8, 13)])
def test_a_square_is_its_largest_open_cell(square: tuple[int, int]) -> None:
    random = np.random.default_rng(1)
    weights, allowed = rows(7, 11), random.random((7, 11)) > 0.4
    hidden = random.random((7, 11)) > 0.7
    found = views.pooled(weights, allowed, hidden, square)
    seen = allowed & ~hidden
    for i, row in enumerate(found.weights):
        for j, largest in enumerate(row):
            part = np.s_[i * square[0] : (i + 1) * square[0], j * square[1] : (j + 1) * square[1]]
            assert largest == (weights[part][seen[part]].max() if seen[part].any() else 0)
            state = found.states[i, j]
            if seen[part].any():
                at = i * square[0] + found.peak_rows[i, j], j * square[1] + found.peak_columns[i, j]
                assert weights[at] == largest
                assert state == (views.OPEN if allowed[part].all() else views.PARTLY)
            else:
                assert state == (views.HIDDEN if (allowed[part]).any() else views.MASKED)


def test_the_links_of_a_bill_are_those_of_the_head() -> None:
    random = np.random.default_rng(2)
    q, k, v = (random.normal(size=(3, 5)).astype(np.float32) for _ in range(3))
    bias = random.normal(size=(3, 3)).astype(np.float32)
    head = ac.attention(q, k, v, scale=0.7, softcap=1.5, bias=bias)
    links = views.links(head, 2, 1)
    assert np.float32(links.capped) + head.bias[2, 1] == head.scaled[2, 1]
    assert links.capped == pytest.approx(1.5 * np.tanh(links.multiplied / 1.5), rel=1e-6)
    plain = ac.attention(q, k, v, scale=0.7)
    assert views.links(plain, 2, 1) == views.Links(float(plain.scaled[2, 1]), None)
