"""The cache that is bounded by bytes."""

from __future__ import annotations

import threading

import pytest

from ui.bounded import Bounded


def test_what_was_used_longest_ago_goes_first() -> None:
    cache = Bounded[str, str](7, len)
    cache.put("a", "xxx")
    cache.put("b", "xxx")
    assert cache.peek("a") == "xxx"
    cache.put("c", "xx")
    assert (cache.peek("a"), cache.peek("b"), cache.peek("c")) == ("xxx", None, "xx")


def test_one_that_is_larger_than_the_room_is_kept_alone() -> None:
    cache = Bounded[str, str](3, len)
    cache.put("a", "xx")
    cache.put("b", "xxxxx")
    assert ("a" in cache, cache.peek("b")) == (False, "xxxxx")


def test_asking_whether_it_is_there_is_no_use() -> None:
    cache = Bounded[str, str](6, len)
    cache.put("a", "xxx")
    cache.put("b", "xxx")
    assert "a" in cache
    cache.put("c", "xxx")
    assert "a" not in cache


def test_two_who_want_one_thing_make_it_once() -> None:
    cache = Bounded[str, str](99, len)
    is_started, may_end, made, got = threading.Event(), threading.Event(), [], []

    def make() -> str:
        made.append(1)
        is_started.set()
        may_end.wait(10)
        return "done"

    threads = [threading.Thread(target=lambda: got.append(cache.get("a", make))) for _ in range(3)]
    threads[0].start()
    is_started.wait(10)
    for thread in threads[1:]:
        thread.start()
    may_end.set()
    for thread in threads:
        thread.join(10)
    assert (made, got) == ([1], ["done"] * 3)


def test_a_failure_reaches_all_who_wait_and_is_not_kept() -> None:
    cache = Bounded[str, str](99, len)

    def fail() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.get("a", fail)
    assert cache.get("a", lambda: "now") == "now"


def test_what_is_dropped_is_gone() -> None:
    cache = Bounded[str, str](99, len)
    cache.put("a1", "x")
    cache.put("b1", "y")
    cache.drop(lambda key: key.startswith("a"))
    assert (cache.peek("a1"), cache.peek("b1")) == (None, "y")
