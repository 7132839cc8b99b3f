"""What if: one head in two runs, one of them with something switched."""

import streamlit as st

from ui import components, controls, notes, selection, translations, whatif
from ui.pictures import whatif as picture

words = translations.words(selection.current().lang)

controls.sentence(words)
with st.container(horizontal=True, vertical_alignment="center", key="examples"):
    controls.example_pills(words)
notes_line = st.container()

with st.container(horizontal=True, vertical_alignment="center", key="choices"):
    model = controls.model_choice(words)
    tools_area = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right", key="tools")

with notes_line:
    trace = whatif.traced(model, words)
    notes.show_address_notes(words)

if trace is not None:
    whatif.board(trace, words)
    after = whatif.edited(words)
    if after is not None:
        whatif.picture(picture.frame(trace, after, selection.current(), words))

with tools_area:
    components.link(selection.current(), words)
