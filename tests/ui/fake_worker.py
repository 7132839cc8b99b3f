"""A worker that trains nothing: it sends as many frames as its specification asks for, at the pace that it asks for.

A specification may also ask it to ignore a stop, to die after some frames, or to talk nonsense.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time


def main() -> None:
    stop, work = threading.Event(), []
    there = threading.Semaphore(0)

    def listen() -> None:
        for line in sys.stdin:
            command = json.loads(line)
            if "stop" in command:
                stop.set()
            else:
                work.append(command["train"])
                there.release()
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        there.acquire()
        stop.clear()
        train(work.pop(0), stop)


def train(spec: dict, stop: threading.Event) -> None:
    for i in range(spec.get("frames", 5)):
        if stop.is_set() and not spec.get("is_stubborn"):
            break
        if spec.get("dies_after") == i:
            os._exit(3)
        if spec.get("is_mad"):
            print("hello?", flush=True)
            time.sleep(60)
        data = f"{spec['name']} {i}\n".encode()  # With a line break, which must not end a message.
        sys.stdout.buffer.write(json.dumps({"frame": len(data)}).encode() + b"\n" + data)
        sys.stdout.buffer.flush()
        time.sleep(spec.get("pause", 0.02))
    print(json.dumps({"failed": spec["fails"]} if "fails" in spec else {"done": True}), flush=True)


main()
