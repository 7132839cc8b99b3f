"""The books: their scenes, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Callable

from ui.scenes import dish, it, lessons
from ui.scenes.kinds import Scene

_BOOKS: dict[str, Callable[[], tuple[Scene, ...]]] = {
    "dish": lambda: dish.SCENES,
    "it": lambda: it.SCENES,
    "lessons": lambda: lessons.SCENES,
}
BOOKS = tuple(_BOOKS)


def scenes(book: str) -> tuple[Scene, ...]:
    """The scenes of a book, in order."""
    return _BOOKS[book]()
