"""Where a reader stands in the stories and lessons: the scene, what its controls say, what was predicted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from ui import selection
from ui.addresses import MAX_ADDRESS
from ui.scenes import books
from ui.scenes.kinds import Control, Scene, written

SKIPPED = "skipped"  # The reader asked to see the numbers without a prediction.
_PREDICTIONS = "_predictions"


def scene(book: str) -> Scene:
    """The scene of that book that is shown; at first the one that the address names."""
    scenes = books.scenes(book)
    key = f"_scene_{book}"
    if selection.peek(key) is None:
        asked = selection.asked("scene")
        known = [each.id for each in scenes]
        if asked is not None and asked not in known:
            selection.note("scene", asked)
        selection.mark(key, asked if asked in known else known[0])
        _read_controls(book, next(each for each in scenes if each.id == selection.peek(key)))
    return next(each for each in scenes if each.id == selection.peek(key))


def turn_to(book: str, scene_id: str) -> None:
    selection.mark(f"_scene_{book}", scene_id)


def control_key(book: str, scene_id: str, name: str) -> str:
    """The name of a control's widget."""
    return f"{book}-{scene_id}-{name}"


def values(book: str, shown: Scene) -> dict[str, Any]:
    """What the scene's controls say; where none was moved, what they say at first."""
    found = {}
    for control in shown.controls:
        key = control_key(book, shown.id, control.name)
        if selection.peek(key) is None:
            selection.mark(key, control.default)
        found[control.name] = selection.peek(key)
    return found


def reset(book: str, shown: Scene) -> None:
    """Every control of the scene as it stood first."""
    for control in shown.controls:
        selection.mark(control_key(book, shown.id, control.name), control.default)


def address(book: str) -> tuple[str, bool]:
    """The query string that opens this scene as it stands, and whether all of it fits into a link."""
    shown, now = scene(book), selection.current()
    fields: dict[str, object] = {"lang": now.lang, "scene": shown.id}
    if now.is_projected:
        fields["projector"] = 1
    stands = values(book, shown)
    moved = {one.name: written(stands[one.name]) for one in shown.controls if stands[one.name] != one.default}
    whole = urlencode({**fields, **moved}, errors="replace")
    return (whole, True) if len(whole) <= MAX_ADDRESS else (urlencode(fields), False)


def predict(book: str, scene_id: str, option: str) -> None:
    """Keep what the reader expects, for this visit."""
    selection.mark(_PREDICTIONS, {**predictions(), f"{book}.{scene_id}": option})


def prediction(book: str, scene_id: str) -> str | None:
    """What the reader expected of that lesson, `SKIPPED`, or None where nothing was said yet."""
    return predictions().get(f"{book}.{scene_id}")


def predictions() -> Mapping[str, str]:
    """Everything that was predicted, by "book.scene"."""
    return selection.peek(_PREDICTIONS) or {}


def saved() -> bytes:
    """The predictions as a file."""
    return json.dumps({"attention-seen": 1, "predictions": dict(predictions())}, indent=1).encode()


def load(data: bytes) -> bool:
    """Take the predictions of a file that `saved` made; whether it was one. What no lesson offers is left out."""
    try:
        given = json.loads(data.decode("utf-8"))["predictions"].items()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
    known = {f"{book}.{each.id}": each.options for book in books.BOOKS for each in books.scenes(book)}
    kept = {name: option for name, option in given if option in (*known.get(name, ()), *([SKIPPED] * (name in known)))}
    selection.mark(_PREDICTIONS, {**predictions(), **kept})
    return True


def _read_controls(book: str, shown: Scene) -> None:
    for control in shown.controls:
        value = _asked(control)
        selection.mark(control_key(book, shown.id, control.name), control.default if value is None else value)


def _asked(control: Control) -> Any:
    text = selection.asked(control.name)
    if text is None:
        return None
    try:
        return control.read(text)
    except ValueError:
        selection.note("control", f"{control.name}={text}")
        return None
