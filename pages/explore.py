"""Explore: type a sentence, see who attends to whom in one head."""

import streamlit as st

from ui import components, controls, notes, selection, translations
from ui.paths import PAGES
from ui.pictures import compare, explore, vision

words = translations.words(selection.current().lang)

controls.sentence(words)
with st.container(horizontal=True, vertical_alignment="center", key="examples"):
    controls.example_pills(words)
    controls.compare_switch(words)
notes_line = st.container()
if selection.current().is_compared:
    controls.sentence(words, key="second", label="controls.second")

with st.container(horizontal=True, vertical_alignment="center", key="choices"):
    model = controls.model_choice(words)
    controls.direction(words)
    tools_area = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right", key="tools")

with notes_line:
    trace = controls.traced(words)
    notes.show_address_notes(words)

with tools_area:
    controls.tools(model, trace, words)

if trace is not None and selection.current().is_compared:
    other = controls.second_traced(words)
    if other is not None:
        components.compare(compare.frame(trace, other, selection.current(), words))

if trace is not None and trace.grid is not None:
    components.vision(vision.frame(trace, selection.current(), words))
elif trace is not None and components.explore(explore.frame(trace, selection.current(), words)):
    st.switch_page(PAGES / "steps.py")
