"""Bench: small matrices to change, and exercises to work out by hand."""

import streamlit as st

from ui import bench_controls, notes, selection, translations

words = translations.words(selection.current().lang)

with st.container(horizontal=True, vertical_alignment="center", key="parts"):
    part = bench_controls.part(words)
    tools = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right", key="tools")

notes.show_address_notes(words)
if part == "exercise":
    with st.container(horizontal=True, vertical_alignment="center", key="choices"):
        bench_controls.choices(words)
    bench_controls.sheet(words)
else:
    bench_controls.work(words)

with tools:
    if part != "exercise":
        bench_controls.file(words)
    bench_controls.link(words)
