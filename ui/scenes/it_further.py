"""The story of it, animal and tired, continued: other words, orders, two inputs, a mask, the way to the answer."""

from __future__ import annotations

from collections.abc import Sequence

from attention_core.stories import it, it_further
from ui.scenes.dish_drawing import bars, flow, matrix, numbered, numbers, percent, tokens
from ui.scenes.kinds import Control, Figures, Picture, Scene, Verdict
from ui.scenes.texts import Texts

_TIRED = it.SENTENCE.format("tired")


def _words_pictures(figures: Figures, said: Texts) -> list[Picture]:
    first, second = figures["tokens"]
    one, other = _differing(first, second)
    series = dict(zip((f"… {one}", f"… {other} "), figures["weights"], strict=True))
    answers = [
        bars(said("picture_answers", adjective=word), labels, {"": chances}, concept="output", top=1.0)
        for word, labels, chances in zip((one, other), figures["answers"], figures["probabilities"], strict=True)
    ]
    pairs = figures["pairs"]
    span = said("picture_span", low=f"{min(pairs):.0f}", high=f"{max(pairs):.0f}", n=figures["n_pairs"])
    return [
        bars(said("picture_looks"), _merged(first, second), series, concept="k", top=1.0, digits=3),
        *answers,
        numbers(said("picture_test"), [(said("picture_pairs", n=len(pairs)), span)]),
    ]


def _words_verdict(figures: Figures) -> Verdict:
    one, other = _differing(*figures["tokens"])
    (answer, *_), (against, *_) = figures["answers"]
    parts = {
        "one": one,
        "other": other,
        "looks": figures["looks"][0],
        "looks_other": figures["looks"][1],
        "weight": f"{figures['looks_weight'][0]:.2f}",
        "weight_other": f"{figures['looks_weight'][1]:.2f}",
        "answer": answer,
        "against": against,
        "unknown": ", ".join(figures["unknown"]),
        "n": f"{figures['n_known']:,}",
    }
    if figures["unknown"]:
        return "verdict_unknown", parts
    if answer == against:
        return "verdict_same", parts
    among = {answer, against} <= {noun.casefold() for noun in figures["nouns"]}
    return ("verdict_flips" if among else "verdict_else"), parts


def _moved_pictures(figures: Figures, said: Texts) -> list[Picture]:
    frames = [said(f"frame_{name}") for name in figures["frames"]]
    columns = {noun: figures["by_frame"][:, i] for i, noun in enumerate(it.NOUNS.values())}
    here = [figures["frames"].index(figures["frame"])]
    return [
        tokens(said("picture_looks"), figures["tokens"], figures["weights"], figures["asker"]),
        bars(said("picture_frames"), frames, columns, concept="k", top=1.0, digits=3, marked=here),
    ]


def _moved_verdict(figures: Figures) -> Verdict:
    parts = {
        "noun": figures["noun"],
        "distance": abs(figures["distance"]),
        "told": f"{figures['told']:.2f}",
        "other": f"{figures['other']:.2f}",
        "brought": f"{figures['brought']:.2f}",
        "answer": figures["answer"],
        "p": percent(figures["probability"]),
        "change": f"{figures['change']:+.3f}".replace("-", "−"),
    }
    if figures["told"] <= figures["other"]:
        return "verdict_missed", parts
    return ("verdict_behind" if figures["distance"] > 0 else "verdict_before"), parts


def _inputs_pictures(figures: Figures, said: Texts) -> list[Picture]:
    shape = {name: " × ".join(map(str, figures[name])) for name in ("x", "x_key", "q", "k", "v")}
    (m, n), d = figures["weights"].shape, figures["v"][1]
    if figures["kind"] == "self":
        made = [(said("picture_input"), shape["x"], ""), ("Q", shape["q"], "q"), ("K", shape["k"], "k")]
    else:
        made = [
            (said("picture_asking"), shape["x"], ""),
            ("Q", shape["q"], "q"),
            (said("picture_answering"), shape["x_key"], ""),
            ("K", shape["k"], "k"),
        ]
    rest = [
        ("V", shape["v"], "v"),
        (said("picture_table"), f"{m} × {n}", ""),
        (said("picture_sums"), f"{m} × {d}", "o"),
    ]
    rows = [f"▸ {text}" if i == figures["asker"] else text for i, text in enumerate(numbered(figures["askers"]))]
    return [
        flow(said("picture_shapes"), [*made, *rest]),
        matrix(said("picture_weights"), rows, numbered(figures["answerers"]), figures["weights"]),
    ]


def _inputs_verdict(figures: Figures) -> Verdict:
    m, n = figures["weights"].shape
    parts = {
        "m": m,
        "n": n,
        "adjective": figures["adjective"],
        "looks": figures["looks"],
        "weight": f"{figures['looks_weight']:.2f}",
        "answer": figures["answer"],
    }
    return f"verdict_{figures['kind']}", parts


def _causal_pictures(figures: Figures, said: Texts) -> list[Picture]:
    one, other = figures["tokens"]
    words = _differing(one, other)
    asks, first, last = figures["asks"], figures["first"], figures["last"]
    answers = [
        (said("picture_first", word=asks), _pair(figures, 0)),
        (said("picture_last", word=asks), _pair(figures, 1)),
    ]
    label = said("picture_apart", one=words[0], other=words[1])
    return [
        bars(label, _merged(one, other), {"": figures["apart"]}, concept="output", digits=3, marked=[first, last]),
        numbers(said("picture_answers", one=words[0], other=words[1]), answers if first != last else answers[:1]),
        *(
            tokens(said("picture_looks", word=asks, differing=word), texts, weights, last)
            for word, texts, weights in zip(words, figures["tokens"], figures["weights"], strict=True)
        ),
    ]


def _causal_verdict(figures: Figures) -> Verdict:
    one, other = _differing(*figures["tokens"])
    (first, last), (first_other, last_other) = figures["answers"]
    earliest = figures["earliest"]
    parts = {
        "asks": figures["asks"],
        "one": one,
        "other": other,
        "apart": f"{figures['apart'][figures['first']]:.3g}",
        "first": first,
        "first_other": first_other,
        "last": last,
        "last_other": last_other,
        "earliest": "–" if earliest is None else _merged(*figures["tokens"])[earliest],
        "end": figures["end"][0],
        "end_other": figures["end"][1],
        "end_token": figures["tokens"][0][-1],
    }
    if figures["apart"][figures["first"]] > 1e-12:
        return ("verdict_free" if first != first_other else "verdict_free_alike"), parts
    if figures["first"] == figures["last"]:
        return "verdict_masked_once", parts
    return ("verdict_masked_again" if last != last_other else "verdict_masked_lost"), parts


def _final_pictures(figures: Figures, said: Texts) -> list[Picture]:
    names = [
        _part(part, said) if is_read else said("picture_unread", part=_part(part, said))
        for part, is_read in zip(figures["parts"], figures["is_read"], strict=True)
    ]
    n = len(figures["lengths"])
    heads = [_part(part, said) for part in figures["parts"] if part[0] == "head"]
    sums = {said("picture_before"): figures["sums"], said("picture_after"): figures["after"]}
    return [
        bars(said("picture_sums"), heads, sums, concept="v", digits=1),
        bars(
            said("picture_lengths", word=figures["token"]), names[:n], {"": figures["lengths"]}, concept="o", digits=1
        ),
        bars(said("picture_logits", word=figures["word"]), names, {"": figures["logits"]}, concept="output"),
    ]


def _final_verdict(figures: Figures) -> Verdict:
    kind, layer, head = figures["largest"]
    read = int(figures["is_read"].sum())
    parts = {
        "token": figures["token"],
        "word": figures["word"],
        "p": percent(figures["probability"]),
        "logit": f"{figures['logit']:.2f}",
        "gap": f"{figures['gap']:.1g}",
        "n": len(figures["parts"]),
        "read": read,
        "largest": f"{figures['largest_logit']:.2f}",
        "layer": layer,
        "head": head,
        "model": figures["model"],
    }
    if kind != "head":
        return "verdict_elsewhere", parts
    return ("verdict_one" if read == 1 else "verdict_many"), parts


def _part(part: tuple, said: Texts) -> str:
    kind, layer, head = part
    return said(f"picture_{kind}", layer=layer, head=head)


def _pair(figures: Figures, which: int) -> str:
    return " · ".join(row[which] for row in figures["answers"])


def _differing(one: Sequence[str], other: Sequence[str]) -> tuple[str, str]:
    """The words in which two sentences differ; the last ones before the full stop where they don't."""
    found = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return found[0] if found else (one[-2], other[-2])


def _merged(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """One row of labels for two sentences: where they differ, both words."""
    return numbered([a if a == b else f"{a} / {b}" for a, b in zip(one, other, strict=True)])


TOLD = (
    Scene(
        "words",
        it_further.words,
        _words_pictures,
        _words_verdict,
        controls=(
            Control("noun", "text", "horse"),
            Control("rival", "text", "river"),
            Control("adjective", "text", "tired"),
            Control("versus", "text", "deep"),
        ),
    ),
    Scene(
        "moved",
        it_further.moved,
        _moved_pictures,
        _moved_verdict,
        controls=(
            Control("frame", "choice", "behind", tuple(it_further.FRAMES)),
            Control("adjective", "choice", "tired", it.ADJECTIVES),
            Control("places", "switch", True),
            Control("which", "choice", "open", tuple(it.MODELS)),
        ),
    ),
    Scene(
        "inputs",
        it_further.inputs,
        _inputs_pictures,
        _inputs_verdict,
        controls=(
            Control("kind", "choice", "cross", ("self", "cross")),
            Control("adjective", "choice", "tired", it.ADJECTIVES),
            Control("scenery", "choice", "street", tuple(it_further.SCENERY)),
        ),
    ),
    Scene(
        "causal",
        it_further.causal,
        _causal_pictures,
        _causal_verdict,
        controls=(
            Control("mask", "switch", True),
            Control("case", "choice", "once", tuple(it_further.CASES)),
        ),
        links=(("whatif", {"model": it.MODELS["small"], "text": _TIRED}),),
    ),
    Scene(
        "final",
        it_further.final,
        _final_pictures,
        _final_verdict,
        controls=(
            Control("where", "choice", "it", tuple(it_further.PLACES)),
            Control("rank", "choice", 1, (1, 2)),
        ),
    ),
)
