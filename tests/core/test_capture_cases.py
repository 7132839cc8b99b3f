"""Troubles that users of attention viewers report, on real models."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import nn

import attention_core as ac
from attention_core.capture import RealModel, interface, real
from attention_core.capture.engine import prepare
from tests.core.capture_words import TEXT, saved, tokenizer
from tests.core.capture_zoo import BART, ENCODERS, GROUPED, OURS, Kind, text
from tests.core.test_capture_zoo import eager

CAUSAL = text("LlamaConfig", "LlamaForCausalLM", **GROUPED)
WRITER = Kind("BartConfig", {**OURS, **BART}, "BartForConditionalGeneration")


def made(net: Any, name: str = "") -> RealModel:
    return real.make(net, real.Reader(tokenizer()), name, "")


def ids(trace: ac.Trace) -> torch.Tensor:
    return torch.tensor([[token.id for token in trace.tokens]])


def test_4_a_model_that_returns_no_attentions_is_computed_from_q_and_k() -> None:
    net = ENCODERS["bert"].make()

    def emptied(_: nn.Module, __: object, output: Any) -> Any:
        output.attentions = (None, None)
        return output

    net.register_forward_hook(emptied)
    trace = made(net).trace(TEXT)
    assert net(ids(trace), output_attentions=True).attentions == (None, None)
    mine = eager(ENCODERS["bert"].make(), {"input_ids": ids(trace)})["self"]
    for layer, weights in zip(trace.layers, mine, strict=True):
        np.testing.assert_allclose(np.stack([layer.weights(h) for h in range(4)]), weights, atol=1e-5)
    assert trace.card.details["largest_difference"] is None  # It gave nothing that it could be held against.
    assert trace.check(full=True).passed


def test_4_a_model_without_any_says_why() -> None:
    net = text("FNetConfig", use_tpu_fourier_optimizations=False).make()
    with pytest.raises(ac.UnsupportedModel, match="Fourier"):
        made(net)


def test_5_a_causal_model_never_looks_ahead_and_answers_as_ever() -> None:
    trace = made(CAUSAL.make()).trace("Hello World")
    n = len(trace.tokens)
    assert n > 4
    for layer in trace.layers:
        assert (layer.allowed == np.tri(n, dtype=bool)).all()
        for h in range(layer.n_heads):
            head = layer.head(h)
            assert (head.weights[~head.allowed] == 0).all()
            assert np.isneginf(head.masked[~head.allowed]).all()
    ordinary = CAUSAL.make()
    ordinary.set_attn_implementation("sdpa")
    with torch.no_grad():
        shares = ordinary(ids(trace)).logits[0].softmax(-1)
    assert trace.predictions is not None
    for answers, row in zip(trace.predictions, shares, strict=True):
        np.testing.assert_allclose([answer.probability for answer in answers], row.topk(5).values, atol=1e-5)


LEAST = torch.finfo(torch.float32).min


@pytest.mark.parametrize("n", [2, 7, 33])
@pytest.mark.parametrize("is_bool", [False, True])
def test_5_the_short_ways_are_taken_for_causal_and_open_masks_alone(n: int, is_bool: bool) -> None:
    torch.manual_seed(n)
    q, k, v = (torch.randn(1, 4, n, 8) for _ in range(3))
    triangle = torch.ones(n, n, dtype=torch.bool).tril()
    holed = torch.ones_like(triangle)
    holed[-1, 0] = False
    masks = [triangle, torch.ones_like(triangle), triangle.roll(1, 0), triangle & holed, holed, triangle.T]
    for mask, kind in zip(masks, ["causal", "open", "", "", "", ""], strict=True):
        given = (mask if is_bool else torch.zeros(n, n).masked_fill(~mask, LEAST))[None, None]
        assert interface._plain(given, q, k) == kind
        wanted = (q @ k.mT / 8**0.5).masked_fill(~mask, LEAST).softmax(-1) @ v
        torch.testing.assert_close(interface.attend(nn.Module(), q, k, v, given)[0], wanted.transpose(1, 2))
    soft = torch.where(triangle, 0.25, LEAST)[None, None]
    assert interface._plain(soft, q, k) == ""


def test_8_an_encoder_decoders_rectangle_has_a_side_for_each_text() -> None:
    trace = made(WRITER.make()).trace("the cat sat on mat", target="the dog slept")
    assert (len(trace.target_tokens), len(trace.tokens)) == (5, 7)
    assert [token.shown for token in trace.asking("cross")] == ["</s>", "<s>", "the", "dog", "slept"]
    assert [token.shown for token in trace.answering("cross")] == ["<s>", "the", "cat", "sat", "on", "mat", "</s>"]
    with torch.no_grad():
        wanted = WRITER.make()(
            input_ids=ids(trace),
            decoder_input_ids=torch.tensor([[token.id for token in trace.target_tokens]]),
            output_attentions=True,
        ).cross_attentions
    for layer, weights in zip(trace.stacks["cross"], wanted, strict=True):
        assert layer.allowed.shape == (5, 7)
        for h in range(layer.n_heads):
            np.testing.assert_allclose(layer.weights(h), weights[0, h], atol=1e-5)


def test_17_eight_heads_share_two_keys_and_values() -> None:
    facts = {"hidden_size": 48, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 6}
    kind = text("LlamaConfig", **facts)
    trace = made(kind.make()).trace(TEXT)
    wanted = eager(kind.make(), {"input_ids": ids(trace)})["self"]
    for layer, weights in zip(trace.layers, wanted, strict=True):
        assert (layer.n_heads, layer.n_kv_heads, len(layer.w_k), len(layer.w_q)) == (8, 2, 2, 8)
        for h in range(8):
            head = layer.head(h)
            np.testing.assert_allclose(head.weights, weights[h], atol=1e-5)
            np.testing.assert_array_equal(head.k, layer.k[h // 4])
            np.testing.assert_array_equal(head.w_v, layer.w_v[h // 4])


@pytest.mark.parametrize("side", ["left", "right"])
def test_18_rows_that_may_see_nothing_are_zeros(side: str) -> None:
    engine = prepare(CAUSAL.make(), CAUSAL.inputs())
    pads, words = [0, 0], [9, 11, 13]
    given = pads + words if side == "left" else words + pads
    mask = [int(one > 0) for one in given]
    seen = engine.run({"input_ids": torch.tensor([given]), "attention_mask": torch.tensor([mask])}, full=True)
    assert seen.check(engine.tolerance).passed
    for layer in seen.layers:
        for h in range(layer.n_heads):
            head = layer.head(h)
            assert head.has_keys.tolist() == [side == "right"] * 2 + [True] * 3
            assert np.isfinite(head.weights).all()
            assert np.isfinite(head.output).all()
            assert (head.weights[~head.has_keys] == 0).all()
            assert (head.output[~head.has_keys] == 0).all()
            assert (head.weights[:, np.array(mask) == 0] == 0).all()
            np.testing.assert_allclose(head.weights[head.has_keys].sum(axis=1), 1, atol=1e-6)


def test_21_a_folder_loads_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = saved(CAUSAL, tmp_path / "alone")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something asked for the network")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    assert transformers.utils.hub.is_offline_mode() is False
    assert len(ac.load_folder(folder).trace(TEXT).layers) == 2
