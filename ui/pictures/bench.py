"""The frames of the bench and of an exercise. The browser multiplies everything itself, in float64."""

from __future__ import annotations

from typing import Any

from ui import bench
from ui.exercises import Choice
from ui.frame import pack
from ui.selection import Selection
from ui.translations import Words


def frame(state: bench.Bench, origin: str | None, selection: Selection, words: Words) -> bytes:
    """What lies on the bench; `origin` names what laid it there (a message of the browser, a file), if anything."""
    header = {
        "strings": words.section("bench"),
        "projector": selection.is_projected,
        "state": bench.as_data(state),
        "origin": origin,
        "presets": [_preset(name, ready, words) for name, ready in bench.presets().items()],
        "limits": bench.LIMITS,
        "sizes": {"n": bench.TOKENS, "d": bench.DIMS},
        "max_seed": bench.MAX_SEED,
    }
    return pack(header, {})


def _preset(name: str, ready: bench.Bench, words: Words) -> dict[str, Any]:
    label, about = words(f"bench.preset_{name}"), words(f"bench.about_{name}")
    return {"name": name, "label": label, "about": about, "state": bench.as_data(ready)}


def exercise_frame(choice: Choice, verdict: dict[str, Any] | None, selection: Selection, words: Words) -> bytes:
    """What is given in an exercise, and what is to be said of the stage that was sent for checking, if one was."""
    made = choice.exercise()
    header = {
        "strings": words.section("exercise"),
        "projector": selection.is_projected,
        "exercise": choice.code,
        "stages": made.stages,
        "asker": made.asker,
        "masked": made.is_masked,
        "verdict": verdict,
    }
    steps = made.steps
    return pack(header, {"q": steps.q, "k": steps.k, "v": steps.v, "allowed": steps.allowed})
