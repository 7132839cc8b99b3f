"""It, animal, tired, continued: other words, other orders, two inputs, a mask, and what becomes of the weighted sum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import attention_core as ac
from attention_core.stories.it import (
    ADJECTIVES,
    MODELS,
    NOUNS,
    SENTENCE,
    answer_at,
    by_seed,
    place,
    reading_head,
    run,
    taught,
    texts_of,
)
from attention_core.words import fold, spans

OWN = "The {} didn't cross the {} because it was too {}."
FRAMES = {
    "before": SENTENCE,
    "swapped": "The street wasn't crossed by the animal because it was too {}.",
    "behind": "Because it was too {}, the animal didn't cross the street.",
    "so": "It was too {}, so the street wasn't crossed by the animal.",
}
NOTHING = "…"  # Stands where the reader typed no word.
ASKING, ANSWERING = "it was too {}", "The {} didn't cross the {}"
SCENERY = {"street": ("animal", "street"), "tunnel": ("dog", "tunnel"), "soup": ("cat", "soup")}
# Two texts that differ in one word, and the word that asks: at its first and at its last place.
CASES = {
    "once": ("it", tuple(SENTENCE.format(one) for one in ADJECTIVES)),
    "twice": ("it", tuple(SENTENCE.format(one)[:-1] + ", so it left." for one in ADJECTIVES)),
    "letters": ("a", ("abcdefa", "agcdefa")),
}
PLACES = {
    "it": ("pronoun", SENTENCE.format("tired"), "it"),
    "letters": ("induction", "abcdefa", "a"),
    "heads": ("two-heads", "今天吃佛跳墙，明天看佛经。", "佛"),
}
_SAME = 1e-12  # Below this, two runs agree at a token: what is left is rounding.


def words(noun: str, rival: str, adjective: str, versus: str) -> Mapping[str, Any]:
    """The sentence with the reader's words, and with one adjective or the other. Of each text the first word counts.

    Returns:
        tokens: (2, n) texts; asker; weights: (2, n) of "it"; looks, looks_weight: (2,) the word that it looks at most;
        answers, probabilities: (2, 5) the likeliest; nouns: the two; unknown: words that the model does not know;
        n_known: how many it does; pairs: (seeds,) of `n_pairs` pairs written by hand, how many are right in both
        sentences, from the card.
    """
    nouns = (_word(noun), _word(rival))
    traces = [run("open", OWN.format(*nouns, _word(one))) for one in (adjective, versus)]
    weights = np.stack([reading_head(trace).weights[_IT] for trace in traces])
    largest = weights.argmax(axis=1)
    best = [(trace.predictions or ())[_IT] for trace in traces]
    pairs, share = (by_seed(MODELS["open"], "forty_pairs", name) for name in ("pairs", "flip"))
    return {
        "tokens": [texts_of(trace) for trace in traces],
        "asker": _IT,
        "weights": weights,
        "looks": tuple(trace.tokens[int(i)].text for trace, i in zip(traces, largest, strict=True)),
        "looks_weight": weights.max(axis=1),
        "answers": [[one.word for one in row] for row in best],
        "probabilities": np.array([[one.probability for one in row] for row in best]),
        "nouns": nouns,
        "unknown": sorted({token.text for trace in traces for token in trace.tokens if token.is_unknown}),
        "n_known": len(taught(MODELS["open"]).vocabulary),
        "pairs": pairs,
        "n_pairs": round(float(pairs[0] / share[0])),
    }


def moved(frame: str, adjective: str, places: bool, which: str) -> Mapping[str, Any]:
    """The same words in other orders: the nouns before "it" or behind it.

    Args:
        frame: a key of `FRAMES`; places: whether the model is told where each word stands.

    Returns:
        frame; tokens; asker; weights: (n,) of "it"; noun: whom the adjective fits; distance: its place minus that of
        "it"; told, other: the weights on it and on the other noun; brought: the weight of layer 0 on the adjective;
        answer, probability; frames: the keys of `FRAMES`; by_frame: (frames, 2) weights on animal and street in each;
        change: `told` minus the same in the first frame with places.
    """
    weights = {name: _found(text.format(adjective), places, which)[1] for name, text in FRAMES.items()}
    trace, _ = _found(FRAMES[frame].format(adjective), places, which)
    usual = _found(SENTENCE.format(adjective), True, which)[1]
    at, noun = place(trace, "it"), NOUNS[adjective]
    other = next(one for one in NOUNS.values() if one != noun)
    return {
        "frame": frame,
        "tokens": texts_of(trace),
        "asker": at,
        "weights": reading_head(trace).weights[at],
        "noun": noun,
        "distance": place(trace, noun) - at,
        "told": weights[frame][noun],
        "other": weights[frame][other],
        "brought": float(trace.layers[0].head(0).weights[at, place(trace, adjective)]),
        **answer_at(trace, at),
        "frames": list(FRAMES),
        "by_frame": np.array([[found[one] for one in NOUNS.values()] for found in weights.values()]),
        "change": weights[frame][noun] - usual[noun],
    }


def inputs(kind: str, adjective: str, scenery: str) -> Mapping[str, Any]:
    """One input or two: the same matrices, with queries, keys and values from one text, or queries from another.

    "cross" is a computation beside the model, which was taught with one input: q of `asking` (its layer 0 has run), k
    and v of `answering`, then `ac.attention`.

    Returns:
        kind; askers, answerers: texts; asker: the row of "it"; x: the shape of what q is made of; x_key: of what k and
        v are made of; q, k, v: shapes; weights: (m, n); nouns; adjective; looks, looks_weight: the largest of "it";
        answer: what the model's read-out makes of the output at "it".
    """
    nouns = SCENERY[scenery]
    answering = ANSWERING.format(*nouns)
    if kind == "self":
        asked = answered = run("small", f"{answering} because {ASKING.format(adjective)}")
    else:
        asked, answered = run("small", ASKING.format(adjective)), run("small", answering)
    q, k = reading_head(asked), reading_head(answered)
    head = ac.attention(q.q, k.k, k.v, scale=q.scale)
    at = place(asked, "it")
    readout = taught(MODELS["small"]).readouts[0]
    logits = readout.logits({"answer": head.output @ np.asarray(q.w_o)})[at]
    best = int(head.weights[at].argmax())
    return {
        "kind": kind,
        "askers": texts_of(asked),
        "answerers": texts_of(answered),
        "asker": at,
        "x": np.asarray(q.x).shape,
        "x_key": np.asarray(k.x).shape,
        "q": head.q.shape,
        "k": head.k.shape,
        "v": head.v.shape,
        "weights": head.weights,
        "nouns": nouns,
        "adjective": adjective,
        "looks": answered.tokens[best].text,
        "looks_weight": float(head.weights[at, best]),
        "answer": readout.answers[int(logits.argmax())],
    }


def causal(case: str, mask: bool) -> Mapping[str, Any]:
    """What a causal mask takes from a token, and which later token still has it.

    Two texts that differ in one word run through the same model; a token at which nothing differs cannot know which of
    the two words stands there.

    Args:
        case: a key of `CASES`; the sentences run through `pronoun`, taught without a mask, the letters through
            `induction`, taught with one. mask: whether each token sees only itself and what came before.

    Returns:
        case; mask; tokens: (2, n); asks: the word; first, last: its places; differs: the place of the differing word;
        sees: whether the first place may see it; apart: (n,) the largest |difference| of what the last layer writes;
        earliest: the first place where they differ (apart > 1e-12), or None; weights: (2, n) of the last place;
        answers, probabilities: (2, 2) for each text at the first and at the last place; end: answers at the last token.
    """
    asks, texts = CASES[case]
    model = taught("induction" if case == "letters" else MODELS["small"])
    traces = [model.trace(text, edits=ac.Edits(causal=mask)) for text in texts]
    tokens = [texts_of(trace) for trace in traces]
    at = [i for i, text in enumerate(tokens[0]) if fold(text) == asks]
    differs = next(i for i, pair in enumerate(zip(*tokens, strict=True)) if pair[0] != pair[1])
    layers = [trace.layers[-1] for trace in traces]
    apart = np.abs(np.asarray(layers[0].written) - np.asarray(layers[1].written)).max(axis=1)
    answers = [[answer_at(trace, i) for i in (at[0], at[-1])] for trace in traces]
    return {
        "case": case,
        "mask": mask,
        "tokens": tokens,
        "asks": asks,
        "first": at[0],
        "last": at[-1],
        "differs": differs,
        "sees": bool(layers[0].allowed[at[0], differs]),
        "apart": apart,
        "earliest": next((i for i, size in enumerate(apart) if size > _SAME), None),
        "weights": np.stack([reading_head(trace).weights[at[-1]] for trace in traces]),
        "answers": [[one["answer"] for one in row] for row in answers],
        "probabilities": np.array([[one["probability"] for one in row] for row in answers]),
        "end": [answer_at(trace, len(trace.tokens) - 1)["answer"] for trace in traces],
    }


def final(where: str, rank: int) -> Mapping[str, Any]:
    """From the weighted sum to the answer: W_O, every head, what was there before, every layer.

    Args:
        where: a key of `PLACES`; rank: 1 for the likeliest answer, 2 for the next one.

    Returns:
        where; rank; token (the last of that word); model; parts: (kind, layer, head) of each part of the stream at the
        token, kind "embedding", "head" or, last, the read-out's "bias"; lengths: of those that are vectors; logits:
        (parts,) what each adds to the answer; is_read: (parts,) whether the read-out reads it; word; probability;
        logit; gap: |Σ logits − logit|; sums: (heads,) lengths of the weighted sums before W_O, and after: (heads,)
        after it; largest: the part with the largest logit, largest_logit.
    """
    name, text, word = PLACES[where]
    trace = taught(name).trace(text)
    at = max(i for i, token in enumerate(trace.tokens) if token.text == word)
    said = trace.explain_answer(at, (trace.predictions or ())[at][rank - 1].word)
    split = [(*one, part.is_read) for part in said.parts for one in _split(trace, part, at)]
    parts, logits = [one[0] for one in split], [one[1] for one in split]
    heads = [layer.head(h) for layer in trace.layers for h in range(layer.n_heads)]
    return {
        "where": where,
        "rank": rank,
        "token": trace.tokens[at].text,
        "model": name,
        "parts": parts,
        "lengths": np.array([np.linalg.norm(vector) for _, _, vector, _ in split if vector is not None]),
        "logits": np.array(logits),
        "is_read": np.array([one[3] for one in split]),
        "word": said.word,
        "probability": said.probability,
        "logit": said.logit,
        "gap": abs(sum(logits) - said.logit),
        "sums": np.array([np.linalg.norm(head.output[at]) for head in heads]),
        "after": np.array([np.linalg.norm(head.output[at] @ head.w_o) for head in heads]),
        "largest": parts[int(np.argmax(logits))],
        "largest_logit": max(logits),
    }


_IT = 7  # The place of "it" in `OWN`.


def _word(text: str) -> str:
    found = spans(text)
    return text[found[0][0] : found[0][1]] if found else NOTHING


def _found(text: str, places: bool, model: str) -> tuple[ac.Trace, dict[str, float]]:
    """The trace, and the weights of "it" on the two nouns."""
    trace = run(model, text, ac.Edits(positions=places))
    row = reading_head(trace).weights[place(trace, "it")]
    return trace, {noun: float(row[place(trace, noun)]) for noun in NOUNS.values()}


def _split(trace: ac.Trace, part: ac.LogitPart, at: int) -> list[tuple[tuple, float, np.ndarray | None]]:
    """A part of an answer's sum by heads: (kind, layer, head), logit and vector of each."""
    if part.kind == "embedding":
        return [(("embedding", None, None), part.logit, np.asarray(trace.layers[0].x)[at])]
    if part.kind != "layer":
        return [((part.kind, part.layer, None), part.logit, None)]
    layer = next(one for one in trace.layers if one.index == part.layer)
    found = []
    for h in range(layer.n_heads):
        head = layer.head(h)
        logit = sum(term.logit for term in part.terms if term.head == h)
        found.append((("head", layer.index, h), logit, head.output[at] @ np.asarray(head.w_o)))
    return found
