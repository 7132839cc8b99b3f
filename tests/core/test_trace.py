"""A trace's layers, and the check of a trace: it passes no number that is not the model's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import attention_core as ac
from attention_core import plain

N_QUERIES, N_KEYS, D_HEAD, D_V, D_IN, D_MODEL = 3, 5, 7, 2, 11, 13


def grouped() -> ac.LayerTrace:
    """Eight query heads over two key/value heads, with all that a head can have."""
    rng = np.random.default_rng(17)

    def made(*shape: int) -> np.ndarray:
        array = rng.standard_normal(shape)
        array.flags.writeable = False
        return array

    return ac.LayerTrace(
        index=4,
        kind="cross",
        q=made(8, N_QUERIES, D_HEAD),
        k=made(2, N_KEYS, D_HEAD),
        v=made(2, N_KEYS, D_V),
        scale=0.3,
        allowed=made(N_QUERIES, N_KEYS) > -1,
        bias=made(8, N_QUERIES, N_KEYS),
        x=made(N_QUERIES, D_IN),
        x_key=made(N_KEYS, D_IN),
        w_q=made(8, D_IN, D_HEAD),
        w_k=made(2, D_IN, D_HEAD),
        w_v=made(2, D_IN, D_V),
        w_o=made(8, D_V, D_MODEL),
    )


@pytest.mark.parametrize("h", range(8))
def test_case_17_four_query_heads_read_one_key_value_head(h: int) -> None:
    layer = grouped()
    head, group = layer.head(h), h // 4
    assert (layer.n_heads, layer.n_kv_heads) == (8, 2)
    scaled = np.einsum("qd,kd->qk", layer.q[h], layer.k[group]) * 0.3 + layer.bias[h]
    exps = np.exp(np.where(layer.allowed, scaled, -np.inf))
    weights = exps / exps.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(head.weights, weights, rtol=0, atol=1e-12)
    np.testing.assert_allclose(head.output, weights @ layer.v[group], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(layer.weights(h), head.weights)
    own = {"w_q": layer.w_q[h], "w_o": layer.w_o[h], "w_k": layer.w_k[group], "w_v": layer.w_v[group]}
    for name, expected in own.items():
        np.testing.assert_array_equal(getattr(head, name), expected, err_msg=name)
    assert (head.x, head.x_key) == (layer.x, layer.x_key)


@pytest.mark.parametrize("h", [-1, 8])
def test_a_head_that_is_not_there(h: int) -> None:
    with pytest.raises(IndexError, match="layer 4"):
        grouped().head(h)


def test_a_layers_soft_cap_comes_before_its_bias() -> None:
    layer = replace(grouped(), softcap=0.5)
    scaled = 0.5 * np.tanh(np.einsum("qd,kd->qk", layer.q[0], layer.k[0]) * 0.3 / 0.5)
    np.testing.assert_allclose(layer.head(0).scaled, scaled + layer.bias[0], rtol=0, atol=1e-12)


def test_a_trace_passes_its_check(tired: ac.Trace) -> None:
    some, every = tired.check(), tired.check(full=True)
    assert (some.n_rows, every.n_rows) == (8, 12)
    for checked in (some, every):
        assert checked.passed
        assert checked.reference == "plain-forward"
        assert 0 <= checked.largest_difference <= checked.tolerance == 1e-10
        assert 0 <= checked.row_sum_error <= 1e-15
        assert checked.forbidden_weight == 0


def bumped(array: np.ndarray, amount: float) -> np.ndarray:
    """The array with its last number changed (NaN makes it none at all)."""
    changed = array.copy()
    changed.flat[-1] += amount
    changed.flags.writeable = False
    return changed


def tampered(trace: ac.Trace, layer: int, **changes: object) -> ac.Trace:
    layers = list(trace.layers)
    layers[layer] = replace(layers[layer], **changes)
    return replace(trace, layers=tuple(layers))


@pytest.mark.parametrize("amount", [1e-8, float("nan")])
@pytest.mark.parametrize("name", ["q", "k", "v", "w_o", "written"])
@pytest.mark.parametrize("layer", [0, 1])
def test_a_changed_number_does_not_pass(tired: ac.Trace, layer: int, name: str, amount: float) -> None:
    changed = tampered(tired, layer, **{name: bumped(getattr(tired.layers[layer], name), amount)})
    checked = changed.check(full=True)
    assert not checked.passed
    assert checked.layer == layer


def test_a_changed_scale_or_mask_does_not_pass(tired: ac.Trace) -> None:
    assert not tampered(tired, 1, scale=0.35).check(full=True).passed
    assert not tampered(tired, 1, allowed=ac.causal(12)).check(full=True).passed


@pytest.mark.parametrize("full", [False, True])
def test_other_ids_than_those_fed_do_not_pass(tired: ac.Trace, full: bool) -> None:
    others = (replace(tired.tokens[0], id=5), *tired.tokens[1:])
    assert not replace(tired, tokens=others).check(full).passed


@pytest.mark.parametrize(
    "change",
    [
        {"logit": 3.0},
        {"logit": float("nan")},
        {"word": "street"},
        {"probability": 0.5},
    ],
)
@pytest.mark.parametrize("token", [0, 7])
def test_a_changed_answer_does_not_pass(tired: ac.Trace, token: int, change: dict[str, object]) -> None:
    answers = list(tired.predictions)
    answers[token] = (replace(answers[token][0], **change), *answers[token][1:])
    checked = replace(tired, predictions=tuple(answers)).check()
    assert not checked.passed
    assert checked.layer == 2  # The number of layers stands for the read-out.


def bent(name: str, index: int, amount: float) -> Callable:
    """The plain forward pass with one of its results off by `amount`."""
    straight = plain.forward

    def forward(*given: object) -> plain.PlainForward:
        result = straight(*given)
        parts = list(getattr(result, name))
        parts[index] = parts[index] + amount
        return replace(result, **{name: tuple(parts)})

    return forward


@pytest.mark.parametrize(
    ("name", "index", "layer"), [("weights", 0, 0), ("weights", 1, 1), ("written", 1, 1), ("logits", 0, 2)]
)
def test_steps_that_differ_from_the_plain_forward_are_not_handed_out(
    pronoun: ac.TaughtModel, monkeypatch: pytest.MonkeyPatch, name: str, index: int | None, layer: int
) -> None:
    monkeypatch.setattr(plain, "forward", bent(name, index, 1e-6))
    with pytest.raises(ac.TraceMismatch) as caught:
        pronoun.trace("The animal didn't cross the street because it was too tired.")
    assert caught.value.layer == layer
    assert caught.value.error == pytest.approx(1e-6, rel=1e-3)


@pytest.mark.parametrize(
    "change", [{"largest_difference": 1.1e-10}, {"row_sum_error": 1.1e-10}, {"forbidden_weight": 1e-300}]
)
def test_each_figure_of_a_check_can_fail_it(tired: ac.Trace, change: dict[str, float]) -> None:
    assert not replace(tired.check(), **change).passed
    assert not replace(tired.check(), **dict.fromkeys(change, float("nan"))).passed


def test_large_logits_are_no_mismatch(pronoun: ac.TaughtModel) -> None:
    (readout,) = pronoun.readouts
    loud = replace(pronoun, readouts=(replace(readout, matrix=30 * readout.matrix),))
    trace = loud.trace("The animal was tired.")
    assert max(answers[0].logit for answers in trace.predictions) > 710  # exp(710) is more than a float64 holds.
    assert trace.check(full=True).passed


def test_a_model_that_answers_nothing_can_be_checked(tired: ac.Trace) -> None:
    assert replace(tired, predictions=None).check().passed
