"""Tokens as a person reads them: the reader's own text, in order, nothing invented and nothing lost.

A tokenizer says which ids it feeds, how it writes each of them ("pieces") and, if it is a fast one, which characters
each stands for ("offsets"). From these `read` makes tokens that say `text[start:end]`. What tokenizers get wrong about
their offsets is put right here: a space left out, a letter cut off, a ▁ that claims the letter after it, an accent that
belongs to no token.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from attention_core.align import Place, decoded, place
from attention_core.errors import ShapeMismatch
from attention_core.mend import covered_by, mended, n_leading
from attention_core.visible import visible


@dataclass(frozen=True)
class Split:
    """Characters `start` to `end` that several tokens share: this token is number `part` of `of`, from 1."""

    start: int
    end: int
    part: int
    of: int


@dataclass(frozen=True)
class Token:
    """One position of a text.

    Attributes:
        text: the reader's own text there, `trace.text[start:end]`; what the model calls it where nobody typed it.
        id: the number that the model was fed; −1 where there is none.
        start, end: character offsets into the text (into that of its segment, in a pair), end excluded.
        is_special: added by the model, not typed.
        is_unknown: typed, but outside the model's vocabulary.
        is_added: a space that nobody typed, put in by the tokenizer.
        piece: how the tokenizer writes this id ("Ġcat"), or None.
        segment: which text of a pair it is in or belongs to: 0 (A) or 1 (B).
        word: the tokenizer's number for its word, or None.
        splits: characters that it shares with other tokens.
    """

    text: str
    id: int
    start: int
    end: int
    is_special: bool = False
    is_unknown: bool = False
    is_added: bool = False
    piece: str | None = None
    segment: int = 0
    word: int | None = None
    splits: tuple[Split, ...] = ()

    @property
    def shown(self) -> str:
        """What is displayed: every character visible, 猫 1/3 for the first of three tokens that share one."""
        found, at = [], self.start
        for split in self.splits:
            before = self.text[at - self.start : split.start - self.start]
            shared = self.text[split.start - self.start : split.end - self.start]
            found += [visible(before)] if before else []
            found.append(f"{visible(shared)} {split.part}/{split.of}")
            at = split.end
        rest = self.text[at - self.start :] if self.splits else self.text
        return " ".join([*found, visible(rest)] if rest or not found else found)


@dataclass(frozen=True)
class Note:
    """Something that a reader of a trace should know.

    Attributes:
        kind: of the text: "doubled_begin" (it begins twice for the model: `tokens` are the two), "typed_special" (it
            holds what the model takes for a special token), "unread" (characters that no token stands for),
            "unplaced" (a token whose place in the text was not found); of own arrays: "row_sums" (`n` rows do not sum
            to 1), "outside" (`n` numbers lie outside 0–1).
        tokens: their positions; the row, of own arrays.
        segment, start, end: the characters, for "unread".
        layer, head, value, n: where own arrays are furthest off, what stands there, and how many do not fit.
    """

    kind: str
    tokens: tuple[int, ...] = ()
    segment: int = 0
    start: int = 0
    end: int = 0
    layer: int = 0
    head: int = 0
    value: float = 0.0
    n: int = 1


@dataclass(frozen=True)
class Reading:
    """One or two texts as the model reads them. Whatever is fed stands in `tokens`, one for one and in order."""

    texts: tuple[str, ...]
    tokens: tuple[Token, ...]
    notes: tuple[Note, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        """What is fed."""
        return tuple(token.id for token in self.tokens)


def read(
    texts: str | Sequence[str],
    ids: Sequence[int],
    pieces: Sequence[str],
    *,
    offsets: Sequence[tuple[int, int]] | None = None,
    special: Sequence[int] | None = None,
    segments: Sequence[int | None] | None = None,
    words: Sequence[int | None] | None = None,
    special_ids: Collection[int] = (),
    unknown_id: int | None = None,
    begin_id: int | None = None,
) -> Reading:
    """The tokens of one text or of a pair, from what its tokenizer gave.

    Args:
        texts: the text, or the two texts of a pair.
        ids: (token,) what is fed; pieces: (token,) how the tokenizer writes them (`convert_ids_to_tokens`).
        offsets: (token,) start and end in characters; None for a slow tokenizer: the pieces are looked for in the text.
        special: (token,) 1 where the tokenizer added a token; None: wherever an id is among `special_ids`.
        segments: (token,) 0 or 1, by `sequence_ids` or token types; needed for a pair with offsets.
        words: (token,) the tokenizer's word numbers.
        special_ids, unknown_id, begin_id: ids of special tokens, of the unknown one, of the one that begins a text.

    Raises:
        ShapeMismatch: what is given differs in length, or an offset lies outside its text.
    """
    texts = (texts,) if isinstance(texts, str) else tuple(texts)
    given = {"pieces": pieces, "offsets": offsets, "special": special, "segments": segments, "words": words}
    for name, values in given.items():
        if values is not None and len(values) != len(ids):
            raise ShapeMismatch(axis=f"token of {name}", expected=len(ids), actual=len(values))
    flags = [i in special_ids for i in ids] if special is None else list(map(bool, special))
    flags = [flag and i != unknown_id for flag, i in zip(flags, ids, strict=True)]
    found = place(texts, pieces, flags) if offsets is None else _given(texts, offsets, flags, segments)
    places = mended(texts, pieces, found)
    homes = _homes(places)
    splits = _splits(places)
    tokens = tuple(
        replace(
            _token(texts, pieces[i], places[i], flags[i]),
            id=ids[i],
            is_unknown=ids[i] == unknown_id,
            segment=homes[i],
            word=None if words is None else words[i],
            splits=splits[i],
        )
        for i in range(len(ids))
    )
    return Reading(texts, tokens, tuple(_notes(texts, tokens, places, special_ids, begin_id)))


def _given(
    texts: Sequence[str],
    offsets: Sequence[tuple[int, int]],
    flags: Sequence[bool],
    segments: Sequence[int | None] | None,
) -> list[Place | None]:
    if segments is None and len(texts) > 1:
        raise ShapeMismatch(axis="token of segments", expected=len(offsets), actual=None)
    found: list[Place | None] = []
    for i, (start, end) in enumerate(offsets):
        segment = (segments[i] or 0) if segments is not None else 0
        if not (0 <= segment < len(texts) and 0 <= start <= end <= len(texts[segment])):
            raise ShapeMismatch(axis="character", expected=[len(text) for text in texts], actual=(segment, start, end))
        # A special token that stands for characters was typed.
        found.append(None if flags[i] and start == end else (segment, start, end))
    return found


def _token(texts: Sequence[str], piece: str, at: Place | None, is_special: bool) -> Token:
    if at is None:
        return Token(piece if is_special else decoded(piece), -1, 0, 0, is_special=is_special, piece=piece)
    segment, start, end = at
    if start == end:
        return Token(" " * n_leading(piece), -1, start, end, is_added=True, piece=piece)
    return Token(texts[segment][start:end], -1, start, end, piece=piece)


def _homes(places: Sequence[Place | None]) -> list[int]:
    """The segment of every token; one outside the texts belongs to the text before it, at the start to the first."""
    homes, home = [], next((at[0] for at in places if at is not None), 0)
    for at in places:
        home = home if at is None else at[0]
        homes.append(home)
    return homes


def _splits(places: Sequence[Place | None]) -> list[tuple[Split, ...]]:
    owners: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, at in enumerate(places):
        for character in range(at[1], at[2]) if at else ():
            owners[at[0], character].append(i)  # type: ignore[index]
    return [tuple(_shared(i, at, owners)) if at else () for i, at in enumerate(places)]


def _shared(i: int, at: Place, owners: dict[tuple[int, int], list[int]]) -> Iterator[Split]:
    segment, start, end = at
    for who, run in groupby(range(start, end), key=lambda character: owners[segment, character]):
        characters = list(run)
        if len(who) > 1:
            yield Split(characters[0], characters[-1] + 1, who.index(i) + 1, len(who))


def _notes(
    texts: Sequence[str],
    tokens: Sequence[Token],
    places: Sequence[Place | None],
    special_ids: Collection[int],
    begin_id: int | None,
) -> Iterator[Note]:
    for i, (token, at) in enumerate(zip(tokens, places, strict=True)):
        if begin_id is not None and i and token.id == tokens[i - 1].id == begin_id:
            yield Note("doubled_begin", (i - 1, i))
        if token.id in special_ids and at is not None and not token.is_unknown:
            yield Note("typed_special", (i,))
        if at is None and not token.is_special:
            yield Note("unplaced", (i,))
    for segment, text in enumerate(texts):
        covered = covered_by(at for at in places if at is not None and at[0] == segment)
        for is_read, run in groupby(range(len(text)), key=covered.__contains__):
            characters = list(run)
            if not is_read and not text[characters[0] : characters[-1] + 1].isspace():
                yield Note("unread", (), segment, characters[0], characters[-1] + 1)
