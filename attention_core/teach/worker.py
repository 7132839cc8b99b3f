"""A process that trains for somebody else: `python -m attention_core.teach.worker`.

It reads one JSON line per command from standard input, {"train": specification} or {"stop": true}, trains one run at a
time on one thread, and answers on standard output: for each frame a line {"frame": n_bytes} and the bytes (see
`frames`), and at the end {"done": true}, also after a stop, or {"failed": reason}. It ends when its input does.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
from typing import Any, BinaryIO

import torch

from attention_core.errors import AttentionError
from attention_core.teach.frames import to_bytes
from attention_core.teach.runs import RunSpec
from attention_core.teach.trainer import run

Asked = queue.Queue["tuple[dict[str, Any], threading.Event] | None"]


def main() -> None:
    """Train what is asked for, until there is nobody left to ask."""
    torch.set_num_threads(1)
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # Whatever prints must not mix with the frames.
    runs: Asked = queue.Queue()
    threading.Thread(target=_listen, args=(runs,), daemon=True).start()
    while (asked := runs.get()) is not None:
        _train(*asked, out)


def _listen(runs: Asked) -> None:
    stop = threading.Event()  # Of the run that was asked for last.
    for line in sys.stdin:
        command = json.loads(line)
        if "stop" in command:
            stop.set()
        else:
            stop = threading.Event()
            runs.put((command["train"], stop))
    stop.set()
    runs.put(None)


def _train(facts: dict[str, Any], stop: threading.Event, out: BinaryIO) -> None:
    try:
        spec = RunSpec.from_json(facts)
        frames = run(spec, stop.is_set)
        for frame in frames:
            data = to_bytes(frame)
            _send(out, {"frame": len(data)}, data)
    except AttentionError as error:
        _send(out, {"failed": str(error)})
    except Exception as error:  # Whatever it is, the one who waits must hear of it, and the next run go on.
        _send(out, {"failed": f"{type(error).__name__}: {error}"})
    else:
        _send(out, {"done": True})


def _send(out: BinaryIO, header: dict[str, Any], data: bytes = b"") -> None:
    out.write(json.dumps(header).encode() + b"\n" + data)
    out.flush()


if __name__ == "__main__":
    main()
