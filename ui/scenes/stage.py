"""A book of scenes as a page: one scene at a time, its text, its controls, its pictures, and what they say.

PageUp and PageDown turn the scenes. Every scene has an address of its own, which says what was moved in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

import attention_core as ac
from ui import components, notes, selection
from ui.paths import ASSETS, PAGES
from ui.pictures import scene as picture
from ui.scenes import books, progress, state, texts
from ui.scenes.kinds import MAX_SEED, MOST, Control, Figures, Scene
from ui.scenes.texts import Texts
from ui.selection import KEPT
from ui.translations import Words

HOMES = ("turn_PageDown", "turn_PageUp")  # Where the keyboard goes when what had it is not in the next scene.


def show(book: str, words: Words) -> None:
    """The chosen scene of that book."""
    scenes = books.scenes(book)
    scene = state.scene(book)
    said = texts.of_scene(book, scene.id, words.language)
    st.html(ASSETS / "scenes.css")
    _turning(book, scenes, scene, words)
    components.turn(f"{book}/{scene.id}", HOMES)
    notes.show_address_notes(words)
    st.header(said("title"), anchor=False)
    st.markdown(said("text"))
    values = _controls(book, scene, said, words)
    is_open = _predicted(book, scene, said, words)
    try:
        figures = scene.compute(**values)
    except ac.AttentionError as error:
        st.warning(notes.sentence_of(error, words, "characters"))
        return
    if is_open:
        components.scene(picture.frame(scene, figures, said, words))
        key, parts = scene.verdict(figures)
        st.markdown(f"**{said(key, **parts)}**")
        _after(book, scene, figures, said, words)
    for page, fields in scene.links:
        if st.button(said(f"link_{page}"), key=f"follow_{page}", on_click=selection.follow, args=(fields,)):
            st.switch_page(PAGES / f"{page}.py")
    progress.show(book, words)


def _turning(book: str, scenes: Sequence[Scene], scene: Scene, words: Words) -> None:
    at = scenes.index(scene)
    with st.container(horizontal=True, vertical_alignment="center", key="turning"):
        _turn("scenes.back", "PageUp", book, scenes[max(0, at - 1)], at == 0, words)
        _turn("scenes.on", "PageDown", book, scenes[min(at + 1, len(scenes) - 1)], at == len(scenes) - 1, words)
        titles = {each.id: texts.of_scene(book, each.id, words.language)("title") for each in scenes}
        selection.mark("scene_menu", scene.id)
        st.selectbox(
            words("scenes.contents"),
            list(titles),
            key="scene_menu",
            format_func=lambda name: f"{list(titles).index(name) + 1} · {titles[name]}",
            on_change=lambda: state.turn_to(book, selection.widget("scene_menu")),
            label_visibility="collapsed",
            width=640 if selection.current().is_projected else 420,  # Titles are read in full.
        )
        st.caption(words("scenes.place", at=at + 1, n=len(scenes)))
        components.scene_link(*state.address(book), selection.current(), words)


def _turn(label: str, key: str, book: str, to: Scene, is_off: bool, words: Words) -> None:
    turn = partial(state.turn_to, book, to.id)
    st.button(words(label), key=f"turn_{key}", shortcut=key, disabled=is_off, on_click=turn)


def _controls(book: str, scene: Scene, said: Texts, words: Words) -> dict[str, Any]:
    values = state.values(book, scene)
    if not scene.controls:
        return values
    with st.container(horizontal=True, vertical_alignment="bottom", key="scene_controls"):
        for control in scene.controls:
            _control(state.control_key(book, scene.id, control.name), control, said, words)
        start = partial(state.reset, book, scene)
        st.button(words("scenes.start"), key="scene_start", on_click=start, type="tertiary")
    return values


def _control(key: str, control: Control, said: Texts, words: Words) -> None:
    label = said(control.name)
    match control.kind:
        case "switch":
            st.toggle(label, key=key, persist_state=KEPT)
        case "slider":
            st.select_slider(label, control.options, key=key, persist_state=KEPT, width=260)
        case "choice":
            st.segmented_control(
                label,
                control.options,
                key=key,
                required=True,
                format_func=lambda option: said(f"{control.name}_{option}"),
                persist_state=KEPT,
            )
        case "seed":
            st.number_input(label, 0, MAX_SEED, key=key, persist_state=KEPT, width=170)
        case _:
            st.text_input(label, key=key, max_chars=MOST, live="100ms", persist_state=KEPT, width=460)


def _predicted(book: str, scene: Scene, said: Texts, words: Words) -> bool:
    """Whether the numbers may be seen: in a lesson only once the reader has said what to expect, or asks."""
    if not scene.options:
        return True
    chosen = state.prediction(book, scene.id)
    st.markdown(f"*{said('predict')}*")
    with st.container(horizontal=True, key="predictions"):
        for option in scene.options:
            st.button(
                said(f"option_{option}"),
                key=f"predict_{option}",
                type="primary" if chosen == option else "secondary",
                on_click=state.predict,
                args=(book, scene.id, option),
            )
        if chosen is None:
            skip = partial(state.predict, book, scene.id, state.SKIPPED)
            st.button(words("scenes.skip"), key="predict_skip", type="tertiary", on_click=skip)
    return chosen is not None


def _after(book: str, scene: Scene, figures: Figures, said: Texts, words: Words) -> None:
    if scene.borne_out is not None:
        right, chosen = scene.borne_out(figures), state.prediction(book, scene.id)
        if chosen in scene.options:
            kind = "met" if chosen == right else "missed"
            st.markdown(words(f"scenes.prediction_{kind}", right=said(f"option_{right}")))
    after, source = said.get("after"), said.get("source")
    if after is not None:
        st.markdown(after)
    if source is not None:
        st.caption(source)
