"""The server: `streamlit run app.py`.

`st.App` runs ui/main.py for every reader. Around it stand a warm start (so that the first reader waits for nothing),
our own files at a versioned address, the films of trainings, compression, and headers that keep the page to itself.
"""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount, Route

from ui.films import film
from ui.paths import COMPONENTS, COMPONENTS_ROUTE, ROOT
from ui.server import ForeverFiles, SecurityHeaders, to_first_page
from ui.training import POOL
from ui.warm import warm_up
from ui.writing import DESKS
from ui.written import writing


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    warm_up()
    # Streamlit collects garbage after every run; what is frozen here is never walked again.
    gc.collect()
    gc.freeze()
    yield
    POOL.close()
    DESKS.close()


app = st.App(
    ROOT / "ui" / "main.py",
    lifespan=lifespan,
    routes=[
        Mount(COMPONENTS_ROUTE, ForeverFiles(directory=COMPONENTS)),
        Route("/films/{name}", film),
        Route("/writings/{reader}", writing, methods=["GET", "POST"]),
        Route("/explore", to_first_page),
    ],
    middleware=[Middleware(SecurityHeaders), Middleware(GZipMiddleware, minimum_size=1024, compresslevel=3)],
)
