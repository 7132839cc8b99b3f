"""What the Write picture asks for: GET /writings/{reader} says what is new, POST /writings/{reader} says what to do.

An answer comes as soon as there is something new, or after a short while without: so the browser asks again without a
timer (they sleep in tabs that nobody sees), and its open question is the sign that somebody watches. A reader's name is
a secret of their session: nobody else can ask or order.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

import attention_core as ac
from attention_core.writing import agreement
from ui import models, notes, translations, writers
from ui.frame import pack
from ui.pictures import parts
from ui.translations import LANGUAGES, Words
from ui.writing import DESKS, Desk, Row

HELD = 1.0  # Seconds that a question stays open when there is nothing new.
LOOK = 0.02  # Seconds between looks at the desk.
LARGEST = 10_000_000
QUIET = {"Cache-Control": "no-store"}


async def writing(request: Request) -> Response:
    """A question or an order."""
    reader = request.path_params["reader"]
    if request.method == "POST":
        order(reader, request.query_params)
        return Response(status_code=204, headers=QUIET)
    await _news(request, reader)
    return Response(answer(reader, request.query_params), media_type="application/octet-stream", headers=QUIET)


def order(reader: str, asked: Mapping[str, str]) -> None:
    """Do what is asked: write, stop, restart, or take another candidate instead."""
    match asked.get("do"):
        case "write":
            DESKS.write(reader, max(1, _whole(asked, "n")))
        case "stop":
            DESKS.stop(reader)
        case "restart":
            DESKS.restart(reader)
        case "instead":
            DESKS.instead(reader, _whole(asked, "place"), _whole(asked, "id"))


def answer(reader: str, asked: Mapping[str, str]) -> bytes:
    """The desk as a frame of the picture. What the one who asks has already, by edition and head, is left out."""
    head = _whole(asked, "layer"), _whole(asked, "head")
    seen = DESKS.look(reader, head)
    if seen is None:
        return pack({"state": "gone"}, {})
    desk, trace = seen
    words = translations.words(asked.get("lang", "") if asked.get("lang") in LANGUAGES else next(iter(LANGUAGES)))
    n_choices = 0 if desk.writing is None else len(desk.writing.choices)
    edition, kind = str(desk.edition), f"{desk.edition} {head} {trace is not None}"
    first_choice = min(_whole(asked, "choices"), n_choices) if asked.get("edition") == edition else 0
    first_row = min(_whole(asked, "rows"), len(desk.rows)) if asked.get("kind") == kind else 0
    header = {
        "state": desk.state,
        "version": desk.version,
        "edition": edition,
        "kind": kind,
        "model": desk.order.model,
        "error": None if desk.error is None else _sentence(desk, words),
        **_written(desk, first_choice),
        "first_row": first_row,
        "n_rows": len(desk.rows),
        "check": None if trace is None else _check(desk, trace, words),
    }
    return pack(header, _arrays(desk.rows, first_row))


async def _news(request: Request, reader: str) -> None:
    known, asked = request.query_params.get("version", ""), time.monotonic()
    DESKS.look(reader, (_whole(request.query_params, "layer"), _whole(request.query_params, "head")))
    while str(DESKS.version(reader)) == known and time.monotonic() - asked < HELD:
        if await request.is_disconnected():
            return
        await asyncio.sleep(LOOK)


def _written(desk: Desk, first_choice: int) -> dict[str, Any]:
    writing = desk.writing
    if writing is None:
        return {"tokens": [], "n_prompt": 0, "end": None, "first_choice": 0, "choices": [], "next": None}
    return {
        "tokens": parts.listed(writing.tokens),
        "n_prompt": writing.n_prompt,
        "end": writing.end,
        "first_choice": first_choice,
        "choices": [_choice(choice) for choice in writing.choices[first_choice:]],
        "next": None if desk.next is None else _choice(desk.next),
    }


def _choice(choice: ac.Choice) -> dict[str, Any]:
    return {"chosen": _candidate(choice.chosen), "candidates": [_candidate(one) for one in choice.candidates]}


def _candidate(one: ac.Candidate) -> dict[str, Any]:
    shown = one.shown.removeprefix("\u2068").removesuffix("\u2069")  # The browser isolates each word itself.
    return {"id": one.id, "shown": shown, "probability": one.probability, "chance": one.chance, "rank": one.rank}


def _check(desk: Desk, trace: ac.Trace, words: Words) -> dict[str, Any]:
    checked = parts.check_sentence(trace, words)
    if desk.writing is None or not desk.writing.choices:
        return checked
    same = words("write.check", difference=parts.scientific(agreement(trace, desk.writing)))
    return {**checked, "sentence": f"{same} {checked['sentence']}"}


def _sentence(desk: Desk, words: Words) -> str:
    if desk.error is None:
        return ""
    try:
        tokenizer = models.card(desk.order.model).details["tokenizer"]
    except ac.UnknownModel:
        tokenizer = writers.COUNTED
    return notes.sentence_of(desk.error, words, tokenizer).replace("`", "")  # Plain text, not Markdown.


def _arrays(rows: tuple[Row, ...], first: int) -> dict[str, np.ndarray]:
    """(row, key) the rows from `first` on, filled up with zeros, and (row,) what each gave to no token, if any did."""
    if first == len(rows):
        return {}
    weights = np.zeros((len(rows) - first, len(rows)), dtype=rows[0].weights.dtype)
    for i, row in enumerate(rows[first:]):
        weights[i, : len(row.weights)] = row.weights
    sinks = [row.sink for row in rows[first:]]
    return {"rows": weights} | ({} if None in sinks else {"no_key": np.array(sinks)})


def _whole(asked: Mapping[str, str], name: str) -> int:
    text = asked.get(name, "")
    return min(int(text), LARGEST) if text.isdecimal() and len(text) < 10 else 0
