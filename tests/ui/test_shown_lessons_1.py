"""Lessons 1–9: what each draws and says, and which belief it bears out, against numbers checked in tests/core."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import attention_core as ac
from tests.ui.shown import (
    ROUNDING,
    Expected,
    Tell,
    bars,
    counted,
    curve,
    figures_of,
    follows,
    matrix,
    numbered,
    numbers,
    settings,
    tokens,
)
from ui.scenes import lessons
from ui.scenes.kinds import Figures

WORDS = ["The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "tired", "."]
DISH, OTHER, LETTERS = ["[CLS]", *"晚上我们吃佛跳墙"], ["[CLS]", *"晚上我们吃火锅"], list("acfbdhacgebda")
SEEDS = [f"picture_seed {i}" for i in range(5)]
IT = 7


def _minus(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def _largest(row: np.ndarray) -> int:
    return int(np.argmax(row))


def _paid(f: Figures, width: int, steps: int) -> dict[str, object]:
    worse = sum(shared < apart for apart, shared in zip(f["apart"], f["shared"], strict=True))
    return {
        "apart": sum(f["apart"]) / 5,
        "shared": sum(f["shared"]) / 5,
        "worse": worse,
        "seeds": 5,
        "width": width,
        "steps": f"{steps:,}",
    }


def _cost(f: Figures) -> object:
    return bars("picture_cost", SEEDS, {"picture_apart": f["apart"], "picture_shared": f["shared"]})


def stored(f: Figures, replaced: str, made: str, at: int) -> Expected:
    texts, name, change = [replaced if word == "animal" else word for word in WORDS], made.upper(), f["change"]
    rows = int((abs(change) > 1e-9).any(axis=1).sum())
    kept = ac.load("pronoun").trace("it").layers[at].head(0)
    height, width = np.shape(getattr(kept, f"w_{made}"))
    assert (width, f["size"]) == (8, 12 * 8)
    changed = f"picture_numbers {(abs(change) > 1e-9).sum()} {12 * 8}"
    pictures = [
        numbers(
            "picture_changed",
            {f"picture_made {name}": changed, f"picture_kept {name}": f"picture_numbers 0 {height * 8}"},
        ),
        matrix(f"picture_change {name}", texts, counted(8), change),
        matrix(f"picture_after {name}", texts, counted(8), f["vectors"]),
    ]
    parts = {"name": name, "word": replaced, "rows": rows, "n": 12, "stored": 0, "height": height, "width": 8}
    return "verdict_kept", parts, pictures


def tied(f: Figures, what: str, at: int) -> Expected:
    texts, w, s = {"dish": DISH, "letters": LETTERS}[what], f["weights"], f["scores"]
    away = np.subtract.outer(np.arange(len(w)), np.arange(len(w)))
    seen = away >= 0 if what == "letters" else abs(away) <= (2 if at == 0 else 99)
    names = numbered(texts)
    pictures = [
        matrix("picture_weights", names, names, w, seen),
        matrix("picture_scores", names, names, s, seen),
        bars("picture_own", names, np.diag(w)),
        _cost(f),
    ]
    others = [i for i, row in enumerate(w) if _largest(row) != i]
    parts = {"uneven": ROUNDING, "weights": abs(w - w.T).max(), "away": len(others), "n": len(w)}
    parts |= _paid(f, *((24, 2000) if what == "dish" else (16, 1500)))
    if not others:
        return "verdict_self", parts, pictures
    last = others[-1]
    return "verdict_elsewhere", {**parts, "asker": texts[last], "answerer": texts[_largest(w[last])]}, pictures


def two_jobs(f: Figures, part: str, place: int, room: str) -> Expected:
    names, ways = numbered(DISH), ("picture_before", "picture_after")
    w, after, out = f["weights"], f["weights_after"], (f["output"], f["output_after"])
    head = ac.load("dish").trace("".join(DISH[1:])).layers[1].head(0)
    pictures = [
        bars("picture_weights", names, dict(zip(ways, (w, after), strict=True)), [place]),
        bars("picture_output", counted(8), dict(zip(ways, out, strict=True))),
        bars(f"picture_two {names[place]}", counted(8), {"picture_k": head.k[place], "picture_v": head.v[place]}),
        _cost(f),
    ]
    moved = abs(after - w).max()
    parts = {"word": DISH[place], "weight": w[place], "weight_after": after[place]}
    parts |= _paid(f, *((16, 1500) if room == "letters" else (24, 2000)))
    parts |= {"moved": ROUNDING if part == "v" else moved, "output": np.linalg.norm(out[1] - out[0])}
    return f"verdict_{'key' if part == 'k' else 'value'}", parts, pictures


def similarity(f: Figures, adjective: str, table: str) -> Expected:
    texts, cosines, w = [adjective if word == "tired" else word for word in WORDS], f["cosines"], f["weights"]
    pairs = {
        f"picture_{what}_{one}": _minus(f[f"both_{what}s"][i])
        for i, one in enumerate(("tired", "wide"))
        for what in ("cosine", "score")
    }
    np.testing.assert_allclose(f["both_cosines"], cosines[1])
    pictures = [
        tokens("picture_shares", texts, w, IT),
        bars("picture_cosines", texts, cosines, [1]),
        bars("picture_scores", texts, f["scaled"], [1]),
        numbers("picture_both", pairs),
    ]
    nearest, strongest = max((i for i in range(12) if i != IT), key=lambda i: cosines[i]), _largest(w)
    parts = {"nearest": texts[nearest], "nearest_cosine": cosines[nearest], "nearest_weight": w[nearest]}
    parts |= {"strongest": texts[strongest], "strongest_cosine": cosines[strongest], "strongest_weight": w[strongest]}
    parts |= {"there": f["scaled"][1], "back": f["back"]}
    return f"verdict_{'alike' if nearest == strongest else 'apart'}", parts, pictures


def all_ask(f: Figures, at: int, quiet: bool) -> Expected:
    names, n = numbered(LETTERS), len(LETTERS)
    seen = np.tri(n).astype(bool)
    if quiet:
        seen[:-1] = False
    counts = {"picture_queries": str(2 if quiet else 2 * n), "picture_probability c": f"{f['probability']:.1%}"}
    pictures = [
        numbers("picture_run", {**counts, "picture_answer": f["answer"]}),
        tokens(f"picture_row {names[at]}", LETTERS, f["weights"][at], at),
        matrix("picture_first", names, names, f["first"], seen),
        matrix("picture_second", names, names, f["weights"], seen),
    ]
    parts = {"n": n, "layers": 2, "queries": 2 * n, "letter": "c", "loud": f["loud"], "muted": f["muted"]}
    parts |= {"answer": f["answer"], "drift": ROUNDING, "at": at, "asks": LETTERS[at]}
    row = f["weights"][at]
    parts |= {"finds": LETTERS[_largest(row)], "share": float(max(row))}
    key = "all" if not quiet else "kept" if f["answer"] == "c" else "lost"
    return f"verdict_{key}", parts, pictures


def axes(f: Figures, along: str, asker: int) -> Expected:
    w = f["weights"]
    rows, columns = w.sum(axis=1), w.sum(axis=0)
    pictures = [
        tokens(f"picture_row {WORDS[asker]}", WORDS, w[asker], asker),
        matrix("picture_weights", WORDS, WORDS, w),
        bars("picture_sums", WORDS, {"picture_rows": rows, "picture_columns": columns}, [asker]),
    ]
    most, least = _largest(columns), _largest(-columns)
    parts = {"asker": WORDS[asker], "total": rows[asker], "least_row": min(rows), "most_row": max(rows)}
    parts |= {"most": WORDS[most], "most_sum": columns[most], "least": WORDS[least], "least_sum": columns[least]}
    return f"verdict_{along}", parts, pictures


def shares(f: Figures, of: str, copies: int) -> Expected:
    texts, alone, w = {"one": WORDS, "three": DISH, "none": OTHER}[of], f["alone"], f["weights"]
    top = _largest(alone)
    names = [*numbered(texts), *(f"picture_copy {texts[top]} {i}" for i in range(2, copies + 1))]
    marked = [top, *range(len(texts), len(texts) + copies - 1)]
    pictures = [bars("picture_with", names, w, marked), bars("picture_alone", numbered(texts), alone, [top])]
    parts = {"word": texts[top], "score": f["score"], "single": alone[top], "each": w[top], "copies": copies}
    parts |= {"together": w[top] * copies, "total": 1.0}
    if copies > 1 or of != "three":
        return f"verdict_{'copies' if copies > 1 else 'alone' if of == 'one' else 'none'}", parts, pictures
    name = {text: share for text, share in zip(texts, w, strict=True) if text in "佛跳墙"}
    parts |= {"name": " · ".join(f"{text} {share:.0%}" for text, share in name.items()), "all": sum(name.values())}
    return "verdict_three", parts, pictures


def scaling(f: Figures, d: int, draw: int) -> Expected:
    widths, ways = [2, 4, 8, 16, 32, 64, 128, 256], ("picture_raw", "picture_scaled")
    at = widths.index(d)
    measures = ("tops", "jacobians", "saturated", "spreads")
    lines = {name: dict(zip(ways, f[name], strict=True)) for name in measures}
    pictures = [curve(f"picture_{name}", widths, lines[name], d, "picture_width|") for name in measures]
    example = dict(zip(ways, (f["example"], f["example_scaled"]), strict=True))
    keys = [f"picture_key {i}" for i in range(1, 12)]
    parts: dict[str, object] = {"d": d, "keys": 11, "draws": 1000}
    for name, short in zip(measures, ("top", "norm", "share", "spread"), strict=True):
        parts |= {f"{short}_raw": f[name][0, at], f"{short}_scaled": f[name][1, at]}
    key = "apart" if f["tops"][0, at] - f["tops"][1, at] > 0.1 else "close"
    assert key == ("close" if d == 2 else "apart")
    return f"verdict_{key}", parts, [*pictures, bars(f"picture_example {d}", keys, example)]


def masking(f: Figures, way: str, at: int) -> Expected:
    w, names, seen = f["weights"], numbered(LETTERS), np.tri(len(LETTERS)).astype(bool)
    leaked, sums = (w * ~seen).sum(axis=1), w.sum(axis=1)
    worst = _largest(leaked)
    marked = [worst] if way == "zero" else []
    pictures = [
        matrix("picture_weights", names, names, w, None if way == "zero" else seen),
        bars("picture_rows", names, {"picture_leaked": leaked, "picture_sum": sums}, marked),
    ]
    parts = {"letter": LETTERS[worst], "place": worst, "worst": leaked[worst], "mean": sum(leaked) / len(leaked)}
    parts |= {"lowest": min(sums), "gap": ROUNDING if way in ("infinity", "again") else f["gap"]}
    key = {"zero": "leaks", "after": "short"}.get(way, "right")
    return f"verdict_{key}", parts, pictures


TOLD: dict[str, Tell] = {
    "stored": stored, "tied": tied, "two_jobs": two_jobs, "similarity": similarity, "all_ask": all_ask, "axes": axes,
    "shares": shares, "scaling": scaling, "masking": masking,
}  # fmt: skip
BORNE_OUT = {
    "stored": "vectors", "tied": "elsewhere", "two_jobs": "stay", "similarity": "score", "all_ask": "layer",
    "axes": "any", "shares": "half", "scaling": "most", "masking": "much",
}  # fmt: skip
SCENES = {scene.id: scene for scene in lessons.SCENES[:9]}


@pytest.mark.parametrize("name", list(SCENES))
def test_pictures_and_sentence_follow_every_control(name: str) -> None:
    for values in settings(SCENES[name]):
        follows(SCENES[name], values, TOLD[name])


@pytest.mark.parametrize("name", list(SCENES))
def test_what_is_borne_out_does_not_hang_on_a_control(name: str) -> None:
    for values in settings(SCENES[name]):
        assert SCENES[name].borne_out(figures_of(SCENES[name], values)) == BORNE_OUT[name], values


def test_the_branches_that_no_single_control_reaches() -> None:
    for name, names, options in (
        ("tied", ("what", "at"), [("letters", 1)]),
        ("two_jobs", ("part", "place", "room"), [("k", 1, "letters"), ("k", 6, "dish")]),
        ("shares", ("of", "copies"), itertools.product(("one", "three", "none"), (1, 4))),
        ("scaling", ("d", "draw"), [(2, 0), (8, 3)]),
        ("masking", ("way", "at"), [("infinity", 0), ("again", 0), ("after", 0)]),
        ("all_ask", ("at", "quiet"), [(3, True)]),
    ):
        for values in options:
            follows(SCENES[name], dict(zip(names, values, strict=True)), TOLD[name])
