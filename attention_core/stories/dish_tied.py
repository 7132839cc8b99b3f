"""The fourth question about the story of 佛跳墙: can Q and K be one?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

import attention_core as ac
from attention_core.stories.dish import MODEL, NAME, texts_of

COSTS = {"letters": "induction", "dish": MODEL, "narrow": "dish-narrow", "heads": "two-heads"}
MEASURES = {"letters": "accuracy", "dish": "adversarial", "narrow": "adversarial", "heads": "held_out_combinations"}
CLOSE = 1e-9  # Scores that differ by less are the same, but for rounding.
COSINES = np.linspace(-1, 1, 81)


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


def graph(sentence: str, shared: bool) -> Mapping[str, Any]:
    """Who looks at whom in layer 0, and which pairs each score the other above themselves.

    With one vector k for both, k[i]·k[j] > k[i]·k[i] needs a k[j] longer than k[i]; so no two tokens can each prefer
    the other to itself, and whoever looks away from itself looks at a longer one.

    Returns:
        shared; tokens; weights, allowed: (n, n); looks: (n,) whom each looks at most; edge_weights: (n,); longer: how
        many of those who look away from themselves look at a longer key; away: how many look away; mutual: pairs
        (i, j), i < j, that see each other and each score the other above themselves; pair: one of them, of the name
        where it can be, else the one that is asked about; there, back: its two scores; itself: the scores of its two
        for themselves; left: see `left_uneven`.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    trace = ac.load("dish-qk" if shared else MODEL).trace(sentence)
    head, tokens = trace.layers[0].head(0), texts_of(trace)
    scores, looks, lengths = head.scores, head.weights.argmax(axis=1), np.linalg.norm(head.k, axis=1)
    prefers = (scores > np.diag(scores)[:, None] + CLOSE) & head.allowed
    mutual = [(int(i), int(j)) for i, j in np.argwhere(prefers & prefers.T) if i < j]
    away = [i for i, j in enumerate(looks) if i != j]
    i, j = _pair(tokens, mutual or [(int(i), int(j)) for i, j in np.argwhere(head.allowed) if i < j])
    return {
        "shared": shared,
        "tokens": tokens,
        "weights": head.weights,
        "allowed": head.allowed,
        "looks": looks.tolist(),
        "edge_weights": head.weights.max(axis=1),
        "longer": sum(bool(lengths[looks[i]] > lengths[i]) for i in away),
        "away": len(away),
        "mutual": mutual,
        "pair": (i, j),
        "there": float(scores[i, j]),
        "back": float(scores[j, i]),
        "itself": (float(scores[i, i]), float(scores[j, j])),
        "left": left_uneven(scores, head.allowed),
    }


def chain(ab: float, bc: float, of: int) -> Mapping[str, Any]:
    """What two cosines say about the third: cos a,c lies within cos ab · cos bc ± sin ab · sin bc.

    Args:
        ab, bc: the cosines that are given; of: the head of `two-heads-qk`, in which three characters are measured.

    Returns:
        of; bc; lowest, highest: of cos a,c; arrows: (4, 2) b, a, and c where it is nearest to a and farthest from it;
        cosines: (m,) of b,c; lows, highs: (m,) the bounds there; measured: cosines of (跳, 佛), (佛, 祖), (跳, 祖) in
        this head; measured_lowest, measured_highest: the bounds from the first two.
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
        "of": of,
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
        seeds: (s,); apart, tied: (s,); longer: (s,) tied and trained longer, or None; steps, longer_steps: of training;
        d_model, d_head; means: (apart, tied); longer_mean; spread: between the best and the worst seed apart; worse: in
        how many seeds tied is worse; divided: for two heads, in how many seeds they divide the work (apart, tied), else
        None.
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
        "d_model": ac.load(name).card.d_model,
        "d_head": ac.load(name).card.d_head,
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


def left_uneven(scores: Float[np.ndarray, "n n"], seen: Bool[np.ndarray, "n n"]) -> float:
    """Of Σ S² over visible pairs, the part that stays antisymmetric however the rows are shifted.

    Softmax does not see what is added to a whole row, so that an uneven S by itself says little. The antisymmetric half
    of S + c 1ᵀ is a[i, j] + (c[i] − c[j])/2; over the pairs that see each other its square is least where
    L c = −2 Σ_j a[i, j], with L the Laplacian of who sees whom.
    """
    pairs = (seen & seen.T & ~np.eye(len(seen), dtype=bool)).astype(float)
    uneven = pairs * (scores - scores.T) / 2
    laplacian = np.diag(pairs.sum(axis=1)) - pairs
    shift = np.linalg.lstsq(laplacian, -2 * uneven.sum(axis=1), rcond=None)[0]
    whole = (scores + shift[:, None])[seen & seen.T]
    return float(((uneven + pairs * np.subtract.outer(shift, shift) / 2) ** 2).sum() / (whole**2).sum())


def _by_seed(figures: Mapping[str, Any], measure: str) -> Float[np.ndarray, " seed"]:
    return np.array([row[measure] for row in sorted(figures["seeds"], key=lambda row: row["seed"])])


def _pair(tokens: list[str], pairs: list[tuple[int, int]]) -> tuple[int, int]:
    """Of these, two different characters of the name, as far apart as may be; else the first."""
    of_name = [(i, j) for i, j in pairs if {tokens[i], tokens[j]} <= set(NAME) and tokens[i] != tokens[j]]
    return max(of_name, key=lambda pair: pair[1] - pair[0], default=pairs[0])


def _at(angle: float) -> tuple[float, float]:
    return math.cos(angle), math.sin(angle)
