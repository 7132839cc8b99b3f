"""A piece of a text, written so that every character of it can be seen.

What shows nothing by itself gets a sign (␣ ⏎ ⇥ ⟨ZWJ⟩), a mark without its letter stands on ◌, and what runs from
right to left is isolated, so that it cannot turn around the words beside it. All else stays as the reader wrote it.
"""

from __future__ import annotations

import unicodedata

from attention_core.words import is_attached

ISOLATE, END_ISOLATE = "\u2068", "\u2069"  # First-strong isolate, pop directional isolate (Unicode UAX #9).

_SIGNS = {" ": "␣", "\n": "⏎", "\t": "⇥", "\x7f": "␡"}
_NAMES = {
    "\u00a0": "NBSP",
    "\u00ad": "SHY",
    "\u061c": "ALM",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2060": "WJ",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\ufeff": "BOM",
}
_JOINERS = {"\u200c", "\u200d"}
_INVISIBLE = {"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"}  # Controls, formats, lone surrogates, spaces.
_FLAG = "\U0001f3f4"


def visible(text: str) -> str:
    """The text with a sign for everything that cannot be seen.

    >>> visible(" the\\n")
    '␣the⏎'
    """
    shown = "".join(_sign(text, i) for i in range(len(text)))
    return f"{ISOLATE}{shown}{END_ISOLATE}" if _turns(text) else shown


def _sign(text: str, i: int) -> str:
    character = text[i]
    if character in _SIGNS:
        return _SIGNS[character]
    if _is_at_work(text, i):
        return character
    if _is_variation(character) or unicodedata.category(character) in _INVISIBLE:
        return _name(character)
    return f"◌{character}" if is_attached(character) and _is_bare(text, i) else character


def _is_at_work(text: str, i: int) -> bool:
    """Whether an invisible character changes how its neighbours look, so that it is seen in them."""
    if text[i] in _JOINERS:
        return 0 < i < len(text) - 1 and not _shows_nothing(text[i - 1]) and not _shows_nothing(text[i + 1])
    if _is_variation(text[i]):
        return not _is_bare(text, i)
    return _is_tag(text[i]) and text[:i].rstrip(_TAGS).endswith(_FLAG)


def _is_bare(text: str, i: int) -> bool:
    """Whether there is nothing before the mark at `i` that it could sit on."""
    before = text[:i]
    while before and is_attached(before[-1]) and before[-1] not in _JOINERS:
        before = before[:-1]
    return not before or _shows_nothing(before[-1])


def _name(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # Unicode's own pictures of the control characters: ␀ … ␟.
    if 0xFE00 <= code <= 0xFE0F:
        return f"⟨VS{code - 0xFE00 + 1}⟩"
    return f"⟨{_NAMES.get(character, f'U+{code:04X}')}⟩"


def _shows_nothing(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE


def _is_variation(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"


_TAGS = "".join(map(chr, range(0xE0020, 0xE0080)))


def _is_tag(character: str) -> bool:
    return character in _TAGS


def _turns(text: str) -> bool:
    # Letters and digits that run from right to left; what commands a direction has become a name.
    return any(unicodedata.bidirectional(character) in {"R", "AL", "AN"} for character in text)
