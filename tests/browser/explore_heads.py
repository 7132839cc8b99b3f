"""Traces of every kind that no taught model makes: own arrays, rectangles, pairs, long texts, real architectures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

import attention_core as ac
from attention_core import tokens as core_tokens

PIECES = ("Rag", "na", "rok", " fell", " ", "<b>x</b>")
PAIR = ("the cat sat", "it was tired")
LONG = 2048


@dataclass(frozen=True)
class Made:
    """A trace under a name: `trace()` makes it once."""

    make: Callable[[], ac.Trace]

    def trace(self) -> ac.Trace:
        return _kept(self.make)


@cache
def _kept(make: Callable[[], ac.Trace]) -> ac.Trace:
    return make()


def weights(n_queries: int, n_keys: int, seed: int = 0, *, causal: bool = False, heads: int = 1) -> np.ndarray:
    """(head, query, key) rows that sum to 1, some of them peaked."""
    drawn = np.exp(3 * np.random.default_rng(seed).normal(size=(heads, n_queries, n_keys)))
    drawn = drawn * np.tri(n_queries, n_keys) if causal else drawn
    return drawn / drawn.sum(axis=-1, keepdims=True)


def _rectangle() -> ac.Trace:
    """5 queries × 7 keys, one cell of which may not be seen."""
    allowed = np.ones((5, 7), dtype=bool)
    allowed[2, 3] = False
    drawn = weights(5, 7, heads=3) * allowed
    drawn /= drawn.sum(axis=-1, keepdims=True)
    return ac.from_weights(
        drawn,
        ["der", "Hund", "sah", "die", "Katze", "im", "Garten"],
        ["the", "dog", "saw", "the", "cat"],
        allowed=allowed,
    )


def _rectangle_steps() -> ac.Trace:
    random = np.random.default_rng(7)
    factors = {"q": (3, 5, 11), "k": (3, 7, 11), "v": (3, 7, 13)}
    arrays = {name: random.normal(size=shape) for name, shape in factors.items()}
    bias = random.normal(size=(5, 7))
    words = {"tokens": list("abcdefg"), "query_tokens": ["v1", "v2", "v3", "v4", "v5"]}
    return ac.from_arrays(**arrays, bias=bias, softcap=2.0, **words)


def _sink() -> ac.Trace:
    """A causal head with 0.9 on the first token."""
    n = 11
    wanted = np.full((n, n), 0.1 / 9)
    wanted[:, 0] = 0.9
    wanted *= np.tri(n)
    wanted /= wanted.sum(axis=1, keepdims=True)
    words = ["<s>", "the", "cat", "sat", "on", "the", "mat", "because", "it", "slept", "."]
    tokens = [ac.Token(word, -1, 0, 0, is_special=i == 0) for i, word in enumerate(words)]
    return ac.from_weights(wanted, tokens, allowed=np.tri(n, dtype=bool))


def _no_key() -> ac.Trace:
    """Two query heads that read one key/value head, with a sink each, a soft-cap and a bias, in float32."""
    n, d = 7, 5
    random = np.random.default_rng(3)
    q, k, v = (random.normal(size=(h, n, d)).astype(np.float32) for h in (2, 1, 1))
    bias = random.normal(size=(2, n, n)).astype(np.float32)
    sinks = np.array([1.0, -0.5], dtype=np.float32)
    layer = ac.LayerTrace(3, "self", 3 * q, k, v, 0.7, ac.causal(n), bias=bias, softcap=2.5, sinks=sinks)
    made = ac.from_weights(weights(n, n), ["one", "two", "three", "four", "five", "six", "seven"])
    return replace(made, layers=(layer,), card=replace(made.card, n_heads=2), verify=_nothing_to_compare)


def _nothing_to_compare(trace: ac.Trace, full: bool) -> ac.Verification:
    return ac.Verification("plain-forward", 0.0, 1e-12, 0, len(trace.tokens), 0.0, 0.0)


def _pieces() -> ac.Trace:
    """Words of several tokens, as a byte-level tokenizer cuts them, with a space of their own."""
    text, at, found = "".join(PIECES), 0, []
    for piece in PIECES:
        found.append(ac.Token(piece, 100 + at, at, at + len(piece), piece=piece))
        at += len(piece)
    trace = ac.from_weights(weights(len(PIECES), len(PIECES), seed=2), found)
    return replace(trace, text=text, card=_tokenized(trace.card))


def _pair() -> ac.Trace:
    reading = core_tokens.read(
        PAIR,
        [1, 11, 12, 13, 2, 14, 15, 16, 2],
        ["<s>", "the", "cat", "sat", "</s>", "it", "was", "tired", "</s>"],
        offsets=[(0, 0), (0, 3), (4, 7), (8, 11), (0, 0), (0, 2), (3, 6), (7, 12), (0, 0)],
        special=[1, 0, 0, 0, 1, 0, 0, 0, 1],
        segments=[None, 0, 0, 0, None, 1, 1, 1, None],
        special_ids={1, 2},
        begin_id=1,
    )
    trace = ac.from_weights(weights(9, 9, seed=5), list(reading.tokens))
    return replace(trace, text=PAIR[0], pair=PAIR[1], notes=reading.notes, card=_tokenized(trace.card))


def _noted() -> ac.Trace:
    """A text that begins twice, holds a special token and unknown words; rows that are no weights."""
    words = ["<s>", "<s>", "</s>", "zebra", "שלום", "e\u0301"]
    ids = [1, 1, 2, 3, 40, 41]
    tokens = [
        ac.Token(w, i, 0, len(w), is_special=k == 0, piece=w) for k, (w, i) in enumerate(zip(words, ids, strict=True))
    ]
    tokens[3] = replace(tokens[3], is_unknown=True, piece="<unk>")
    drawn = weights(6, 6, seed=4)
    drawn[0, 4] *= 1.5
    drawn[0, 5, 1] -= 0.4
    trace = ac.from_weights(drawn, tokens)
    notes = (
        core_tokens.Note("doubled_begin", (0, 1)),
        core_tokens.Note("typed_special", (2,)),
        core_tokens.Note("unread", (), 0, 0, 3),
        core_tokens.Note("unplaced", (4,)),
    )
    return replace(trace, notes=(*notes, *trace.notes), card=_tokenized(trace.card))


def _tokenized(card: ac.ModelCard) -> ac.ModelCard:
    return replace(card, details={**card.details, "tokenizer": "tokens"})


def _long(n: int) -> ac.Trace:
    words = [f"w{i}" if i % 7 else "the" for i in range(n)]
    drawn = weights(n, n, causal=True).astype(np.float32)
    return ac.from_weights(drawn, words, allowed=np.tri(n, dtype=bool))


def _real(name: str, model: str = "AutoModel", **facts: object) -> ac.Trace:
    """A tiny random network of that architecture, saved and loaded as a person would."""
    from tests.core.capture_words import TEXT, saved
    from tests.core.capture_zoo import BYPASSING, THROUGH_INTERFACE

    kind = {**THROUGH_INTERFACE, **BYPASSING}[name]
    folder = saved(replace(kind, model=model), Path(mkdtemp()) / name)
    return ac.load_folder(folder).trace(TEXT, **facts)


MADE = {
    "rectangle": _rectangle,
    "rectangle-steps": _rectangle_steps,
    "sink": _sink,
    "no-key": _no_key,
    "pieces": _pieces,
    "pair": _pair,
    "noted": _noted,
    **{f"long-{n}": lambda n=n: _long(n) for n in (100, 256, 300, LONG)},
    "bert-answers": lambda: _real("bert", "BertForMaskedLM"),
    "bert-pair": lambda: _real("bert", pair="the dog slept"),
    "gpt-oss-answers": lambda: _real("gpt-oss", "AutoModelForCausalLM"),
    "t5-answers": lambda: _real("t5", "T5ForConditionalGeneration", target="the dog sat"),
}
TRACES: dict[str, Callable[[], Made]] = {name: lambda make=make: Made(make) for name, make in MADE.items()}
