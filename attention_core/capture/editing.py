"""Imports torch. What-ifs inside a real model's pass: what an attention call computes with, changed before it does.

See `attention_core.edits` for what each edit means. Only what acts between q·k and softmax can be changed in a model of
any kind; what is projected (`tie`) and where positions enter (`positions`) differ from architecture to architecture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from attention_core.edits import EMPTY, Edits

FORBIDDEN = -5e3  # Masks are made of −∞, the type's smallest number, −10⁹ or −10⁴; no model's bias comes near.


@dataclass(frozen=True, eq=False)
class Terms:
    """What a call's weights are computed with, beside q and k: softmax(cap(q kᵀ · scale) + bias + mask).

    Attributes:
        mask, bias: (batch, 1 or head, query, key) or None; softcap: c of c · tanh(s / c), or None; sinks: (head,) or
            None.
    """

    scale: float
    mask: Tensor | None = None
    bias: Tensor | None = None
    softcap: float | None = None
    sinks: Tensor | None = None


@dataclass(eq=False)
class Changes:
    """The edits of one pass.

    Attributes:
        edits: what is different; numbers: each call's layer number, in the order of the calls.
    """

    edits: Edits = EMPTY
    numbers: Sequence[int] = ()
    _masks: dict[tuple[int, Edits], tuple[Tensor | None, Tensor | None]] = field(default_factory=dict)

    def terms(self, given: Terms, call: int, n_heads: int, n: int) -> Terms:
        """What the call of that number computes with, where the model gave it `given`."""
        if self.edits.is_empty:
            return given
        layer = self.numbers[call]
        here, heat = self.edits.within(layer), self.edits.within(layer).temperature
        return Terms(
            scale=self.edits.factor(given.scale, layer),
            mask=self._mask(given.mask, layer, here, n_heads, n),
            bias=None if given.bias is None else given.bias / heat,
            softcap=None if given.softcap is None else given.softcap / heat,
            sinks=None if given.sinks is None else given.sinks / heat,
        )

    def _mask(self, mask: Tensor | None, layer: int, here: Edits, n_heads: int, n: int) -> Tensor | None:
        """One for all layers that share a mask and an edit: the model hands the same mask to many."""
        key = id(mask), here
        if key not in self._masks:
            # The model's own stays beside it: as long as it is there, no other tensor has its identity.
            self._masks[key] = mask, _changed(mask, layer, here, n_heads, n)
        return self._masks[key][1]


def _changed(mask: Tensor | None, layer: int, here: Edits, n_heads: int, n: int) -> Tensor | None:
    if here == replace(EMPTY, order=here.order, scale=here.scale, layer=here.layer):
        return mask
    cells = torch.ones((1, n, n), dtype=torch.bool) if mask is None else mask[0, ..., :n].expand(-1, n, n)
    is_added = cells.dtype != torch.bool
    seen = cells > FORBIDDEN if is_added else cells
    by_head = torch.from_numpy(here.apply_to_mask(seen.any(dim=0).numpy(), layer, n_heads))
    # A key that the model shows to some heads stays theirs; one that it shows to none is opened to all.
    open_ = by_head & (seen | ~seen.any(dim=0))
    if bool((open_ == open_[:1]).all()):
        open_ = open_[:1]
    own = torch.where(seen, cells / here.temperature, 0.0) if is_added else torch.zeros(())
    return torch.where(open_, own, -torch.inf)[None]


def without_keys(mask: Tensor | None) -> Tensor | None:
    """(batch, 1 or head, query, 1) True at queries that may see no key at all, or None where there are none."""
    if mask is None or mask.dtype == torch.bool:
        return None
    empty = (mask == -torch.inf).all(dim=-1, keepdim=True)
    return empty if bool(empty.any()) else None
