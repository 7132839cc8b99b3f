"""The frame of the comparison: the same asker's row in two sentences, word by word on one scale, and the difference."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

import numpy as np

import attention_core as ac
from ui.frame import pack
from ui.pictures import head_view, parts, remarks
from ui.pictures.answers import answers
from ui.pictures.head_view import HeadView, Labels
from ui.selection import Selection
from ui.translations import Words

Pair = tuple[int | None, int | None]


def frame(first: ac.Trace, second: ac.Trace, selection: Selection, words: Words) -> bytes:
    views = head_view.of(first, selection), head_view.of(second, selection)
    pairs, asking = align(views[0].keys, views[1].keys), align(views[0].rows, views[1].rows)
    asker = _asker(views[0], selection)
    askers = (asker, partner(asking, asker))
    rows = [_row(view, token) for view, token in zip(views, askers, strict=True)]
    header = {
        **parts.place(first, selection),
        "strings": parts.strings(first, words, words.section("compare")),
        "sides": [_side(view, token, words) for view, token in zip(views, askers, strict=True)],
        "pairs": pairs,
    }
    return pack(header, {"row_0": rows[0], "row_1": rows[1], "difference": difference(pairs, *rows)})


def align(first: Labels, second: Labels) -> list[Pair]:
    """Positions of the two sentences that stand for one another, in order; None where a word has no partner."""
    a, b = ([token.text.casefold() for token in tokens] for tokens in (first, second))
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


def _asker(view: HeadView, selection: Selection) -> int | None:
    """The row that is compared: the chosen token's, where it has one."""
    if view.is_crossed and selection.look != "asks":
        return None
    return head_view.place(view.rows, selection.token)


def _row(view: HeadView, token: int | None) -> np.ndarray:
    return np.zeros(0) if token is None else view.visible[token]


def _side(view: HeadView, token: int | None, words: Words) -> dict[str, Any]:
    """One sentence: who asks (`token` among `askers`, or among `tokens` where these are the same), what it looks at."""
    return {
        "tokens": head_view.listed(view.keys, view.trace),
        "askers": head_view.listed(view.rows, view.trace) if view.is_crossed else None,
        "token": token,
        "answers": None if view.is_whole else answers(view.trace, words, view.layer.kind),
        "no_key": None if view.shown.sink is None or token is None else float(view.shown.sink[token]),
        "hidden": _hidden(view, token),
        "remarks": [*remarks.of_tokens(view.trace, words), *remarks.of_head(view, words)],
    }


def _hidden(view: HeadView, token: int | None) -> float | None:
    """How much of the row a view leaves out; None where it leaves out nothing."""
    if token is None or view.hidden is None or not view.hidden[token].any():
        return None
    return float(view.shown.weights[token][view.hidden[token]].sum(dtype=np.float64))
