"""Imports torch. Models that have nothing to show, or nothing that could be shown rightly, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping

from torch import Tensor
from transformers import PreTrainedModel

from attention_core.errors import UnsupportedModel

WITHOUT = {
    r"mamba|falcon_mamba": "it is a state-space model",
    r"rwkv": "it is a recurrent model",
    r"fnet": "it mixes tokens by a Fourier transform",
    r"xlstm|recurrent": "it is a recurrent model",
    r"hyena": "it mixes tokens by convolutions",
}
SPARSE = {
    r"longformer|led": "its attention is computed in bands along the diagonal",
    r"reformer": "its attention is computed in hashed buckets",
    r"prophetnet": "its attention predicts several tokens at once, over several streams",
    r"swin|donut": "its heads look at several windows apart, not at one sequence",
}


def before(net: PreTrainedModel) -> None:
    """Refuse by name what would only look right.

    Raises:
        UnsupportedModel: one matrix per head does not say what this model computes.
    """
    reason = _reason(net, SPARSE)
    if reason is not None:
        raise UnsupportedModel(f"this model has no single matrix per head: {reason}", kind="no_matrices", detail=reason)


def without_matrices(net: PreTrainedModel, n_layers: int, wanted: Mapping[str, list[Tensor]]) -> None:
    """Refuse a network that neither calls our function, nor multiplies visibly, nor returns one matrix per head.

    Raises:
        UnsupportedModel: with the reason.
    """
    reason = _reason(net, WITHOUT)
    if reason is not None:
        raise UnsupportedModel(f"this model has no attention matrices: {reason}", kind="no_matrices", detail=reason)
    if n_layers and all(one.ndim == 4 and len(one) == 1 for own in wanted.values() for one in own):
        return
    kind = getattr(net.config, "model_type", type(net).__name__)
    if n_layers:
        raise UnsupportedModel(
            f"the attention of this model ({kind}) is not computed as one matrix per head",
            kind="no_matrices",
            detail=kind,
        )
    raise UnsupportedModel(f"no attention matrix was seen in this model ({kind})", kind="no_matrices", detail=kind)


def _reason(net: PreTrainedModel, reasons: Mapping[str, str]) -> str | None:
    kind = getattr(net.config, "model_type", "")
    return next((reason for pattern, reason in reasons.items() if re.match(pattern, kind)), None)
