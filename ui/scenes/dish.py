"""The story of 佛跳墙, scene by scene."""

from __future__ import annotations

import numpy as np

from attention_core.stories import dish, dish_training
from ui.scenes import dish_questions, dish_tied
from ui.scenes.dish_drawing import (
    SENTENCE,
    answer,
    bars,
    curve,
    flow,
    matrix,
    named,
    number,
    numbered,
    percent,
    plane,
    shares,
    tiny,
    tokens,
)
from ui.scenes.kinds import Control, Figures, Picture, Scene, Verdict
from ui.scenes.texts import Texts

DONE = (0, 25, 50, 75, 100, 150, 200, 300)


def _cooking_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts, weights = figures["tokens"], figures["weights"]
    found = " · ".join(f"{texts[i]} {weights[i]:.0%}" for i in figures["bought"])
    kitchen = ("market", "basket", "pot", "table")
    return [
        flow(said("picture_kitchen"), [(said(f"picture_{one}"), said(f"picture_{one}_what"), "") for one in kitchen]),
        flow(
            said("picture_model"),
            [
                (said("picture_sentence"), said("picture_characters", n=len(texts) - 1), "q"),
                (said("picture_found"), found, "k"),
                (said("picture_sum"), said("picture_width", n=figures["width"]), "v"),
                (said("picture_answer"), answer(said, figures["yes"]), "o"),
            ],
        ),
        tokens(said("picture_shares"), texts, weights, 0),
    ]


def _cooking_verdict(figures: Figures) -> Verdict:
    found = " · ".join(figures["tokens"][i] for i in figures["bought"])
    key = "verdict_yes" if figures["yes"] > 0.5 else "verdict_no"
    return key, {"found": found, "share": percent(figures["of_bought"]), "p": percent(figures["probability"])}


def _asking_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts = numbered(figures["tokens"])
    series = {said("picture_dot"): figures["weights"], said("picture_distance"): figures["by_distance"]}
    return [
        tokens(said("picture_shares"), figures["tokens"], figures["weights"], 0),
        bars(said("picture_two_ways"), texts, series, concept="k", top=1.0, digits=3, marked=figures["three"]),
        plane(
            said("picture_plane"),
            {said("picture_q"): figures["asker"][0]},
            dict(zip(texts, figures["points"], strict=True)),
            ("q", "k"),
            (said("picture_along"), said("picture_across")),
        ),
    ]


def _asking_verdict(figures: Figures) -> Verdict:
    same = "equal" if figures["gap"] < 1e-9 else "apart"
    parts = {
        "share": f"{figures['of_three']:.2f}",
        "strongest": figures["strongest"],
        "nearest": figures["nearest"],
        "gap": number(figures["gap"]),
        "short": f"{figures['lengths'].min():.1f}",
        "long": f"{figures['lengths'].max():.1f}",
    }
    return f"verdict_{'three' if figures['whole'] else 'missing'}_{same}", parts


def _adding_pictures(figures: Figures, said: Texts) -> list[Picture]:
    ways = [said(f"picture_{way}") for way in ("weighted", "top", "above", "cold")]
    texts = numbered(figures["tokens"])
    dimensions = [str(i + 1) for i in range(figures["results"].shape[1])]
    steps = {said("picture_soft"): figures["soft"], said("picture_hard"): figures["hard"]}
    axes = (said("picture_push"), said("picture_share"))
    return [
        matrix(said("picture_shares"), texts, ways, figures["shares"].T),
        matrix(said("picture_results"), ways, dimensions, figures["results"], scale="signed"),
        bars(said("picture_apart"), ways[1:], {"": figures["apart"][1:]}, concept="output", digits=2),
        curve(said("picture_step", word=figures["pushed"]), figures["pushes"], steps, 0.0, axes),
    ]


def _adding_verdict(figures: Figures) -> Verdict:
    parts = {
        "k": figures["k"],
        "n": figures["n_above"],
        "top": f"{figures['apart'][1]:.2f}",
        "top_relative": percent(figures["relative"][1]),
        "above": f"{figures['apart'][2]:.2f}",
        "cold": f"{figures['apart'][3]:.2f}",
        "who": figures["coldest"],
        "most": percent(figures["coldest_share"]),
        "next": percent(figures["coldest_second"]),
    }
    return ("verdict_none" if figures["n_above"] == 0 else "verdict_some"), parts


def _jobs_pictures(figures: Figures, said: Texts) -> list[Picture]:
    seeds = [said("picture_seed", seed=seed) for seed in figures["seeds"]]
    texts, axes = numbered(figures["tokens"]), ("1", "2")
    apart, shared = said("picture_apart"), said("picture_shared")
    wrong = {apart: figures["apart"], shared: figures["shared"]}
    drawn = [
        shares(said("picture_wrong"), seeds, wrong, top=None),
        bars(
            said("picture_weights"),
            texts,
            {apart: figures["weights_apart"], shared: figures["weights_shared"]},
            concept="k",
            top=1.0,
            marked=named(figures["tokens"]),
        ),
    ]
    if figures["d_head"] != 2:  # Only vectors of two numbers fit into a plane as they are.
        return drawn
    return [
        *drawn,
        plane(said("picture_keys"), {}, dict(zip(texts, figures["keys"], strict=True)), ("k",), axes),
        plane(said("picture_values"), {}, dict(zip(texts, figures["values"], strict=True)), ("v",), axes),
        plane(said("picture_answers"), {}, dict(zip(texts, figures["answers"], strict=True)), ("o",), axes),
    ]


def _jobs_verdict(figures: Figures) -> Verdict:
    (apart, shared), on_name = figures["means"], named(figures["tokens"])
    parts = {
        "d": figures["d_head"],
        "apart": f"{apart:.2%}",
        "shared": f"{shared:.2%}",
        "worse": figures["worse"],
        "n": len(figures["seeds"]),
        "spread": f"{figures['spread']:.2%}",
        "here": f"{figures['weights_apart'][on_name].sum():.2f}",
        "here_shared": f"{figures['weights_shared'][on_name].sum():.2f}",
        "width": figures["d_model"],
        "steps": f"{figures['steps']:,}",
    }
    return ("verdict_costs" if shared - apart > figures["spread"] else "verdict_free"), parts


def _stacking_pictures(figures: Figures, said: Texts) -> list[Picture]:
    name, row = figures["matrix"], figures["row"]
    texts = numbered(figures["tokens"])
    dimensions = [str(i + 1) for i in range(figures["whole"].shape[1])]
    if figures["view"] == "vectors":
        of_one = {"": figures["vectors"][row]}
        return [
            bars(said("picture_vector", name=name, word=texts[row]), dimensions, of_one, concept=name),
            bars(said("picture_scores", word=texts[row]), texts, {"": figures["scores"]}, concept="scores"),
        ]
    rows = [f"▸ {text}" if i == row else text for i, text in enumerate(texts)]
    return [
        matrix(said("picture_matrix", name=name.upper()), rows, dimensions, figures["whole"], scale="signed"),
        matrix(said("picture_all_scores"), rows, texts, figures["all_scores"], scale="signed", digits=1),
    ]


def _stacking_verdict(figures: Figures) -> Verdict:
    n, d = figures["whole"].shape
    parts = {
        "name": figures["matrix"],
        "big": figures["matrix"].upper(),
        "n": n,
        "d": d,
        "gap": tiny(figures["gap"]),
    }
    key = f"verdict_{figures['view']}" if figures["gap"] < 1e-9 else "verdict_differ"
    return key, {**parts, "word": numbered(figures["tokens"])[figures["row"]]}


def _origin_pictures(figures: Figures, said: Texts) -> list[Picture]:
    lines = {said("picture_wanted"): figures["wanted"], said("picture_loss"): figures["losses"]}
    axes = (said("picture_steps"), "")
    words = figures["words"]
    return [
        curve(said("picture_curve"), figures["steps"], lines, float(figures["done"]), axes),
        plane(
            said("picture_plane"),
            {said("picture_q"): figures["asker"][0]},
            dict(zip(words, figures["keys"], strict=True)),
            ("q", "k"),
            ("1", "2"),
        ),
        bars(said("picture_shares"), words, {"": figures["shares"]}, concept="k", top=1.0, marked=named(words)),
        *(
            matrix(
                said(f"picture_{name}"), [str(i + 1) for i in range(len(values))], ["1", "2"], values, scale="signed"
            )
            for name, values in ((name, np.asarray(figures[name])) for name in ("w_q", "w_k"))
        ),
    ]


def _origin_verdict(figures: Figures) -> Verdict:
    parts = {
        "done": figures["done"],
        "now": f"{figures['now']:.2f}",
        "first": f"{figures['first']:.2f}",
        "uniform": f"{figures['uniform']:.2f}",
        "right": f"{figures['now_right']:.0%}",
    }
    if figures["done"] == 0:
        return "verdict_start", parts
    return ("verdict_found" if figures["now"] > 0.5 else "verdict_searching"), parts


TOLD = (
    Scene(
        "cooking",
        dish.cooking,
        _cooking_pictures,
        _cooking_verdict,
        controls=(Control("sentence", "text", SENTENCE),),
    ),
    Scene(
        "asking",
        dish.asking,
        _asking_pictures,
        _asking_verdict,
        controls=(Control("sentence", "text", SENTENCE), Control("equal", "switch", False)),
        links=(("explore", {"model": dish.MODEL, "text": SENTENCE}),),
    ),
    Scene(
        "adding",
        dish.adding,
        _adding_pictures,
        _adding_verdict,
        controls=(
            Control("sentence", "text", SENTENCE),
            Control("k", "slider", 3, (1, 2, 3, 4, 5, 6)),
            Control("threshold", "slider", 0.1, (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)),
            Control("temperature", "slider", 0.1, (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)),
        ),
    ),
    Scene(
        "jobs",
        dish.jobs,
        _jobs_pictures,
        _jobs_verdict,
        controls=(Control("room", "choice", "narrow", tuple(dish.ROOMS)), Control("sentence", "text", SENTENCE)),
    ),
    Scene(
        "stacking",
        dish.stacking,
        _stacking_pictures,
        _stacking_verdict,
        controls=(
            Control("view", "choice", "vectors", ("vectors", "matrix")),
            Control("matrix", "choice", "q", ("q", "k", "v")),
            Control("row", "slider", 6, tuple(range(9))),
            Control("sentence", "text", SENTENCE),
        ),
        links=(("steps", {"model": dish.MODEL, "text": SENTENCE}),),
    ),
    Scene(
        "origin",
        dish_training.origin,
        _origin_pictures,
        _origin_verdict,
        controls=(Control("done", "slider", DONE[-1], DONE), Control("start", "seed", 0)),
        links=(("learn", {"task": dish.MODEL}),),
    ),
)

SCENES = (*TOLD, *dish_questions.ASKED, *dish_tied.ASKED)
