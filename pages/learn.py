"""Learn: train a small model and watch its attention being learned."""

import streamlit as st

from ui import components, lesson_controls, notes, selection, translations
from ui.pictures import learn

words = translations.words(selection.current().lang)

with st.container(horizontal=True, vertical_alignment="center", key="choices"):
    lesson_controls.choices(words)
with st.container(horizontal=True, vertical_alignment="center", key="beside"):
    lesson_controls.comparison(words)
    lesson_controls.own_sentences(words)
    tools = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right", key="tools")

lesson_controls.problem(words)
notes.show_address_notes(words)
sides = lesson_controls.sides(words)

with tools:
    lesson_controls.outcome(sides, words)
    lesson_controls.load(words)
    lesson_controls.link(words)
components.learn(learn.frame(sides, selection.current(), words), lesson_controls.train, lesson_controls.stop)
