"""The taught models with edits, in torch and cell by cell: what traces with edits are held against."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

import attention_core as ac
from attention_core.taught import TaughtLayer, TaughtModel

Stream = dict[str, Tensor]


@dataclass
class Expected:
    """By layer (head, query, key) weights and masked scores, and by read-out (query, answer) logits; rows as fed."""

    weights: list[Tensor]
    masked: list[Tensor]
    logits: list[Tensor]


def by_torch(model: TaughtModel, text_ids: list[int], edits: ac.Edits) -> Expected:
    """The model as it is described, edits and all. `text_ids` are the tokens of the text, in its own order."""
    fed = list(range(len(text_ids))) if edits.order is None else list(edits.order)
    word = torch.tensor(model.embedding)[torch.tensor([text_ids[token] for token in fed])]
    if model.positions is not None and edits.positions:
        word = word + torch.tensor(model.positions)[: len(fed)]
    stream, streams, found = {"word": word}, [], Expected([], [], [])
    for index, layer in enumerate(model.layers):
        scaled, values = _scaled_and_values(layer, stream, edits, edits.layer in (None, index))
        n_heads, n = scaled.shape[:2]
        for h, q, k in [(h, q, k) for h in range(n_heads) for q in range(n) for k in range(n)]:
            if not _may_see(model, edits, index, h, q, k, fed):
                scaled[h, q, k] = -torch.inf
        weights = torch.nan_to_num(scaled.softmax(-1), 0.0)  # A row of −∞ alone has no shares.
        written = sum(weights[h] @ values[h] @ torch.tensor(layer.w_o[h]) for h in range(n_heads))
        stream = _after(layer, stream, written)
        streams.append(stream)
        found.weights.append(weights)
        found.masked.append(scaled)
    for readout in model.readouts:
        read = sum(streams[readout.after][part] for part in readout.reads) @ torch.tensor(readout.matrix)
        found.logits.append(read if readout.bias is None else read + torch.tensor(readout.bias))
    return found


def _after(layer: TaughtLayer, stream: Stream, written: Tensor) -> Stream:
    stream = {**stream, layer.writes: stream.get(layer.writes, torch.zeros_like(written)) + written}
    if layer.mlp is not None:
        seen = sum(stream[part] for part in {*layer.query_reads, layer.writes})
        names = ("w_in", "b_in", "w_out", "b_out")
        w_in, b_in, w_out, b_out = (torch.tensor(getattr(layer.mlp, name)) for name in names)
        stream[layer.writes] = stream[layer.writes] + (seen @ w_in + b_in).relu() @ w_out + b_out
    return stream


def _scaled_and_values(layer: TaughtLayer, stream: Stream, edits: ac.Edits, is_here: bool) -> tuple[Tensor, Tensor]:
    asks = sum(stream[part] for part in layer.query_reads)
    answers = sum(stream[part] for part in layer.key_reads)
    tie = edits.tie if is_here else None
    q = torch.stack([asks @ torch.tensor(w) for w in layer.w_q])
    k = torch.stack([answers @ torch.tensor(w) for w in (layer.w_q if tie == "qk" else layer.w_k)])
    v = torch.stack([answers @ torch.tensor(w) for w in (layer.w_k if tie == "kv" else layer.w_v)])
    scores = torch.einsum("hqd,hkd->hqk", q, k)
    if edits.scale or not is_here:
        scores = scores / math.sqrt(q.shape[-1])
    return scores / (edits.temperature if is_here else 1), v


def _may_see(model: TaughtModel, edits: ac.Edits, layer: int, h: int, q: int, k: int, fed: list[int]) -> bool:
    """Whether the token at place q may see the one at place k."""
    is_here = edits.layer in (None, layer)
    window = model.layers[layer].window
    is_causal = model.card.causal if edits.causal is None or not is_here else edits.causal
    if (window is not None and abs(q - k) > window) or (is_causal and k > q):
        return False
    asker, answerer = fed[q], fed[k]
    if is_here and answerer in edits.silenced and asker != answerer:
        return False
    return not {(layer, h, asker, answerer), (layer, None, asker, answerer)} & edits.cut
