"""佛跳墙: attention is query + aggregate. Every function returns its scene's numbers by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

import attention_core as ac

MODEL = "dish"
NAME = ("佛", "跳", "墙")
ROOMS = {"narrow": "dish-narrow", "wide": MODEL}
PUSHES = np.linspace(-4, 4, 129)  # What is added to one scaled score, to see what becomes of its share.
N_BOUGHT = 3


def cooking(sentence: str) -> Mapping[str, Any]:
    """What [CLS] finds in a sentence, and what is made of it.

    Returns:
        tokens: (n,) texts; weights: (n,) of [CLS]; bought: the places with the three largest weights; of_bought: their
        weights together; width: how many numbers the weighted sum has; named: whether 佛跳墙 stands there; answer,
        probability: what the model says.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    trace, head = asked(MODEL, sentence)
    weights = head.weights[0]
    bought = np.argsort(-weights, kind="stable")[:N_BOUGHT]
    return {
        "tokens": texts_of(trace),
        "weights": weights,
        "bought": bought.tolist(),
        "of_bought": float(weights[bought].sum()),
        "width": head.output.shape[1],
        "named": name_at(texts_of(trace)) is not None,
        **answer_of(trace),
    }


def asking(sentence: str, equal: bool = False) -> Mapping[str, Any]:
    """What [CLS] asks of each character, by dot product and by distance.

    softmax(−‖q − k‖²/2) = softmax(q·k − ‖k‖²/2): the two are the same only where all keys are equally long. Both are
    taken at the model's own scale s: s · q·k, and −s · ‖q − k‖²/2.

    Args:
        equal: every key at the mean length, its direction kept: a computation beside the model, not a run of it.

    Returns:
        tokens: (n,) texts; weights: (n,) by dot product (the model's own unless `equal`); by_distance: (n,); lengths:
        (n,) of the keys; points: (n, 2) each key's part along q, and the length of the rest: dot product and distance
        to q are exact in this plane; asker: (1, 2) q itself; gap: the largest difference of the two weights; nearest,
        strongest: the characters with the largest weight by either; three: the places of 佛, 跳 and 墙; of_three: their
        weights together; whole: whether all three stand there.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    trace, head = asked(MODEL, sentence)
    q, k, tokens = head.q[0], head.k, texts_of(trace)
    lengths = np.linalg.norm(k, axis=1)
    if equal:
        k = k * (lengths.mean() / lengths)[:, None]
    weights = softmax(head.scale * (k @ q))
    by_distance = softmax(-head.scale * ((q - k) ** 2).sum(axis=1) / 2)
    along = k @ q / np.linalg.norm(q)
    three = [i for i, token in enumerate(tokens) if token in NAME]
    return {
        "tokens": tokens,
        "weights": weights,
        "by_distance": by_distance,
        "lengths": np.linalg.norm(k, axis=1),
        "points": np.column_stack([along, np.sqrt(np.maximum((k**2).sum(axis=1) - along**2, 0))]),
        "asker": np.array([[np.linalg.norm(q), 0.0]]),
        "gap": float(np.abs(weights - by_distance).max()),
        "strongest": tokens[int(weights.argmax())],
        "nearest": tokens[int(by_distance.argmax())],
        "three": three,
        "of_three": float(weights[three].sum()),
        "whole": set(NAME) <= set(tokens),
    }


def adding(sentence: str, k: int, threshold: float, temperature: float) -> Mapping[str, Any]:
    """Four ways from the characters' values to one vector: the weighted sum, two selections, a low temperature.

    A selection adds the chosen values and divides by how many they are, so that all four mix with shares of 1.

    Args:
        k: how many the first selection takes; threshold: the weight from which on the second one takes a character;
            temperature: what the scaled scores are divided by before softmax.

    Returns:
        tokens: (n,); shares: (4, n) what each way gives each character (a row of zeros where nothing was selected);
        results: (4, d_v); apart: (4,) ‖result − weighted sum‖; relative: the same over ‖weighted sum‖; k: at most the
        number of tokens; n_above: how many reach the threshold; pushed: the character in place k of the ranking;
        pushes: what is added to its scaled score; soft, hard: its share then, by softmax and by top k; coldest,
        coldest_share, coldest_second: whom the temperature favours, its share and the next one's.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    trace, head = asked(MODEL, sentence)
    scaled, weights = head.scaled[0], head.weights[0]
    k = min(k, len(weights))
    shares = np.stack([weights, _top(scaled, k), _above(weights, threshold), softmax(scaled / temperature)])
    results = shares @ head.v
    apart = np.linalg.norm(results - results[0], axis=1)
    pushed = int(np.argsort(-scaled, kind="stable")[k - 1])
    rows = [_pushed(scaled, pushed, push) for push in PUSHES]
    return {
        "tokens": texts_of(trace),
        "shares": shares,
        "results": results,
        "apart": apart,
        "relative": apart / np.linalg.norm(results[0]),
        "k": k,
        "n_above": int((weights >= threshold).sum()),
        "pushed": trace.tokens[pushed].text,
        "pushes": PUSHES,
        "soft": np.array([softmax(row)[pushed] for row in rows]),
        "hard": np.array([_top(row, k)[pushed] for row in rows]),
        "coldest": trace.tokens[int(shares[3].argmax())].text,
        "coldest_share": float(shares[3].max()),
        "coldest_second": float(np.sort(shares[3])[-2]),
    }


def jobs(sentence: str, room: str) -> Mapping[str, Any]:
    """The same task with K and V made by one matrix (A) and by two, with narrow and with wide heads.

    Args:
        room: "narrow" or "wide", a key of `ROOMS`.

    Returns:
        seeds: (s,); apart, shared: (s,) shares of held-out sentences judged wrongly, from the models' cards; means:
        (apart, shared); spread: between the best and the worst seed with K and V apart; worse: in how many seeds
        sharing is worse; d_head, d_model; steps: of training; tokens; weights_apart, weights_shared: (n,) of [CLS];
        keys, values, answers: (n, d) k and v of the one model, k = v of the other; same: max |k − v| of the other.

    Raises:
        AttentionError: a model cannot read the sentence.
    """
    names = (ROOMS[room], f"{ROOMS[room]}-kv")
    (trace, head), (_, tied) = (asked(name, sentence) for name in names)
    seeds, apart = wrong(names[0])
    _, shared = wrong(names[1])
    return {
        "room": room,
        "seeds": seeds,
        "apart": apart,
        "shared": shared,
        "means": (float(apart.mean()), float(shared.mean())),
        "spread": float(np.ptp(apart)),
        "worse": int((shared > apart).sum()),
        "d_head": head.k.shape[1],
        **taught_how(names[0]),
        "tokens": texts_of(trace),
        "weights_apart": head.weights[0],
        "weights_shared": tied.weights[0],
        "keys": head.k,
        "values": head.v,
        "answers": tied.k,
        "same": float(np.abs(tied.k - tied.v).max()),
    }


def stacking(sentence: str, matrix: str, view: str, row: int) -> Mapping[str, Any]:
    """q, k or v of the reading head, as one vector after another and as one matrix.

    Args:
        matrix: "q", "k" or "v"; view: "vectors" or "matrix"; row: which token's vector.

    Returns:
        tokens; row: within the sentence; vectors: (n, d), each token multiplied by itself; whole: (n, d), X W at once;
        scores: (n,) q[row] · k, one after another; all_scores: (n, n) Q Kᵀ; gap: the largest difference between the two
        ways, of vectors and scores.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    trace, head = asked(MODEL, sentence)
    x, made = np.asarray(head.x), np.asarray({"q": head.w_q, "k": head.w_k, "v": head.w_v}[matrix])
    row = min(row, len(trace.tokens) - 1)
    vectors = np.stack([one @ made for one in x])
    scores = np.array([head.q[row] @ k for k in head.k])
    whole, all_scores = x @ made, head.q @ head.k.T
    return {
        "tokens": texts_of(trace),
        "matrix": matrix,
        "view": view,
        "row": row,
        "vectors": vectors,
        "whole": whole,
        "scores": scores,
        "all_scores": all_scores,
        "gap": float(max(np.abs(vectors - whole).max(), np.abs(scores - all_scores[row]).max())),
    }


def asked(name: str, sentence: str) -> tuple[ac.Trace, ac.HeadSteps]:
    """The trace of a model, and the head with which [CLS] asks."""
    trace = ac.load(name).trace(sentence)
    layer, head = trace.card.reading_head or (0, 0)
    return trace, trace.layers[layer].head(head)


def texts_of(trace: ac.Trace) -> list[str]:
    return [token.text for token in trace.tokens]


def name_at(tokens: Sequence[str]) -> int | None:
    """The place at which 佛, 跳, 墙 stand side by side for the first time, or None."""
    return next((i for i in range(len(tokens)) if tuple(tokens[i : i + len(NAME)]) == NAME), None)


def answer_of(trace: ac.Trace) -> Mapping[str, Any]:
    """What [CLS] answers: its likelier word, that word's probability, and the probability of "yes"."""
    answers = (trace.predictions or ((),))[0]
    yes = next(answer.probability for answer in answers if answer.word == "yes")
    return {"answer": answers[0].word, "probability": answers[0].probability, "yes": yes}


def wrong(name: str) -> tuple[list[int], Float[np.ndarray, " seed"]]:
    """By seed, the share of held-out sentences that a kind of `dish` judges wrongly, from its card."""
    rows = sorted(ac.load(name).card.details["figures"]["seeds"], key=lambda row: row["seed"])
    return [row["seed"] for row in rows], np.array([1 - row["adversarial"] for row in rows])


def taught_how(name: str) -> dict[str, int]:
    """How wide a model is, and how many steps it was trained."""
    card = ac.load(name).card
    return {"d_model": card.d_model, "steps": card.details["training"]["steps"]}


def softmax(logits: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    exps = np.exp(logits - logits.max())
    return exps / exps.sum()


def _top(scores: Float[np.ndarray, " n"], k: int) -> Float[np.ndarray, " n"]:
    """1/k for each of the k largest, 0 for the others."""
    shares = np.zeros(len(scores))
    shares[np.argsort(-scores, kind="stable")[:k]] = 1 / k
    return shares


def _above(weights: Float[np.ndarray, " n"], threshold: float) -> Float[np.ndarray, " n"]:
    """Equal shares for all weights from the threshold on; zeros where there is none."""
    kept = weights >= threshold
    return kept / max(kept.sum(), 1)


def _pushed(scores: Float[np.ndarray, " n"], at: int, by: float) -> Float[np.ndarray, " n"]:
    moved = scores.copy()
    moved[at] += by
    return moved
