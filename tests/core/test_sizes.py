"""How much memory a trace holds, for who keeps several."""

from __future__ import annotations

import numpy as np

import attention_core as ac
from attention_core.capture import real
from attention_core.sizes import n_bytes
from tests.core.capture_words import TEXT, tokenizer
from tests.core.capture_zoo import BYPASSING, DECODERS, ENCODER_DECODERS


def test_what_arrays_share_counts_once() -> None:
    one, other = np.zeros((7, 11)), np.zeros(13, dtype=np.float32)
    assert n_bytes([one, one[2:], one.T, other, None, "text"]) == 7 * 11 * 8 + 13 * 4
    assert n_bytes([one[:3], one[5:]]) == 5 * 11 * 8
    assert n_bytes([one[:4], one[2:]]) == 7 * 11 * 8
    assert n_bytes([np.broadcast_to(one, (100, 7, 11))]) == 7 * 11 * 8
    assert n_bytes([]) == 0


def test_a_real_trace_counts_what_the_text_brought_and_not_the_models_weights() -> None:
    trace = real.make(DECODERS["llama"].make(), real.Reader(tokenizer()), "", "").trace(TEXT)
    n = len(trace.tokens)
    each = 4 * n * (4 * 8 + 2 * 8 + 2 * 8 + 32)  # q, k and v of two heads for four, x.
    assert trace.n_bytes == 2 * each + n * n  # One mask for both layers.
    assert trace.n_bytes < sum(parameter.nbytes for parameter in DECODERS["llama"].make().parameters())


def test_a_bias_that_all_layers_share_counts_once() -> None:
    trace = real.make(ENCODER_DECODERS["t5"].make(), real.Reader(tokenizer()), "", "").trace(TEXT, target=TEXT)
    biases = {id(layer.bias.base): layer.bias.nbytes for layer in trace.layers if layer.bias is not None}
    encoder = trace.stacks["encoder"]
    assert n_bytes(layer.bias for layer in encoder) == encoder[0].bias.nbytes
    assert biases
    assert trace.n_bytes > 2 * encoder[0].bias.nbytes


def test_what_is_worked_out_when_it_is_asked_for_does_not_count() -> None:
    trace = real.make(BYPASSING["bloom"].make(), real.Reader(tokenizer()), "", "").trace(TEXT)
    before = trace.n_bytes
    trace.layers[0].weights(0)
    assert 0 < before == trace.n_bytes


def test_taught_models_and_own_arrays_have_a_size() -> None:
    own = ac.from_weights(np.eye(5))
    assert own.n_bytes == 5 * 5 * 8 + 5 * 5
    taught = ac.load("pronoun-open").trace("the cat slept")
    n, layer = len(taught.tokens), taught.layers[0]
    assert taught.n_bytes >= len(taught.layers) * (layer.q.nbytes + layer.k.nbytes + layer.v.nbytes + n * n) > 0
