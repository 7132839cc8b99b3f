"""Every sentence of the app, in every language, from assets/i18n/<lang>.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ui.paths import ASSETS

LANGUAGES = {"en": "English", "zh": "中文"}
FOLDER = ASSETS / "i18n"
HAN = r"[\u4e00-\u9fff]"


@dataclass(frozen=True)
class Words:
    """The app's sentences in one language.

    Attributes:
        language: its code, "en" or "zh".
        sections: sentences by section and key.
    """

    language: str
    sections: Mapping[str, Mapping[str, str]]

    def __call__(self, address: str, **parts: object) -> str:
        """The sentence at "section.key", with {named} parts put in.

        Raises:
            KeyError: there is no such sentence, or a part of it is missing.
        """
        section, key = address.split(".")
        sentence = self.sections[section][key]
        for name in parts.keys() & {"unit", "units"}:
            sentence = with_unit(sentence, name, str(parts[name]))
        return sentence.format(**parts) if parts else sentence

    def section(self, name: str) -> Mapping[str, str]:
        """All sentences of a section, for a component that puts in the parts itself."""
        return self.sections[name]


def with_unit(sentence: str, name: str, unit: str) -> str:
    """The sentence with {name} replaced; a Latin unit ("token") stands apart from Chinese characters beside it.

    >>> with_unit("每个{unit}都在提问。", "unit", "token"), with_unit("每个{unit}都在提问。", "unit", "词")
    ('每个 token 都在提问。', '每个词都在提问。')
    """
    place = rf"\{{{name}\}}"
    if unit.isascii():
        sentence = re.sub(rf"(?<={HAN})(?={place})|(?<={place})(?={HAN})", " ", sentence)
    return sentence.replace(f"{{{name}}}", unit)


@cache
def words(language: str) -> Words:
    return Words(language, tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8")))


def language_of(locale: str | None) -> str:
    """The language for a browser's locale ("zh-CN" → "zh"); English where we have none."""
    code = (locale or "").lower().replace("_", "-").split("-")[0]
    return code if code in LANGUAGES else "en"
