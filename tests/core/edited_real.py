"""Attention of real networks written anew, cell by cell and with edits: what traces of real models are held against."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

import attention_core as ac


class Plain:
    """Attention as the library's own eager function computes it, with edits; what it made is kept by call."""

    def __init__(self, edits: ac.Edits, numbers: tuple[int, ...]) -> None:
        self.edits, self.numbers = edits, numbers
        self.weights: list[np.ndarray] = []

    def attend(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None,
        scaling: float | None = None,
        softcap: float | None = None,
        position_bias: Tensor | None = None,
        s_aux: Tensor | None = None,
        sinks: Tensor | None = None,
        **_: Any,
    ) -> tuple[Tensor, None]:
        layer = self.numbers[len(self.weights)]
        is_here = self.edits.layer in (None, layer)
        key, value = (one.repeat_interleave(query.shape[1] // one.shape[1], dim=1) for one in (key, value))
        scores = query @ key.transpose(-1, -2)
        if self.edits.scale or not is_here:
            scores = scores * (1 / math.sqrt(query.shape[-1]) if scaling is None else scaling)
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        if position_bias is not None:
            scores = scores + position_bias
        sink = s_aux if sinks is None else sinks
        if sink is not None:
            scores = torch.cat([scores, sink.reshape(1, -1, 1, 1).expand(1, -1, scores.shape[2], 1)], dim=-1)
        logits = scores[0] / (self.edits.temperature if is_here else 1)
        n = query.shape[2]
        for h, q, k in [(h, q, k) for h in range(len(logits)) for q in range(n) for k in range(n)]:
            if not self.may_see(attention_mask, layer, h, q, k, is_here):
                logits[h, q, k] = -torch.inf
        weights = torch.nan_to_num(logits.softmax(-1), 0.0)[..., :n]
        self.weights.append(weights.numpy())
        return (weights[None] @ value).transpose(1, 2).contiguous(), None

    def may_see(self, mask: Tensor | None, layer: int, h: int, q: int, k: int, is_here: bool) -> bool:
        def in_model(one: int, other: int) -> bool:
            if mask is None:
                return True
            cell = mask[0, h % mask.shape[1], one, other]
            return bool(cell if mask.dtype == torch.bool else cell > -1e4)

        sees = in_model(q, k)
        if self.edits.causal is not None and is_here:
            sees = (sees and k <= q) if self.edits.causal else (sees or in_model(k, q))
        asker, answerer = (place if self.edits.order is None else self.edits.order[place] for place in (q, k))
        if is_here and answerer in self.edits.silenced and asker != answerer:
            return False
        return sees and not {(layer, h, asker, answerer), (layer, None, asker, answerer)} & self.edits.cut


@contextmanager
def written_anew(net: Any, plain: Plain) -> Iterator[Any]:
    AttentionInterface.register("written_anew", plain.attend)
    AttentionMaskInterface.register("written_anew", eager_mask)
    net.set_attn_implementation("written_anew")
    yield net
