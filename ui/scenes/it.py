"""The story of it, animal and tired, scene by scene."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention_core.stories import it
from ui.scenes import it_further
from ui.scenes.dish_drawing import bars, flow, matrix, numbered, numbers, percent, plane, shares, tokens
from ui.scenes.kinds import Control, Figures, Picture, Scene, Verdict
from ui.scenes.texts import Texts

ADJECTIVE = Control("adjective", "choice", "tired", it.ADJECTIVES)
WHICH = Control("which", "choice", "open", tuple(it.MODELS))
TIRED = it.SENTENCE.format("tired")


def _advert_pictures(figures: Figures, said: Texts) -> list[Picture]:
    like, n = figures["like"], figures["n"]
    best = f"{figures['best']} {percent(figures['best_weight'])}"
    return [
        flow(
            said(f"picture_{like}"),
            [(said(f"picture_{like}_{part}"), said(f"picture_{like}_{part}_what"), part) for part in "qkvo"],
        ),
        flow(
            said("picture_model"),
            [
                (said("picture_query"), said("picture_numbers", n=figures["d_k"]), "q"),
                (said("picture_keys"), said("picture_each", n=n, d=figures["d_k"]), "k"),
                (said("picture_values"), said("picture_each", n=n, d=figures["d_v"]), "v"),
                (said("picture_mixture"), said("picture_most", best=best), "o"),
            ],
        ),
        tokens(said("picture_shares"), figures["tokens"], figures["weights"], figures["asker"]),
    ]


def _advert_verdict(figures: Figures) -> Verdict:
    fits = figures["best"] == it.NOUNS[figures["adjective"]]
    parts = {
        "best": figures["best"],
        "weight": percent(figures["best_weight"]),
        "others": figures["n"] - 1,
        "rest": percent(figures["rest"]),
        "answer": figures["answer"],
        "p": percent(figures["probability"]),
    }
    return f"verdict_{'fits' if fits else 'else'}_{figures['like']}", parts


def _three_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts, word = figures["tokens"], figures["word"]
    name = numbered(texts)[word]
    dimensions = [str(i + 1) for i in range(figures["vectors"].shape[1])]
    asked = {"tokens": texts, "from": word, "concept": "query"}
    return [
        matrix(said("picture_vectors", word=name), ["q", "k", "v"], dimensions, figures["vectors"], scale="signed"),
        tokens(said("picture_asks", word=name), texts, figures["asks"], word),
        Picture("tokens", said("picture_asked", word=name), asked, {"weights": figures["asked"]}),
    ]


def _three_verdict(figures: Figures) -> Verdict:
    parts = {
        "word": numbered(figures["tokens"])[figures["word"]],
        "layer": figures["at"],
        "finds": figures["finds"],
        "weight": f"{figures['finds_weight']:.2f}",
        "most": figures["asked_most"],
        "asked": f"{figures['asked_weight']:.2f}",
        "total": f"{figures['total']:.2f}",
        "n": len(figures["tokens"]),
    }
    return ("verdict_self" if figures["is_self"] else "verdict_other"), parts


def _note_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts, at = figures["tokens"], figures["asker"]
    if figures["which"] == "single":
        return _single_pictures(figures, said)
    ways = {said(f"picture_{way}"): figures[way] for way in ("whole", "cut", "alone")}
    word, brought = figures["lengths"]
    lengths = [(said("picture_of_word"), f"{word:.2f}"), (said("picture_of_note"), f"{brought:.2f}")]
    told = [numbered(texts).index(figures["told"])]
    return [
        tokens(said("picture_brings"), texts, figures["brings"], at),
        bars(said("picture_looks"), numbered(texts), ways, concept="k", top=1.0, digits=3, marked=told),
        numbers(said("picture_lengths"), lengths),
    ]


def _single_pictures(figures: Figures, said: Texts) -> list[Picture]:
    seeds = [said("picture_seed", seed=i) for i in range(len(figures["flips"]))]
    other = next(one for one in it.ADJECTIVES if one != figures["adjective"])
    rows = {figures["adjective"]: figures["whole"], other: figures["other"]}
    gaze, answers = (
        {said(f"picture_{name}"): figures[name] for name in names}
        for names in (("flips", "two_layers"), ("two_way", "named"))
    )
    return [
        bars(said("picture_only"), numbered(figures["tokens"]), rows, concept="k", top=1.0, digits=3),
        shares(said("picture_gaze", n=len(seeds)), seeds, gaze),
        shares(said("picture_answers", n=len(seeds)), seeds, answers),
    ]


def _note_verdict(figures: Figures) -> Verdict:
    parts = {name: figures[name] for name in ("adjective", "told")}
    if figures["which"] == "single":
        flips = figures["whole"].argmax() != figures["other"].argmax()
        means = {name: percent(float(figures[name].mean())) for name in ("flips", "two_way", "named", "two_layers")}
        more = {"n": len(figures["flips"]), "weight": f"{figures['whole_told']:.2f}", "answer": figures["answer"]}
        return ("verdict_single_flips" if flips else "verdict_single_stays"), {**parts, **means, **more}
    ways = {name: f"{figures[f'{name}_told']:.2f}" for name in ("whole", "cut", "alone")}
    helps = figures["whole_told"] > max(figures["cut_told"], figures["alone_told"])
    rest = {"brought": f"{figures['brought']:.2f}", "apart": f"{figures['apart']:.1g}"}
    return ("verdict_helps" if helps else "verdict_no_help"), {**parts, **ways, **rest}


def _plane_pictures(figures: Figures, said: Texts) -> list[Picture]:
    arrows = {f"q | {one}": arrow for one, arrow in zip(it.ADJECTIVES, figures["arrows"], strict=True)}
    nouns, view = figures["nouns"], figures["view"]
    return [
        plane(
            said(f"picture_{view}"),
            arrows,
            dict(zip(nouns, figures["points"], strict=True)),
            ("q", "q", "k"),
            (said("picture_first"), said("picture_second")),
        ),
        bars(
            said("picture_scores"),
            nouns,
            dict(zip(arrows, figures["scores"], strict=True)),
            concept="scores",
            digits=1,
        ),
    ]


def _plane_verdict(figures: Figures) -> Verdict:
    tired, wide = figures["favourites"]
    parts = {
        "tired": tired,
        "wide": wide,
        "margin_tired": f"{figures['margins'][0]:.1f}",
        "margin_wide": f"{figures['margins'][1]:.1f}",
        "kept": percent(figures["kept"]),
        "off": f"{figures['off']:.1f}" if figures["off"] > 1e-9 else f"{figures['off']:.1g}",
    }
    return f"verdict_{'apart' if min(figures['margins']) > 0 else 'mixed'}_{figures['view']}", parts


def _stages_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts = numbered(figures["tokens"])
    rows = [said("picture_part", word=word) for word in it.ILLUSTRATED]
    parts = np.concatenate([figures["parts"], figures["output"][None]])
    columns = [str(i + 1) for i in range(parts.shape[1])]
    numbers_of = {said("picture_article"): figures["theirs"], said("picture_measured"): figures["ours"]}
    marked = [texts.index(figures["best"])]
    return [
        _stage(said("picture_score"), texts, figures["scores"], marked, concept="scores", digits=1),
        _stage(said("picture_scaled", d=figures["d"]), texts, figures["scaled"], marked, concept="scores"),
        _stage(said("picture_weights"), texts, figures["weights"], marked, concept="k", top=1.0, digits=3),
        matrix(
            said("picture_sum"), [*rows, said("picture_others"), said("picture_output")], columns, parts, scale="signed"
        ),
        bars(said("picture_both"), list(it.ILLUSTRATED), numbers_of, concept="k", top=1.0),
    ]


def _stage(label: str, texts: Sequence[str], values: np.ndarray, marked: list[int], **facts: object) -> Picture:
    return bars(label, texts, {"": values}, marked=marked, **facts)


def _stages_verdict(figures: Figures) -> Verdict:
    animal, street, own = figures["ours"]
    parts = {
        "best": figures["best"],
        "score": f"{figures['best_score']:.1f}",
        "d": figures["d"],
        "root": f"{figures['root']:.2f}",
        "scaled": f"{figures['best_scaled']:.2f}",
        "weight": f"{figures['best_weight']:.3f}",
        "gap": f"{figures['gap']:.1g}",
        "animal": f"{animal:.3f}",
        "street": f"{street:.3f}",
        "it": f"{own:.3f}",
        "rest": f"{figures['elsewhere']:.3f}",
        "next": figures["next_word"],
        **{f"{word}_there": f"{value:.2f}" for word, value in zip(it.ILLUSTRATED, figures["theirs"], strict=True)},
    }
    return f"verdict_{figures['adjective']}", parts


TOLD = (
    Scene(
        "advert",
        it.advert,
        _advert_pictures,
        _advert_verdict,
        controls=(Control("like", "choice", "library", ("library", "search")), ADJECTIVE),
    ),
    Scene(
        "three",
        it.three,
        _three_pictures,
        _three_verdict,
        controls=(Control("word", "slider", 1, tuple(range(12))), Control("at", "slider", 1, (0, 1))),
        links=(("explore", {"model": it.MODELS["small"], "text": TIRED}),),
    ),
    Scene(
        "note",
        it.note,
        _note_pictures,
        _note_verdict,
        controls=(ADJECTIVE, Control("which", "choice", "open", (*it.MODELS, "single"))),
    ),
    Scene(
        "plane",
        it.plane,
        _plane_pictures,
        _plane_verdict,
        controls=(Control("view", "choice", "principal", ("principal", "asked")), WHICH),
    ),
    Scene(
        "stages",
        it.stages,
        _stages_pictures,
        _stages_verdict,
        controls=(ADJECTIVE, WHICH),
        links=(("steps", {"model": it.MODELS["open"], "text": TIRED}),),
    ),
)

SCENES = (*TOLD, *it_further.TOLD)
