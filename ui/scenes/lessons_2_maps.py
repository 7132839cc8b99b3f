"""Lessons 13 to 16: what may be read from a map of weights, and what may not."""

from __future__ import annotations

import numpy as np

from attention_core.stories import lessons_2_maps
from attention_core.stories.it import ADJECTIVES
from ui.scenes.dish_drawing import SENTENCE, bars, matrix, numbered, percent, shares, tokens
from ui.scenes.kinds import Control, Figures, Picture, Scene, Verdict
from ui.scenes.texts import Texts


def _explanation_pictures(figures: Figures, said: Texts) -> list[Picture]:
    series = {said("picture_weight"): figures["weights"], said("picture_kept"): figures["kept"]}
    return [
        tokens(said("picture_map"), figures["tokens"], figures["weights"], figures["asker"]),
        bars(
            said("picture_cuts", answer=figures["answer"]),
            numbered(figures["tokens"]),
            series,
            concept="k",
            top=1.0,
            marked=[figures["at"]],
        ),
    ]


def _explanation_verdict(figures: Figures) -> Verdict:
    texts = numbered(figures["tokens"])
    parts = {
        "cut": texts[figures["at"]],
        "weight": f"{figures['weight']:.3f}",
        "answer": figures["answer"],
        "p": percent(figures["probability"]),
        "then": figures["then"],
        "then_p": percent(figures["then_probability"]),
        "takes": texts[figures["takes_at"]],
        "takes_weight": f"{figures['takes_weight']:.2f}",
        "changed": figures["changed_cases"],
        "n": figures["n_cases"],
    }
    return ("verdict_turned" if figures["then"] != figures["answer"] else "verdict_kept"), parts


def _explanation_result(figures: Figures) -> str:
    return {0: "never", figures["n_cases"]: "always"}.get(figures["changed_cases"], "depends")


def _contribution_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts, what = numbered(figures["tokens"]), said(f"measure_{figures['measure']}")
    series = {said("picture_weight"): figures["weights"], said("picture_part"): figures["shares"]}
    return [
        bars(said("picture_both", what=what), texts, series, concept="k", top=1.0, marked=[figures["asker"]]),
        bars(said("picture_per_weight", what=what), texts, {"": figures["per_weight"]}, concept="v", digits=1),
    ]


def _contribution_verdict(figures: Figures) -> Verdict:
    parts = {
        "first": figures["first"],
        "first_weight": f"{figures['first_weight']:.2f}",
        "first_share": f"{figures['first_share']:.2f}",
        "most": figures["most"],
        "most_weight": f"{figures['most_weight']:.2f}",
        "most_share": f"{figures['most_share']:.2f}",
        "ratio": f"{figures['ratio']:.1f}",
        "answer": figures["answer"],
    }
    kind = "logit" if figures["measure"] == "answer" else "length"
    return f"verdict_{kind}_{'same' if figures['same'] else 'other'}", parts


def _mechanism_pictures(figures: Figures, said: Texts) -> list[Picture]:
    rows = [said(f"picture_{adjective}") for adjective in ADJECTIVES]
    seeds = [said("picture_seed", seed=seed) for seed in figures["seeds"]]
    measures = ("two_way", "maps", "full")
    both = {name: {said(f"depth_{one}"): figures[f"{name}_{one}"] for one in ("one", "two")} for name in measures}
    return [
        matrix(said("picture_weights"), rows, figures["nouns"], figures["weights"]),
        matrix(said("picture_choices"), rows, figures["nouns"], figures["choices"]),
        *(shares(said(f"picture_{name}"), seeds, both[name]) for name in measures),
    ]


def _mechanism_verdict(figures: Figures) -> Verdict:
    depth = figures["depth"]
    parts = {
        "least": percent(min(figures[f"two_way_{depth}"].min(), figures[f"frames_{depth}"].min())),
        "most": percent(max(figures[f"two_way_{depth}"].max(), figures[f"frames_{depth}"].max())),
        "maps": percent(figures[f"maps_{depth}"].mean()),
        "full": percent(figures[f"full_{depth}"].mean()),
        "n": len(figures["seeds"]),
        "words": " · ".join(figures["words"]),
    }
    return f"verdict_{_yes_no(figures['answer_flips'])}_{_yes_no(figures['map_flips'])}", parts


def _mechanism_result(figures: Figures) -> str:
    flips = [figures[f"maps_{one}"].mean() > 0.5 for one in ("one", "two")]
    return {(True, True): "both", (False, True): "two"}.get((flips[0], flips[1]), "neither")


def _cls_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts, word = figures["tokens"], figures["tokens"][figures["at"]]
    right = np.array([figures["blank_right"].mean(), figures["cls_right"], figures["asker_right"]]) / figures["n"]
    who = [said("picture_blank_cls", n=len(figures["blank_right"])), said("picture_cls"), said("picture_at", word=word)]
    shown = 2 if figures["asker"] == "cls" else 3
    return [
        tokens(said("picture_blank", word=word), texts, figures["blank"], figures["at"]),
        tokens(said("picture_trained", word=word), texts, figures["trained"], figures["at"]),
        shares(said("picture_right", n=figures["n"]), who[:shown], {"": right[:shown]}),
    ]


def _cls_verdict(figures: Figures) -> Verdict:
    parts = {
        "word": figures["tokens"][figures["at"]],
        "blank": f"{figures['blank_right'].mean():.1f}",
        "models": len(figures["blank_right"]),
        "half": figures["n"] // 2,
        "n": figures["n"],
        "cls": figures["cls_right"],
        "asker": figures["asker_right"],
        "apart": f"{figures['apart']:g}",
        "blank_uneven": f"{figures['blank_uneven']:.1f}",
        "uneven": f"{figures['uneven']:.1f}",
    }
    if figures["asker"] == "cls":
        return "verdict_cls", parts
    return ("verdict_others" if figures["asker_right"] > figures["n"] * ALMOST else "verdict_only"), parts


def _yes_no(is_so: bool) -> str:
    return "flips" if is_so else "stays"


ALMOST = 0.75  # From here on an answer is no guess.

MAPS = (
    Scene(
        "explanation",
        lessons_2_maps.explanation,
        _explanation_pictures,
        _explanation_verdict,
        controls=(
            Control("case", "choice", "noun", tuple(lessons_2_maps.EDGES)),
            Control("rank", "slider", 1, (1, 2, 3, 4, 5, 6)),
        ),
        options=("always", "depends", "never"),
        borne_out=_explanation_result,
    ),
    Scene(
        "contribution",
        lessons_2_maps.contribution,
        _contribution_pictures,
        _contribution_verdict,
        controls=(
            Control("case", "choice", "single", tuple(lessons_2_maps.ROWS)),
            Control("measure", "choice", "written", ("value", "written", "answer")),
        ),
        options=("same", "other"),
        borne_out=lambda figures: "same" if figures["same"] else "other",
    ),
    Scene(
        "mechanism",
        lessons_2_maps.mechanism,
        _mechanism_pictures,
        _mechanism_verdict,
        controls=(
            Control("depth", "choice", "one", tuple(lessons_2_maps.MODELS)),
            Control("nouns", "choice", "animal", tuple(lessons_2_maps.PAIRS)),
        ),
        options=("both", "two", "neither"),
        borne_out=_mechanism_result,
    ),
    Scene(
        "cls",
        lessons_2_maps.cls,
        _cls_pictures,
        _cls_verdict,
        controls=(
            Control("asker", "choice", "cls", tuple(lessons_2_maps.ASKERS)),
            Control("start", "seed", 0),
            Control("sentence", "text", SENTENCE),
        ),
        options=("most", "half"),
        borne_out=lambda figures: "most" if figures["blank_right"].mean() > figures["n"] * ALMOST else "half",
    ),
)
