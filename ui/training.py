"""Trainings beside the server: a few worker processes, a queue, and the films that they leave.

A run is named by what it trains (its specification), so readers who ask for the same run watch the same one. A run goes
on while somebody watches: asking for its frames is the sign. When nobody has asked for a while it stops and frees its
worker. The server itself never loads torch; the workers do, and they give way to the server where both want a core.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ui.workers import COMMAND, Worker

UNWATCHED = 1.2  # Seconds without anybody asking for frames after which a run counts as left.
STUBBORN = 0.6  # Seconds that a worker may take to stop before its process is ended.
TICK = 0.05  # Seconds between looks at the queue.
KEPT_BYTES = 256 * 2**20  # Films kept in memory; the least recently watched go first.
MAX_QUEUED = 200
IDLE = 300  # Seconds after which a worker without work is let go.

ACTIVE = ("queued", "running")

Spec = Mapping[str, Any]


class QueueFull(Exception):
    """More runs are waiting than will ever be watched."""


@dataclass
class Run:
    """One training and its film so far.

    Attributes:
        id: names the specification; spec: what is trained.
        state: "queued", "running", "finished", "stopped" (nobody watched) or "failed".
        frames: the film, each frame as the worker sent it; reason: why it failed.
        seen: when somebody last asked for its frames (monotonic seconds).
    """

    id: str
    spec: Spec
    state: str = "queued"
    frames: list[bytes] = field(default_factory=list)
    reason: str = ""
    seen: float = field(default_factory=time.monotonic)

    @property
    def n_bytes(self) -> int:
        return sum(map(len, self.frames))


@dataclass(frozen=True)
class Glimpse:
    """What a watcher gets: the run's state, its place in the queue (0: next), the frames that are new to it, and
    how many there are in all."""

    state: str
    place: int | None = None
    reason: str = ""
    frames: Sequence[bytes] = ()
    n_frames: int = 0


def run_id(spec: Spec) -> str:
    """The same for the same specification, whoever asks."""
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:20]


class Pool:
    """Runs by id, a queue in order of asking, at most `n_workers` of them training."""

    def __init__(self, n_workers: int | None = None, command: Sequence[str] = COMMAND) -> None:
        self.n_workers = n_workers or os.cpu_count() or 1
        self.command = command
        self.runs: OrderedDict[str, Run] = OrderedDict()
        self.workers: dict[Worker, Run | None] = {}  # Each with the run that it has, or None.
        self.lock = threading.RLock()
        self.closed = threading.Event()
        self.clock: threading.Thread | None = None

    def start(self, spec: Spec) -> str:
        """Ask for a run; one that is there already (waiting, training or finished) is shared.

        Raises:
            QueueFull: too many are waiting.
        """
        name = run_id(spec)
        with self.lock:
            run = self.runs.get(name)
            if run is None or run.state in ("stopped", "failed"):
                if len(self._queue()) >= MAX_QUEUED:
                    raise QueueFull
                run = self.runs[name] = Run(name, spec)
                self.runs.move_to_end(name)
            run.seen = time.monotonic()
            self._start_clock()
        return name

    def prepare(self, n: int = 1) -> None:
        """Have this many workers standing by, as far as there are any more to be had: loading torch takes a while."""
        with self.lock, suppress(OSError):
            self._start_clock()
            for _ in range(0 if self.closed.is_set() else min(n, self.n_workers) - len(self.workers)):
                self._new_worker()

    def watch(self, name: str, since: int = 0) -> Glimpse | None:
        """The frames of a run from number `since` on; None for a run that is not (or no longer) here."""
        with self.lock:
            run = self.runs.get(name)
            if run is None:
                return None
            run.seen = time.monotonic()
            queue = self._queue()
            place = queue.index(run) if run in queue else None
            return Glimpse(run.state, place, run.reason, tuple(run.frames[since:]), len(run.frames))

    def stop(self, name: str) -> None:
        """End a run now; its film so far stays."""
        with self.lock:
            run = self.runs.get(name)
            if run is not None and run.state in ACTIVE:
                self._leave(run)

    def close(self) -> None:
        """End every worker, for good."""
        self.closed.set()
        if self.clock is not None:
            self.clock.join()
        with self.lock:
            for worker in self.workers:
                worker.end()
            self.workers.clear()

    def _start_clock(self) -> None:
        if self.clock is None and not self.closed.is_set():
            self.clock = threading.Thread(target=self._tick_for_ever, name="trainings", daemon=True)
            self.clock.start()

    def _queue(self) -> list[Run]:
        return [run for run in self.runs.values() if run.state == "queued"]

    def _tick_for_ever(self) -> None:
        while not self.closed.wait(TICK):
            with self.lock, suppress(OSError):  # No room for a process now: the next tick tries again.
                self._tick()

    def _tick(self) -> None:
        now = time.monotonic()
        for run in list(self.runs.values()):
            if run.state in ACTIVE and now - run.seen > UNWATCHED:
                self._leave(run)
        for worker, has in list(self.workers.items()):
            is_stubborn = worker.told_to_stop is not None and now - worker.told_to_stop > STUBBORN
            if is_stubborn or (has is None and now - worker.idle_since > IDLE):
                self._let_go(worker)
        for run in self._queue():
            free = self._free_worker()
            if free is None:
                break
            run.state, self.workers[free] = "running", run
            free.train(run.spec)
        self._forget()

    def _leave(self, run: Run) -> None:
        run.state = "stopped"
        for worker, its in self.workers.items():
            if its is run:
                worker.stop()

    def _let_go(self, worker: Worker) -> None:
        run = self.workers.pop(worker, None)
        worker.end()
        if run is not None and run.state == "running":
            run.state = "failed"

    def _free_worker(self) -> Worker | None:
        free = next((worker for worker, run in self.workers.items() if run is None), None)
        if free is None and len(self.workers) < self.n_workers:
            free = self._new_worker()
        return free

    def _new_worker(self) -> Worker:
        worker = Worker(self.command)
        self.workers[worker] = None
        threading.Thread(target=self._listen, args=(worker,), name="training", daemon=True).start()
        return worker

    def _listen(self, worker: Worker) -> None:
        while (message := worker.read()) is not None:
            with self.lock:
                self._heard(worker, *message)
        with self.lock:
            self._let_go(worker)
        worker.hang_up()

    def _heard(self, worker: Worker, header: Mapping[str, Any], frame: bytes) -> None:
        run = self.workers.get(worker)
        if run is None:
            return
        if "frame" in header:
            if run.state == "running":
                run.frames.append(frame)
            return
        if run.state == "running":
            run.state, run.reason = ("failed", header["failed"]) if "failed" in header else ("finished", "")
        self.workers[worker] = None
        worker.rest()

    def _forget(self) -> None:
        finished = sorted((r for r in self.runs.values() if r.state not in ACTIVE), key=lambda r: r.seen)
        total = sum(run.n_bytes for run in self.runs.values())
        for run in finished:
            if total <= KEPT_BYTES:
                break
            total -= run.n_bytes
            del self.runs[run.id]


POOL = Pool()  # The trainings of this server.
