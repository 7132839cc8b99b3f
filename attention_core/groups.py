"""Whole words, and the four blocks of a sentence pair: ways of reading a matrix of tokens.

Merging pieces into words keeps what attention is: what a word receives is the sum over its pieces, what it gives is the
mean over its pieces, and a row that summed to 1 still does.

    merged[I, J] = mean over i in I of Σ over j in J of weights[i, j]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from jaxtyping import Bool, Float, Num

from attention_core.errors import ShapeMismatch
from attention_core.steps import read_only
from attention_core.tokens import Token
from attention_core.visible import visible
from attention_core.words import is_attached, spans


@dataclass(frozen=True)
class Word:
    """Neighbouring tokens `first` to `end` (excluded) that are read as one.

    Attributes:
        text: the reader's own text there, without the space before it.
        segment: 0 (A) or 1 (B); is_special, is_unknown: as its tokens are.
    """

    first: int
    end: int
    text: str
    segment: int = 0
    is_special: bool = False
    is_unknown: bool = False

    @property
    def shown(self) -> str:
        """What is displayed, every character visible."""
        return visible(self.text)


@dataclass(frozen=True)
class Words:
    """The words of a text, in order; together they hold every token once.

    Attributes:
        by: "tokenizer" where its own word numbers made them, "unicode" where letters and spaces did.
    """

    words: tuple[Word, ...]
    by: str


def whole_words(tokens: Sequence[Token], texts: str | Sequence[str]) -> Words:
    """Group tokens into words: by the tokenizer's numbers where these are words, else by Unicode's letters.

    Some tokenizers number a whole sentence as one word; theirs are not taken.

    Args:
        tokens: of one text or of a pair; texts: what their offsets count in.
    """
    texts = (texts,) if isinstance(texts, str) else tuple(texts)
    if not tokens:
        return Words((), "unicode")
    numbered = _grouped(tokens, texts, [_by_number(a, b) for a, b in pairwise(tokens)])
    has_numbers = any(token.word is not None for token in tokens)
    if has_numbers and not any(len(word.text.split()) > 1 for word in numbered if word.end - word.first > 1):
        return Words(numbered, "tokenizer")
    owners = [_owners(text) for text in texts]
    return Words(_grouped(tokens, texts, [_by_letters(a, b, owners) for a, b in pairwise(tokens)]), "unicode")


def merge(
    weights: Num[np.ndarray, "*heads query key"], queries: Sequence[Word], keys: Sequence[Word] | None = None
) -> Float[np.ndarray, "*heads query_word key_word"]:
    """Weights between whole words: incoming pieces summed, outgoing ones averaged.

    A row of zeros (a query without keys) does not enter the mean; a word of such rows alone keeps zeros.

    Args:
        weights: (…, query, key).
        queries: the words of the rows; keys: those of the columns, the same unless given.

    Raises:
        ShapeMismatch: the words hold more or fewer tokens than the matrix has rows or columns.
    """
    keys = queries if keys is None else keys
    for axis, size, words in (("query", weights.shape[-2], queries), ("key", weights.shape[-1], keys)):
        held = words[-1].end if words else 0
        if held != size:
            raise ShapeMismatch(axis=axis, expected=size, actual=held)
    numbers = weights if weights.dtype == np.float32 else weights.astype(np.float64)
    if not queries or not keys:
        return read_only(np.zeros((*weights.shape[:-2], len(queries), len(keys)), numbers.dtype))
    incoming = np.add.reduceat(numbers, [word.first for word in keys], axis=-1)
    rows = [word.first for word in queries]
    n_asking = np.add.reduceat((weights != 0).any(axis=-1, keepdims=True), rows, axis=-2, dtype=numbers.dtype)
    return read_only(np.add.reduceat(incoming, rows, axis=-2) / np.maximum(n_asking, 1))


def blocks(
    queries: Sequence[Token] | Sequence[Word], keys: Sequence[Token] | Sequence[Word] | None = None
) -> Mapping[str, Bool[np.ndarray, "query key"]]:
    """The four blocks of a pair: "AA" is True where a token of A asks one of A, "AB" where A asks B, then "BA", "BB".

    Every cell lies in exactly one block: a special token counts to the text that it stands with.
    """
    asks = np.array([query.segment for query in queries], dtype=int)
    answers = asks if keys is None else np.array([key.segment for key in keys], dtype=int)
    return MappingProxyType(
        {
            f"{a}{b}": read_only((asks[:, None] == i) & (answers == j))
            for i, a in enumerate("AB")
            for j, b in enumerate("AB")
        }
    )


def _grouped(tokens: Sequence[Token], texts: tuple[str, ...], joined: Sequence[bool]) -> tuple[Word, ...]:
    starts = [0, *(i + 1 for i, together in enumerate(joined) if not together)]
    return tuple(_word(tokens, texts, first, end) for first, end in pairwise([*starts, len(tokens)]))


def _word(tokens: Sequence[Token], texts: tuple[str, ...], first: int, end: int) -> Word:
    mine = tokens[first:end]
    typed = [token for token in mine if token.end > token.start]
    text = mine[0].text
    if typed:
        whole = texts[typed[0].segment][typed[0].start : max(token.end for token in typed)]
        text = whole.strip(" ") or whole
    is_special, is_unknown = all(token.is_special for token in mine), any(token.is_unknown for token in mine)
    return Word(first, end, text, mine[0].segment, is_special, is_unknown)


def _by_number(a: Token, b: Token) -> bool:
    if a.is_special or b.is_special or a.segment != b.segment:
        return False
    hangs = a.start < a.end == b.start < b.end and is_attached(b.text[0])  # No word begins with an accent.
    return _share(a, b) or hangs or (a.word is not None and a.word == b.word)


def _by_letters(a: Token, b: Token, owners: Sequence[Sequence[int]]) -> bool:
    if a.is_special or b.is_special or a.segment != b.segment:
        return False
    if _share(a, b):
        return True
    before, after = _letters(a, owners), _letters(b, owners)
    if not before or not after:
        # A single space goes with the word after it, as most tokenizers have it.
        return a.text == " " and bool(after) and a.end == b.start
    return before[-1] == after[0]


def _share(a: Token, b: Token) -> bool:
    return max(a.start, b.start) < min(a.end, b.end)


def _letters(token: Token, owners: Sequence[Sequence[int]]) -> list[int]:
    """The word of each visible character of a token."""
    return [owner for owner in owners[token.segment][token.start : token.end] if owner >= 0]


def _owners(text: str) -> list[int]:
    """For every character the number of its word; −1 between words."""
    owners = [-1] * len(text)
    for word, (start, end) in enumerate(spans(text)):
        owners[start:end] = [word] * (end - start)
    return owners
