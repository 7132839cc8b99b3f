"""Numbers for the questions that interviews ask about attention: a function each, from the models and the stories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attention_core.stories import (
    dish,
    dish_questions,
    dish_tied,
    it,
    it_further,
    lessons_1,
    lessons_1_softmax,
    lessons_2,
    lessons_2_maps,
)

SENTENCE = "晚上我们吃佛跳墙"
TOPICS = "今天吃佛跳墙，明天看佛经。"
LENGTHS = (512, 1024)  # Tokens.
WIDTH = 768  # Numbers per token in GPT-2 small and BERT-base.


def roles() -> Mapping[str, Any]:
    """Q, K and V at work: whom "it" finds, and what it is then taken for.

    Returns:
        best, weight: the word with the largest weight, and it; n: tokens; d_k; d_v; answer, probability.
    """
    found = it.advert("library", "tired")
    names = ("n", "d_k", "d_v", "answer", "probability")
    return {"best": found["best"], "weight": found["best_weight"], **{name: found[name] for name in names}}


def steps() -> Mapping[str, Any]:
    """The four steps at "it", for the word that gets most.

    Returns:
        best; score; root: √d; scaled; weight; row_sum; gap: max |Σ weight · value − output|.
    """
    found = it.stages("tired", "open")
    names = {"score": "best_score", "scaled": "best_scaled", "weight": "best_weight"}
    return {**{name: found[name] for name in ("best", "root", "row_sum", "gap")}, **_renamed(found, names)}


def scale() -> Mapping[str, Any]:
    """The mean largest weight over random keys, without and with ÷√d, and the median norm of softmax's Jacobian.

    Returns:
        d; keys; draws; top, top_scaled; slope, slope_scaled: the median norms.
    """
    found = lessons_1_softmax.scaling(64, 0)
    at = found["place"]
    return {
        "d": 64,
        "keys": lessons_1_softmax.N_KEYS,
        "draws": lessons_1_softmax.N_DRAWS,
        "top": float(found["tops"][0, at]),
        "top_scaled": float(found["tops"][1, at]),
        "slope": float(found["jacobians"][0, at]),
        "slope_scaled": float(found["jacobians"][1, at]),
    }


def values() -> Mapping[str, Any]:
    """What one matrix for K and V costs in narrow heads and in wide ones.

    Returns:
        for "narrow" and "wide" each: …_d: numbers per head; …_apart, …_shared: mean shares of wrong answers; n: seeds.
    """
    rooms = {room: dish.jobs(SENTENCE, room) for room in ("narrow", "wide")}
    found: dict[str, Any] = {"n": len(rooms["wide"]["seeds"])}
    for room, numbers in rooms.items():
        apart, shared = numbers["means"]
        found |= {f"{room}_d": numbers["d_head"], f"{room}_apart": apart, f"{room}_shared": shared}
    return found


def tied() -> Mapping[str, Any]:
    """What one matrix for Q and K costs in three tasks.

    Returns:
        letters_apart, letters_tied, dish_apart, …, heads_tied: mean shares of right answers; n: seeds; uneven: max
        |S − Sᵀ| with one matrix; uneven_weights: max |A − Aᵀ|.
    """
    found: dict[str, Any] = {}
    for what in ("letters", "dish", "heads"):
        paid = dish_tied.cost(what)
        found |= {f"{what}_apart": paid["means"][0], f"{what}_tied": paid["means"][1], "n": len(paid["seeds"])}
    map_ = lessons_1.tied("dish", 0)
    return {**found, "uneven": map_["uneven"], "uneven_weights": map_["uneven_weights"]}


def inputs() -> Mapping[str, Any]:
    """The same matrices with one input and with two.

    Returns:
        self, cross: shapes (queries, keys) of the weights; looks, looks_weight: of "it" in the other text.
    """
    one, two = (it_further.inputs(kind, "tired", "street") for kind in ("self", "cross"))
    shapes = {"self": np.shape(one["weights"]), "cross": np.shape(two["weights"])}
    return {**shapes, "looks": two["looks"], "looks_weight": two["looks_weight"]}


def several() -> Mapping[str, Any]:
    """What 佛 asks for with each of two heads in one sentence.

    Returns:
        dish, buddhism: the head that gives most to 跳 and 墙, and to 祖 and 经; on_dish, on_buddhism: how much;
        n: seeds; divided: in how many of them the heads divide the work.
    """
    found = dish_questions.several(TOPICS, "seed")
    pairs = found["pairs"]
    heads = pairs.argmax(axis=0)
    return {
        "dish": int(heads[0]),
        "buddhism": int(heads[1]),
        "on_dish": float(pairs[:, 0].max()),
        "on_buddhism": float(pairs[:, 1].max()),
        "n": found["n_seeds"],
        "divided": found["divided"],
    }


def mask() -> Mapping[str, Any]:
    """A causal mask put on wrongly: by multiplying scores with 0, and by zeroing weights after softmax.

    Returns:
        leak: what the row that leaks most gives to hidden keys when scores are multiplied by 0; lowest: the smallest
        row sum when weights are zeroed afterwards; right: what the right way leaks.
    """
    ways = {way: lessons_1_softmax.masking(way, 1) for way in ("zero", "after", "infinity")}
    return {
        "leak": float(ways["zero"]["leaked"].max()),
        "lowest": float(ways["after"]["row_sums"].min()),
        "right": float(ways["infinity"]["leaked"].max()),
    }


def order() -> Mapping[str, Any]:
    """How far the outputs are from a mere permutation when the words are shuffled.

    Returns:
        plain: without positions and without a mask; placed: with positions; masked: with a causal mask alone.
    """
    return {
        "plain": lessons_2.order(TOPICS, 1, mask=False, taught="without")["gap"],
        "placed": lessons_2.order(TOPICS, 1, mask=False, taught="with")["gap"],
        "masked": lessons_2.order(TOPICS, 1, mask=True, taught="without")["gap"],
    }


def growth() -> Mapping[str, Any]:
    """Multiplications in one layer of self-attention (all heads together), for two lengths of text.

    The pairs take n² · width for Q Kᵀ and as many for weights · V; the projections Q, K, V, O take 4 n · width².

    Returns:
        width; short, long: the lengths; pairs, pairs_long; projections, projections_long; even: the length at which
        pairs cost as much as projections, 2 · width.
    """
    short, long = LENGTHS
    return {
        "width": WIDTH,
        "short": short,
        "long": long,
        "pairs": 2 * short**2 * WIDTH,
        "pairs_long": 2 * long**2 * WIDTH,
        "projections": 4 * short * WIDTH**2,
        "projections_long": 4 * long * WIDTH**2,
        "even": 2 * WIDTH,
    }


def rows() -> Mapping[str, Any]:
    """What each row and each column of a map sums to.

    Returns:
        row_gap: max |row sum − 1|; most, least: the words that get most and least from all together; gets_most,
        gets_least: how much.
    """
    found = lessons_1_softmax.axes("rows", 7)
    sums, tokens = found["column_sums"], found["tokens"]
    return {
        "row_gap": float(np.abs(found["row_sums"] - 1).max()),
        "most": tokens[int(sums.argmax())],
        "least": tokens[int(sums.argmin())],
        "gets_most": float(sums.max()),
        "gets_least": float(sums.min()),
    }


def explains() -> Mapping[str, Any]:
    """Whether the answer changes when the edge with the largest weight is cut.

    Returns:
        changed, n: in how many of how many maps; flips, right: (least, most) over the seeds of the one-layer model: how
        often its attention turns with the adjective, and how often it prefers the right noun.
    """
    found, model = lessons_2_maps.explanation("noun", 1), lessons_2_maps.mechanism("one", "animal")
    return {
        "changed": found["changed_cases"],
        "n": found["n_cases"],
        "flips": _range(model["maps_one"]),
        "right": _range(model["two_way_one"]),
    }


def context() -> Mapping[str, Any]:
    """How "it" comes to ask for something that can be tired: with layer 0, and with that one edge cut.

    Returns:
        brought: weight of layer 0 on the adjective; whole, cut: weight of layer 1 on the noun, with it and without.
    """
    found = it.note("tired", "open")
    return {"brought": found["brought"], "whole": found["whole_told"], "cut": found["cut_told"], "noun": found["told"]}


def stored() -> Mapping[str, Any]:
    """What changes when one word of the sentence is replaced: Q, or the matrix that makes it.

    Returns:
        rows: how many rows of Q differ; n: of how many; numbers: how many numbers of W_Q differ; shape: of W_Q.
    """
    found = lessons_1.stored("dog", "q", 1)
    return {
        "rows": found["n_rows"],
        "n": len(found["tokens"]),
        "numbers": found["stored_numbers"],
        "shape": found["stored_shape"],
    }


def _renamed(found: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {name: found[old] for name, old in names.items()}


def _range(shares: np.ndarray) -> tuple[float, float]:
    return float(np.min(shares)), float(np.max(shares))
