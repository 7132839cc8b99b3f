"""A lecture and a lab sheet as data: which scene or page each step opens, how it is set, and how long it takes.

Titles, tasks, questions and answers are in assets/texts/classroom.<language>.toml, a section "<sheet>_<step>" each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from ui.addresses import Selection
from ui.scenes import books
from ui.scenes.kinds import Scene, written

TIRED = "The animal didn't cross the street because it was too tired."


@dataclass(frozen=True)
class Step:
    """One step of a lecture or lab.

    Attributes:
        id: its name in the texts; minutes: how long; page: which page of the app it opens.
        scene: which scene of that page, or None; fields: controls of the scene by name, or fields of the address.
        figures: where there is no scene, the interview question whose numbers belong to the answer, or None.
    """

    id: str
    minutes: int
    page: str
    scene: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    figures: str | None = None


LECTURE = (
    Step("open", 3, "explore", fields={"model": "pronoun-open", "text": TIRED}, figures="roles"),
    Step("advert", 4, "it", "advert"),
    Step("asking", 6, "dish", "asking"),
    Step("adding", 4, "dish", "adding"),
    Step("stages", 6, "it", "stages"),
    Step("multiply", 4, "steps", fields={"model": "pronoun", "text": TIRED}),
    Step("jobs", 3, "dish", "jobs"),
    Step("scaling", 5, "lessons", "scaling"),
    Step("several", 4, "dish", "several"),
    Step("explanation", 4, "lessons", "explanation"),
    Step("close", 2, "it", "final"),
)
LAB = (
    Step("arrive", 5, "explore", fields={"model": "pronoun-open", "text": TIRED}, figures="roles"),
    Step("hand", 20, "bench", fields={"part": "exercise", "exercise": "1-all-4"}),
    Step("words", 8, "it", "words"),
    Step("note", 10, "it", "note", {"which": "single"}),
    Step("order", 8, "lessons", "order"),
    Step(
        "board", 12, "whatif", fields={"model": "pronoun-open", "text": TIRED, "edits": "c0-0-7-10"}, figures="context"
    ),
    Step("cut", 10, "lessons", "explanation", {"rank": 2}),
    Step("train", 12, "learn", fields={"task": "induction", "versus": "qk"}, figures="tied"),
    Step("claim", 5, "dish", "cost"),
)
SHEETS = {"lecture": LECTURE, "lab": LAB}


def scene_of(step: Step) -> Scene | None:
    """The scene that a step opens."""
    if step.scene is None:
        return None
    return next(scene for scene in books.scenes(step.page) if scene.id == step.scene)


def values(step: Step) -> dict[str, Any]:
    """What the scene's controls say in this step."""
    scene = scene_of(step)
    return {**({} if scene is None else scene.defaults()), **step.fields}


def address(step: Step, selected: Selection) -> str:
    """The step's address, from where the app stands: "dish?lang=en&scene=asking"."""
    scene = {} if step.scene is None else {"scene": step.scene}
    return page_address(step.page, selected, {**scene, **step.fields})


def page_address(page: str, selected: Selection, fields: Mapping[str, Any]) -> str:
    projector = {"projector": 1} if selected.is_projected else {}
    said = {name: written(value) for name, value in {"lang": selected.lang, **fields, **projector}.items()}
    return f"{page}?{urlencode(said)}"
