"""The controls of the Learn page: what to train, with what it is compared, and what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

import attention_core as ac
from attention_core.teach.card import REACHED, reached
from attention_core.teach.runs import BadSentence, RunSpec
from attention_core.teach.tasks import TASKS
from attention_core.teach.tasks.task import MAX_STEPS
from ui import components, films, learned, lessons, loaded, models, notes, reasons, selection, training
from ui.paths import PAGES
from ui.pictures.learn import Side
from ui.selection import KEPT
from ui.translations import Words

IN_SIGHT = ("n_layers", "share")  # The options that are not behind "More options".
FAULTS = (
    *("empty", "too_long", "too_many", "unknown_words", "no_pronoun", "two_pronouns"),
    *("not_two_nouns", "not_one_adjective", "nouns_alike", "fits_neither"),
)
HINTS = {  # By task, what an own sentence must be like.
    "pronoun": "lesson.own_hint_pronoun",
    "pronoun-open": "lesson.own_hint_pronoun",
    "dish": "lesson.own_hint_dish",
}
FULL = "trainings_are_full"  # Set by Train when too many runs are waiting.


def choices(words: Words) -> None:
    """Task, seed and options; the rarer ones behind a button."""
    lesson = selection.lesson()
    offered = learned.choices_of(TASKS[lesson.task])
    st.selectbox(
        words("lesson.task"),
        list(TASKS),
        key="task",
        format_func=lambda name: lessons.task_label(name, words),
        on_change=selection.use_task,
        width=290,
        persist_state=KEPT,
    )
    st.number_input(
        words("lesson.seed"),
        min_value=0,
        max_value=lessons.MAX_SEED,
        step=1,
        key="seed",
        help=words("lesson.seed_help"),
        width=185,
        persist_state=KEPT,
    )
    for name in IN_SIGHT:
        if name in offered:
            _option(name, offered[name], words)
    with st.popover(words("lesson.more"), key="more"):
        _more(offered, words)


def _more(offered: dict[str, tuple], words: Words) -> None:
    for name, values in offered.items():
        if name not in IN_SIGHT:
            _option(name, values, words)
    numbers = st.container(horizontal=True)
    numbers.number_input(
        words("lesson.n_steps"),
        min_value=1,
        max_value=MAX_STEPS,
        step=100,
        key="n_steps",
        persist_state=KEPT,
    )
    numbers.number_input(
        words("lesson.learning_rate"),
        min_value=0.0,
        max_value=lessons.MAX_RATE,
        step=0.005,
        format="%g",
        key="learning_rate",
        help=words("lesson.learning_rate_help"),
        persist_state=KEPT,
    )
    st.toggle(
        words("lesson.shuffled_labels"),
        key="shuffled_labels",
        help=words("lesson.shuffled_labels_help"),
        persist_state=KEPT,
    )


def _option(name: str, values: Sequence, words: Words) -> None:
    label = words(f"lesson.option_{name}")
    if isinstance(values[0], bool):
        st.toggle(label, key=name, persist_state=KEPT)
        return
    st.segmented_control(
        label,
        values,
        key=name,
        required=True,
        format_func=lambda value: lessons.value_label(name, value, words),
        persist_state=KEPT,
    )


def comparison(words: Words) -> None:
    """What stands beside the run."""
    spec = lessons.run(selection.lesson())
    names = list(lessons.contrasts(spec))
    if selection.lesson().versus not in names:
        selection.mark("versus", lessons.NOTHING)
    st.selectbox(
        words("lesson.versus"),
        names,
        key="versus",
        format_func=lambda name: lessons.contrast_label(name, spec, words),
        width=290,
        persist_state=KEPT,
    )


def own_sentences(words: Words) -> None:
    """Where the task takes them: the reader's own sentences, and why some of them are not used."""
    lesson = selection.lesson()
    task = TASKS[lesson.task]
    if task.check_own is None:
        return
    checked = lessons.own_sentences(lesson)
    with st.popover(_own_label(checked, words), key="own_box"):
        st.text_area(
            words("lesson.own_label"),
            key="own",
            max_chars=lessons.MAX_OWN_CHARACTERS,
            height=140,
            width=520,
            persist_state=KEPT,
        )
        hint = HINTS.get(task.name, "lesson.own_hint")
        st.caption(words(hint, example=notes.literal(task.scenes[0].text)))
        _checked(checked, words)


def _own_label(checked: Sequence[tuple[str, BadSentence | None]], words: Words) -> str:
    if not checked:
        return words("lesson.own")
    n_used = sum(fault is None for _, fault in checked)
    if n_used == len(checked):
        return words("lesson.own_count", n=n_used)
    return words("lesson.own_some", n=n_used, all=len(checked))


def _checked(checked: Sequence[tuple[str, BadSentence | None]], words: Words) -> None:
    faults = [fault for _, fault in checked if fault is not None]
    n_used = len(checked) - len(faults)
    if faults:
        st.warning("\n".join([words("lesson.own_used", n=n_used), *(f"- {_fault(fault, words)}" for fault in faults)]))
    elif checked:
        st.caption(words("lesson.own_all_used", n=n_used))


def _fault(fault: BadSentence, words: Words) -> str:
    if fault.reason not in FAULTS:
        reason = words("lesson.fault_other", reason=fault.reason.replace("_", " "))
    else:
        named = words("notes.join").join(map(notes.literal, fault.words)) or "–"
        reason = words(f"lesson.fault_{fault.reason}", words=named)
    return words("lesson.own_fault", sentence=notes.literal(fault.sentence), fault=reason)


def sides(words: Words) -> list[Side]:
    """The runs on the page, as they stand; looking at them counts as watching."""
    specs = lessons.runs(selection.lesson())
    training.POOL.prepare(len(specs))
    return [_side(spec, words) for spec in specs]


def _side(spec: RunSpec, words: Words) -> Side:
    id = training.run_id(spec.to_json())
    glimpse = training.POOL.watch(id)
    why = ""
    if glimpse is not None and glimpse.state == "finished" and glimpse.frames:
        patterns = [films.decoded(data).pattern for data in glimpse.frames]
        if not patterns[-1] > REACHED:  # Not a number, either, where a training has blown up.
            was_there = any(pattern > REACHED for pattern in patterns)
            why = words("lesson.gone_again") if was_there else reasons.why(spec, words)
    state = "" if glimpse is None else glimpse.state
    return Side(spec, None if glimpse is None else id, state, reached(spec), why)


def problem(words: Words) -> None:
    """Why nothing can be trained at the moment, if that is so."""
    if selection.taken(FULL):
        st.warning(words("lesson.full"))


def train() -> None:
    """Ask for the runs on the page; those that are there already are shared."""
    try:
        for spec in lessons.runs(selection.lesson()):
            training.POOL.start(spec.to_json())
    except training.QueueFull:
        selection.mark(FULL, True)


def stop(side: object) -> None:
    """End one of the runs on the page."""
    specs = lessons.runs(selection.lesson())
    if isinstance(side, int) and 0 <= side < len(specs):
        training.POOL.stop(training.run_id(specs[side].to_json()))


def outcome(shown: Sequence[Side], words: Words) -> None:
    """What can be done with finished runs. Always in its place, so that nothing jumps when one finishes."""
    labels = ("lesson.use",) if len(shown) == 1 else ("lesson.use_first", "lesson.use_second")
    for k, (side, label) in enumerate(zip(shown, labels, strict=True)):
        is_there = side.state == "finished"
        help = None if is_there else words("lesson.not_yet")
        with st.popover(words(label), key=f"use_{k}", disabled=not is_there, help=help):
            if is_there:
                _uses(side, k, words)


def _uses(side: Side, k: int, words: Words) -> None:
    name = learned.name_of(side.spec)
    try:
        models.card(name)
    except ac.UnknownModel:
        st.caption(words("lesson.broken"))
        return
    for page in ("explore", "steps"):
        if st.button(words(f"lesson.open_{page}"), key=f"open_{page}_{k}", width="stretch"):
            selection.open_model(name)
            st.switch_page(PAGES / f"{page}.py")
    st.download_button(
        words("lesson.download"),
        lambda: models.file_of(side.spec),
        file_name=f"{models.file_stem(name)}.safetensors",
        mime="application/octet-stream",
        key=f"download_{k}",
        on_click="ignore",
        width="stretch",
    )


def load(words: Words) -> None:
    """Take in a model's file and show it in Explore."""
    with st.popover(words("lesson.load"), type="tertiary", key="load_box"):
        chosen = st.file_uploader(words("lesson.load_label"), type="safetensors", key="load")
        if chosen is None:
            return
        try:
            name = loaded.add(chosen.getvalue())
        except loaded.UnreadableFile as fault:
            file, detail = notes.literal(chosen.name), notes.literal(fault.detail)
            st.warning(words(f"lesson.refused_{fault.kind}", file=file, detail=detail))
            return
    selection.open_model(name)
    st.switch_page(PAGES / "explore.py")


def link(words: Words) -> None:
    components.lesson_link(selection.current(), words)
