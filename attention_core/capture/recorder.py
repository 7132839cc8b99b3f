"""Imports torch. What one forward pass leaves behind, noted while the model runs.

A recorder stands in a ContextVar, so that threads which trace at once never see each other's. What it keeps are
references to the model's own tensors; they become arrays when the pass is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

N_ROWS = 8  # Query rows of each layer's output that are kept for the check, unless all are asked for.


@dataclass(eq=False)
class Call:
    """One attention computation of one module, first item of the batch.

    Attributes:
        module: who computed it.
        q: (batch, head, query, d_head), k: (batch, kv_head, key, d_head), v: (batch, kv_head, key, d_v).
        mask, bias: what was added to the scaled scores, or None; a mask's large negative cells forbid.
        scale, softcap, sinks: as the model gave them.
        rows: the query rows kept below; output: (row, head, d_v) weights · v by the model.
        x, x_key: (batch, token, d_in) what the projections of q and of k read, where known.
        q_made, k_made: (row, column) what these projections gave, before the model turned it.
        o_in, written: (row, head · d_v) what entered the output projection and (row, d_model) what left it.
    """

    module: nn.Module
    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor | None
    bias: Tensor | None
    scale: float
    softcap: float | None
    sinks: Tensor | None
    rows: np.ndarray
    output: Tensor
    x: Tensor | None = None
    x_key: Tensor | None = None
    q_made: Tensor | None = None
    k_made: Tensor | None = None
    o_in: Tensor | None = None
    written: Tensor | None = None


@dataclass(eq=False)
class Recorder:
    """What is noted during one pass.

    Attributes:
        full: keep every row of the outputs, not eight.
        calls: in the order in which they happened.
        latest: what each known projection has read and given and no call has taken yet, by the projection's identity.
        modules: the attention modules that are running, innermost last.
        ids: the token ids that entered an embedding table, in order.
    """

    full: bool = False
    calls: list[Call] = field(default_factory=list)
    latest: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)
    modules: list[nn.Module] = field(default_factory=list)
    ids: list[Tensor] = field(default_factory=list)

    def rows(self, n: int) -> np.ndarray:
        """Which of n query rows are kept for the check."""
        return np.arange(n) if self.full else np.unique(np.linspace(0, n - 1, N_ROWS).round().astype(int))


_CURRENT: ContextVar[Recorder | None] = ContextVar("attention_recorder", default=None)


def current() -> Recorder | None:
    """The recorder of this thread's pass, or None outside of one."""
    return _CURRENT.get()


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Note into `recorder` whatever this thread's models compute inside the block."""
    token = _CURRENT.set(recorder)
    try:
        yield recorder
    finally:
        _CURRENT.reset(token)


def rows_of(tensor: Tensor, rows: np.ndarray) -> Tensor:
    """(row, …) a copy of those rows of a (batch, query, …) tensor's first item."""
    return tensor[0].index_select(0, torch.from_numpy(rows))
