"""Every head at a glance: pictures and measures, held against plain loops over single cells."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

import attention_core as ac
from attention_core.overview import HIGHEST, LEAST, MASKED, MEASURES, NEIGHBOURS, NO_KEYS, measure, pooled

N, D = 13, 5
HEADS = {1: (3, 1), 4: (7, 7), 11: (2, 2)}  # A hybrid's layers: number in the model → heads, key/value heads.


def layer(index: int, n_heads: int, n_kv: int, allowed: np.ndarray, **more: object) -> ac.LayerTrace:
    rng = np.random.default_rng([index, n_heads])
    q = 2 * rng.normal(size=(n_heads, allowed.shape[0], D))
    k, v = rng.normal(size=(2, n_kv, allowed.shape[1], D))
    return ac.LayerTrace(index, "self", *(a.astype(np.float32) for a in (q, k, v)), 0.7, allowed, **more)


def trace_of(*layers: ac.LayerTrace) -> ac.Trace:
    shell = ac.from_weights(np.full((3, 3), 1 / 3))
    return ac.Trace("", shell.tokens, shell.card, "arrays", layers, None, shell.verify)


def padded() -> np.ndarray:
    """Causal, three tokens that nobody sees and that see nothing, and one that sees only itself."""
    allowed = np.array(ac.causal(N))
    allowed[:, :3] = allowed[:3] = False
    allowed[7] = np.arange(N) == 7
    return allowed


def entropies(head: ac.HeadWeights) -> Iterator[float]:
    """Of the rows that count, one cell after the other."""
    for i, row in enumerate(head.weights.astype(float)):
        places = int(head.allowed[i].sum()) + (head.sink is not None)
        shares = [*row, *([] if head.sink is None else [float(head.sink[i])])]
        if head.has_keys[i] and places > 1 and min(shares) >= 0 and abs(sum(shares) - 1) < 0.01:
            yield -sum(w * math.log(w) for w in shares if w > 0) / math.log(places)


def masses(head: ac.HeadWeights, name: str) -> Iterator[float]:
    """The weight on one key of each row that may see it."""
    for i in range(len(head.weights)):
        j = 0 if name == "first" else i + NEIGHBOURS[name]
        if 0 <= j < head.weights.shape[1] and head.allowed[i, j] and head.has_keys[i]:
            yield float(head.weights[i, j])


def expect_measures(found, head: ac.HeadWeights, names: tuple[str, ...]) -> None:
    assert set(found) == set(names)
    for name in names:
        if name == "sink":
            values = [float(s) for s, has in zip(head.sink, head.has_keys, strict=True) if has]
        else:
            values = list(entropies(head) if name == "entropy" else masses(head, name))
        assert found[name].n_rows == len(values), name
        if values:
            assert found[name].value == pytest.approx(sum(values) / len(values), abs=1e-6), name
        else:
            assert found[name].value is None, name


WITHOUT_SINK = MEASURES[:-1]


@pytest.mark.parametrize("allowed", [np.ones((N, N), dtype=bool), ac.causal(N), padded()], ids=["all", "causal", "pad"])
def test_measures_are_those_of_plain_loops_in_a_hybrid_with_grouped_heads(allowed):
    layers = [layer(index, *heads, allowed) for index, heads in HEADS.items()]
    seen = ac.overview(trace_of(*layers))
    assert [(h.layer, h.head) for h in seen.heads] == [(i, h) for i, (n, _) in HEADS.items() for h in range(n)]
    assert [h.kv_head for h in seen.heads] == [0, 0, 0, *range(7), 0, 1]
    by_number = {one.index: one for one in layers}
    for view in seen.heads:
        expect_measures(view.measures, by_number[view.layer].head_weights(view.head), WITHOUT_SINK)


def test_masked_rows_are_left_out_and_counted():
    (view,) = ac.overview(trace_of(layer(0, 1, 1, padded()))).heads
    rows = {name: mean.n_rows for name, mean in view.measures.items()}
    # Ten rows see something; two of them, the first after the padding and the lone one, see only themselves.
    assert rows == {"entropy": 8, "previous": 8, "self": 10, "next": 0, "first": 0}
    assert view.measures["next"].value is None


def test_even_attention_has_entropy_1_and_a_sharp_one_0():
    for allowed in (np.ones((N, N), dtype=bool), np.array(ac.causal(N))):
        even = allowed / allowed.sum(axis=1, keepdims=True)
        sharp = np.eye(N)
        views = ac.overview(ac.from_weights(np.stack([even, sharp]), allowed=allowed)).heads
        assert [view.measures["entropy"].value for view in views] == pytest.approx([1, 0], abs=1e-6)
        assert views[1].measures["self"].value == 1
        assert views[1].measures["previous"].value == 0


def test_a_sink_is_one_more_place_and_has_its_own_mass():
    allowed = padded()
    sinks = np.array([-2.0, 0.5, 3.0])
    layers = layer(0, 3, 3, allowed, sinks=sinks)
    for view in ac.overview(trace_of(layers)).heads:
        head = layers.head_weights(view.head)
        expect_measures(view.measures, head, MEASURES)
        assert view.measures["entropy"].n_rows == 10, "with the sink, a row with one key has two places"
        assert 0 < view.measures["sink"].value < 1
        assert view.measures["entropy"].value <= 1


def test_weights_alone_with_rows_of_zeros_and_rows_that_are_no_shares():
    weights = np.random.default_rng(3).dirichlet(np.ones(7), size=7)
    weights[2] = 0  # No keys.
    weights[4] *= 1.5  # No shares.
    weights[5, 0] -= 0.5
    weights[5, 1] += 0.5
    trace = ac.from_weights(weights)
    (view,) = ac.overview(trace).heads
    expect_measures(view.measures, trace.layers[0].head_weights(0), WITHOUT_SINK)
    assert view.measures["entropy"].n_rows == 4
    assert (view.levels[2] == NO_KEYS).all()
    assert (np.delete(view.levels, 2, axis=0) >= LEAST).all()


def test_two_sequences_have_no_neighbours():
    weights = np.random.default_rng(4).dirichlet(np.ones(7), size=(2, 3, 5))
    trace = ac.from_weights(weights, query_tokens=[str(i) for i in range(5)])
    seen = ac.overview(trace)
    assert (seen.kind, seen.n_queries, seen.n_keys) == ("cross", 5, 7)
    for view in seen.heads:
        expect_measures(view.measures, trace.layers[view.layer].head_weights(view.head), ("entropy", "first"))
    assert ac.overview(trace, "cross").heads[0].levels.shape == (5, 7)
    with pytest.raises(ac.UnsupportedModel, match="decoder"):
        ac.overview(trace, "decoder")


@pytest.mark.parametrize("block", [(1, 1), (2, 3), (5, 13), (13, 2)])
def test_each_point_of_a_picture_is_the_largest_of_its_cells(block):
    head = layer(0, 1, 1, padded()).head_weights(0)
    levels = pooled(head, block)
    a, b = block
    assert levels.shape == (-(-N // a), -(-N // b))
    for i, j in np.ndindex(levels.shape):
        rows, columns = slice(i * a, (i + 1) * a), slice(j * b, (j + 1) * b)
        seen = head.allowed[rows, columns] & head.has_keys[rows, None]
        if seen.any():
            largest = head.weights[rows, columns][seen].max()
            assert ((levels[i, j] - LEAST) / (HIGHEST - LEAST)) ** 2 == pytest.approx(largest, abs=1 / 253)
        else:
            assert levels[i, j] == (MASKED if head.has_keys[rows].all() else NO_KEYS)
    assert not levels.flags.writeable


def test_zero_and_masked_are_different_levels():
    allowed = np.array(ac.causal(3))
    (view,) = ac.overview(ac.from_weights(np.eye(3), allowed=allowed)).heads
    np.testing.assert_array_equal(view.levels, [[255, 0, 0], [2, 255, 0], [2, 2, 255]])


def test_small_weights_keep_apart():
    # A step of the level is a step of the root: 1‰ and 2‰ must not look alike.
    levels = pooled(ac.from_weights([[0.001, 0.002, 0.997]]).layers[0].head_weights(0), (1, 1))
    assert levels.tolist() == [[10, 13, 255]]


@pytest.mark.parametrize(("side", "block"), [(64, (1, 1)), (13, (1, 1)), (12, (2, 2)), (5, (3, 3)), (1, (13, 13))])
def test_the_side_is_never_passed(side, block):
    seen = ac.overview(trace_of(layer(0, 1, 1, np.ones((N, N), dtype=bool))), side=side)
    assert seen.block == block
    assert max(seen.heads[0].levels.shape) <= side


def test_no_side_at_all_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        ac.overview(trace_of(layer(0, 1, 1, np.ones((N, N), dtype=bool))), side=0)


def test_progress_counts_every_head_and_can_end_the_work():
    trace = trace_of(*(layer(index, *heads, ac.causal(N)) for index, heads in HEADS.items()))
    told: list[tuple[int, int]] = []
    ac.overview(trace, progress=lambda *counts: told.append(counts))
    assert told == [(done, 12) for done in range(1, 13)]

    def stop(done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ac.overview(trace, progress=stop)


def test_every_measure_is_named_in_order(tired):
    (view, *_) = ac.overview(tired).heads
    assert tuple(view.measures) == WITHOUT_SINK
    assert measure(tired.layers[0].head_weights(0), is_one_sequence=True) == view.measures
