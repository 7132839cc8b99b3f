"""The words of the subject in both languages, with what each means here."""

from __future__ import annotations

import streamlit as st

from ui.scenes import texts
from ui.translations import LANGUAGES, Words

SECTION = "glossary"
MEANING = "_is"


def terms() -> list[str]:
    """The terms' keys, in the order of the file."""
    known = texts.book_texts("classroom", next(iter(LANGUAGES)))[SECTION]
    return [key for key in known if not key.endswith(MEANING)]


def show(words: Words) -> None:
    """Every term: its name in the reader's language, in the other one, and what it means."""
    said = {code: texts.of_scene("classroom", SECTION, code) for code in LANGUAGES}
    mine = said[words.language]
    others = [code for code in LANGUAGES if code != words.language]
    lines = []
    for term in terms():
        names = " · ".join([f"**{mine(term)}**", *(said[code](term) for code in others)])
        lines.append(f"- {names}  \n  {mine(term + MEANING)}")
    with st.container(key="glossary"):
        st.markdown("\n".join(lines))
