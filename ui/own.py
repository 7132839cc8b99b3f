"""Readers' own arrays: files of numbers as traces, kept while the server runs, by bytes."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from types import MappingProxyType

import attention_core as ac
from attention_core import arrays
from ui import loaded
from ui.bounded import Bounded

PREFIX = "arrays:"
LARGEST = 64 * 2**20  # Bytes of a file.
ROOM = 256 * 2**20

_kept: Bounded[str, ac.Trace] = Bounded(ROOM, lambda trace: trace.n_bytes)


def add(data: bytes, file_name: str, item: int | None = None) -> str:
    """Take in a file of arrays (.npy, .npz or a table that this app saved); returns its name, "arrays:…".

    Args:
        item: which item of a batch, where the arrays hold one.

    Raises:
        AttentionError: it cannot be read, or what it holds cannot be shown.
    """
    if len(data) > LARGEST:
        raise ac.UnreadableArrays(f"the file has {len(data):,} bytes, and {LARGEST:,} are taken")
    stem = loaded.stem(file_name.rsplit(".", 1)[0])
    which = "" if item is None else f"-item{item}"
    name = f"{PREFIX}{stem}{which}-{hashlib.sha256(data).hexdigest()[:8]}"
    trace = ac.from_named(arrays.read(data), item=item)
    _kept.put(name, replace(trace, card=_named(trace.card, name, stem)))
    return name


def get(name: str) -> ac.Trace | None:
    """The trace of that name, if it is still kept."""
    return _kept.peek(name)


def _named(card: ac.ModelCard, name: str, stem: str) -> ac.ModelCard:
    title = MappingProxyType({language: f"{said}: {stem}" for language, said in card.title.items()})
    return replace(card, name=name, title=title, details=MappingProxyType({**card.details, "name": name}))
