"""The story of 佛跳墙: what each scene draws and says, against the numbers that are checked in tests/core."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.ui.shown import (
    ROUNDING,
    Expected,
    Tell,
    bars,
    counted,
    curve,
    flow,
    follows,
    matrix,
    numbered,
    plane,
    settings,
    tokens,
)
from ui.scenes import dish
from ui.scenes.kinds import Figures

NAME = "佛跳墙"


def _softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(logits) / np.exp(logits).sum()


def _named(texts: list[str]) -> list[int]:
    return [i for i, text in enumerate(texts) if text in NAME]


def cooking(f: Figures, sentence: str) -> Expected:
    texts, w = ["[CLS]", *sentence], f["weights"]
    best = sorted(range(len(w)), key=lambda i: -w[i])[:3]
    sure = f"{'picture_yes' if f['yes'] > 0.5 else 'picture_no'}"
    p = max(f["yes"], 1 - f["yes"])
    pictures = [
        flow(
            "picture_kitchen", {f"picture_{one}": f"picture_{one}_what" for one in ("market", "basket", "pot", "table")}
        ),
        flow(
            "picture_model",
            {
                "picture_sentence": f"picture_characters {len(sentence)}",
                "picture_found": " · ".join(f"{texts[i]} {w[i]:.0%}" for i in best),
                "picture_sum": "picture_width 8",
                "picture_answer": f"{sure} {p:.2%}" if p > 0.99 else f"{sure} {p:.1%}",
            },
        ),
        tokens("picture_shares", texts, w, 0),
    ]
    parts = {"found": " · ".join(texts[i] for i in best), "share": sum(w[i] for i in best), "p": p}
    return ("verdict_yes" if f["yes"] > 0.5 else "verdict_no"), parts, pictures


def asking(f: Figures, sentence: str, equal: bool) -> Expected:
    texts, w, near = ["[CLS]", *sentence], f["weights"], f["by_distance"]
    whole = "three" if set(NAME) <= set(sentence) else "missing"
    pictures = [
        tokens("picture_shares", texts, w, 0),
        bars("picture_two_ways", numbered(texts), {"picture_dot": w, "picture_distance": near}, _named(texts)),
        plane(
            "picture_plane",
            {"picture_q": f["asker"][0]},
            dict(zip(numbered(texts), f["points"], strict=True)),
            "picture_along|picture_across",
        ),
    ]
    parts = {
        "share": sum((share for share, text in zip(w, texts, strict=True) if text in NAME), 0.0),
        "strongest": texts[int(np.argmax(w))],
        "nearest": texts[int(np.argmax(near))],
        "gap": max(abs(w - near)),
        "short": min(f["lengths"]),
        "long": max(f["lengths"]),
    }
    return f"verdict_{whole}_{'equal' if equal else 'apart'}", parts, pictures


def adding(f: Figures, sentence: str, k: int, threshold: float, temperature: float) -> Expected:
    texts, ways = ["[CLS]", *sentence], ["picture_weighted", "picture_top", "picture_above", "picture_cold"]
    w, cold, results = f["shares"][0], f["shares"][3], f["results"]
    apart = [math.dist(row, results[0]) for row in results]
    second, first = np.sort(cold)[-2:]
    pushed = texts[sorted(range(len(w)), key=lambda i: -w[i])[min(k, len(w)) - 1]]
    pictures = [
        matrix("picture_shares", numbered(texts), ways, f["shares"].T),
        matrix("picture_results", ways, counted(8), results),
        bars("picture_apart", ways[1:], apart[1:]),
        curve(
            f"picture_step {pushed}",
            np.linspace(-4, 4, 129),
            {"picture_soft": f["soft"], "picture_hard": f["hard"]},
            0,
            "picture_push|picture_share",
        ),
    ]
    parts = {
        "k": min(k, len(w)),
        "n": sum(w >= threshold),
        "top": apart[1],
        "top_relative": apart[1] / math.hypot(*results[0]),
        "above": apart[2],
        "cold": apart[3],
        "who": texts[int(np.argmax(cold))],
        "most": first,
        "next": second,
    }
    return ("verdict_some" if max(w) >= threshold else "verdict_none"), parts, pictures


def jobs(f: Figures, room: str, sentence: str) -> Expected:
    d, texts = {"narrow": 2, "wide": 8}[room], numbered(["[CLS]", *sentence])
    seeds = [f"picture_seed {i}" for i in range(5)]
    apart, shared = f["apart"], f["shared"]
    pictures = [
        bars("picture_wrong", seeds, {"picture_apart": apart, "picture_shared": shared}),
        bars(
            "picture_weights",
            texts,
            {"picture_apart": f["weights_apart"], "picture_shared": f["weights_shared"]},
            _named(["[CLS]", *sentence]),
        ),
    ]
    if d == 2:
        for name in ("keys", "values", "answers"):
            pictures.append(plane(f"picture_{name}", {}, dict(zip(texts, f[name], strict=True))))
    parts = {"d": d, "apart": sum(apart) / 5, "shared": sum(shared) / 5, "n": 5, "spread": max(apart) - min(apart)}
    parts |= {"width": 24, "steps": "2,000"}
    on_name = [i for i, text in enumerate(["[CLS]", *sentence]) if text in NAME]
    parts |= {"here": sum(f["weights_apart"][on_name], 0.0), "here_shared": sum(f["weights_shared"][on_name], 0.0)}
    parts["worse"] = sum(two > one for one, two in zip(apart, shared, strict=True))
    costs = parts["shared"] - parts["apart"] > parts["spread"]
    assert costs == (room == "narrow")  # As measured; a scene that said otherwise would be wrong.
    return ("verdict_costs" if costs else "verdict_free"), parts, pictures


def stacking(f: Figures, view: str, matrix_: str, row: int, sentence: str) -> Expected:
    texts = numbered(["[CLS]", *sentence])
    row = min(row, len(sentence))
    rows = [f"▸ {text}" if i == row else text for i, text in enumerate(texts)]
    pictures = {
        "vectors": [
            bars(f"picture_vector {matrix_} {texts[row]}", counted(8), f["whole"][row]),
            bars(f"picture_scores {texts[row]}", texts, f["all_scores"][row]),
        ],
        "matrix": [
            matrix(f"picture_matrix {matrix_.upper()}", rows, counted(8), f["whole"]),
            matrix("picture_all_scores", rows, texts, f["all_scores"]),
        ],
    }[view]
    parts = {"name": matrix_, "big": matrix_.upper(), "n": len(texts), "d": 8, "gap": ROUNDING, "word": texts[row]}
    return f"verdict_{view}", parts, pictures


def origin(f: Figures, done: int, start: int) -> Expected:
    words, now = list("佛跳墙我吃面看人"), f["wanted"][done]
    keys = dict(zip(words, f["keys"], strict=True))
    lines = {"picture_wanted": f["wanted"], "picture_loss": f["losses"]}
    pictures = [
        curve("picture_curve", np.arange(301), lines, done, "picture_steps|"),
        plane("picture_plane", {"picture_q": f["asker"][0]}, keys),
        bars("picture_shares", words, _softmax(f["keys"] @ f["asker"][0] / math.sqrt(2)), (0, 1, 2)),
        *(matrix(f"picture_{name}", counted(8), counted(2), f[name]) for name in ("w_q", "w_k")),
    ]
    parts = {"done": done, "now": now, "first": f["wanted"][0], "uniform": 1 / 6, "right": f["right"][done]}
    key = "start" if done == 0 else "found" if now > 0.5 else "searching"
    return f"verdict_{key}", parts, pictures


TOLD: dict[str, Tell] = {
    "cooking": cooking, "asking": asking, "adding": adding, "jobs": jobs, "origin": origin,
    "stacking": lambda f, matrix, **values: stacking(f, matrix_=matrix, **values),
}  # fmt: skip
SCENES = {scene.id: scene for scene in dish.TOLD}


@pytest.mark.parametrize("name", list(SCENES))
def test_pictures_and_sentence_follow_every_control(name: str) -> None:
    for values in settings(SCENES[name]):
        follows(SCENES[name], values, TOLD[name])


def test_the_branches_that_no_single_control_reaches() -> None:
    nothing = "晚上我们吃火锅"
    for name, names, options in (
        ("asking", ("sentence", "equal"), [(nothing, True)]),
        ("origin", ("done", "start"), [(0, 0), (25, 3)]),
        ("adding", ("sentence", "k", "threshold", "temperature"), [(nothing, 2, 0.5, 0.25)]),
        ("stacking", ("view", "matrix", "row", "sentence"), [("matrix", "v", 8, "佛")]),
    ):
        for values in options:
            follows(SCENES[name], dict(zip(names, values, strict=True)), TOLD[name])
