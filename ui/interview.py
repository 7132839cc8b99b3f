"""Questions that interviews ask about attention: a short answer, a number measured now, and where to see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from attention_core.stories import interview as numbers
from ui import components, notes, reveal, selection
from ui.classroom_plan import page_address
from ui.paths import ASSETS
from ui.scenes import texts
from ui.translations import Words

BOOK = "interview"
Parts = Mapping[str, object]


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        id: its section in the texts; compute: its numbers; said: the same as text, by name.
        page, scene, fields: where it can be seen.
    """

    id: str
    compute: Callable[[], Mapping[str, Any]]
    said: Callable[[Mapping[str, Any]], Parts]
    page: str
    scene: str
    fields: Mapping[str, Any] = field(default_factory=dict)


def _weights(*names: str, keep: tuple[str, ...] = ()) -> Callable[[Mapping[str, Any]], Parts]:
    return partial(_formatted, names=names, form=".2f", keep=keep)


def _shares(*names: str, keep: tuple[str, ...] = ()) -> Callable[[Mapping[str, Any]], Parts]:
    return partial(_formatted, names=names, form=".2%", keep=keep)


def _formatted(figures: Mapping[str, Any], names: tuple[str, ...], form: str, keep: tuple[str, ...]) -> Parts:
    return {**{name: format(figures[name], form) for name in names}, **{name: figures[name] for name in keep}}


def _tiny(figures: Mapping[str, Any]) -> Parts:
    return {name: f"{value:.1e}" for name, value in figures.items()}


def _steps(figures: Mapping[str, Any]) -> Parts:
    said = _weights("score", "root", "scaled", "weight", "row_sum", keep=("best",))(figures)
    return {**said, "gap": f"{figures['gap']:.0e}"}


def _several(figures: Mapping[str, Any]) -> Parts:
    return _weights("on_dish", "on_buddhism", keep=("dish", "buddhism", "n", "divided"))(figures)


def _sizes(figures: Mapping[str, Any]) -> Parts:
    """Lengths as they are; multiplications in millions, and how many times more they become."""
    ratios = {
        "pairs_ratio": figures["pairs_long"] / figures["pairs"],
        "projections_ratio": figures["projections_long"] / figures["projections"],
    }
    millions = {name: f"{figures[name] / 1e6:,.0f}" for name in figures if name.startswith(("pairs", "projections"))}
    whole = {name: figures[name] for name in ("width", "short", "long", "even")}
    return {**whole, **millions, **{name: f"{ratio:g}" for name, ratio in ratios.items()}}


def _shapes(figures: Mapping[str, Any]) -> Parts:
    shapes = {f"{name}_shape": " × ".join(map(str, figures[name])) for name in ("self", "cross")}
    return {**shapes, "looks": figures["looks"], "looks_weight": f"{figures['looks_weight']:.2f}"}


def _explains(figures: Mapping[str, Any]) -> Parts:
    ranges = {name: "–".join(f"{share:.0%}" for share in sorted(set(figures[name]))) for name in ("flips", "right")}
    return {**ranges, "changed": figures["changed"], "n": figures["n"]}


def _stored(figures: Mapping[str, Any]) -> Parts:
    return {**figures, "shape": " × ".join(map(str, figures["shape"]))}


_ROLES = _weights("weight", "probability", keep=("best", "n", "d_k", "d_v", "answer"))
_SCALE = _weights("top", "top_scaled", "slope", "slope_scaled", keep=("d", "keys", "draws"))
_VALUES = _shares("narrow_apart", "narrow_shared", "wide_apart", "wide_shared", keep=("narrow_d", "wide_d", "n"))
_TIED = _shares("letters_apart", "letters_tied", "dish_apart", "dish_tied", "heads_apart", "heads_tied", keep=("n",))
_ROWS = _weights("gets_most", "gets_least", keep=("most", "least"))
_CONTEXT = _weights("brought", "whole", "cut", keep=("noun",))

QUESTIONS = (
    Question("roles", numbers.roles, _ROLES, "it", "advert"),
    Question("stored", numbers.stored, _stored, "lessons", "stored", {"at": 1}),
    Question("steps", numbers.steps, _steps, "it", "stages"),
    Question("scale", numbers.scale, _SCALE, "lessons", "scaling"),
    Question("values", numbers.values, _VALUES, "dish", "jobs"),
    Question("tied", numbers.tied, _TIED, "dish", "cost"),
    Question("rows", numbers.rows, _ROWS, "lessons", "axes"),
    Question("inputs", numbers.inputs, _shapes, "it", "inputs"),
    Question("context", numbers.context, _CONTEXT, "it", "note"),
    Question("several", numbers.several, _several, "dish", "several"),
    Question("order", numbers.order, _tiny, "lessons", "order"),
    Question("mask", numbers.mask, _weights("leak", "lowest", "right"), "lessons", "masking"),
    Question("growth", numbers.growth, _sizes, "lessons", "shapes"),
    Question("explains", numbers.explains, _explains, "lessons", "mechanism"),
)


def live(name: str, words: Words) -> str:
    """The sentence with that question's numbers, computed now."""
    question = next(each for each in QUESTIONS if each.id == name)
    said = texts.of_scene(BOOK, name, words.language)
    return f"**{said('live', **question.said(question.compute()))}**"


def show(words: Words) -> None:
    """The page."""
    st.html(ASSETS / "classroom.css")
    now = selection.current()
    said = texts.of_scene(BOOK, "page", words.language)
    with st.container(horizontal=True, vertical_alignment="center", key="interview_top"):
        st.button(words("classroom.hide_all"), key="hide_all", on_click=reveal.hide_all, type="tertiary")
        projector = {"projector": 1} if now.is_projected else {}
        components.scene_link(urlencode({"lang": now.lang, **projector}), True, now, words)
    notes.show_address_notes(words)
    st.header(said("title"), anchor=False)
    st.markdown(said("text"))
    for number, question in enumerate(QUESTIONS, 1):
        with st.container(border=True, key=f"question_{question.id}"):
            _question(number, question, words)


def _question(number: int, question: Question, words: Words) -> None:
    said = texts.of_scene(BOOK, question.id, words.language)
    st.markdown(f"### {number} · {said('question')}")
    if not reveal.is_open(f"interview_{question.id}", words):
        return
    st.markdown(said("answer"))
    st.markdown(live(question.id, words))
    title = texts.of_scene(question.page, question.scene, words.language)("title")
    address = page_address(question.page, selection.current(), {"scene": question.scene, **question.fields})
    st.caption(said("source"))
    st.markdown(words("classroom.see", scene=title, link=address))
