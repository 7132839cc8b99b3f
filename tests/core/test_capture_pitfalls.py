"""What goes wrong when one reads q, k and v out of the library: one test for each trap."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers
from torch import nn
from transformers import AttentionInterface
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

import attention_core as ac
from attention_core import attention
from attention_core.capture import interface, real
from attention_core.capture.engine import Engine, Pass, prepare
from attention_core.capture.later import Single
from attention_core.capture.layers import kinds_of, numbers_of
from attention_core.capture.recorder import Call, Recorder, current, recording
from tests.core.capture_words import tokenizer
from tests.core.capture_zoo import BYPASSING, GROUPED, OURS, T5, THROUGH_INTERFACE, text


def ready(name: str) -> Engine:
    kind = {**THROUGH_INTERFACE, **BYPASSING}[name]
    return prepare(kind.make(), kind.inputs())


def passed(name: str, n: int = 14) -> Pass:
    return ready(name).run(THROUGH_INTERFACE[name].inputs(n))


def band(n: int, window: int) -> np.ndarray:
    away = np.arange(n)[:, None] - np.arange(n)
    return (away >= 0) & (away < window)


def test_1_masks_do_not_vanish() -> None:
    sliding = passed("mistral").layers
    assert all((layer.allowed == band(14, 5)).all() for layer in sliding)
    first, second = passed("gemma3").layers
    assert (first.allowed == band(14, 5)).all()
    assert (second.allowed == band(14, 14)).all()


def test_2_the_mask_is_one_to_be_added() -> None:
    interface.register()
    make = ALL_MASK_ATTENTION_FUNCTIONS[interface.NAME]
    mask = make(batch_size=1, q_length=3, kv_length=3, device=torch.device("cpu"))
    assert mask.is_floating_point()
    np.testing.assert_array_equal(mask[0, 0] == 0, np.tri(3))


def test_3_the_name_holds_nothing_that_the_library_looks_for() -> None:
    assert not [part for part in ("sdpa", "flash", "flex", "paged|") if part in interface.NAME]
    interface.register()
    assert AttentionInterface()[interface.NAME] is interface.attend


@pytest.mark.parametrize("name", ["deberta-v2", "bloom", "xlnet"])
def test_4_a_model_that_ignores_the_name_is_found_out_by_its_calls(name: str) -> None:
    interface.register()
    kind = BYPASSING[name]
    config = getattr(transformers, kind.config)(**kind.facts)
    ignoring = transformers.AutoModel.from_config(config, attn_implementation=interface.NAME).eval()
    assert ignoring.config._attn_implementation == interface.NAME
    with recording(Recorder()) as recorder, torch.no_grad():
        ignoring(**kind.inputs())
    assert recorder.calls == []
    assert ready(name).method == "watched"


def test_5_the_implementation_is_set_once_and_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = ready("llama")

    def refuse(*_: object) -> None:
        raise AssertionError("the implementation was swapped")

    monkeypatch.setattr(engine.net, "set_attn_implementation", refuse)
    assert engine.net.config._attn_implementation == interface.NAME
    recorder, _ = engine._recorded(THROUGH_INTERFACE["llama"].inputs(), full=True)
    assert recorder.latest == {}  # What the projections gave is not held until the end.
    assert engine.net.config._attn_implementation == interface.NAME
    assert current() is None


def test_6_the_cap_comes_after_the_scale_and_before_bias_and_mask() -> None:
    q, k, v = np.array([[3.0]]), np.array([[2.0], [-1.0], [0.5]]), np.eye(3)
    bias, allowed = np.array([[0.0, 4.0, 1.0]]), np.array([[True, True, False]])
    steps = attention(q, k, v, scale=0.5, softcap=2.0, bias=bias, allowed=allowed)
    wanted = 2 * np.tanh(np.array([[3.0, -1.5, 0.75]]) / 2) + bias
    np.testing.assert_allclose(steps.scaled, wanted, atol=1e-12)
    np.testing.assert_allclose(steps.weights[0, :2], np.exp(wanted[0, :2]) / np.exp(wanted[0, :2]).sum(), atol=1e-12)
    assert steps.weights[0, 2] == 0
    layer = passed("gemma2").layers[0]
    assert layer.softcap == 2.0
    scores = layer.q[0] @ layer.k[0].T * layer.scale
    assert np.abs(scores).max() > 3  # The cap does something here.
    np.testing.assert_allclose(layer.head(0).scaled, 2 * np.tanh(scores / 2), atol=1e-5)


def test_6_the_models_own_function_caps_in_that_order_too() -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 5, 3) * 3 for _ in range(3))
    bias, mask = torch.randn(1, 2, 5, 5) * 3, torch.triu(torch.full((5, 5), -1e30), 1)[None, None]
    with recording(Recorder(full=True)) as recorder:
        interface.attend(nn.Module(), q, k, v, mask, softcap=1.5, position_bias=bias)
    wanted = torch.softmax(1.5 * torch.tanh(q @ k.mT / 3**0.5 / 1.5) + bias + mask, -1) @ v
    torch.testing.assert_close(recorder.calls[0].output, wanted[0].transpose(0, 1))


def test_7_what_goes_to_a_sink_is_said() -> None:
    for layer in passed("gpt-oss").layers:
        assert layer.sinks is not None
        for h in range(layer.n_heads):
            head = layer.head(h)
            assert head.sink_logit == pytest.approx(float(layer.sinks[h]))
            np.testing.assert_allclose(head.weights.sum(axis=1) + head.sink, 1, atol=1e-6)
            assert (head.sink > 1e-3).any()
            bill = head.explain(5, 3)
            assert bill.sink_exp is not None
            assert bill.weight == pytest.approx(bill.exp / bill.row_sum, abs=1e-6)
            assert bill.sink_exp / bill.row_sum == pytest.approx(float(head.sink[5]), abs=1e-6)


def test_8_no_scale_means_one_over_the_root_of_the_width() -> None:
    q = torch.randn(1, 2, 5, 16)
    with recording(Recorder()) as recorder:
        interface.attend(nn.Module(), q, q, q, None, scaling=None)
    assert recorder.calls[0].scale == 0.25
    layers = passed("t5").layers
    assert {layer.scale for layer in layers} == {1.0}
    for layer in layers[:2]:
        assert layer.bias is not None
        assert np.abs(layer.bias).max() > 0.1


def test_9_layers_are_numbered_as_in_the_model() -> None:
    assert [layer.index for layer in passed("albert").layers] == [0, 1, 2]
    assert [layer.index for layer in passed("jamba").layers] == [1, 3]
    assert [layer.index for layer in passed("qwen3-next").layers] == [1, 3]
    assert [layer.index for layer in passed("vit").layers] == [0, 1]
    assert numbers_of(["shared", "shared"], ["self", "self"]) == [0, 1]
    assert numbers_of(["h.4.attn", "h.7.attn"], ["self", "self"]) == [4, 7]


@pytest.mark.parametrize("name", ["t5", "bart", "encoder-decoder"])
def test_10_cross_attention_is_known_by_its_name(name: str) -> None:
    kind = THROUGH_INTERFACE[name]
    ids = kind.inputs()["input_ids"]
    seen = ready(name).run({"input_ids": ids, "decoder_input_ids": ids + 1})  # Equally long: no shape tells.
    assert [layer.kind for layer in seen.layers] == ["encoder", "encoder", "decoder", "cross", "decoder", "cross"]
    assert [layer.index for layer in seen.layers] == [0, 1, 0, 0, 1, 1]
    assert kinds_of(["decoder.layers.0.encoder_attn"], is_encoder_decoder=False) == ["self"]


def test_11_grouped_heads_share_their_keys() -> None:
    layer = passed("llama").layers[0]
    assert (layer.n_heads, layer.n_kv_heads) == (4, 2)
    for h in range(4):
        np.testing.assert_array_equal(layer.head(h).k, layer.k[h // 2])
        np.testing.assert_array_equal(layer.head(h).v, layer.v[h // 2])


def test_11_every_key_is_there_however_short_the_window() -> None:
    seen = passed("mistral", n=40)
    assert {layer.k.shape[1] for layer in seen.layers} == {40}
    assert seen.output.past_key_values is None


def test_12_what_the_model_writes_is_read_in_one_pass_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    net = _writer()
    write, seen = net.generate, []

    def spy(*args: object, **kwargs: object) -> object:
        seen.append(current())
        return write(*args, **kwargs)

    monkeypatch.setattr(net, "generate", spy)
    trace = real.make(net, real.Reader(tokenizer()), "writer", "").trace("the cat sat")
    assert seen == [None]  # Nothing is kept of the steps of writing.
    assert {kind: len(layers) for kind, layers in trace.stacks.items()} == {"encoder": 2, "decoder": 2, "cross": 2}
    n = len(trace.target_tokens)
    assert n > 3
    assert trace.stacks["decoder"][0].q.shape[1] == trace.stacks["decoder"][0].k.shape[1] == n
    assert trace.stacks["cross"][1].allowed.shape == (n, len(trace.tokens))


def _writer() -> transformers.PreTrainedModel:
    kind = type(THROUGH_INTERFACE["t5"])("T5Config", {**OURS, **T5}, "T5ForConditionalGeneration")
    return kind.make()


@pytest.mark.parametrize(("dtype", "least", "most"), [(torch.bfloat16, 1e-4, 6e-2), (torch.float16, 1e-5, 1e-2)])
def test_13_half_precision_is_compared_within_its_own_rounding(dtype: torch.dtype, least: float, most: float) -> None:
    kind = text("LlamaConfig", **GROUPED)
    model = real.make(kind.make().to(dtype), real.Reader(tokenizer()), "half", "")
    trace = model.trace("the cat sat on the mat")
    check = trace.check(full=True)
    assert least < check.largest_difference < check.tolerance == most
    assert check.dtype == model.card.details["dtype"] == str(dtype).removeprefix("torch.")
    assert trace.layers[0].q.dtype == np.float32
    ids = torch.tensor([[token.id for token in trace.tokens]])
    with torch.no_grad():
        given = kind.make().to(dtype)(ids, output_attentions=True).attentions
    for layer, weights in zip(trace.layers, given, strict=True):
        made = np.stack([layer.weights(h) for h in range(4)])
        assert 0 < np.abs(made - weights[0].float().numpy()).max() < most


def test_13_weights_of_half_precision_are_not_held_twice() -> None:
    kind = text("LlamaConfig", **GROUPED)
    layer = real.make(kind.make().to(torch.bfloat16), real.Reader(tokenizer()), "half", "").trace("the cat").layers[1]
    wanted = kind.make().to(torch.bfloat16).layers[1].self_attn.q_proj.weight.float().T.reshape(32, 4, 8)
    assert isinstance(layer.w_q, Single)
    assert (layer.w_q.shape, layer.w_o.shape) == ((4, 32, 8), (4, 8, 32))
    for h in range(4):
        np.testing.assert_array_equal(layer.head(h).w_q, wanted[:, h].detach())
        assert not layer.head(h).w_q.flags.writeable


def test_what_several_calls_read_is_copied_once_and_again_when_it_was_written_to() -> None:
    q, x = torch.randn(1, 2, 5, 3), torch.randn(1, 5, 7)
    recorder = Recorder()
    with recording(recorder):
        for write in (False, False, True):
            if write:
                x += 1
            recorder.add(Call(nn.Module(), q, q, q, None, None, 1.0, None, None, np.arange(5), q[0], x=x, x_key=x))
        recorder.note(written=torch.ones(2))  # Tensors that are gone at once, whose addresses are used again.
        recorder.note(o_in=torch.zeros(2))
    first, second, third = recorder.calls
    assert first.q is first.k is second.v
    assert first.x is first.x_key is second.x
    torch.testing.assert_close(third.x, first.x + 1)
    assert (third.written.tolist(), third.o_in.tolist(), first.o_in) == ([1, 1], [0, 0], None)
    q.zero_()
    assert first.q.abs().max() > 0


@pytest.mark.parametrize("name", BYPASSING)
def test_14_a_watched_models_products_are_its_own(name: str) -> None:
    engine = ready(name)
    inputs = BYPASSING[name].inputs(seed=9)
    seen = engine.run(inputs, full=True)
    assert len(seen.layers) == 2
    for layer, own in zip(seen.layers, seen.kept, strict=True):
        made = np.stack([layer.head(h).output for h in range(layer.n_heads)], axis=1)
        np.testing.assert_allclose(made, own.output, atol=1e-4)


def test_14_a_watched_scale_and_bias_are_told_apart() -> None:
    layers = {
        name: ready(name).run(BYPASSING[name].inputs()).layers[0] for name in ("bloom", "mpnet", "gpt-neo", "xlm")
    }
    assert {name: round(layer.scale, 4) for name, layer in layers.items()} == {
        "bloom": 0.3536,
        "mpnet": 0.3536,
        "gpt-neo": 1.0,
        "xlm": 1.0,
    }
    assert [name for name, layer in layers.items() if layer.bias is not None] == ["bloom", "mpnet"]
    slopes = np.diff(layers["bloom"].bias[:, -1], axis=1)  # ALiBi grows by the same step from key to key.
    np.testing.assert_allclose(slopes, np.broadcast_to(slopes[:, :1], slopes.shape), atol=1e-4)


class Distances(transformers.PreTrainedModel):
    """Attends by distance, in a way that neither passes the interface nor multiplies q and k."""

    config_class = transformers.BertConfig

    def __init__(self, config: transformers.BertConfig) -> None:
        super().__init__(config)
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.post_init()

    def forward(self, input_ids: torch.Tensor, output_attentions: bool = False, **_: object) -> object:
        x = self.words(input_ids)
        near = torch.exp(-torch.cdist(x, x))[:, None]
        weights = near / near.sum(-1, keepdim=True)
        given = (weights,) if output_attentions else None
        read = torch.einsum("bij,bjd->bid", weights[:, 0], x)
        return transformers.modeling_outputs.BaseModelOutput(last_hidden_state=read, attentions=given)


def test_a_model_that_hands_out_its_weights_only_shows_its_weights_only() -> None:
    net = Distances(transformers.BertConfig(**text("BertConfig").facts))
    trace = real.make(net, real.Reader(tokenizer()), "distances", "").trace("the cat sat")
    (layer,) = trace.layers
    assert (trace.method, layer.n_heads, layer.q) == ("eager", 1, None)
    assert "weights only" in str(layer.reason)
    with torch.no_grad():
        ids = torch.tensor([[token.id for token in trace.tokens]])
        wanted = net(ids, output_attentions=True).attentions[0][0, 0].numpy()
    np.testing.assert_array_equal(layer.head_weights(0).weights, wanted)
    with pytest.raises(ac.WeightsOnly):
        layer.head(0)
