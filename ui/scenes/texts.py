"""The sentences of the stories and lessons, from assets/texts/<book>.<language>.toml, a section for each scene."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ui.paths import ASSETS

FOLDER = ASSETS / "texts"


@dataclass(frozen=True)
class Texts:
    """One scene's texts in one language.

    Attributes:
        language: its code; texts: by key.
    """

    language: str
    texts: Mapping[str, str]

    def __call__(self, key: str, **parts: object) -> str:
        """The text of that key, with {named} parts put in.

        Raises:
            KeyError: there is no such text, or a part of it is missing.
        """
        return self.texts[key].format(**parts) if parts else self.texts[key]

    def get(self, key: str) -> str | None:
        """The text of that key, or None."""
        return self.texts.get(key)


def of_scene(book: str, scene: str, language: str) -> Texts:
    return Texts(language, book_texts(book, language)[scene])


@cache
def book_texts(book: str, language: str) -> Mapping[str, Mapping[str, str]]:
    """All texts of a book, by scene."""
    return tomllib.loads((FOLDER / f"{book}.{language}.toml").read_text(encoding="utf-8"))
