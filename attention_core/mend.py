"""Offsets as tokenizers give them, put right: what they leave out, cut off or claim twice.

Each remedy answers a habit that was seen: byte-level tokenizers trim the space that their piece holds, and with it now
and then a letter; a ▁ put before the text claims its first letter; accents that a normalizer drops belong to no token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attention_core.align import Place, decoded
from attention_core.words import is_attached

_SPACES = "Ġ▁"  # How pieces write a space before a word.


def mended(texts: Sequence[str], pieces: Sequence[str], places: Sequence[Place | None]) -> list[Place | None]:
    """The places with every space, letter and accent that belongs to them; an added space has length 0."""
    found = list(places)
    for segment, text in enumerate(texts):
        mine = [(i, at) for i, at in enumerate(places) if at is not None and at[0] == segment]
        limits = [at[1] for _, at in mine[1:]] + [len(text)]
        before = 0
        for (i, at), limit in zip(mine, limits, strict=False):
            start, end = _mended(text, pieces[i], at, before, limit)
            found[i], before = (segment, start, end), max(before, end)
        _take_marks(text, segment, found)
    return found


def n_leading(piece: str) -> int:
    """How many spaces a piece writes before its word."""
    return len(piece) - len(piece.lstrip(_SPACES))


def covered_by(places: Iterable[Place]) -> set[int]:
    """The characters that these places cover."""
    return {character for _, start, end in places for character in range(start, end)}


def _mended(text: str, piece: str, at: Place, before: int, limit: int) -> tuple[int, int]:
    """Start and end, put right between the end of the token before and the start of the one after."""
    _, start, end = at
    n_spaces = n_leading(piece)
    if n_spaces == len(piece) and limit == start:
        end = start  # Put before the text: it claims the character that the next token stands for.
    start = _cut_off(text, decoded(piece).lstrip(" "), start, end, before)
    missing = n_spaces - (len(text[start:end]) - len(text[start:end].lstrip()))
    while missing > 0 and start > before and text[start - 1].isspace():
        start, missing = start - 1, missing - 1
    if start == end < limit and n_spaces and text[start].isspace():
        end = start + 1
    return start, end


def _cut_off(text: str, says: str, start: int, end: int, before: int) -> int:
    # Letters that no token has, where the piece says that they are its own.
    wanted = end - len(says)
    return wanted if says and before <= wanted < start and text[wanted:end] == says else start


def _take_marks(text: str, segment: int, found: list[Place | None]) -> None:
    """Accents that belong to no token go to all that hold the letter before them."""
    covered = covered_by(at for at in found if at is not None and at[0] == segment)
    for i, character in enumerate(text):
        if i and i not in covered and i - 1 in covered and is_attached(character):
            covered.add(i)
            for n, at in enumerate(found):
                if at is not None and at[0] == segment and at[1] < at[2] == i:
                    found[n] = (segment, at[1], i + 1)
