"""Notes and errors as sentences in the reader's language, with what the reader typed shown to the letter."""

from __future__ import annotations

import re

import streamlit as st

import attention_core as ac
from ui import examples, models, selection
from ui.translations import Words


def literal(text: str) -> str:
    """`text` as Markdown code, where nothing in it is markup: no link, formula, colour, icon or picture."""
    line = re.sub(r"\s+", " ", text).strip() or "␣"
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def sentence_of(error: ac.AttentionError, words: Words, tokenizer: str = "words") -> str:
    """What went wrong and what to do next; the tokenizer tells what a text is counted in."""
    match error:
        case ac.EmptyText():
            return words("errors.empty")
        case ac.TextTooLong(n=n, limit=limit):
            return words(f"errors.too_long_{tokenizer}", n=n, limit=limit)
        case ac.TraceMismatch(layer=layer, error=difference):
            return words("errors.mismatch", layer=layer, difference=f"{difference:.1e}")
        case ac.UnknownModel(name=name, known=known):
            return words("errors.unknown_model", name=literal(name), known=", ".join(known))
    return words("errors.other", reason=literal(str(error)))


def show_error(error: ac.AttentionError, words: Words) -> None:
    """The error, and a way on: the model's first example."""
    chosen = selection.current()
    card = models.card(chosen.model)
    st.warning(sentence_of(error, words, card.details["tokenizer"]))
    example = examples.first(examples.family_of(card))
    if example.text != chosen.text:
        label = words("notes.take_example", example=example.text)
        st.button(label, key="take_example", on_click=selection.use_example, args=(example.id,))


def show_address_notes(words: Words) -> None:
    """Say which parts of the opened address could not be used, and that something else is shown instead."""
    for note in selection.notes():
        st.info(_note(note, words))


def _note(note: selection.Note, words: Words) -> str:
    if note.field == "model" and models.is_passing(note.value):
        return words("notes.not_kept", name=literal(note.value))
    return words("notes.address", field=words(f"notes.field_{note.field}"), value=literal(note.value))
