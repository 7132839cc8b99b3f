"""From files to a model and back: weights checked against their card."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from attention_core.cards import FOLDER, ModelCard, card_from, card_of
from attention_core.errors import UnsupportedModel
from attention_core.readouts import Readout
from attention_core.steps import read_only
from attention_core.taught import Mlp, TaughtLayer, TaughtModel, sinusoids

Tensors = Mapping[str, np.ndarray]
LONGEST = 4096  # Tokens that a model in a file may take.


def load_taught(name: str, folder: Path = FOLDER) -> TaughtModel:
    """The taught model of that name, its weights checked against the card's checksum.

    Raises:
        UnknownModel: no such name in the catalogue.
        UnsupportedModel: the weights are missing or are not those of the card.
    """
    card = card_of(name)
    tensors = load_tensors(_checked(folder / f"{name}.safetensors", card.details["sha256"], name))
    return build(card, {**tensors, **_table(card, folder)})


def to_bytes(card: Mapping[str, Any], tensors: Tensors) -> bytes:
    """One safetensors file with everything: the tensors, and the card as JSON in the metadata."""
    arrays = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    return save_tensors(arrays, {"card": json.dumps(card, ensure_ascii=False)})


def from_bytes(data: bytes) -> TaughtModel:
    """The model in a file that `to_bytes` made.

    Raises:
        UnsupportedModel: it isn't one, or its tensors are not those that its card describes.
    """
    try:
        facts, tensors = json.loads(metadata_of(data)["card"]), load_tensors(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise UnsupportedModel("the file is no model saved by this program (safetensors with a card)") from error
    try:
        facts.pop("stacks", None)  # A real model's; a taught one has a single stack.
        card = card_from(facts)
        if not 1 <= card.max_tokens <= LONGEST:  # Positions are made for each of them.
            raise ValueError(f"max_tokens = {card.max_tokens}")
        model = build(card, tensors)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UnsupportedModel(f"the file's card does not describe a model: {error!r}") from error
    check_tensors(model)
    return model


def metadata_of(data: bytes) -> dict[str, str]:
    """The texts that a safetensors file carries beside its tensors.

    Raises:
        ValueError: it is no safetensors file.
    """
    length = int.from_bytes(data[:8], "little")  # The header's length, the header as JSON, then the tensors' bytes.
    if not 0 < length <= len(data) - 8:
        raise ValueError("no header")
    return dict(json.loads(data[8 : 8 + length]).get("__metadata__", {}))


def build(card: ModelCard, tensors: Tensors) -> TaughtModel:
    """A model from its card and tensors (`embedding`, `layers.{l}.w_q` …, one per read-out), in float64."""
    exact = {name: read_only(tensor.astype(np.float64)) for name, tensor in tensors.items()}
    if "embedding_q8" in exact:
        # Stored in a byte per number and one factor per column.
        exact["embedding"] = read_only(exact["embedding_q8"] * exact["embedding_scale"])
    details = card.details
    return TaughtModel(
        card=card,
        embedding=exact["embedding"],
        positions=_positions(card, exact),
        layers=tuple(_layer(index, facts, exact) for index, facts in enumerate(details["layers"])),
        readouts=tuple(_readout(facts, exact, tuple(details["vocabulary"])) for facts in details["readouts"]),
    )


def check_tensors(model: TaughtModel) -> None:
    """Hold every array against the sizes on the card.

    Raises:
        UnsupportedModel: one has another shape, or a number in it is not finite.
    """
    card = model.card
    wide, square = card.d_model, (card.n_heads, card.d_model, card.d_head)
    expected: list[tuple[str, np.ndarray, tuple[int, ...]]] = [
        ("embedding", model.embedding, (len(card.details["vocabulary"]), wide))
    ]
    if model.positions is not None:
        expected.append(("positions", model.positions, (card.max_tokens, wide)))
    for index, layer in enumerate(model.layers):
        expected += [(f"layers.{index}.{name}", getattr(layer, name), square) for name in ("w_q", "w_k", "w_v")]
        expected.append((f"layers.{index}.w_o", layer.w_o, (card.n_heads, card.d_head, wide)))
    expected += [("read-out", readout.matrix, (wide, len(readout.answers))) for readout in model.readouts]
    for name, array, shape in expected:
        if array.shape != shape:
            raise UnsupportedModel(f"{name} has the shape {array.shape}, its card says {shape}")
        if not np.isfinite(array).all():
            raise UnsupportedModel(f"{name} holds a number that is not finite")
    if len(model.layers) != card.n_layers:
        raise UnsupportedModel(f"the card names {card.n_layers} layers and describes {len(model.layers)}")


def _checked(path: Path, sha256: str, name: str) -> bytes:
    if not path.is_file():
        raise UnsupportedModel(f"the weights of {name!r} are missing: reinstall, or retrain it")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise UnsupportedModel(f"the weights of {name!r} are not those of its card: reinstall, or retrain it")
    return data


def _table(card: ModelCard, folder: Path) -> Tensors:
    """Word vectors that several models share stand in a file of their own."""
    table = card.details.get("table")
    return {} if table is None else load_tensors(_checked(folder / table["file"], table["sha256"], card.name))


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
