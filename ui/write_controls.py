"""The controls of the Write page: the prompt, the model, the head, and how the next token is taken."""

from __future__ import annotations

import streamlit as st

import attention_core as ac
from ui import controls, models, notes, opening, selection, writers
from ui.addresses import MAX_CHARACTERS
from ui.selection import KEPT
from ui.translations import Words
from ui.writing import DESKS, Order, model_of


def prompt(words: Words) -> None:
    """The box that the prompt is typed into; the picture follows while typing."""
    is_real = models.is_real(selection.writer().model)
    st.text_input(
        words("write.prompt"),
        key="prompt",
        max_chars=MAX_CHARACTERS,
        live=controls.REAL_PAUSE if is_real else controls.TYPING_PAUSE,
        label_visibility="collapsed",
        placeholder=words("write.placeholder"),
        persist_state=KEPT,
    )


def choices(words: Words) -> None:
    """Which model and head, and greedy or by chance."""
    chosen = selection.writer()
    selection.relabel("writer", words.language)
    st.selectbox(
        words("controls.model"),
        writers.names(*selection.opened()),
        key="writer",
        format_func=controls.model_label(words),
        on_change=selection.use_writer,
        width=280,
        persist_state=KEPT,
    )
    card = models.card(chosen.model)
    if not models.is_pending(card):
        stack = models.stacks(card)[0]
        controls.numbers(words("controls.layer"), "write_layer", models.layer_numbers(card, stack))
        heads = range(models.n_heads(card, stack, selection.writer().layer))
        controls.numbers(words("controls.head"), "write_head", heads)
    _how(words)


def _how(words: Words) -> None:
    st.segmented_control(
        words("write.how"),
        writers.HOWS,
        key="how",
        required=True,
        format_func=lambda how: words(f"write.how_{how}"),
        help=words("write.how_help"),
        label_visibility="collapsed",
        persist_state=KEPT,
    )
    if selection.writer().how == "sampled":
        st.number_input(
            words("write.temperature"),
            min_value=writers.COLDEST,
            max_value=writers.HOTTEST,
            step=0.1,
            format="%g",
            key="temperature",
            help=words("write.temperature_help"),
            width=210,
            persist_state=KEPT,
        )
        st.number_input(
            words("write.seed"),
            min_value=0,
            max_value=writers.MAX_SEED,
            step=1,
            key="write_seed",
            help=words("write.seed_help"),
            width=170,
            persist_state=KEPT,
        )


def seat(words: Words) -> bool:
    """Give this reader a desk with what is chosen; False, and a sentence, where nothing can be written."""
    chosen = selection.writer()
    if chosen.instead_of:
        st.caption(words("write.instead", other=notes.literal(chosen.instead_of), model=notes.literal(chosen.model)))
    if models.is_real(chosen.model) and opening.waiting(chosen.model, words):
        return False
    try:
        model_of(chosen.model).tokenize(chosen.prompt)
    except ac.AttentionError as error:
        st.warning(notes.sentence_of(error, words, models.card(chosen.model).details["tokenizer"]))
        return False
    temperature = chosen.temperature if chosen.how == "sampled" else None
    order = Order(chosen.model, chosen.prompt, temperature, chosen.seed)
    DESKS.seat(selection.visitor(), order, (chosen.layer, chosen.head))
    return True
