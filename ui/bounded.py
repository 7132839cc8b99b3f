"""A cache bounded by bytes: what was used longest ago goes first, and two who want one thing make it once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Bounded(Generic[Key, Value]):
    """Values by key, at most `limit` bytes of them; the newest one stays, however large.

    Attributes:
        limit: bytes; size: how many a value takes.
    """

    def __init__(self, limit: int, size: Callable[[Value], int]) -> None:
        self.limit, self.size = limit, size
        self._kept: OrderedDict[Key, Value] = OrderedDict()
        self._making: dict[Key, Future[Value]] = {}
        self._lock = Lock()

    def peek(self, key: Key) -> Value | None:
        """The value, if it is kept; it counts as used."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def __contains__(self, key: Key) -> bool:
        with self._lock:
            return key in self._kept

    def put(self, key: Key, value: Value) -> None:
        """Keep the value; the oldest ones go where there is no room."""
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            held = sum(map(self.size, self._kept.values()))
            while held > self.limit and len(self._kept) > 1:
                held -= self.size(self._kept.popitem(last=False)[1])

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value, made now unless it is kept or somebody else is making it: then what that gives, or raises."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            started = self._making.get(key)
            mine = Future[Value]() if started is None else None
            if mine is not None:
                self._making[key] = mine
        if mine is None:
            assert started is not None
            return started.result()
        return self._made(key, make, mine)

    def drop(self, wanted: Callable[[Key], bool]) -> None:
        """Forget every value whose key is wanted gone."""
        with self._lock:
            for key in [key for key in self._kept if wanted(key)]:
                del self._kept[key]

    def _made(self, key: Key, make: Callable[[], Value], promise: Future[Value]) -> Value:
        try:
            value = make()
            self.put(key, value)
            promise.set_result(value)
        except BaseException as error:
            promise.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._making[key]
        return value
