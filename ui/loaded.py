"""Models from files that readers have loaded: checked like all that comes from outside, kept while the server runs."""

from __future__ import annotations

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from threading import Lock
from types import MappingProxyType
from typing import Any

import attention_core as ac
from attention_core import loading
from attention_core.teach.card import COLUMNS_OF_TRAINED, NOT_TO_CLAIM

PREFIX = "file:"
LARGEST = 5 * 2**20  # Bytes of a file.
N_KEPT = 64

_models: OrderedDict[str, ac.TaughtModel] = OrderedDict()
_lock = Lock()


class UnreadableFile(Exception):
    """A file that is no model of ours.

    Attributes:
        kind: "too_large", "not_ours" or "damaged"; detail: what was found, in English.
    """

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail


def add(data: bytes) -> str:
    """Take in a file that a reader has chosen; returns the model's name, "file:…".

    Raises:
        UnreadableFile: it is no model of ours, or does not compute.
    """
    if len(data) > LARGEST:
        raise UnreadableFile("too_large")
    model = _read(data)
    name = f"{PREFIX}{stem(model.card.name)}-{hashlib.sha256(data).hexdigest()[:8]}"
    with _lock:
        _models[name] = replace(model, card=_inert(model.card, name))
        _models.move_to_end(name)
        while len(_models) > N_KEPT:
            _models.popitem(last=False)
    return name


def get(name: str) -> ac.TaughtModel | None:
    """The model of that name, if it is still kept."""
    with _lock:
        return _models.get(name)


def stem(name: str) -> str:
    """The name as a file may be called: "pronoun (seed 17)" → "pronoun-seed-17"."""
    return re.sub(r"[^\w.]+", "-", name, flags=re.ASCII).strip("-.")[:80] or "model"


def _read(data: bytes) -> ac.TaughtModel:
    try:
        json.loads(loading.metadata_of(data)["card"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableFile("not_ours") from error
    try:
        return _tried(loading.from_bytes(data))
    except Exception as error:  # A file by anybody can hold anything: whatever does not compute is refused.
        raise UnreadableFile("damaged", str(error)) from error


def _tried(model: ac.TaughtModel) -> ac.TaughtModel:
    """The model, once it has done what the pages will ask of it."""
    trace = model.trace(" ".join(model.card.details["vocabulary"][:3]))
    trace.check()
    for layer in trace.layers:
        layer.head(layer.n_heads - 1)
    return model


def _inert(card: ac.ModelCard, name: str) -> ac.ModelCard:
    """The card of a stranger's file: its texts say only what they say, and what a card must have is there."""
    texts = {key: _plain(value) for key, value in card.details.items() if _is_text(value)}
    needed = {"summary": _plain(dict(card.title)), "not_to_claim": NOT_TO_CLAIM}
    figures = {"columns": COLUMNS_OF_TRAINED, "figures": {"seeds": _figures(card), "n_reached": 0}}
    details = {**needed, **card.details, **texts, **figures, "name": name}
    return replace(
        card,
        name=name,
        title=MappingProxyType(_plain(dict(card.title))),
        source=MappingProxyType(_plain(dict(card.source))),
        licence=_escaped(card.licence),
        details=MappingProxyType(details),
    )


def _figures(card: ac.ModelCard) -> list[dict[str, Any]]:
    """What the card of a trained model says of its run, as far as these are numbers."""
    seeds = card.details.get("figures", {}).get("seeds", ())
    wanted = ("seed", *(str(column["path"]) for column in COLUMNS_OF_TRAINED))
    return [
        {name: run[name] for name in wanted}
        for run in seeds
        if all(isinstance(run.get(name), int | float) for name in wanted)
    ]


def _is_text(value: object) -> bool:
    return isinstance(value, Mapping) and bool(value) and set(value) <= {"en", "zh"}


def _plain(text: Mapping[str, Any]) -> dict[str, Any]:
    one = next(iter(text.values()), "")
    both = {language: text.get(language, one) for language in ("en", "zh")}
    return {
        language: [*map(_escaped, said)] if isinstance(said, list) else _escaped(said)
        for language, said in both.items()
    }


def _escaped(text: object) -> str:
    # In Markdown a backslash before a mark makes it a mark and nothing else.
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", str(text)[:4000])
