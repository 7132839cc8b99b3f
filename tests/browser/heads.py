"""Heads whose weights are known beforehand, drawn by the app's own pictures (planted.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import attention_core as ac

NEVER = -1000.0  # exp(−1000) is exactly 0 in float64.

# CASES.md 12: each looks like markup to somebody.
MARKUP = ("<s>", "</s>", "<b>x</b>", "&amp;", "1999", "2024-01-01", "</script>", "$x$", ":red[x]", "![](x)")


@dataclass(frozen=True, eq=False)
class Planted:
    tokens: tuple[str, ...]
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    allowed: np.ndarray | None = None

    def head(self) -> ac.HeadSteps:
        return ac.attention(self.q, self.k, self.v, allowed=self.allowed)

    def trace(self) -> ac.Trace:
        """The head as the only one of a model: what a picture is drawn from."""
        head = self.head()
        layer = ac.LayerTrace(0, "self", *(a[None] for a in (head.q, head.k, head.v)), head.scale, head.allowed)
        text = " ".join(self.tokens)
        tokens = tuple(ac.Token(text=word, id=0, start=0, end=0) for word in self.tokens)
        card = replace(ac.load("pronoun").card, n_layers=1)
        return ac.Trace(text, tokens, card, "arrays", (layer,), None, verify=_nothing_to_compare)


def _nothing_to_compare(trace: ac.Trace, full: bool) -> ac.Verification:
    return ac.Verification("plain-forward", 0.0, 1e-12, 0, len(trace.tokens), 0.0, 0.0)


def _scaled(wanted: np.ndarray, words: str, allowed: np.ndarray | None = None) -> Planted:
    """A head whose scaled scores are `wanted`."""
    n = len(wanted)
    return Planted(
        tuple(words.split()), wanted * np.sqrt(n), np.eye(n), np.random.default_rng(n).normal(size=(n, 5)), allowed
    )


def _scores(wanted: list[list[float]], words: str) -> Planted:
    """A head whose scores are `wanted`."""
    n = len(wanted)
    return Planted(tuple(words.split()), np.array(wanted, dtype=float), np.eye(n), np.eye(n))


def _nine_tenths(n: int, row: int, column: int) -> Planted:
    """Equal weights everywhere, but 0.9 in one cell."""
    weights = np.full((n, n), 1 / n)
    weights[row] = 0.1 / (n - 1)
    weights[row, column] = 0.9
    return _scaled(np.log(weights), " ".join(f"w{i}" for i in range(n)))


def _causal() -> Planted:
    scaled = np.random.default_rng(5).normal(size=(5, 5))
    scaled[3, 1] = NEVER  # Allowed and yet exactly zero.
    return _scaled(scaled, "Hello World , again !", ac.causal(5))


def _without_keys() -> Planted:
    allowed = np.array([[False] * 4] * 2 + [[False, False, True, True]] * 2)
    return _scaled(np.random.default_rng(4).normal(size=(4, 4)), "[PAD] [PAD] a b", allowed)


HEADS: dict[str, Callable[[], Planted]] = {
    "identity": lambda: _scaled(np.where(np.eye(7, dtype=bool), 0, NEVER), "a b c d e f g"),
    "causal": _causal,
    "without-keys": _without_keys,
    "nine-tenths-of-4": lambda: _nine_tenths(4, 1, 2),
    "nine-tenths-of-12": lambda: _nine_tenths(12, 8, 3),
    "signs": lambda: _scores([[-1, 0, 1], [1, -1, 0], [0, 1, -1]], "x y z"),
    "no-minus": lambda: _scores([[0, 0, 1], [1, 0, 0], [0, 1, 0]], "x y z"),
    "markup": lambda: _scaled(np.random.default_rng(10).normal(size=(10, 10)), " ".join(MARKUP)),
}
