"""Three of the questions about the story of 佛跳墙: what stands side by side, and several queries for one token."""

from __future__ import annotations

import numpy as np

from attention_core.stories import dish_questions
from attention_core.stories.dish import NAME
from ui.scenes.dish_drawing import (
    SENTENCE,
    bars,
    flow,
    matrix,
    number,
    numbered,
    numbers,
    percent,
    shares,
    tiny,
    tokens,
)
from ui.scenes.kinds import Control, Figures, Picture, Scene, Verdict
from ui.scenes.texts import Texts

BOTH = "今天吃佛跳墙，明天看佛经。"


def _neighbours_pictures(figures: Figures, said: Texts) -> list[Picture]:
    away = [
        f"{key} {steps:+d}".replace("-", "−") if steps else key
        for key, steps in zip(figures["keys"], figures["keys_at"], strict=True)
    ]
    terms = [said(f"picture_{term}") for term in dish_questions.TERMS]
    asker = figures["asker"]
    return [
        matrix(
            said("picture_terms", asker=asker),
            away,
            [*terms, said("picture_total")],
            figures["terms"],
            scale="signed",
            digits=1,
        ),
        bars(said("picture_weights", asker=asker), away, {"": figures["weights"]}, concept="k", top=1.0),
        bars(
            said("picture_lead", best=figures["best"], second=figures["second"]),
            terms,
            {"": figures["by_term"]},
            concept="scores",
            digits=1,
        ),
    ]


def _neighbours_verdict(figures: Figures) -> Verdict:
    largest = int(figures["by_term"].argmax())
    parts = {
        "asker": figures["asker"],
        "best": figures["best"],
        "second": figures["second"],
        "weight": f"{figures['best_weight']:.2f}",
        "lead": number(figures["lead"], 1),
        "most": number(figures["by_term"][largest], 1),
        "gap": tiny(figures["gap"]),
    }
    if figures["gap"] > 1e-9:
        return "verdict_inexact", parts
    if not figures["places"]:
        return "verdict_placeless", parts
    return f"verdict_{dish_questions.TERMS[largest]}", parts


def _ends_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts = numbered(figures["tokens"])
    return [
        matrix(said("picture_looks"), NAME, [*NAME, said("picture_elsewhere")], figures["looks"]),
        matrix(said("picture_layer"), texts, texts, figures["weights"], allowed=figures["allowed"]),
        flow(said("picture_card"), [(said("picture_card_says"), figures["card"][said.language], "")]),
    ]


def _ends_verdict(figures: Figures) -> Verdict:
    most = figures["looks"][:, : len(NAME)].max(axis=1)
    looks = (f"{a} → {b} {share:.2f}" for a, b, share in zip(NAME, figures["largest"], most, strict=True))
    parts = {
        "looks": " · ".join(looks),
        "here": " · ".join(_looks_here(figures)),
        "beside": figures["beside"],
        "beside_all": figures["beside_all"],
        "across_all": figures["across_all"],
        "n": len(NAME),
        "n_all": figures["n_all"],
    }
    return ("verdict_chain" if figures["beside"] == len(NAME) else "verdict_other"), parts


def _looks_here(figures: Figures) -> list[str]:
    """Whom the characters of the name look at in the reader's sentence; where there is none, its clearest look."""
    texts, weights = numbered(figures["tokens"]), figures["weights"]
    rows = [figures["tokens"].index(each) for each in NAME if each in figures["tokens"]]
    rows = rows or [int(weights.max(axis=1).argmax())]
    return [f"{texts[i]} → {texts[int(weights[i].argmax())]} {weights[i].max():.2f}" for i in rows]


def _depth_pictures(figures: Figures, said: Texts) -> list[Picture]:
    models = [said(f"picture_{model}") for model in figures["models"]]
    columns = [said(f"picture_{name}") for name in ("mean", "worst", "best")]
    table = np.column_stack([figures[name] for name in ("right", "worst", "best")])
    return [
        numbers(
            said("picture_read"), [(said("picture_named" if figures["named"] else "picture_unnamed"), figures["text"])]
        ),
        shares(said("picture_yes", text=figures["text"]), models, {"": figures["yes"]}),
        matrix(said("picture_table", n=figures["n_seeds"]), models, columns, table, digits=4, isShare=True),
    ]


def _depth_verdict(figures: Figures) -> Verdict:
    right = dict(zip(figures["models"], figures["right"], strict=True))
    parts = {
        "n": figures["n_right"],
        "of": len(figures["models"]),
        "one": percent(right["one"]),
        "both": percent(right["both"]),
        "two": percent(right["two"]),
        "seeds": figures["n_seeds"],
        "p": percent(figures["yes"][-1]),
        "width": figures["d_model"],
        "steps": f"{figures['steps']:,}",
    }
    named_key = "named" if figures["named"] else "unnamed"
    return f"verdict_{named_key}_{'right' if figures['two_right'] else 'wrong'}", parts


def _several_pictures(figures: Figures, said: Texts) -> list[Picture]:
    n_heads = range(len(figures["pairs"]))
    series = {
        said("picture_dish"): figures["pairs"][:, 0],
        said("picture_buddhism"): figures["pairs"][:, 1],
    }
    seeds = [said("picture_seed", seed=seed) for seed in figures["seeds"]]
    return [
        *(
            tokens(said("picture_head", head=head), figures["tokens"], figures["weights"][head], figures["asker"])
            for head in n_heads
        ),
        bars(said("picture_pairs"), [said("picture_one", head=head) for head in n_heads], series, concept="k", top=1.0),
        bars(said("picture_seeds"), seeds, {"": figures["dish_heads"]}, concept="k", top=1.0),
        numbers(
            said("picture_card"),
            [
                (said("picture_divided"), f"{figures['divided']} / {figures['n_seeds']}"),
                (said("picture_one_head"), percent(figures["one_head"])),
            ],
        ),
    ]


def _several_verdict(figures: Figures) -> Verdict:
    pairs = figures["pairs"]
    dish, buddhism = (int(pairs[:, i].argmax()) for i in range(2))
    parts = {
        "dish": dish,
        "buddhism": buddhism,
        "on_dish": f"{pairs[dish, 0]:.2f}",
        "on_buddhism": f"{pairs[buddhism, 1]:.2f}",
        "gap": f"{figures['gap']:.2f}",
        "divided": figures["divided"],
        "n": figures["n_seeds"],
        "width": figures["d_model"],
        "steps": f"{figures['steps']:,}",
    }
    if not figures["is_there"]:
        return "verdict_nobody", parts
    if figures["gap"] < 1e-9:
        return "verdict_twins", parts
    if not pairs.sum(axis=0).all():
        return "verdict_half", parts
    return ("verdict_divided" if dish != buddhism else "verdict_mixed"), parts


ASKED = (
    Scene(
        "neighbours",
        dish_questions.neighbours,
        _neighbours_pictures,
        _neighbours_verdict,
        controls=(
            Control("asker", "choice", 0, (0, 1, 2)),
            Control("places", "switch", True),
            Control("sentence", "text", SENTENCE),
        ),
    ),
    Scene(
        "ends",
        dish_questions.ends,
        _ends_pictures,
        _ends_verdict,
        controls=(Control("run", "slider", 0, (0, 1, 2, 3, 4)), Control("sentence", "text", SENTENCE)),
    ),
    Scene(
        "depth",
        dish_questions.depth,
        _depth_pictures,
        _depth_verdict,
        controls=(Control("sentence", "text", SENTENCE), Control("shuffle", "seed", 0)),
    ),
    Scene(
        "several",
        dish_questions.several,
        _several_pictures,
        _several_verdict,
        controls=(
            Control("first", "choice", "seed", tuple(dish_questions.TWINS)),
            Control("sentence", "text", BOTH),
        ),
        links=(("explore", {"model": "two-heads", "text": BOTH}),),
    ),
)
