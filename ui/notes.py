"""Notes and errors as sentences in the reader's language, with what the reader typed shown to the letter."""

from __future__ import annotations

import re

import streamlit as st

import attention_core as ac
from ui import examples, models, selection
from ui.translations import Words

# Refusals of a model that have a sentence of their own, with what to do next.
REFUSALS = (
    *("outside", "no_config", "no_weights", "no_tokenizer", "pickled", "remote_code", "quantised"),
    *("too_large", "damaged", "other_vocabulary", "not_text", "absent", "gated", "offline", "no_matrices"),
    "no_package",
)


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
        case ac.UnfitShape(name=name, shape=shape, accepted=accepted):
            shapes = words("notes.join").join(literal(each) for each in accepted)
            return words("errors.unfit_shape", name=literal(name), shape=literal(str(shape)), accepted=shapes)
        case ac.WhichItem(name=name, n_items=n):
            return words("errors.which_item", name=literal(name), n=n, last=n - 1)
        case ac.UnfitValues(name=name, found=found):
            return words("errors.unfit_values", name=literal(name), found=literal(found))
        case ac.ShapeMismatch(axis=axis, expected=expected, actual=actual):
            return words("errors.unequal", axis=literal(axis), expected=expected, actual=actual)
        case ac.UnfitPicture(reason=reason):
            return words("errors.unfit_picture", reason=literal(reason))
        case ac.UnreadableArrays(reason=reason):
            return words("errors.unreadable", reason=literal(reason))
        case ac.UnsupportedModel(kind=kind) if kind in REFUSALS:
            return words(f"errors.unsupported_{kind}", **_facts(error))
    return words("errors.other", reason=literal(str(error)))


def _facts(error: ac.UnsupportedModel) -> dict[str, str]:
    """What a refusal is about, as it is put into a sentence: numbers of bytes as GB, texts to the letter."""
    shown = {"reason": literal(error.reason)}
    for name, value in error.facts.items():
        if error.kind == "too_large" and isinstance(value, int):
            shown[name] = f"{value / 2**30:.1f}"
        else:
            shown[name] = literal(str(value))
    return shown


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
