"""Imports torch. A network that looks at pictures: one token for every patch, and some that stand for none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from torch import Tensor
from transformers import PreTrainedModel

from attention_core.capture.described import card_of
from attention_core.capture.engine import Engine, prepare
from attention_core.capture.layers import Kept
from attention_core.capture.pictures import Eye
from attention_core.capture.verifying import verify
from attention_core.cards import ModelCard, Words
from attention_core.edits import EMPTY, Edits
from attention_core.errors import TraceMismatch, UnsupportedModel
from attention_core.tokens import Token
from attention_core.trace import Trace, Verification

MOST_PATCHES = 4096
# Learned vectors that stand before the patches, by their parameter's name, in the order in which they stand.
LEARNED = {
    "cls_token": "[CLS]",
    "class_embedding": "[CLS]",
    "distillation_token": "[DIST]",
    "register_tokens": "[REG]",
}
READS_PICTURES = "this model reads pictures: give it one"


@dataclass(frozen=True, eq=False)
class ImageModel:
    """A vision transformer, ready to trace. A value: threads may trace at once.

    Attributes:
        card: what is known about it; engine: the network, its attention recorded; eye: what prepares its pictures.
        before, after: the tokens that stand before and after the patches.
        patch: (height, width) of a patch in pixels.
    """

    card: ModelCard
    engine: Engine
    eye: Eye
    before: tuple[Token, ...]
    after: tuple[Token, ...]
    patch: tuple[int, int]

    @property
    def n_bytes(self) -> int:
        """What its network takes in memory: parameters and buffers."""
        net = self.engine.net
        return sum(tensor.nbytes for tensors in (net.parameters(), net.buffers()) for tensor in tensors)

    def trace_image(self, image: bytes | np.ndarray) -> Trace:
        """Run the model on a picture and keep every factor of its attention.

        Args:
            image: a PNG's or JPEG's bytes, or (height, width, 3) uint8.

        Raises:
            UnfitPicture: it is no such picture, or too large.
            UnsupportedModel: it has more patches than the model takes.
            TraceMismatch: what would be shown is not what the model computed.
        """
        picture, fed = self.eye.read(image)
        rows, columns = grid = grid_of(picture, self.patch)
        inputs = {"pixel_values": fed.to(self.engine.net.dtype)}
        try:
            seen = self.engine.run(inputs)
        except (ValueError, RuntimeError) as error:  # Most networks take pictures of one size only.
            said = f"the model does not take a picture of {rows} × {columns} patches: {error}"
            raise UnsupportedModel(said) from error
        patches = (Token(f"r{i}c{j}", -1, 0, 0) for i in range(rows) for j in range(columns))
        trace = Trace(
            text="",
            tokens=(*self.before, *patches, *self.after),
            card=self.card,
            method=self.engine.method,
            layers=seen.layers,
            predictions=None,
            verify=partial(self._verify, inputs, seen.kept),
            image=picture,
            grid=grid,
        )
        verification = trace.check()
        if not verification.passed:
            raise TraceMismatch(verification.layer, verification.largest_difference)
        return trace

    def trace(self, text: str, pair: str | None = None, target: str | None = None, edits: Edits = EMPTY) -> Trace:
        """There is no text that it could read.

        Raises:
            UnsupportedModel: always.
        """
        raise UnsupportedModel(READS_PICTURES)

    def tokenize(self, text: str, pair: str | None = None) -> tuple[Token, ...]:
        """As `trace`."""
        raise UnsupportedModel(READS_PICTURES)

    def _verify(self, inputs: Mapping[str, Tensor], own: Sequence[Kept], trace: Trace, full: bool) -> Verification:
        kept = self.engine.run(inputs, full=True).kept if full else own
        found = verify(trace.layers, kept, self.engine.tolerance, self.engine.dtype)
        fits = len(trace.tokens) == trace.layers[0].allowed.shape[0]
        return found if fits else replace(found, largest_difference=float("inf"))


def make_seeing(net: PreTrainedModel, eye: Eye, name: str, source: Words | str, licence: str = "") -> ImageModel:
    """The model of this network and what prepares its pictures, proven on a random one.

    Which token is which patch is found out by changing patches, one at a time: only that token's key may change.

    Raises:
        UnsupportedModel: its tokens are not its patches in order, or it has no attention matrices that can be shown.
        TraceMismatch: what is recorded differs from its eager attention.
    """
    noise = np.random.default_rng(0).integers(0, 256, (311, 313, 3), dtype=np.uint8)
    picture, fed = eye.read(noise)
    patch = _patch_of(net)
    rows, columns = grid_of(picture, patch)
    probe = fed.to(net.dtype)
    engine = prepare(net, {"pixel_values": probe})
    layers = engine.run({"pixel_values": probe}).layers
    n = layers[0].allowed.shape[0]
    first = _token_of(engine, probe, patch, (0, 0))
    for i, j in ((0, columns - 1), (rows - 1, 0), (rows // 2, columns // 2), (rows - 1, columns - 1)):
        if _token_of(engine, probe, patch, (i, j)) != first + i * columns + j:
            raise UnsupportedModel("the tokens of this model are not the patches of the picture, row by row")
    card = card_of(engine, cast(Any, _Limit(n)), {"self": layers}, name, source, licence)
    card = replace(card, details=MappingProxyType({**card.details, "tokenizer": "patches"}))
    names = [*_learned(net), *(f"[{i}]" for i in range(n))]
    before = _special(names[:first])
    return ImageModel(card, engine, eye, before, _special(names[first : n - rows * columns]), patch)


@dataclass(frozen=True)
class _Limit:
    n: int

    def limit(self) -> int:
        return self.n


def grid_of(picture: np.ndarray, patch: tuple[int, int]) -> tuple[int, int]:
    """(rows, columns) of patches.

    Raises:
        UnsupportedModel: there are none, or too many.
    """
    rows, columns = picture.shape[0] // patch[0], picture.shape[1] // patch[1]
    if not 0 < rows * columns <= MOST_PATCHES:
        raise UnsupportedModel(f"the picture has {rows} × {columns} patches: at most {MOST_PATCHES} are shown")
    return rows, columns


def _patch_of(net: PreTrainedModel) -> tuple[int, int]:
    size = getattr(net.config, "patch_size", None)
    sides = tuple(size) if isinstance(size, list | tuple) else (size, size)
    if len(sides) != 2 or not all(isinstance(side, int) and side > 0 for side in sides):
        raise UnsupportedModel("this model does not say into which patches it cuts a picture")
    return sides[0], sides[1]


def _token_of(engine: Engine, probe: Tensor, patch: tuple[int, int], place: tuple[int, int]) -> int:
    """The only token whose key in the first layer changes with this patch; −1 where there is no such one."""
    changed = probe.clone()
    (high, wide), (i, j) = patch, place
    changed[..., i * high : (i + 1) * high, j * wide : (j + 1) * wide] *= -1
    one, other = (engine.run({"pixel_values": pixels}).layers[0] for pixels in (probe, changed))
    if one.k is None or other.k is None or one.k.shape != other.k.shape:
        return -1
    away = np.abs(one.k - other.k).max(axis=(0, 2))
    found = int(away.argmax())
    return found if (np.delete(away, found) <= 1e-3 * away[found]).all() and away[found] > 0 else -1


def _learned(net: PreTrainedModel) -> list[str]:
    """What stands beside the patches, as the network names it."""
    found = {name.rpartition(".")[2]: p for name, p in net.named_parameters()}
    sizes = {name: 1 if p.ndim == 1 else p.shape[1] for name, p in found.items() if name in LEARNED}
    return [
        text if sizes[name] == 1 else f"{text[:-1]}{i}]"
        for name, text in LEARNED.items()
        if name in sizes
        for i in range(sizes[name])
    ]


def _special(names: Sequence[str]) -> tuple[Token, ...]:
    return tuple(Token(name, -1, 0, 0, is_special=True) for name in names)
