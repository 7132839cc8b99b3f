"""Lessons 10–18: what each draws and says, and which belief it bears out, against numbers checked in tests/core."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

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

IT, ADJECTIVE = 7, 10
TALK = "今天吃佛跳墙，明天看佛经。"
SEEDS = [f"picture_seed {i}" for i in range(5)]


def _largest(row: np.ndarray) -> int:
    return int(np.argmax(row))


def order(f: Figures, mask: bool, taught: str, shuffle: int, sentence: str) -> Expected:
    kept = ["[CLS]"] if taught == "with" else []
    texts, before, after = [*kept, *sentence], f["before"], f["after"]
    drawn = np.random.default_rng(shuffle).permutation(len(sentence)) if shuffle else range(len(sentence))
    fed = [*kept, *(sentence[i] for i in drawn)]
    apart = abs(after - before).max(axis=1)
    pictures = [
        numbers("picture_fed", {"picture_first": " ".join(texts), "picture_second": " ".join(fed)}),
        bars("picture_apart", numbered(texts), apart),
        *(matrix(f"picture_{when} 5", numbered(texts), counted(5), f[when][:, :5]) for when in ("before", "after")),
    ]
    moved = sum(i != j for i, j in enumerate(drawn))
    changes = bool(moved) and (mask or taught == "with")
    parts = {"moved": moved, "n": len(texts), "gap": max(apart) if changes else ROUNDING}
    if not changes:
        return f"verdict_{'same' if moved else 'still'}", parts, pictures
    key = {(True, "without"): "mask", (True, "with"): "both", (False, "with"): "places"}[mask, taught]
    return f"verdict_{key}", parts, pictures


def heads(f: Figures, without: str, sentence: str) -> Expected:
    pairs, answers = f["pairs"], zip(f["left_answers"], f["left_probabilities"], strict=True)
    rows = [f"picture_{model}_{head}" for model in ("first", "second") for head in (0, 1)]
    said = dict(zip(("picture_first", "picture_second"), (f"{answer} {p:.0%}" for answer, p in answers), strict=True))
    pictures = [
        matrix(
            "picture_pairs", rows, ["picture_dish", "picture_buddhism"], [head for model in pairs for head in model]
        ),
        numbers(f"picture_answers without_{without}", said),
        bars("picture_seeds", SEEDS, f["dish_heads"]),
    ]
    n_dish, n_buddhism = (sum(character in pair for character in sentence) for pair in ("跳墙", "祖经"))
    topic = int(n_buddhism > n_dish)
    one, two = (_largest(model[:, topic]) for model in pairs)
    parts = {
        "one": one,
        "two": two,
        "one_share": pairs[0, one, topic],
        "two_share": pairs[1, two, topic],
        "gap": ROUNDING,
    }
    parts |= {"first": sum(f["dish_heads"] > 0.5), "n": 5}
    for i, which in enumerate(("one", "two")):
        parts |= {f"{which}_answer": f["left_answers"][i], f"{which}_p": f["left_probabilities"][i]}
    if "佛" not in sentence or n_dish + n_buddhism == 0:
        return "verdict_nobody", parts, pictures
    return f"verdict_{'buddhism' if topic else 'dish'}_{'same' if one == two else 'swapped'}", parts, pictures


def shapes(f: Figures, d_model: int, d_head: int, n_heads: int, number: int) -> Expected:
    two, product = d_model * d_head * 2, d_model * d_model
    rank, names = min(d_model, d_head), ["picture_head 0", "picture_head 1"]
    sizes = {"picture_w_q": f"{d_model} × {d_head}", "picture_w_k": f"{d_model} × {d_head}"}
    sizes |= {"picture_product": f"{d_model} × {d_model}", "picture_rank": str(rank)}
    inputs = [f"▸{i}" if i == number else str(i) for i in range(16)]
    counts = {"picture_per_head": [two, product], f"picture_all_heads {n_heads}": [two * n_heads, product * n_heads]}
    pictures = [
        numbers("picture_shapes", sizes),
        bars("picture_count", ["picture_apart", "picture_whole"], counts),
        matrix("picture_reads", inputs, names, f["reads"].T),
        bars(f"picture_change {number}", names, f["reads"][:, number]),
    ]
    parts = {
        "two": f"{two:,}",
        "product": f"{product:,}",
        "factor": max(two, product) / min(two, product),
        "rank": rank,
    }
    parts |= {"d": d_model, "read": 16, "inputs": 16, "number": number, "changed": 2, "heads": 2}
    parts |= {"n": n_heads, "all_two": f"{two * n_heads:,}", "all_product": f"{product * n_heads:,}"}
    return f"verdict_{'equal' if two == product else 'fewer' if two < product else 'more'}", parts, pictures


def explanation(f: Figures, case: str, rank: int) -> Expected:
    w, texts = f["weights"], numbered(f["tokens"])
    at = sorted(range(len(w)), key=lambda i: -w[i])[rank - 1]
    asker = {"noun": IT, "note": IT, "dish": 0, "letters": len(w) - 1}[case]
    pictures = [
        tokens("picture_map", f["tokens"], w, asker),
        bars(f"picture_cuts {f['answer']}", texts, {"picture_weight": w, "picture_kept": f["kept"]}, [at]),
    ]
    turns = bool(f["turned"][at])
    parts = {"cut": texts[at], "weight": w[at], "answer": f["answer"], "p": f["probability"], "then": f["then"]}
    parts |= {"then_p": f["then_probability"], "takes": texts[f["takes_at"]], "takes_weight": f["takes_weight"]}
    maps = [
        figures_of(SCENES["explanation"], {"case": each, "rank": 1}) for each in ("noun", "note", "dish", "letters")
    ]
    parts |= {"changed": sum(bool(each["turned"][_largest(each["weights"])]) for each in maps), "n": 4}
    assert turns == (f["then"] != f["answer"])
    if not turns:
        assert f["then_probability"] == pytest.approx(f["kept"][at])
    return f"verdict_{'turned' if turns else 'kept'}", parts, pictures


def contribution(f: Figures, case: str, measure: str) -> Expected:
    w, texts, parts_of = f["weights"], numbered(f["tokens"]), f["parts"]
    per_weight, part = parts_of / w, parts_of / abs(parts_of).sum()
    what = f"measure_{measure}"
    pictures = [
        bars(
            f"picture_both {what}",
            texts,
            {"picture_weight": w, "picture_part": part},
            [{"single": IT, "two": IT, "dish": 0, "letters": len(w) - 1}[case]],
        ),
        bars(f"picture_per_weight {what}", texts, per_weight),
    ]
    first, most = _largest(w), _largest(parts_of)
    parts = {"first": f["tokens"][first], "first_weight": w[first], "first_share": part[first], "answer": f["answer"]}
    parts |= {"most": f["tokens"][most], "most_weight": w[most], "most_share": part[most]}
    parts["ratio"] = max(abs(per_weight)) / min(abs(per_weight))
    kind = "logit" if measure == "answer" else "length"
    return f"verdict_{kind}_{'same' if first == most else 'other'}", parts, pictures


def mechanism(f: Figures, depth: str, nouns: str) -> Expected:
    pair = {"animal": ["animal", "street"], "dog": ["dog", "tunnel"], "horse": ["horse", "bridge"]}[nouns]
    rows, w, choices = ["picture_tired", "picture_wide"], f["weights"], f["choices"]
    measures = [
        bars(f"picture_{name}", SEEDS, {"depth_one": f[f"{name}_one"], "depth_two": f[f"{name}_two"]})
        for name in ("two_way", "maps", "full")
    ]
    pictures = [matrix("picture_weights", rows, pair, w), matrix("picture_choices", rows, pair, choices), *measures]
    both = [*f[f"two_way_{depth}"], *f[f"frames_{depth}"]]
    parts = {"least": min(both), "most": max(both), "maps": sum(f[f"maps_{depth}"]) / 5, "n": 5}
    parts |= {"full": sum(f[f"full_{depth}"]) / 5, "words": " · ".join(f["words"])}
    turns = ["flips" if [_largest(row) for row in found] == [0, 1] else "stays" for found in (choices, w)]
    return f"verdict_{'_'.join(turns)}", parts, pictures


def cls(f: Figures, asker: str, start: int, sentence: str) -> Expected:
    texts, blank, trained = ["[CLS]", *sentence], f["blank"], f["trained"]
    at = {"cls": 0, "first": 1, "last": len(sentence)}[asker]
    who = ["picture_blank_cls 8", "picture_cls", f"picture_at {texts[at]}"]
    right = [sum(f["blank_right"]) / 64, f["cls_right"] / 8, f["asker_right"] / 8]
    shown = 2 if at == 0 else 3
    pictures = [
        tokens(f"picture_blank {texts[at]}", texts, blank, at),
        tokens(f"picture_trained {texts[at]}", texts, trained, at),
        bars("picture_right 8", who[:shown], right[:shown]),
    ]
    parts = {"word": texts[at], "blank": sum(f["blank_right"]) / 8, "models": 8, "half": 4, "n": 8, "apart": "0"}
    parts |= {"cls": f["cls_right"], "asker": f["asker_right"]}
    parts |= {"blank_uneven": max(blank) * len(texts), "uneven": max(trained) * len(texts)}
    if at == 0:
        return "verdict_cls", parts, pictures
    return ("verdict_others" if f["asker_right"] > 6 else "verdict_only"), parts, pictures


def future(f: Figures, mask: bool, word: int, adjective: str) -> Expected:
    texts = f"The animal didn't cross the street because it was too {adjective} .".split()
    seen = np.tri(12).astype(bool) if mask else np.ones((12, 12), dtype=bool)
    rows = [f"▸ {text}" if i == word else text for i, text in enumerate(texts)]
    pictures = [
        tokens(f"picture_weights {texts[word]}", texts, f["weights"], word),
        matrix("picture_allowed", rows, texts, seen, seen),
        bars("picture_apart", texts, f["apart"], [word, ADJECTIVE]),
    ]
    earliest = min(i for i, gap in enumerate(f["apart"]) if gap > 1e-12)
    parts = {"word": texts[word], "seen": word + 1 if mask else 12, "n": 12, "adjective": adjective}
    parts |= {"apart": f["apart"][word], "earliest": texts[earliest], "answer": f["answer"], "p": f["probability"]}
    assert earliest == (ADJECTIVE if mask else 0)
    knows = word >= ADJECTIVE or not mask
    return f"verdict_{'masked' if mask else 'open'}_{'knows' if knows else 'blind'}", parts, pictures


def count(f: Figures, times: int, which: str, mark: bool, sentence: str) -> Expected:
    width, now = counted(8), f["output"]
    lines = {f"picture_share {f['word']}": f["shares"], "picture_mean": f["lengths"], "picture_sum": f["sums"]}
    pictures = [
        bars("picture_outputs", width, {"picture_once": f["once"], f"picture_now {times}": now}),
        curve("picture_curve", range(1, 9), lines, times, "picture_times|"),
    ]
    gap = abs(now - f["once"]).max()
    exact = times == 1 or (which == "all" and not mark)
    parts = {"times": times, "word": f["word"], "change": gap, "once": f["shares"][0], "share": f["shares"][times - 1]}
    parts |= {"gap": ROUNDING if exact else gap, "sum": f["sums"][times - 1], "mark": f["mark_share"]}
    # Without a mark there is no share to read a number from.
    parts["counted"] = f["counted"] if mark else 1.0
    assert (gap < 1e-12) == exact
    key = f"mark_{which}" if mark else "once" if times == 1 else "same" if exact else "share"
    return f"verdict_{key}", parts, pictures


TOLD: dict[str, Tell] = {
    "order": order, "heads": heads, "shapes": shapes, "explanation": explanation, "contribution": contribution,
    "mechanism": mechanism, "cls": cls, "future": future, "count": count,
}  # fmt: skip
BORNE_OUT = {
    "order": "same", "heads": "varies", "explanation": "depends", "mechanism": "two", "cls": "half", "future": "before",
    "count": "same",
}  # fmt: skip
SCENES = {scene.id: scene for scene in lessons.SCENES[9:]}


@pytest.mark.parametrize("name", list(SCENES))
def test_pictures_and_sentence_follow_every_control(name: str) -> None:
    for values in settings(SCENES[name]):
        follows(SCENES[name], values, TOLD[name])


@pytest.mark.parametrize("name", list(BORNE_OUT))
def test_what_is_borne_out_does_not_hang_on_a_control(name: str) -> None:
    for values in settings(SCENES[name]):
        assert SCENES[name].borne_out(figures_of(SCENES[name], values)) == BORNE_OUT[name], values


def test_what_is_borne_out_where_the_question_names_the_controls() -> None:
    shapes_of, row = (SCENES[name] for name in ("shapes", "contribution"))
    for d_head, wanted in ((64, "fewer"), (384, "equal"), (512, "more")):
        assert shapes_of.borne_out(shapes_of.compute(768, d_head, 12, 0)) == wanted
    for case, measure in itertools.product(("single", "two", "dish", "letters"), ("value", "written", "answer")):
        found = row.compute(case, measure)
        assert row.borne_out(found) == ("same" if _largest(found["weights"]) == _largest(found["parts"]) else "other")


def test_the_branches_that_no_single_control_reaches() -> None:
    for name, names, options in (
        ("order", ("mask", "taught", "shuffle", "sentence"), [(True, "with", 2, TALK), (False, "without", 0, TALK)]),
        (
            "heads",
            ("without", "sentence"),
            [
                ("first", "他看佛经"),
                ("none", "佛在这里"),
                ("none", "佛跳墙，佛祖经"),
                ("none", "他跳过墙"),
                ("none", "今天吃面"),
            ],
        ),
        ("shapes", ("d_model", "d_head", "n_heads", "number"), [(64, 32, 1, 3), (64, 128, 2, 15)]),
        ("explanation", ("case", "rank"), itertools.product(("noun", "note", "dish", "letters"), (1, 4))),
        ("contribution", ("case", "measure"), itertools.product(("two", "letters"), ("value", "answer"))),
        ("mechanism", ("depth", "nouns"), [("two", "horse"), ("one", "dog")]),
        ("cls", ("asker", "start", "sentence"), [("last", 2, "他跳过围墙"), ("first", 0, "晚上我们吃火锅")]),
        ("future", ("mask", "word", "adjective"), [(False, 0, "wide"), (False, 11, "tired"), (True, 11, "wide")]),
        (
            "count",
            ("times", "which", "mark", "sentence"),
            itertools.product((1, 8), ("all", "one"), (True, False), (TALK,)),
        ),
    ):
        for values in options:
            follows(SCENES[name], dict(zip(names, values, strict=True)), TOLD[name])
