"""The fourth question about the story of 佛跳墙: can Q and K be one?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

import attention_core as ac
from attention_core.steps import softmax
from attention_core.stories.dish import MODEL, NAME, texts_of

COSTS = {"letters": "induction", "dish": MODEL, "narrow": "dish-narrow", "heads": "two-heads"}
MEASURES = {"letters": "accuracy", "dish": "adversarial", "narrow": "adversarial", "heads": "held_out_combinations"}
COSINES = np.linspace(-1, 1, 41)


def tied(sentence: str, shared: bool, at: int) -> Mapping[str, Any]:
    """Scores and weights of a head with one matrix for queries and keys, or with two.

    Returns:
        tokens; scores, weights: (n, n); allowed: (n, n); uneven: max |S − Sᵀ|; uneven_weights: max |A − Aᵀ| over pairs
        that see each other; elsewhere: how many rows have their largest weight not on themselves; n; lengths: (n,) of
        the keys; example: (asker, answerer) of the first such row, or None.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    trace = ac.load("dish-qk" if shared else MODEL).trace(sentence)
    head, tokens = trace.layers[at].head(0), texts_of(trace)
    largest = head.weights.argmax(axis=1)
    away = [i for i, j in enumerate(largest) if i != j]
    both = head.allowed & head.allowed.T
    return {
        "tokens": tokens,
        "scores": head.scores,
        "weights": head.weights,
        "allowed": head.allowed,
        "uneven": float(np.abs(head.scores - head.scores.T).max()),
        "uneven_weights": float(np.abs(head.weights - head.weights.T)[both].max()),
        "elsewhere": len(away),
        "n": len(tokens),
        "lengths": np.linalg.norm(head.k, axis=1),
        "example": (tokens[away[0]], tokens[int(largest[away[0]])]) if away else None,
    }


def graph(sentence: str, keep: str) -> Mapping[str, Any]:
    """A head's scores as a symmetric and an antisymmetric half, S = (S + Sᵀ)/2 + (S − Sᵀ)/2, and what each says.

    Args:
        keep: "whole", "undirected" (the symmetric half, all that one matrix for q and k could hold) or "directed".

    Returns:
        tokens; scores: (n, n) of what is kept; weights: (n, n) softmax of it, with the head's own scale and mask:
        computed beside the model, not a run of it; own: (n, n) the model's weights; allowed; top: the largest |score|;
        share: of Σ S², the part that is antisymmetric; one, two: two characters of the name (or the first
        token and the last that it sees); there, back: the kept scores of one asking two, and of two asking one; moved:
        the largest change of a weight.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    trace = ac.load(MODEL).trace(sentence)
    head, tokens = trace.layers[0].head(0), texts_of(trace)
    halves = {"undirected": (head.scores + head.scores.T) / 2, "directed": (head.scores - head.scores.T) / 2}
    kept = halves.get(keep, head.scores)
    weights = _shares(kept, head)
    i, j = _pair(tokens, head.allowed)
    return {
        "keep": keep,
        "tokens": tokens,
        "scores": kept,
        "weights": weights,
        "own": head.weights,
        "top": float(np.abs(head.scores).max()),
        "allowed": head.allowed,
        "share": float((halves["directed"] ** 2).sum() / (head.scores**2).sum()),
        "one": tokens[i],
        "two": tokens[j],
        "there": float(kept[i, j]),
        "back": float(kept[j, i]),
        "moved": float(np.abs(weights - head.weights).max()),
    }


def chain(ab: float, bc: float, of: int) -> Mapping[str, Any]:
    """What two cosines say about the third: cos a,c lies within cos ab · cos bc ± sin ab · sin bc.

    Args:
        ab, bc: the cosines that are given; of: the head of `two-heads-qk`, in which three characters are measured.

    Returns:
        lowest, highest: of cos a,c; arrows: (4, 2) b, a, and c where it is nearest to a and farthest from it; cosines:
        (m,) of b,c; lows, highs: (m,) the bounds there; measured: cosines of (跳, 佛), (佛, 祖), (跳, 祖) in this head;
        measured_lowest, measured_highest: the bounds from the first two.
    """
    layer = ac.load("two-heads-qk").trace("跳佛祖").layers[0]
    k = layer.head(of).k
    cosines = (k @ k.T) / np.outer(*[np.linalg.norm(k, axis=1)] * 2)
    first, second = math.acos(ab), math.acos(bc)
    between = [bounds(ab, float(each)) for each in COSINES]
    low, high = bounds(ab, bc)
    measured = (float(cosines[0, 1]), float(cosines[1, 2]), float(cosines[0, 2]))
    measured_low, measured_high = bounds(*measured[:2])
    return {
        "lowest": low,
        "highest": high,
        "arrows": np.array([_at(0), _at(first), _at(second), _at(-second)]),
        "bc": bc,
        "cosines": COSINES,
        "lows": np.array([each for each, _ in between]),
        "highs": np.array([each for _, each in between]),
        "measured": measured,
        "measured_lowest": measured_low,
        "measured_highest": measured_high,
    }


def cost(what: str) -> Mapping[str, Any]:
    """What sharing one matrix for Q and K costs: shares of right answers by seed, from the cards.

    Args:
        what: a key of `COSTS`.

    Returns:
        seeds: (s,); apart, tied: (s,); longer: (s,) tied and trained longer, or None; steps, longer_steps; means:
        (apart, tied); longer_mean; spread: between the best and the worst seed apart; worse: in how many seeds tied is
        worse; divided: for two heads, in how many seeds they divide the work (apart, tied), else None.
    """
    name, measure = COSTS[what], MEASURES[what]
    one, other = (ac.load(each).card.details for each in (name, f"{name}-qk"))
    longer = next((each for each in one.get("measured", ()) if each["name"] == "qk-long"), None)
    apart, tied_ones = (_by_seed(each["figures"], measure) for each in (one, other))
    more = None if longer is None else _by_seed(longer["figures"], measure)
    divided = [sum(row.get("divided", False) for row in each["figures"]["seeds"]) for each in (one, other)]
    return {
        "what": what,
        "seeds": sorted(row["seed"] for row in one["figures"]["seeds"]),
        "apart": apart,
        "tied": tied_ones,
        "longer": more,
        "steps": one["training"]["steps"],
        "longer_steps": None if longer is None else longer["spec"]["n_steps"],
        "means": (float(apart.mean()), float(tied_ones.mean())),
        "longer_mean": None if more is None else float(more.mean()),
        "spread": float(np.ptp(apart)),
        "worse": int((tied_ones < apart).sum()),
        "divided": tuple(divided) if what == "heads" else None,
    }


def bounds(ab: float, bc: float) -> tuple[float, float]:
    """The least and the largest cosine of a and c that these two leave possible."""
    rest = math.sqrt(max(0.0, (1 - ab * ab) * (1 - bc * bc)))
    return ab * bc - rest, ab * bc + rest


def _by_seed(figures: Mapping[str, Any], measure: str) -> Float[np.ndarray, " seed"]:
    return np.array([row[measure] for row in sorted(figures["seeds"], key=lambda row: row["seed"])])


def _shares(scores: Float[np.ndarray, "query key"], head: ac.HeadSteps) -> Float[np.ndarray, "query key"]:
    return softmax(np.where(head.allowed, scores * head.scale, -np.inf))[0]


def _pair(tokens: list[str], allowed: Bool[np.ndarray, "query key"]) -> tuple[int, int]:
    """Two characters of the name that see each other, as far apart as may be; else the first token and its last key."""
    places = [i for i, token in enumerate(tokens) if token in NAME]
    pairs = [(i, j) for i in places for j in places if i < j and tokens[i] != tokens[j] and allowed[i, j]]
    return max(pairs, key=lambda pair: pair[1] - pair[0], default=(0, int(np.flatnonzero(allowed[0])[-1])))


def _at(angle: float) -> tuple[float, float]:
    return math.cos(angle), math.sin(angle)
