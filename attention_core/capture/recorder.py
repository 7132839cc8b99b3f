"""Imports torch. What one forward pass leaves behind, noted while the model runs.

A recorder stands in a ContextVar, so that threads which trace at once never see each other's.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from weakref import ref

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.capture.editing import Changes
from attention_core.steps import read_only

N_ROWS = 8  # Query rows of each layer's output that are kept for the check, unless all are asked for.
COPIED = ("q", "k", "v", "output", "x", "x_key", "q_made", "k_made")


@dataclass(eq=False)
class Call:
    """One attention computation of one module, first item of the batch; copies in float32, once the pass is over.

    Attributes:
        module: who computed it.
        q: (batch, head, query, d_head), k: (batch, kv_head, key, d_head), v: (batch, kv_head, key, d_v).
        mask, bias: what was added to the scaled scores, or None; a mask's large negative cells forbid.
        bias_rows: the query rows of the bias, or None where it has all of them.
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
    bias_rows: np.ndarray | None = None
    x: Tensor | None = None
    x_key: Tensor | None = None
    q_made: Tensor | None = None
    k_made: Tensor | None = None
    o_in: Tensor | None = None
    written: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Copy:
    """A tensor's numbers in float32, in memory of their own.

    Nothing of it lies on the heap: what stays of each layer there, be it a tensor's few bytes of description, would
    stand between the large tensors that come and go, the next layer's would not fit into the holes, and the process
    would grow to twice of what it holds.
    """

    memory: mmap.mmap
    start: int
    shape: tuple[int, ...]

    @property
    def tensor(self) -> Tensor:
        n = math.prod(self.shape)
        if not n:
            return torch.empty(self.shape)
        return torch.frombuffer(self.memory, dtype=torch.float32, count=n, offset=4 * self.start).view(self.shape)


def copied(tensors: Sequence[Tensor]) -> list[Copy]:
    """Copies of these tensors, side by side."""
    starts = [0, *accumulate(one.numel() for one in tensors)]
    memory = mmap.mmap(-1, max(4 * starts[-1], 1))
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)  # A page at a time, asking for the memory takes longer than filling it.
    copies = [Copy(memory, start, tuple(one.shape)) for start, one in zip(starts, tensors, strict=False)]
    for copy, one in zip(copies, tensors, strict=True):
        copy.tensor.copy_(one)
    return copies


@dataclass(eq=False)
class Recorder:
    """What is noted during one pass.

    Attributes:
        full: keep every row of the outputs, not eight.
        whole: the numbers of the calls whose bias is worked out for every row where that takes n² steps, not for eight.
        changes: what is different in this pass.
        calls: in the order in which they happened.
        latest: what each known projection has read and given and no call has taken yet, by the projection's identity.
        modules: the attention modules that are running, innermost last.
        ids: the token ids that entered an embedding table, in order.
    """

    full: bool = False
    whole: Container[int] = ()
    changes: Changes = field(default_factory=Changes)
    calls: list[Call] = field(default_factory=list)
    latest: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)
    modules: list[nn.Module] = field(default_factory=list)
    ids: list[Tensor] = field(default_factory=list)
    _notes: list[dict[str, Copy]] = field(default_factory=list)
    _seen: dict[int, tuple[ref[Tensor], int, Copy]] = field(default_factory=dict)

    def rows(self, n: int) -> np.ndarray:
        """Which of n query rows are kept for the check."""
        return np.arange(n) if self.full else few(n)

    def add(self, call: Call) -> None:
        """Note a call; its tensors are copied now and let go."""
        self.calls.append(call)
        self._notes.append({})
        self.note(**{name: getattr(call, name) for name in COPIED})
        for name in COPIED:
            setattr(call, name, None)

    def note(self, **tensors: Tensor | None) -> None:
        """Copy more of the last call's tensors, by their names; one copy for a tensor that several calls read."""
        given = {name: one for name, one in tensors.items() if one is not None}
        new = {id(one): one for one in given.values() if not self._has(one)}
        for one, copy in zip(new.values(), copied(list(new.values())), strict=True):
            self._seen[id(one)] = ref(one), one._version, copy
        self._notes[-1] |= {name: self._seen[id(one)][2] for name, one in given.items()}

    def finish(self) -> None:
        """The pass is over: the calls get their copies."""
        tensors = {id(copy): copy.tensor for notes in self._notes for copy in notes.values()}
        for call, notes in zip(self.calls, self._notes, strict=True):
            for name, copy in notes.items():
                setattr(call, name, tensors[id(copy)])
        self._seen.clear()

    def _has(self, tensor: Tensor) -> bool:
        # An address is used again after its tensor has gone, and a tensor may be written to.
        original, version, _ = self._seen.get(id(tensor), (lambda: None, 0, None))
        return original() is tensor and version == tensor._version


@lru_cache(64)
def few(n: int) -> np.ndarray:
    """Eight of n rows, first and last among them."""
    return read_only(np.unique(np.linspace(0, n - 1, N_ROWS).round().astype(int)))


_CURRENT: ContextVar[Recorder | None] = ContextVar("attention_recorder", default=None)


def current() -> Recorder | None:
    """The recorder of this thread's pass, or None outside of one."""
    return _CURRENT.get()


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Note into `recorder` whatever this thread's models compute inside the block; afterwards its calls are whole."""
    token = _CURRENT.set(recorder)
    try:
        yield recorder
    finally:
        _CURRENT.reset(token)
        recorder.finish()


def rows_of(tensor: Tensor, rows: np.ndarray) -> Tensor:
    """(row, …) those rows of a (batch, query, …) tensor's first item."""
    return tensor[0].index_select(0, torch.tensor(rows))
