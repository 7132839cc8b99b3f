"""The pictures that the scenes of 佛跳墙 are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention_core.stories import dish
from ui.scenes.kinds import Picture
from ui.scenes.texts import Texts

SENTENCE = "晚上我们吃佛跳墙"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def numbered(texts: Sequence[str]) -> list[str]:
    """Texts that can be told apart: one that comes again carries the place where it stands."""
    return [text if list(texts).count(text) == 1 else f"{text}·{i}" for i, text in enumerate(texts)]


def bars(label: str, labels: Sequence[str], series: dict[str, np.ndarray], **facts: Any) -> Picture:
    """A row per label, a bar per series; a single nameless series is called ""."""
    names = [name for name in series if name]
    arrays = {"values" if i == 0 else f"values{i + 1}": values for i, values in enumerate(series.values())}
    return Picture("bars", label, {"labels": list(labels), "series": names, "digits": 2, **facts}, arrays)


def shares(label: str, labels: Sequence[str], series: dict[str, np.ndarray], top: float | None = 1.0) -> Picture:
    """Bars of percentages."""
    return bars(label, labels, series, top=top, digits=4, isShare=True, concept="output")


def matrix(label: str, rows: Sequence[str], columns: Sequence[str], values: np.ndarray, **facts: Any) -> Picture:
    """A matrix; `allowed` and `hidden` may come with it."""
    arrays: dict[str, np.ndarray] = {name: facts.pop(name) for name in ("allowed", "hidden") if name in facts}
    given = {"rows": list(rows), "columns": list(columns), "scale": "weights", "digits": 2, **facts}
    return Picture("matrix", label, given, {"values": values, **arrays})


def tokens(label: str, texts: Sequence[str], weights: np.ndarray, asker: int) -> Picture:
    return Picture("tokens", label, {"tokens": list(texts), "from": asker}, {"weights": weights})


def numbers(label: str, items: Sequence[tuple[str, str]]) -> Picture:
    """Large figures: what they are, and how they read."""
    return Picture("numbers", label, {"items": [{"label": name, "value": value} for name, value in items]})


def flow(label: str, steps: Sequence[tuple[str, str, str]]) -> Picture:
    """A chain of boxes: label, detail and concept ("" for none) of each."""
    boxes = [{"label": name, "detail": detail, "concept": concept or None} for name, detail, concept in steps]
    return Picture("flow", label, {"steps": boxes})


def plane(
    label: str,
    arrows: dict[str, Sequence[float]],
    points: dict[str, Sequence[float]],
    concepts: Sequence[str],
    axes: Any,
) -> Picture:
    """Named arrows and points; concepts: one for each arrow, and the last for all points; axes: their two names."""
    facts = {
        "arrow_labels": list(arrows),
        "arrow_concepts": list(concepts[: len(arrows)]),
        "point_labels": list(points),
        "point_concepts": [concepts[-1]] * len(points),
        "x_label": axes[0],
        "y_label": axes[1],
    }
    found = {"arrows": np.array(list(arrows.values())), "points": np.array(list(points.values()))}
    return Picture("plane", label, facts, {name: array for name, array in found.items() if array.size})


def curve(label: str, x: np.ndarray, lines: dict[str, np.ndarray], marked: float, axes: tuple[str, str]) -> Picture:
    facts = {"lines": list(lines), "x_label": axes[0], "y_label": axes[1], "marked": marked}
    return Picture("curve", label, facts, {"x": x, "y": np.stack(list(lines.values()))})


def named(texts: Sequence[str]) -> list[int]:
    """The places of 佛, 跳 and 墙."""
    return [i for i, text in enumerate(texts) if text in dish.NAME]


def answer(said: Texts, yes: float) -> str:
    """ "yes" or "no", with its probability."""
    return said("picture_yes" if yes > 0.5 else "picture_no", p=percent(max(yes, 1 - yes)))


def percent(share: float) -> str:
    """One decimal, or two near 0 and 1, so that what is not all does not read as all."""
    return f"{share:.2%}" if 0 < share < 0.01 or 0.99 < share < 1 else f"{share:.1%}"


def number(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def tiny(value: float) -> str:
    """A rounding error: 0, or 4 · 10⁻¹⁶."""
    if value == 0:
        return "0"
    factor, power = f"{value:.0e}".split("e")
    return f"{factor} · 10{str(int(power)).translate(RAISED)}"
