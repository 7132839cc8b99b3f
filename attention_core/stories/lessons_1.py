"""Lessons 1–5: beliefs about queries, keys and values, and the numbers that bear on them. A function each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

import attention_core as ac
from attention_core.loading import load_taught
from attention_core.stories.dish import asked, taught_how, texts_of
from attention_core.stories.dish_tied import COSTS, MEASURES, cost

PRONOUN = "The {noun} didn't cross the street because it was too {adjective}."
NOUN, ADJECTIVES = "animal", ("tired", "wide")
DISH_SENTENCE = "晚上我们吃佛跳墙"
LETTERS = "a c f b d h a c g e b d a"
TABLES = {"taught": "pronoun", "given": "pronoun-open"}
TIED = {"dish": ("dish-qk", DISH_SENTENCE), "letters": ("induction-qk", LETTERS)}
SAME = 1e-9  # Numbers closer than this are the same but for rounding.


def stored(replaced: str, made: str, at: int) -> Mapping[str, Any]:
    """What becomes of Q, K or V, and of the matrix that makes it, when one word of a sentence is replaced.

    Args:
        replaced: the word in the place of "animal"; made: "q", "k" or "v"; at: the layer.

    Returns:
        tokens: with the new word; vectors: (n, d) after; change: (n, d) after − before; n_rows: how many rows differ;
        n_numbers: how many numbers of Q differ; size; stored_shape; stored_numbers: how many numbers of W differ.
    """
    sentences = (PRONOUN.format(noun=noun, adjective=ADJECTIVES[0]) for noun in (NOUN, replaced))
    before, after = (ac.load("pronoun").trace(sentence) for sentence in sentences)
    one, other = (trace.layers[at].head(0) for trace in (before, after))
    change = getattr(other, made) - getattr(one, made)
    kept, kept_after = (np.asarray(getattr(head, f"w_{made}")) for head in (one, other))
    return {
        "made": made,
        "replaced": replaced,
        "tokens": texts_of(after),
        "vectors": getattr(other, made),
        "change": change,
        "n_rows": int((np.abs(change).max(axis=1) > SAME).sum()),
        "n_numbers": int((np.abs(change) > SAME).sum()),
        "size": change.size,
        "stored_shape": kept.shape,
        "stored_numbers": int((kept != kept_after).sum()),
    }


def tied(what: str, at: int) -> Mapping[str, Any]:
    """Where the rows of a head with one matrix for queries and keys look, and what the sharing has cost.

    Args:
        what: "dish" or "letters"; at: the layer.

    Returns:
        tokens; scores, weights, allowed: (n, n); uneven: max |S − Sᵀ|; uneven_weights: max |A − Aᵀ|; own: (n,) each
        token's weight on itself; n_elsewhere: how many rows have their largest weight not on themselves; n; example:
        (asker, answerer) of the last such row, or None; seeds, apart, shared: (s,) shares of right answers, from the
        cards; means: (apart, shared); spread: between the best and the worst seed apart; worse: in how many seeds;
        d_model, steps: see `taught_how`.
    """
    name, sentence = TIED[what]
    trace = ac.load(name).trace(sentence)
    head, tokens = trace.layers[at].head(0), texts_of(trace)
    away = [(i, int(j)) for i, j in enumerate(head.weights.argmax(axis=1)) if i != j]
    paid = cost(what)
    return {
        "tokens": tokens,
        "scores": head.scores,
        "weights": head.weights,
        "allowed": head.allowed,
        "uneven": float(np.abs(head.scores - head.scores.T).max()),
        "uneven_weights": float(np.abs(head.weights - head.weights.T).max()),
        "own": np.diagonal(head.weights),
        "n_elsewhere": len(away),
        "n": len(tokens),
        "example": tuple(tokens[i] for i in away[-1]) if away else None,
        "seeds": paid["seeds"],
        "apart": paid["apart"],
        "shared": paid["tied"],
        "means": paid["means"],
        "spread": paid["spread"],
        "worse": paid["worse"],
        **taught_how(name),
    }


def two_jobs(part: str, place: int, room: str) -> Mapping[str, Any]:
    """What [CLS] gets when one character's key, or its value, is set to zero: computed beside the model.

    Args:
        part: "k" or "v"; place: of the character; room: whose cost of one matrix for K and V, a key of `COSTS`.

    Returns:
        tokens; place; key, value: (d,) of the character as they are; weights, weights_after: (n,) of [CLS]; output,
        output_after: (d,); moved: max |Δ weight|; moved_output: ‖Δ output‖; value_moves: max |Δ weight| when it is the
        value that goes; seeds, apart, shared: (s,) shares of right answers, from the cards; means; spread; worse;
        d_model, steps: see `taught_how`.
    """
    trace, head = asked("dish", DISH_SENTENCE)
    after, without_value = (_zeroed(head, name, place) for name in (part, "v"))
    seeds, apart = _by_seed(COSTS[room], MEASURES[room])
    _, shared = _by_seed(f"{COSTS[room]}-kv", MEASURES[room])
    return {
        "part": part,
        "place": place,
        "tokens": texts_of(trace),
        "key": head.k[place],
        "value": head.v[place],
        "weights": head.weights[0],
        "weights_after": after.weights[0],
        "output": head.output[0],
        "output_after": after.output[0],
        "moved": float(np.abs(after.weights[0] - head.weights[0]).max()),
        "moved_output": float(np.linalg.norm(after.output[0] - head.output[0])),
        "value_moves": float(np.abs(without_value.weights[0] - head.weights[0]).max()),
        "seeds": seeds,
        "apart": apart,
        "shared": shared,
        "means": (float(apart.mean()), float(shared.mean())),
        "spread": float(np.ptp(apart)),
        "worse": int((shared < apart).sum()),
        **taught_how(COSTS[room]),
    }


def similarity(adjective: str, table: str) -> Mapping[str, Any]:
    """What "it" asks of every word, beside how alike the words' vectors are.

    Args:
        adjective: one of `ADJECTIVES`; table: "taught" (vectors learned with the model) or "given" (by a language
            model).

    Returns:
        tokens; it, noun: their places; cosines: (n,) of the embeddings of "it" and of each word; scaled, weights: (n,)
        of "it" in layer 1; nearest: the word most alike, "it" itself left out; nearest_weight; strongest: the word with
        the largest weight; strongest_cosine; cosine_change, score_change: of "it" and "animal", from tired to wide;
        both_cosines, both_scores, both_weights: (2,) the same by adjective; there, back: scores of "it" asking
        "animal", and of "animal" asking "it".
    """
    runs = [_asks(TABLES[table], PRONOUN.format(noun=NOUN, adjective=each)) for each in ADJECTIVES]
    tokens, cosines, head = runs[ADJECTIVES.index(adjective)]
    it, noun = tokens.index("it"), tokens.index(NOUN)
    others = np.where(np.arange(len(tokens)) == it, -np.inf, cosines)
    nearest, strongest = int(others.argmax()), int(head.weights[it].argmax())
    both_cosines = np.array([each[noun] for _, each, _ in runs])
    both_scores = np.array([each.scaled[it, noun] for *_, each in runs])
    return {
        "tokens": tokens,
        "it": it,
        "noun": noun,
        "cosines": cosines,
        "scaled": head.scaled[it],
        "weights": head.weights[it],
        "nearest": tokens[nearest],
        "nearest_cosine": float(cosines[nearest]),
        "nearest_weight": float(head.weights[it, nearest]),
        "strongest": tokens[strongest],
        "strongest_cosine": float(cosines[strongest]),
        "strongest_weight": float(head.weights[it, strongest]),
        "cosine_change": float(np.ptp(both_cosines)),
        "score_change": float(np.ptp(both_scores)),
        "both_cosines": both_cosines,
        "both_scores": both_scores,
        "there": float(head.scaled[it, noun]),
        "back": float(head.scaled[noun, it]),
    }


def all_ask(at: int, quiet: bool) -> Mapping[str, Any]:
    """Who asks while the next letter is found; and what is found when only the last letter may ask.

    Args:
        at: the place whose row is shown; quiet: every earlier letter is left without a key, in both layers (a second
            run of the model): it takes part with its key and value, and asks nothing.

    Returns:
        tokens; at; weights, allowed: (n, n) of layer 1; first, first_allowed: the same of layer 0; row: (n,) of `at`
        in layer 1; n_queries: how many q the two layers compute, n_asking: how many of them may ask in this run; n,
        n_layers; wanted: the letter that follows; probability: that the model gives it; loud, muted: the same with all
        asking, and with the last alone; answer; drift: the largest difference between any row and the last row of a
        run on the text up to there.
    """
    model = load_taught("induction")
    all_asking = model.trace(LETTERS)
    n, n_layers = len(all_asking.tokens), len(all_asking.layers)
    cut = frozenset((layer, None, i, j) for layer in range(n_layers) for i in range(n - 1) for j in range(i + 1))
    only_last = model.trace(LETTERS, edits=ac.Edits(cut=cut))
    trace, tokens = (only_last if quiet else all_asking), texts_of(all_asking)
    wanted = tokens[tokens.index(tokens[-1]) + 1]
    head = trace.layers[1].head(0)
    return {
        "tokens": tokens,
        "at": at,
        "quiet": quiet,
        "weights": head.weights,
        "allowed": head.allowed,
        "first": trace.layers[0].head(0).weights,
        "first_allowed": trace.layers[0].head(0).allowed,
        "row": head.weights[at],
        "n_queries": sum(len(layer.head(h).q) for layer in all_asking.layers for h in range(layer.n_heads)),
        "n_asking": sum(int(layer.head(0).has_keys.sum()) for layer in trace.layers),
        "n": n,
        "n_layers": n_layers,
        "wanted": wanted,
        "probability": _probability(trace, wanted),
        "loud": _probability(all_asking, wanted),
        "muted": _probability(only_last, wanted),
        "answer": trace.explain_answer(n - 1).word,
        "drift": _drift(all_asking),
    }


def _by_seed(name: str, measure: str) -> tuple[list[int], Float[np.ndarray, " seed"]]:
    rows = sorted(ac.load(name).card.details["figures"]["seeds"], key=lambda row: row["seed"])
    return [row["seed"] for row in rows], np.array([row[measure] for row in rows])


def _zeroed(head: ac.HeadSteps, part: str, place: int) -> ac.HeadSteps:
    k, v = np.array(head.k), np.array(head.v)
    (k if part == "k" else v)[place] = 0
    return ac.attention(head.q, k, v, scale=head.scale, allowed=head.allowed)


def _asks(name: str, sentence: str) -> tuple[list[str], Float[np.ndarray, " key"], ac.HeadSteps]:
    """Tokens; cosines of the embeddings of "it" and of every word; the head in which "it" asks."""
    model = load_taught(name)
    trace = model.trace(sentence)
    tokens = texts_of(trace)
    embedded = model.embedding[[token.id for token in trace.tokens]]
    unit = embedded / np.linalg.norm(embedded, axis=1, keepdims=True)
    return tokens, unit @ unit[tokens.index("it")], trace.layers[1].head(0)


def _probability(trace: ac.Trace, word: str) -> float:
    """Of that word, at the last token."""
    return trace.explain_answer(len(trace.tokens) - 1, word).probability


def _drift(whole: ac.Trace) -> float:
    """How far the rows of one run are from what each was when its token was the last one."""
    model, differences = ac.load("induction"), []
    for i, token in enumerate(whole.tokens):
        shorter = model.trace(LETTERS[: token.end])
        for layer, before in zip(whole.layers, shorter.layers, strict=True):
            row = before.head(0).weights[i]
            differences.append(np.abs(layer.head(0).weights[i, : i + 1] - row).max())
    return float(max(differences))
