"""Lessons 6–9: beliefs about softmax, its scale and its mask, and the numbers that bear on them. A function each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

import attention_core as ac
from attention_core.steps import softmax
from attention_core.stories.dish import NAME, asked, texts_of
from attention_core.stories.lessons_1 import ADJECTIVES, DISH_SENTENCE, LETTERS, NOUN, PRONOUN

OTHER_SENTENCE = "晚上我们吃火锅"
WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256)
N_KEYS, N_DRAWS, ASKED_WIDTH = 11, 1000, 64
SATURATED = 0.99


def axes(along: str, asker: int) -> Mapping[str, Any]:
    """The scores of "it, animal, tired" normalised along rows, as attention does, or along columns.

    Args:
        along: "rows" or "columns"; asker: whose row is shown.

    Returns:
        tokens; asker; weights: (n, n); row_sums, column_sums: (n,); row: (n,) of the asker; total: its sum; strongest:
        whom it looks at most; most, least: the word that gets most and least from all together, with what it gets;
        noun: what "animal" gets from all together when rows are normalised.
    """
    trace = ac.load("pronoun").trace(PRONOUN.format(noun=NOUN, adjective=ADJECTIVES[0]))
    head, tokens = trace.layers[1].head(0), texts_of(trace)
    weights = head.weights if along == "rows" else softmax(np.asarray(head.masked).T)[0].T
    given = weights.sum(axis=0)
    return {
        "along": along,
        "asker": asker,
        "tokens": tokens,
        "weights": weights,
        "row_sums": weights.sum(axis=1),
        "column_sums": given,
        "row": weights[asker],
        "total": float(weights[asker].sum()),
        "strongest": tokens[int(weights[asker].argmax())],
        "most": (tokens[int(given.argmax())], float(given.max())),
        "least": (tokens[int(given.argmin())], float(given.min())),
        "noun": float(head.weights[:, tokens.index(NOUN)].sum()),
    }


def shares(of: str, copies: int) -> Mapping[str, Any]:
    """What a word's weight becomes when its key stands there several times, with the score that it had.

    Args:
        of: "one" ("it" asks for one word), "three" ([CLS] asks for three) or "none" (it asks for what isn't there).

    Returns:
        tokens; top: the place with the largest weight, word: its text; alone: (n,) the model's own weights; weights:
        (n + copies − 1,) with the copies, which come last; single: the weight of the one, each: of every copy then,
        together: of all copies; score: its scaled score; total: of all weights; of_name: (3,) what 佛, 跳 and 墙 get,
        or None where they don't stand there; halved: what two copies leave each of the single weight, for "one".
    """
    tokens, scaled = _row(of)
    top = int(scaled.argmax())
    weights = _repeated(scaled, top, copies)
    one = _row("one")[1]
    first = int(one.argmax())
    return {
        "of": of,
        "copies": copies,
        "tokens": tokens,
        "top": top,
        "alone": _repeated(scaled, top, 1),
        "weights": weights,
        "word": tokens[top],
        "single": float(_repeated(scaled, top, 1)[top]),
        "each": float(weights[top]),
        "together": float(weights[[top, *range(len(tokens), len(weights))]].sum()),
        "score": float(scaled[top]),
        "total": float(weights.sum()),
        "of_name": weights[[tokens.index(each) for each in NAME]] if set(NAME) <= set(tokens) else None,
        "halved": float(_repeated(one, first, 2)[first] / _repeated(one, first, 1)[first]),
    }


def scaling(d: int, draw: int) -> Mapping[str, Any]:
    """Softmax over the scores of random vectors, with and without ÷√d: `N_DRAWS` rows of `N_KEYS` keys for each width.

    All numbers of q and k are drawn from a normal distribution with mean 0 and variance 1. The softmax's Jacobian is
    J = diag(p) − p pᵀ, by the logits that it is given; its norm is the root of the sum of squares.

    Args:
        d: the width; draw: the seed.

    Returns:
        widths: (w,); tops: (2, w) mean largest weight without and with ÷√d; jacobians: (2, w) median norm; saturated:
        (2, w) share of rows whose largest weight is above `SATURATED`; spreads: (2, w) standard deviation of what
        softmax is given; example, example_scaled: (keys,) the first row at width d; place: of d in widths; at_64: mean
        largest weight without ÷√d at width 64.
    """
    found = [_drawn(width, draw) for width in WIDTHS]
    place = WIDTHS.index(d)
    tops, jacobians, saturated, spreads = (np.array([each[i] for each in found]).T for i in range(4))
    return {
        "d": d,
        "place": place,
        "widths": np.array(WIDTHS, dtype=float),
        "tops": tops,
        "jacobians": jacobians,
        "saturated": saturated,
        "spreads": spreads,
        "example": found[place][4],
        "example_scaled": found[place][5],
        "at_64": float(tops[0, WIDTHS.index(ASKED_WIDTH)]),
    }


def masking(way: str, at: int) -> Mapping[str, Any]:
    """A causal mask put on in four ways: the model's scores, the weights that come of it.

    Args:
        way: "infinity" (−∞ before softmax), "zero" (scaled scores × 0 before softmax), "after" (weights × 0 after it)
            or "again" (the same, then each row divided by its sum); at: the layer.

    Returns:
        tokens; weights: (n, n); allowed: (n, n); leaked: (n,) weight of each row on keys that it may not see; row_sums:
        (n,); worst, worst_leak: the row that leaks most; lowest: the smallest row sum; gap: max |weights − the right
        ones|; zero_leak: what the first row gives away when scores are multiplied by 0.
    """
    trace = ac.load("induction").trace(LETTERS)
    head, tokens = trace.layers[at].head(0), texts_of(trace)
    weights = _masked(np.asarray(head.scaled), head.allowed, way)
    leaked = (weights * ~head.allowed).sum(axis=1)
    by_zero = _masked(np.asarray(head.scaled), head.allowed, "zero")
    return {
        "way": way,
        "tokens": tokens,
        "weights": weights,
        "allowed": head.allowed,
        "leaked": leaked,
        "row_sums": weights.sum(axis=1),
        "worst": int(leaked.argmax()),
        "worst_leak": float(leaked.max()),
        "mean_leak": float(leaked.mean()),
        "lowest": float(weights.sum(axis=1).min()),
        "gap": float(np.abs(weights - head.weights).max()),
        "zero_leak": float((by_zero * ~head.allowed).sum(axis=1).max()),
    }


def _row(of: str) -> tuple[list[str], Float[np.ndarray, " key"]]:
    """The tokens, and the scaled scores of the one that asks."""
    if of == "one":
        trace = ac.load("pronoun").trace(PRONOUN.format(noun=NOUN, adjective=ADJECTIVES[0]))
        tokens = texts_of(trace)
        return tokens, np.asarray(trace.layers[1].head(0).scaled[tokens.index("it")])
    trace, head = asked("dish", DISH_SENTENCE if of == "three" else OTHER_SENTENCE)
    return texts_of(trace), np.asarray(head.scaled[0])


def _repeated(scaled: Float[np.ndarray, " key"], at: int, copies: int) -> Float[np.ndarray, " key_and_copies"]:
    return softmax(np.append(scaled, np.repeat(scaled[at], copies - 1))[None])[0][0]


def _drawn(d: int, draw: int) -> tuple[Any, ...]:
    """Without and with ÷√d: mean top weight, median Jacobian norm, share saturated, spread; and the first rows."""
    chance = np.random.default_rng([draw, d])
    q, k = chance.standard_normal((N_DRAWS, d)), chance.standard_normal((N_DRAWS, N_KEYS, d))
    scores = np.einsum("nd,nkd->nk", q, k)
    logits = (scores, scores / np.sqrt(d))
    rows = [softmax(each)[0] for each in logits]
    tops = [p.max(axis=1) for p in rows]
    return (
        [top.mean() for top in tops],
        [np.median(jacobian_norms(p)) for p in rows],
        [(top > SATURATED).mean() for top in tops],
        [each.std() for each in logits],
        rows[0][0],
        rows[1][0],
    )


def jacobian_norms(p: Float[np.ndarray, "row key"]) -> Float[np.ndarray, " row"]:
    """‖diag(p) − p pᵀ‖ of each row: √(Σp² − 2Σp³ + (Σp²)²)."""
    squares = (p**2).sum(axis=1)
    return np.sqrt(np.maximum(squares - 2 * (p**3).sum(axis=1) + squares**2, 0))


def _masked(
    scaled: Float[np.ndarray, "query key"], allowed: Bool[np.ndarray, "query key"], way: str
) -> Float[np.ndarray, "query key"]:
    if way == "infinity":
        return softmax(np.where(allowed, scaled, -np.inf))[0]
    if way == "zero":
        return softmax(scaled * allowed)[0]
    kept = softmax(scaled)[0] * allowed
    return kept if way == "after" else kept / kept.sum(axis=1, keepdims=True)
