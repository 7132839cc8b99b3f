"""For the classroom: a lecture, a lab sheet, hands to count, a code to scan, handouts, refreshers, a glossary."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlencode

import streamlit as st

import attention_core as ac
from ui import (
    classroom_code,
    classroom_plan,
    components,
    glossary,
    handout,
    interview,
    notes,
    refreshers,
    reveal,
    selection,
    tally,
)
from ui.classroom_plan import SHEETS, Step
from ui.paths import ASSETS
from ui.scenes import texts
from ui.scenes.texts import Texts
from ui.selection import KEPT
from ui.translations import Words

BOOK = "classroom"
PARTS = ("lecture", "lab", "hands", "code", "handouts", "refresh", "glossary")
_PART = "classroom_part"


def show(words: Words) -> None:
    """The page: a handout to print where the address asks for one, else the chosen part."""
    for sheet in ("scenes", "classroom"):
        st.html(ASSETS / f"{sheet}.css")
    if handout.is_asked():
        handout.show(words)
        return
    with st.container(horizontal=True, vertical_alignment="center", key="classroom_top"):
        part = _part(words)
        components.scene_link(_query(part), True, selection.current(), words)
    components.turn(f"{BOOK}/{part}", (_PART,))
    notes.show_address_notes(words)
    st.header(words(f"classroom.part_{part}"), anchor=False)
    st.markdown(said("intro", words)(part))
    match part:
        case "lecture" | "lab":
            _sheet(part, words)
        case "hands":
            tally.show(words)
        case "code":
            classroom_code.show(words)
        case "handouts":
            handout.offer(words)
        case "refresh":
            refreshers.show(words)
        case _:
            glossary.show(words)


def said(section: str, words: Words) -> Texts:
    """The page's longer texts."""
    return texts.of_scene(BOOK, section, words.language)


def _part(words: Words) -> str:
    if selection.peek(_PART) is None:
        asked = selection.asked("sheet")
        if asked is not None and asked not in PARTS:
            selection.note("part", asked)
        selection.mark(_PART, asked if asked in PARTS else PARTS[0])
    st.segmented_control(
        words("classroom.part"),
        PARTS,
        key=_PART,
        required=True,
        format_func=lambda name: words(f"classroom.part_{name}"),
        label_visibility="collapsed",
        persist_state=KEPT,
    )
    return selection.widget(_PART)


def _query(part: str) -> str:
    now = selection.current()
    projector = {"projector": 1} if now.is_projected else {}
    return urlencode({"lang": now.lang, "sheet": part, **projector})


def _sheet(name: str, words: Words) -> None:
    """The steps of a lecture or lab, in order, with the minutes at which each begins and ends."""
    steps = SHEETS[name]
    total = sum(step.minutes for step in steps)
    with st.container(horizontal=True, vertical_alignment="center", key="sheet_tools"):
        st.caption(words("classroom.total", minutes=total, n=len(steps)))
        st.button(words("classroom.hide_all"), key="hide_all", on_click=reveal.hide_all, type="tertiary")
    with st.expander(words("classroom.keys"), key="presenter_keys"):
        st.markdown(said("keys", words)("text"))
    at = 0
    for step in steps:
        _step(name, step, at, words)
        at += step.minutes


def _step(sheet: str, step: Step, at: int, words: Words) -> None:
    texts_ = said(f"{sheet}_{step.id}", words)
    with st.container(border=True, key=f"step_{sheet}_{step.id}"):
        span = words("classroom.span", start=at, end=at + step.minutes, minutes=step.minutes)
        st.markdown(f"### {texts_('title')}\n{span} · {_link(step, words)}")
        st.markdown(texts_("do"))
        st.markdown(f"*{texts_('question')}*")
        with st.container(horizontal=True, key=f"acts_{sheet}_{step.id}"):
            is_open = reveal.is_open(f"{sheet}_{step.id}", words)
            if step.page == tally.LESSONS and step.scene is not None:
                ask = partial(_count, step.scene)
                st.button(words("classroom.count"), key=f"count_{sheet}_{step.id}", on_click=ask, type="tertiary")
        if is_open:
            st.info(f"{texts_('answer')}\n\n{_live(step, words)}".strip())


def _link(step: Step, words: Words) -> str:
    """The step's scene or page as a link; a browser opens it in a new tab, so that the script stays where it is."""
    title = words(f"nav.{step.page}")
    if step.scene is not None:
        title = texts.of_scene(step.page, step.scene, words.language)("title")
    return link(title, classroom_plan.address(step, selection.current()))


def link(title: str, address: str) -> str:
    """A link in Markdown. What a title has of brackets stays a title's."""
    return f"[{title.replace('[', chr(92) + '[').replace(']', chr(92) + ']')}]({address})"


def _count(lesson: str) -> None:
    tally.ask(lesson)
    selection.mark(_PART, "hands")


def _live(step: Step, words: Words) -> str:
    """What the numbers say now: the scene's verdict as this step sets it, or the sentence of an interview question."""
    scene = classroom_plan.scene_of(step)
    if scene is None:
        return interview.live(step.figures, words) if step.figures else ""
    try:
        key, parts = scene.verdict(scene.compute(**classroom_plan.values(step)))
    except ac.AttentionError as error:
        return notes.sentence_of(error, words, "characters")
    return f"**{texts.of_scene(step.page, scene.id, words.language)(key, **parts)}**"
