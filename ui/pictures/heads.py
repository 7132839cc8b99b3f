"""The frame of the Heads picture: every head of a stack as a small picture, with its measures."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable
from itertools import groupby
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import attention_core as ac
from attention_core.overview import MEASURES, Mean, Overview
from ui.addresses import BLOCKS
from ui.frame import pack
from ui.pictures import parts
from ui.selection import Selection
from ui.translations import Words

LARGEST = 560_000  # Bytes of all pictures together, deflated: with measures and sentences, less than 600 kB travel.
UNPACKED = 1_000_000  # The same before: attention deflates to about two thirds.
FINEST = 96  # Points per side that can still be told apart on a screen.
MOST_NAMED = 24  # Tokens that find room beside an enlarged head.
QUIET = 0.5  # Seconds of work that need no sign.
PAUSE = 0.2  # Seconds between two signs.

NOTHING = Mean(None, 0)  # Where this head has no such measure, and another has.
Progress = Callable[[int, int], None]

# Made once for each trace, and kept as long as that: a small part of the trace's own size.
_kept: WeakKeyDictionary[ac.Trace, dict[str, tuple[Overview, bytes]]] = WeakKeyDictionary()


def frame(trace: ac.Trace, selection: Selection, words: Words, progress: Progress | None = None) -> bytes:
    """All heads of the chosen stack; `progress` is told how many of how many heads have been looked at."""
    seen, pictures = _seen(trace, selection.stack, progress)
    measures = [name for name in MEASURES if any(name in head.measures for head in seen.heads)]
    rows, columns = seen.heads[0].levels.shape
    header = {
        **parts.place(trace, selection),
        "strings": parts.strings(trace, words, words.section("heads")),
        "stack": seen.kind,
        "layers": _layers(trace, seen),
        "measures": measures,
        "n_queries": seen.n_queries,
        "n_keys": seen.n_keys,
        "rows": rows,
        "columns": columns,
        "block": list(seen.block),
        "asking": _named(trace.asking(seen.kind)),
        "answering": _named(trace.answering(seen.kind)),
        "is_viewed": selection.is_whole or selection.is_sink_left_out or selection.block != BLOCKS[0],
    }
    return pack(header, {"pictures": np.frombuffer(pictures, dtype=np.uint8), **_measured(seen, measures)})


def sign_of_work(place: Any, words: Words) -> Progress:
    """Show in `place` (an empty element of the page) how far the work is, once it takes long enough to notice."""
    started = shown = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if done == total:
            place.empty()
        elif now - started > QUIET and now - shown > PAUSE:
            shown = now
            place.progress(done / total, text=words("heads.looking", done=done, total=total))

    return progress


def side_for(n_heads: int) -> int:
    """Points per side of each of `n_heads` pictures."""
    return max(1, min(FINEST, math.isqrt(UNPACKED // n_heads)))


def _seen(trace: ac.Trace, stack: str, progress: Progress | None) -> tuple[Overview, bytes]:
    kept = _kept.setdefault(trace, {})
    if stack not in kept:
        kept[stack] = _look(trace, stack, progress)
    return kept[stack]


def _look(trace: ac.Trace, stack: str, progress: Progress | None) -> tuple[Overview, bytes]:
    """The finest pictures that stay within LARGEST."""
    side = side_for(sum(layer.n_heads for layer in trace.stacks[stack]))
    while True:
        seen = ac.overview(trace, stack, side, progress)
        pictures = zlib.compress(b"".join(head.levels.tobytes() for head in seen.heads), level=1)
        if len(pictures) <= LARGEST or side == 1:
            return seen, pictures
        side = max(1, max(seen.heads[0].levels.shape) // 2)


def _layers(trace: ac.Trace, seen: Overview) -> list[dict[str, int]]:
    """Per layer its number in the model, how many heads it has, and how many key/value heads these share."""
    shared = {layer.index: layer.n_kv_heads for layer in trace.stacks[seen.kind]}
    return [
        {"number": number, "n_heads": len(list(heads)), "n_kv_heads": shared[number]}
        for number, heads in groupby(seen.heads, key=lambda head: head.layer)
    ]


def _measured(seen: Overview, measures: list[str]) -> dict[str, np.ndarray]:
    """(head, measure): the means, NaN where no row counts, and how many rows each is a mean over."""
    found = [[head.measures.get(name, NOTHING) for name in measures] for head in seen.heads]
    means = np.array([[mean.value for mean in head] for head in found], dtype=np.float32)
    counted = np.array([[mean.n_rows for mean in head] for head in found], dtype=np.float32)
    return {"means": means, "counted": counted}


def _named(tokens: tuple[ac.Token, ...]) -> list[str] | None:
    return [token.shown for token in tokens] if len(tokens) <= MOST_NAMED else None
