"""Where a tokenizer's pieces stand in the text, for the tokenizers that do not say.

The pieces are read in the ways tokenizers write them (bytes as letters, ▁ for a space, ## and @@ for "goes on", <0xE7>
for a byte), first as they are, then without case and accents; the reading that finds the most pieces is taken.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from attention_core.words import is_attached, spans

Place = tuple[int, int, int]  # Segment, start and end in its text (end excluded).

_BREAK = b"\xff"  # Stands between two texts: no byte of UTF-8.
_BLANK = b" \t\r\n" + _BREAK
_WINDOW = 1000  # Bytes after the last piece in which the next one is looked for.
_BYTE = re.compile("<0x([0-9A-F]{2})>")


@dataclass(frozen=True)
class _Stream:
    """The texts as bytes; for every byte its segment and character; the bytes that begin a word."""

    texts: Sequence[str]
    data: bytes
    origin: Sequence[tuple[int, int]]
    starts: Sequence[int]


def place(texts: Sequence[str], pieces: Sequence[str], is_special: Sequence[bool]) -> list[Place | None]:
    """The place of every piece in the texts, in order; None for what is not found there.

    A special piece is placed only where the text itself says it. An unknown one gets what its neighbours leave over.
    """
    best: list[Place | None] = []
    fewest = len(pieces) + 1
    for read, fold in ((_from_letters, _same), (_from_plain, _spaced), (_from_plain, _folded)):
        surfaces = [read(piece, fold) for piece in pieces]
        found, n_waited = _matched(_stream(texts, fold), surfaces, is_special)
        if n_waited < fewest:
            best, fewest = found, n_waited
    return best


def decoded(piece: str) -> str:
    """What a byte-level piece says, if it says whole characters: "Ġthe" → " the"; otherwise the piece itself."""
    try:
        return _from_letters(piece, _same).decode()
    except UnicodeDecodeError:
        return piece


def bytes_of(piece: str) -> bytes:
    """The bytes that a piece stands for, where the tokenizer writes bytes: as letters, or as <0xE7>."""
    byte = _BYTE.fullmatch(piece)
    return bytes([int(byte[1], 16)]) if byte else _from_letters(piece, _same)


def _matched(stream: _Stream, surfaces: Sequence[bytes], is_special: Sequence[bool]) -> tuple[list[Place | None], int]:
    """The places, and how many pieces said nothing that stands in the text."""
    found: list[Place | None] = [None] * len(surfaces)
    waiting: list[int] = []  # Since the last piece that was found.
    at, n_waited = 0, 0
    for i, surface in enumerate(surfaces):
        hit = _typed(stream, surface, at) if is_special[i] else _next(stream, surface, at, bool(waiting))
        if hit is not None:
            _fill(stream, found, waiting, at, hit[0])
            found[i], at, waiting = _place(stream, *hit), hit[1], []
        elif not is_special[i]:
            waiting.append(i)
            n_waited += 1
    _fill(stream, found, waiting, at, len(stream.data))
    return found, n_waited


def _typed(stream: _Stream, surface: bytes, at: int) -> tuple[int, int] | None:
    start = _skip_blank(stream, at)
    return (start, start + len(surface)) if surface and stream.data.startswith(surface, start) else None


def _next(stream: _Stream, surface: bytes, at: int, is_waiting: bool) -> tuple[int, int] | None:
    """The bytes (start, end) that `surface` stands for, at `at` or after; None where it is not found."""
    bare, start = surface.lstrip(b" "), _skip_blank(stream, at)
    if is_waiting:
        return _later(stream, bare, start) if bare else None
    if surface and stream.data.startswith(surface, at):
        return at, at + len(surface)
    if not bare:
        return at, at  # A space that the tokenizer added.
    if stream.data.startswith(bare, start):
        return start, start + len(bare)
    return _later(stream, bare, start)


def _later(stream: _Stream, bare: bytes, at: int) -> tuple[int, int] | None:
    # Rather where a word begins: an "o" after an unknown "dog" is not the o inside it.
    end = at + _WINDOW
    begins = stream.starts[bisect_right(stream.starts, at) : bisect_right(stream.starts, end)]
    hits = (start for start in begins if stream.data.startswith(bare, start))
    start = next(hits, stream.data.find(bare, at + 1, end))
    return None if start < 0 else (start, start + len(bare))


def _skip_blank(stream: _Stream, at: int) -> int:
    return len(stream.data) - len(stream.data[at:].lstrip(_BLANK))


def _place(stream: _Stream, start: int, end: int) -> Place:
    segment, first = stream.origin[min(start, len(stream.origin) - 1)]
    return (segment, first, first if start == end else stream.origin[end - 1][1] + 1)


def _fill(stream: _Stream, found: list[Place | None], waiting: Sequence[int], start: int, end: int) -> None:
    """Give what lies between two placed pieces to those that wait: a word each, or all of it to all of them."""
    words: list[Place] = []
    between = stream.origin[start:end] if waiting else ()
    for segment in sorted({segment for segment, _ in between}):
        inside = [character for owner, character in between if owner == segment]
        hole = stream.texts[segment][inside[0] : inside[-1] + 1]
        # Marks at the beginning belong to the letter before.
        first = next((i for i, character in enumerate(hole) if not is_attached(character)), 0)
        words += [(segment, inside[0] + first + a, inside[0] + first + b) for a, b in spans(hole[first:])]
    if not words:
        return
    last = max(b for segment, _, b in words if segment == words[0][0])
    shares = words if len(words) == len(waiting) else [(*words[0][:2], last)] * len(waiting)
    for i, share in zip(waiting, shares, strict=True):
        found[i] = share


def _stream(texts: Sequence[str], fold: Callable[[str], str]) -> _Stream:
    data, origin, starts = bytearray(), [], []
    for segment, text in enumerate(texts):
        begins = {start for start, _ in spans(text)}
        for i, character in enumerate(text):
            if i in begins:
                starts.append(len(data))
            encoded = _bytes(fold(character))
            data += encoded
            origin += [(segment, i)] * len(encoded)
        data += _BREAK
        origin.append((segment, len(text)))
    return _Stream(texts, bytes(data), origin, starts)


def _from_letters(piece: str, fold: Callable[[str], str]) -> bytes:
    return b"".join(_letters().get(letter, letter.encode(errors="surrogatepass")) for letter in piece)


def _from_plain(piece: str, fold: Callable[[str], str]) -> bytes:
    byte = _BYTE.fullmatch(piece)
    if byte:
        return bytes([int(byte[1], 16)])
    bare = re.sub("^##(?=.)|(?<=.)@@$|</w>$", "", piece)
    return _bytes(fold(bare))


@cache
def _letters() -> dict[str, bytes]:
    """Byte-level BPE's alphabet (Radford et al. 2019): bytes that print stand for themselves, the others come after."""
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printed]
    return {chr(byte): bytes([byte]) for byte in printed} | {chr(0x100 + i): bytes([b]) for i, b in enumerate(others)}


def _same(text: str) -> str:
    return text


def _spaced(text: str) -> str:
    # A ▁ that the reader typed is written like a space, too.
    return text.replace("▁", " ")


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", _spaced(text)).casefold()
    return "".join(character for character in plain if unicodedata.category(character)[0] != "M")


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
