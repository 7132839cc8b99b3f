"""It, animal, tired: what a query, a key and a value are for. Every function returns its scene's numbers by name.

Two models read the sentence: `pronoun`, of which every number fits on a screen, and `pronoun-open`, which knows 6,000
words. In both, layer 0 writes a note beside each word, and the query of layer 1 is computed from the word and its note:
q = x W_Q + Δ W_Q, while keys and values are made from the words alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from jaxtyping import Float

import attention_core as ac
from attention_core.edits import EMPTY
from attention_core.steps import softmax
from attention_core.words import fold

SENTENCE = "The animal didn't cross the street because it was too {}."
ADJECTIVES = ("tired", "wide")
NOUNS = {"tired": "animal", "wide": "street"}  # Whom the adjective can be said of.
MODELS = {"open": "pronoun-open", "small": "pronoun"}
SHALLOW = "pronoun-one-layer"
# What an article prints for "it" → animal, street, it in this sentence: an illustration, not a measurement.
ILLUSTRATED = {"animal": 0.80, "street": 0.05, "it": 0.15}
LIVING = ("animal", "dog", "horse")
PLACES = ("street", "tunnel", "river")


def advert(like: str, adjective: str) -> Mapping[str, Any]:
    """What "it" finds with its query, and what it takes along.

    Args:
        like: what attention is compared with, "library" or "search"; it changes no number.

    Returns:
        like; adjective; tokens: (n,) texts; asker: the place of "it"; weights: (n,) of it; best: the word with the
        largest weight, best_weight; rest: all other weights together; n; d_k, d_v: numbers in a query and in a value;
        answer, probability: what the model says that "it" stands for.
    """
    trace = run("open", SENTENCE.format(adjective))
    at, head = place(trace, "it"), reading_head(trace)
    weights = head.weights[at]
    return {
        "like": like,
        "adjective": adjective,
        "tokens": texts_of(trace),
        "asker": at,
        "weights": weights,
        "best": trace.tokens[int(weights.argmax())].text,
        "best_weight": float(weights.max()),
        "rest": float(weights.sum() - weights.max()),
        "n": len(weights),
        "d_k": head.q.shape[1],
        "d_v": head.v.shape[1],
        **answer_at(trace, at),
    }


def three(word: int, at: int) -> Mapping[str, Any]:
    """The query, key and value of any token of the small model: it asks, is asked, and hands over.

    Args:
        word: the token's place; at: the layer, 0 or 1.

    Returns:
        tokens; word; at; vectors: (3, d) its q, k and v; asks: (n,) its row of the weights; asked: (n,) its column:
        what share of each other's attention it gets; finds, finds_weight: whom it looks at most; asked_most,
        asked_weight: who looks at it most; total: the sum of its column (1 would be average); is_self: whether it finds
        itself.
    """
    trace = run("small", SENTENCE.format("tired"))
    head = trace.layers[at].head(0)
    row, column = head.weights[word], head.weights[:, word]
    return {
        "tokens": texts_of(trace),
        "word": word,
        "at": at,
        "vectors": np.stack([head.q[word], head.k[word], head.v[word]]),
        "asks": row,
        "asked": column,
        "finds": trace.tokens[int(row.argmax())].text,
        "finds_weight": float(row.max()),
        "asked_most": trace.tokens[int(column.argmax())].text,
        "asked_weight": float(column.max()),
        "total": float(column.sum()),
        "is_self": int(row.argmax()) == word,
    }


def note(adjective: str, which: str) -> Mapping[str, Any]:
    """Where "it" looks with and without the note that layer 0 brings it.

    Args:
        which: "open" or "small", of two layers, or "single", a model taught the same with one layer.

    Returns:
        which; adjective; tokens; asker; told: `NOUNS` of the adjective; whole: (n,) weights of the reading head. With
        two layers also brings: (n,) weights of "it" in layer 0; brought: the adjective's among them; cut: (n,) the
        reading head in a second run in which layer 0 hides the adjective from "it"; alone: (n,) with a query made of
        the embedding alone, a computation beside the model; apart: the largest |difference| of that query between the
        two adjectives; lengths: of the query's two parts, word and note; whole_told, cut_told, alone_told: weight on
        the noun that is meant. With one layer: other: (n,) weights with the other adjective; flips, two_way, named:
        (seeds,) from the card, shares of held-out sentences: the gaze flips with the adjective, the right one of the
        two nouns is likelier, and is the first of all words; two_layers: (seeds,) `flips` of the two-layer model.
    """
    if which == "single":
        return _note_of_one_layer(adjective)
    trace = run(which, SENTENCE.format(adjective))
    at, head = place(trace, "it"), reading_head(trace)
    brings, telling = trace.layers[0].head(0).weights[at], place(trace, adjective)
    cut = run(which, trace.text, ac.Edits(cut=frozenset({(0, None, at, telling)})))
    of_word, of_note = query_parts(trace, at)
    others = [query_parts(run(which, SENTENCE.format(one)), at)[0] for one in ADJECTIVES]
    found = {
        "whole": head.weights[at],
        "cut": reading_head(cut).weights[at],
        "alone": softmax((head.k @ of_word * head.scale)[None])[0][0],
    }
    told = place(trace, NOUNS[adjective])
    return {
        "which": which,
        "adjective": adjective,
        "tokens": texts_of(trace),
        "asker": at,
        "told": NOUNS[adjective],
        "brings": brings,
        "brought": float(brings[telling]),
        **found,
        **{f"{name}_told": float(weights[told]) for name, weights in found.items()},
        "apart": float(np.abs(others[0] - others[1]).max()),
        "lengths": (float(np.linalg.norm(of_word)), float(np.linalg.norm(of_note))),
    }


def plane(which: str, view: str) -> Mapping[str, Any]:
    """The queries of "it" after either adjective and the keys of nouns, in two directions.

    Each noun's key is the one that it has in the sentence, a living thing at the animal's place, a place at the
    street's.

    Args:
        view: "principal": the two principal directions of these keys and queries, from the origin (right singular
            vectors); "asked": two directions that span the two queries: there dot products are exact.

    Returns:
        which; view; nouns: (m,); is_living: (m,); arrows: (2, 2) the queries (tired, wide); points: (m, 2) the keys;
        kept: what share of all squared lengths lies in the plane; scores: (2, m) q · k; off: the largest |error| of a
        dot product taken in the plane; favourites: the noun with the largest score of either; margins: by how much the
        worst noun that fits beats the best one that does not (tired, wide), above 0 where all fit.
    """
    queries: list[np.ndarray] = []
    keys: dict[str, np.ndarray] = {}
    for adjective in ADJECTIVES:
        trace = run(which, SENTENCE.format(adjective))
        queries.append(reading_head(trace).q[place(trace, "it")])
    for living, spot in zip(LIVING, PLACES, strict=True):
        trace = run(which, SENTENCE.format("tired").replace("animal", living).replace("street", spot))
        keys |= {noun: reading_head(trace).k[place(trace, noun)] for noun in (living, spot)}
    q, k = np.stack(queries), np.stack([keys[noun] for noun in (*LIVING, *PLACES)])
    basis = _directions(q if view == "asked" else np.concatenate([k, q]))
    arrows, points, scores = q @ basis.T, k @ basis.T, q @ k.T
    whole = float((q**2).sum() + (k**2).sum())
    n = len(LIVING)
    return {
        "which": which,
        "view": view,
        "nouns": [*LIVING, *PLACES],
        "is_living": np.arange(len(k)) < n,
        "arrows": arrows,
        "points": points,
        "kept": float((arrows**2).sum() + (points**2).sum()) / whole,
        "scores": scores,
        "off": float(np.abs(arrows @ points.T - scores).max()),
        "favourites": tuple((*LIVING, *PLACES)[int(row.argmax())] for row in scores),
        "margins": (
            float(scores[0, :n].min() - scores[0, n:].max()),
            float(scores[1, n:].min() - scores[1, :n].max()),
        ),
    }


def stages(adjective: str, which: str) -> Mapping[str, Any]:
    """The four steps at "it": dot products, scaling, softmax, weighted sum.

    Returns:
        which; adjective; tokens; asker; scores, scaled, weights: (n,) of the reading head's row; d: numbers in a key;
        root: √d; best; best_score, best_scaled, best_weight; parts: (4, d_v) weight · value of the animal, the street,
        "it" and all others; output: (d_v,) the model's; gap: max |Σ parts − output|; row_sum; ours: (3,) weights on
        animal, street, it; theirs: (3,) the illustration; elsewhere: what the other tokens get; next_word: the largest
        of them.
    """
    trace = run(which, SENTENCE.format(adjective))
    at, head = place(trace, "it"), reading_head(trace)
    weights = head.weights[at]
    named = [place(trace, word) for word in ILLUSTRATED]
    others = np.setdiff1d(np.arange(len(weights)), named)
    handed = weights[:, None] * head.v
    parts = np.concatenate([handed[named], handed[others].sum(axis=0, keepdims=True)])
    best = int(weights.argmax())
    return {
        "which": which,
        "adjective": adjective,
        "tokens": texts_of(trace),
        "asker": at,
        "scores": head.scores[at],
        "scaled": head.scaled[at],
        "weights": weights,
        "d": head.k.shape[1],
        "root": 1 / head.scale,
        "best": trace.tokens[best].text,
        "best_score": float(head.scores[at, best]),
        "best_scaled": float(head.scaled[at, best]),
        "best_weight": float(weights[best]),
        "parts": parts,
        "output": head.output[at],
        "gap": float(np.abs(parts.sum(axis=0) - head.output[at]).max()),
        "row_sum": float(weights.sum()),
        "ours": weights[named],
        "theirs": np.array(list(ILLUSTRATED.values())),
        "elsewhere": float(weights[others].sum()),
        "next_word": trace.tokens[int(others[weights[others].argmax()])].text,
    }


def place(trace: ac.Trace, word: str) -> int:
    """Where that word stands first."""
    return next(i for i, token in enumerate(trace.tokens) if fold(token.text) == word)


def texts_of(trace: ac.Trace) -> list[str]:
    return [token.text for token in trace.tokens]


def reading_head(trace: ac.Trace) -> ac.HeadSteps:
    """The head that finds the noun."""
    layer, head = trace.card.reading_head or (0, 0)
    return trace.layers[layer].head(head)


def answer_at(trace: ac.Trace, token: int) -> dict[str, Any]:
    """What the model says there: answer, probability."""
    best = (trace.predictions or ())[token][0]
    return {"answer": best.word, "probability": best.probability}


def query_parts(trace: ac.Trace, token: int) -> tuple[Float[np.ndarray, " d_head"], Float[np.ndarray, " d_head"]]:
    """What of a token's query in layer 1 comes from its word, and what from its note. They add up to q."""
    head, d = reading_head(trace), trace.card.d_model
    x, w_q = np.asarray(head.x)[token], np.asarray(head.w_q)
    return x[:d] @ w_q[:d], x[d:] @ w_q[d:]


def taught(name: str) -> ac.TaughtModel:
    """The catalogue's model of that name, one of those that were taught for these pages."""
    return cast(ac.TaughtModel, ac.load(name))


def run(model: str, text: str, edits: ac.Edits = EMPTY) -> ac.Trace:
    """That text through one of `MODELS`."""
    return taught(MODELS[model]).trace(text, edits=edits)


def by_seed(name: str, *path: str) -> Float[np.ndarray, " seed"]:
    """A figure of that model's card, for each of the seeds."""
    found = []
    for row in sorted(ac.load(name).card.details["figures"]["seeds"], key=lambda row: row["seed"]):
        for key in path:
            row = row[key]
        found.append(float(row))
    return np.array(found)


def _note_of_one_layer(adjective: str) -> Mapping[str, Any]:
    traces = {one: taught(SHALLOW).trace(SENTENCE.format(one)) for one in ADJECTIVES}
    trace, at = traces[adjective], place(traces[adjective], "it")
    rows = {one: reading_head(each).weights[at] for one, each in traces.items()}
    return {
        "which": "single",
        "adjective": adjective,
        "tokens": texts_of(trace),
        "asker": at,
        "told": NOUNS[adjective],
        "whole": rows[adjective],
        "other": rows[next(one for one in ADJECTIVES if one != adjective)],
        "whole_told": float(rows[adjective][place(trace, NOUNS[adjective])]),
        "flips": by_seed(SHALLOW, "flips_right"),
        "two_way": by_seed(SHALLOW, "held_out_combinations", "two_way"),
        "named": by_seed(SHALLOW, "held_out_combinations", "full"),
        "two_layers": by_seed(MODELS["small"], "flips_right"),
        **answer_at(trace, at),
    }


def _directions(vectors: Float[np.ndarray, "vector d"]) -> Float[np.ndarray, "2 d"]:
    """Two principal directions from the origin; the sum of all vectors lies in the positive quadrant."""
    found = np.linalg.svd(vectors, full_matrices=False)[2][:2]
    return found * np.where(found @ vectors.sum(axis=0) < 0, -1.0, 1.0)[:, None]
