"""Models that are watched: a pass keeps what grows with n², of one layer, when that layer is asked for."""

from __future__ import annotations

from collections.abc import Container
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import attention_core as ac
from attention_core.capture import RealModel, real, watching
from attention_core.capture.engine import Engine
from attention_core.capture.later import Later, Shelf
from tests.core.capture_words import TEXT, tokenizer
from tests.core.capture_zoo import BYPASSING
from tests.core.test_capture_zoo import eager

ADDING = ["bloom", "mpnet", "xlnet", "deberta-v2"]
SILENT = ["gpt-neo", "xlm", "openai-gpt"]


def made(name: str, **facts: Any) -> RealModel:
    kind = BYPASSING[name]
    return real.make(replace(kind, facts={**kind.facts, **facts}).make(), real.Reader(tokenizer()), name, "")


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[Container[int]]:
    """For every pass of any engine, the numbers of the layers that it kept whole."""
    seen: list[Container[int]] = []
    run = Engine.run

    def noting(self: Engine, inputs: Any, full: bool = False, whole: Container[int] = (), **more: Any) -> Any:
        seen.append(whole)
        return run(self, inputs, full, whole, **more)

    monkeypatch.setattr(Engine, "run", noting)
    return seen


@pytest.mark.parametrize("name", ADDING)
def test_the_layer_that_is_asked_for_is_passed_through_again(name: str, passes: list[Container[int]]) -> None:
    model = made(name)
    passes.clear()
    trace = model.trace(TEXT)
    trace.check()
    assert passes == [()]
    assert [(layer.index, layer.n_heads) for layer in trace.layers] == [(0, 4), (1, 4)]
    for h in (2, 0):
        trace.layers[1].head(h)
    assert passes == [(), (1,)]
    trace.layers[0].head(0)
    assert passes == [(), (1,), (0,)]


@pytest.mark.parametrize("name", SILENT)
def test_where_nothing_is_added_one_pass_is_enough(name: str, passes: list[Container[int]]) -> None:
    model = made(name)
    passes.clear()
    assert all(layer.head(3).bias is None for layer in model.trace(TEXT).layers)
    assert passes == [()]


def test_little_is_held_and_the_rest_worked_out_again(passes: list[Container[int]]) -> None:
    model = made("bloom")
    model.engine._shelf = Shelf(1)
    first, second = model.trace(TEXT).layers
    passes.clear()
    once = first.weights(1).copy()
    first.weights(3)
    second.weights(1)
    np.testing.assert_array_equal(first.weights(1), once)
    assert passes == [(0,), (1,), (0,)]
    assert isinstance(first.bias, Later)
    assert sum(array.nbytes for array in model.engine._shelf._held) == np.prod(first.bias.shape) * 4


@pytest.mark.parametrize("name", ["bloom", "gpt-neo", "deberta"])
def test_a_long_text_is_watched_too(name: str) -> None:
    limits = {"max_position_embeddings": 1024}
    model = made(name, **({} if name == "bloom" else limits))
    said = " ".join((TEXT.split() * 60)[:611])
    trace = model.trace(said)
    assert len(trace.tokens) == 613
    inputs = {name: numbers for name, numbers in model.reader.read(said)[1].items() if name in model.fed}
    wanted = eager(replace(BYPASSING[name], facts={**BYPASSING[name].facts, **limits}).make(), inputs)
    for layer, weights in zip(trace.layers, wanted["self"], strict=True):
        np.testing.assert_allclose(layer.weights(2), weights[2], atol=1e-4)


def test_a_longer_text_than_it_can_hold_is_refused() -> None:
    model = made("bloom")
    with pytest.raises(ac.TextTooLong) as caught:
        model.trace("cat " * 2047)
    assert (caught.value.n, caught.value.limit) == (2049, 2048)


def test_a_second_pass_that_differs_is_never_drawn() -> None:
    model = made("bloom")
    layer = model.trace(TEXT).layers[1]
    with torch.no_grad():
        for parameter in model.engine.net.parameters():
            parameter.mul_(1.1)
    with pytest.raises(ac.TraceMismatch):
        layer.weights(0)


@pytest.mark.parametrize("name", ["q", "v", "x", "w_q", "scale"])
def test_a_watched_trace_that_was_changed_fails_its_check(name: str) -> None:
    trace = made("bloom").trace(TEXT)
    assert trace.check(full=True).passed
    layer = trace.layers[1]
    changed = replace(layer, **{name: getattr(layer, name) * np.float32(1.3)})
    check = replace(trace, layers=(trace.layers[0], changed)).check()
    assert (check.passed, check.layer) == (False, 1)


def test_a_bias_that_eight_rows_do_not_show_is_known_from_the_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    model = made("bloom")
    monkeypatch.setattr(watching, "few", lambda n: np.array([0]))  # Its only visible key: ALiBi adds 0 there.
    layer = model.engine.run(BYPASSING["bloom"].inputs()).layers[0]
    assert isinstance(layer.bias, Later)
    assert (layer.bias[:, np.array([0])] == 0).all()
    assert np.abs(layer.bias[3]).max() > 0.01


def test_threads_that_ask_for_one_layer_share_its_pass(passes: list[Container[int]]) -> None:
    layer = made("bloom").trace(TEXT).layers[0]
    alone = made("bloom").trace(TEXT).layers[0].weights(2)
    passes.clear()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(layer.weights, [2] * 8))
    assert passes == [(0,)]
    for weights in found:
        np.testing.assert_array_equal(weights, alone)


def test_what_stands_for_an_array_reads_like_one() -> None:
    made_ones: list[np.ndarray] = []

    def work() -> np.ndarray:
        made_ones.append(np.arange(2 * 5 * 3, dtype=np.float32).reshape(2, 5, 3))
        return made_ones[-1]

    rows = np.array([0, 4])
    later = Later((2, 5, 3), rows, np.full((2, 2, 3), 7, np.float32), work, Shelf(10**6))
    assert (later[:, rows] == 7).all()
    assert made_ones == []
    np.testing.assert_array_equal(later[1], made_ones[0][1])
    np.testing.assert_array_equal(later[:, np.array([1, 3])], made_ones[0][:, [1, 3]])
    np.testing.assert_array_equal(np.asarray(later), made_ones[0])
    assert (len(later), len(made_ones)) == (2, 1)
