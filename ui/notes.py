"""Notes and errors as sentences in the reader's language, with what the reader typed shown to the letter."""

from __future__ import annotations

import re

import streamlit as st

import attention_core as ac
from ui import selection
from ui.translations import Words


def literal(text: str) -> str:
    """`text` as Markdown code, where nothing in it is markup: no link, formula, colour, icon or picture."""
    line = re.sub(r"\s+", " ", text).strip() or "␣"
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def sentence_of(error: ac.AttentionError, words: Words) -> str:
    """What went wrong and what to do next."""
    match error:
        case ac.EmptyText():
            return words("errors.empty")
        case ac.TextTooLong(n=n, limit=limit):
            return words("errors.too_long", n=n, limit=limit)
        case ac.TraceMismatch(layer=layer, error=difference):
            return words("errors.mismatch", layer=layer, difference=f"{difference:.1e}")
        case ac.UnknownModel(name=name, known=known):
            return words("errors.unknown_model", name=literal(name), known=", ".join(known))
    return words("errors.other", reason=literal(str(error)))


def show_error(error: ac.AttentionError, words: Words) -> None:
    st.warning(sentence_of(error, words))


def show_address_notes(words: Words) -> None:
    """Say which parts of the opened address could not be used, and that something else is shown instead."""
    for note in selection.notes():
        st.info(words("notes.address", field=words(f"notes.field_{note.field}"), value=literal(note.value)))
