"""A server for pictures of planted heads: the app's components, without the app around them."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))  # Started by its path, as app.py is: the repository is not there by itself.

import streamlit as st  # noqa: E402
from starlette.middleware import Middleware  # noqa: E402
from starlette.routing import Mount  # noqa: E402

from ui.paths import COMPONENTS, COMPONENTS_ROUTE  # noqa: E402
from ui.server import ForeverFiles, SecurityHeaders  # noqa: E402

app = st.App(
    HERE / "planted_page.py",
    routes=[Mount(COMPONENTS_ROUTE, ForeverFiles(directory=COMPONENTS))],
    middleware=[Middleware(SecurityHeaders)],
)
