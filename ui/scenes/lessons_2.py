"""Lessons 10 to 18: what attention's form allows, and what may be read from its maps."""

from __future__ import annotations

import numpy as np

from attention_core.stories import lessons_2
from ui.scenes import lessons_2_maps
from ui.scenes.dish_drawing import bars, curve, matrix, numbered, numbers, percent, tokens
from ui.scenes.kinds import Control, Figures, Picture, Scene, Verdict
from ui.scenes.texts import Texts

BOTH = "今天吃佛跳墙，明天看佛经。"
DISH = "今天吃佛跳墙"
IT = 7  # The place of "it" in the sentence about the animal.
SHOWN = 5  # Numbers of each output that are drawn.


def _order_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts = numbered(figures["tokens"])
    width = [str(i + 1) for i in range(SHOWN)]
    top = float(np.abs([figures["before"], figures["after"]]).max())
    fed = [(said("picture_first"), " ".join(figures["tokens"])), (said("picture_second"), " ".join(figures["fed"]))]
    return [
        numbers(said("picture_fed"), fed),
        bars(
            said("picture_apart"),
            texts,
            {"": figures["apart"]},
            concept="output",
            top=max(1.0, figures["gap"]),
            digits=2,
        ),
        *(
            matrix(
                said(f"picture_{when}", n=SHOWN),
                texts,
                width,
                figures[when][:, :SHOWN],
                scale="signed",
                digits=1,
                top=top,
            )
            for when in ("before", "after")
        ),
    ]


def _order_verdict(figures: Figures) -> Verdict:
    parts = {"moved": figures["moved"], "n": len(figures["tokens"]), "gap": _exponent(figures["gap"])}
    if figures["gap"] <= lessons_2.SAME:
        return ("verdict_same" if figures["moved"] else "verdict_still"), parts
    reason = {(True, "without"): "mask", (True, "with"): "both"}.get((figures["mask"], figures["taught"]), "places")
    return f"verdict_{reason}", {**parts, "gap": f"{figures['gap']:.2f}"}


def _heads_pictures(figures: Figures, said: Texts) -> list[Picture]:
    rows = [said(f"picture_{file}_{head}") for file in ("first", "second") for head in (0, 1)]
    seeds = [said("picture_seed", seed=seed) for seed in figures["seeds"]]
    names = [said("picture_dish"), said("picture_buddhism")]
    answers = zip(figures["left_answers"], figures["left_probabilities"], strict=True)
    return [
        matrix(said("picture_pairs"), rows, names, figures["pairs"].reshape(4, 2)),
        numbers(
            said("picture_answers", without=said(f"without_{figures['without']}")),
            [
                (said(f"picture_{file}"), f"{answer} {p:.0%}")
                for file, (answer, p) in zip(("first", "second"), answers, strict=True)
            ],
        ),
        bars(said("picture_seeds"), seeds, {"": figures["dish_heads"]}, concept="k", top=1.0),
    ]


def _heads_verdict(figures: Figures) -> Verdict:
    one, two = figures["finders"]
    shares = [figures["pairs"][i, head, figures["topic"]] for i, head in enumerate((one, two))]
    parts = {
        "one": one,
        "two": two,
        "one_share": f"{shares[0]:.2f}",
        "two_share": f"{shares[1]:.2f}",
        "gap": _exponent(float(figures["exchanged"].max())),
        "first": figures["n_first"],
        "n": figures["n_seeds"],
        **{f"{which}_answer": answer for which, answer in zip(("one", "two"), figures["left_answers"], strict=True)},
        **{f"{which}_p": percent(p) for which, p in zip(("one", "two"), figures["left_probabilities"], strict=True)},
    }
    if not figures["is_there"] or not any(shares):
        return "verdict_nobody", parts
    topic = "buddhism" if figures["topic"] else "dish"
    return f"verdict_{topic}_{'same' if one == two else 'swapped'}", parts


def _heads_result(figures: Figures) -> str:
    return {0: "one", figures["n_seeds"]: "zero"}.get(figures["n_first"], "varies")


def _shapes_pictures(figures: Figures, said: Texts) -> list[Picture]:
    d, h, n = (figures[name] for name in ("d_model", "d_head", "n_heads"))
    sizes = [
        (said("picture_w_q"), f"{d} × {h}"),
        (said("picture_w_k"), f"{d} × {h}"),
        (said("picture_product"), f"{d} × {d}"),
        (said("picture_rank"), f"{figures['rank']:,}"),
    ]
    counted = np.array(
        [[figures["two"], figures["product"]], [figures["all_two"], figures["all_product"]]], dtype=float
    )
    inputs = [f"▸{i}" if i == figures["number"] else str(i) for i in range(figures["n_inputs"])]
    heads = [said("picture_head", head=head) for head in range(len(figures["reads"]))]
    return [
        numbers(said("picture_shapes"), sizes),
        bars(
            said("picture_count"),
            [said("picture_apart"), said("picture_whole")],
            {said("picture_per_head"): counted[0], said("picture_all_heads", n=n): counted[1]},
            concept="q",
            digits=0,
        ),
        matrix(said("picture_reads"), inputs, heads, figures["reads"].T, scale="signed"),
        bars(said("picture_change", number=figures["number"]), heads, {"": figures["change"]}, concept="q", digits=2),
    ]


def _shapes_verdict(figures: Figures) -> Verdict:
    two, product = figures["two"], figures["product"]
    parts = {
        "two": f"{two:,}",
        "product": f"{product:,}",
        "factor": f"{max(two, product) / min(two, product):.1f}",
        "rank": figures["rank"],
        "d": figures["d_model"],
        "read": int(figures["n_read"].min()),
        "inputs": figures["n_inputs"],
        "number": figures["number"],
        "changed": int((figures["change"] > 0).sum()),
        "heads": len(figures["change"]),
        "n": figures["n_heads"],
        "all_two": f"{figures['all_two']:,}",
        "all_product": f"{figures['all_product']:,}",
    }
    return f"verdict_{_shapes_result(figures)}", parts


def _shapes_result(figures: Figures) -> str:
    if figures["two"] == figures["product"]:
        return "equal"
    return "fewer" if figures["two"] < figures["product"] else "more"


def _future_pictures(figures: Figures, said: Texts) -> list[Picture]:
    texts, word = numbered(figures["tokens"]), figures["tokens"][figures["word"]]
    allowed = figures["allowed"]
    rows = [f"▸ {text}" if i == figures["word"] else text for i, text in enumerate(texts)]
    return [
        tokens(said("picture_weights", word=word), figures["tokens"], figures["weights"], figures["word"]),
        matrix(said("picture_allowed"), rows, texts, allowed.astype(float), allowed=allowed, digits=0),
        bars(
            said("picture_apart"),
            texts,
            {"": figures["apart"]},
            concept="output",
            digits=2,
            marked=[figures["word"], figures["differs"]],
        ),
    ]


def _future_verdict(figures: Figures) -> Verdict:
    texts = figures["tokens"]
    parts = {
        "word": texts[figures["word"]],
        "seen": figures["n_seen"],
        "n": figures["n"],
        "adjective": texts[figures["differs"]],
        "apart": f"{figures['apart'][figures['word']]:.2f}",
        "earliest": texts[figures["earliest"]],
        "answer": figures["answer"],
        "p": percent(figures["probability"]),
    }
    known = "knows" if figures["knows"] else "blind"
    return f"verdict_{'masked' if figures['mask'] else 'open'}_{known}", parts


def _future_result(figures: Figures) -> str:
    return {figures["n"]: "all", 1: "itself"}.get(figures["it_seen"], "before")


def _count_pictures(figures: Figures, said: Texts) -> list[Picture]:
    lines = {
        said("picture_share", word=figures["word"]): figures["shares"],
        said("picture_mean"): figures["lengths"],
        said("picture_sum"): figures["sums"],
    }
    axes = (said("picture_times"), "")
    width = [str(i + 1) for i in range(len(figures["output"]))]
    series = {said("picture_once"): figures["once"], said("picture_now", n=figures["times"]): figures["output"]}
    return [
        bars(said("picture_outputs"), width, series, concept="output"),
        curve(said("picture_curve"), np.array(lessons_2.TIMES, dtype=float), lines, float(figures["times"]), axes),
    ]


def _count_verdict(figures: Figures) -> Verdict:
    counted = figures["counted"]
    parts = {
        "times": figures["times"],
        "word": figures["word"],
        "gap": _exponent(figures["gap"]),
        "change": f"{figures['gap']:.2f}",
        "once": f"{figures['first_share']:.2f}",
        "share": f"{figures['share']:.2f}",
        "sum": f"{figures['sums'][lessons_2.TIMES.index(figures['times'])]:.1f}",
        "mark": f"{figures['mark_share']:.2f}",
        "counted": f"{counted or 1:.1f}",
    }
    if counted is not None:
        return f"verdict_mark_{figures['which']}", parts
    if figures["times"] == 1:
        return "verdict_once", parts
    return ("verdict_same" if figures["gap"] <= lessons_2.SAME else "verdict_share"), parts


def _count_result(figures: Figures) -> str:
    if np.abs(figures["three"] - figures["single"]).max() <= lessons_2.SAME:
        return "same"
    return "times" if np.allclose(figures["three"], 3 * figures["single"]) else "other"


def _exponent(value: float) -> str:
    """Rounding noise as a power of ten."""
    return f"{value:.0e}" if value else "0"


FORMS = (
    Scene(
        "order",
        lessons_2.order,
        _order_pictures,
        _order_verdict,
        controls=(
            Control("mask", "switch", False),
            Control("taught", "choice", "without", tuple(lessons_2.PLACED)),
            Control("shuffle", "seed", 1),
            Control("sentence", "text", BOTH),
        ),
        options=("same", "changed"),
        borne_out=lambda figures: "same" if figures["plain_gap"] <= lessons_2.SAME else "changed",
    ),
    Scene(
        "heads",
        lessons_2.heads,
        _heads_pictures,
        _heads_verdict,
        controls=(
            Control("without", "choice", "none", tuple(lessons_2.LEFT_OUT)),
            Control("sentence", "text", BOTH),
        ),
        options=("zero", "one", "varies"),
        borne_out=_heads_result,
        links=(("explore", {"model": lessons_2.FILES[0], "text": BOTH}),),
    ),
    Scene(
        "shapes",
        lessons_2.shapes,
        _shapes_pictures,
        _shapes_verdict,
        controls=(
            Control("d_model", "slider", 768, (64, 128, 256, 512, 768, 1024)),
            Control("d_head", "slider", 64, (8, 16, 32, 64, 128, 256, 512)),
            Control("n_heads", "slider", 12, (1, 2, 4, 8, 12, 16)),
            Control("number", "slider", 2, tuple(range(16))),
        ),
        options=("fewer", "equal", "more"),
        borne_out=_shapes_result,
    ),
)

SIGHT = (
    Scene(
        "future",
        lessons_2.future,
        _future_pictures,
        _future_verdict,
        controls=(
            Control("mask", "switch", True),
            Control("word", "slider", IT, tuple(range(12))),
            Control("adjective", "choice", "tired", lessons_2.ADJECTIVES),
        ),
        options=("all", "before", "itself"),
        borne_out=_future_result,
    ),
    Scene(
        "count",
        lessons_2.count,
        _count_pictures,
        _count_verdict,
        controls=(
            Control("times", "slider", 3, lessons_2.TIMES),
            Control("which", "choice", "all", ("all", "one")),
            Control("mark", "switch", False),
            Control("sentence", "text", DISH),
        ),
        options=("times", "same", "other"),
        borne_out=_count_result,
    ),
)

SCENES = (*FORMS, *lessons_2_maps.MAPS, *SIGHT)
