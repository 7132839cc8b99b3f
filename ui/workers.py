"""A process that trains beside the server, and how the two speak.

It runs `attention_core.teach.worker`: one JSON line per command goes in, {"train": spec} or {"stop": true}; messages
come out, each a line with a JSON header ({"frame": n_bytes}, {"done": true} or {"failed": reason}), then the bytes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ui.paths import ROOT

COMMAND = (sys.executable, "-m", "attention_core.teach.worker")
POLITE = 5  # How far the workers stand back behind the server (nice).


class Worker:
    """A process that trains one run at a time.

    Attributes:
        idle_since: when it last had nothing to do; told_to_stop: when it was told to, or None (monotonic seconds).
    """

    def __init__(self, command: Sequence[str]) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        os.setpriority(os.PRIO_PROCESS, self.process.pid, POLITE)
        self.idle_since = time.monotonic()
        self.told_to_stop: float | None = None

    def train(self, spec: Mapping[str, Any]) -> None:
        self.told_to_stop = None
        self._tell(train=dict(spec))

    def stop(self) -> None:
        self.told_to_stop = time.monotonic()
        self._tell(stop=True)

    def rest(self) -> None:
        """Its run has ended: it is free for another."""
        self.told_to_stop, self.idle_since = None, time.monotonic()

    def read(self) -> tuple[dict[str, Any], bytes] | None:
        """The next message, or None when the process has ended or says what nobody understands."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        try:
            header = json.loads(line)
            length = int(header.get("frame", 0))
        except (ValueError, AttributeError):
            return None
        data = self.process.stdout.read(length)
        return (header, data) if len(data) == length else None

    def end(self) -> None:
        """End the process at once: it holds nothing that would have to be saved."""
        self.process.kill()
        self.process.wait()

    def hang_up(self) -> None:
        """Close the pipes, once nobody reads from them."""
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _tell(self, **command: object) -> None:
        assert self.process.stdin is not None
        with suppress(OSError, ValueError):  # That a process has ended is found out by whoever reads from it.
            self.process.stdin.write(json.dumps(command).encode() + b"\n")
            self.process.stdin.flush()
