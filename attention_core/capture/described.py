"""Imports torch. The card of a real model: what it is, and how it was proven, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from torch import nn
from transformers import PreTrainedModel

from attention_core.capture import watching, weights_only
from attention_core.capture.engine import Engine
from attention_core.capture.reading import Reader
from attention_core.cards import ModelCard, Words, stacks_of
from attention_core.trace import LayerTrace

LIMITS = {"watched": watching.LIMIT, "eager": weights_only.LIMIT}
Stacks = Mapping[str, tuple[LayerTrace, ...]]

HOW = {
    "interface": {
        "en": "Queries, keys and values are recorded where the model hands them to its attention function.",
        "zh": "查询、键、值在模型把它们交给注意力函数时记录。",
    },
    "watched": {
        "en": "Queries, keys and values are seen from outside, as the model multiplies them.",
        "zh": "查询、键、值在模型做矩阵乘法时从旁读取。",
    },
    "eager": {
        "en": "The model gives its weights only; the queries, keys and values behind them cannot be had.",
        "zh": "模型只给出注意力权重，取不到背后的查询、键、值。",
    },
}
STACKS = {
    "self": {"en": "{n} attention layers", "zh": "{n} 个注意力层"},
    "encoder": {"en": "{n} layers in the encoder", "zh": "编码器 {n} 层"},
    "decoder": {"en": "{n} layers in the decoder", "zh": "解码器 {n} 层"},
    "cross": {"en": "{n} layers of cross-attention", "zh": "交叉注意力 {n} 层"},
}
SUMMARY = {
    "en": "{architecture} ({model_type}): {layers}, {heads} heads in each. {how} {proof}",
    "zh": "{architecture}（{model_type}）：{layers}，每层 {heads} 个头。{how}{proof}",
}
PROVEN = {
    "en": "When it was loaded, every head was held against the model's own attention on {n} tokens; the largest "
    "difference was {away:.1e}.",
    "zh": "载入时在 {n} 个 token 上把每个头与模型自身的注意力逐一对照，最大差异 {away:.1e}。",
}
PROVEN_BY_OUTPUT = {
    "en": "It returns no weights to compare with; when it was loaded, each layer's result was held against the model's "
    "own on {n} tokens.",
    "zh": "模型不返回可供对照的权重；载入时在 {n} 个 token 上把每层的结果与模型自身的结果对照。",
}
JOINS = {"en": ", ", "zh": "、"}


def card_of(
    engine: Engine, reader: Reader, stacks: Stacks, name: str, source: Words | str, licence: str = ""
) -> ModelCard:
    """The card of a network made ready, from its first pass."""
    stack = next(iter(stacks.values()))
    layer, config = stack[0], engine.net.config.get_text_config()
    limit = min(n_places(engine.net), reader.limit())
    probed = layer.allowed.shape[0]
    details = {
        "kind": "real",
        "tokenizer": "tokens",
        "summary": summary(engine, stacks, probed),
        "stacks": stacks_of({kind: _sizes(found) for kind, found in stacks.items()}),
        "model_type": engine.net.config.model_type,
        "method": engine.method,
        "dtype": str(engine.net.dtype).removeprefix("torch."),
        "tolerance": engine.tolerance,
        "largest_difference": engine.largest_difference,
        "probed": probed,
        "layers": tuple(one.index for one in stack),
    }
    return ModelCard(
        name=name,
        title=MappingProxyType({"en": name, "zh": name}),
        source=MappingProxyType({"en": source, "zh": source} if isinstance(source, str) else dict(source)),
        n_layers=len(stack),
        n_heads=layer.n_heads,
        d_model=int(getattr(config, "hidden_size", 0)),
        d_head=0 if layer.q is None else layer.q.shape[2],
        n_parameters=sum(p.numel() for p in engine.net.parameters()),
        causal=not np.triu(layer.allowed, 1).any(),
        max_tokens=min(limit, LIMITS.get(engine.method, limit)),
        reading_head=None,
        licence=licence,
        is_available=True,
        details=MappingProxyType(details),
    )


def summary(engine: Engine, stacks: Stacks, probed: int) -> Words:
    """Architecture, layers, heads, how they were had and how they were proven, by language."""
    heads = sorted({layer.n_heads for stack in stacks.values() for layer in stack})
    away = engine.largest_difference
    return MappingProxyType(
        {
            lang: SUMMARY[lang].format(
                architecture=type(engine.net).__name__,
                model_type=engine.net.config.model_type,
                layers=JOINS[lang].join(STACKS[kind][lang].format(n=len(stack)) for kind, stack in stacks.items()),
                heads="–".join(map(str, dict.fromkeys((heads[0], heads[-1])))),
                how=HOW[engine.method][lang],
                proof=(PROVEN_BY_OUTPUT if away is None else PROVEN)[lang].format(n=probed, away=away),
            )
            for lang in SUMMARY
        }
    )


def n_places(net: PreTrainedModel) -> int:
    """The longest text that the network takes."""
    config = net.config.get_text_config()
    known = [getattr(config, name, None) for name in ("max_position_embeddings", "n_positions", "max_seq_len")]
    n = min((int(one) for one in known if isinstance(one, int) and one > 0), default=1_000_000)
    for name, table in net.named_modules():
        # RoBERTa and its kin count places from the padding's id on.
        if isinstance(table, nn.Embedding) and "position" in name and table.padding_idx is not None:
            n = min(n, table.num_embeddings - table.padding_idx - 1)
    return n


def _sizes(stack: tuple[LayerTrace, ...]) -> dict[str, list[int]]:
    return {"layers": [layer.index for layer in stack], "heads": [layer.n_heads for layer in stack]}
