"""Four questions about the story of 佛跳墙: what stands side by side, several queries for one token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import attention_core as ac
from attention_core.loading import load_taught
from attention_core.stories.dish import MODEL, NAME, answer_of, name_at, taught_how, texts_of, wrong
from attention_core.taught import sinusoids

DEPTHS = {
    "one": "dish-one-layer",
    "heads": "dish-one-layer-four-heads",
    "mlp": "dish-one-layer-mlp",
    "both": "dish-one-layer-four-heads-mlp",
    "two": MODEL,
}
TWINS = {"seed": "two-heads", "reseeded": "two-heads-reseeded", "twins": "two-heads-twins"}
DISH, BUDDHISM = ("跳", "墙"), ("祖", "经")
TERMS = ("content_content", "content_position", "position_content", "position_position")


def neighbours(sentence: str, asker: int, places: bool = True) -> Mapping[str, Any]:
    """The scores of one character in layer 0, as the four terms that they are sums of.

    What is read is content + position, so that with e for content and p for position
    q·k = (e W_Q)·(e′ W_K) + (e W_Q)·(p′ W_K) + (p W_Q)·(e′ W_K) + (p W_Q)·(p′ W_K).

    Args:
        asker: which of 佛, 跳, 墙 asks (0, 1, 2); where it isn't there, the token in that place.
        places: False runs the model without positions.

    Returns:
        asker: its text; keys: the tokens that it may see; keys_at: (key,) how far away; terms: (key, 5) the four terms
        and their sum; weights: (key,); gap: max |sum − the model's score|; best, second: the keys with the largest
        scores; lead: the difference of the two scores; by_term: (4,) what each term gives to the lead.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    model = load_taught(MODEL)
    trace = model.trace(sentence, edits=ac.Edits(positions=places))
    head, i = trace.layers[0].head(0), _asker(texts_of(trace), asker)
    content = model.embedding[[token.id for token in trace.tokens]]
    place = sinusoids(len(content), model.card.d_model) * places
    terms = np.stack([(a[i] @ head.w_q) @ (b @ head.w_k).T for a in (content, place) for b in (content, place)])
    seen = np.flatnonzero(head.allowed[i])
    ranked = seen[np.argsort(-head.scores[i, seen], kind="stable")]
    best, second = ranked[0], ranked[min(1, len(ranked) - 1)]
    return {
        "asker": trace.tokens[i].text,
        "keys": [trace.tokens[j].text for j in seen],
        "keys_at": seen - i,
        "terms": np.column_stack([terms[:, seen].T, terms[:, seen].sum(axis=0)]),
        "weights": head.weights[i, seen],
        "gap": float(np.abs(terms.sum(axis=0) - head.scores[i]).max()),
        "places": places,
        "best": trace.tokens[best].text,
        "second": trace.tokens[second].text,
        "best_weight": float(head.weights[i, best]),
        "lead": float(head.scores[i, best] - head.scores[i, second]),
        "by_term": terms[:, best] - terms[:, second],
    }


def ends(sentence: str, run: int) -> Mapping[str, Any]:
    """What the characters of the name look at in layer 0: on average, by seed, from the card; and here, by seed 0.

    Returns:
        looks: (3, 4) of 佛, 跳, 墙 at 佛, 跳, 墙 and elsewhere, averaged over sentences about the dish; largest: (3,)
        whom each looks at most; away: (3,) how far that is; beside: how many of the three look most at a neighbour;
        beside_all, across_all, n_all: over all seeds, how many look at a neighbour, two away, of how many; tokens,
        weights, allowed: layer 0 of the shipped model;
        card: what its card says of it, by language.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    trace = ac.load(MODEL).trace(sentence)
    head = trace.layers[0].head(0)
    seeds = {row["seed"]: row["layer_0"] for row in trace.card.details["figures"]["seeds"]}
    away = {number: _away(row) for number, row in seeds.items()}
    looks = np.array([[seeds[run][a][b] for b in (*NAME, "elsewhere")] for a in NAME])
    return {
        "looks": looks,
        "largest": [NAME[j] for j in looks[:, : len(NAME)].argmax(axis=1)],
        "away": away[run],
        "beside": sum(each == 1 for each in away[run]),
        "beside_all": sum(each == 1 for row in away.values() for each in row),
        "across_all": sum(each > 1 for row in away.values() for each in row),
        "n_all": sum(len(row) for row in away.values()),
        "tokens": texts_of(trace),
        "weights": head.weights,
        "allowed": head.allowed,
        "card": trace.card.details["layer_0"],
    }


def depth(sentence: str, shuffle: int) -> Mapping[str, Any]:
    """Models of one layer and of two: how often they are right, and what each says of this sentence.

    Args:
        shuffle: 0 leaves the characters as they are; any other number puts them in the order that it draws.

    Returns:
        text, tokens: what was read; named: whether 佛跳墙 stands in it; models: (m,) keys of `DEPTHS`; right: (m,) mean
        share of held-out sentences judged rightly, over the seeds of each card; worst, best: (m,) of a seed; n_seeds;
        d_model, steps: of the two layers, see `taught_how`; yes: (m,) probability that each gives to "about the dish";
        n_right: how many of them are right about this one; two_right: whether the model with two layers is.

    Raises:
        AttentionError: a model cannot read the sentence.
    """
    typed = "".join(sentence.split())
    order = np.random.default_rng(shuffle).permutation(len(typed)) if shuffle else range(len(typed))
    text = "".join(typed[i] for i in order)
    traces = {key: ac.load(name).trace(text) for key, name in DEPTHS.items()}
    right = {key: 1 - wrong(name)[1] for key, name in DEPTHS.items()}
    yes = np.array([answer_of(trace)["yes"] for trace in traces.values()])
    named = name_at(texts_of(traces["two"])) is not None
    return {
        "text": text,
        "tokens": texts_of(traces["two"])[1:],
        "named": named,
        "models": list(DEPTHS),
        "right": np.array([row.mean() for row in right.values()]),
        "worst": np.array([row.min() for row in right.values()]),
        "best": np.array([row.max() for row in right.values()]),
        "n_seeds": len(right["two"]),
        **taught_how(MODEL),
        "yes": yes,
        "n_right": int(((yes > 0.5) == named).sum()),
        "two_right": bool((yes[-1] > 0.5) == named),
    }


def several(sentence: str, first: str) -> Mapping[str, Any]:
    """What 佛 asks for with each of two heads.

    Args:
        first: which first numbers the model was taught from, a key of `TWINS`.

    Returns:
        tokens; asker: the place of the first 佛 (or of the first token); is_there: whether there is one; weights:
        (2, n) by head; pairs: (2, 2) by head, the weight on 跳 and 墙, and on 祖 and 经; queries: (2, d_head);
        gap: the largest difference between the heads' weights; answer, probability; dish_heads: (s,) by seed of the
        card, what head 0 gives 跳 and 墙; divided, n_seeds: in how many seeds the heads divide the work; d_model,
        steps: see `taught_how`; one_head: mean share of held-out texts that the model with one head answers rightly.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    trace = ac.load(TWINS[first]).trace(sentence)
    tokens, layer = texts_of(trace), trace.layers[0]
    asker = tokens.index("佛") if "佛" in tokens else 0
    weights = np.stack([layer.head(h).weights[asker] for h in range(layer.n_heads)])
    seeds = sorted(trace.card.details["figures"]["seeds"], key=lambda row: row["seed"])
    alone = ac.load("two-heads-one-head").card.details["figures"]["seeds"]
    answer = (trace.predictions or ())[asker][0]
    return {
        "first": first,
        "tokens": tokens,
        "asker": asker,
        "is_there": "佛" in tokens,
        "weights": weights,
        "pairs": np.stack([_of(weights, tokens, DISH), _of(weights, tokens, BUDDHISM)], axis=1),
        "queries": np.stack([layer.head(h).q[asker] for h in range(layer.n_heads)]),
        "gap": float(np.abs(weights[0] - weights[1]).max()),
        "answer": answer.word,
        "probability": answer.probability,
        "seeds": [row["seed"] for row in seeds],
        "dish_heads": np.array([row["head_0_dish"] for row in seeds]),
        "divided": sum(row["divided"] for row in seeds),
        "n_seeds": len(seeds),
        **taught_how(TWINS[first]),
        "one_head": float(np.mean([row["held_out_combinations"] for row in alone])),
    }


def _asker(tokens: Sequence[str], asker: int) -> int:
    """Where that character stands: inside the name where it is whole, else its first place, else that place."""
    start = name_at(tokens)
    if start is not None:
        return start + asker
    return tokens.index(NAME[asker]) if NAME[asker] in tokens else min(asker + 1, len(tokens) - 1)


def _away(looks: Mapping[str, Mapping[str, float]]) -> list[int]:
    """How far from each character of the name the one stands that it looks at most."""
    largest = [max(range(len(NAME)), key=lambda j: looks[a][NAME[j]]) for a in NAME]
    return [abs(i - j) for i, j in enumerate(largest)]


def _of(weights: np.ndarray, tokens: Sequence[str], wanted: Sequence[str]) -> np.ndarray:
    return weights[:, [i for i, token in enumerate(tokens) if token in wanted]].sum(axis=1)
