"""Several threads trace on one model at once: each gets what it would have got alone, to the last bit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BrokenBarrierError
from typing import Any

import numpy as np
import pytest
from torch import nn

import attention_core as ac
from attention_core.capture import RealModel, real, recorder
from tests.core.capture_words import TEXT, tokenizer
from tests.core.capture_zoo import BYPASSING, GROUPED, Kind, text

N_THREADS, N_TRACES = 8, 200
ARRAYS = ("q", "k", "v", "allowed", "x", "x_key", "w_q", "w_k", "w_v", "w_o")
WORDS = TEXT.split()
TEXTS = [" ".join(WORDS[i:] + WORDS[:i]) + " cat" * i for i in range(N_THREADS)]
KINDS = {
    "interface": text("LlamaConfig", "LlamaForCausalLM", **GROUPED),
    "watched": BYPASSING["bloom"],
}


def made(kind: Kind) -> RealModel:
    return real.make(kind.make(), real.Reader(tokenizer()), "", "")


def assert_all_same(traces: list[ac.Trace], wanted: list[ac.Trace]) -> None:
    for trace, alone in zip(traces, wanted, strict=True):
        assert_same(trace, alone)


def assert_same(trace: ac.Trace, wanted: ac.Trace) -> None:
    assert trace.tokens == wanted.tokens
    assert trace.predictions == wanted.predictions
    assert len(trace.layers) == len(wanted.layers) == 2
    for layer, other in zip(trace.layers, wanted.layers, strict=True):
        assert all(np.array_equal(getattr(layer, name), getattr(other, name)) for name in ARRAYS)
        assert all(np.array_equal(layer.weights(h), other.weights(h)) for h in (0, layer.n_heads - 1))


@pytest.mark.parametrize("name", ["interface", "watched"])
def test_eight_threads_over_200_traces_equal_one(name: str) -> None:
    model = made(KINDS[name])
    assert model.card.details["method"] == name
    alone = [model.trace(one) for one in TEXTS]
    with ThreadPoolExecutor(N_THREADS) as threads:
        together = list(threads.map(model.trace, TEXTS * (N_TRACES // N_THREADS)))
    assert len(together) == N_TRACES
    assert_all_same(together, alone * (N_TRACES // N_THREADS))


@pytest.mark.parametrize("name", ["interface", "watched"])
def test_two_passes_that_certainly_overlap_do_not_mix(name: str) -> None:
    """Both threads are inside their pass before either goes on."""
    model = made(KINDS[name])
    alone = [model.trace(one) for one in TEXTS[:2]]
    assert_all_same(overlapping(model), alone)


def test_with_one_recorder_for_all_they_would(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shared:
        """A global variable under the methods of a ContextVar."""

        value: Any = None

        def get(self) -> Any:
            return self.value

        def set(self, value: Any) -> Any:
            before, self.value = self.value, value
            return before

        def reset(self, token: Any) -> None:
            self.value = token

    model = made(KINDS["interface"])
    alone = [model.trace(one) for one in TEXTS[:2]]
    monkeypatch.setattr(recorder, "_CURRENT", Shared())
    with pytest.raises((ac.TraceMismatch, AssertionError, IndexError, ValueError)):
        assert_all_same(overlapping(model), alone)


def overlapping(model: RealModel) -> list[ac.Trace]:
    """The traces of the first two texts, whose passes wait for each other at every layer."""
    both = Barrier(2, timeout=5)

    def wait(_: nn.Module, __: object) -> None:
        try:
            both.wait()
        except BrokenBarrierError:  # The other one has failed already.
            return

    layers = next(module for module in model.engine.net.modules() if isinstance(module, nn.ModuleList))
    hooks = [layer.register_forward_pre_hook(wait) for layer in layers]
    try:
        with ThreadPoolExecutor(2) as threads:
            return list(threads.map(model.trace, TEXTS[:2]))
    finally:
        for hook in hooks:
            hook.remove()
