"""Heads: every head of the model at a glance."""

import streamlit as st

from ui import components, controls, notes, selection, translations
from ui.paths import PAGES
from ui.pictures import heads

words = translations.words(selection.current().lang)

controls.sentence(words)
with st.container(horizontal=True, vertical_alignment="center", key="examples"):
    controls.example_pills(words)
notes_line = st.container()
with st.container(horizontal=True, vertical_alignment="center", key="choices"):
    model = controls.model_choice(words)
    tools_area = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right", key="tools")

with notes_line:
    trace = controls.traced(words)
    notes.show_address_notes(words)
    working = heads.sign_of_work(st.empty(), words)

with tools_area:
    controls.tools(model, trace, words)

if trace is not None and components.heads(heads.frame(trace, selection.current(), words, working)):
    st.switch_page(PAGES / "explore.py")
