"""Attention, every number of it: scores, scaled, masked, weights, output, for a model's heads or your own arrays.

>>> import attention_core as ac
>>> trace = ac.load("pronoun").trace("The animal didn't cross the street because it was too tired.")
>>> head = trace.layers[1].head(0)
>>> head.weights.shape
(12, 12)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from attention_core.cards import ModelCard, is_real, models
from attention_core.edits import Edits
from attention_core.errors import (
    AttentionError,
    Cancelled,
    EmptyText,
    ShapeMismatch,
    TextTooLong,
    TraceMismatch,
    UnfitEdit,
    UnfitPicture,
    UnfitShape,
    UnfitValues,
    UnknownModel,
    UnreadableArrays,
    UnsupportedModel,
    WeightsOnly,
    WhichItem,
)
from attention_core.generating import Written, generate
from attention_core.groups import Word, Words, blocks, merge, whole_words
from attention_core.loading import load_taught
from attention_core.overview import overview
from attention_core.own import from_arrays, from_named, from_weights
from attention_core.progress import Listener, Progress, unheard
from attention_core.steps import Bill, HeadSteps, HeadWeights, attention, causal, project
from attention_core.taught import TaughtModel
from attention_core.tokens import Note, Reading, Split, Token
from attention_core.trace import (
    Answer,
    AnswerSum,
    LayerTrace,
    LogitPart,
    LogitTerm,
    Trace,
    Verification,
)
from attention_core.writing import Candidate, Choice, Writing

if TYPE_CHECKING:
    from attention_core.capture.real import RealModel
    from attention_core.capture.vision import ImageModel

__version__ = "0.3.0"

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)

__all__ = [
    "Answer",
    "AnswerSum",
    "AttentionError",
    "Bill",
    "Cancelled",
    "Candidate",
    "Choice",
    "Edits",
    "EmptyText",
    "HeadSteps",
    "HeadWeights",
    "LayerTrace",
    "LogitPart",
    "LogitTerm",
    "ModelCard",
    "Note",
    "Progress",
    "Reading",
    "ShapeMismatch",
    "Split",
    "TaughtModel",
    "TextTooLong",
    "Token",
    "Trace",
    "TraceMismatch",
    "UnfitEdit",
    "UnfitPicture",
    "UnfitShape",
    "UnfitValues",
    "UnknownModel",
    "UnreadableArrays",
    "UnsupportedModel",
    "Verification",
    "WeightsOnly",
    "WhichItem",
    "Word",
    "Words",
    "Writing",
    "Written",
    "attention",
    "blocks",
    "causal",
    "from_arrays",
    "from_named",
    "from_weights",
    "generate",
    "load",
    "load_folder",
    "load_hub",
    "merge",
    "models",
    "overview",
    "project",
    "whole_words",
]


def load(name: str | Path, progress: Listener | None = None) -> TaughtModel | RealModel | ImageModel:
    """The model of that name: one of the catalogue, a folder on this machine, or one on the Hugging Face Hub.

    Taught models of the catalogue are loaded once; a real one is another value every time.

    Args:
        name: a catalogue name, a folder's path, or a Hub id with its owner, "owner/name".
        progress: told how far it is, for real models; may raise `Cancelled`, which stops the loading.

    Raises:
        UnknownModel: it is none of these.
        UnsupportedModel: weights are missing or damaged, or the model cannot be had or shown; with the reason.
        TraceMismatch: what would be shown is not what a real model computes.
    """
    text = str(name)
    known = {card.name: card for card in models()}
    if text in known and not is_real(known[text]):
        return _taught(text)
    if text not in known and not _is_folder(text) and not HUB_ID.fullmatch(text):
        raise UnknownModel(text, tuple(known))
    capture, heard = _started(progress)
    if text in known:
        return capture.load_packaged(known[text], heard)
    return capture.load_folder(text, progress=heard) if _is_folder(text) else capture.load_hub(text, heard)


@cache
def _taught(name: str) -> TaughtModel:
    return load_taught(name)


def load_folder(
    path: str | Path, within: Sequence[str | Path] | None = None, progress: Listener | None = None
) -> RealModel | ImageModel:
    """The real transformer in a folder on this machine; torch and transformers are imported now, not before.

    Args:
        within: folders below which it must lie, links followed; None for anywhere.
        progress: told how far it is; may raise `Cancelled`.

    Raises:
        UnsupportedModel: the folder or the model cannot be shown, with the reason.
        TraceMismatch: what would be shown is not what the model computes.
    """
    capture, heard = _started(progress)
    return capture.load_folder(path, within, heard)


def load_hub(name: str, progress: Listener | None = None) -> RealModel | ImageModel:
    """The model of that id on the Hugging Face Hub, whatever folder of this machine has the same name.

    Args:
        name: with its owner, "owner/name".
        progress: told how far it is; may raise `Cancelled`.

    Raises:
        UnknownModel: the name is no such id.
        UnsupportedModel: the model cannot be had or shown, with the reason.
        TraceMismatch: what would be shown is not what the model computes.
    """
    if not HUB_ID.fullmatch(name):
        raise UnknownModel(name, tuple(card.name for card in models()))
    capture, heard = _started(progress)
    return capture.load_hub(name, heard)


def _is_folder(name: str) -> bool:
    return Path(name).expanduser().is_dir() or name.startswith(("/", "./", "../", "~"))


def _started(progress: Listener | None) -> tuple[ModuleType, Listener]:
    """What reads real models. Torch and transformers come with it, which takes seconds the first time."""
    heard = unheard if progress is None else progress
    heard(Progress("starting", 0, 1))
    from attention_core import capture

    heard(Progress("starting", 1, 1))
    return capture, heard
