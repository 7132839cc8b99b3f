"""Imports torch and transformers. The one attention function through which most architectures pass.

Registered once under a name of our own. It computes what the library's eager attention computes,

    weights = softmax(cap(q kᵀ · scale) + bias + mask)        cap(s) = c · tanh(s / c) where the layer has a soft-cap

and hands q, k, v and the rest to this thread's recorder. The mask function of eager attention is registered under the
same name: without one the library drops its masks, and other kinds of mask are not what half of the models expect.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from attention_core.capture.editing import Terms, without_keys
from attention_core.capture.projections import with_inputs
from attention_core.capture.recorder import Call, Recorder, current, rows_of

NAME = "kept_factors"  # No "sdpa", "flash", "flex" or "paged|" in it: the library matches on those.


def register() -> None:
    """Make the library know `NAME`; doing it again changes nothing."""
    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, eager_mask)


def attend(
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
    **_: object,
) -> tuple[Tensor, None]:
    """What a model calls in place of its own attention.

    Args:
        query: (batch, head, query, d_head), key: (batch, kv_head, key, d_head), value: (batch, kv_head, key, d_v).
        attention_mask, position_bias: (batch, 1 or head, query, key) added after the soft-cap.
        scaling: None means 1/√d_head. s_aux, sinks: (head,) two names for the same thing.

    Returns:
        (batch, query, head, d_v), and no weights.
    """
    scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    terms = Terms(scale, attention_mask, position_bias, softcap, s_aux if sinks is None else sinks)
    recorder = current()
    if recorder is None:
        return _attended(query, key, value, terms).transpose(1, 2).contiguous(), None
    own, terms = terms, recorder.changes.terms(terms, len(recorder.calls), query.shape[1], query.shape[2])
    output = _attended(query, key, value, terms)
    empty = None if terms is own else without_keys(terms.mask)
    output = (output if empty is None else output.masked_fill(empty, 0)).transpose(1, 2).contiguous()
    recorder.add(with_inputs(_call(module, query, key, value, terms, output, recorder), recorder))
    return output, None


def _attended(query: Tensor, key: Tensor, value: Tensor, terms: Terms) -> Tensor:
    added = _sum(terms.mask, terms.bias, key.shape[-2])
    if terms.softcap is not None or terms.sinks is not None:
        return _explicit(query, key, value, added, terms.scale, terms.softcap, terms.sinks)
    plain = "" if terms.bias is not None else _plain(terms.mask, query, key)
    return _fused(query, key, value, None if plain else added, terms.scale, is_causal=plain == "causal")


def _call(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, terms: Terms, output: Tensor, recorder: Recorder
) -> Call:
    rows, m = recorder.rows(query.shape[2]), key.shape[-2]
    mask = terms.mask if terms.mask is None or terms.mask.shape[-1] == m else terms.mask[..., :m]
    kept = (terms.scale, terms.softcap, terms.sinks, rows, rows_of(output, rows))
    return Call(module, query, key, value, mask, terms.bias, *kept)


def _sum(mask: Tensor | None, bias: Tensor | None, n_keys: int) -> Tensor | None:
    # Some models cut their masks for a longest text; only the keys at hand count.
    parts = [part[..., :n_keys] for part in (mask, bias) if part is not None]
    if len(parts) == 2 and parts[0].dtype == torch.bool:
        parts[0] = torch.where(parts[0], 0.0, torch.finfo(parts[1].dtype).min)
    return None if not parts else sum(parts[1:], start=parts[0])


def _plain(mask: Tensor | None, query: Tensor, key: Tensor) -> str:
    """ "open" where the mask forbids nothing, "causal" where it forbids later tokens and nothing else, else "".

    Without a mask to add, the kernel is faster, and skips half of the work where it is causal.
    """
    n = query.shape[2]
    if mask is None or n < 2 or mask.shape[-2:] != (n, n) or key.shape[2] != n:
        return ""
    found = getattr(mask, "_plain", None)
    if found is None:  # Asked once: the model hands the same mask to all its layers.
        found = mask._plain = _kind_of(mask)  # type: ignore[attr-defined]
    return str(found)


def _kind_of(mask: Tensor) -> str:
    is_bool = mask.dtype == torch.bool
    seen = mask if is_bool else mask == 0
    forbidden = ~mask if is_bool else mask <= torch.finfo(mask.dtype).min
    if bool(seen.all()):
        return "open"
    triangle = torch.ones(mask.shape[-2:], dtype=torch.bool).tril()
    return "causal" if bool(torch.where(triangle, seen, forbidden).all()) else ""


def _fused(q: Tensor, k: Tensor, v: Tensor, added: Tensor | None, scale: float, is_causal: bool = False) -> Tensor:
    if added is not None and added.dtype != torch.bool:
        added = added.to(q.dtype)
    grouped = q.shape[1] != k.shape[1]
    k, kept = k.to(q.dtype), v.dtype
    attended = functional.scaled_dot_product_attention(
        q, k, v.to(q.dtype), attn_mask=added, scale=scale, enable_gqa=grouped, is_causal=is_causal
    )
    return attended.to(kept)


def _explicit(
    q: Tensor, k: Tensor, v: Tensor, added: Tensor | None, scale: float, softcap: float | None, sinks: Tensor | None
) -> Tensor:
    # The fused kernel knows neither soft-cap nor sinks.
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    scaled = q @ k.transpose(-1, -2) * scale
    if softcap is not None:
        scaled = softcap * torch.tanh(scaled / softcap)
    if added is not None:
        scaled = scaled.masked_fill(~added, -torch.inf) if added.dtype == torch.bool else scaled + added
    if sinks is not None:
        column = sinks.reshape(1, -1, 1, 1).expand(len(q), -1, q.shape[2], 1).to(scaled.dtype)
        scaled = torch.cat([scaled, column], dim=-1)
    weights = torch.softmax(scaled, dim=-1, dtype=torch.float32).to(v.dtype)
    return weights[..., : k.shape[2]] @ v
