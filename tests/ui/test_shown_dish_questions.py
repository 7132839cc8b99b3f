"""The questions about 佛跳墙: what each scene draws and says, against the numbers that are checked in tests/core."""

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
    curve,
    flow,
    follows,
    matrix,
    numbered,
    numbers,
    plane,
    settings,
    tokens,
)
from ui.scenes import dish_questions, dish_tied
from ui.scenes.kinds import Figures

NAME = "佛跳墙"
TERMS = [f"picture_{one}_{other}" for one in ("content", "position") for other in ("content", "position")]


def neighbours(f: Figures, asker: int, places: bool, sentence: str) -> Expected:
    keys, scores = f["keys"], f["terms"][:, 4]
    away = [
        f"{key} {'+' if at > 0 else '−'}{abs(at)}" if at else key for key, at in zip(keys, f["keys_at"], strict=True)
    ]
    best, second = sorted(range(len(keys)), key=lambda j: -scores[j])[:2]
    lead = f["terms"][best, :4] - f["terms"][second, :4]
    name = f["asker"]
    if NAME in sentence:
        assert name == NAME[asker]
    pictures = [
        matrix(f"picture_terms {name}", away, [*TERMS, "picture_total"], f["terms"]),
        bars(f"picture_weights {name}", away, f["weights"]),
        bars(f"picture_lead {keys[best]} {keys[second]}", TERMS, lead),
    ]
    parts = {"asker": name, "best": keys[best], "second": keys[second], "weight": max(f["weights"]), "gap": ROUNDING}
    parts |= {"lead": scores[best] - scores[second], "most": max(lead)}
    largest = TERMS[int(np.argmax(lead))].removeprefix("picture_")
    return f"verdict_{largest if places else 'placeless'}", parts, pictures


def ends(f: Figures, run: int, sentence: str) -> Expected:
    card = ac.load("dish").card.details
    rows = sorted(card["figures"]["seeds"], key=lambda row: row["seed"])
    largest = [[max(NAME, key=lambda b, a=a, row=row: row["layer_0"][a][b]) for a in NAME] for row in rows]
    away = [[abs(NAME.index(one) - i) for i, one in enumerate(row)] for row in largest]
    texts = numbered(["[CLS]", *sentence])
    places = np.arange(len(texts))
    seen = np.abs(places[:, None] - places) <= 2
    asking = [sentence.index(a) + 1 for a in NAME if a in sentence] or [int(np.argmax(f["weights"].max(axis=1)))]
    pictures = [
        matrix("picture_looks", NAME, [*NAME, "picture_elsewhere"], f["looks"]),
        matrix("picture_layer", texts, texts, f["weights"], seen),
        flow("picture_card", {"picture_card_says": card["layer_0"]["en"]}),
    ]
    parts = {
        "looks": " · ".join(
            f"{a} → {b} {rows[run]['layer_0'][a][b]:.2f}" for a, b in zip(NAME, largest[run], strict=True)
        ),
        "here": " · ".join(
            f"{texts[i]} → {texts[int(np.argmax(f['weights'][i]))]} {max(f['weights'][i]):.2f}" for i in asking
        ),
        "beside": away[run].count(1),
        "beside_all": sum(row.count(1) for row in away),
        "across_all": sum(row.count(2) for row in away),
        "n": 3,
        "n_all": 15,
    }
    return ("verdict_chain" if away[run] == [1, 1, 1] else "verdict_other"), parts, pictures


def depth(f: Figures, sentence: str, shuffle: int) -> Expected:
    models = [f"picture_{one}" for one in ("one", "heads", "mlp", "both", "two")]
    named, yes = NAME in f["text"], f["yes"]
    right = [(chance > 0.5) == named for chance in yes]
    table = np.stack([f["right"], f["worst"], f["best"]], axis=1)
    pictures = [
        numbers("picture_read", {"picture_named" if named else "picture_unnamed": f["text"]}),
        bars(f"picture_yes {f['text']}", models, yes),
        matrix("picture_table 5", models, ["picture_mean", "picture_worst", "picture_best"], table),
    ]
    one, _, _, both, two = f["right"]
    parts = {"n": sum(right), "of": 5, "one": one, "both": both, "two": two, "seeds": 5, "width": 24, "steps": "2,000"}
    parts["p"] = yes[4]
    return f"verdict_{'named' if named else 'unnamed'}_{'right' if right[4] else 'wrong'}", parts, pictures


def several(f: Figures, first: str, sentence: str) -> Expected:
    at, heads = max(sentence.find("佛"), 0), f["weights"]
    on = [
        [sum((w for w, c in zip(row, sentence, strict=True) if c in pair), 0.0) for pair in ("跳墙", "祖经")]
        for row in heads
    ]
    for_dish, for_buddhism = (int(on[1][i] > on[0][i]) for i in (0, 1))
    names = ["picture_one 0", "picture_one 1"]
    alone = [row["held_out_combinations"] for row in ac.load("two-heads-one-head").card.details["figures"]["seeds"]]
    assert len(alone) == 5
    pictures = [
        *(tokens(f"picture_head {head}", list(sentence), heads[head], at) for head in (0, 1)),
        bars(
            "picture_pairs",
            names,
            {f"picture_{name}": [row[i] for row in on] for i, name in enumerate(("dish", "buddhism"))},
        ),
        bars("picture_seeds", [f"picture_seed {i}" for i in range(5)], f["dish_heads"]),
        numbers(
            "picture_card", {"picture_divided": f"{f['divided']} / 5", "picture_one_head": f"{sum(alone) / 5:.1%}"}
        ),
    ]
    parts = {
        "dish": for_dish,
        "buddhism": for_buddhism,
        "divided": f["divided"],
        "n": 5,
        "gap": np.abs(heads[0] - heads[1]).max(),
    }
    parts |= {"on_dish": on[for_dish][0], "on_buddhism": on[for_buddhism][1]}
    parts |= {"width": 16, "steps": "700"}
    if "佛" not in sentence:
        return "verdict_nobody", parts, pictures
    both = all(any(c in pair for c in sentence) for pair in ("跳墙", "祖经"))
    key = "twins" if first == "twins" else "half" if not both else "divided" if for_dish != for_buddhism else "mixed"
    return f"verdict_{key}", parts, pictures


def tied(f: Figures, shared: bool, at: int, sentence: str) -> Expected:
    texts, w, s = ["[CLS]", *sentence], f["weights"], f["scores"]
    places = np.arange(len(texts))
    seen = np.abs(places[:, None] - places) <= (2 if at == 0 else 99)
    away = [i for i, row in enumerate(w) if np.argmax(row) != i]
    asker, answerer = (texts[away[0]], texts[int(np.argmax(w[away[0]]))]) if away else ("", "")
    pictures = [
        matrix("picture_scores", numbered(texts), numbered(texts), s),
        matrix("picture_weights", numbered(texts), numbered(texts), w, seen),
        bars("picture_lengths", numbered(texts), np.sqrt(np.diag(s)) if shared else f["lengths"]),
    ]
    parts = {"uneven": abs(s - s.T).max(), "weights": abs(w - w.T)[seen].max(), "elsewhere": len(away), "n": len(texts)}
    parts |= {"asker": asker, "answerer": answerer}
    key = "uneven" if not shared else "even" if away else "even_self"
    return f"verdict_{key}", parts, pictures


def graph(f: Figures, shared: bool, sentence: str) -> Expected:
    texts, w = ["[CLS]", *sentence], f["weights"]
    names, n = numbered(texts), len(sentence) + 1
    i, j = f["pair"]
    looks = w.argmax(axis=1)
    edges = [f"{name} → {names[k]}" for name, k in zip(names, looks, strict=True)]
    scores = {f"{names[a]} → {names[b]}": value for (a, b), value in zip(((i, j), (j, i), (i, i), (j, j)),
              (f["there"], f["back"], *f["itself"]), strict=True)}  # fmt: skip
    places = np.arange(n)
    pictures = [
        numbers("picture_pair", {name: f"{value:.1f}".replace("-", "−") for name, value in scores.items()}),
        bars("picture_edges", edges, [w[a, b] for a, b in enumerate(looks)]),
        matrix("picture_weights", names, names, w, np.abs(places[:, None] - places) <= 2),
        numbers("picture_uneven", {"picture_left": f"{f['left']:.2%}" if 0 < f["left"] < 0.01 else f"{f['left']:.1%}"}),
    ]
    away = sum(k != a for a, k in enumerate(looks))
    parts = {"one": names[i], "two": names[j], "mutual": len(f["mutual"]), "away": away, "longer": f["longer"]}
    key = "mutual" if f["mutual"] else "ordered" if shared else "none"
    return f"verdict_{key}", parts, pictures


def chain(f: Figures, ab: float, bc: float, of: int) -> Expected:
    def ends_of(one: np.ndarray | float, other: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        angles = np.arccos(one), np.arccos(other)
        return np.cos(np.minimum(angles[0] + angles[1], 2 * np.pi - angles[0] - angles[1])), np.cos(
            angles[0] - angles[1]
        )

    x, (low, high) = np.linspace(-1, 1, 81), ends_of(ab, bc)
    lows, highs = ends_of(ab, x)
    one, two, three = f["measured"]
    between = " … ".join(f"{end:.2f}".replace("-", "−") for end in ends_of(one, two))
    measured = {
        f"picture_{name}": f"{value:.2f}".replace("-", "−")
        for name, value in zip(("ab", "bc", "ac"), (one, two, three), strict=True)
    }
    pictures = [
        plane("picture_plane", dict(zip(("佛", "跳墙", "picture_near", "picture_far"), f["arrows"], strict=True)), {}),
        curve("picture_curve", x, {"picture_low": lows, "picture_high": highs}, bc, "picture_x|picture_y"),
        numbers("picture_measured", {**measured, "picture_between": between}),
    ]
    key = "settled" if high - low < 1e-9 else "forced" if low > 1e-9 else "free"
    parts = {"lowest": low, "highest": high, "head": of, "measured": three}
    parts |= dict(zip(("low", "high"), ends_of(one, two), strict=True))
    return f"verdict_{key}", parts, pictures


def cost(f: Figures, what: str) -> Expected:
    apart, tied_ones, longer = f["apart"], f["tied"], f["longer"]
    assert (longer is None) == (what != "letters")
    name = {"letters": "induction", "dish": "dish", "narrow": "dish-narrow", "heads": "two-heads"}[what]
    width, d_head, steps = {
        "letters": (16, 8, 1500),
        "heads": (16, 8, 700),
        "narrow": (24, 2, 2000),
        "dish": (24, 8, 2000),
    }[what]
    card = ac.load(name).card
    assert (card.d_model, card.d_head, card.details["training"]["steps"]) == (width, d_head, steps)
    series = {f"picture_apart {steps}": apart, f"picture_tied {steps}": tied_ones}
    if longer is not None:
        series[f"picture_tied {2 * steps}"] = longer
    pictures = [bars(f"picture_{what}", [f"picture_seed {i}" for i in range(5)], series)]
    if what == "heads":
        cards = [ac.load(each).card.details["figures"]["seeds"] for each in ("two-heads", "two-heads-qk")]
        counts = [f"{sum(row['divided'] for row in rows)} / 5" for rows in cards]
        pictures.append(
            numbers(
                "picture_divided", dict(zip(("picture_divided_apart", "picture_divided_tied"), counts, strict=True))
            )
        )
    parts = {"apart": sum(apart) / 5, "tied": sum(tied_ones) / 5, "n": 5, "spread": max(apart) - min(apart)}
    parts |= {
        "longer": "" if longer is None else sum(longer) / 5,
        "more_steps": "" if longer is None else f"{2 * steps:,}",
    }
    parts |= {"width": width, "d": d_head, "steps": f"{steps:,}"}
    parts["worse"] = sum(two < one for one, two in zip(apart, tied_ones, strict=True))
    key = {"letters": "costs_longer", "dish": "costs", "narrow": "costs", "heads": "free"}[what]
    assert (parts["apart"] - parts["tied"] > parts["spread"]) == (what != "heads")
    return f"verdict_{key}", parts, pictures


TOLD: dict[str, Tell] = {
    "neighbours": neighbours, "ends": ends, "depth": depth, "several": several, "tied": tied, "graph": graph,
    "chain": chain, "cost": cost,
}  # fmt: skip
SCENES = {scene.id: scene for scene in (*dish_questions.ASKED, *dish_tied.ASKED)}


@pytest.mark.parametrize("name", list(SCENES))
def test_pictures_and_sentence_follow_every_control(name: str) -> None:
    for values in settings(SCENES[name]):
        follows(SCENES[name], values, TOLD[name])


def test_the_branches_that_no_single_control_reaches() -> None:
    talk, nothing = "今天吃佛跳墙，明天看佛经。", "晚上我们吃火锅"
    for name, names, options in (
        ("neighbours", ("asker", "places", "sentence"), itertools.product(range(3), (True, False), (talk,))),
        ("depth", ("sentence", "shuffle"), itertools.product(("晚上我们吃佛跳墙", talk), (3, 5))),
        ("several", ("first", "sentence"), [("seed", "晚上我们吃佛跳墙"), ("twins", talk)]),
        ("tied", ("shared", "at", "sentence"), [(True, 1, nothing), (False, 1, nothing), (True, 0, "佛")]),
        ("chain", ("ab", "bc", "of"), [(0.7, 0.7, 1), (0.3, 1.0, 0), (0.9, 0.5, 1)]),
        ("graph", ("shared", "sentence"), [(True, nothing)]),
        ("ends", ("run", "sentence"), [(run, talk) for run in range(5)]),
    ):
        for values in options:
            follows(SCENES[name], dict(zip(names, values, strict=True)), TOLD[name])
