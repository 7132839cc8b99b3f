"""From text to the tokens of a taught model: words, numbers and marks, as the reader wrote them.

A word is a run of letters, digits and the marks that sit on them; apostrophes stay inside it ("didn't"). Every other
visible character, and every Chinese one, stands alone, together with what Unicode attaches to it (accents, emoji joined
by ZWJ, skin tones, flags). Nothing visible is dropped and nothing is invented: `text[start:end]` is the token.
"""

from __future__ import annotations

import unicodedata

_APOSTROPHES = "'’"
_ZWJ = "\u200d"
_JOINERS = {_ZWJ, "\u200c"}


def spans(text: str) -> list[tuple[int, int]]:
    """Start and end (character offsets, end excluded) of each token of `text`, in order.

    >>> text = "The animal didn't stop."
    >>> [text[a:b] for a, b in spans(text)]
    ['The', 'animal', "didn't", 'stop', '.']
    """
    found, start = [], 0
    while start < len(text):
        if _is_gap(text[start]):
            start += 1
            continue
        end = _word_end(text, start) if _is_word(text[start]) else _cluster_end(text, start)
        found.append((start, end))
        start = end
    return found


def characters(text: str) -> list[tuple[int, int]]:
    """Start and end of each visible character of `text`, with what Unicode attaches to it.

    >>> characters("佛跳 墙")
    [(0, 1), (1, 2), (3, 4)]
    """
    found, start = [], 0
    while start < len(text):
        end = _cluster_end(text, start)
        if not _is_gap(text[start]):
            found.append((start, end))
        start = end
    return found


SPLITTERS = {"words": spans, "characters": characters}


def fold(word: str) -> str:
    """The form under which a word is looked up: composed, without case, with a straight apostrophe."""
    return unicodedata.normalize("NFC", word.replace("’", "'")).casefold()


def is_attached(character: str) -> bool:
    """Whether Unicode hangs the character on the one before: accents, vowel signs, variations, joiners."""
    return unicodedata.category(character)[0] == "M" or character in _JOINERS


def _is_gap(character: str) -> bool:
    # White space, control characters and lone format characters show nothing that could ask or answer.
    return character.isspace() or unicodedata.category(character) in {"Cc", "Cf"}


def _is_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LN" and not _is_ideograph(character)


def _is_ideograph(character: str) -> bool:
    # Chinese characters are read one by one; no space tells where a word of theirs ends.
    return unicodedata.name(character, "").startswith("CJK UNIFIED IDEOGRAPH")


def _word_end(text: str, start: int) -> int:
    end = start + 1
    while end < len(text):
        if _is_word(text[end]) or is_attached(text[end]):
            end += 1
        elif text[end] in _APOSTROPHES and end + 1 < len(text) and _is_word(text[end + 1]):
            end += 2
        else:
            break
    return end


def _cluster_end(text: str, start: int) -> int:
    end = start + 1
    if _is_flag_letter(text[start]) and end < len(text) and _is_flag_letter(text[end]):
        end += 1
    while end < len(text) and _continues(text[end - 1], text[end]):
        end += 1
    return end


def _continues(before: str, character: str) -> bool:
    joined = before == _ZWJ and not _is_gap(character)
    return joined or is_attached(character) or _is_modifier(character)


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _is_modifier(character: str) -> bool:
    # Skin tones, and the tag letters of regional flags (which are format characters).
    return "\U0001f3fb" <= character <= "\U0001f3ff" or "\U000e0020" <= character <= "\U000e007f"
