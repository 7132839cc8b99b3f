"""The films of the trainings, frame by frame, for the Learn picture: GET /films/{name}?from=K&place=P.

An answer holds the frames from number K on, or says after a short while that there are none yet: so a browser asks
again at once, without a timer (they sleep in tabs that nobody sees), and its open question is the sign that it watches.
Whoever waits in the queue says which place it knows (P), and is answered when that changes.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from attention_core.teach.frames import from_bytes
from attention_core.teach.runs import Frame
from ui import training
from ui.frame import pack
from ui.pictures.learn import matrix_names
from ui.training import ACTIVE, Glimpse

HELD = 0.5  # Seconds that a question stays open when there is nothing new.
HELD_IN_QUEUE = 3.0  # The same for a run that waits: a class that waits must not keep the cores from those that train.
PACE = 0.2  # Seconds from one answer to the next while a training runs.
LOOK, LOOK_IN_QUEUE = 0.05, 0.2  # Seconds between looks at the pool.
MOST = 40  # Frames in one answer.
GONE = Glimpse("gone")


async def film(request: Request) -> Response:
    """One answer: the state of a run and the frames that are new to the one who asks."""
    since = _whole(request.query_params.get("from", ""))
    glimpse = await _news(request, request.path_params["name"], since, request.query_params.get("place", ""))
    # Weights hardly compress: no time is spent on trying.
    headers = {"Cache-Control": "no-store", "Content-Encoding": "identity"}
    return Response(answer(glimpse, since), media_type="application/octet-stream", headers=headers)


def answer(glimpse: Glimpse, first: int) -> bytes:
    """The answer as a frame of the picture: facts in the header, weights and matrices as arrays."""
    frames = [decoded(data) for data in glimpse.frames[:MOST]]
    header = {
        "state": glimpse.state,
        "place": glimpse.place,
        "ahead": glimpse.place or 0,
        "reason": glimpse.reason,
        "n_frames": glimpse.n_frames,
        "first": first,
        "frames": [_facts(frame) for frame in frames],
    }
    arrays: dict[str, np.ndarray] = {}
    for i, frame in enumerate(frames):
        arrays |= _arrays(i, frame)
    return pack(header, arrays)


@lru_cache(maxsize=1024)
def decoded(data: bytes) -> Frame:
    """The frame as a value; many readers ask for the same ones."""
    return from_bytes(data)


async def _news(request: Request, name: str, since: int, place: str) -> Glimpse:
    asked = time.monotonic()
    while True:
        glimpse = training.POOL.watch(name, since) or GONE
        waited = time.monotonic() - asked
        is_waiting = glimpse.state == "queued" and place == str(glimpse.place)
        is_new = (bool(glimpse.frames) and (waited >= PACE or since == 0)) or glimpse.n_frames < since
        is_new |= glimpse.state == "queued" and not is_waiting
        held = HELD_IN_QUEUE if is_waiting else HELD
        if glimpse.state not in ACTIVE or is_new or waited >= held or await request.is_disconnected():
            return glimpse
        await asyncio.sleep(LOOK_IN_QUEUE if is_waiting else LOOK)


def _facts(frame: Frame) -> Mapping[str, Any]:
    figures = {"loss": frame.loss, "held_out": frame.held_out, "pattern": frame.pattern}
    return {"step": frame.step} | {name: _finite(value) for name, value in figures.items()}


def _finite(value: float | None) -> float | None:
    # A training that blows up has no loss to show; JSON knows neither NaN nor ∞.
    return value if value is not None and math.isfinite(value) else None


def _arrays(i: int, frame: Frame) -> dict[str, np.ndarray]:
    weights = {
        f"weights.{i}.{s}.{layer}": np.nan_to_num(each.reshape(-1, each.shape[-1]))
        for s, looks in enumerate(frame.looks)
        for layer, each in enumerate(looks)
    }
    names = matrix_names(len(frame.looks[0]), len(frame.looks[0][0]))
    heads = [name.rpartition(".") for name in names]
    matrices = (frame.matrices[name][int(head)] for name, _, head in heads)
    return weights | {f"matrix.{i}.{m}": np.nan_to_num(matrix) for m, matrix in enumerate(matrices)}


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 7 else 0
