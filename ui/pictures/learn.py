"""The frame of the Learn picture: which runs there are, and whose attention their films show (see ui/films.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention_core.teach.runs import Options, RunSpec
from attention_core.teach.tasks import TASKS, Scene, Task
from attention_core.words import SPLITTERS
from ui import lessons
from ui.frame import pack
from ui.selection import Selection
from ui.translations import Words

FILMS = "films"  # Their address, from the page's.


@dataclass(frozen=True)
class Side:
    """One of the runs on the page.

    Attributes:
        spec: what is trained; id: of the run, None where nobody has asked for it yet; state: of the run, "" likewise.
        reaches: in how many of how many seeds such runs reach the pattern, None where that was not measured.
        why: why it did not reach it, "" where it did or has not ended.
    """

    spec: RunSpec
    id: str | None
    state: str
    reaches: tuple[int, int] | None
    why: str


def frame(sides: Sequence[Side], selection: Selection, words: Words) -> bytes:
    task = TASKS[sides[0].spec.task]
    header = {
        "strings": words.section("learn"),
        "projector": selection.is_projected,
        "language": selection.lang,
        "films": FILMS,
        "runs": [_run(side, words) for side in sides],
        "steps": max(side.spec.n_steps for side in sides),
        "sentences": [_scene(task, scene) for scene in task.scenes],
        "pattern_label": task.pattern_label[words.language],
        "held_out_label": task.held_out_label[words.language],
    }
    masks: dict[str, np.ndarray] = {}
    for k, side in enumerate(sides):
        masks |= {f"allowed.{k}.{place}": seen for place, seen in _masks(task, side.spec.options).items()}
    return pack(header, masks)


def _run(side: Side, words: Words) -> dict[str, Any]:
    return {
        "id": side.id,
        "state": side.state,
        "title": lessons.title(side.spec, words),
        "reaches": reaches(side, words),
        "why": side.why,
        "matrices": matrix_names(side.spec.options.n_layers, side.spec.options.n_heads),
    }


def reaches(side: Side, words: Words) -> str:
    if side.reaches is None:
        return words("lesson.reaches_unknown")
    return words("lesson.reaches", k=side.reaches[0], n=side.reaches[1])


def matrix_names(n_layers: int, n_heads: int) -> list[str]:
    """The matrices of a film, in its order, one for each head: "layers.0.w_q.1" is head 1's."""
    return [f"layers.{layer}.w_{part}.{head}" for layer in range(n_layers) for head in range(n_heads) for part in "qkv"]


def _scene(task: Task, scene: Scene) -> dict[str, Any]:
    tokens = [*task.prefix, *(scene.text[start:end] for start, end in SPLITTERS[task.tokenizer](scene.text))]
    return {"tokens": [{"shown": token} for token in tokens], "asker": scene.asker, "wanted": list(scene.wanted)}


def _masks(task: Task, options: Options) -> dict[str, np.ndarray]:
    """By scene and layer, which keys each query may see; none where it may see all."""
    found = {}
    for s, scene in enumerate(task.scenes):
        n = len(task.encode(scene.text))
        away = np.arange(n)[:, None] - np.arange(n)
        for layer in range(options.n_layers):
            window = options.window(layer)
            seen = np.full((n, n), True) if window is None else np.abs(away) <= window
            seen = seen & (away >= 0) if options.causal else seen
            if not seen.all():
                found[f"{s}.{layer}"] = seen
    return found
