"""Trainings beside the server: a few worker processes, a queue, and the films that they leave.

A run is named by what it trains (its specification), so readers who ask for the same run watch the same one. A run goes on
while somebody watches: asking for its frames is the sign. When nobody has asked for a while it stops and frees its worker.
The server itself never loads torch; the workers do.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ui.paths import ROOT

COMMAND = (sys.executable, "-m", "attention_core.teach.worker")
UNWATCHED = 1.6  # Seconds without a request for frames after which a run counts as left.
TICK = 0.1  # Seconds between looks at the queue.
KEPT_BYTES = 256 * 2**20  # Films kept in memory; the least recently watched go first.
MAX_QUEUED = 200
IDLE = 300  # Seconds after which a worker without work is let go.

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
    """What a watcher gets: the run's state, its place in the queue (0: next), the frames that are new to it."""

    state: str
    place: int | None
    reason: str
    frames: Sequence[bytes]


def run_id(spec: Spec) -> str:
    """The same for the same specification, whoever asks."""
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:20]


class Worker:
    """A process that trains one run at a time.

    It reads one JSON line per command ({"train": spec} or {"stop": true}) and writes messages: a line with a JSON header
    ({"frame": n_bytes}, {"done": true} or {"failed": reason}), then the bytes of a frame.
    """

    def __init__(self, command: Sequence[str]) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.run: Run | None = None
        self.idle_since = time.monotonic()

    def tell(self, **command: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        self.process.stdin.flush()

    def read(self) -> tuple[dict[str, Any], bytes] | None:
        """The next message, or None when the process has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            return None
        header = json.loads(line)
        return header, self.process.stdout.read(header.get("frame", 0))

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=10)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


class Pool:
    """Runs by id, a queue in order of asking, at most `n_workers` of them training."""

    def __init__(self, n_workers: int | None = None, command: Sequence[str] = COMMAND) -> None:
        self.n_workers = n_workers or os.cpu_count() or 1
        self.command = command
        self.runs: OrderedDict[str, Run] = OrderedDict()
        self.workers: list[Worker] = []
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
            if self.clock is None:
                self.clock = threading.Thread(target=self._tick_for_ever, name="trainings", daemon=True)
                self.clock.start()
        return name

    def watch(self, name: str, since: int = 0) -> Glimpse | None:
        """The frames of a run from number `since` on; None for a run that is not (or no longer) here."""
        with self.lock:
            run = self.runs.get(name)
            if run is None:
                return None
            run.seen = time.monotonic()
            queue = self._queue()
            place = queue.index(run) if run in queue else None
            return Glimpse(run.state, place, run.reason, tuple(run.frames[since:]))

    def stop(self, name: str) -> None:
        """End a run now; its film so far stays."""
        with self.lock:
            run = self.runs.get(name)
            if run is not None and run.state in ("queued", "running"):
                self._leave(run)

    def close(self) -> None:
        """End every worker."""
        self.closed.set()
        if self.clock is not None:
            self.clock.join()
        with self.lock:
            for worker in self.workers:
                worker.end()
            self.workers.clear()

    def _queue(self) -> list[Run]:
        return [run for run in self.runs.values() if run.state == "queued"]

    def _tick_for_ever(self) -> None:
        while not self.closed.wait(TICK):
            with self.lock:
                self._tick()

    def _tick(self) -> None:
        now = time.monotonic()
        for run in self.runs.values():
            if run.state in ("queued", "running") and now - run.seen > UNWATCHED:
                self._leave(run)
        for run in self._queue():
            worker = self._free_worker()
            if worker is None:
                break
            run.state, worker.run = "running", run
            worker.tell(train=dict(run.spec))
        for worker in [w for w in self.workers if w.run is None and now - w.idle_since > IDLE]:
            self.workers.remove(worker)
            worker.end()
        self._forget()

    def _leave(self, run: Run) -> None:
        run.state = "stopped"
        for worker in self.workers:
            if worker.run is run:
                worker.tell(stop=True)

    def _free_worker(self) -> Worker | None:
        free = next((worker for worker in self.workers if worker.run is None), None)
        if free is None and len(self.workers) < self.n_workers:
            free = Worker(self.command)
            self.workers.append(free)
            threading.Thread(target=self._listen, args=(free,), name="training", daemon=True).start()
        return free

    def _listen(self, worker: Worker) -> None:
        while (message := worker.read()) is not None:
            header, frame = message
            with self.lock:
                self._heard(worker, header, frame)
        with self.lock:
            if worker in self.workers:
                self.workers.remove(worker)
            if worker.run is not None and worker.run.state == "running":
                worker.run.state, worker.run.reason = "failed", "the training process ended"

    def _heard(self, worker: Worker, header: Mapping[str, Any], frame: bytes) -> None:
        run = worker.run
        if run is None:
            return
        if "frame" in header:
            if run.state == "running":
                run.frames.append(frame)
            return
        if run.state == "running":
            run.state, run.reason = ("failed", header["failed"]) if "failed" in header else ("finished", "")
        worker.run, worker.idle_since = None, time.monotonic()

    def _forget(self) -> None:
        finished = sorted((r for r in self.runs.values() if r.state not in ("queued", "running")), key=lambda r: r.seen)
        total = sum(run.n_bytes for run in self.runs.values())
        for run in finished:
            if total <= KEPT_BYTES:
                break
            total -= run.n_bytes
            del self.runs[run.id]
