"""Step by step: the four steps of the formula for one head, with every number."""

import streamlit as st

from ui import components, controls, notes, selection, translations
from ui.pictures import steps

words = translations.words(selection.current().lang)

controls.sentence(words)
notes_line = st.container()
with st.container(horizontal=True, vertical_alignment="center", key="choices"):
    model = controls.model_choice(words)
    tools_area = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right", key="tools")

with notes_line:
    trace = controls.traced(words)
    notes.show_address_notes(words)

with tools_area:
    controls.tools(model, trace, words)

if trace is not None:
    components.steps(steps.frame(trace, selection.current(), words))
