"""The last question about the story of 佛跳墙: can Q and K be one?"""

from __future__ import annotations

from attention_core.stories import dish_tied
from ui.scenes.dish_drawing import SENTENCE, bars, curve, matrix, number, numbered, numbers, percent, plane, shares
from ui.scenes.kinds import Control, Figures, Picture, Scene, Verdict
from ui.scenes.texts import Texts

COSINES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


def _tied_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts = numbered(figures["tokens"])
    return [
        matrix(said("picture_scores"), texts, texts, figures["scores"], scale="signed", digits=1),
        matrix(said("picture_weights"), texts, texts, figures["weights"], allowed=figures["allowed"]),
        bars(said("picture_lengths"), texts, {"": figures["lengths"]}, concept="k", digits=1),
    ]


def _tied_verdict(figures: Figures) -> Verdict:
    asker, answerer = figures["example"] or ("", "")
    parts = {
        "uneven": f"{figures['uneven']:.1f}",
        "weights": f"{figures['uneven_weights']:.2f}",
        "elsewhere": figures["elsewhere"],
        "n": figures["n"],
        "asker": asker,
        "answerer": answerer,
    }
    if figures["uneven"] > 1e-9:
        return "verdict_uneven", parts
    return ("verdict_even" if figures["elsewhere"] else "verdict_even_self"), parts


def _graph_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts = numbered(figures["tokens"])
    edges = [f"{text} → {texts[j]}" for text, j in zip(texts, figures["looks"], strict=True)]
    one, two = (texts[i] for i in figures["pair"])
    scores = [
        (f"{one} → {two}", number(figures["there"], 1)),
        (f"{two} → {one}", number(figures["back"], 1)),
        (f"{one} → {one}", number(figures["itself"][0], 1)),
        (f"{two} → {two}", number(figures["itself"][1], 1)),
    ]
    return [
        numbers(said("picture_pair"), scores),
        bars(said("picture_edges"), edges, {"": figures["edge_weights"]}, concept="k", top=1.0),
        matrix(said("picture_weights"), texts, texts, figures["weights"], allowed=figures["allowed"]),
        numbers(said("picture_uneven"), [(said("picture_left"), percent(figures["left"]))]),
    ]


def _graph_verdict(figures: Figures) -> Verdict:
    one, two = (numbered(figures["tokens"])[i] for i in figures["pair"])
    parts = {
        "one": one,
        "two": two,
        "mutual": len(figures["mutual"]),
        "away": figures["away"],
        "longer": figures["longer"],
    }
    if figures["mutual"]:
        return "verdict_mutual", parts
    return ("verdict_ordered" if figures["shared"] else "verdict_none"), parts


def _chain_pictures(figures: Figures, said: Texts) -> list[Picture]:
    b, a, near, far = figures["arrows"]
    measured = zip(("ab", "bc", "ac"), figures["measured"], strict=True)
    between = f"{number(figures['measured_lowest'])} … {number(figures['measured_highest'])}"
    lines = {said("picture_low"): figures["lows"], said("picture_high"): figures["highs"]}
    arrows = {"佛": b, "跳墙": a, said("picture_near"): near, said("picture_far"): far}
    return [
        plane(said("picture_plane"), arrows, {}, ("q", "k", "o", "o", "o"), ("1", "2")),
        curve(said("picture_curve"), figures["cosines"], lines, figures["bc"], (said("picture_x"), said("picture_y"))),
        numbers(
            said("picture_measured"),
            [
                *((said(f"picture_{name}"), number(cosine)) for name, cosine in measured),
                (said("picture_between"), between),
            ],
        ),
    ]


def _chain_verdict(figures: Figures) -> Verdict:
    parts = {
        "lowest": number(figures["lowest"]),
        "highest": number(figures["highest"]),
        "head": figures["of"],
        "measured": number(figures["measured"][2]),
        "low": number(figures["measured_lowest"]),
        "high": number(figures["measured_highest"]),
    }
    if figures["highest"] - figures["lowest"] < 1e-9:
        return "verdict_settled", parts
    return ("verdict_forced" if figures["lowest"] > 1e-9 else "verdict_free"), parts


def _cost_pictures(figures: Figures, said: Texts) -> list[Picture]:
    seeds = [said("picture_seed", seed=seed) for seed in figures["seeds"]]
    steps = figures["steps"]
    series = {
        said("picture_apart", steps=steps): figures["apart"],
        said("picture_tied", steps=steps): figures["tied"],
    }
    if figures["longer"] is not None:
        series |= {said("picture_tied", steps=figures["longer_steps"]): figures["longer"]}
    drawn = [shares(said(f"picture_{figures['what']}"), seeds, series)]
    if figures["divided"] is not None:
        apart, tied = (f"{divided} / {len(seeds)}" for divided in figures["divided"])
        rows = [(said("picture_divided_apart"), apart), (said("picture_divided_tied"), tied)]
        drawn.append(numbers(said("picture_divided"), rows))
    return drawn


def _cost_verdict(figures: Figures) -> Verdict:
    (apart, tied), longer = figures["means"], figures["longer_mean"]
    parts = {
        "apart": percent(apart),
        "tied": percent(tied),
        "longer": "" if longer is None else percent(longer),
        "more_steps": "" if longer is None else f"{figures['longer_steps']:,}",
        "width": figures["d_model"],
        "d": figures["d_head"],
        "steps": f"{figures['steps']:,}",
        "worse": figures["worse"],
        "n": len(figures["seeds"]),
        "spread": percent(figures["spread"]),
    }
    if apart - tied <= figures["spread"]:
        return "verdict_free", parts
    return ("verdict_costs" if longer is None else "verdict_costs_longer"), parts


ASKED = (
    Scene(
        "tied",
        dish_tied.tied,
        _tied_pictures,
        _tied_verdict,
        controls=(
            Control("shared", "switch", True),
            Control("at", "slider", 0, (0, 1)),
            Control("sentence", "text", SENTENCE),
        ),
    ),
    Scene(
        "graph",
        dish_tied.graph,
        _graph_pictures,
        _graph_verdict,
        controls=(
            Control("shared", "switch", False),
            Control("sentence", "text", SENTENCE),
        ),
    ),
    Scene(
        "chain",
        dish_tied.chain,
        _chain_pictures,
        _chain_verdict,
        controls=(
            Control("ab", "slider", 0.9, COSINES),
            Control("bc", "slider", 0.9, COSINES),
            Control("of", "slider", 0, (0, 1)),
        ),
    ),
    Scene(
        "cost",
        dish_tied.cost,
        _cost_pictures,
        _cost_verdict,
        controls=(Control("what", "choice", "letters", tuple(dish_tied.COSTS)),),
    ),
)
