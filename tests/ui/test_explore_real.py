"""What the Explore and compare pictures and the table are sent for traces that no taught model makes."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

import attention_core as ac
from tests.browser.explore_heads import LONG, PIECES, TRACES, weights
from ui.addresses import Selection
from ui.frame import pack, unpack
from ui.pictures import compare, explore, parts, remarks, table
from ui.translations import LANGUAGES, words

PLAIN = {
    "lang": "en", "model": "pronoun", "text": "", "pair": "", "target": "", "second": "", "is_compared": False,
    "stack": "self", "layer": 0, "head": 0, "token": 0, "key": None, "look": "asks", "step": "score",
    "is_projected": False, "is_whole": False, "block": "all", "is_sink_left_out": False,
}  # fmt: skip


def chosen(**fields: object) -> Selection:
    return Selection(**{**PLAIN, **fields})


def framed(trace: ac.Trace, lang: str = "en", **fields: object) -> tuple[dict, dict]:
    return unpack(explore.frame(trace, chosen(**fields), words(lang)))


def made(name: str) -> ac.Trace:
    return TRACES[name]().trace()


# Bytes


def of_size(n: int) -> ac.Trace:
    """q, k and v of a causal head as wide as a real one's, in float32, its tokens with ids."""
    random = np.random.default_rng(n)
    q, k, v = (random.normal(size=(n, 128)).astype(np.float32) for _ in range(3))
    tokens = [ac.Token(f"word{i}", 100_000 + i, 0, 0) for i in range(n)]
    trace = ac.from_arrays(q=q, k=k, v=v, allowed=np.tri(n, dtype=bool), tokens=tokens)
    card = replace(trace.card, details={**trace.card.details, "tokenizer": "tokens"})
    answers = tuple((ac.Answer(f"answer{i}", 0.123456789012345, 1.5),) for i in range(n))
    return replace(trace, card=card, predictions=answers)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("n", [12, 60, 256])
def test_a_head_stays_within_its_budget(n, lang):
    size = len(explore.frame(of_size(n), chosen(token=n - 1), words(lang)))
    assert size <= 4 * n * n + 200 * n + 20_000


@pytest.mark.parametrize("look", ["asks", "answers"])
def test_a_very_long_text_is_pooled_and_the_chosen_line_is_exact(look):
    trace = made(f"long-{LONG}")
    frame = explore.frame(trace, chosen(token=1500, look=look), words("zh"))
    assert len(frame) <= 1_000_000
    header, arrays = unpack(frame)
    whole = trace.layers[0].weights(0)
    a, b = header["square"]
    assert arrays["weights"].shape == (-(-LONG // a), -(-LONG // b))
    assert arrays["weights"][3, 2] == whole[3 * a : 4 * a, 2 * b : 3 * b].max()
    at = (1500, slice(None)) if look == "asks" else (slice(None), 1500)
    np.testing.assert_array_equal(arrays["line"], whole[at])
    np.testing.assert_array_equal(arrays["line_allowed"], np.tri(LONG, dtype=bool)[at])
    assert len(header["tokens"]) == LONG, "no token is left out"
    assert f"{a} × {b}" in header["about"][-1]


def test_flags_travel_as_bits():
    flags = np.random.default_rng(0).random((7, 11)) > 0.5
    frame = pack({}, {"flags": flags, "after": np.arange(3.0)})
    _, arrays = unpack(frame)
    np.testing.assert_array_equal(arrays["flags"], flags)
    np.testing.assert_array_equal(arrays["after"], np.arange(3.0))


# Rectangles


def test_rows_and_columns_have_their_own_words():
    header, arrays = framed(made("rectangle"), stack="cross", head=1, token=2)
    assert [token["shown"] for token in header["tokens"]] == ["the", "dog", "saw", "the", "cat"]
    assert len(header["keys"]) == 7
    assert arrays["weights"].shape == (5, 7)
    assert arrays["allowed"].sum() == 34
    for lang in LANGUAGES:
        said = framed(made("rectangle"), lang, stack="cross", token=2)[0]["no_bill"]
        assert said == words(lang)("remarks.weights_given")


@pytest.mark.parametrize(("look", "token", "expected"), [("asks", 4, 4), ("asks", 6, None), ("answers", 6, 6)])
def test_a_place_beyond_the_rows_or_columns_counts_as_not_chosen(look, token, expected):
    header, _ = framed(made("rectangle-steps"), stack="cross", token=token, key=99, look=look)
    assert header["token"] == expected
    assert header["key"] is None
    assert (header["bill"] is None) == (expected is None)


# The bill


def test_scale_cap_bias_and_sink_add_up_to_the_weight():
    trace = made("no-key")
    header, arrays = framed(trace, layer=3, head=1, token=5, key=2)
    bill, head = header["bill"], trace.layers[0].head(1)
    single = np.float32
    assert arrays["bill_products"].dtype == single
    assert arrays["bill_products"].sum() == pytest.approx(bill["score"], rel=1e-6)
    assert single(bill["score"]) * single(bill["scale"]) == single(bill["multiplied"])
    assert 2.5 * np.tanh(bill["multiplied"] / 2.5) == pytest.approx(bill["capped"], rel=1e-6)
    assert single(bill["capped"]) + single(bill["bias"]) == single(bill["scaled"]) == head.scaled[5, 2]
    assert np.exp(bill["scaled"] - bill["row_max"]) == pytest.approx(bill["exp"], rel=1e-6)
    assert bill["exp"] / bill["row_sum"] == pytest.approx(bill["weight"], rel=1e-6)
    assert bill["sink_exp"] / bill["row_sum"] == pytest.approx(head.sink[5], rel=1e-6)
    np.testing.assert_allclose(arrays["weights"].sum(axis=1) + arrays["no_key"], 1, atol=1e-6)
    assert any("key/value head 0" in said for said in header["about"])


def test_without_biases_and_sinks_the_bill_names_none():
    bill = framed(ac.load("pronoun").trace("the dog saw it"), layer=1, token=3)[0]["bill"]
    assert (bill["has_bias"], bill["bias"], bill["capped"], bill["sink_exp"], bill["removed"]) == (
        False, None, None, None, None,
    )  # fmt: skip


# The sink


def test_a_sink_is_named_and_can_be_left_out():
    trace = made("sink")
    header, _ = framed(trace, token=7)
    assert header["sink"] == 0
    assert (header["left_out"], len(header["about"])) == (None, 1)
    assert "“<s>”" in header["about"][0]
    header, arrays = framed(trace, token=7, is_sink_left_out=True)
    whole = trace.layers[0].weights(0)
    assert header["left_out"] == 0
    np.testing.assert_array_equal(arrays["hidden"], np.arange(11) == np.zeros((11, 1)))
    np.testing.assert_allclose(arrays["removed"], whole[:, 0])
    np.testing.assert_allclose(arrays["weights"].sum(axis=1), [0, *[1] * 10])
    gone = f"{100 * whole[:, 0].sum() / 11:.1f}%"
    assert gone in header["about"][0]


def test_a_head_without_a_sink_says_nothing_of_one():
    trace = made("rectangle-steps")
    assert parts.sink_of(trace, chosen(stack="cross")) is None
    assert framed(trace, stack="cross", is_sink_left_out=True)[0]["about"] == []


# Whole words, blocks of a pair


def test_pieces_are_read_as_words_and_a_cell_lists_them():
    trace = made("pieces")
    header, arrays = framed(trace, token=1, key=5, is_whole=True)
    assert [word["shown"] for word in header["tokens"]] == ["Ragnarok", "fell", "<b>x</b>"]
    assert [word["at"] for word in header["tokens"]] == [0, 3, 4]
    assert (header["token"], header["key"]) == (0, 2)
    np.testing.assert_allclose(arrays["weights"].sum(axis=1), 1)
    whole = trace.layers[0].weights(0)
    np.testing.assert_array_equal(arrays["pieces"], whole[0:3, 4:6])
    assert header["pieces"]["weight"] == pytest.approx(arrays["pieces"].sum(axis=1).mean())
    assert header["bill"] is None
    assert f"{len(PIECES)} tokens" in header["about"][0]


def test_a_cell_of_words_of_one_piece_keeps_its_bill():
    text = "the dog saw it"
    header, _ = framed(ac.load("pronoun").trace(text), layer=1, token=3, is_whole=True)
    assert header["bill"] is not None
    assert "at" not in header["tokens"][0], "nothing was merged"


@pytest.mark.parametrize("block", ["AA", "AB", "BA", "BB"])
def test_a_block_hides_the_other_cells_and_says_what_they_hold(block):
    trace = made("pair")
    header, arrays = framed(trace, token=6, block=block)
    asks, answers = (np.array([token.segment for token in trace.tokens]) == "AB".index(side) for side in block)
    np.testing.assert_array_equal(arrays["hidden"], ~np.outer(asks, answers))
    held = trace.layers[0].weights(0)[arrays["hidden"]].sum() / 9
    assert f"{100 * held:.1f}%" in header["about"][0]
    assert [token.get("segment", 0) for token in header["tokens"]] == [0] * 5 + [1] * 4


def test_a_single_text_has_no_blocks():
    _, arrays = framed(made("pieces"), block="AB")
    assert "hidden" not in arrays


# What is said


@pytest.mark.parametrize("lang", LANGUAGES)
def test_notes_are_sentences(lang):
    header, _ = framed(made("noted"), lang, token=4)
    said = header["remarks"]
    assert len(said) == 6
    assert not any("{" in each for each in said)
    assert ["<s>" in said[0], "</s>" in said[1], "<s>" in said[2], "שלום" in said[3]] == [True] * 4
    drawn = made("noted").layers[0].weights(0)
    assert f"{drawn[4].sum():.4g}" in said[4]
    assert f"{drawn[5, 1]:.4g}" in said[5]
    assert not header["check"]["passed"]
    assert "<unk>" in header["notice"]["text"]
    assert header["notice"]["offers"] == []


def test_many_notes_are_counted():
    trace = made("noted")
    many = replace(trace, notes=trace.notes * 3)
    assert len(remarks.of_tokens(many, words("en"))) == remarks.MOST + 1


def test_ids_and_pieces_are_sent_with_tokens():
    tokens = framed(made("noted"))[0]["tokens"]
    assert [token["id"] for token in tokens] == [1, 1, 2, 3, 40, 41]
    assert tokens[3]["piece"] == "<unk>"
    assert tokens[4]["shown"] == "שלום"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("name", "stack", "passed"), [("rectangle", "cross", True), ("noted", "self", False)])
def test_own_arrays_are_checked_for_being_weights(name, stack, passed, lang):
    check = framed(made(name), lang, stack=stack)[0]["check"]
    assert check["passed"] == passed
    assert words(lang)("check.as_given") in check["sentence"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_real_model_names_what_was_compared_and_answers(lang):
    trace = made("bert-answers")
    header, _ = framed(trace, lang, token=4)
    found = trace.check()
    assert header["check"]["passed"]
    assert parts.scientific(found.largest_difference) in header["check"]["sentence"]
    assert parts.scientific(found.tolerance) in header["check"]["sentence"]
    assert header["answer_sum"] is None
    best = trace.predictions[4]
    assert [answer["word"] for answer in header["answer_list"]["answers"]] == [answer.word for answer in best]
    assert header["answers"][4]["probability"] == best[0].probability
    assert {"en": "Point at a token to look", "zh": "指向一个 token 即可预览"}[lang] in header["strings"]["hint_choose"]


def test_an_encoder_decoder_answers_where_its_decoder_reads():
    trace = made("t5-answers")
    for stack, n in (("encoder", None), ("decoder", len(trace.target_tokens)), ("cross", len(trace.target_tokens))):
        header, _ = framed(trace, stack=stack, token=1)
        assert (None if header["answers"] is None else len(header["answers"])) == n
        assert (header["keys"] is not None) == (stack == "cross")


# Two sentences


def test_the_comparison_takes_rectangles_and_sinks():
    trace = made("rectangle")
    frame = compare.frame(trace, trace, chosen(stack="cross", token=2), words("en"))
    header, arrays = unpack(frame)
    assert len(header["pairs"]) == 7
    assert [token["shown"] for token in header["sides"][0]["askers"]] == ["the", "dog", "saw", "the", "cat"]
    np.testing.assert_array_equal(arrays["row_0"], trace.layers[0].weights(0)[2])
    assert (arrays["difference"] == 0).all()
    trace = made("no-key")
    header, arrays = unpack(compare.frame(trace, trace, chosen(layer=3, token=6), words("en")))
    assert header["sides"][1]["no_key"] + arrays["row_1"].sum() == pytest.approx(1, abs=1e-6)


# The table


def read_back(trace: ac.Trace, layer: int, head: int, stack: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.write(trace, layer, head, stack))))


def test_a_rectangle_of_weights_reads_back_with_what_is_not_known_left_empty():
    trace = made("rectangle")
    rows = read_back(trace, 0, 2, "cross")
    back = np.array([float(row["weights"]) for row in rows]).reshape(5, 7)
    np.testing.assert_allclose(back, trace.layers[0].weights(2), atol=1e-6)
    assert {(row["scores"], row["query_id"], row["stack"]) for row in rows} == {("", "", "cross")}
    assert [row["key_token"] for row in rows[:7]] == ["der", "Hund", "sah", "die", "Katze", "im", "Garten"]


def test_a_head_with_a_sink_has_a_line_for_it_and_real_ids():
    trace = made("gpt-oss-answers")
    rows = read_back(trace, 0, 1, "self")
    head, n = trace.layers[0].head(1), len(trace.tokens)
    assert len(rows) == n * (n + 1)
    sums = np.array([float(row["weights"]) for row in rows]).reshape(n, n + 1).sum(axis=1)
    np.testing.assert_allclose(sums, 1, atol=1e-6)
    assert [int(row["query_id"]) for row in rows[:: n + 1]] == [token.id for token in trace.tokens]
    scaled = np.array([float(row["scaled"]) for row in rows if row["key"] != "sink"]).reshape(n, n)
    np.testing.assert_allclose(scaled, head.scaled, atol=1e-6)


def test_a_hybrids_layer_is_found_by_its_number():
    trace = made("no-key")
    assert read_back(trace, 3, 1, "self")[0]["layer"] == "3"
    assert table.file_name(chosen(model="owner/name", stack="cross", layer=3)) == "owner-name-cross-layer3-head0.csv"


def test_planted_weights_sum_to_one():
    np.testing.assert_allclose(weights(5, 7, causal=True).sum(axis=-1), 1)
