"""Handouts: a story or the lessons, or one scene of them, on paper. No navigation, nothing to move."""

from __future__ import annotations

from functools import partial

import streamlit as st

from ui import components, notes, selection
from ui.classroom_plan import LAB, Step, page_address
from ui.paths import ASSETS
from ui.pictures import scene as picture
from ui.scenes import books, texts
from ui.scenes.kinds import Scene
from ui.selection import KEPT
from ui.translations import LANGUAGES, Words

_ASKED, ANSWERS = "_handout", "handout_answers"
LAB_SHEET = "lab"
KINDS = (*books.BOOKS, LAB_SHEET)
LETTERS = "ABCD"


def is_asked() -> bool:
    """Whether a handout is shown: at first, whether the address names one."""
    if selection.peek(_ASKED) is None:
        asked = selection.asked("handout")
        if asked is not None and asked not in KINDS:
            selection.note("part", asked)
        selection.mark(_ASKED, asked if asked in KINDS else "")
        selection.mark(ANSWERS, selection.asked("answers") != "0")
    return bool(selection.peek(_ASKED))


def offer(words: Words) -> None:
    """Links to all handouts; each opens in a tab of its own, ready to print."""
    for kind in KINDS:
        title = words("classroom.part_lab" if kind == LAB_SHEET else f"nav.{kind}")
        whole = _link(words("classroom.handout_whole"), kind)
        blank = _link(words("classroom.handout_blank"), kind, answers=0)
        st.markdown(f"### {title}\n{whole} · {blank}")
        if kind != LAB_SHEET:
            with st.expander(words("classroom.handout_single"), key=f"single_{kind}"):
                st.markdown("\n".join(_singles(kind, words)))


def _singles(book: str, words: Words) -> list[str]:
    titles = ((each.id, texts.of_scene(book, each.id, words.language)("title")) for each in books.scenes(book))
    return [f"1. {_link(title, book, only=name)}" for name, title in titles]


def _link(title: str, kind: str, **fields: object) -> str:
    safe = title.replace("[", "\\[").replace("]", "\\]")
    return f"[{safe}]({page_address('classroom', selection.current(), {'handout': kind, **fields})})"


def show(words: Words) -> None:
    """The handout that is asked for."""
    st.html(ASSETS / "handout.css")
    kind, only = selection.peek(_ASKED), selection.asked("only")
    with st.container(horizontal=True, vertical_alignment="center", key="handout_tools"):
        st.button(words("classroom.handout_back"), key="handout_back", on_click=_leave, type="tertiary")
        for code in LANGUAGES:
            if code != words.language:
                act = partial(selection.mark, "lang", code)
                st.button(LANGUAGES[code], key=f"handout_{code}", on_click=act, type="tertiary")
        with_answers = st.toggle(words("classroom.handout_answers"), key=ANSWERS, persist_state=KEPT)
        fields = {"handout": kind, "answers": int(with_answers), **({"only": only} if only else {})}
        address = page_address("classroom", selection.current(), fields).partition("?")[2]
        components.scene_link(address, True, selection.current(), words)
    with st.container(key="handout_hint"):
        st.caption(words("classroom.handout_print"))
    notes.show_address_notes(words)
    if kind == LAB_SHEET:
        _lab(with_answers, words)
    else:
        _book(kind, only, with_answers, words)


def _leave() -> None:
    selection.mark(_ASKED, "")


def _book(book: str, only: str | None, with_answers: bool, words: Words) -> None:
    scenes = books.scenes(book)
    chosen = [scene for scene in scenes if scene.id == only] or list(scenes)
    st.header(words(f"nav.{book}"), anchor=False)
    for scene in chosen:
        with st.container(key=f"handout_{book}_{scene.id}"):
            _scene(scenes.index(scene) + 1, book, scene, with_answers, words)


def _scene(number: int, book: str, scene: Scene, with_answers: bool, words: Words) -> None:
    said = texts.of_scene(book, scene.id, words.language)
    st.markdown(f"### {number} · {said('title')}\n\n{said('text')}")
    if scene.options:
        options = (said(f"option_{name}") for name in scene.options)
        lines = "\n".join(f"- ☐ {letter} · {option}" for letter, option in zip(LETTERS, options, strict=False))
        st.markdown(f"*{said('predict')}*\n\n{lines}")
    if with_answers:
        figures = scene.compute(**scene.defaults())
        components.scene(picture.frame(scene, figures, said, words, is_paper=True), f"scene_{book}_{scene.id}")
        key, parts = scene.verdict(figures)
        st.markdown(words("classroom.handout_numbers", verdict=said(key, **parts)))
        for text, write in ((said.get("after"), st.markdown), (said.get("source"), st.caption)):
            if text is not None:
                write(text)
    else:
        _lines()
    address = page_address(book, selection.current(), {"scene": scene.id})
    st.caption(words("classroom.handout_see", link=notes.literal(address)))


def _lab(with_answers: bool, words: Words) -> None:
    st.header(words("classroom.part_lab"), anchor=False)
    at = 0
    for step in LAB:
        with st.container(key=f"handout_lab_{step.id}"):
            _task(step, at, with_answers, words)
        at += step.minutes


def _task(step: Step, at: int, with_answers: bool, words: Words) -> None:
    said = texts.of_scene("classroom", f"lab_{step.id}", words.language)
    span = words("classroom.span", start=at, end=at + step.minutes, minutes=step.minutes)
    st.markdown(f"### {said('title')}\n{span}\n\n{said('do')}\n\n*{said('question')}*")
    if with_answers:
        st.markdown(said("answer"))
    else:
        _lines()


def _lines() -> None:
    """Room to write on."""
    st.html('<div class="lines" aria-hidden="true"><div></div><div></div><div></div></div>')
