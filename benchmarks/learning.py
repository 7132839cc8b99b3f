"""How the Learn page does with a class: thirty readers press Train, and others go on clicking meanwhile.

    python -m benchmarks.learning

Readers are sessions without a browser (see `sessions`); what is measured is the server and its trainings on this
machine. Prints seconds and their budgets, and exits with 1 where a budget is missed.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from benchmarks.sessions import Session, fetch
from tests.running import server
from ui.frame import unpack

N_READERS = 30
N_CLICKING, N_CLICKS = 10, 20
WITHIN = 5.0  # Seconds in which all of them press Train.
THINKING = 0.5  # Seconds between two clicks of one reader.
REACHED = 0.5
BUDGETS = {"same seed": 20.0, "different seeds": 180.0, "a click beside two trainings": 1.0}


def main() -> int:
    figures = {}
    with server() as address:
        figures["same seed"] = max(pressing(address, lambda i: 1))
    with server() as address:
        figures["a click beside two trainings"] = clicking(address)
    with server() as address:
        figures["different seeds"] = max(pressing(address, lambda i: 100 + i))
    for name, seconds in figures.items():
        budget = BUDGETS[name]
        print(f"{name}: {seconds:.2f} s, budget {budget:g} s, ratio {seconds / budget:.2f}")
    return int(any(seconds > BUDGETS[name] for name, seconds in figures.items()))


def pressing(address: str, seed_of: Callable[[int], int]) -> list[float]:
    """Readers press Train one after the other; the seconds from each one's press to the pattern on their film."""
    sessions = [Session(address, "learn", f"lang=en&task=pronoun&seed={seed_of(i)}") for i in range(N_READERS)]
    for session in sessions:
        session.open()
    with ThreadPoolExecutor(N_READERS) as pool:
        times = list(pool.map(lambda i: pressed(sessions[i], WITHIN * i / N_READERS), range(N_READERS)))
    for session in sessions:
        session.close()
    queued = [place for _, place in times]
    seconds = [second for second, _ in times]
    print(
        f"{N_READERS} readers: pattern after {min(seconds):.1f}–{max(seconds):.1f} s, median "
        f"{statistics.median(seconds):.1f} s; farthest place seen in the queue {max(queued)}"
    )
    return seconds


def pressed(session: Session, wait: float) -> tuple[float, int]:
    """Press Train after a while; the seconds until the pattern was there, and the farthest place in the queue."""
    time.sleep(wait)
    start = time.perf_counter()
    session.trigger("learn", "train", True)
    run = unpack(session.components["learn"][1])[0]["runs"][0]["id"]
    first, place, farthest, seen, is_going = 0, "", 0, None, True
    while is_going:  # Also after the pattern: a reader watches to the end, and keeps the worker that long.
        header, _ = unpack(fetch(f"{session.address}/films/{run}?from={first}&place={place}"))
        is_going = header["state"] in ("queued", "running")
        place = "" if header["place"] is None else header["place"]
        farthest = max(farthest, 0 if place == "" else place + 1)
        first += len(header["frames"])
        if seen is None and any(frame["pattern"] > REACHED for frame in header["frames"]):
            seen = time.perf_counter() - start
    # A seed that ends without the pattern counts as its whole film.
    return time.perf_counter() - start if seen is None else seen, farthest


def clicking(address: str) -> float:
    """The 95th percentile of a click's seconds: ten readers choose words in Explore while two trainings run."""
    over = threading.Event()
    trainings = [threading.Thread(target=train_until, args=(address, 200 + i, over)) for i in range(2)]
    for training in trainings:
        training.start()
    sessions = [Session(address) for _ in range(N_CLICKING)]
    for session in sessions:
        session.open()
    with ThreadPoolExecutor(N_CLICKING) as pool:
        seconds = [second for each in pool.map(clicks, sessions) for second in each]
    over.set()
    for training in trainings:
        training.join()
    for session in sessions:
        session.close()
    print(f"{len(seconds)} clicks: median {statistics.median(seconds):.3f} s, slowest {max(seconds):.3f} s")
    return statistics.quantiles(seconds, n=20)[-1]


def clicks(session: Session) -> list[float]:
    seconds = []
    for i in range(N_CLICKS):
        time.sleep(THINKING)
        seconds.append(session.trigger("explore", "choice", {"token": i % 11, "key": None}))
    return seconds


def train_until(address: str, seed: int, over: threading.Event) -> None:
    """Watch trainings with one seed after another until it is over."""
    while not over.is_set():
        session = Session(address, "learn", f"lang=en&task=pronoun&seed={seed}")
        session.open()
        session.trigger("learn", "train", True)
        run = unpack(session.components["learn"][1])[0]["runs"][0]["id"]
        first, state = 0, "queued"
        while state in ("queued", "running") and not over.is_set():
            header, _ = unpack(fetch(f"{address}/films/{run}?from={first}"))
            first, state = first + len(header["frames"]), header["state"]
        session.close()
        seed += 2


if __name__ == "__main__":
    sys.exit(main())
