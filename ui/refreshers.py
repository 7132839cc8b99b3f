"""Short refreshers: what dot product, matrix product, softmax and gradient are, each worked out with small numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import streamlit as st

from attention_core.stories import refreshers
from ui import selection
from ui.scenes import texts
from ui.selection import KEPT
from ui.translations import Words

MOST = 9_999
_SEED = "refresh_seed"


def show(words: Words) -> None:
    """All four, with the numbers of one seed."""
    if selection.peek(_SEED) is None:
        selection.mark(_SEED, 0)
    seed = st.number_input(words("classroom.refresh_seed"), 0, MOST, key=_SEED, persist_state=KEPT, width=220)
    for name, (compute, formula, parts) in CARDS.items():
        said = texts.of_scene("classroom", f"refresh_{name}", words.language)
        figures = compute(seed or 0)
        with st.container(border=True, key=f"refresh_{name}"):
            st.markdown(f"### {said('title')}\n\n{said('text')}")
            st.latex(formula(figures))
            st.markdown(said("live", **parts(figures)))


def _row(numbers: np.ndarray) -> str:
    return r"\begin{pmatrix}" + " & ".join(f"{number:d}" for number in numbers) + r"\end{pmatrix}"


def _matrix(numbers: np.ndarray) -> str:
    rows = (" & ".join(f"{number:d}" for number in row) for row in numbers)
    return r"\begin{pmatrix}" + r" \\ ".join(rows) + r"\end{pmatrix}"


def _signed(number: float) -> str:
    """In brackets where a sign would stand beside another one."""
    return f"({number:d})" if number < 0 else f"{number:d}"


def _products(first: np.ndarray, second: np.ndarray) -> str:
    return " + ".join(rf"{_signed(a)}\cdot{_signed(b)}" for a, b in zip(first, second, strict=True))


def _dot(f: Mapping[str, Any]) -> str:
    given = rf"a = {_row(f['a'])},\quad b = {_row(f['b'])}"
    lines = (given, rf"a \cdot b = {_products(f['a'], f['b'])}", f"= {f['total']}")
    return r"\begin{gathered}" + r" \\ ".join(lines) + r"\end{gathered}"


def _product(f: Mapping[str, Any]) -> str:
    return rf"{_matrix(f['x'])} {_matrix(f['w'])} = {_matrix(f['result'])}"


def _softmax(f: Mapping[str, Any]) -> str:
    powers = " + ".join(f"{power:.2f}" for power in f["powers"])
    shares = r",\; ".join(f"{share:.3f}" for share in f["shares"])
    scores = r",\; ".join(str(score) for score in f["scores"])
    lines = (rf"({scores})", rf"\textstyle\sum e^{{s}} = {powers}", f"= {f['total']:.2f}", rf"({shares})")
    return r"\begin{gathered}" + r" \\ ".join(lines) + r"\end{gathered}"


def _gradient(f: Mapping[str, Any]) -> str:
    x, y, w = (_signed(f[name]) for name in "xyw")
    lines = (
        rf"x = {f['x']},\quad y = {f['y']},\quad w = {f['w']}",
        r"L(w) = (w x - y)^2",
        r"L'(w) = 2 (w x - y)\, x",
        rf"= 2\,({w}\cdot{x} - {y})\cdot{x} = {f['slope']}",
        rf"w - {f['rate']:g} \cdot {_signed(f['slope'])} = {f['next_w']:.2f}",
    )
    return r"\begin{gathered}" + r" \\ ".join(lines) + r"\end{gathered}"


def _of_dot(f: Mapping[str, Any]) -> dict[str, object]:
    lengths = dict(zip(("a", "b"), (f"{length:.2f}" for length in f["lengths"]), strict=True))
    return {"total": f["total"], "cosine": f"{f['cosine']:.2f}", **lengths}


def _of_product(f: Mapping[str, Any]) -> dict[str, object]:
    terms = " + ".join(_signed(int(term)) for term in f["terms"])
    return {"row": f["row"], "column": f["column"], "terms": terms, "cell": f["cell"]}


def _of_softmax(f: Mapping[str, Any]) -> dict[str, object]:
    return {"row_sum": f"{f['row_sum']:.3f}", "added": f["added"], "apart": f"{f['apart']:.0e}"}


def _of_gradient(f: Mapping[str, Any]) -> dict[str, object]:
    losses = {name: f"{f[name]:.2f}" for name in ("loss", "next_loss", "measured", "next_w")}
    return {**losses, "slope": f["slope"], "w": f["w"]}


Card = tuple[
    Callable[[int], Mapping[str, Any]], Callable[[Mapping[str, Any]], str], Callable[[Mapping[str, Any]], dict]
]
CARDS: dict[str, Card] = {
    "dot": (refreshers.dot, _dot, _of_dot),
    "product": (refreshers.product, _product, _of_product),
    "softmax": (refreshers.softmax, _softmax, _of_softmax),
    "gradient": (refreshers.gradient, _gradient, _of_gradient),
}
