"""From text to tokens: what is displayed is the user's own text, in order; nothing invented, nothing lost."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attention_core as ac
from attention_core.words import fold, spans

ZWJ, ZWNJ, VS16 = "\u200d", "\u200c", "\ufe0f"
FAMILY = f"👩{ZWJ}👩{ZWJ}👧"
RAINBOW = f"🏳{VS16}{ZWJ}🌈"
SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
LONE = "\ud83d"  # Half of a surrogate pair: no character, but Python lets it into a text.


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in spans(text)]


def is_visible(character: str) -> bool:
    return not character.isspace() and unicodedata.category(character) not in {"Cc", "Cf"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The animal didn't stop.", ["The", "animal", "didn't", "stop", "."]),
        ("didn’t", ["didn’t"]),
        ("rock'n'roll", ["rock'n'roll"]),
        ("'tis the dogs' bone'", ["'", "tis", "the", "dogs", "'", "bone", "'"]),
        ("it''s", ["it", "'", "'", "s"]),
        ("wait... what?!", ["wait", ".", ".", ".", "what", "?", "!"]),
        ("3.14 x2 n°5", ["3", ".", "14", "x2", "n", "°", "5"]),
        ("snake_case and well-known", ["snake", "_", "case", "and", "well", "-", "known"]),
        (" \t the\n\n cat \u00a0\u3000", ["the", "cat"]),
    ],
)
def test_words_apostrophes_and_marks(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


CASE_12 = "<s> </s> <b>x</b> &amp; 1999 2024-01-01 </script> $x$ :red[x] ![](x)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("the cat saw the dog the", ["the", "cat", "saw", "the", "dog", "the"], id="11"),
        pytest.param("<s></s>", ["<", "s", ">", "<", "/", "s", ">"], id="12 special"),
        pytest.param("&amp; 1999 2024-01-01", ["&", "amp", ";", "1999", "2024", "-", "01", "-", "01"], id="12 numbers"),
        pytest.param("$x$ :red[x] ![](x)", [*list("$x$:"), "red", *list("[x]![](x)")], id="12 markup"),
        pytest.param('they didn\'t "get" \n {x}', ["they", "didn't", '"', "get", '"', "{", "x", "}"], id="23"),
        pytest.param("a \\n b", ["a", "\\", "n", "b"], id="23 letters"),
        pytest.param("a ▁ b▁c", ["a", "▁", "b", "▁", "c"], id="24 lone ▁"),
        pytest.param("cafe\u0301 nai\u0308ve", ["cafe\u0301", "nai\u0308ve"], id="24 NFD"),
        pytest.param(f"a {FAMILY}{RAINBOW} b", ["a", FAMILY, RAINBOW, "b"], id="24 ZWJ emoji"),
        pytest.param(f"👩{ZWJ} a{ZWJ}\n", [f"👩{ZWJ}", f"a{ZWJ}"], id="24 joined to nothing"),
        pytest.param("שלום, עולם!", ["שלום", ",", "עולם", "!"], id="24 right to left"),
        pytest.param("مرحبا بالعالم؟", ["مرحبا", "بالعالم", "؟"], id="24 Arabic"),
        pytest.param("สวัสดี ครับ", ["สวัสดี", "ครับ"], id="24 Thai"),
        pytest.param(f"می{ZWNJ}خواهم", [f"می{ZWNJ}خواهم"], id="24 Persian"),
        pytest.param("नमस्ते दुनिया", ["नमस्ते", "दुनिया"], id="24 Hindi"),
        pytest.param("🇨🇳🇫🇷🇩", ["🇨🇳", "🇫🇷", "🇩"], id="flags"),
        pytest.param(f"x{SCOTLAND}y", ["x", SCOTLAND, "y"], id="regional flag"),
        pytest.param("👍🏽👍", ["👍🏽", "👍"], id="skin tones"),
        pytest.param(f"❤{VS16}!", [f"❤{VS16}", "!"], id="variation"),
        pytest.param("1\ufe0f\u20e3 2", ["1\ufe0f\u20e3", "2"], id="keycap"),
        pytest.param("我喜欢猫🐱。", ["我", "喜", "欢", "猫", "🐱", "。"], id="Chinese"),
        pytest.param("我love你", ["我", "love", "你"], id="Chinese and English"),
        pytest.param("a\x00b\x07 c\u200b\ufeffd", ["a", "b", "c", "d"], id="control characters"),
        pytest.param(f"a {LONE}b", ["a", LONE, "b"], id="lone surrogate"),
        pytest.param("\u0301a", ["\u0301", "a"], id="an accent on nothing"),
    ],
)
def test_text_of_every_kind(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_case_12_every_letter_of_markup_is_kept() -> None:
    assert "".join(pieces(CASE_12)) == CASE_12.replace(" ", "")


TRICKY = [*"aZéß1'’▁<&$ \n\t\x00.-_", "\u0301", "\u0e31", ZWJ, ZWNJ, VS16, "\u20e3", LONE, "\udc00"]
TRICKY += ["👩", "🏽", "🇨", "🇫", "🏴", "\U000e0067", "\U000e007f", "我", "שׁ", "ก", "\u200f", "\u00ad", "\ufeff"]
ANY = st.lists(st.sampled_from(TRICKY) | st.characters(exclude_categories=()), max_size=30).map("".join)


@given(ANY)
def test_tokens_cover_every_visible_character_once_and_in_order(text: str) -> None:
    found = spans(text)
    ends = [0, *(end for _, end in found)]
    assert all(before <= start < end for before, (start, end) in zip(ends, found, strict=False))
    covered = {position for start, end in found for position in range(start, end)}
    assert covered >= {position for position, character in enumerate(text) if is_visible(character)}
    # What no eye sees makes no token by itself, and white space stands in none.
    assert all(any(map(is_visible, piece)) for piece in pieces(text))
    assert not any(character.isspace() for piece in pieces(text) for character in piece)


@given(ANY.filter(spans))
def test_a_token_says_where_it_stands(text: str) -> None:
    tokens = ac.load("pronoun").tokenize(text)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert [(token.start, token.end) for token in tokens] == spans(text)
    assert not any(token.is_special for token in tokens)


def test_words_are_looked_up_without_case_and_accents_composed() -> None:
    assert fold("DIDN’T") == fold("didn't") == "didn't"
    assert fold("CAFE\u0301") == fold("Café") == "caf\u00e9"
    assert fold("STRASSE") == fold("Straße")


def test_known_words_keep_their_text_and_get_their_number(pronoun: ac.TaughtModel) -> None:
    text = "THE Animal DIDN’T"
    tokens = pronoun.tokenize(text)
    assert [token.text for token in tokens] == ["THE", "Animal", "DIDN’T"]
    assert [pronoun.vocabulary[token.id] for token in tokens] == ["the", "animal", "didn't"]
    assert not any(token.is_unknown for token in tokens)


def test_unknown_words_are_flagged_and_fed_as_the_cards_unknown(pronoun: ac.TaughtModel) -> None:
    text = f"it saw {FAMILY} 猫 [UNK]"
    tokens = pronoun.tokenize(text)
    assert [token.text for token in tokens] == ["it", "saw", FAMILY, "猫", "[", "UNK", "]"]
    assert [token.is_unknown for token in tokens] == [False] + [True] * 6
    assert {pronoun.vocabulary[token.id] for token in tokens[1:]} == {pronoun.card.details["unknown"]}


def test_the_stand_in_for_unknown_words_is_the_cards(pronoun: ac.TaughtModel) -> None:
    other = replace(pronoun, card=replace(pronoun.card, details={**pronoun.card.details, "unknown": "strange"}))
    (token,) = other.tokenize("猫")
    assert other.vocabulary[token.id] == "strange"


@pytest.mark.parametrize("text", ["", " ", "\n\t \u00a0\u3000", "\x00\x1b\x7f", "\u200b\ufeff\u200d"])
def test_a_text_that_shows_nothing_is_empty(pronoun: ac.TaughtModel, text: str) -> None:
    for run in (pronoun.tokenize, pronoun.trace):
        with pytest.raises(ac.EmptyText):
            run(text)


def test_a_text_that_is_too_long_says_by_how_much(pronoun: ac.TaughtModel) -> None:
    text = "it is a " * 625
    assert len(text) == 5000
    with pytest.raises(ac.TextTooLong) as caught:
        pronoun.trace(text)
    assert (caught.value.n, caught.value.limit) == (1875, pronoun.card.max_tokens)


def test_the_longest_text_still_fits(pronoun: ac.TaughtModel) -> None:
    limit = pronoun.card.max_tokens
    assert len(pronoun.trace("it " * limit).tokens) == limit
    with pytest.raises(ac.TextTooLong):
        pronoun.trace("it " * (limit + 1))


@pytest.mark.parametrize(
    "text",
    ["the cat saw the dog the", CASE_12, 'they didn\'t "get" \n {x}', f"{FAMILY}🇨🇳👍🏽", f"{LONE} שלום ▁", "a" * 5000],
)
def test_a_text_of_any_kind_is_traced(pronoun: ac.TaughtModel, text: str) -> None:
    trace = pronoun.trace(text)
    n = len(pieces(text))
    assert trace.text == text
    assert [token.text for token in trace.tokens] == pieces(text)
    assert [layer.weights(0).shape for layer in trace.layers] == [(n, n)] * 2
    assert trace.check(full=True).passed
