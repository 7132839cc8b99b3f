"""Imports torch. Layers of a model that hands out its weights and nothing else (`output_attentions`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from attention_core.capture.layers import Kept, array
from attention_core.steps import read_only
from attention_core.trace import LayerTrace

LIMIT = 512  # Tokens: all layers' n × n weights are held at once.
REASON = "this model hands out its weights only, not what they are made of"


def layers(weights: Mapping[str, Sequence[Tensor]]) -> tuple[LayerTrace, ...]:
    """One layer per tensor of (1, head, query, key), numbered as they come."""
    return tuple(_layer(kind, index, one) for kind, own in weights.items() for index, one in enumerate(own))


def kept(layer: LayerTrace) -> Kept:
    """Nothing beside the weights can be held against the model."""
    rows = np.arange(layer.allowed.shape[0])
    return Kept(rows, np.empty((len(rows), layer.n_heads, 0), dtype=np.float32), None, None)


def _layer(kind: str, index: int, weights: Tensor) -> LayerTrace:
    given = array(weights[0])
    return LayerTrace(
        index=index,
        kind=kind,
        q=None,
        k=None,
        v=None,
        scale=None,
        allowed=read_only((given != 0).any(axis=0)),
        given=given,
        reason=REASON,
    )
