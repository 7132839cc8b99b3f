"""Lessons on what attention's form allows: order, heads, shapes, masks, counting. A function per lesson."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float

import attention_core as ac
from attention_core.loading import load_taught
from attention_core.stories.it import ADJECTIVES, NOUNS, SENTENCE, answer_at, place, texts_of
from attention_core.taught import TaughtModel

PLACED = {"without": "two-heads", "with": "dish-no-window"}  # Taught without positions, and with them.
FILES = ("two-heads", "two-heads-reseeded")
TOPICS = (("跳", "墙"), ("祖", "经"))
LEFT_OUT = {"none": None, "first": 0, "second": 1}
TIMES = (1, 2, 3, 4, 5, 6, 7, 8)
SAME = 1e-12  # The largest difference that rounding makes in these models.


def order(sentence: str, shuffle: int, mask: bool, taught: str) -> Mapping[str, Any]:
    """What the last layer writes at each token, in the order of the text and in another one.

    Args:
        shuffle: 0 leaves the characters as they are; any other number puts them in the order that it draws; tokens that
            the model puts before a text stay there. mask: whether each token sees only itself and what came before.
        taught: a key of `PLACED`.

    Returns:
        tokens, fed: (n,) in the order of the text, and as fed; moved: how many stand in another place; before: (n, d)
        what is written; after: (n, d) the same of the second run, its rows put back into the order of the text; apart:
        (n,) the largest |difference| of each row; gap: of all; plain_gap: without a mask and without positions;
        taught; mask.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    first, second, drawn = _twice(sentence, shuffle, mask, taught)
    before, after = np.asarray(first.layers[-1].written), _put_back(second, drawn)
    apart = np.abs(after - before).max(axis=1)
    plain, turned, order_of_it = _twice(sentence, shuffle or 1, False, "without")
    return {
        "taught": taught,
        "mask": mask,
        "tokens": texts_of(first),
        "fed": texts_of(second),
        "moved": int((drawn != np.arange(len(drawn))).sum()),
        "before": before,
        "after": after,
        "apart": apart,
        "gap": float(apart.max()),
        "plain_gap": float(np.abs(_put_back(turned, order_of_it) - np.asarray(plain.layers[-1].written)).max()),
    }


def heads(sentence: str, without: str) -> Mapping[str, Any]:
    """What the two heads of the same recipe look for, begun from different first numbers; and with one left out.

    Args:
        without: a key of `LEFT_OUT`: in both models 佛 sees nothing with that head.

    Returns:
        tokens; asker: the place of the first 佛 (or 0); is_there; pairs: (2, 2, 2) by model and head, the weight of the
        asker on 跳 and 墙, and on 祖 and 经; topic: 0 or 1, of which more stands in the sentence; finders: (2,) the
        head of each model that gives it more (ties: the first); without; answers, probabilities: (2,) with every head;
        left_answers, left_probabilities: (2,) without it; exchanged: (2,) the largest |change| of what is written when
        the two heads' matrices change places; seeds: (s,); dish_heads: (s,) what head 0 gives 跳 and 墙, from the card;
        n_first: in how many seeds that is more than half; n_seeds.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    models = [load_taught(name) for name in FILES]
    traces = [model.trace(sentence) for model in models]
    tokens = texts_of(traces[0])
    asker, n = (tokens.index("佛") if "佛" in tokens else 0), len(tokens)
    hidden = LEFT_OUT[without]
    cut = frozenset() if hidden is None else frozenset((0, hidden, asker, key) for key in range(n))
    left = [answer_at(model.trace(sentence, edits=ac.Edits(cut=cut)), asker) for model in models]
    whole = [answer_at(trace, asker) for trace in traces]
    pairs = np.array([[_on_topics(trace, head, asker) for head in (0, 1)] for trace in traces])
    topic = int(sum(token in TOPICS[1] for token in tokens) > sum(token in TOPICS[0] for token in tokens))
    rows = sorted(models[0].card.details["figures"]["seeds"], key=lambda row: row["seed"])
    return {
        "tokens": tokens,
        "asker": asker,
        "is_there": "佛" in tokens,
        "pairs": pairs,
        "topic": topic,
        "finders": [int(head) for head in pairs[:, :, topic].argmax(axis=1)],
        "without": without,
        **_answers("", whole),
        **_answers("left_", left),
        "exchanged": np.array([_exchanged(model, sentence) for model in models]),
        "seeds": [row["seed"] for row in rows],
        "dish_heads": np.array([row["head_0_dish"] for row in rows]),
        "n_first": sum(row["head_0_dish"] > 0.5 for row in rows),
        "n_seeds": len(rows),
    }


def shapes(d_model: int, d_head: int, n_heads: int, number: int) -> Mapping[str, Any]:
    """How large W_Q, W_K and their product are, of which rank; and how much of its input a head reads.

    The rank is measured on matrices drawn from a normal distribution: W_Q W_Kᵀ = Q₁ R₁ R₂ᵀ Q₂ᵀ has that of R₁ R₂ᵀ.

    Args:
        d_model, d_head, n_heads: sizes of a layer. number: which number of its input is changed by 1, in the taught
            model `two-heads`.

    Returns:
        d_model; d_head; n_heads; two: numbers in W_Q and W_K of one head; product: in W_Q W_Kᵀ; all_two, all_product:
        of all heads; rank: of the product; reads: (heads, d) length of that input's row of W_Q, by head of `two-heads`;
        number; change: (heads,) ‖change of q‖; n_read: (heads,) on how many of the inputs q depends; n_inputs.
    """
    layer = load_taught("two-heads").layers[0]
    reads = np.linalg.norm(layer.w_q, axis=2)
    x = np.zeros((2, layer.w_q.shape[1]))
    x[1, number] = 1
    q = x @ layer.w_q
    return {
        "d_model": d_model,
        "d_head": d_head,
        "n_heads": n_heads,
        "two": 2 * d_model * d_head,
        "product": d_model**2,
        "all_two": 2 * d_model * d_head * n_heads,
        "all_product": d_model**2 * n_heads,
        "rank": _rank(d_model, d_head),
        "reads": reads,
        "number": number,
        "change": np.linalg.norm(q[:, 1] - q[:, 0], axis=1),
        "n_read": (reads > 0).sum(axis=1),
        "n_inputs": reads.shape[1],
    }


def future(word: int, mask: bool, adjective: str) -> Mapping[str, Any]:
    """Which words a word can see with a causal mask, and whether it can tell what comes later.

    The same sentence runs with either adjective; a word where nothing differs cannot know which of them follows.

    Args:
        word: the place of the word that asks. mask: whether each word sees only itself and what came before, in the
            model `pronoun`, which was taught without a mask.

    Returns:
        tokens; word; mask; allowed: (n, n); weights: (n,) of the word in layer 1; n_seen, n; it_seen: how many "it"
        sees under the mask; differs: the place of the adjective; noun: whom it fits; apart: (n,) the largest
        |difference| between the two sentences in what the layers write, by place; knows: whether it is above rounding
        at the word; earliest: the first place where it is; answer, probability.
    """
    model, edits = load_taught("pronoun"), ac.Edits(causal=True if mask else None)
    traces = {one: model.trace(SENTENCE.format(one), edits=edits) for one in ADJECTIVES}
    trace = traces[adjective]
    written = [np.stack([np.asarray(layer.written) for layer in one.layers]) for one in traces.values()]
    apart = np.abs(written[0] - written[1]).max(axis=(0, 2))
    texts = [texts_of(one) for one in traces.values()]
    allowed, masked = trace.layers[1].allowed, model.trace(trace.text, edits=ac.Edits(causal=True))
    return {
        "tokens": texts_of(trace),
        "word": word,
        "mask": mask,
        "allowed": allowed,
        "weights": trace.layers[1].head(0).weights[word],
        "n_seen": int(allowed[word].sum()),
        "it_seen": int(masked.layers[1].allowed[place(trace, "it")].sum()),
        "n": len(trace.tokens),
        "differs": next(i for i, (one, other) in enumerate(zip(*texts, strict=True)) if one != other),
        "noun": NOUNS[adjective],
        "apart": apart,
        "knows": bool(apart[word] > SAME),
        "earliest": int(np.flatnonzero(apart > SAME)[0]),
        **answer_at(trace, word),
    }


def count(sentence: str, times: int, which: str, mark: bool) -> Mapping[str, Any]:
    """The weighted sum of one query when its keys come several times: a mean does not know how many they are.

    q, k and v are those of 佛 (else of the first token) in head 1 of `two-heads`; keys and values are then repeated.

    Args:
        times: how often they come; which: "all" repeats every token, "one" the one with the largest weight. mark: puts
            one more key before the text, never repeated: with the key of that word and the value 0.

    Returns:
        times; which; mark; tokens; asker: its place; word: the one with the largest weight; output, once: (d_v,) with
        `times` repetitions and with one; gap: max |output − once|; shares, lengths, sums: (8,) over `TIMES`: the share
        of all copies of the word, ‖output‖ and ‖Σ exp(scaled) v‖ (the sum before it is divided) in units of `once`'s;
        share, first_share: of the word now and once; mark_share: of the mark, or 0; counted: how many times it is, read
        from the mark's share, or None without a mark; three, single: (d_v,) the output with every token three times and
        once, no mark.

    Raises:
        AttentionError: the model cannot read the sentence.
    """
    trace = ac.load("two-heads").trace(sentence)
    tokens = texts_of(trace)
    asker, head = (tokens.index("佛") if "佛" in tokens else 0), trace.layers[0].head(1)
    best = int(head.weights[asker].argmax())
    runs = {n: _repeated(head, asker, best, _copies(len(tokens), best, n, which), mark) for n in {*TIMES, times}}
    now, once = runs[times], runs[1]
    plain = [_repeated(head, asker, best, _copies(len(tokens), best, n, "all"), False)["output"] for n in (3, 1)]
    return {
        "times": times,
        "which": which,
        "mark": mark,
        "tokens": tokens,
        "asker": asker,
        "word": tokens[best],
        "output": now["output"],
        "once": once["output"],
        "gap": float(np.abs(now["output"] - once["output"]).max()),
        "shares": np.array([runs[n]["share"] for n in TIMES]),
        "lengths": np.array([_length(runs[n]["output"]) for n in TIMES]) / _length(once["output"]),
        "sums": np.array([_length(runs[n]["sum"]) for n in TIMES]) / _length(once["sum"]),
        "share": now["share"],
        "first_share": once["share"],
        "mark_share": now["mark"],
        "three": plain[0],
        "single": plain[1],
        "counted": (1 / now["mark"] - 1) / (1 / once["mark"] - 1) if mark else None,
    }


def _twice(sentence: str, shuffle: int, mask: bool, taught: str) -> tuple[ac.Trace, ac.Trace, np.ndarray]:
    """The sentence as it is, and in another order; and that order."""
    loaded, edits = load_taught(PLACED[taught]), ac.Edits(causal=True if mask else None)
    first = loaded.trace(sentence, edits=edits)
    drawn = _drawn(len(first.tokens), len(loaded.card.details["prefix"]), shuffle)
    return first, loaded.trace(sentence, edits=replace(edits, order=tuple(drawn.tolist()))), drawn


def _put_back(trace: ac.Trace, order: np.ndarray) -> Float[np.ndarray, "token d_model"]:
    """What the last layer writes, by token of the text."""
    written = np.asarray(trace.layers[-1].written)
    found = np.empty_like(written)
    found[order] = written
    return found


def _drawn(n: int, kept: int, shuffle: int) -> np.ndarray:
    """An order of n tokens of which the first ones stay."""
    rest = np.random.default_rng(shuffle).permutation(n - kept) if shuffle else np.arange(n - kept)
    return np.concatenate([np.arange(kept), kept + rest])


def _on_topics(trace: ac.Trace, head: int, asker: int) -> list[float]:
    weights = trace.layers[0].head(head).weights[asker]
    return [float(weights[[token.text in topic for token in trace.tokens]].sum()) for topic in TOPICS]


def _answers(prefix: str, found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        f"{prefix}answers": [one["answer"] for one in found],
        f"{prefix}probabilities": np.array([one["probability"] for one in found]),
    }


def _exchanged(model: TaughtModel, sentence: str) -> float:
    """How much the layer's sum changes when its heads' matrices change places."""
    layer = model.layers[0]
    turned = replace(layer, **{name: getattr(layer, name)[::-1] for name in ("w_q", "w_k", "w_v", "w_o")})
    runs = [one.trace(sentence).layers[0].written for one in (model, replace(model, layers=(turned,)))]
    return float(np.abs(np.asarray(runs[0]) - np.asarray(runs[1])).max())


@lru_cache(maxsize=64)
def _rank(d_model: int, d_head: int) -> int:
    draw = np.random.default_rng(0).standard_normal
    one, two = (np.asarray(np.linalg.qr(draw((d_model, d_head)), mode="r")) for _ in range(2))
    return int(np.linalg.matrix_rank(one @ two.T))


def _copies(n: int, best: int, times: int, which: str) -> np.ndarray:
    """How often each of n tokens comes."""
    return np.where(np.arange(n) == best, times, 1) if which == "one" else np.full(n, times)


def _repeated(head: ac.HeadSteps, asker: int, best: int, copies: np.ndarray, mark: bool) -> dict[str, Any]:
    k, v = (np.repeat(part, copies, axis=0) for part in (head.k, head.v))
    of_best = np.repeat(np.arange(len(copies)) == best, copies)
    if mark:
        k, v = np.concatenate([head.k[best : best + 1], k]), np.concatenate([np.zeros((1, v.shape[1])), v])
        of_best = np.concatenate([[False], of_best])
    steps = ac.attention(head.q[asker : asker + 1], k, v, scale=head.scale)
    return {
        "output": steps.output[0],
        "share": float(steps.weights[0, of_best].sum()),
        "mark": float(steps.weights[0, 0]) if mark else 0.0,
        "sum": np.exp(steps.scaled[0]) @ v,
    }


def _length(vector: Float[np.ndarray, " d"]) -> float:
    return float(np.linalg.norm(vector))
