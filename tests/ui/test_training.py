"""The queue of trainings and their processes, with workers that train nothing but behave well or badly."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from attention_core.teach.tasks import TASKS
from tests.running import ROOT
from ui import models, training
from ui.training import Glimpse, Pool, run_id

FAKE = (sys.executable, str(Path(__file__).parent / "fake_worker.py"))
LONG = {"frames": 100_000, "pause": 0.02}
PATIENCE = 60  # Seconds that a busy machine may take.


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool(n_workers=2, command=FAKE)
    yield pool
    pool.close()


def waited(is_so: Callable[[], object], watched: Pool | None = None, *names: str) -> None:
    """Wait until something is so, and keep watching these runs meanwhile."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until
        for name in names:
            assert watched is not None
            watched.watch(name)
        time.sleep(0.02)


def state(pool: Pool, name: str) -> str:
    return pool.runs[name].state


def finished(pool: Pool, name: str) -> Glimpse:
    waited(lambda: state(pool, name) not in training.ACTIVE, pool, name)
    return pool.watch(name)


def processes(pool: Pool) -> list[int]:
    return [worker.process.pid for worker in pool.workers]


def has_ended(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_a_run_is_a_film_from_its_first_frame_to_its_last(pool):
    name = pool.start({"name": "a", "frames": 4})
    film = finished(pool, name)
    assert film.state == "finished"
    assert film.frames == tuple(f"a {i}\n".encode() for i in range(4))
    assert pool.watch(name, since=3).frames == (b"a 3\n",)
    assert pool.watch(name, since=3).n_frames == 4


def test_the_same_specification_is_one_run_and_opens_at_once_when_it_has_finished(pool):
    spec = {"name": "a", "options": {"d_head": 3, "share": "qk"}}
    again = {"options": {"share": "qk", "d_head": 3}, "name": "a"}
    name = pool.start(spec)
    assert pool.start(again) == name == run_id(spec)
    film = finished(pool, name)
    assert pool.start(again) == name
    assert pool.watch(name) == film
    assert pool.start({**spec, "name": "b"}) != name


def test_runs_wait_in_the_order_in_which_they_were_asked_for(pool):
    names = [pool.start({"name": n, **LONG}) for n in ("a", "b")]
    waited(lambda: all(state(pool, name) == "running" for name in names), pool, *names)
    queued = [pool.start({"name": n, "frames": 1}) for n in ("c", "d", "e")]
    time.sleep(3 * training.TICK)
    assert [pool.watch(name).place for name in queued] == [0, 1, 2]
    assert pool.watch(names[0]).place is None
    pool.stop(names[0])
    waited(lambda: all(state(pool, name) == "finished" for name in queued), pool, names[1], *queued)
    order = [pool.runs[name].frames[0] for name in queued]
    assert order == [b"c 0\n", b"d 0\n", b"e 0\n"]
    assert state(pool, names[1]) == "running"


def test_a_run_that_nobody_watches_stops_within_two_seconds_and_frees_its_worker(pool):
    name = pool.start({"name": "a", **LONG})
    waited(lambda: pool.runs[name].frames, pool, name)
    (pid,) = processes(pool)
    left = time.monotonic()
    waited(lambda: state(pool, name) == "stopped" and list(pool.workers.values()) == [None])
    assert time.monotonic() - left <= 2
    n_frames = len(pool.runs[name].frames)
    time.sleep(0.2)
    assert len(pool.runs[name].frames) == n_frames > 0, "the film so far stays, and does not grow"
    again = pool.start({"name": "b", "frames": 1})
    assert finished(pool, again).state == "finished"
    assert processes(pool) == [pid], "the same process serves the next run"


def test_a_run_that_somebody_watches_goes_on(pool):
    name = pool.start({"name": "a", **LONG})
    until = time.monotonic() + 2 * training.UNWATCHED
    waited(lambda: time.monotonic() > until, pool, name)
    assert state(pool, name) == "running"


def test_a_stopped_run_can_be_asked_for_again(pool):
    name = pool.start({"name": "a", "frames": 60})
    waited(lambda: pool.runs[name].frames, pool, name)
    pool.stop(name)
    assert state(pool, name) == "stopped"
    assert pool.start({"name": "a", "frames": 60}) == name
    film = finished(pool, name)
    assert (film.state, film.n_frames) == ("finished", 60)


def test_a_worker_that_does_not_stop_is_ended_and_blocks_nobody(pool):
    name = pool.start({"name": "a", "is_stubborn": True, **LONG})
    waited(lambda: pool.runs[name].frames, pool, name)
    (pid,) = processes(pool)
    left = time.monotonic()
    waited(lambda: has_ended(pid))
    assert time.monotonic() - left <= 2.2
    assert finished(pool, pool.start({"name": "b"})).state == "finished"


@pytest.mark.parametrize("fault", [{"dies_after": 2}, {"is_mad": True}])
def test_a_worker_that_dies_or_talks_nonsense_fails_its_run_and_no_other(pool, fault):
    name = pool.start({"name": "a", **fault})
    assert finished(pool, name).state == "failed"
    waited(lambda: not pool.workers)
    assert finished(pool, pool.start({"name": "b"})).state == "finished"


def test_what_the_worker_refuses_is_told(pool):
    film = finished(pool, pool.start({"name": "a", "fails": "no such task", "frames": 0}))
    assert (film.state, film.reason) == ("failed", "no such task")


def test_a_command_that_cannot_run_fails_the_run():
    pool = Pool(n_workers=1, command=(sys.executable, "-c", "raise SystemExit(1)"))
    try:
        assert finished(pool, pool.start({"name": "a"})).state == "failed"
    finally:
        pool.close()


def test_prepared_workers_are_used_first_and_never_too_many(pool):
    pool.prepare(5)
    ready = processes(pool)
    assert len(ready) == 2
    name = pool.start({"name": "a", "frames": 1})
    assert finished(pool, name).state == "finished"
    assert processes(pool) == ready


def test_closing_ends_every_process(pool):
    pool.start({"name": "a", **LONG})
    pool.prepare(2)
    pids = processes(pool)
    pool.close()
    waited(lambda: all(map(has_ended, pids)))


def test_a_real_run_ends_bit_for_bit_where_the_command_line_ends(tmp_path, monkeypatch):
    task, own = TASKS["pronoun"], "The dog didn't enter the tunnel because it was too sleepy."
    options = replace(task.options, d_head=3)
    spec = replace(task.spec(seed=17, n_steps=60), options=options, own=(own,))
    pool, file = Pool(n_workers=1), tmp_path / "mine.safetensors"
    monkeypatch.setattr(training, "POOL", pool)
    try:
        film = finished(pool, pool.start(spec.to_json()))
        assert (film.state, film.reason, film.n_frames) == ("finished", "", 4)
        here = models.file_of(spec)
    finally:
        pool.close()
    asked = ["pronoun", "--seed", "17", "--d-head", "3", "--steps", "60", "--own", own, "--save", str(file)]
    subprocess.run([sys.executable, "-m", "attention_core.teach", *asked], cwd=ROOT, check=True, capture_output=True)
    assert file.read_bytes() == here


def test_more_than_will_ever_be_watched_is_refused(pool, monkeypatch):
    monkeypatch.setattr(training, "MAX_QUEUED", 2)
    monkeypatch.setattr(training, "UNWATCHED", 60)
    for n in range(2):
        pool.start({"name": f"at work {n}", **LONG})
    waited(lambda: not pool._queue())
    for n in range(2):
        pool.start({"name": f"waiting {n}"})
    with pytest.raises(training.QueueFull):
        pool.start({"name": "one too many"})
    pool.start({"name": "waiting 0"})  # It waits already.


def test_old_films_make_room_for_new_ones(pool, monkeypatch):
    monkeypatch.setattr(training, "KEPT_BYTES", 100)
    first = pool.start({"name": "a" * 40, "frames": 2})
    finished(pool, first)
    second = pool.start({"name": "b" * 40, "frames": 2})
    finished(pool, second)
    waited(lambda: first not in pool.runs)
    assert pool.watch(first) is None
    assert pool.watch(second).n_frames == 2
