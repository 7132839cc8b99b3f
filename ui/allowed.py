"""Which models a reader may name: what the server was started for.

`ATTENTION_MODELS` lists what is allowed, "local" (folders) and "hub" (Hugging Face ids), with a comma between. Where it
is not set, folders are allowed on a loopback address, where only this machine's own people come; nothing otherwise.
`ATTENTION_MODEL_DIRS` lists the folders below which models may lie, divided as in PATH; the home folder and the one
that the server runs in unless it is set.
"""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from pathlib import Path

import streamlit as st

LOCAL, HUB = "dir:", "hub:"
KINDS = {"local": LOCAL, "hub": HUB}
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
SITE = re.compile(r"^(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/([^/?#]+/[^/?#]+).*$")


def is_real(name: str) -> bool:
    """Whether the name is that of a folder or of a Hub id."""
    return name.startswith((LOCAL, HUB))


def prefixes() -> tuple[str, ...]:
    """The kinds of names that this server takes."""
    given = os.environ.get("ATTENTION_MODELS")
    if given is None:
        return (LOCAL,) if _is_loopback(st.get_option("server.address")) else ()
    return tuple(KINDS[kind] for each in given.split(",") if (kind := each.strip().lower()) in KINDS)


def folders() -> tuple[Path, ...]:
    """The folders below which models may lie."""
    given = os.environ.get("ATTENTION_MODEL_DIRS")
    listed = [Path(each) for each in given.split(os.pathsep) if each] if given is not None else [Path.home(), Path()]
    return tuple(dict.fromkeys(folder.expanduser().resolve() for folder in listed))


def name_of(typed: str) -> str:
    """What a reader typed, as a model's name: "bert/base" → "hub:bert/base", "~/models/bert" → "dir:/home/…/bert".

    Raises:
        ValueError: it is neither a folder's path nor a Hub id.
    """
    text = typed.strip().strip("\"'")
    on_site = SITE.match(text)
    if on_site is not None:
        return HUB + on_site[1]
    folder = Path(text).expanduser() if text else Path("/")
    if text and (text.startswith(("/", ".", "~")) or "\\" in text or folder.is_dir()):
        return f"{LOCAL}{os.path.abspath(folder)}"
    if HUB_ID.fullmatch(text):
        return HUB + text
    raise ValueError(typed)


def is_allowed(name: str) -> bool:
    """Whether this server opens a real model of that name."""
    if not name.startswith(prefixes() or ("\0",)):
        return False
    return name.startswith(HUB) or is_within(Path(name.removeprefix(LOCAL)))


def is_within(folder: Path) -> bool:
    """Whether the folder lies, links followed, in one of those that models may lie below."""
    real = folder.resolve()
    return any(real.is_relative_to(allowed) for allowed in folders())


def _is_loopback(address: object) -> bool:
    try:
        return address == "localhost" or ip_address(str(address)).is_loopback
    except ValueError:
        return False
