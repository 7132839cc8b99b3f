"""How the matrix is read: a second text, the stack, whole words, a pair's blocks, without the sink."""

from __future__ import annotations

import streamlit as st

import attention_core as ac
from ui import models, selection
from ui.addresses import BLOCKS, MAX_CHARACTERS
from ui.pictures import parts
from ui.selection import KEPT
from ui.translations import Words


def other_text(words: Words) -> None:
    """The box for what a decoder reads, where the model has one."""
    card = models.card(selection.current().model)
    if "cross" in models.stacks(card) and not models.is_pending(card):
        _text("target", words("views.target"), words("views.target_placeholder"))


def popover(trace: ac.Trace | None, words: Words) -> None:
    """Everything about reading a matrix of tokens, behind one button; nothing where there is nothing to choose."""
    if trace is None or trace.card.details["tokenizer"] == "patches":
        return
    takes_pair, has_pieces = _takes_pair(trace), trace.card.details["tokenizer"] == "tokens"
    sink = parts.sink_of(trace, selection.current())
    if not (takes_pair or has_pieces or sink is not None or selection.current().is_sink_left_out):
        return
    with st.popover(words("views.button"), key="views"):
        if has_pieces:
            st.toggle(words("views.whole"), key="is_whole", help=words("views.whole_help"), persist_state=KEPT)
        if takes_pair:
            _text("pair", words("views.pair"), words("views.pair_placeholder"))
        if trace.pair:
            _blocks(words)
        if sink is not None or selection.current().is_sink_left_out:
            st.toggle(words("views.sink"), key="is_sink_left_out", help=words("views.sink_help"), persist_state=KEPT)


def stack(card: ac.ModelCard, words: Words) -> None:
    """Which attention of an encoder–decoder."""
    stacks = models.stacks(card)
    if len(stacks) > 1:
        st.segmented_control(
            words("views.stack"),
            stacks,
            key="stack",
            required=True,
            format_func=lambda name: words(f"views.stack_{name}"),
            persist_state=KEPT,
        )


def _takes_pair(trace: ac.Trace) -> bool:
    card = trace.card
    is_reader = card.details.get("kind") == "real" and not card.causal and set(trace.stacks) == {"self"}
    return is_reader and card.details["tokenizer"] == "tokens"


def _blocks(words: Words) -> None:
    st.segmented_control(
        words("views.block"),
        BLOCKS,
        key="block",
        required=True,
        format_func=lambda block: words("views.block_all") if block == BLOCKS[0] else f"{block[0]} → {block[1]}",
        persist_state=KEPT,
    )


def _text(key: str, label: str, placeholder: str) -> None:
    st.text_input(label, key=key, max_chars=MAX_CHARACTERS, placeholder=placeholder, persist_state=KEPT)
