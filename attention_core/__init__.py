"""Attention, every number of it: scores, scaled, masked, weights, output, for a model's heads or your own arrays.

>>> import attention_core as ac
>>> trace = ac.load("pronoun").trace("The animal didn't cross the street because it was too tired.")
>>> head = trace.layers[1].head(0)
>>> head.weights.shape
(12, 12)
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from attention_core.cards import ModelCard, models
from attention_core.errors import (
    AttentionError,
    EmptyText,
    ShapeMismatch,
    TextTooLong,
    TraceMismatch,
    UnfitShape,
    UnfitValues,
    UnknownModel,
    UnreadableArrays,
    UnsupportedModel,
    WeightsOnly,
    WhichItem,
)
from attention_core.groups import Word, Words, blocks, merge, whole_words
from attention_core.loading import load_taught
from attention_core.own import from_arrays, from_named, from_weights
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

if TYPE_CHECKING:
    from attention_core.capture.real import RealModel

__version__ = "0.2.0"

__all__ = [
    "Answer",
    "AnswerSum",
    "AttentionError",
    "Bill",
    "EmptyText",
    "HeadSteps",
    "HeadWeights",
    "LayerTrace",
    "LogitPart",
    "LogitTerm",
    "ModelCard",
    "Note",
    "Reading",
    "ShapeMismatch",
    "Split",
    "TaughtModel",
    "TextTooLong",
    "Token",
    "Trace",
    "TraceMismatch",
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
    "attention",
    "blocks",
    "causal",
    "from_arrays",
    "from_named",
    "from_weights",
    "load",
    "load_folder",
    "merge",
    "models",
    "project",
    "whole_words",
]


@cache
def load(name: str) -> TaughtModel:
    """The model of that name from the catalogue, loaded once.

    Raises:
        UnknownModel: the catalogue has no such name.
        UnsupportedModel: its weights are missing or damaged.
    """
    return load_taught(name)


def load_folder(path: str | Path) -> RealModel:
    """The real transformer in a folder on this machine; torch and transformers are imported now, not before.

    Raises:
        UnsupportedModel: the folder or the model cannot be shown, with the reason.
        TraceMismatch: what would be shown is not what the model computes.
    """
    from attention_core.capture import load_folder as load_real

    return load_real(path)
