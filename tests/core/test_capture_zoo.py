"""Every architecture of the zoo: each head equals the model's own eager attention, or the model is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from attention_core.capture.engine import ATTENTIONS, Engine, Pass, prepare
from attention_core.errors import UnsupportedModel
from tests.core.capture_zoo import BYPASSING, REFUSED, THROUGH_INTERFACE, Kind

SHOWN: Mapping[str, Kind] = {**THROUGH_INTERFACE, **BYPASSING}
TEXTS = [name for name, kind in SHOWN.items() if "text" in kind.reads and "sound" not in kind.reads]
N_PADDED = 4


class Engines(dict[str, Engine]):
    """Each network, made ready when it is first asked for."""

    def __missing__(self, name: str) -> Engine:
        self[name] = prepare(SHOWN[name].make(), SHOWN[name].inputs())
        return self[name]


@pytest.fixture(scope="module")
def engines() -> Engines:
    return Engines()


@pytest.fixture
def all_engines(engines: Engines) -> dict[str, Engine]:
    return {name: engines[name] for name in SHOWN}


def eager(net: nn.Module, inputs: Mapping[str, torch.Tensor]) -> dict[str, list[np.ndarray]]:
    """The weights that an untouched network returns, by stack."""
    with torch.no_grad():
        output = net(**inputs, output_attentions=True)
    given = {kind: getattr(output, name, None) for name, kind in ATTENTIONS.items()}
    return {kind: [one[0].numpy() for one in own if one is not None] for kind, own in given.items() if own}


def padded(kind: Kind, side: str) -> dict[str, torch.Tensor]:
    inputs = kind.inputs(seed=5)
    ids, mask = inputs["input_ids"].clone(), torch.ones_like(inputs["input_ids"])
    where = slice(0, N_PADDED) if side == "left" else slice(-N_PADDED, None)
    ids[:, where], mask[:, where] = 0, 0
    return {**inputs, "input_ids": ids, "attention_mask": mask}


def assert_equal(seen: Pass, wanted: Mapping[str, list[np.ndarray]], limit: float = 1e-4) -> None:
    assert sum(map(len, wanted.values())) == len(seen.layers) > 0
    for kind, own in wanted.items():
        for layer, weights in zip(seen.stack(kind), own, strict=True):
            assert weights.shape == (layer.n_heads, *layer.allowed.shape)
            seeing = layer.allowed.any(axis=1)
            for h in range(layer.n_heads):
                np.testing.assert_allclose(layer.weights(h)[seeing], weights[h][seeing], rtol=0, atol=limit)
                assert (layer.weights(h)[~layer.allowed] == 0).all()
            # What is called forbidden is so in the model: nothing there, in any head.
            assert (weights[:, seeing][:, ~layer.allowed[seeing]] == 0).all()


@pytest.mark.parametrize("name", SHOWN)
def test_every_head_equals_eager(name: str, engines: dict[str, Engine]) -> None:
    kind, inputs = SHOWN[name], SHOWN[name].inputs(seed=3)
    seen = engines[name].run(inputs)
    wanted = eager(kind.make(), inputs) if name != "squeezebert" else {"self": squeezed(kind, inputs)}
    assert_equal(seen, wanted)
    check = engines[name].run(inputs, full=True).check(engines[name].tolerance)
    assert check.passed
    assert check.largest_difference < 1e-5


def squeezed(kind: Kind, inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """SqueezeBERT returns its scores as weights: the softmax is still to be taken."""
    with torch.no_grad():
        return [one[0].softmax(-1).numpy() for one in kind.make()(**inputs, output_attentions=True).attentions]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", [name for name in TEXTS if name != "squeezebert"])
def test_padding_is_never_looked_at(name: str, side: str, engines: dict[str, Engine]) -> None:
    kind = SHOWN[name]
    inputs = padded(kind, side)
    seen = engines[name].run(inputs)
    assert_equal(seen, eager(kind.make(), inputs))
    is_real = inputs["attention_mask"][0].bool().numpy()
    for layer in (layer for layer in seen.layers if layer.kind != "decoder"):
        asking = slice(None) if layer.kind == "cross" else is_real
        assert layer.allowed[asking].any(axis=1).all()
        assert not layer.allowed[asking][:, ~is_real].any()


def test_heads_of_the_zoo_choose(all_engines: dict[str, Engine]) -> None:
    """With nearly equal weights, a wrong mask or scale would pass for a right one."""
    sharpest = {
        name: max(layer.weights(h).max() for layer in engine.run(SHOWN[name].inputs()).layers for h in range(2))
        for name, engine in all_engines.items()
    }
    assert min(sharpest.values()) > 0.3, sharpest


@pytest.fixture
def no_output_attentions(all_engines: dict[str, Engine]) -> Iterator[None]:
    def refuse(_: nn.Module, __: object, kwargs: Mapping[str, Any]) -> None:
        assert not kwargs.get("output_attentions"), "the model was asked for its own weights"

    hooks = [engine.net.register_forward_pre_hook(refuse, with_kwargs=True) for engine in all_engines.values()]
    configs = [engine.net.config for engine in all_engines.values()]
    assert not any(config.output_attentions for config in configs)
    yield
    for hook in hooks:
        hook.remove()


def test_at_least_45_need_no_weights_from_the_model(all_engines: dict[str, Engine], no_output_attentions: None) -> None:
    passed = []
    for name, engine in all_engines.items():
        seen = engine.run(SHOWN[name].inputs(seed=7))
        assert seen.check(engine.tolerance).passed
        passed += [name] * (engine.method == "interface")
    assert passed == list(THROUGH_INTERFACE)
    assert len(passed) >= 45
    with pytest.raises(AssertionError, match="asked for its own weights"):
        all_engines["bert"].plain(SHOWN["bert"].inputs(), output_attentions=True)


@pytest.mark.parametrize("name", BYPASSING)
def test_those_that_bypass_the_interface_are_watched(name: str, engines: dict[str, Engine]) -> None:
    assert engines[name].method == "watched"


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_matrix_per_head_is_refused_with_its_reason(name: str) -> None:
    kind, reason = REFUSED[name]
    with pytest.raises(UnsupportedModel, match=reason):
        prepare(kind.make(), kind.inputs())


MATRICES = [name for name in SHOWN if name not in ("mobilebert", "deepseek-v3", "qwen3-next", "squeezebert", "xlnet")]


@pytest.mark.parametrize("name", [name for name in MATRICES if name != "falcon-grouped"])
def test_the_matrices_make_what_is_multiplied(name: str, engines: dict[str, Engine]) -> None:
    for layer in engines[name].run(SHOWN[name].inputs(seed=3)).layers:
        for h in range(layer.n_heads):
            head = layer.head(h)
            made = head.x_key @ head.w_v + (0 if head.b_v is None else head.b_v)
            np.testing.assert_allclose(made, head.v, atol=1e-4)
            q = head.x @ head.w_q + (0 if head.b_q is None else head.b_q)
            np.testing.assert_allclose(q, head.q if head.q_projected is None else head.q_projected, atol=1e-4)
            assert (head.q_projected is None) == (not layer.is_turned)
            if layer.is_turned:
                assert max(np.abs(q - head.q).max(), np.abs(head.k_projected - head.k).max()) > 1e-3


@pytest.mark.parametrize("name", ["mobilebert", "deepseek-v3", "qwen3-next", "squeezebert", "xlnet", "falcon-grouped"])
def test_where_no_matrices_are_known_it_says_so(name: str, engines: dict[str, Engine]) -> None:
    for layer in engines[name].run(SHOWN[name].inputs(seed=3)).layers:
        assert layer.w_q is layer.w_k is layer.w_v is layer.x is None
        assert "matrices of a known form" in str(layer.reason)
