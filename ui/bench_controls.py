"""The controls of the Bench page: which part of it, file and link, and which exercise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from attention_core.exercises import ASKS, MAX_SEED, WIDTHS
from ui import bench, bench_codes, components, exercises, notes, selection
from ui.addresses import Selection
from ui.bench import Bench
from ui.pictures import bench as picture
from ui.selection import KEPT
from ui.translations import Words

FAULT, ORIGIN, VERDICT = "_bench_fault", "_bench_origin", "_verdict"


def part(words: Words) -> str:
    """Which part of the page is shown."""
    st.segmented_control(
        words("bench.part"),
        bench.PARTS,
        key="bench_part",
        required=True,
        format_func=lambda name: words(f"bench.part_{name}"),
        label_visibility="collapsed",
        persist_state=KEPT,
    )
    return selection.widget("bench_part")


def work(words: Words) -> None:
    """The bench itself."""
    fault = selection.taken(FAULT)
    if fault is not None:
        st.warning(words(f"bench.refused_{fault.kind}", detail=notes.literal(fault.detail)))
    origin = selection.taken(ORIGIN)
    components.bench(picture.frame(_state(), origin, selection.current(), words), _changed)
    selection.mark(ORIGIN, origin)


def _state() -> Bench:
    return selection.widget("bench_state")


def _lay(state: Bench, origin: str) -> None:
    selection.mark("bench_state", state)
    selection.mark(ORIGIN, origin)


def _changed(message: Any) -> None:
    """The browser tells what lies on the bench now, or asks for numbers from a seed."""
    if not isinstance(message, Mapping):
        return
    try:
        state, token = bench.parse(message.get("state")), str(message.get("token"))
    except bench.Unfit:
        return
    if message.get("draw") is True:
        _lay(bench.drawn(state.seed, like=state), f"drawn-{token}")
    else:
        _lay(state, token)


def file(words: Words) -> None:
    """Save the bench as a file, and take one in."""
    st.download_button(
        words("bench.save"),
        bench_codes.to_file(_state()),
        file_name="attention-bench.json",
        mime="application/json",
        key="bench_save",
        on_click="ignore",
        type="tertiary",
    )
    with st.popover(words("bench.load"), type="tertiary", key="bench_load_box"):
        st.file_uploader(words("bench.load_label"), type="json", key="bench_load", on_change=_loaded)


def _loaded() -> None:
    chosen = selection.widget("bench_load")
    if chosen is None:
        return
    try:
        _lay(bench_codes.from_file(chosen.getvalue()), f"file-{chosen.file_id}")
    except bench.Unfit as fault:
        selection.mark(FAULT, fault)


def choices(words: Words) -> None:
    """Which exercise."""
    st.number_input(
        words("exercise.seed"),
        min_value=0,
        max_value=MAX_SEED,
        step=1,
        key="exercise_seed",
        help=words("exercise.seed_help"),
        width=260,
        persist_state=KEPT,
    )
    st.segmented_control(
        words("exercise.ask"),
        ASKS,
        key="exercise_ask",
        required=True,
        format_func=lambda name: words(f"exercise.ask_{name}"),
        persist_state=KEPT,
    )
    st.segmented_control(
        words("exercise.width"),
        WIDTHS,
        key="exercise_width",
        required=True,
        help=words("exercise.width_help"),
        persist_state=KEPT,
    )
    st.toggle(words("exercise.mask"), key="exercise_is_masked", persist_state=KEPT)
    st.button(words("exercise.next"), key="exercise_next", on_click=_next)


def _next() -> None:
    choice = _choice()
    selection.mark("exercise_seed", replace(choice, seed=(choice.seed + 1) % (MAX_SEED + 1)).seed)


def _choice() -> exercises.Choice:
    return exercises.choice_of(selection.widget)


def sheet(words: Words) -> None:
    """The exercise."""
    verdict = selection.taken(VERDICT)
    components.exercise(picture.exercise_frame(_choice(), verdict, selection.current(), words), _check)


def _check(message: Any) -> None:
    selection.mark(VERDICT, exercises.judged(message, _choice()))


def link(words: Words) -> None:
    """The link of what is shown: the bench with all its numbers, or the exercise."""
    selected = selection.current()
    said = {name: words(f"bench.link_{name}") for name in ("copied", "carries_text")}
    components.bench_link(query(selected), selected, {**words.section("link"), **said})


def query(selected: Selection) -> str:
    """The query string that opens the page as it stands."""
    shown = selection.widget("bench_part")
    fields = {"bench": bench_codes.encode(_state())} if shown == bench.PARTS[0] else {"exercise": _choice().code}
    projector = {"projector": 1} if selected.is_projected else {}
    return urlencode({"lang": selected.lang, "part": shown, **fields, **projector})
