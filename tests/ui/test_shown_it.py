"""The story of it, animal and tired: what each scene draws and says, against numbers that are checked in tests/core."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import attention_core as ac
from tests.ui.shown import (
    ROUNDING,
    Expected,
    Tell,
    bars,
    counted,
    flow,
    follows,
    matrix,
    numbered,
    numbers,
    plane,
    settings,
    tokens,
)
from ui.scenes import it
from ui.scenes.kinds import Figures

WORDS = ["The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "tired", "."]
IT, ANIMAL, STREET = 7, 1, 5
FITS = {"tired": "animal", "wide": "street"}


def _words(adjective: str) -> list[str]:
    return [adjective if word == "tired" else word for word in WORDS]


def _share(value: float) -> str:
    return f"{value:.2%}" if 0 < value < 0.01 or 0.99 < value < 1 else f"{value:.1%}"


def advert(f: Figures, like: str, adjective: str) -> Expected:
    texts, w = _words(adjective), f["weights"]
    best = texts[int(np.argmax(w))]
    pictures = [
        flow(f"picture_{like}", {f"picture_{like}_{one}": f"picture_{like}_{one}_what" for one in "qkvo"}),
        flow("picture_model", {"picture_query": "picture_numbers 32", "picture_keys": "picture_each 12 32",
             "picture_values": "picture_each 12 32", "picture_mixture": f"picture_most {best} {_share(max(w))}"}),
        tokens("picture_shares", texts, w, IT),
    ]  # fmt: skip
    parts = {"best": best, "weight": max(w), "others": 11, "rest": 1 - max(w), "answer": f["answer"]}
    return f"verdict_{'fits' if best == FITS[adjective] else 'else'}_{like}", {**parts, "p": f["probability"]}, pictures


def three(f: Figures, word: int, at: int) -> Expected:
    name, asks, asked = numbered(WORDS)[word], f["asks"], f["asked"]
    pictures = [
        matrix(f"picture_vectors {name}", "qkv", counted(8), f["vectors"]),
        tokens(f"picture_asks {name}", WORDS, asks, word),
        tokens(f"picture_asked {name}", WORDS, asked, word),
    ]
    finds, most = int(np.argmax(asks)), int(np.argmax(asked))
    parts = {"word": name, "layer": at, "finds": WORDS[finds], "weight": asks[finds], "most": WORDS[most], "n": 12}
    parts |= {"asked": asked[most], "total": sum(asked)}
    return f"verdict_{'self' if finds == word else 'other'}", parts, pictures


def note(f: Figures, adjective: str, which: str) -> Expected:
    texts, whole = _words(adjective), f["whole"]
    noun = texts.index(FITS[adjective])
    if which == "single":
        return _single(f, adjective, noun)
    ways = {f"picture_{way}": f[way] for way in ("whole", "cut", "alone")}
    lengths = dict(zip(("picture_of_word", "picture_of_note"), (f"{one:.2f}" for one in f["lengths"]), strict=True))
    pictures = [
        tokens("picture_brings", texts, f["brings"], IT),
        bars("picture_looks", texts, ways, [noun]),
        numbers("picture_lengths", lengths),
    ]
    parts = {"adjective": adjective, "told": FITS[adjective], "brought": f["brings"][10], "apart": ROUNDING}
    parts |= {way: f[way][noun] for way in ("whole", "cut", "alone")}
    helps = all(whole[noun] > f[way][noun] for way in ("cut", "alone"))
    return f"verdict_{'helps' if helps else 'no_help'}", parts, pictures


def _single(f: Figures, adjective: str, noun: int) -> Expected:
    texts, seeds = _words(adjective), [f"picture_seed {i}" for i in range(5)]
    other = "wide" if adjective == "tired" else "tired"
    pictures = [
        bars("picture_only", texts, {adjective: f["whole"], other: f["other"]}),
        bars("picture_gaze 5", seeds, {"picture_flips": f["flips"], "picture_two_layers": f["two_layers"]}),
        bars("picture_answers 5", seeds, {"picture_two_way": f["two_way"], "picture_named": f["named"]}),
    ]
    parts = {"adjective": adjective, "told": FITS[adjective], "n": 5, "weight": f["whole"][noun], "answer": f["answer"]}
    parts |= {name: sum(f[name]) / 5 for name in ("flips", "two_way", "named", "two_layers")}
    turns = np.argmax(f["whole"]) != np.argmax(f["other"])
    return f"verdict_single_{'flips' if turns else 'stays'}", parts, pictures


def plane_of(f: Figures, view: str, which: str) -> Expected:
    nouns, scores = ["animal", "dog", "horse", "street", "tunnel", "river"], f["scores"]
    names = ["q | tired", "q | wide"]
    arrows, points = dict(zip(names, f["arrows"], strict=True)), dict(zip(nouns, f["points"], strict=True))
    pictures = [
        plane(f"picture_{view}", arrows, points, "picture_first|picture_second"),
        bars("picture_scores", nouns, dict(zip(names, scores, strict=True))),
    ]
    margins = min(scores[0, :3]) - max(scores[0, 3:]), min(scores[1, 3:]) - max(scores[1, :3])
    favourites = [nouns[int(np.argmax(row))] for row in scores]
    parts = {"tired": favourites[0], "wide": favourites[1], "margin_tired": margins[0], "margin_wide": margins[1]}
    off = np.abs(f["arrows"] @ f["points"].T - scores).max()
    parts |= {"kept": f["kept"], "off": ROUNDING if view == "asked" else off}
    return f"verdict_{'apart' if min(margins) > 0 else 'mixed'}_{view}", parts, pictures


def stages(f: Figures, adjective: str, which: str) -> Expected:
    texts, w, d = _words(adjective), f["weights"], {"open": 32, "small": 8}[which]
    named = ["animal", "street", "it"]
    others = [i for i in range(12) if i not in (ANIMAL, STREET, IT)]
    best, following = int(np.argmax(w)), max(others, key=lambda i: w[i])
    rows = [*(f"picture_part {word}" for word in named), "picture_others", "picture_output"]
    illustration, ours = (0.80, 0.05, 0.15), w[[ANIMAL, STREET, IT]]
    pictures = [
        bars("picture_score", texts, f["scores"], [best]),
        bars(f"picture_scaled {d}", texts, f["scores"] / math.sqrt(d), [best]),
        bars("picture_weights", texts, w, [best]),
        matrix("picture_sum", rows, counted(d), [*f["parts"], f["output"]]),
        bars("picture_both", named, {"picture_article": illustration, "picture_measured": ours}),
    ]
    parts = {"best": texts[best], "score": f["scores"][best], "d": d, "root": math.sqrt(d), "gap": ROUNDING}
    parts |= {"scaled": f["scores"][best] / math.sqrt(d), "weight": w[best], "rest": sum(w[others])}
    parts |= {"next": texts[following], **dict(zip(named, ours, strict=True))}
    parts |= {f"{word}_there": value for word, value in zip(named, illustration, strict=True)}
    return f"verdict_{adjective}", parts, pictures


def words(f: Figures, noun: str, rival: str, adjective: str, versus: str) -> Expected:
    first, second = f["tokens"]
    one, other = (first[10], second[10]) if first[10] != second[10] else (first[-2], second[-2])
    merged = numbered([a if a == b else f"{a} / {b}" for a, b in zip(first, second, strict=True)])
    answers, w = f["answers"], f["weights"]
    card = [row["forty_pairs"]["pairs"] for row in ac.load("pronoun-open").card.details["figures"]["seeds"]]
    pictures = [
        bars("picture_looks", merged, {f"… {one}": w[0], f"… {other} ": w[1]}),
        bars(f"picture_answers {one}", answers[0], f["probabilities"][0]),
        bars(f"picture_answers {other}", answers[1], f["probabilities"][1]),
        numbers("picture_test", {"picture_pairs 5": f"picture_span {min(card):.0f} {max(card):.0f} 40"}),
    ]
    looks = [row.argmax() for row in w]
    parts = {"one": one, "other": other, "looks": first[looks[0]], "looks_other": second[looks[1]], "n": "6,000"}
    parts |= {"weight": max(w[0]), "weight_other": max(w[1]), "answer": answers[0][0], "against": answers[1][0]}
    known = set(ac.load("pronoun-open").vocabulary)
    unknown = sorted({word for word in (*first, *second) if word.lower() not in known})
    parts |= {"unknown": ", ".join(unknown), "n": f"{len(known):,}"}
    if unknown:
        return "verdict_unknown", parts, pictures
    among = {answers[0][0], answers[1][0]} <= {noun.lower(), rival.lower()}
    same = answers[0][0] == answers[1][0]
    return f"verdict_{'same' if same else 'flips' if among else 'else'}", parts, pictures


def moved(f: Figures, frame: str, adjective: str, places: bool, which: str) -> Expected:
    texts, w, frames = f["tokens"], f["weights"], ["before", "swapped", "behind", "so"]
    noun, other = FITS[adjective], FITS["wide" if adjective == "tired" else "tired"]
    low = [text.lower() for text in texts]
    at, told, rest = low.index("it"), w[low.index(noun)], w[low.index(other)]
    both = {word: f["by_frame"][:, i] for i, word in enumerate(("animal", "street"))}
    pictures = [
        tokens("picture_looks", texts, w, at),
        bars("picture_frames", [f"frame_{one}" for one in frames], both, [frames.index(frame)]),
    ]
    parts = {"noun": noun, "distance": abs(low.index(noun) - at), "told": told, "other": rest, "brought": f["brought"]}
    parts |= {"answer": f["answer"], "p": f["probability"], "change": f["change"]}
    key = "missed" if told <= rest else "behind" if low.index(noun) > at else "before"
    assert (frame in ("behind", "so")) == (low.index(noun) > at)
    return f"verdict_{key}", parts, pictures


def inputs(f: Figures, kind: str, adjective: str, scenery: str) -> Expected:
    asks, answers, w = f["askers"], f["answerers"], f["weights"]
    m, n, at = len(asks), len(answers), [text.lower() for text in asks].index("it")
    assert (m, n) == ({"self": (11, 11), "cross": (4, 6)}[kind])
    into = {"picture_input": f"{m} × 32", "Q": f"{m} × 8", "K": f"{n} × 8"}
    if kind == "cross":
        into = {"picture_asking": f"{m} × 32", "Q": f"{m} × 8", "picture_answering": f"{n} × 32", "K": f"{n} × 8"}
    rows = [f"▸ {text}" if i == at else text for i, text in enumerate(numbered(asks))]
    pictures = [
        flow("picture_shapes", {**into, "V": f"{n} × 8", "picture_table": f"{m} × {n}", "picture_sums": f"{m} × 8"}),
        matrix("picture_weights", rows, numbered(answers), w),
    ]
    looks = int(np.argmax(w[at]))
    parts = {"m": m, "n": n, "adjective": adjective, "looks": answers[looks], "weight": w[at, looks]}
    return f"verdict_{kind}", {**parts, "answer": f["answer"]}, pictures


def causal(f: Figures, mask: bool, case: str) -> Expected:
    (one, other), asks = f["tokens"], {"once": "it", "twice": "it", "letters": "a"}[case]
    merged = numbered([a if a == b else f"{a} / {b}" for a, b in zip(one, other, strict=True)])
    places = [i for i, text in enumerate(one) if text == asks]
    first, last = places[0], places[-1]
    pair = next((a, b) for a, b in zip(one, other, strict=True) if a != b)
    (a, b), (c, d) = f["answers"]
    said = {f"picture_first {asks}": f"{a} · {c}", f"picture_last {asks}": f"{b} · {d}"}
    if len(places) == 1:
        del said[f"picture_last {asks}"]
    pictures = [
        bars(f"picture_apart {pair[0]} {pair[1]}", merged, f["apart"], [first, last]),
        numbers(f"picture_answers {pair[0]} {pair[1]}", said),
        *(tokens(f"picture_looks {asks} {pair[i]}", f["tokens"][i], f["weights"][i], last) for i in (0, 1)),
    ]
    earliest = int(np.flatnonzero(f["apart"] > 1e-12)[0])
    gap = f["apart"][first]
    parts = {"asks": asks, "one": pair[0], "other": pair[1], "first": a, "first_other": c, "last": b, "last_other": d}
    parts |= {"apart": float(gap), "earliest": merged[earliest], "end": f["end"][0], "end_other": f["end"][1]}
    parts["end_token"] = one[-1]
    assert (gap == 0) == mask
    if not mask:
        return f"verdict_{'free' if a != c else 'free_alike'}", parts, pictures
    key = "once" if len(places) == 1 else "again" if b != d else "lost"
    return f"verdict_masked_{key}", parts, pictures


def final(f: Figures, where: str, rank: int) -> Expected:
    model = {"it": "pronoun", "letters": "induction", "heads": "two-heads"}[where]
    token = {"it": "it", "letters": "a", "heads": "佛"}[where]
    shape = {"it": [(0, 0), (1, 0)], "letters": [(0, 0), (1, 0)], "heads": [(0, 0), (0, 1)]}[where]
    heads = [f"picture_head {layer} {head}" for layer, head in shape]
    # The embedding names no layer and no head; nor does the read-out's bias.
    names = ["picture_embedding None None", *heads, "picture_bias None None"][: len(f["logits"])]
    shown = [name if is_read else f"picture_unread {name}" for name, is_read in zip(names, f["is_read"], strict=True)]
    pictures = [
        bars("picture_sums", heads, {"picture_before": f["sums"], "picture_after": f["after"]}),
        bars(f"picture_lengths {token}", shown[:3], f["lengths"]),
        bars(f"picture_logits {f['word']}", shown, f["logits"]),
    ]
    largest, read = int(np.argmax(f["logits"])), sum(f["is_read"])
    is_head = 0 < largest < 3
    layer, head = shape[largest - 1] if is_head else ("None", "None")
    parts = {"token": token, "word": f["word"], "p": f["probability"], "logit": f["logit"], "gap": ROUNDING}
    parts |= {"n": len(names), "read": read, "largest": max(f["logits"]), "layer": layer, "head": head, "model": model}
    return f"verdict_{'elsewhere' if not is_head else 'one' if read == 1 else 'many'}", parts, pictures


TOLD: dict[str, Tell] = {
    "advert": advert, "three": three, "note": note, "plane": plane_of, "stages": stages, "words": words,
    "moved": moved, "inputs": inputs, "causal": causal, "final": final,
}  # fmt: skip
SCENES = {scene.id: scene for scene in it.SCENES}


@pytest.mark.parametrize("name", list(SCENES))
def test_pictures_and_sentence_follow_every_control(name: str) -> None:
    for values in settings(SCENES[name]):
        follows(SCENES[name], values, TOLD[name])


def test_the_branches_that_no_single_control_reaches() -> None:
    for name, names, options in (
        ("note", ("adjective", "which"), itertools.product(("tired", "wide"), ("small", "single"))),
        ("causal", ("mask", "case"), itertools.product((True, False), ("twice", "letters"))),
        (
            "moved",
            ("frame", "adjective", "places", "which"),
            [("so", "wide", False, "small"), ("swapped", "wide", True, "open")],
        ),
        ("final", ("where", "rank"), itertools.product(("letters", "heads"), (1, 2))),
        ("inputs", ("kind", "adjective", "scenery"), [("self", "wide", "soup"), ("cross", "wide", "tunnel")]),
        (
            "words",
            ("noun", "rival", "adjective", "versus"),
            [("dog", "bridge", "tired", "tired"), ("Boy", "table", "kind", "hungry")],
        ),
    ):
        for values in options:
            follows(SCENES[name], dict(zip(names, values, strict=True)), TOLD[name])
