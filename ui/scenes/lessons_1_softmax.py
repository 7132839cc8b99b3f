"""Lessons 6–9, drawn: softmax, its scale and its mask."""

from __future__ import annotations

import numpy as np

from attention_core.stories import lessons_1_softmax as lessons
from attention_core.stories.dish import NAME
from attention_core.stories.lessons_1 import SAME
from ui.scenes.dish_drawing import bars, curve, matrix, numbered, tokens
from ui.scenes.kinds import Control, Figures, Picture, Scene, Verdict
from ui.scenes.lessons_1 import small
from ui.scenes.texts import Texts


def _axes_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts, asker = numbered(figures["tokens"]), figures["asker"]
    sums = {said("picture_rows"): figures["row_sums"], said("picture_columns"): figures["column_sums"]}
    return [
        tokens(said("picture_row", word=texts[asker]), figures["tokens"], figures["row"], asker),
        matrix(said("picture_weights"), texts, texts, figures["weights"]),
        bars(said("picture_sums"), texts, sums, marked=[asker]),
    ]


def _axes_verdict(figures: Figures) -> Verdict:
    parts = {
        "asker": figures["tokens"][figures["asker"]],
        "total": f"{figures['total']:.2f}",
        "least_row": f"{figures['row_sums'].min():.2f}",
        "most_row": f"{figures['row_sums'].max():.2f}",
        "most": figures["most"][0],
        "most_sum": f"{figures['most'][1]:.2f}",
        "least": figures["least"][0],
        "least_sum": f"{figures['least'][1]:.2f}",
    }
    is_mean = np.abs(figures["row_sums"] - 1).max() < SAME
    return ("verdict_rows" if is_mean else "verdict_columns"), parts


def _axes_borne_out(figures: Figures) -> str:
    return "one" if abs(figures["noun"] - 1) < SAME else "any"


def _shares_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts, word = numbered(figures["tokens"]), figures["word"]
    copies = [said("picture_copy", word=word, i=i) for i in range(2, figures["copies"] + 1)]
    marked = [figures["top"], *range(len(texts), len(texts) + len(copies))]
    top = {"concept": "k", "top": 1.0, "digits": 3}
    return [
        bars(said("picture_with"), [*texts, *copies], {"": figures["weights"]}, marked=marked, **top),
        bars(said("picture_alone"), texts, {"": figures["alone"]}, marked=[figures["top"]], **top),
    ]


def _shares_verdict(figures: Figures) -> Verdict:
    parts = {
        "word": figures["word"],
        "score": f"{figures['score']:.2f}",
        "single": f"{figures['single']:.3f}",
        "each": f"{figures['each']:.3f}",
        "together": f"{figures['together']:.3f}",
        "copies": figures["copies"],
        "total": f"{figures['total']:.2f}",
    }
    if figures["copies"] > 1:
        return "verdict_copies", parts
    if figures["of_name"] is None:
        return ("verdict_alone" if figures["of"] == "one" else "verdict_none"), parts
    name = " · ".join(f"{each} {share:.0%}" for each, share in zip(NAME, figures["of_name"], strict=True))
    return "verdict_three", {**parts, "name": name, "all": f"{figures['of_name'].sum():.0%}"}


def _shares_borne_out(figures: Figures) -> str:
    left = figures["halved"]
    return "same" if left > 0.75 else "half" if left > 0.25 else "none"


def _scaling_pictures(figures: Figures, said: Texts) -> list[Picture]:
    ways = (said("picture_raw"), said("picture_scaled"))
    axis, d = said("picture_width"), float(figures["d"])
    drawn = []
    for name in ("tops", "jacobians", "saturated", "spreads"):
        lines = dict(zip(ways, figures[name], strict=True))
        one = curve(said(f"picture_{name}"), figures["widths"], lines, d, (axis, ""))
        drawn.append(Picture(one.kind, one.label, {**one.facts, "log_x": True}, one.arrays))
    row = dict(zip(ways, (figures["example"], figures["example_scaled"]), strict=True))
    keys = [said("picture_key", i=i + 1) for i in range(len(figures["example"]))]
    return [*drawn, bars(said("picture_example", d=figures["d"]), keys, row, concept="k", top=1.0)]


def _scaling_verdict(figures: Figures) -> Verdict:
    at = figures["place"]
    parts = {
        "d": figures["d"],
        "keys": lessons.N_KEYS,
        "draws": lessons.N_DRAWS,
        **_pair("top", figures["tops"][:, at], ".2f"),
        **_pair("norm", figures["jacobians"][:, at], ".3f"),
        **_pair("share", figures["saturated"][:, at], ".1%"),
        **_pair("spread", figures["spreads"][:, at], ".1f"),
    }
    return ("verdict_apart" if np.ptp(figures["tops"][:, at]) > 0.1 else "verdict_close"), parts


def _pair(name: str, values: np.ndarray, form: str) -> dict[str, str]:
    """Without and with ÷√d, as they are written."""
    return {f"{name}_raw": format(values[0], form), f"{name}_scaled": format(values[1], form)}


def _scaling_borne_out(figures: Figures) -> str:
    top = figures["at_64"]
    return "most" if top > 2 / 3 else "third" if top > 1 / 5 else "even"


def _masking_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts = numbered(figures["tokens"])
    hatched = {} if figures["worst_leak"] > SAME else {"allowed": figures["allowed"]}
    leaks = {said("picture_leaked"): figures["leaked"], said("picture_sum"): figures["row_sums"]}
    return [
        matrix(said("picture_weights"), texts, texts, figures["weights"], **hatched),
        bars(said("picture_rows"), texts, leaks, top=1.0, digits=3, marked=[] if hatched else [figures["worst"]]),
    ]


def _masking_verdict(figures: Figures) -> Verdict:
    parts = {
        "letter": figures["tokens"][figures["worst"]],
        "place": figures["worst"],
        "worst": f"{figures['worst_leak']:.2f}",
        "mean": f"{figures['mean_leak']:.2f}",
        "lowest": small(figures["lowest"]),
        "gap": small(figures["gap"]),
    }
    if figures["worst_leak"] > SAME:
        return "verdict_leaks", parts
    return ("verdict_short" if figures["lowest"] < 1 - SAME else "verdict_right"), parts


def _masking_borne_out(figures: Figures) -> str:
    leak = figures["zero_leak"]
    return "none" if leak < SAME else "little" if leak < 0.1 else "much"


SCENES = (
    Scene(
        "axes",
        lessons.axes,
        _axes_pictures,
        _axes_verdict,
        controls=(
            Control("along", "choice", "rows", ("rows", "columns")),
            Control("asker", "slider", 7, tuple(range(12))),
        ),
        options=("one", "any"),
        borne_out=_axes_borne_out,
    ),
    Scene(
        "shares",
        lessons.shares,
        _shares_pictures,
        _shares_verdict,
        controls=(
            Control("of", "choice", "one", ("one", "three", "none")),
            Control("copies", "slider", 2, (1, 2, 3, 4, 8)),
        ),
        options=("same", "half", "none"),
        borne_out=_shares_borne_out,
    ),
    Scene(
        "scaling",
        lessons.scaling,
        _scaling_pictures,
        _scaling_verdict,
        controls=(Control("d", "slider", lessons.ASKED_WIDTH, lessons.WIDTHS), Control("draw", "seed", 0)),
        options=("even", "third", "most"),
        borne_out=_scaling_borne_out,
    ),
    Scene(
        "masking",
        lessons.masking,
        _masking_pictures,
        _masking_verdict,
        controls=(
            Control("way", "choice", "zero", ("infinity", "zero", "after", "again")),
            Control("at", "slider", 1, (0, 1)),
        ),
        options=("none", "little", "much"),
        borne_out=_masking_borne_out,
    ),
)
