"""Imports torch. From the calls of one pass to layers: tensors become read-only float32 arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.capture.editing import FORBIDDEN
from attention_core.capture.later import Single
from attention_core.capture.projections import UNKNOWN_FORM, matrix_of, projections_of
from attention_core.capture.recorder import Call
from attention_core.errors import UnsupportedModel
from attention_core.steps import read_only
from attention_core.trace import LayerTrace

CROSS = re.compile(r"encoder_attn|encdecattention|cross_?att", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Kept:
    """What the model itself computed in one layer, for the check.

    Attributes:
        rows: (row,) which queries; output: (row, head, d_v) weights · v.
        o_in, written: (row, head · d_v), (row, d_model) into and out of the output projection, or None.
        q_made, k_made: (row, head, d_head) out of the projections of q and of k, or None.
    """

    rows: np.ndarray
    output: np.ndarray
    o_in: np.ndarray | None
    written: np.ndarray | None
    q_made: np.ndarray | None = None
    k_made: np.ndarray | None = None


def to_layers(calls: Sequence[Call], kinds: Sequence[str], numbers: Sequence[int]) -> tuple[LayerTrace, ...]:
    """One layer per call.

    Raises:
        UnsupportedModel: a call's heads do not look at one sequence.
    """
    masks = Masks()
    return tuple(_layer(*one, masks) for one in zip(calls, kinds, numbers, strict=True))


def kinds_of(names: Sequence[str], is_encoder_decoder: bool) -> list[str]:
    """Which stack each call belongs to, by its module's name and never by shapes."""
    if not is_encoder_decoder:
        return ["self"] * len(names)
    stacks = ["decoder" if "decoder" in name.split(".") else "encoder" for name in names]
    return ["cross" if CROSS.search(name) else stack for name, stack in zip(names, stacks, strict=True)]


def numbers_of(names: Sequence[str], kinds: Sequence[str]) -> list[int]:
    """Each layer's number in the model: the first number in its module's name, or its turn where several share it."""
    own = [re.search(r"\.(\d+)(?=\.|$)", f".{name}") for name in names]
    numbers = [-1 if found is None else int(found[1]) for found in own]
    for kind in set(kinds):
        places = [i for i, other in enumerate(kinds) if other == kind]
        taken = [numbers[i] for i in places]
        if -1 in taken or len(set(taken)) < len(taken):  # A shared layer runs again and again under one name.
            for turn, i in enumerate(places):
                numbers[i] = turn
    return numbers


def kept(call: Call) -> Kept:
    """The call's own results as arrays."""
    o_in, written = (None if tensor is None else array(tensor) for tensor in (call.o_in, call.written))
    known = projections_of(call.module)
    if known is None or known.qkv is None or call.q_made is None or call.k_made is None:
        return Kept(call.rows, array(call.output), o_in, written)
    q, k, _ = known.qkv
    made = array(q.split(call.q_made)), array(k.split(call.k_made))
    return Kept(call.rows, array(call.output), o_in, written, *made)


def array(tensor: Tensor) -> np.ndarray:
    """The tensor's numbers in float32, read-only; a view where they are that already."""
    return read_only(tensor.detach().to(torch.float32).numpy()[...])


def matrix(tensor: Tensor) -> np.ndarray:
    """The model's weights as an array of float32, or what stands for one where they are of half the width."""
    return array(tensor) if tensor.dtype == torch.float32 else cast(np.ndarray, Single(tensor))


class Masks:
    """Masks as arrays; one that several layers share is converted once."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, int, int], tuple[Tensor, Split]] = {}

    def split(self, mask: Tensor | None, n: int, m: int) -> Split:
        """What the mask says about n queries and m keys."""
        key = (0 if mask is None else mask.data_ptr(), n, m)
        if key not in self._made:
            # The tensor is kept beside its arrays: its address stays its own.
            self._made[key] = torch.empty(0) if mask is None else mask, _split(mask, n, m)
        return self._made[key][1]


@dataclass(frozen=True, eq=False)
class Split:
    """A mask in its parts.

    Attributes:
        allowed: (n, m) where any head may see a key; hidden: (head, n, m) where one may not see what another may, or
            None; added: (1 or head, n, m) what the mask adds to the scores where keys may be seen, or None.
    """

    allowed: np.ndarray
    hidden: np.ndarray | None = None
    added: np.ndarray | None = None


def _split(mask: Tensor | None, n: int, m: int) -> Split:
    if mask is None:
        return Split(read_only(np.ones((n, m), dtype=bool)))
    cells = mask[0] if mask.ndim == 4 else mask
    cells = cells.reshape(-1, *cells.shape[-2:]).expand(-1, n, m)
    is_bool = cells.dtype == torch.bool
    seen = cells if is_bool else cells > FORBIDDEN
    allowed = seen.any(dim=0)
    hidden = allowed & ~seen
    added = torch.zeros(()) if is_bool else torch.where(seen, cells, 0).float()
    return Split(
        read_only(allowed.numpy().copy()),
        read_only(hidden.numpy()) if bool(hidden.any()) else None,
        array(added) if bool(added.any()) else None,
    )


def _layer(call: Call, kind: str, number: int, masks: Masks) -> LayerTrace:
    if call.q.ndim != 4 or len(call.q) != 1:
        raise UnsupportedModel("its heads look at several windows apart, not at one sequence")
    (_, n_heads, n, _), m = call.q.shape, call.k.shape[2]
    if n_heads % call.k.shape[1]:
        raise UnsupportedModel(f"its {n_heads} heads do not divide among {call.k.shape[1]} key heads")
    mask = masks.split(call.mask, n, m)
    bias = mask.added
    if call.bias is not None and call.bias_rows is None:
        own = array(call.bias)[0]
        bias = own if bias is None else own + bias
    return LayerTrace(
        index=number,
        kind=kind,
        q=array(call.q[0]),
        k=array(call.k[0]),
        v=array(call.v[0]),
        scale=call.scale,
        allowed=mask.allowed,
        hidden=mask.hidden,
        bias=None if bias is None else read_only(np.broadcast_to(bias[..., :m], (n_heads, n, m))),
        softcap=call.softcap,
        sinks=None if call.sinks is None else array(call.sinks.reshape(-1)),
        **_matrices(call),
    )


def _matrices(call: Call) -> Mapping[str, Any]:
    known = projections_of(call.module)
    found: dict[str, Any] = {} if known is None or known.o is None else _outer(known.o, call.q.shape[1])
    if known is None or known.qkv is None or call.x is None or call.x_key is None:
        return {**found, "reason": UNKNOWN_FORM}
    found |= {"x": _tokens(call.x), "is_turned": known.is_turned}
    found["x_key"] = found["x"] if call.x_key is call.x else _tokens(call.x_key)
    for name, projection in zip("qkv", known.qkv, strict=True):
        w, b = projection.matrices()
        found |= {f"w_{name}": matrix(w), f"b_{name}": None if b is None else array(b)}
    return found


def _outer(linear: nn.Module, n_heads: int) -> dict[str, Any]:
    w, b = matrix_of(linear)
    return {"w_o": matrix(w.reshape(n_heads, -1, w.shape[1])), "b_o": None if b is None else array(b)}


def _tokens(x: Tensor) -> np.ndarray:
    return array(x[0] if x.ndim == 3 else x)
