"""Write: a causal model goes on from a prompt, token by token, and the triangle of its attention grows."""

import streamlit as st

from ui import components, notes, selection, translations, write_controls
from ui.pictures import write

words = translations.words(selection.current().lang)

write_controls.prompt(words)
notes_line = st.container()
with st.container(horizontal=True, vertical_alignment="center", key="choices"):
    write_controls.choices(words)
    tools = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right", key="tools")

with notes_line:
    notes.show_address_notes(words)
    is_seated = write_controls.seat(words)

with tools:
    components.write_link(selection.current(), words)
if is_seated:
    components.write(write.frame(selection.current(), selection.writer(), selection.visitor(), words))
