"""What the Steps picture is sent of real architectures and own arrays, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import attention_core as ac
from attention_core.capture.projections import UNKNOWN_FORM
from attention_core.capture.weights_only import REASON
from tests.browser.real_heads import REAL
from ui.addresses import read_address
from ui.frame import unpack
from ui.pictures import steps, steps_said
from ui.selection import Selection
from ui.translations import LANGUAGES, words

FACTORS = ("x", "x_key", "w_q", "w_k", "w_v", "w_o", "q", "k", "v", "b_q", "b_k", "b_v", "bias", "weights")
PLACES = [
    (name, stack) for name in REAL for stack in (("encoder", "decoder", "cross") if name in ("t5", "bart") else ("",))
]


def trace_of(name: str) -> ac.Trace:
    return REAL[name]().trace()


def selected(trace: ac.Trace, stack: str, lang: str = "en", head: int = 0, **more: object) -> Selection:
    fields, _ = read_address({}, lang)
    kind = stack or next(iter(trace.stacks))
    place = {"stack": kind, "layer": trace.stacks[kind][0].index, "head": head, "token": 0, "key": None}
    known = {name: value for name, value in fields.items() if name in Selection.__dataclass_fields__}
    return Selection(**{**known, **place, **more})


def framed(trace: ac.Trace, stack: str = "", lang: str = "en", **more: object) -> tuple[dict, dict, int]:
    frame = steps.frame(trace, selected(trace, stack, lang, **more), words(lang))
    return *unpack(frame), len(frame)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("name", "stack"), PLACES)
def test_a_frame_holds_the_heads_factors_and_little_else(name, stack, lang):
    trace = trace_of(name)
    layer = trace.stacks[stack or next(iter(trace.stacks))][0]
    header, arrays, size = framed(trace, stack, lang)
    head = layer.head_weights(0)
    for key in set(FACTORS) & set(arrays):
        given = getattr(head, key)
        np.testing.assert_array_equal(arrays[key], given[None] if given.ndim == 1 else given)
    assert ("weights" in arrays) == (not isinstance(head, ac.HeadSteps)), "weights are multiplied in the browser"
    factors = sum(getattr(head, key).nbytes for key in set(FACTORS) & set(arrays))
    assert size <= 1.2 * factors + 20_000
    assert [len(header["tokens"]), len(header["keys"] or header["tokens"])] == list(head.weights.shape)
    assert (header["missing"] is None) == ("w_q" in arrays)
    assert len(header["then"]["sentences"]) >= 1
    assert not any("{" in sentence for sentence in [*header["then"]["sentences"], header["missing"] or ""])


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_reason_of_the_capture_has_a_translation(lang):
    assert set(steps_said.REASONS) == {UNKNOWN_FORM, REASON}
    layer = trace_of("deepseek-v3").layers[0]
    said = steps_said.missing(layer, words(lang))
    assert words(lang)("steps.reason_form") in said
    assert UNKNOWN_FORM not in said
    assert "no such thing" in steps_said.missing(replace(layer, reason="no such thing"), words(lang))


@pytest.mark.parametrize(
    ("name", "q", "k"),
    [("gpt-neox", "rotated", "rotated"), ("gpt-oss", "stretched", "stretched"), ("qwen3", "changed", "changed"),
     ("deberta", "scaled", "same")],
)  # fmt: skip
def test_what_turns_queries_and_keys_is_told_by_their_numbers(name, q, k):
    header, arrays, _ = framed(trace_of(name))
    assert {part: turn["kind"] for part, turn in header["turns"].items()} == {"q": q, "k": k}
    head = trace_of(name).layers[0].head(0)
    np.testing.assert_array_equal(arrays["q_projected"], head.q_projected)
    lengths = [np.linalg.norm(rows, axis=1) for rows in (head.q_projected, head.q)]
    if q in ("rotated", "stretched"):
        np.testing.assert_allclose(lengths[1], lengths[0] * header["turns"]["q"].get("factor", 1), rtol=1e-4)
    if q == "scaled":
        np.testing.assert_allclose(head.q, head.q_projected * header["turns"]["q"]["factor"], rtol=1e-4, atol=1e-6)


def test_untouched_queries_and_keys_are_sent_once():
    header, arrays, _ = framed(trace_of("bert"))
    assert header["turns"] is None
    assert not {"q_projected", "k_projected"} & set(arrays)


def test_a_bias_of_zeros_is_no_bias():
    assert trace_of("t5").stacks["cross"][0].bias is not None
    assert "bias" not in framed(trace_of("t5"), "cross")[1]
    assert "bias" in framed(trace_of("t5"), "encoder")[1]


def test_cross_attention_sends_both_inputs_and_both_sentences():
    trace = trace_of("bart")
    header, arrays, _ = framed(trace, "cross")
    layer = trace.stacks["cross"][0]
    np.testing.assert_array_equal(arrays["x"], layer.x)
    np.testing.assert_array_equal(arrays["x_key"], layer.x_key)
    assert [token["shown"] for token in header["tokens"]] == [token.shown for token in trace.target_tokens]
    assert [token["shown"] for token in header["keys"]] == [token.shown for token in trace.tokens]
    for stack in ("encoder", "decoder"):
        header, arrays, _ = framed(trace, stack)
        assert header["keys"] is None
        assert "x_key" not in arrays


@pytest.mark.parametrize(("h", "kv", "first", "last"), [(0, 0, 0, 1), (1, 0, 0, 1), (2, 1, 2, 3), (3, 1, 2, 3)])
def test_grouped_heads_name_their_group(h, kv, first, last):
    header, arrays, _ = framed(trace_of("llama"), head=h)
    assert header["group"] == {"head": h, "kv": kv, "first": first, "last": last, "n": 4, "n_kv": 2}
    np.testing.assert_array_equal(arrays["k"], trace_of("llama").layers[0].k[kv])
    assert framed(trace_of("bert"))[0]["group"] is None


def test_nothing_is_said_to_be_written_that_a_trace_does_not_hold():
    header, arrays, _ = framed(trace_of("minilm"))
    assert "written" not in arrays
    said = " ".join(header["then"]["sentences"])
    for part in ("12 heads", "b_O", "not kept", "layer 1"):
        assert part in said
    assert "b_O" not in " ".join(framed(trace_of("llama"))[0]["then"]["sentences"]), "it has no output bias"


def test_the_reach_of_a_stage_is_its_largest_number():
    header, _, _ = framed(trace_of("gemma2"))
    head = trace_of("gemma2").layers[0].head(0)
    assert header["reach"] == {
        "scores": pytest.approx(np.abs(head.scores).max()),
        "scaled": pytest.approx(np.abs(head.scaled).max()),
        "output": pytest.approx(np.abs(head.output).max()),
        "head_written": pytest.approx(np.abs(head.output @ head.w_o).max()),
    }


def test_two_arrays_of_the_same_words_are_two_contents():
    one = trace_of("weights")
    layer = one.layers[0]
    other = replace(one, layers=(replace(layer, given=layer.given[:, ::-1]),))
    assert framed(one)[0]["content"] != framed(other)[0]["content"]
    assert framed(one)[0]["content"] == framed(one, lang="zh")[0]["content"]
