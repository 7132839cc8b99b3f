"""Imports torch. Which matrices make q, k and v of what, and which one the heads' outputs go through.

Found by their numbers, not by trust in names: in a probe run, the layer whose output *is* v is W_V's, the one whose
input *is* the heads' outputs is W_O's. q and k are found the same way; where the model rotates or norms them after the
projection, by their name beside a proven v.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from attention_core.capture.recorder import Call, Recorder, current, rows_of

Seen = Mapping[str, tuple[nn.Module, Tensor, Tensor]]  # By name: the linear layer, what it read, what it gave.
UNKNOWN_FORM = "the module does not make q of one input, and k and v of one, by matrices of a known form"


@dataclass(frozen=True, eq=False)
class Projection:
    """The columns of a linear layer that belong to one of q, k, v.

    Attributes:
        linear: the layer; n_heads, width: into how many heads of which width its columns are split.
        offset: the first column, where q, k and v stand in blocks one after the other.
        part: 0, 1, 2 where each head's q, k and v stand side by side, or None.
    """

    linear: nn.Module
    n_heads: int
    width: int
    offset: int = 0
    part: int | None = None

    def split(self, columns: Tensor) -> Tensor:
        """(…, column) → (…, head, width), a view."""
        if self.part is not None:
            return columns.reshape(*columns.shape[:-1], self.n_heads, 3, self.width)[..., self.part, :]
        block = columns[..., self.offset : self.offset + self.n_heads * self.width]
        return block.reshape(*columns.shape[:-1], self.n_heads, self.width)

    def matrices(self) -> tuple[Tensor, Tensor | None]:
        """(head, d_in, width) and (head, width) or None; views of the model's own weights."""
        weight, bias = matrix_of(self.linear)
        return self.split(weight).movedim(1, 0), None if bias is None else self.split(bias)

    def makes(self, output: Tensor, wanted: Tensor) -> bool:
        """Whether the layer's (batch, token, column) output holds the (batch, head, token, width) wanted."""
        if output.ndim != 3 or output.shape[1] != wanted.shape[2]:
            return False
        found = self.split(output[0].float()).movedim(1, 0)
        return torch.allclose(found, wanted[0].float(), rtol=1e-4, atol=1e-6)


@dataclass(frozen=True, eq=False)
class Projections:
    """One attention module's matrices.

    Attributes:
        qkv: those of q, k and v, or None where they have no known form; o: the output projection, or None.
        is_turned: q and k are changed between the projection and the product.
    """

    qkv: tuple[Projection, Projection, Projection] | None
    o: nn.Module | None
    is_turned: bool


def matrix_of(linear: Any) -> tuple[Tensor, Tensor | None]:
    """(d_in, d_out) and (d_out,) or None; views of the model's own weights."""
    weight, bias = linear.weight.detach(), linear.bias
    return weight if isinstance(linear, Conv1D) else weight.T, None if bias is None else bias.detach()


@contextmanager
def watching_linears(net: nn.Module) -> Iterator[dict[str, tuple[nn.Module, Tensor, Tensor]]]:
    """What every linear layer reads and gives the first time it runs inside the block, by the layer's name."""
    seen: dict[str, tuple[nn.Module, Tensor, Tensor]] = {}
    handles = []
    for name, module in net.named_modules():
        if isinstance(module, nn.Linear | Conv1D):

            def note(layer: nn.Module, args: tuple[Tensor, ...], output: Tensor, name: str = name) -> None:
                if args:
                    seen.setdefault(name, (layer, args[0], output))

            handles.append(module.register_forward_hook(note))
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def find(name: str, call: Call, seen: Seen) -> Projections:
    """The matrices of the attention module of that name."""
    parent = name.rpartition(".")[0]
    near = {n: found for n, found in seen.items() if n.startswith(f"{parent}." if parent else "")}
    own = {n.removeprefix(f"{name}."): found for n, found in near.items() if n.startswith(f"{name}.")}
    made = _separate(call, near, own) or _fused(call, near)
    read = {id(layer): (given, output) for layer, given, output in near.values()}
    if made is None or not _is_one(read[id(made[1].linear)][0], read[id(made[2].linear)][0]):
        return Projections(None, _output_projection(call, near), False)
    pairs = zip(made[:2], (call.q, call.k), strict=True)
    turned = not all(one.makes(read[id(one.linear)][1], wanted) for one, wanted in pairs)
    return Projections(made, _output_projection(call, near), turned)


def _is_one(first: Tensor, second: Tensor) -> bool:
    return first.data_ptr() == second.data_ptr() and first.shape == second.shape


def _separate(call: Call, near: Seen, own: Seen) -> tuple[Projection, Projection, Projection] | None:
    found = []
    for letter, wanted in (("q", call.q), ("k", call.k), ("v", call.v)):
        candidates = [
            (Projection(layer, wanted.shape[1], wanted.shape[3]), name, output)
            for name, (layer, _, output) in {**near, **own}.items()
            if output.shape[-1] == wanted.shape[1] * wanted.shape[3]
        ]
        exact = [one for one, _, output in candidates if one.makes(output, wanted)]
        named = [one for one, name, _ in candidates if name in own and _last(name).startswith(letter)]
        chosen = exact or ([] if letter == "v" else named)
        if not chosen:
            return None
        found.append(chosen[0])
    return found[0], found[1], found[2]


def _fused(call: Call, near: Seen) -> tuple[Projection, Projection, Projection] | None:
    shapes = [(tensor.shape[1], tensor.shape[3]) for tensor in (call.q, call.k, call.v)]
    sizes = [heads * width for heads, width in shapes]
    for layer, _, output in near.values():
        if output.shape[-1] != sum(sizes):
            continue
        offsets = (0, sizes[0], sizes[0] + sizes[1])
        blocks = [Projection(layer, *shape, offset=offset) for shape, offset in zip(shapes, offsets, strict=True)]
        layouts = [blocks]
        if len(set(shapes)) == 1:
            layouts.append([Projection(layer, *shapes[0], part=part) for part in range(3)])
        for q, k, v in layouts:
            if v.makes(output, call.v):
                return q, k, v
    return None


def _output_projection(call: Call, near: Seen) -> nn.Module | None:
    heads = call.output.flatten(1)  # Every row was kept for the probe.
    for layer, read, _ in near.values():
        if read.ndim != 3 or read[0].shape != heads.shape:
            continue
        if torch.allclose(read[0].float(), heads, rtol=1e-4, atol=1e-6):
            return layer
    return None


def _last(name: str) -> str:
    return name.rpartition(".")[2].lower()


def hook(module: nn.Module, projections: Projections) -> None:
    """From now on, note into this thread's recorder what these matrices read, and what the last one gives."""
    object.__setattr__(module, "_kept_projections", projections)
    for one in {id(p.linear): p.linear for p in (projections.qkv or ())[:2]}.values():
        one.register_forward_hook(_note_projection)
    if projections.o is not None:
        projections.o.register_forward_hook(_note_output)


def _note_projection(linear: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
    recorder = current()
    if recorder is not None:
        recorder.latest[id(linear)] = args[0], output


def _note_output(linear: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
    recorder = current()
    call = recorder.calls[-1] if recorder is not None and recorder.calls else None
    known = None if call is None else projections_of(call.module)
    if recorder is not None and call is not None and known is not None and known.o is linear:
        recorder.note(o_in=rows_of(args[0], call.rows), written=rows_of(output, call.rows))


def projections_of(module: nn.Module) -> Projections | None:
    """The module's matrices, where `hook` was called for it."""
    return getattr(module, "_kept_projections", None)


def with_inputs(call: Call, recorder: Recorder) -> Call:
    """The call with what its projections read just before it."""
    projections = projections_of(call.module)
    if projections is not None and projections.qkv is not None:
        q, k = (recorder.latest.get(id(one.linear)) for one in projections.qkv[:2])
        if q is not None and k is not None:
            call.x, call.x_key = q[0], k[0]
            call.q_made = rows_of(q[1], call.rows)
            call.k_made = rows_of(k[1], call.rows[call.rows < k[1].shape[1]])
        recorder.latest.clear()
    return call
