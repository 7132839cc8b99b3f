"""The QR code of what the app shows, for a class that follows on its own screens."""

from __future__ import annotations

from html import escape
from urllib.parse import urlsplit

import streamlit as st

from ui import addresses, bench_controls, qr, selection
from ui.scenes import books, state
from ui.selection import KEPT
from ui.translations import Words

PICTURES = ("explore", "heads", "steps", "whatif")
PAGES = (*PICTURES, "write", "learn", "bench", *books.BOOKS)
FILE = "attention-link.txt"
OWN = "own"  # A link that the teacher types.
HERE = ("localhost", "127.0.0.1", "::1")  # Names by which a computer means itself.


def show(words: Words) -> None:
    """What is linked, the code, and the link itself; too long for a code, the link as a file."""
    link = _chosen(words)
    if not link:
        return
    try:
        drawn = qr.image(link)
    except qr.TooLong:
        st.warning(words("classroom.code_too_long", n=len(link), limit=qr.MAX_CHARACTERS))
    else:
        name = escape(words("classroom.code_name"))
        st.html(f'<img class="qr" src="{escape(drawn)}" alt="{name}">')
    if _host(link) in HERE:
        st.warning(words("classroom.code_here"))
    st.code(link, language=None, wrap_lines=True)
    st.download_button(words("classroom.code_file"), link + "\n", file_name=FILE, key="code_file", on_click="ignore")


def _chosen(words: Words) -> str:
    """The link: of a page as it stands in this visit, or one that is typed."""
    for key, first in (("code_page", PAGES[0]), ("code_base", base(st.context.url))):
        if selection.peek(key) is None:
            selection.mark(key, first)
    selection.relabel("code_page", words.language)
    page = st.selectbox(
        words("classroom.code_page"),
        [*PAGES, OWN],
        key="code_page",
        format_func=lambda name: words("classroom.code_own") if name == OWN else words(f"nav.{name}"),
        persist_state=KEPT,
        width=420,
    )
    if page == OWN:
        return st.text_input(words("classroom.code_link"), key="code_link", persist_state=KEPT).strip()
    typed = st.text_input(words("classroom.code_base"), key="code_base", persist_state=KEPT, width=420).strip()
    return f"{typed.rstrip('/')}/{page}?{query(page)}"


def base(url: str | None) -> str:
    """Where the app stands, from the address of one of its pages."""
    return (url or "http://localhost:8501/").split("?")[0].rsplit("/", 1)[0]


def query(page: str) -> str:
    """The query string that opens the page as it stands in this visit."""
    now = selection.current()
    if page in books.BOOKS:
        return state.address(page)[0]
    match page:
        case "write":
            return addresses.write_address(now, selection.writer())[0]
        case "learn":
            return addresses.lesson_address(now, selection.lesson())[0]
        case "bench":
            return bench_controls.query(now)
    return addresses.address(now)


def _host(link: str) -> str | None:
    try:
        return urlsplit(link).hostname
    except ValueError:  # Half an address, while it is typed.
        return None
