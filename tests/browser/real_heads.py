"""Heads of real architectures: tiny random networks, saved and loaded as a reader's folder would be, and own arrays.

Also the largest sizes that the pages promise: 512 tokens, 4096 numbers per token, 128 per head.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import attention_core as ac

TEXT = "the cat sat on the mat because it was tired"
TARGET = "the dog slept"
LONG = " ".join(["The animal didn't cross the street because it was too tired ."] * 36)

# By name: the architecture of capture_zoo.py, and what its networks are that write.
KINDS = {
    "bert": "bert",
    "gpt2": "gpt2",
    "gpt-neox": "gpt-neox",
    "llama": "llama",
    "qwen3": "qwen3",
    "gemma2": "gemma2",
    "gpt-oss": "gpt-oss",
    "deepseek-v3": "deepseek-v3",
    "deberta": "deberta",
    "mpt": "mpt",
    "t5": "t5",
    "bart": "bart",
}


@dataclass(frozen=True, eq=False)
class Traced:
    """A trace that is made when it is asked for, once."""

    make: Callable[[], ac.Trace]

    def trace(self) -> ac.Trace:
        return self.make()


@cache
def of_folder(name: str) -> ac.Trace:
    """The text through a tiny network of this architecture."""
    from attention_core.capture import load_folder
    from tests.core import capture_zoo
    from tests.core.capture_words import saved

    kinds = {**capture_zoo.THROUGH_INTERFACE, **capture_zoo.BYPASSING}
    kind = kinds[KINDS[name]]
    with tempfile.TemporaryDirectory() as folder:
        model = load_folder(saved(kind, Path(folder) / name))
        return model.trace(TEXT, target=TARGET if kind.reads == "pair of texts" else None)


@cache
def of_minilm(text: str) -> ac.Trace:
    return ac.load("minilm").trace(text)


@cache
def arrays() -> ac.Trace:
    """q, k and v of nowhere: 5 that ask, 7 that answer, values narrower than keys."""
    dice = np.random.default_rng(11)
    q, k, v = (dice.normal(size=size).astype(np.float32) for size in ((2, 5, 11), (2, 7, 11), (2, 7, 3)))
    asking, answering = ["who", "asks", "here", "now", "?"], ["these", "are", "the", "seven", "that", "answer", "."]
    return ac.from_arrays(q=q, k=k, v=v, tokens=answering, query_tokens=asking)


@cache
def weights() -> ac.Trace:
    """Weights alone, one of them on a row of zeros."""
    scores = np.exp(np.random.default_rng(13).normal(size=(5, 5))) * np.tri(5)
    shares = scores / scores.sum(axis=1, keepdims=True)
    shares[3] = 0
    return ac.from_weights(shares, ["only", "their", "weights", "are", "known"], allowed=np.tri(5, dtype=bool))


@cache
def largest() -> ac.Trace:
    """512 tokens, 4096 numbers each, 128 of them per head, a bias, a mask and a sink."""
    n, d, width = 512, 4096, 128
    dice = np.random.default_rng(17)

    def drawn(*size: int) -> np.ndarray:
        return dice.normal(size=size, scale=size[-2] ** -0.5 if len(size) == 3 else 1.0).astype(np.float32)

    x, matrices = drawn(n, d), [drawn(1, d, width) for _ in range(3)]
    q, k, v = (x @ w[0] for w in matrices)
    bias = drawn(1, n, n)[0]
    trace = ac.from_arrays(q=q, k=k, v=v, bias=bias, allowed=np.tri(n, dtype=bool), tokens=[f"w{i}" for i in range(n)])
    named = dict(zip(("w_q", "w_k", "w_v"), matrices, strict=True))
    layer = replace(
        trace.layers[0], x=x, x_key=x, w_o=drawn(1, width, d), sinks=np.array([1.5], dtype=np.float32), **named
    )
    return replace(trace, layers=(layer,))


REAL: dict[str, Callable[[], Traced]] = {
    **{name: lambda name=name: Traced(lambda: of_folder(name)) for name in KINDS},  # type: ignore[misc]
    "minilm": lambda: Traced(lambda: of_minilm("The animal didn't cross the street because it was too tired.")),
    "minilm-long": lambda: Traced(lambda: of_minilm(LONG)),
    "arrays": lambda: Traced(arrays),
    "weights": lambda: Traced(weights),
    "largest": lambda: Traced(largest),
}
