"""The board of switches of What if, and what its picture asks for. The edits are the state that every control reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

import attention_core as ac
from attention_core.edits import EMPTY
from ui import components, controls, edit_texts, models, selection
from ui.edit_texts import TEMPERATURES
from ui.pictures import parts
from ui.translations import Words

TIES = {"qk": "Q = K", "kv": "K = V"}  # Formulas are the same in every language.
EVERYWHERE = -1
LONGEST = 512  # Tokens: three pictures of every cell are sent.
N_BUTTONS = 4  # More layers than these are a list.


def traced(card: ac.ModelCard, words: Words) -> ac.Trace | None:
    """The run as it is; None, with a sentence that says why, where there is none or the model takes no edits."""
    if not models.is_pending(card) and not takes_edits(card):
        st.info(words("whatif.takes_none"))
        return None
    trace = controls.traced(words)
    if trace is not None and len(trace.tokens) > LONGEST:
        _, units = parts.units(trace, words)
        st.info(words("whatif.too_long", n=len(trace.tokens), limit=LONGEST, units=units))
        return None
    if trace is not None:
        selection.fit_edits(trace, lambda one: _is_fit(one, trace))
    return trace


def takes_edits(card: ac.ModelCard) -> bool:
    """Whether it is a taught model, or a real one that reads one text and hands its attention over."""
    details = card.details
    is_open = details.get("method") == "interface" and details["tokenizer"] == "tokens"
    return is_taught(card) or (is_open and models.stacks(card) == ("self",))


def is_taught(card: ac.ModelCard) -> bool:
    """Whether positions and projections can be changed too."""
    return "vocabulary" in card.details


def edited(words: Words) -> ac.Trace | None:
    """The second run, with the edits."""
    return controls.edited(selection.edits(), words)


def board(trace: ac.Trace, words: Words) -> None:
    """Every switch, as the edits have it."""
    card, now = trace.card, selection.edits()
    with st.container(horizontal=True, vertical_alignment="center", key="board"):
        causal = card.causal if now.causal is None else now.causal
        _toggle(words("whatif.causal"), "causal", causal, lambda on: {"causal": None if on == card.causal else on})
        if is_taught(card):
            _positions(card, now, words)
        _scale(trace, now, words)
        _shuffle(trace, now, words)
    with st.container(horizontal=True, vertical_alignment="center", key="board_more"):
        _temperature(now, words)
        if is_taught(card):
            _tie(now, words)
        if card.n_layers > 1:
            _where(card, now, words)
        _reset(now, words)


def picture(frame: bytes) -> None:
    """The two runs side by side; what is pressed there changes the edits."""
    components.whatif(
        frame,
        {"silence": _silence, "cut": _cut, "order": _order, "ask": _ask, "drop": _drop},
    )


def _is_fit(one: ac.Edits, trace: ac.Trace) -> bool:
    """Whether the model and the text can take it, and it makes a difference to such a model at all."""
    card = trace.card
    try:
        one.check(len(trace.tokens), {layer.index: layer.n_heads for layer in trace.layers})
    except ac.UnfitEdit:
        return False
    if not is_taught(card) and (one.tie is not None or not one.positions):
        return False
    is_nothing = one.causal == card.causal or (not one.positions and card.details["positions"] == "none")
    return not is_nothing and (one.scale or _is_scaled(trace)) and (one.layer is None or card.n_layers > 1)


def _is_scaled(trace: ac.Trace) -> bool:
    """Whether any layer multiplies its scores: some models have the factor in their weights."""
    return any(layer.scale != 1 for layer in trace.layers)


def _set(**changed: Any) -> None:
    selection.edit(replace(selection.edits(), **changed))


def _toggle(label: str, name: str, value: bool, change: Callable[[bool], dict], *, disabled: bool = False) -> None:
    key = f"whatif_{name}"
    selection.mark(key, value)
    st.toggle(label, key=key, disabled=disabled, on_change=lambda: _set(**change(selection.widget(key))))


def _positions(card: ac.ModelCard, now: ac.Edits, words: Words) -> None:
    placed = card.details["positions"] != "none"
    label = words("whatif.positions" if placed else "whatif.positions_none")
    _toggle(label, "positions", placed and now.positions, lambda on: {"positions": on}, disabled=not placed)


def _scale(trace: ac.Trace, now: ac.Edits, words: Words) -> None:
    is_there = _is_scaled(trace)
    label = words("whatif.scale" if is_there else "whatif.scale_none")
    _toggle(label, "scale", is_there and now.scale, lambda on: {"scale": on}, disabled=not is_there)


def _shuffle(trace: ac.Trace, now: ac.Edits, words: Words) -> None:
    fixed = [token.is_special for token in trace.tokens]
    seed = edit_texts.seed_of(now.order, fixed) or 0

    def shuffle(by: int) -> None:
        _set(order=edit_texts.shuffled(fixed, by))

    _toggle(
        words("whatif.shuffle", unit=words(f"units.{trace.card.details['tokenizer']}_many")),
        "order",
        now.order is not None,
        lambda on: {"order": edit_texts.shuffled(fixed, 1) if on else None},
        disabled=edit_texts.shuffled(fixed, 1) is None,
    )
    if now.order is not None:
        following = seed % edit_texts.N_SEEDS + 1
        label = words("whatif.again", seed=following)
        st.button(label, key="whatif_again", type="tertiary", on_click=shuffle, args=(following,))


def _temperature(now: ac.Edits, words: Words) -> None:
    selection.mark("whatif_temperature", now.temperature)
    st.select_slider(
        words("whatif.temperature"),
        TEMPERATURES,
        key="whatif_temperature",
        format_func=lambda value: f"{value:g}",
        on_change=lambda: _set(temperature=selection.widget("whatif_temperature")),
        width=260,
    )


def _tie(now: ac.Edits, words: Words) -> None:
    selection.mark("whatif_tie", now.tie)
    st.segmented_control(
        words("whatif.tie"),
        list(TIES),
        key="whatif_tie",
        format_func=TIES.__getitem__,
        on_change=lambda: _set(tie=selection.widget("whatif_tie")),
    )


def _where(card: ac.ModelCard, now: ac.Edits, words: Words) -> None:
    def label(layer: int) -> str:
        return words("whatif.everywhere") if layer == EVERYWHERE else words("whatif.in_layer", layer=layer)

    def on_change() -> None:
        layer = selection.widget("whatif_layer")
        _set(layer=None if layer == EVERYWHERE else layer)

    selection.mark("whatif_layer", EVERYWHERE if now.layer is None else now.layer)
    layers = (EVERYWHERE, *models.layer_numbers(card, "self"))
    name, told = words("whatif.where"), words("whatif.where_help")
    if card.n_layers > N_BUTTONS:
        st.selectbox(name, layers, key="whatif_layer", format_func=label, on_change=on_change, help=told, width=240)
        return
    st.segmented_control(
        name, layers, key="whatif_layer", required=True, format_func=label, on_change=on_change, help=told
    )


def _reset(now: ac.Edits, words: Words) -> None:
    label = words("whatif.reset")
    st.button(label, key="whatif_reset", disabled=now == EMPTY, on_click=selection.edit, args=(EMPTY,))


# What a browser sends is checked like any input: `_change` drops what says nothing.


def _change(make: Callable[[ac.Edits, Any], ac.Edits], name: str) -> None:
    try:
        selection.edit(make(selection.edits(), selection.event("whatif", name)))
    except (ac.UnfitEdit, TypeError, KeyError, ValueError):
        return


def _silence() -> None:
    _change(
        lambda now, token: replace(now, silenced=now.silenced ^ ac.Edits(silenced=frozenset([token])).silenced),
        "silence",
    )


def _cut() -> None:
    chosen = selection.current()

    def toggled(now: ac.Edits, cell: Any) -> ac.Edits:
        edge = (chosen.layer, chosen.head, cell["query"], cell["key"])
        return replace(now, cut=now.cut ^ ac.Edits(cut=frozenset([edge])).cut)

    _change(toggled, "cut")


def _order() -> None:
    def moved(now: ac.Edits, order: Any) -> ac.Edits:
        return replace(now, order=None if order == sorted(order) else tuple(order))

    _change(moved, "order")


def _drop() -> None:
    _change(edit_texts.without, "drop")


def _ask() -> None:
    token = selection.event("whatif", "ask")
    if isinstance(token, int) and not isinstance(token, bool) and token >= 0:
        selection.choose(token, None)
