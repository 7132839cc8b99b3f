"""Frames of a training as bytes, to send from the process that trains to the one that shows. No torch in here.

The bytes are a safetensors file: arrays `looks.{scene}.{layer}`, `matrices.{name}` and, in the last frame,
`tensors.{name}`; everything else stands as JSON in its metadata.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
from safetensors.numpy import load, save

from attention_core.loading import metadata_of
from attention_core.teach.runs import Frame, Looks

FACTS = ("step", "n_steps", "loss", "learning_rate", "seconds", "held_out", "pattern")


def to_bytes(frame: Frame) -> bytes:
    """The frame with all its arrays."""
    arrays = {f"looks.{s}.{layer}": each for s, looks in enumerate(frame.looks) for layer, each in enumerate(looks)}
    arrays |= {f"matrices.{name}": each for name, each in frame.matrices.items()}
    arrays |= {f"tensors.{name}": each for name, each in (frame.tensors or {}).items()}
    facts = {name: getattr(frame, name) for name in FACTS} | {"is_last": frame.is_last}
    return save({name: np.ascontiguousarray(each) for name, each in arrays.items()}, {"frame": json.dumps(facts)})


def from_bytes(data: bytes) -> Frame:
    """The frame that `to_bytes` gave."""
    arrays, facts = load(data), json.loads(metadata_of(data)["frame"])
    is_last = facts.pop("is_last")
    return Frame(
        **facts,
        looks=_looks(arrays),
        matrices=_under("matrices.", arrays),
        tensors=_under("tensors.", arrays) if is_last else None,
    )


def _under(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): each for name, each in sorted(arrays.items()) if name.startswith(prefix)}


def _looks(arrays: Mapping[str, np.ndarray]) -> tuple[Looks, ...]:
    places = sorted(tuple(map(int, name.split(".")[1:])) for name in arrays if name.startswith("looks."))
    scenes = [[arrays[f"looks.{s}.{layer}"] for at, layer in places if at == s] for s in sorted({s for s, _ in places})]
    return tuple(map(tuple, scenes))
