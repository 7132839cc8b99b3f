"""Heads of which only the weights are known: a model that hands out nothing else, or somebody's own array."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from attention_core.steps import HeadSteps, read_only


def only_weights(weights: Float[np.ndarray, "query key"]) -> HeadSteps:
    """A head whose weights are given; its q, k, v and output have no columns, its other stages are NaN.

    A key counts as one that may not be seen where its weight is exactly 0: nothing tells the two apart.
    """
    n, m = weights.shape
    unknown = read_only(np.full((n, m), np.nan, dtype=weights.dtype))
    allowed = weights != 0
    return HeadSteps(
        q=_no_columns(n),
        k=_no_columns(m),
        v=_no_columns(m),
        scores=unknown,
        scaled=unknown,
        masked=unknown,
        weights=read_only(weights[...]),
        output=_no_columns(n),
        scale=float("nan"),
        allowed=read_only(allowed),
        bias=None,
        has_keys=read_only(allowed.any(axis=1)),
    )


def _no_columns(n: int) -> Float[np.ndarray, "token 0"]:
    return read_only(np.empty((n, 0), dtype=np.float32))
