"""The frame around every page: navigation, language, projector. Run by app.py for each reader."""

from __future__ import annotations

import streamlit as st

from ui import selection, translations
from ui.paths import ASSETS, PAGES

PAGE_NAMES = (
    "explore",
    "heads",
    "steps",
    "whatif",
    "write",
    "learn",
    "bench",
    "dish",
    "it",
    "lessons",
    "classroom",
    "interview",
)


def main() -> None:
    st.set_page_config(page_title="Attention, seen", layout="wide", page_icon="👁️", initial_sidebar_state=230)
    selection.begin()
    words = translations.words(selection.current().lang)
    st.html(ASSETS / "app.css")
    if selection.current().is_projected:
        st.html(ASSETS / "projector.css")
    pages = [
        st.Page(PAGES / f"{name}.py", title=words(f"nav.{name}"), url_path=name, default=name == PAGE_NAMES[0])
        for name in PAGE_NAMES
    ]
    page = st.navigation(pages, position="hidden")
    selection.arrive(page.url_path)
    with st.sidebar:
        _sidebar(pages, words)
    try:
        page.run()
    finally:
        selection.end()


def _sidebar(pages: list, words: translations.Words) -> None:
    st.markdown(f"**{words('nav.brand')}**  \n{words('nav.tagline')}")
    for page in pages:
        st.page_link(page, label=page.title)
    st.segmented_control(
        words("nav.language"),
        list(translations.LANGUAGES),
        key="lang",
        required=True,
        format_func=translations.LANGUAGES.__getitem__,
        persist_state=selection.KEPT,
    )
    st.toggle(words("nav.projector"), key="is_projected", persist_state=selection.KEPT)


main()
