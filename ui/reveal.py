"""Answers that stay away until the teacher asks for them."""

from __future__ import annotations

from functools import partial

import streamlit as st

from ui import selection
from ui.translations import Words

_OPEN = "_revealed"


def is_open(name: str, words: Words) -> bool:
    """A button that shows or hides the answer of that name; whether it is shown. Kept for the visit."""
    shown = name in _open()
    label = words("classroom.hide" if shown else "classroom.reveal")
    st.button(label, key=f"reveal_{name}", on_click=partial(_turn, name), type="secondary")
    return shown


def hide_all() -> None:
    selection.mark(_OPEN, frozenset())


def _turn(name: str) -> None:
    selection.mark(_OPEN, _open() ^ {name})


def _open() -> frozenset[str]:
    return selection.peek(_OPEN) or frozenset()
