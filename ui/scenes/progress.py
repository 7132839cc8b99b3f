"""How far a reader has got with the lessons of a book; to be taken along as a file, and brought back."""

from __future__ import annotations

import streamlit as st

from ui import selection
from ui.scenes import books, state
from ui.translations import Words

_LOADED = "_progress_loaded"


def show(book: str, words: Words) -> None:
    """Below a book of lessons: how many were seen, and the file. A book without lessons shows nothing."""
    lessons = [scene for scene in books.scenes(book) if scene.options]
    if not lessons:
        return
    seen = [scene for scene in lessons if state.prediction(book, scene.id) is not None]
    with st.container(horizontal=True, vertical_alignment="center", key="progress"):
        st.caption(words("scenes.seen", n=len(seen), all=len(lessons)))
        st.download_button(
            words("scenes.save"),
            state.saved(),
            file_name="attention-lessons.json",
            mime="application/json",
            key="progress_save",
            on_click="ignore",
            type="tertiary",
        )
        with st.popover(words("scenes.load"), type="tertiary", key="progress_box"):
            st.file_uploader(words("scenes.load_label"), type="json", key="progress_load", on_change=_load)
    told = selection.taken(_LOADED)
    if told is not None:
        (st.success if told else st.warning)(words("scenes.loaded" if told else "scenes.not_loaded"))


def _load() -> None:
    chosen = selection.widget("progress_load")
    if chosen is not None:
        selection.mark(_LOADED, state.load(chosen.getvalue()))
