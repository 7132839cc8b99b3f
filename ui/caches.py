"""What is kept between runs: traces by (model, text). Values, so that readers may share them."""

from __future__ import annotations

import streamlit as st

import attention_core as ac
from ui import models

MAX_TRACES = 256  # A taught model's trace is some 100 kB.


@st.cache_resource(max_entries=MAX_TRACES, show_spinner=False)
def trace_of(model: str, text: str) -> ac.Trace:
    """The trace of `text` through the model of that name.

    Raises:
        AttentionError: as `load` and `trace` do.
    """
    return models.load(model).trace(text)
