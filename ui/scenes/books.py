"""The books: their scenes, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Callable

from ui.scenes import dish
from ui.scenes.kinds import Scene

_BOOKS: dict[str, Callable[[], tuple[Scene, ...]]] = {"dish": lambda: dish.SCENES}
BOOKS = tuple(_BOOKS)


def scenes(book: str) -> tuple[Scene, ...]:
    """The scenes of a book, in order."""
    return _BOOKS[book]()
