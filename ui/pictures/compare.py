"""The frame of the comparison: the same asker's row in two sentences, word by word on one scale, and the difference."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

import numpy as np

import attention_core as ac
from ui.frame import pack
from ui.pictures import parts
from ui.pictures.answers import answers
from ui.selection import Selection
from ui.translations import Words

Pair = tuple[int | None, int | None]


def frame(first: ac.Trace, second: ac.Trace, selection: Selection, words: Words) -> bytes:
    pairs = align(first, second)
    asker = selection.token
    askers = (asker, partner(pairs, asker))
    rows = [_row(trace, selection, token) for trace, token in zip((first, second), askers, strict=True)]
    header = {
        **parts.place(first, selection),
        "strings": parts.strings(first, words, words.section("compare")),
        "sides": [_side(trace, token, words) for trace, token in zip((first, second), askers, strict=True)],
        "pairs": pairs,
    }
    return pack(header, {"row_0": rows[0], "row_1": rows[1], "difference": difference(pairs, *rows)})


def align(first: ac.Trace, second: ac.Trace) -> list[Pair]:
    """Positions of the two sentences that stand for one another, in order; None where a word has no partner."""
    a, b = ([token.text.casefold() for token in trace.tokens] for trace in (first, second))
    pairs: list[Pair] = []
    for _, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        both = min(a1 - a0, b1 - b0)
        pairs += [(a0 + i, b0 + i) for i in range(both)]
        pairs += [(i, None) for i in range(a0 + both, a1)]
        pairs += [(None, i) for i in range(b0 + both, b1)]
    return pairs


def partner(pairs: list[Pair], token: int | None) -> int | None:
    """Where the first sentence's token stands in the second."""
    return None if token is None else next((b for a, b in pairs if a == token), None)


def difference(pairs: list[Pair], first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(pair,) second − first; NaN where a word has no partner or a side has no asker."""
    found = np.full(len(pairs), np.nan)
    for i, (a, b) in enumerate(pairs):
        if a is not None and b is not None and len(first) and len(second):
            found[i] = second[b] - first[a]
    return found


def _row(trace: ac.Trace, selection: Selection, token: int | None) -> np.ndarray:
    return np.zeros(0) if token is None else parts.head_of(trace, selection).weights[token]


def _side(trace: ac.Trace, token: int | None, words: Words) -> dict[str, Any]:
    return {"tokens": parts.tokens(trace), "token": token, "answers": answers(trace, words)}
