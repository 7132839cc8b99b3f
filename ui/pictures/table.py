"""One head as a table: a line per cell, every stage, every digit; token by token, whatever the picture merges."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from typing import Any

import attention_core as ac
from ui import models
from ui.pictures import parts
from ui.selection import Selection

COLUMNS = (
    "stack",
    "layer",
    "head",
    "query",
    "query_id",
    "query_token",
    "key",
    "key_id",
    "key_token",
    "scores",
    "scaled",
    "masked",
    "weights",
)
STAGES = ("scores", "scaled", "masked")
NO_KEY = "sink"  # Stands for the key in the lines of a head's sink, so that each query's weights sum to 1.


def csv_of(trace: ac.Trace, selection: Selection) -> Callable[[], bytes]:
    """Writes the head on screen when asked: UTF-8 with a byte order mark, which spreadsheets need for Chinese."""
    layer = parts.layer_of(trace, selection)
    return lambda: _written(trace, layer, selection.head).encode("utf-8-sig", errors="replace")


def write(trace: ac.Trace, layer: int, h: int, stack: str = "self") -> str:
    """The table as CSV text; numbers in full, so that they read back exactly. What is not known stays empty.

    Args:
        layer: its number in the model.
    """
    return _written(trace, next(one for one in trace.stacks[stack] if one.index == layer), h)


def file_name(selection: Selection) -> str:
    stack = "" if selection.stack == "self" else f"{selection.stack}-"
    return f"{models.file_stem(selection.model)}-{stack}layer{selection.layer}-head{selection.head}.csv"


def _written(trace: ac.Trace, layer: ac.LayerTrace, h: int) -> str:
    out = io.StringIO(newline="")
    lines = csv.writer(out)
    lines.writerow(COLUMNS)
    head = layer.head_weights(h)
    for i, asks in enumerate(trace.asking(layer.kind)):
        start = [layer.kind, layer.index, h, i, *_named(asks)]
        lines.writerows([*start, *cell] for cell in _cells(trace.answering(layer.kind), head, i))
        if head.sink is not None:
            lines.writerow([*start, NO_KEY, "", NO_KEY, *_stages(None, i, 0), repr(float(head.sink[i]))])
    return out.getvalue()


def _cells(answering: tuple[ac.Token, ...], head: ac.HeadWeights, i: int) -> Iterator[list[Any]]:
    steps = head if isinstance(head, ac.HeadSteps) else None
    for j, answers in enumerate(answering):
        yield [j, *_named(answers), *_stages(steps, i, j), repr(float(head.weights[i, j]))]


def _stages(steps: ac.HeadSteps | None, i: int, j: int) -> list[str]:
    if steps is None:
        return [""] * len(STAGES)
    return [repr(float(getattr(steps, stage)[i, j])) for stage in STAGES]


def _named(token: ac.Token) -> list[Any]:
    return ["" if token.id < 0 else token.id, token.text]
