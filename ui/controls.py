"""The controls above a picture: sentence, examples, model, layer, head, direction, card, file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

import attention_core as ac
from attention_core.cards import DEFAULT
from attention_core.edits import EMPTY
from ui import (
    allowed,
    card,
    components,
    examples,
    images,
    learned,
    lessons,
    models,
    notes,
    opening,
    own,
    selection,
    views,
)
from ui.addresses import LOOKS, MAX_CHARACTERS
from ui.caches import trace_of
from ui.pictures import table
from ui.selection import KEPT
from ui.translations import Words

TYPING_PAUSE = "50ms"  # After the last key; short enough to feel live, long enough not to redraw twice for one stroke.
REAL_PAUSE = "500ms"  # For real models, which take longer to read a sentence than a hand to type the next letter.


def sentence(words: Words, *, key: str = "text", label: str = "controls.sentence") -> None:
    """The box that the sentence is typed into; the picture follows while typing. Own arrays have no sentence."""
    name = selection.current().model
    if name.startswith(own.PREFIX):
        st.caption(words("controls.own_arrays"))
        return
    if models.card(name).details["tokenizer"] == "patches":
        _image(words)
        return
    st.text_input(
        words(label),
        key=key,
        max_chars=MAX_CHARACTERS,
        live=REAL_PAUSE if models.is_real(name) else TYPING_PAUSE,
        label_visibility="collapsed",
        placeholder=words("controls.placeholder"),
        persist_state=KEPT,
    )
    if key == "text":
        views.other_text(words)


def _image(words: Words) -> None:
    """The picture for a model that looks at pictures."""
    given = st.file_uploader(
        words("vision.upload"), type=["png", "jpg", "jpeg"], key="picture", max_upload_size=images.LARGEST // 2**20
    )
    if given is not None:
        selection.mark("image", images.add(given.getvalue()))
    elif selection.peek("image") is None:
        st.caption(words("vision.needed"))
        sample = partial(selection.mark, "image", images.SAMPLE)
        st.button(words("vision.sample"), key="sample_picture", on_click=sample)


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
        menu(*selection.opened()),
        key="model",
        format_func=model_label(words),
        on_change=selection.use_model,
        width=280,
        persist_state=KEPT,
    )
    opening.box(words)
    if not models.is_pending(chosen):
        views.stack(chosen, words)
        now = selection.current()
        numbers(words("controls.layer"), "layer", models.layer_numbers(chosen, now.stack))
        numbers(words("controls.head"), "head", range(models.n_heads(chosen, now.stack, now.layer)))
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
    """How the matrix is read, the model's card, the file, the link."""
    views.popover(trace, words)
    if not models.is_pending(model):
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
    """The chosen sentence through the chosen model, or what it waits for, or a sentence that says why not."""
    chosen = selection.current()
    trace = _traced(chosen.text, words)
    if trace is not None:
        selection.fit_tokens(trace)
    return trace


def edited(edits: ac.Edits, words: Words) -> ac.Trace | None:
    """The chosen sentence once more, with something different in the model."""
    return _traced(selection.current().text, words, edits)


def _traced(text: str, words: Words, edits: ac.Edits = EMPTY) -> ac.Trace | None:
    chosen = selection.current()
    if models.is_real(chosen.model) and opening.waiting(chosen.model, words):
        return None
    try:
        if models.is_real(chosen.model):
            with st.spinner(words("controls.reading")):
                if models.card(chosen.model).details["tokenizer"] != "patches":
                    return trace_of(chosen.model, text, chosen.pair, chosen.target, edits=edits)
                image = selection.peek("image")
                return None if image is None else trace_of(chosen.model, "", image=image)
        return trace_of(chosen.model, text, edits=edits)
    except ac.AttentionError as error:
        notes.show_error(error, words)
        return None


def second_traced(words: Words) -> ac.Trace | None:
    """The sentence to compare with, through the same model."""
    return _traced(selection.current().second, words)


def menu(*opened: str) -> list[str]:
    """The models' names: base models first, the default on top, then what varies them, then what was opened."""
    order, catalogue = (DEFAULT, *examples.families()), models.names()

    def place(name: str) -> tuple[bool, bool, int]:
        known = models.card(name)
        family = examples.family_of(known)
        at = order.index(family) if family in order else len(order)
        return name not in catalogue, "variant_of" in known.details, at

    return sorted(models.names(*opened), key=place)


def model_label(words: Words) -> Callable[[str], str]:
    """What the menu says of a model, by its name."""

    def label(name: str) -> str:
        if name.startswith(learned.PREFIX):
            return lessons.model_label(name, words)
        if allowed.is_real(name):
            return name.removeprefix(allowed.LOCAL).removeprefix(allowed.HUB)
        known = models.card(name)
        if models.is_passing(name):
            return words("controls.label_loaded", title=known.title[words.language])
        variant = known.details.get("variant")
        if variant is None:
            return words("controls.label_model", name=known.name, title=known.title[words.language])
        return words("controls.label_variant", name=known.name, title=variant["title"][words.language])

    return label


def numbers(label: str, key: str, there_are: Sequence[int]) -> None:
    """The choice of a layer or a head, by its number in the model."""
    # A row of buttons while it stays short, a list beyond.
    if len(there_are) <= 8:
        st.segmented_control(label, there_are, key=key, required=True, persist_state=KEPT)
    else:
        st.selectbox(label, there_are, key=key, width=130, persist_state=KEPT)
