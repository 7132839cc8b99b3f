"""What a scene shows, read back: its pictures with their labels, and the numbers that are written in its sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ui.scenes.kinds import Control, Figures, Picture, Scene
from ui.scenes.texts import Texts

SENTENCES = ("他跳过围墙去吃佛跳墙", "晚上我们吃火锅")
ROUNDING = "a number that is nothing but rounding"
Expected = tuple[str, Mapping[str, object], Sequence["Drawn | None"]]
Drawn = tuple[str, str, object]
Tell = Callable[..., Expected]


class Keys(Texts):
    """Texts by their keys, with the parts that are put into them: "picture_seed 3"."""

    def __init__(self) -> None:
        super().__init__("en", {})

    def __call__(self, key: str, **parts: object) -> str:
        return " ".join(map(str, (key, *parts.values())))


def others(control: Control) -> list[Any]:
    """Two values of the control other than its default."""
    match control.kind:
        case "switch":
            return [not control.default]
        case "seed":
            return [control.default + 1, control.default + 17]
        case "text":
            return [sentence for sentence in SENTENCES if sentence != control.default][:2]
    return [option for option in control.options if option != control.default][-2:]


def settings(scene: Scene) -> Iterator[dict[str, Any]]:
    """All controls as they stand first, then one of them moved to two other values."""
    yield scene.defaults()
    for control in scene.controls:
        yield from ({**scene.defaults(), control.name: value} for value in others(control))


def figures_of(scene: Scene, values: Mapping[str, Any]) -> Figures:
    """The scene's numbers, computed once for all tests."""
    return _computed(scene.compute, tuple(values.items()))


@cache
def _computed(compute: Callable[..., Figures], values: tuple[tuple[str, Any], ...]) -> Figures:
    return compute(**dict(values))


def follows(scene: Scene, values: Mapping[str, Any], tell: Tell) -> None:
    """That sentence and pictures say what `tell` makes of the numbers: key and parts of the sentence, pictures."""
    figures = figures_of(scene, values)
    key, parts, pictures = tell(figures, **values)
    found, said = scene.verdict(figures)
    assert found == key, values
    assert set(said) == set(parts)
    for name, wanted in parts.items():
        assert is_written(said[name], wanted), (values, name, said[name], wanted)
    drawn = scene.pictures(figures, Keys())
    assert len(drawn) == len(pictures)
    for picture, wanted in zip(drawn, pictures, strict=True):
        if wanted is not None:
            same(picture, wanted)


def is_written(text: object, wanted: object) -> bool:
    """Whether that text is the word or whole number that is wanted, or the number within half of its last digit."""
    if isinstance(wanted, (str, int, bool)) and wanted is not ROUNDING:
        return str(text) == str(wanted)
    value, step = read(str(text))
    return abs(value) < 1e-9 if wanted is ROUNDING else abs(value - float(wanted)) <= 0.5001 * step  # type: ignore[arg-type]


def read(text: str) -> tuple[float, float]:
    """A number as it is written, and one unit of its last digit."""
    plain = text.replace("−", "-").replace(",", "").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    found = re.fullmatch(r"([+-]?\d+)(?:\.(\d+))?(?:e| · 10)?(-?\+?\d+)?(%?)", plain)
    assert found, text
    whole, decimals, power, percent = found.groups()
    factor = 10.0 ** int(power or 0) / (100 if percent else 1)
    return float(f"{whole}.{decimals or 0}") * factor, 10.0 ** -len(decimals or "") * factor


def same(picture: Picture, wanted: Drawn) -> None:
    kind, label, payload = wanted
    assert (picture.kind, picture.label) == (kind, label)
    found = _READ[kind](picture.facts, picture.arrays)
    assert _names(found) == _names(payload), label
    for one, other in zip(_leaves(found), _leaves(payload), strict=True):
        if isinstance(other, str):
            assert one == other, (label, one, other)
        else:
            np.testing.assert_allclose(
                np.asarray(one, dtype=float), np.asarray(other, dtype=float), atol=1e-9, rtol=0, err_msg=label
            )


def bars(label: str, rows: Sequence[str], series: object, marked: Sequence[int] = ()) -> Drawn:
    """Rows of bars, `series` by name (or values alone), and the places that are marked."""
    named = series if isinstance(series, dict) else {"": series}
    return "bars", label, {"rows": "|".join(map(str, rows)), "marked": _places(marked), **named}


def matrix(label: str, rows: Sequence[str], columns: Sequence[str], values: object, allowed: object = None) -> Drawn:
    named = {"rows": "|".join(map(str, rows)), "columns": "|".join(map(str, columns))}
    return "matrix", label, {**named, "values": values, **({} if allowed is None else {"allowed": allowed})}


def tokens(label: str, texts: Sequence[str], weights: object, asker: int) -> Drawn:
    return "tokens", label, {"texts": "|".join(texts), "weights": weights, "from": asker}


def plane(label: str, arrows: Mapping[str, object], points: Mapping[str, object], axes: str = "1|2") -> Drawn:
    return "plane", label, {"arrows": dict(arrows), "points": dict(points), "axes": axes}


def curve(label: str, x: object, lines: Mapping[str, object], marked: float, axes: str) -> Drawn:
    return "curve", label, {"x": x, "marked": marked, "axes": axes, **lines}


def numbers(label: str, items: Mapping[str, str]) -> Drawn:
    return "numbers", label, dict(items)


def flow(label: str, boxes: Mapping[str, str]) -> Drawn:
    """A chain of boxes: label and detail of each."""
    return "flow", label, dict(boxes)


def numbered(texts: Sequence[str]) -> list[str]:
    """Each text, with its place where it comes more than once."""
    return [f"{text}·{i}" if list(texts).count(text) > 1 else text for i, text in enumerate(texts)]


def counted(n: int) -> list[str]:
    return [str(i) for i in range(1, n + 1)]


def _read_bars(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> dict:
    names = facts["series"] or [""]
    values = [arrays["values" if i == 0 else f"values{i + 1}"] for i in range(len(names))]
    assert len(arrays) == len(names)
    marked = _places(facts.get("marked", ()))
    return {"rows": "|".join(facts["labels"]), "marked": marked, **dict(zip(names, values, strict=True))}


def _places(marked: Sequence[int]) -> str:
    return " ".join(str(int(place)) for place in marked)


def _read_matrix(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> dict:
    named = {name: "|".join(facts[name]) for name in ("rows", "columns")}
    assert arrays["values"].shape == (len(facts["rows"]), len(facts["columns"]))
    return {**named, **arrays}


def _read_plane(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> dict:
    named = {
        f"{what}s": dict(zip(facts[f"{what}_labels"], arrays.get(f"{what}s", ()), strict=True))
        for what in ("arrow", "point")
    }
    return {**named, "axes": _axes(facts)}


def _read_curve(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> dict:
    lines = dict(zip(facts["lines"], arrays["y"], strict=True))
    return {"x": arrays["x"], "marked": facts["marked"], "axes": _axes(facts), **lines}


def _axes(facts: Mapping[str, Any]) -> str:
    return f"{facts['x_label']}|{facts['y_label']}"


_READ: dict[str, Callable[[Mapping[str, Any], Mapping[str, np.ndarray]], dict]] = {
    "bars": _read_bars,
    "matrix": _read_matrix,
    "plane": _read_plane,
    "curve": _read_curve,
    "tokens": lambda facts, arrays: {
        "texts": "|".join(facts["tokens"]),
        "weights": arrays["weights"],
        "from": facts["from"],
    },
    "numbers": lambda facts, arrays: {item["label"]: item["value"] for item in facts["items"]},
    "flow": lambda facts, arrays: {step["label"]: step["detail"] for step in facts["steps"]},
}


def _names(what: object) -> object:
    return [(name, _names(each)) for name, each in what.items()] if isinstance(what, dict) else None


def _leaves(what: object) -> list[object]:
    return [leaf for each in what.values() for leaf in _leaves(each)] if isinstance(what, dict) else [what]
