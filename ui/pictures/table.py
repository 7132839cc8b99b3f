"""One head as a table: a line per cell, every stage, every digit."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import attention_core as ac
from ui.selection import Selection

COLUMNS = (
    "layer",
    "head",
    "query",
    "query_token",
    "key",
    "key_token",
    "scores",
    "scaled",
    "masked",
    "weights",
)


def csv_of(trace: ac.Trace, selection: Selection) -> Callable[[], bytes]:
    """Writes the head on screen when asked: UTF-8 with a byte order mark, which spreadsheets need for Chinese."""
    return lambda: write(trace, selection.layer, selection.head).encode("utf-8-sig", errors="replace")


def write(trace: ac.Trace, layer: int, h: int) -> str:
    """The table as CSV text; numbers in full, so that they read back exactly."""
    head = trace.layers[layer].head(h)
    out = io.StringIO(newline="")
    lines = csv.writer(out)
    lines.writerow(COLUMNS)
    for i, asks in enumerate(trace.tokens):
        for j, answers in enumerate(trace.tokens):
            stages = (stage[i, j] for stage in (head.scores, head.scaled, head.masked, head.weights))
            lines.writerow([layer, h, i, asks.text, j, answers.text, *(repr(float(value)) for value in stages)])
    return out.getvalue()


def file_name(selection: Selection) -> str:
    return f"{selection.model}-layer{selection.layer}-head{selection.head}.csv"
