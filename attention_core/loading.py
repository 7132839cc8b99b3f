"""From files to a model: the catalogue's weights, checked against their card."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as load_tensors

from attention_core.cards import FOLDER, ModelCard, card_of
from attention_core.errors import UnsupportedModel
from attention_core.readouts import Readout
from attention_core.steps import read_only
from attention_core.taught import Mlp, TaughtLayer, TaughtModel, sinusoids

Tensors = Mapping[str, np.ndarray]


def load_taught(name: str, folder: Path = FOLDER) -> TaughtModel:
    """The taught model of that name, its weights checked against the card's checksum.

    Raises:
        UnknownModel: no such name in the catalogue.
        UnsupportedModel: the weights are missing or are not those of the card.
    """
    card = card_of(name)
    path = folder / f"{name}.safetensors"
    if not path.is_file():
        raise UnsupportedModel(f"the weights of {name!r} are missing: reinstall, or retrain it")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != card.details["sha256"]:
        raise UnsupportedModel(f"the weights of {name!r} are not those of its card: reinstall, or retrain it")
    return build(card, load_tensors(data))


def build(card: ModelCard, tensors: Tensors) -> TaughtModel:
    """A model from its card and tensors (`embedding`, `layers.{l}.w_q` …, one per read-out), in float64."""
    exact = {name: read_only(tensor.astype(np.float64)) for name, tensor in tensors.items()}
    if "embedding_q8" in exact:
        # Stored in a byte per number and one factor per row or column.
        exact["embedding"] = read_only(exact["embedding_q8"] * exact["embedding_scale"])
    details = card.details
    return TaughtModel(
        card=card,
        embedding=exact["embedding"],
        positions=_positions(card, exact),
        layers=tuple(_layer(index, facts, exact) for index, facts in enumerate(details["layers"])),
        readouts=tuple(_readout(facts, exact, tuple(details["vocabulary"])) for facts in details["readouts"]),
    )


def _positions(card: ModelCard, exact: Tensors) -> np.ndarray | None:
    match card.details["positions"]:
        case "none":
            return None
        case "learned":
            return exact["positions"]
        case "sinusoidal":
            return read_only(sinusoids(card.max_tokens, card.d_model))
    raise UnsupportedModel(f"unknown kind of positions {card.details['positions']!r}")


def _layer(index: int, facts: Mapping[str, Any], exact: Tensors) -> TaughtLayer:
    def tensor(name: str) -> np.ndarray:
        return exact[f"layers.{index}.{name}"]

    mlp = Mlp(*map(tensor, ("mlp_in", "mlp_in_bias", "mlp_out", "mlp_out_bias"))) if facts["mlp"] else None
    return TaughtLayer(
        w_q=tensor("w_q"),
        w_k=tensor("w_k"),
        w_v=tensor("w_v"),
        w_o=tensor("w_o"),
        query_reads=tuple(facts["query_reads"]),
        key_reads=tuple(facts["key_reads"]),
        writes=facts["writes"],
        window=facts["window"],
        mlp=mlp,
    )


def _readout(facts: Mapping[str, Any], exact: Tensors, vocabulary: tuple[str, ...]) -> Readout:
    name = facts["tensor"]
    # A read-out named "embedding" is tied: an answer's column is its word's own row.
    matrix = read_only(exact["embedding"].T.copy()) if name == "embedding" else exact[name]
    return Readout(
        matrix=matrix,
        bias=exact.get(f"{name}_bias"),
        answers=vocabulary if facts["answers"] is None else tuple(facts["answers"]),
        reads=tuple(facts["reads"]),
        after=facts["after"],
        at=facts["at"],
    )
