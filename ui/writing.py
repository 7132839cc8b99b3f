"""Writings on this server, one for each reader: a thread writes, whoever looks at the desk sees what is new.

While a model writes, the rows of the head that is looked at come from the very steps that choose. Once it rests, one
full pass over all that was read is checked, and every head's rows come from there.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import attention_core as ac
from attention_core import generating
from attention_core.writing import Writing
from ui import models, shelf
from ui.bounded import Bounded
from ui.caches import NotLoaded

PACE = 0.16  # Seconds from one token to the next at least, so that an eye can follow.
UNWATCHED = 2.5  # Seconds without a look after which a reader counts as gone.
AT_ONCE = 2  # Real models that compute a token at the same time.
MOST = 400  # Tokens of one writing.
N_KEPT = 256  # Readers.
ROOM = 256 * 2**20  # Bytes of traces.

ACTIVE = ("waiting", "reading", "writing", "checking")
Head = tuple[int, int]
Work = Callable[..., None]


@dataclass(frozen=True)
class Order:
    """What is written with. temperature: None takes the likeliest token."""

    model: str
    prompt: str
    temperature: float | None
    seed: int

    @property
    def drawn(self) -> dict[str, Any]:
        return {"temperature": self.temperature, "seed": self.seed}


@dataclass(frozen=True, eq=False)
class Row:
    """What one token gave to those before it and to itself; sink: and to no token, where the model has such a place."""

    weights: np.ndarray
    sink: float | None


@dataclass
class Desk:
    """One reader's writing.

    Attributes:
        order: as chosen on the page; job: counts what was ordered, so that an older job knows that it is over.
        state: one of `ACTIVE`, "resting" or "failed"; error: why.
        writing: what stands there, or None before the prompt is read; next: what could come after the prompt.
        head: (layer, head) that is looked at; rows: its rows so far.
        edition: counts the times that something written was taken back; version: counts every change.
        seen: when somebody last looked (monotonic seconds).
    """

    order: Order
    head: Head
    job: int = 0
    state: str = "resting"
    error: ac.AttentionError | None = None
    writing: Writing | None = None
    next: ac.Choice | None = None
    rows: tuple[Row, ...] = ()
    edition: int = 0
    version: int = 0
    seen: float = field(default_factory=time.monotonic)


class Room:
    """Desks by reader, and the threads that write at them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.desks: OrderedDict[str, Desk] = OrderedDict()
        self.traces: Bounded[tuple[str, Writing], ac.Trace] = Bounded(ROOM, lambda trace: trace.n_bytes)
        self.computing = threading.BoundedSemaphore(AT_ONCE)

    def seat(self, reader: str, order: Order, head: Head) -> None:
        """What this reader writes with from now on. Another model or prompt begins anew; all else goes on."""
        with self.lock:
            desk = self.desks.get(reader)
            if desk is None:
                desk = self.desks[reader] = Desk(order, head)
                while len(self.desks) > N_KEPT:
                    self.desks.popitem(last=False)[1].job += 1
                self._anew(desk)
                return
            before, desk.order = desk.order, order
            self.desks.move_to_end(reader)
            is_begun = desk.writing is not None and bool(desk.writing.choices)
            if (before.model, before.prompt) != (order.model, order.prompt) or (before != order and not is_begun):
                self._anew(desk)

    def look(self, reader: str, head: Head) -> tuple[Desk, ac.Trace | None] | None:
        """The desk as it is now, with the rows of this head, and the full pass of it, if there is one; None where the
        reader has no desk."""
        with self._at(reader) as desk:
            if desk is None:
                return None
            trace = None if desk.writing is None else self.traces.peek((desk.order.model, desk.writing))
            if desk.state == "resting" and trace is None and desk.writing is not None:  # Forgotten meanwhile.
                self._start(desk, self._check)
            if desk.head != head:
                desk.head, desk.rows = head, () if trace is None else rows_of(trace, head)
                desk.version += 1
            return replace(desk), trace if desk.state == "resting" else None

    def version(self, reader: str) -> int | None:
        """Counts the changes of the reader's desk."""
        desk = self.desks.get(reader)
        return None if desk is None else desk.version

    def write(self, reader: str, n: int) -> None:
        """Write up to `n` tokens more."""
        with self._at(reader) as desk:
            if desk is not None and desk.writing is not None and desk.state == "resting":
                self._start(desk, self._write, min(n, MOST - len(desk.writing.tokens)))

    def stop(self, reader: str) -> None:
        """Stop writing; the token that is under way does not come any more."""
        with self._at(reader) as desk:
            if desk is not None and desk.writing is not None and desk.state in ("waiting", "writing"):
                self._start(desk, self._check)

    def restart(self, reader: str) -> None:
        """Back to the prompt."""
        with self._at(reader) as desk:
            if desk is not None:
                self._anew(desk)

    def instead(self, reader: str, place: int, identity: int) -> None:
        """Take another candidate for written token number `place`, or for the one to come."""
        with self._at(reader) as desk:
            if desk is not None and desk.writing is not None and desk.state != "failed":
                self._start(desk, self._instead, place, identity)

    def close(self) -> None:
        """End every job."""
        with self.lock:
            for desk in self.desks.values():
                desk.job += 1

    @contextmanager
    def _at(self, reader: str) -> Iterator[Desk | None]:
        with self.lock:
            desk = self.desks.get(reader)
            if desk is not None:
                desk.seen = time.monotonic()  # An order is a sign of life.
            yield desk

    def _anew(self, desk: Desk) -> None:
        desk.writing, desk.next, desk.rows = None, None, ()
        desk.edition += 1
        self._start(desk, self._read)

    def _start(self, desk: Desk, work: Work, *asked: Any) -> None:
        desk.job, desk.state, desk.error, desk.version = desk.job + 1, "waiting", None, desk.version + 1
        given = (desk, desk.job, work, asked)
        threading.Thread(target=self._do, args=given, name="writing", daemon=True).start()

    def _do(self, desk: Desk, job: int, work: Work, asked: tuple[Any, ...]) -> None:
        try:
            work(desk, job, *asked)
        except ac.AttentionError as error:
            self._tell(desk, job, state="failed", error=error)
        except LookupError:  # An order for what is no longer there.
            self._tell(desk, job, state="resting")
        except Exception as error:  # Whatever a stranger's model does, the reader gets a sentence.
            told = ac.UnsupportedModel(f"it does not write: {type(error).__name__}: {error}")
            self._tell(desk, job, state="failed", error=told)

    def _tell(self, desk: Desk, job: int, **changes: Any) -> bool:
        """Put what is new on the desk; False where this job is over."""
        with self.lock:
            if desk.job != job:
                return False
            for name, value in changes.items():
                setattr(desk, name, value)
            desk.version += 1
            return True

    def _read(self, desk: Desk, job: int) -> None:
        """The prompt: its rows, and what could come after it."""
        if not self._tell(desk, job, state="reading"):
            return
        order = desk.order
        with self._turn(order.model):
            pen = generating.pen_of(model_of(order.model))
            writing = pen.open(order.prompt)
            choice = generating.choose(pen, pen.read(writing.ids), len(writing.tokens), **order.drawn)
        if self._tell(desk, job, writing=writing, next=choice):
            self._check(desk, job)

    def _write(self, desk: Desk, job: int, n: int) -> None:
        writing = desk.writing
        if writing is None or not self._tell(desk, job, state="writing"):
            return
        began = time.monotonic()
        for step in self._steps(desk.order, writing, n):
            time.sleep(max(0.0, PACE - (time.monotonic() - began)))
            began = time.monotonic()
            with self.lock:
                rows = more_rows(desk.rows, step.layers, desk.head, len(step.ids) - 1)
                if not self._tell(desk, job, writing=step.writing, rows=rows):
                    return
            if began - desk.seen > UNWATCHED:
                break
        self._check(desk, job)

    def _steps(self, order: Order, writing: Writing, n: int) -> Iterator[ac.Written]:
        steps = generating.generate(model_of(order.model), writing, n, **order.drawn)
        while True:
            with self._turn(order.model):  # For one token at a time, so that others can write meanwhile.
                step = next(steps, None)
            if step is None:
                return
            yield step

    def _instead(self, desk: Desk, job: int, place: int, identity: int) -> None:
        writing, coming = desk.writing, desk.next
        if writing is None or coming is None:
            return
        choice = coming if place == 0 else writing.choices[place]
        with self._turn(desk.order.model):
            pen = generating.pen_of(model_of(desk.order.model))
            pen.open(writing.prompt)
            changed = generating.take(pen, generating.cut(pen, writing, place), choice.of(identity))
        if self._tell(desk, job, writing=changed, edition=desk.edition + 1, rows=()):
            self._check(desk, job)

    def _check(self, desk: Desk, job: int) -> None:
        """One full pass over all that was read; then the writing rests."""
        writing, model = desk.writing, desk.order.model
        if writing is None or not self._tell(desk, job, state="checking"):
            return
        self.traces.drop(lambda kept: models.is_real(kept[0]) and not shelf.has(kept[0]))
        with self._turn(model):
            trace = self.traces.get((model, writing), lambda: model_of(model).trace_written(writing))
        with self.lock:
            self._tell(desk, job, rows=rows_of(trace, desk.head), state="resting")

    def _turn(self, model: str) -> AbstractContextManager[Any]:
        return self.computing if models.is_real(model) else nullcontext()


def rows_of(trace: ac.Trace, head: Head) -> tuple[Row, ...]:
    """The rows of one head; none where the model has no such head."""
    return more_rows((), trace.layers, head, len(trace.tokens))


def more_rows(rows: tuple[Row, ...], layers: tuple[ac.LayerTrace, ...], head: Head, n: int) -> tuple[Row, ...]:
    """The rows with those of `layers`, which end with row n − 1; as they are where rows between would be missing."""
    layer = next((layer for layer in layers if layer.index == head[0]), None)
    if layer is None or not head[1] < layer.n_heads:
        return rows
    new = layer.head_weights(head[1])
    first, hidden = n - len(new.weights), n - new.weights.shape[1]  # Keys left behind by a sliding window hold nothing.
    if first > len(rows):
        return rows
    sinks = [None] * len(new.weights) if new.sink is None else new.sink.tolist()
    weights = (np.pad(row, (hidden, 0))[: first + i + 1].copy() for i, row in enumerate(new.weights))
    return (*rows[:first], *(Row(row, sink) for row, sink in zip(weights, sinks, strict=True)))


def model_of(name: str) -> Any:
    """The model, if it can be had at once.

    Raises:
        NotLoaded: a real one that is not on the shelf; UnknownModel: there is none.
    """
    if not models.is_real(name):
        return models.load(name)
    found = shelf.ready(name)
    if found is None:
        raise NotLoaded(name)
    return found


DESKS = Room()  # The writings of this server.
