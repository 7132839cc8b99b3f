"""The controls above a picture: sentence, examples, model, layer, head, direction, card, file."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

import attention_core as ac
from attention_core.cards import DEFAULT
from ui import card, components, examples, learned, lessons, models, notes, selection
from ui.addresses import LOOKS, MAX_CHARACTERS
from ui.caches import trace_of
from ui.pictures import table
from ui.selection import KEPT
from ui.translations import Words

TYPING_PAUSE = "50ms"  # After the last key; short enough to feel live, long enough not to redraw twice for one stroke.


def sentence(words: Words, *, key: str = "text", label: str = "controls.sentence") -> None:
    """The box that the sentence is typed into; the picture follows while typing."""
    st.text_input(
        words(label),
        key=key,
        max_chars=MAX_CHARACTERS,
        live=TYPING_PAUSE,
        label_visibility="collapsed",
        placeholder=words("controls.placeholder"),
        persist_state=KEPT,
    )


def example_pills(words: Words) -> None:
    """One button per example of the chosen model; the one on screen is lit."""
    chosen = selection.current()
    family = examples.family_of(models.card(chosen.model))
    labels = {example.id: label[words.language] for example, label in examples.with_buttons(family)}
    shown = examples.of_text(chosen.text)
    selection.mark("example", shown.id if shown is not None and shown.id in labels else None)

    def on_change() -> None:
        chosen = selection.widget("example")
        if chosen is not None:
            selection.use_example(chosen)

    st.pills(
        words("controls.examples"),
        list(labels),
        key="example",
        format_func=lambda name: labels[name],
        on_change=on_change,
        label_visibility="collapsed",
    )


def compare_switch(words: Words) -> None:
    st.toggle(words("controls.compare"), key="is_compared", persist_state=KEPT)


def model_choice(words: Words) -> ac.ModelCard:
    """Which model, layer and head: exactly those that there are."""
    chosen = selection.fit_model()
    selection.relabel("model", words.language)
    st.selectbox(
        words("controls.model"),
        menu(selection.current().model),
        key="model",
        format_func=_model_label(words),
        on_change=selection.use_model,
        width=280,
        persist_state=KEPT,
    )
    _numbers(words("controls.layer"), "layer", chosen.n_layers)
    _numbers(words("controls.head"), "head", chosen.n_heads)
    return chosen


def direction(words: Words) -> None:
    """Who does the word look at, or who looks at it."""
    st.segmented_control(
        words("controls.look"),
        LOOKS,
        key="look",
        required=True,
        format_func=lambda look: words(f"controls.{look}"),
        label_visibility="collapsed",
        persist_state=KEPT,
    )


def tools(model: ac.ModelCard, trace: ac.Trace | None, words: Words) -> None:
    """The model's card, the file, the link."""
    _card_button(model, words)
    if trace is not None:
        _save_button(trace, words)
    components.link(selection.current(), words)


def _card_button(model: ac.ModelCard, words: Words) -> None:
    if st.button(words("controls.card"), key="open_card", type="tertiary"):
        card.show(model, words)


def _save_button(trace: ac.Trace, words: Words) -> None:
    chosen = selection.current()
    st.download_button(
        words("controls.save"),
        table.csv_of(trace, chosen),
        file_name=table.file_name(chosen),
        mime="text/csv",
        key="save",
        on_click="ignore",
        type="tertiary",
    )


def traced(words: Words) -> ac.Trace | None:
    """The chosen sentence through the chosen model, or a sentence that says why not."""
    chosen = selection.current()
    try:
        trace = trace_of(chosen.model, chosen.text)
    except ac.AttentionError as error:
        notes.show_error(error, words)
        return None
    selection.fit_tokens(trace)
    return trace


def second_traced(words: Words) -> ac.Trace | None:
    """The sentence to compare with, through the same model."""
    chosen = selection.current()
    try:
        return trace_of(chosen.model, chosen.second)
    except ac.AttentionError as error:
        notes.show_error(error, words)
        return None


def menu(chosen: str) -> list[str]:
    """The models' names, the chosen one among them: base models first, the default on top, then what varies them."""
    order = (DEFAULT, *examples.families())

    def place(name: str) -> tuple[bool, bool, int]:
        known = models.card(name)
        family = examples.family_of(known)
        at = order.index(family) if family in order else len(order)
        return models.is_passing(name), "variant_of" in known.details, at

    return sorted(models.names(chosen), key=place)


def _model_label(words: Words) -> Callable[[str], str]:
    def label(name: str) -> str:
        if name.startswith(learned.PREFIX):
            return lessons.model_label(name, words)
        known = models.card(name)
        if models.is_passing(name):
            return words("controls.label_loaded", title=known.title[words.language])
        variant = known.details.get("variant")
        if variant is None:
            return words("controls.label_model", name=known.name, title=known.title[words.language])
        return words("controls.label_variant", name=known.name, title=variant["title"][words.language])

    return label


def _numbers(label: str, key: str, n: int) -> None:
    # A row of buttons while it stays short, a list beyond.
    if n <= 8:
        st.segmented_control(label, range(n), key=key, required=True, persist_state=KEPT)
    else:
        st.selectbox(label, range(n), key=key, width=90, persist_state=KEPT)
