"""Lessons on what may be read from a map of weights: causes, contributions, mechanisms, [CLS]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

import attention_core as ac
from attention_core.loading import load_taught
from attention_core.stories.it import ADJECTIVES, SENTENCE, SHALLOW, answer_at, by_seed, place, texts_of
from attention_core.taught import TaughtModel

# Model, text, layer, and the token that asks and answers there (None: the last one).
EDGES = {
    "noun": ("pronoun", SENTENCE.format("tired"), 1, "it"),
    "note": ("pronoun", SENTENCE.format("tired"), 0, "it"),
    "dish": ("dish", "晚上我们吃佛跳墙", 1, "[cls]"),
    "letters": ("induction", "dbhcadbhcad", 1, None),
}
ROWS = {
    "single": (SHALLOW, SENTENCE.format("wide"), 0, "it"),
    "two": ("pronoun", SENTENCE.format("wide"), 1, "it"),
    "dish": EDGES["dish"],
    "letters": ("induction", "hdbdbcahd", 1, None),
}
MODELS = {"one": SHALLOW, "two": "pronoun"}
PAIRS = {"animal": ("animal", "street"), "dog": ("dog", "tunnel"), "horse": ("horse", "bridge")}
# Half of them are about the dish; the others use its characters, or its frame.
ABOUT = ("晚上我们吃佛跳墙", "他点了一份佛跳墙", "佛跳墙很好吃", "今天的佛跳墙真香")
NOT_ABOUT = ("佛祖看他跳过墙", "他跳过围墙", "晚上我们吃火锅", "她在墙上跳")
ASKERS = {"cls": 0, "first": 1, "last": -1}
N_BLANK = 8


def explanation(case: str, rank: int) -> Mapping[str, Any]:
    """What the model answers when one edge of a map is cut, for every edge of the row that answers.

    Args:
        case: a key of `EDGES`; rank: the edge to look at, 1 for the largest weight of the row.

    Returns:
        case; rank; tokens; asker; weights: (n,); kept: (n,) probability of the first answer after each single cut;
        turned: (n,) whether another answer is then the likeliest; at, cut, weight: place and word at the edge looked
        at, and its weight; answer, probability: before; then, then_probability: after; takes_at, takes, takes_weight:
        the largest weight of the row after the cut; changed_cases, n_cases: in how many cases cutting the largest
        weight changes the answer.
    """
    found = _scanned(case)
    at = int(np.argsort(-found["weights"], kind="stable")[rank - 1])
    name, text, layer, _ = EDGES[case]
    second = load_taught(name).trace(text, edits=ac.Edits(cut=frozenset({(layer, None, found["asker"], at)})))
    row, then = second.layers[layer].head(0).weights[found["asker"]], answer_at(second, found["asker"])
    return {
        "case": case,
        "rank": rank,
        **found,
        "at": at,
        "cut": found["tokens"][at],
        "weight": float(found["weights"][at]),
        "then": then["answer"],
        "then_probability": then["probability"],
        "takes": found["tokens"][int(row.argmax())],
        "takes_at": int(row.argmax()),
        "takes_weight": float(row.max()),
        "changed_cases": sum(bool(one["turned"][one["weights"].argmax()]) for one in map(_scanned, EDGES)),
        "n_cases": len(EDGES),
    }


def contribution(case: str, measure: str) -> Mapping[str, Any]:
    """A row of weights beside what each key really puts in.

    Args:
        case: a key of `ROWS`. measure: "value": ‖weight · v‖; "written": ‖weight · v W_O‖; "answer": what this vector
            adds to the logit of the answer, which may be negative.

    Returns:
        case; measure; tokens; asker; weights: (n,); per_weight: (n,) the same for a weight of 1; parts: (n,); shares:
        (n,) parts over Σ |parts|; first, first_weight, first_share: the word with the largest weight; most,
        most_weight, most_share: the one with the largest part; same: whether both are one; ratio: the largest over the
        smallest |per_weight|; answer.
    """
    name, text, layer, word = ROWS[case]
    trace = load_taught(name).trace(text)
    asker, head = _place(trace, word), trace.layers[layer].head(0)
    weights = head.weights[asker]
    per_weight = _per_weight(trace, layer, asker, measure)
    parts = weights * per_weight
    shares = parts / np.abs(parts).sum()
    first, most = int(weights.argmax()), int(parts.argmax())
    return {
        "case": case,
        "measure": measure,
        "tokens": texts_of(trace),
        "asker": asker,
        "weights": weights,
        "per_weight": per_weight,
        "parts": parts,
        "shares": shares,
        **{f"first{key}": value for key, value in _word(trace, weights, shares, first).items()},
        **{f"most{key}": value for key, value in _word(trace, weights, shares, most).items()},
        "same": first == most,
        "ratio": float(np.abs(per_weight).max() / np.abs(per_weight).min()),
        "answer": answer_at(trace, asker)["answer"],
    }


def mechanism(depth: str, nouns: str) -> Mapping[str, Any]:
    """The answer and the attention of "it" after either adjective, in a model of one layer or of two.

    Args:
        depth: a key of `MODELS`; nouns: a key of `PAIRS`.

    Returns:
        depth; nouns: the two; weights: (2, 2) of "it" in the last layer by adjective, on the two nouns; choices: (2, 2)
        probability of each, if only the two may be answered; words: (2,) the likeliest of all answers; answer_flips,
        map_flips: whether the noun that fits is ahead after both adjectives; seeds: (s,); for "one" and "two"
        each, from their cards, in new word combinations unless said otherwise: two_way_…: (s,) the right one of two
        nouns is likelier, frames_…: (s,) the same in new frames, full_…: (s,) the right word is the first of all,
        maps_…: (s,) the attention flips.
    """
    pair, loaded = PAIRS[nouns], load_taught(MODELS[depth])
    weights, logits, words = [], [], []
    for adjective in ADJECTIVES:
        text = SENTENCE.format(adjective).replace("animal", pair[0]).replace("street", pair[1])
        trace = loaded.trace(text)
        at = place(trace, "it")
        row = trace.layers[-1].head(0).weights[at]
        weights.append([float(row[place(trace, noun)]) for noun in pair])
        logits.append([trace.explain_answer(at, noun).logit for noun in pair])
        words.append(answer_at(trace, at)["answer"])
    on, choices = np.array(weights), _choices(np.array(logits))
    return {
        "depth": depth,
        "nouns": pair,
        "weights": on,
        "choices": choices,
        "words": words,
        "answer_flips": _flips(choices),
        "map_flips": _flips(on),
        "seeds": sorted(row["seed"] for row in loaded.card.details["figures"]["seeds"]),
        **{key: value for one in MODELS for key, value in _figures(one).items()},
    }


def cls(sentence: str, asker: str, start: int) -> Mapping[str, Any]:
    """What the read-out of [CLS] makes of a token: after training, and of models as the recipe begins them.

    An untrained model has `dish`'s form and matrices drawn anew from the distributions of its recipe.

    Args:
        asker: which token is read, a key of `ASKERS`. start: the seed of the first of eight untrained models.

    Returns:
        tokens; at: the place that is read; blank, trained: (n,) its weights in the last layer, untrained and trained;
        yes, blank_yes: its probability of "about the dish", trained and by the first untrained model; n: eight
        sentences, half of them about the dish; cls_right: how many of them the trained model answers rightly at [CLS],
        asker_right: at the token chosen; blank_right: (8,) the untrained models at [CLS]; apart: the largest
        |difference| of what layer 0 reads at [CLS] over the sentences; uneven, blank_uneven: the largest weight over
        the mean one.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    model, blanks = load_taught("dish"), _blank_models(start)
    trace, blank = model.trace(sentence), blanks[0].trace(sentence)
    at = ASKERS[asker] % len(trace.tokens)
    rows = [one.layers[-1].head(0).weights[at] for one in (blank, trace)]
    begins = np.stack([np.asarray(model.trace(text).layers[0].x)[0] for text in (*ABOUT, *NOT_ABOUT)])
    return {
        "tokens": texts_of(trace),
        "asker": asker,
        "at": at,
        "blank": rows[0],
        "trained": rows[1],
        "yes": _yes(model, trace, at),
        "blank_yes": _yes(blanks[0], blank, at),
        "n": len(ABOUT) + len(NOT_ABOUT),
        "cls_right": _right(model, "cls"),
        "asker_right": _right(model, asker),
        "blank_right": _blank_right(start),
        "apart": float(np.ptp(begins, axis=0).max()),
        "uneven": float(rows[1].max() * len(rows[1])),
        "blank_uneven": float(rows[0].max() * len(rows[0])),
    }


@lru_cache(maxsize=8)
def _scanned(case: str) -> dict[str, Any]:
    name, text, layer, word = EDGES[case]
    model = load_taught(name)
    trace = model.trace(text)
    asker = _place(trace, word)
    before, kept, turned = answer_at(trace, asker), [], []
    for key in range(len(trace.tokens)):
        cut = model.trace(text, edits=ac.Edits(cut=frozenset({(layer, None, asker, key)})))
        kept.append(cut.explain_answer(asker, before["answer"]).probability)
        turned.append(answer_at(cut, asker)["answer"] != before["answer"])
    weights = trace.layers[layer].head(0).weights[asker]
    return {
        "tokens": texts_of(trace),
        "asker": asker,
        "weights": weights,
        "kept": np.array(kept),
        "turned": np.array(turned),
        **before,
    }


def _place(trace: ac.Trace, word: str | None) -> int:
    return len(trace.tokens) - 1 if word is None else place(trace, word)


def _per_weight(trace: ac.Trace, layer: int, asker: int, measure: str) -> Float[np.ndarray, " key"]:
    """What each key would put in with a weight of 1."""
    head = trace.layers[layer].head(0)
    written = head.v @ np.asarray(head.w_o)
    if measure == "answer":
        said = trace.explain_answer(asker)
        terms = next(part.terms for part in said.parts if part.kind == "layer" and part.layer == layer)
        return np.array([term.logit / term.weight for term in sorted(terms, key=lambda term: term.key)])
    return np.linalg.norm(head.v if measure == "value" else written, axis=1)


def _word(trace: ac.Trace, weights: np.ndarray, shares: np.ndarray, at: int) -> dict[str, Any]:
    return {"": trace.tokens[at].text, "_weight": float(weights[at]), "_share": float(shares[at])}


def _choices(logits: Float[np.ndarray, "adjective noun"]) -> Float[np.ndarray, "adjective noun"]:
    exps = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True)


def _flips(found: Float[np.ndarray, "adjective noun"]) -> bool:
    """Whether the first noun is ahead in the first row, and the second in the second."""
    return bool(found[0, 0] > found[0, 1] and found[1, 1] > found[1, 0])


def _figures(model: str) -> dict[str, Any]:
    paths = {
        "two_way": ("held_out_combinations", "two_way"),
        "frames": ("held_out_frames", "two_way"),
        "full": ("held_out_combinations", "full"),
        "maps": ("flips_right",),
    }
    return {f"{key}_{model}": by_seed(MODELS[model], *path) for key, path in paths.items()}


@lru_cache(maxsize=4)
def _blank_models(start: int) -> tuple[TaughtModel, ...]:
    return tuple(_blank(load_taught("dish"), start + i) for i in range(N_BLANK))


@lru_cache(maxsize=16)
def _blank_right(start: int) -> Int[np.ndarray, " model"]:
    return np.array([_right(one, "cls") for one in _blank_models(start)])


def _blank(model: TaughtModel, seed: int) -> TaughtModel:
    """The same form with matrices as the recipe draws them before the first step."""
    options, draw = model.card.details["training"]["spec"]["options"], np.random.default_rng(seed).normal
    d = model.card.d_model
    std = {"w_q": options["score_std"], "w_k": options["score_std"], "w_v": d**-0.5, "w_o": d**-0.5}
    layers = [
        replace(one, **{name: draw(0, size, getattr(one, name).shape) for name, size in std.items()})
        for one in model.layers
    ]
    readouts = [
        replace(one, matrix=draw(0, d**-0.5, one.matrix.shape), bias=None if one.bias is None else one.bias * 0)
        for one in model.readouts
    ]
    embedding = draw(0, options["embedding_std"], model.embedding.shape)
    return replace(model, embedding=embedding, layers=tuple(layers), readouts=tuple(readouts))


def _yes(model: TaughtModel, trace: ac.Trace, at: int) -> float:
    """The probability of "yes" that the read-out of [CLS] gives to the stream at a token."""
    last, readout = trace.layers[-1], model.readouts[0]
    logits = readout.logits({"word": np.asarray(last.x) + np.asarray(last.written)})[at]
    yes, no = (logits[readout.column[word]] for word in ("yes", "no"))
    return 1 / (1 + math.exp(no - yes))


def _right(model: TaughtModel, asker: str) -> int:
    found = 0
    for sentences, is_about in ((ABOUT, True), (NOT_ABOUT, False)):
        for sentence in sentences:
            trace = model.trace(sentence)
            found += (_yes(model, trace, ASKERS[asker] % len(trace.tokens)) > 0.5) == is_about
    return found
