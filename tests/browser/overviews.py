"""Whole models whose heads are known beforehand: what the Heads page must cope with (planted_page.py draws them)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import attention_core as ac


def _layer(index: int, n_heads: int, n: int, *, n_kv: int | None = None, **more: object) -> ac.LayerTrace:
    """A layer of chance factors, each head sharper than the one before."""
    rng = np.random.default_rng([index, n_heads, n])
    sharp = np.linspace(0.2, 2, n_heads)[:, None, None]
    q = sharp * rng.normal(size=(n_heads, n, 7))
    k, v = rng.normal(size=(2, n_kv or n_heads, n, 7))
    allowed = more.pop("allowed", np.ones((n, n), dtype=bool))
    return ac.LayerTrace(index, "self", *(a.astype(np.float32) for a in (q, k, v)), 0.4, allowed, **more)


def _trace(layers: list[ac.LayerTrace], rows: int, columns: int) -> ac.Trace:
    shell = ac.from_weights(np.full((1, rows, columns), 1 / columns), query_tokens=_words(rows, "q"))
    keys = tuple(ac.Token(word, 0, 0, 0) for word in _words(columns, "w"))
    card = replace(shell.card, name="planted", n_layers=len(layers))
    return replace(shell, layers=tuple(layers), card=card, tokens=keys)


def _words(n: int, letter: str) -> list[str]:
    return [f"{letter}{i}" for i in range(n)]


def _plain(n_layers: int, n_heads: int, n: int) -> ac.Trace:
    return _trace([_layer(i, n_heads, n) for i in range(n_layers)], n, n)


def _hybrid() -> ac.Trace:
    """Attention in layers 1, 4 and 11 alone, with 2, 5 and 3 heads; tokens see only what came before."""
    return _trace([_layer(i, h, 13, allowed=ac.causal(13)) for i, h in ((1, 2), (4, 5), (11, 3))], 13, 13)


def _grouped() -> ac.Trace:
    """Six heads on two key/value heads, with a sink each."""
    return _trace([_layer(0, 6, 11, n_kv=2, sinks=np.linspace(-3, 3, 6))], 11, 11)


def _padded() -> ac.Trace:
    """The first two tokens see nothing, and nobody sees them."""
    allowed = np.ones((7, 7), dtype=bool)
    allowed[:, :2] = allowed[:2] = False
    return _trace([_layer(0, 3, 7, allowed=allowed)], 7, 7)


def _cross() -> ac.Trace:
    weights = np.random.default_rng(5).dirichlet(np.ones(7), size=(2, 3, 5))
    return ac.from_weights(weights, tokens=_words(7, "w"), query_tokens=_words(5, "q"))


OVERVIEWS: dict[str, Callable[[], ac.Trace]] = {
    "one": lambda: _plain(1, 1, 5),
    "12x12": lambda: _plain(12, 12, 128),
    "24x16": lambda: _plain(24, 16, 128),
    "hybrid": _hybrid,
    "grouped": _grouped,
    "padded": _padded,
    "cross": _cross,
}
