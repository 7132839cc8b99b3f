"""Any text through every kind of tokenizer: nothing invented, nothing lost, and all of it can be seen."""

from __future__ import annotations

import unicodedata
from collections import defaultdict

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attention_core.encoding import encode
from attention_core.tokens import Note, Reading, read
from attention_core.visible import END_ISOLATE, ISOLATE, visible
from tests.core.built import FAST

ZWJ, ZWNJ, VS16, RLO = "\u200d", "\u200c", "\ufe0f", "\u202e"
FAMILY = f"👩{ZWJ}👩{ZWJ}👧"
SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
HEBREW = f"{ISOLATE}שלום{END_ISOLATE}"
CASE_12 = "<s> </s> <b>x</b> &amp; 1999 2024-01-01 </script> $x$ :red[x] ![](x)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" the cat ", "␣the␣cat␣"),
        ("a\n\tb\r", "a⏎⇥b␍"),
        ("\x00\x7f\x85", "␀␡⟨U+0085⟩"),
        ("\u00a0\u3000\u2028", "⟨NBSP⟩⟨U+3000⟩⟨U+2028⟩"),
        ("\u200b\ufeff\u00ad\u2060", "⟨ZWSP⟩⟨BOM⟩⟨SHY⟩⟨WJ⟩"),
        (ZWJ, "⟨ZWJ⟩"),
        (f"a{ZWJ}", "a⟨ZWJ⟩"),
        (FAMILY, FAMILY),
        (f"می{ZWNJ}خواهم", f"{ISOLATE}می{ZWNJ}خواهم{END_ISOLATE}"),
        (VS16, "⟨VS16⟩"),
        (f"❤{VS16}", f"❤{VS16}"),
        ("\u0301", "◌\u0301"),
        ("e\u0301", "e\u0301"),
        (" \u0301\u0302", "␣◌\u0301◌\u0302"),
        ("ั", "◌ั"),
        (SCOTLAND, SCOTLAND),
        ("a\U000e0067", "a⟨U+E0067⟩"),
        ("שלום", HEBREW),
        ("٣", f"{ISOLATE}٣{END_ISOLATE}"),
        (f"{RLO}abc", "⟨RLO⟩abc"),
        ("\ud83d", "⟨U+D83D⟩"),
        (CASE_12.replace(" ", ""), CASE_12.replace(" ", "")),
    ],
)
def test_every_character_can_be_seen(text: str, expected: str) -> None:
    assert visible(text) == expected


HARD = f"the cat猫狗é🐱 ▁Ġ\n\t\u0301{ZWJ}{VS16}שู●ﬁ㎏<s>#@\u200b\x00\u00a0İß"
TEXTS = st.one_of(st.text(st.sampled_from(HARD), max_size=16), st.text(max_size=12))


def read_through(kind: str, text: str) -> Reading | None:
    try:
        return encode(FAST[kind](), text)
    except (TypeError, UnicodeEncodeError):  # Lone surrogates: the library takes none.
        return None


@pytest.mark.parametrize("kind", FAST)
class TestAnyText:
    @given(text=TEXTS)
    @example(text=CASE_12)
    def test_nothing_is_lost(self, kind: str, text: str) -> None:
        if (reading := read_through(kind, text)) is None:
            return
        unread = {i for note in reading.notes if note.kind == "unread" for i in range(note.start, note.end)}
        held = {i for token in reading.tokens for i in range(token.start, token.end)}
        assert {i for i, character in enumerate(text) if not character.isspace()} <= held | unread
        assert not held & unread

    @given(text=TEXTS)
    @example(text=CASE_12)
    def test_nothing_is_invented(self, kind: str, text: str) -> None:
        if (reading := read_through(kind, text)) is None:
            return
        assert list(reading.ids) == FAST[kind]()(text)["input_ids"]
        starts = [token.start for token in reading.tokens if not token.is_special]
        assert starts == sorted(starts)
        for token in reading.tokens:
            if not token.is_special:
                assert token.text == (" " if token.is_added else text[token.start : token.end])

    @given(text=TEXTS)
    def test_parts_are_numbered_through(self, kind: str, text: str) -> None:
        if (reading := read_through(kind, text)) is None:
            return
        parts = defaultdict(list)
        for token in reading.tokens:
            for split in token.splits:
                for i in range(split.start, split.end):
                    parts[i].append((split.part, split.of))
        for numbered in parts.values():
            assert numbered == [(i + 1, len(numbered)) for i in range(len(numbered))]
            assert len(numbered) > 1

    @given(text=TEXTS)
    def test_all_that_is_shown_can_be_seen(self, kind: str, text: str) -> None:
        if (reading := read_through(kind, text)) is None:
            return
        for token in reading.tokens:
            assert token.shown
            inside = token.shown.replace(ISOLATE, "").replace(END_ISOLATE, "")
            hidden = [c for c in inside if unicodedata.category(c) in {"Cc", "Cf", "Zs", "Zl", "Zp"} and c != " "]
            assert set(hidden) <= {ZWJ, ZWNJ}
            assert ("�" in token.shown) <= ("�" in text)
            assert token.shown.count(ISOLATE) == token.shown.count(END_ISOLATE)


@given(text=TEXTS, seed=st.integers(0, 9))
def test_any_pieces_are_placed_within_the_text_and_in_order(text: str, seed: int) -> None:
    pieces = [text[i : i + 1 + seed % 3] for i in range(seed % 4, len(text), 2)]
    reading = read(text, list(range(len(pieces))), pieces, unknown_id=3)
    assert len(reading.tokens) == len(pieces)
    found = [t for i, t in enumerate(reading.tokens) if Note("unplaced", (i,)) not in reading.notes]
    for token in found:
        assert token.is_added or token.text == text[token.start : token.end]
    assert [token.start for token in found] == sorted(token.start for token in found)
