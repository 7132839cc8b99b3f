"""What a scene is made of: things to move, numbers that follow, pictures of them, and a sentence that reads them.

A scene is data and three functions, so that a page, a test and a printed handout can each use it: the numbers come from
`compute` alone, the sentence from the numbers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ui.scenes.texts import Texts

Values = Mapping[str, Any]  # Of the controls, by name.
Figures = Mapping[str, Any]  # Numbers and arrays, by name.
Verdict = tuple[str, Mapping[str, object]]  # The text's key, and what is put into it.


@dataclass(frozen=True)
class Control:
    """Something that a reader can move.

    Attributes:
        name: its key in texts (the label), in addresses and among the arguments of `compute`.
        kind: "switch", "slider" (one of `options`, in order), "choice" (one of `options`, by the text
            "<name>_<option>"), "text" or "seed" (a whole number, with a button for the next one).
        default: where it stands first; options: where it can stand.
    """

    name: str
    kind: str
    default: Any
    options: tuple[Any, ...] = ()

    def read(self, text: str) -> Any:
        """The value that an address names.

        Raises:
            ValueError: no such value.
        """
        if self.kind == "text":
            return text[:MOST]
        if self.kind == "seed":
            return _whole(text)
        known = {written(value): value for value in ((False, True) if self.kind == "switch" else self.options)}
        if text not in known:
            raise ValueError(text)
        return known[text]


@dataclass(frozen=True)
class Picture:
    """One picture of a scene.

    Attributes:
        kind: "bars", "matrix", "plane", "tokens", "curve", "flow" or "numbers", see assets/components/scene.
        label: what stands above it; facts: what its kind needs besides arrays; arrays: its numbers by name.
    """

    kind: str
    label: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Scene:
    """One scene of a story, or one lesson.

    Attributes:
        id: its name in addresses and its section in the texts.
        compute: the numbers, from the values of the controls, by keyword.
        pictures: the numbers drawn, with labels from the texts.
        verdict: what the numbers say: a key "verdict_…" of the texts, with what is put into it.
        controls: what can be moved.
        options: for a lesson, what may be predicted, each with a text "option_<name>"; borne_out: which of them the
            numbers bear out.
        links: pages of the app to go on to: page name and fields of its address, with a text "link_<page>".
    """

    id: str
    compute: Callable[..., Figures]
    pictures: Callable[[Figures, Texts], Sequence[Picture]]
    verdict: Callable[[Figures], Verdict]
    controls: tuple[Control, ...] = ()
    options: tuple[str, ...] = ()
    borne_out: Callable[[Figures], str] | None = None
    links: tuple[tuple[str, Mapping[str, str]], ...] = ()

    def defaults(self) -> dict[str, Any]:
        return {control.name: control.default for control in self.controls}


MOST = 400  # Characters of a text that a reader types into a scene.
MAX_SEED = 1_000_000


def written(value: Any) -> str:
    """A control's value as an address has it."""
    if isinstance(value, bool):
        return str(int(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _whole(text: str) -> int:
    number = int(text)
    if not 0 <= number <= MAX_SEED:
        raise ValueError(text)
    return number
