"""Whole words and the blocks of a pair: every row still sums to 1, every cell is in one block."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attention_core as ac
from attention_core.encoding import encode
from tests.core.built import FAST, byte_fallback, byte_level, unigram, word_piece

CASE_10 = "Ragnarok fell "


def words(tokenizer: object, *texts: str) -> list[str]:
    reading = encode(tokenizer, *texts)
    return [word.shown for word in ac.whole_words(reading.tokens, reading.texts).words]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("bytes", ["<s>", "Ragnarok", "fell", "␣", "</s>"]),
        ("bytes-trimmed", ["<s>", "Ragnarok", "fell", "␣", "</s>"]),
        ("word-piece", ["[CLS]", "Ragnarok", "fell", "[SEP]"]),
        ("unigram", ["Ragnarok", "fell", "␣", "</s>"]),
        ("byte-fallback", ["<s>", "Ragnarok", "fell", "␣"]),
    ],
)
def test_case_10_the_words_of_every_kind(kind: str, expected: list[str]) -> None:
    assert words(FAST[kind](), CASE_10) == expected


def test_case_10_summed_and_averaged() -> None:
    tokens = encode(word_piece(), CASE_10).tokens
    assert [token.text for token in tokens] == ["[CLS]", "Rag", "nar", "ok", "fell", "[SEP]"]
    weights = np.random.default_rng(7).dirichlet(np.ones(6), size=(2, 6))
    grouped = ac.whole_words(tokens, CASE_10)
    merged = ac.merge(weights, grouped.words)
    assert merged.shape == (2, 4, 4)
    np.testing.assert_allclose(merged[0, 1, 1], weights[0, 1:4, 1:4].sum(axis=1).mean(), rtol=0, atol=1e-15)
    np.testing.assert_allclose(merged[1, 0, 1], weights[1, 0, 1:4].sum(), rtol=0, atol=1e-15)
    np.testing.assert_allclose(merged[1, 1, 2], weights[1, 1:4, 4].mean(), rtol=0, atol=1e-15)
    np.testing.assert_allclose(merged.sum(axis=-1), 1, rtol=0, atol=1e-15)
    assert not merged.flags.writeable


def test_who_made_the_words_is_said() -> None:
    reading = encode(word_piece(), "the unwanted cat")
    assert ac.whole_words(reading.tokens, reading.texts).by == "tokenizer"
    # A tokenizer without words of its own numbers the whole sentence as one.
    reading = encode(byte_fallback(), "the cat")
    assert {token.word for token in reading.tokens} == {None, 0}
    assert ac.whole_words(reading.tokens, reading.texts).by == "unicode"
    assert words(byte_fallback(), "the cat's 猫, é") == ["<s>", "the", "cat's", "猫", ",", "é"]


def test_words_of_letters_split_over_tokens_and_of_tokens_over_words() -> None:
    tokens = [ac.Token("the ca", 1, 0, 6), ac.Token("t", 2, 6, 7), ac.Token("saw", 3, 8, 11)]
    grouped = ac.whole_words(tokens, "the cat saw").words
    assert [(word.text, word.first, word.end) for word in grouped] == [("the cat", 0, 2), ("saw", 2, 3)]


def test_an_accent_begins_no_word() -> None:
    assert words(byte_level(), "cafe\u0301 the") == ["<s>", "cafe\u0301", "the", "</s>"]


def test_specials_and_segments_are_never_joined() -> None:
    assert words(word_piece(), "the", "the") == ["[CLS]", "the", "[SEP]", "the", "[SEP]"]
    assert words(unigram(), "the cat", "cat") == ["the", "cat", "</s>", "cat", "</s>"]
    tokens = [ac.Token("the", 1, 0, 3, word=0), ac.Token("the", 1, 0, 3, segment=1, word=0)]
    assert len(ac.whole_words(tokens, ("the", "the")).words) == 2
    bare = [replace(token, word=None) for token in tokens]
    assert len(ac.whole_words(bare, ("the", "the")).words) == 2


def test_tokens_of_one_character_are_one_word() -> None:
    halves = [ac.Token("猫", 1, 0, 1, word=0), ac.Token("猫", 2, 0, 1, word=1)]
    assert [word.text for word in ac.whole_words(halves, "猫").words] == ["猫"]
    assert words(byte_fallback(), "the \u3000 a") == ["<s>", "the", "␣", "⟨U+3000⟩", "a"]


def test_a_word_knows_what_its_tokens_are() -> None:
    reading = encode(word_piece(), "dog unwanted", "the")
    found = ac.whole_words(reading.tokens, reading.texts).words
    assert [word.is_unknown for word in found] == [False, True, False, False, False, False]
    assert [word.is_special for word in found] == [True, False, False, True, False, True]
    assert [word.segment for word in found] == [0, 0, 0, 0, 1, 1]


def test_no_tokens_no_words() -> None:
    assert ac.whole_words((), "").words == ()
    assert ac.merge(np.zeros((0, 0)), ()).shape == (0, 0)


def test_a_row_without_keys_does_not_thin_the_mean() -> None:
    both = [ac.Word(0, 2, "ab"), ac.Word(2, 3, "c")]
    weights = np.array([[0, 0, 0], [0.25, 0.5, 0.25], [0, 0, 0]])
    np.testing.assert_array_equal(ac.merge(weights, both), [[0.75, 0.25], [0, 0]])


def test_single_precision_stays() -> None:
    weights = np.full((3, 3), 1 / 3, np.float32)
    assert ac.merge(weights, [ac.Word(0, 3, "abc")]).dtype == np.float32


@pytest.mark.parametrize(("shape", "axis"), [((3, 2), "query"), ((2, 3), "key")])
def test_words_of_another_text_are_refused(shape: tuple[int, int], axis: str) -> None:
    with pytest.raises(ac.ShapeMismatch) as caught:
        ac.merge(np.zeros(shape), [ac.Word(0, 2, "ab")])
    assert (caught.value.axis, caught.value.expected, caught.value.actual) == (axis, 3, 2)


CUTS = st.lists(st.booleans(), min_size=1, max_size=11)


def cut(joined: list[bool]) -> list[ac.Word]:
    ends = [i + 1 for i, together in enumerate(joined) if not together or i == len(joined) - 1]
    return [ac.Word(first, end, "w") for first, end in zip([0, *ends], ends, strict=False)]


@given(rows=CUTS, columns=CUTS, seed=st.integers(0, 99))
def test_rows_still_sum_to_one(rows: list[bool], columns: list[bool], seed: int) -> None:
    queries, keys = cut(rows), cut(columns)
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(columns)), size=(2, len(rows)))
    merged = ac.merge(weights, queries, keys)
    assert merged.shape == (2, len(queries), len(keys))
    np.testing.assert_allclose(merged.sum(axis=-1), 1, rtol=0, atol=1e-12)
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            block = weights[:, query.first : query.end, key.first : key.end]
            np.testing.assert_allclose(merged[:, i, j], block.sum(axis=2).mean(axis=1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", FAST)
@given(text=st.text(st.sampled_from("the cat's 猫狗é🐱▁\n\u3000\u0301<s>"), max_size=16))
def test_words_hold_every_token_once(kind: str, text: str) -> None:
    reading = encode(FAST[kind](), text)
    found = ac.whole_words(reading.tokens, reading.texts).words
    assert [i for word in found for i in range(word.first, word.end)] == list(range(len(reading.tokens)))
    # Tokens that share a character are never torn apart.
    for word, after in pairwise(found):
        assert reading.tokens[after.first].start >= reading.tokens[word.end - 1].end or after.is_special


class TestBlocks:
    def test_of_a_pair(self) -> None:
        found = ac.blocks(encode(word_piece(), "the", "cat").tokens)
        a, b = slice(0, 3), slice(3, 5)
        for name, rows, columns in (("AA", a, a), ("AB", a, b), ("BA", b, a), ("BB", b, b)):
            expected = np.zeros((5, 5), bool)
            expected[rows, columns] = True
            np.testing.assert_array_equal(found[name], expected, err_msg=name)

    @pytest.mark.parametrize("kind", FAST)
    def test_every_cell_is_in_one_block(self, kind: str) -> None:
        tokens = encode(FAST[kind](), "the cat", "saw the dog").tokens
        total = sum(mask.astype(int) for mask in ac.blocks(tokens).values())
        np.testing.assert_array_equal(total, np.ones((len(tokens), len(tokens)), int))

    def test_of_words_and_of_rectangles(self) -> None:
        reading = encode(word_piece(), "unwanted", "cat saw")
        queries = ac.whole_words(reading.tokens, reading.texts).words
        found = ac.blocks(queries, reading.tokens)
        assert found["AB"].shape == (6, 8)
        assert found["AB"][1].tolist() == [False] * 5 + [True] * 3

    def test_one_text_is_all_a(self) -> None:
        found = ac.blocks(encode(word_piece(), "the cat").tokens)
        assert {name: bool(mask.any()) for name, mask in found.items()} == {
            "AA": True,
            "AB": False,
            "BA": False,
            "BB": False,
        }
