"""Lessons 1–5, drawn: queries, keys and values."""

from __future__ import annotations

import numpy as np

from attention_core.stories import lessons_1
from attention_core.stories.lessons_1 import SAME
from ui.scenes.dish_drawing import bars, matrix, numbered, numbers, shares, tokens
from ui.scenes.kinds import Control, Figures, Picture, Scene, Verdict
from ui.scenes.texts import Texts

PLACES = tuple(range(13))


def _stored_pictures(figures: Figures, said: Texts) -> list[Picture]:
    name = figures["made"].upper()
    made = said("picture_numbers", n=figures["n_numbers"], all=figures["size"])
    kept = said("picture_numbers", n=figures["stored_numbers"], all=int(np.prod(figures["stored_shape"])))
    wide = _counted(figures["change"].shape[1])
    rows = numbered(figures["tokens"])
    return [
        numbers(
            said("picture_changed"),
            [(said("picture_made", name=name), made), (said("picture_kept", name=name), kept)],
        ),
        matrix(said("picture_change", name=name), rows, wide, figures["change"], scale="signed"),
        matrix(said("picture_after", name=name), rows, wide, figures["vectors"], scale="signed"),
    ]


def _stored_verdict(figures: Figures) -> Verdict:
    parts = {
        "name": figures["made"].upper(),
        "word": figures["replaced"],
        "rows": figures["n_rows"],
        "n": len(figures["tokens"]),
        "stored": figures["stored_numbers"],
        "height": figures["stored_shape"][0],
        "width": figures["stored_shape"][1],
    }
    return ("verdict_kept" if figures["stored_numbers"] == 0 else "verdict_moved"), parts


def _stored_borne_out(figures: Figures) -> str:
    if figures["stored_numbers"] == 0:
        return "vectors"
    return "both" if figures["n_rows"] else "stored"


def _tied_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts, allowed = numbered(figures["tokens"]), figures["allowed"]
    scores = matrix(said("picture_scores"), texts, texts, figures["scores"], allowed=allowed, scale="signed", digits=1)
    return [
        matrix(said("picture_weights"), texts, texts, figures["weights"], allowed=allowed),
        scores,
        bars(said("picture_own"), texts, {"": figures["own"]}, top=1.0),
        _cost(figures, said, "apart", "shared"),
    ]


def _tied_verdict(figures: Figures) -> Verdict:
    parts = {
        "uneven": small(figures["uneven"]),
        "weights": f"{figures['uneven_weights']:.2f}",
        "away": figures["n_elsewhere"],
        "n": figures["n"],
        **_paid(figures),
    }
    if figures["example"] is None:
        return "verdict_self", parts
    return "verdict_elsewhere", {**parts, "asker": figures["example"][0], "answerer": figures["example"][1]}


def _tied_borne_out(figures: Figures) -> str:
    if figures["uneven_weights"] < SAME:
        return "symmetric"
    return "elsewhere" if figures["n_elsewhere"] else "self"


def _jobs_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts, wide = numbered(figures["tokens"]), _counted(len(figures["key"]))
    before, after = said("picture_before"), said("picture_after")
    weights = {before: figures["weights"], after: figures["weights_after"]}
    outputs = {before: figures["output"], after: figures["output_after"]}
    two = {said("picture_k"): figures["key"], said("picture_v"): figures["value"]}
    return [
        bars(said("picture_weights"), texts, weights, concept="k", top=1.0, digits=3, marked=[figures["place"]]),
        bars(said("picture_output"), wide, outputs, concept="output"),
        bars(said("picture_two", word=texts[figures["place"]]), wide, two, concept="v"),
        _cost(figures, said, "apart", "shared"),
    ]


def _jobs_verdict(figures: Figures) -> Verdict:
    parts = {
        "word": figures["tokens"][figures["place"]],
        "weight": f"{figures['weights'][figures['place']]:.2f}",
        "weight_after": f"{figures['weights_after'][figures['place']]:.2f}",
        "moved": small(figures["moved"]),
        "output": f"{figures['moved_output']:.2f}",
        **_paid(figures),
    }
    key = "verdict_key" if figures["part"] == "k" else "verdict_value"
    return key if (figures["moved"] < SAME) == (figures["part"] == "v") else "verdict_else", parts


def _jobs_borne_out(figures: Figures) -> str:
    return "stay" if figures["value_moves"] < SAME else "move"


def _similarity_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts, marked = numbered(figures["tokens"]), [figures["noun"]]
    both = [
        (said(f"picture_{what}_{adjective}"), signed(figures[f"both_{what}s"][i], 2))
        for i, adjective in enumerate(lessons_1.ADJECTIVES)
        for what in ("cosine", "score")
    ]
    return [
        tokens(said("picture_shares"), figures["tokens"], figures["weights"], figures["it"]),
        bars(said("picture_cosines"), texts, {"": figures["cosines"]}, top=1.0, marked=marked),
        bars(said("picture_scores"), texts, {"": figures["scaled"]}, concept="scores", marked=marked),
        numbers(said("picture_both"), both),
    ]


def _similarity_verdict(figures: Figures) -> Verdict:
    parts = {
        "nearest": figures["nearest"],
        "nearest_cosine": signed(figures["nearest_cosine"], 2),
        "nearest_weight": f"{figures['nearest_weight']:.4f}",
        "strongest": figures["strongest"],
        "strongest_cosine": signed(figures["strongest_cosine"], 2),
        "strongest_weight": f"{figures['strongest_weight']:.4f}",
        "there": signed(figures["there"], 1),
        "back": signed(figures["back"], 1),
    }
    return ("verdict_alike" if figures["nearest"] == figures["strongest"] else "verdict_apart"), parts


def _similarity_borne_out(figures: Figures) -> str:
    if figures["score_change"] < SAME:
        return "neither"
    return "score" if figures["cosine_change"] < SAME else "both"


def _asking_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts = numbered(figures["tokens"])
    counts = [
        (said("picture_queries"), str(figures["n_asking"])),
        (said("picture_probability", letter=figures["wanted"]), f"{figures['probability']:.1%}"),
        (said("picture_answer"), figures["answer"]),
    ]
    return [
        numbers(said("picture_run"), counts),
        tokens(said("picture_row", letter=texts[figures["at"]]), figures["tokens"], figures["row"], figures["at"]),
        matrix(said("picture_first"), texts, texts, figures["first"], allowed=figures["first_allowed"]),
        matrix(said("picture_second"), texts, texts, figures["weights"], allowed=figures["allowed"]),
    ]


def _asking_verdict(figures: Figures) -> Verdict:
    parts = {
        "n": figures["n"],
        "layers": figures["n_layers"],
        "queries": figures["n_queries"],
        "letter": figures["wanted"],
        "loud": f"{figures['loud']:.1%}",
        "muted": f"{figures['muted']:.1%}",
        "answer": figures["answer"],
        "drift": small(figures["drift"]),
        "at": figures["at"],
        "asks": figures["tokens"][figures["at"]],
        "finds": figures["tokens"][int(figures["row"].argmax())],
        "share": f"{figures['row'].max():.2f}",
    }
    if not figures["quiet"]:
        return "verdict_all", parts
    return ("verdict_lost" if figures["answer"] != figures["wanted"] else "verdict_kept"), parts


def _asking_borne_out(figures: Figures) -> str:
    if figures["n_queries"] == figures["n"] * figures["n_layers"]:
        return "layer"
    return "letter" if figures["n_queries"] == figures["n"] else "one"


def _cost(figures: Figures, said: Texts, *ways: str) -> Picture:
    """Right answers by seed, from the cards."""
    seeds = [said("picture_seed", seed=seed) for seed in figures["seeds"]]
    return shares(said("picture_cost"), seeds, {said(f"picture_{way}"): figures[way] for way in ways})


def _paid(figures: Figures) -> dict[str, object]:
    apart, shared = figures["means"]
    return {
        "apart": f"{apart:.2%}",
        "shared": f"{shared:.2%}",
        "worse": figures["worse"],
        "seeds": len(figures["seeds"]),
        "width": figures["d_model"],
        "steps": f"{figures['steps']:,}",
    }


def small(number: float) -> str:
    """A size that may be nothing but rounding."""
    if number == 0:
        return "0"
    return f"{number:.2f}" if number >= 0.01 else f"{number:.1e}"


def signed(number: float, digits: int) -> str:
    return f"{number:.{digits}f}".replace("-", "−")


def _counted(n: int) -> list[str]:
    return [str(i + 1) for i in range(n)]


SCENES = (
    Scene(
        "stored",
        lessons_1.stored,
        _stored_pictures,
        _stored_verdict,
        controls=(
            Control("replaced", "choice", "dog", ("dog", "river", "truck")),
            Control("made", "choice", "q", ("q", "k", "v")),
            Control("at", "slider", 0, (0, 1)),
        ),
        options=("stored", "vectors", "both"),
        borne_out=_stored_borne_out,
    ),
    Scene(
        "tied",
        lessons_1.tied,
        _tied_pictures,
        _tied_verdict,
        controls=(Control("what", "choice", "dish", tuple(lessons_1.TIED)), Control("at", "slider", 0, (0, 1))),
        options=("self", "symmetric", "elsewhere"),
        borne_out=_tied_borne_out,
    ),
    Scene(
        "two_jobs",
        lessons_1.two_jobs,
        _jobs_pictures,
        _jobs_verdict,
        controls=(
            Control("part", "choice", "v", ("v", "k")),
            Control("place", "slider", 8, PLACES[:9]),
            Control("room", "choice", "narrow", ("narrow", "dish", "letters")),
        ),
        options=("move", "stay"),
        borne_out=_jobs_borne_out,
    ),
    Scene(
        "similarity",
        lessons_1.similarity,
        _similarity_pictures,
        _similarity_verdict,
        controls=(
            Control("adjective", "choice", "tired", lessons_1.ADJECTIVES),
            Control("table", "choice", "given", tuple(lessons_1.TABLES)),
        ),
        options=("both", "score", "neither"),
        borne_out=_similarity_borne_out,
    ),
    Scene(
        "all_ask",
        lessons_1.all_ask,
        _asking_pictures,
        _asking_verdict,
        controls=(Control("at", "slider", 12, PLACES), Control("quiet", "switch", False)),
        options=("one", "letter", "layer"),
        borne_out=_asking_borne_out,
    ),
)
