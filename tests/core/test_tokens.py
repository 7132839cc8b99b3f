"""Tokens as a person reads them, from real tokenizers of the usual kinds: nothing invented, nothing lost."""

from __future__ import annotations

from collections import defaultdict

import pytest
from transformers import ByT5Tokenizer
from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

import attention_core as ac
from attention_core.encoding import encode
from attention_core.tokens import Note, Reading, Token, read
from attention_core.visible import END_ISOLATE, ISOLATE
from tests.core.built import FAST, byte_fallback, byte_level, unigram, word_piece, word_piece_slow

ZWJ, ZWNJ, VS16, RLO = "\u200d", "\u200c", "\ufe0f", "\u202e"
FAMILY = f"👩{ZWJ}👩{ZWJ}👧"
SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
HEBREW = f"{ISOLATE}שלום{END_ISOLATE}"
CASE_9, CASE_10 = "我喜欢猫 🐱 café", "Ragnarok fell "
CASE_12 = "<s> </s> <b>x</b> &amp; 1999 2024-01-01 </script> $x$ :red[x] ![](x)"
CASE_24 = f"the ▁ cafe\u0301 {FAMILY} שלום สวัสดี"


@pytest.fixture(scope="session")
def slow(tmp_path_factory: pytest.TempPathFactory) -> BertTokenizerLegacy:
    return word_piece_slow(tmp_path_factory.mktemp("vocabulary"))


def shown(reading: Reading) -> list[str]:
    return [token.shown for token in reading.tokens]


def typed(reading: Reading) -> list[str]:
    return [token.shown for token in reading.tokens if not token.is_special and not token.is_added]


def test_case_9_characters_split_over_bytes() -> None:
    reading = encode(byte_level(), CASE_9)
    parts = [f"{character} {i}/3" for character in "我喜欢" for i in (1, 2, 3)]
    cat = [f"🐱 {i}/4" for i in (1, 2, 3, 4)]
    assert typed(reading) == [*parts, "猫", "␣", *cat, "␣ca", "f é 1/2", "é 2/2"]
    assert "�" not in "".join(shown(reading))


def test_case_9_in_every_kind_of_vocabulary() -> None:
    assert typed(encode(word_piece(), CASE_9)) == ["我", "喜", "欢", "猫", "🐱", "café"]
    assert typed(encode(unigram(), CASE_9)) == ["我喜欢", "猫", "␣", "🐱", "␣ca", "f", "é"]
    by_bytes = typed(encode(byte_fallback(), CASE_9))
    assert by_bytes[9:13] == ["猫 1/3", "猫 2/3", "猫 3/3", "␣"]
    assert by_bytes[-5:] == ["c", "a", "f", "é 1/2", "é 2/2"]


def test_a_token_over_the_ends_of_two_characters() -> None:
    pieces = ["çĮ", "«çĭ", "Ĺ"]  # 猫狗 is e7 8c ab e7 8b 97.
    reading = read("猫狗", [5, 6, 7], pieces, offsets=[(0, 1), (0, 2), (1, 2)])
    assert shown(reading) == ["猫 1/2", "猫 2/2 狗 1/2", "狗 2/2"]
    assert shown(read("猫狗", [5, 6, 7], pieces)) == ["猫 1/2", "猫 2/2 狗 1/2", "狗 2/2"]


@pytest.mark.parametrize("kind", FAST)
def test_case_24_the_readers_own_text(kind: str) -> None:
    reading = encode(FAST[kind](), CASE_24)
    assert "".join(rebuilt(reading)[0].split()) == "".join(CASE_24.split())
    assert not reading.notes


def test_case_24_marks_that_the_tokenizer_drops_stay_with_their_letter() -> None:
    assert typed(encode(word_piece(), "Cafe\u0301 the")) == ["Cafe\u0301", "the"]


def test_case_24_a_lone_mark_of_spaces_claims_nothing() -> None:
    added, *letters, end = encode(unigram(), "the").tokens
    assert (added.text, added.is_added, added.start, added.end, added.is_special) == (" ", True, 0, 0, False)
    assert (added.shown, [letter.shown for letter in letters], end.text) == ("␣", ["t", "h", "e"], "</s>")
    assert typed(encode(unigram(), "▁ the")) == ["▁", "␣", "t", "h", "e"]
    assert [token.shown for token in encode(byte_fallback(), "▁a").tokens] == ["<s>", "␣", "▁", "a"]
    assert [token.is_added for token in encode(byte_fallback(), "▁a").tokens] == [False, True, False, False]


def test_case_24_right_to_left_is_isolated() -> None:
    assert typed(encode(word_piece(), "שלום the")) == [HEBREW, "the"]
    assert f"{ISOLATE}ש{END_ISOLATE} 1/2" in typed(encode(byte_level(), "שלום"))


def test_a_ligature_that_became_two_letters() -> None:
    assert shown(read("ﬁne", [5, 6, 7], ["f", "in", "e"], offsets=[(0, 1), (0, 2), (2, 3)])) == [
        "ﬁ 1/2",
        "ﬁ 2/2 n",
        "e",
    ]
    assert typed(encode(unigram(), "ﬁ")) == ["ﬁ 1/2", "ﬁ 2/2"]


@pytest.mark.parametrize("trim", [False, True])
def test_spaces_that_the_offsets_leave_out(trim: bool) -> None:
    tokenizer = byte_level(trim=trim, prefix=True)
    assert typed(encode(tokenizer, "Ragnarok  fell ")) == ["Ragnarok", "␣", "␣fell", "␣"]
    assert typed(encode(tokenizer, "  the")) == ["␣", "␣the"]
    assert typed(encode(tokenizer, "the\n cat")) == ["the", "⏎", "␣cat"]


def test_a_letter_that_the_offsets_cut_off() -> None:
    tokenizer = byte_level(trim=True, prefix=True)
    assert (4, 6) in tokenizer("<s>the", return_offsets_mapping=True)["offset_mapping"]  # "he"
    assert typed(encode(tokenizer, "<s>the")) == ["<s>", "the"]


def test_unknown_words_keep_what_they_stand_for() -> None:
    dog = encode(word_piece(), "the dog").tokens[2]
    assert (dog.text, dog.piece, dog.is_unknown, dog.is_special, dog.id) == ("dog", "[UNK]", True, False, 1)


def test_what_the_tokenizer_adds_is_shown_and_flagged() -> None:
    tokens = encode(word_piece(), "the cat").tokens
    assert [(token.text, token.is_special) for token in tokens] == [
        ("[CLS]", True),
        ("the", False),
        ("cat", False),
        ("[SEP]", True),
    ]


@pytest.mark.parametrize("tokenizer", [byte_level(), byte_fallback()])
def test_a_beginning_that_stands_there_twice(tokenizer: object) -> None:
    notes = encode(tokenizer, "<s>the").notes
    assert Note("doubled_begin", (0, 1)) in notes
    assert Note("typed_special", (1,)) in notes
    assert encode(tokenizer, "the").notes == ()
    assert encode(tokenizer, "<s>the", add_special_tokens=False).notes == (Note("typed_special", (0,)),)


def test_typed_specials_are_the_readers_text() -> None:
    reading = encode(word_piece(), "the [SEP] cat")
    assert [token.is_special for token in reading.tokens] == [True, False, False, False, True]
    assert reading.tokens[2].text == "[SEP]"
    assert reading.notes == (Note("typed_special", (2,)),)


def test_a_special_token_with_a_place_was_typed() -> None:
    reading = read("[SEP]", [3], ["[SEP]"], offsets=[(0, 5)], special=[1], special_ids={3})
    assert [(token.text, token.is_special) for token in reading.tokens] == [("[SEP]", False)]


def test_an_added_space_takes_no_accent() -> None:
    reading = read("e\u0301x", [1, 2, 3], ["e", "▁", "x"], offsets=[(0, 1), (1, 1), (2, 3)])
    assert [token.text for token in reading.tokens] == ["e\u0301", " ", "x"]


def test_characters_that_no_token_stands_for() -> None:
    assert encode(word_piece(), "a\u200b\x00b").notes == (Note("unread", start=1, end=3),)
    assert encode(word_piece(), "\u0301a").notes == (Note("unread", start=0, end=1),)
    assert encode(word_piece(), "  the   cat ").notes == ()


def test_an_nfc_pair_is_split_as_one_character() -> None:
    reading = read("e\u0301", [5, 6], ["Ã", "©"], offsets=[(0, 1), (0, 1)])
    assert shown(reading) == ["e\u0301 1/2", "e\u0301 2/2"]


class TestSlow:
    """Tokenizers without offsets: the pieces are looked for in the text."""

    @pytest.mark.parametrize(
        "text",
        [
            CASE_9,
            CASE_10,
            CASE_12,
            CASE_24,
            "Unwanted cafe\u0301 dog o.",
            "dog cat dog",
            "UNWANTED the",
            "the [SEP] cat",
            "",
            "didn't",
        ],
    )
    def test_as_the_fast_one_of_the_same_vocabulary(self, slow: object, text: str) -> None:
        fast = encode(word_piece(), text)
        found = encode(slow, text)
        assert found.ids == fast.ids
        assert places(found) == places(fast)
        assert found.notes == fast.notes

    def test_a_pair(self, slow: object) -> None:
        fast, found = encode(word_piece(), "the cat", "dog the"), encode(slow, "the cat", "dog the")
        assert places(found) == places(fast)
        assert [token.segment for token in found.tokens] == [0, 0, 0, 0, 1, 1, 1]

    @pytest.mark.parametrize("kind", FAST)
    @pytest.mark.parametrize("text", [CASE_9, CASE_10, "the cat saw the dog the", "Unwanted", "ﬁn"])
    def test_pieces_alone_say_as_much_as_offsets(self, kind: str, text: str) -> None:
        fast = encode(FAST[kind](), text)
        flags = [token.is_special for token in fast.tokens]
        unknown = FAST[kind]().unk_token_id
        found = read(text, fast.ids, [token.piece for token in fast.tokens], special=flags, unknown_id=unknown)
        assert shown(found) == shown(fast)

    def test_bytes_as_characters(self) -> None:
        reading = encode(ByT5Tokenizer(), "猫 é")
        assert shown(reading) == ["猫 1/3", "猫 2/3", "猫 3/3", "␣", "é 1/2", "é 2/2", "</s>"]

    def test_nothing_reaches_over_two_texts(self) -> None:
        reading = read(("c", "at"), [1, 2], ["cat", "at"])
        assert [(token.text, token.segment) for token in reading.tokens] == [("c", 0), ("at", 1)]

    def test_an_unknown_word_is_not_special_whatever_the_mask_says(self) -> None:
        (dog,) = read("dog", [1], ["[UNK]"], special=[1], unknown_id=1).tokens
        assert (dog.text, dog.is_unknown, dog.is_special) == ("dog", True, False)

    def test_suffixes(self) -> None:
        assert typed(read("unwanted", [1, 2], ["un@@", "wanted</w>"])) == ["un", "wanted"]
        assert typed(read("The unwanted cat", [1, 2, 3, 4], ["the</w>", "un@@", "wanted", "cat</w>"])) == [
            "The",
            "un",
            "wanted",
            "cat",
        ]

    def test_a_piece_that_stands_nowhere_is_said(self) -> None:
        reading = read("the", [1, 2], ["the", "elephant"])
        assert reading.notes == (Note("unplaced", (1,)),)
        assert [token.text for token in reading.tokens] == ["the", "elephant"]


def places(reading: Reading) -> list[tuple[object, ...]]:
    return [(t.text, t.segment, t.start, t.end, t.is_special, t.is_unknown, t.splits) for t in reading.tokens]


class TestPairs:
    @pytest.mark.parametrize("kind", FAST)
    def test_segments_and_their_own_offsets(self, kind: str) -> None:
        reading = encode(FAST[kind](), "the cat", "saw the dog")
        segments = [token.segment for token in reading.tokens]
        assert segments == sorted(segments)
        assert set(segments) == {0, 1}
        texts = rebuilt(reading)
        assert ["".join(text.split()) for text in texts] == ["thecat", "sawthedog"]

    def test_separators_close_what_is_before_them(self) -> None:
        assert [(t.text, t.segment) for t in encode(word_piece(), "the", "cat").tokens] == [
            ("[CLS]", 0),
            ("the", 0),
            ("[SEP]", 0),
            ("cat", 1),
            ("[SEP]", 1),
        ]

    def test_a_pair_with_offsets_needs_segments(self) -> None:
        with pytest.raises(ac.ShapeMismatch, match="segments"):
            read(("a", "b"), [1, 2], ["a", "b"], offsets=[(0, 1), (0, 1)])


@pytest.mark.parametrize("name", ["offsets", "special", "segments", "words"])
def test_what_differs_in_length_is_refused(name: str) -> None:
    with pytest.raises(ac.ShapeMismatch, match=name) as caught:
        read("a", [1, 2], ["a", "b"], **{name: [(0, 1)]})
    assert (caught.value.expected, caught.value.actual) == (2, 1)


def test_offsets_outside_the_text_are_refused() -> None:
    with pytest.raises(ac.ShapeMismatch, match="character"):
        read("a", [1], ["a"], offsets=[(0, 2)])


def test_a_taught_models_token_is_shown_too(tired: ac.Trace) -> None:
    assert [token.shown for token in tired.tokens] == [token.text for token in tired.tokens]
    assert Token(" שלום", 3, 4, 9).shown == f"{ISOLATE}␣שלום{END_ISOLATE}"


def rebuilt(reading: Reading) -> list[str]:
    """Each text from its tokens, every character once."""
    found: list[dict[int, str]] = [defaultdict(str) for _ in reading.texts]
    for token in reading.tokens:
        if not token.is_special and not token.is_added:
            found[token.segment].update(zip(range(token.start, token.end), token.text, strict=True))
    return ["".join(character for _, character in sorted(text.items())) for text in found]
