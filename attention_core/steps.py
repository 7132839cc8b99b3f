"""Scaled dot-product attention for one head, one stage at a time.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V            Vaswani et al. 2017, "Attention Is All You Need", eq. 1

Our names for what stands between the symbols:

    scores   = q kᵀ                       (query, key)
    scaled   = scores · scale + bias      (query, key)    scale is 1/√d_k unless told otherwise; a soft-cap c makes
                                                          scores · scale into c · tanh(scores · scale / c) first
    masked   = scaled, −∞ where a key may not be seen
    weights  = softmax of masked over the keys (and over the sink, one more logit per head, where a model has one)
    output   = weights · v                (query, d_v)

Rows are queries (who asks), columns are keys (who answers), here and everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Num

from attention_core.errors import ShapeMismatch


@dataclass(frozen=True, eq=False)
class Bill:
    """What one cell of a head costs, term by term: from the products to what the answerer hands over.

    Attributes:
        query, key: the cell.
        products: (d_head,) q[query] · k[key] before the sum.
        score: their sum.
        scaled: score · scale, plus the bias where there is one.
        bias: the bias of this cell, or None.
        row_max: the largest visible scaled score of the row.
        exp: exp(scaled − row_max); 0 where the key may not be seen.
        row_sum: the sum of exp over the row, `sink_exp` included.
        weight: exp / row_sum; 0 in a row without keys.
        weighted_value: (d_v,) weight · v[key], this key's part of the row's output.
        is_allowed: whether this key may be seen by this query.
        sink_exp: exp(sink's logit − row_max), or None where the head has no sink; row_max then counts the sink too.
    """

    query: int
    key: int
    products: Float[np.ndarray, " d_head"]
    score: float
    scaled: float
    bias: float | None
    row_max: float
    exp: float
    row_sum: float
    weight: float
    weighted_value: Float[np.ndarray, " d_v"]
    is_allowed: bool
    sink_exp: float | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadWeights:
    """What one head looks at, however it was had. All arrays are read-only.

    Attributes:
        weights: (query, key), rows ask.
        allowed: (query, key) where a key may be seen.
        has_keys: (query,) False where a query may see no key; its weights are zeros.
        sink: (query,) weight that goes to no key, or None where the head has no sink; rows of weights sum to 1 with it.
    """

    weights: Float[np.ndarray, "query key"]
    allowed: Bool[np.ndarray, "query key"]
    has_keys: Bool[np.ndarray, " query"]
    sink: Float[np.ndarray, " query"] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadSteps(HeadWeights):
    """Every stage of one head, up to its weights and its output. All arrays are read-only.

    Attributes:
        q: (query, d_head), k: (key, d_head), v: (key, d_v) as multiplied.
        scores, scaled, masked: (query, key), see the module's formula.
        output: (query, d_v); zeros in a row without keys.
        scale: what the scores are multiplied by.
        bias: (query, key) added after scaling, or None.
        sink_logit: the sink's logit, the same for every query, or None.
        softcap: the cap c of c·tanh(scores·scale / c), or None.
        x, x_key: (query, d_in), (key, d_key_in) what the projections read, or None; d_in is d_model unless several
            parts of the stream are read side by side.
        w_q, w_k, w_v: (d_in, d_head) or None; b_q, b_k, b_v: (d_head,) or None.
        is_turned: q and k are not x w + b: the model rotates, norms or scales them before it multiplies.
        w_o: (d_v, d_model) this head's part of the output projection, or None.
    """

    q: Float[np.ndarray, "query d_head"]
    k: Float[np.ndarray, "key d_head"]
    v: Float[np.ndarray, "key d_v"]
    scores: Float[np.ndarray, "query key"]
    scaled: Float[np.ndarray, "query key"]
    masked: Float[np.ndarray, "query key"]
    output: Float[np.ndarray, "query d_v"]
    scale: float
    bias: Float[np.ndarray, "query key"] | None
    sink_logit: float | None = None
    softcap: float | None = None
    x: Float[np.ndarray, "query d_in"] | None = None
    x_key: Float[np.ndarray, "key d_key_in"] | None = None
    w_q: Float[np.ndarray, "d_in d_head"] | None = None
    w_k: Float[np.ndarray, "d_key_in d_head"] | None = None
    w_v: Float[np.ndarray, "d_key_in d_v"] | None = None
    b_q: Float[np.ndarray, " d_head"] | None = None
    b_k: Float[np.ndarray, " d_head"] | None = None
    b_v: Float[np.ndarray, " d_v"] | None = None
    w_o: Float[np.ndarray, "d_v d_model"] | None = None
    is_turned: bool = False

    @cached_property
    def q_projected(self) -> Float[np.ndarray, "query d_head"] | None:
        """x w_q + b_q, where the model turns it into q afterwards and where x is known."""
        return _known(self.x, self.w_q, self.b_q) if self.is_turned else None

    @cached_property
    def k_projected(self) -> Float[np.ndarray, "key d_head"] | None:
        """x_key w_k + b_k, where the model turns it into k afterwards and where x_key is known."""
        return _known(self.x_key, self.w_k, self.b_k) if self.is_turned else None

    def explain(self, i: int, j: int) -> Bill:
        """The bill of the cell in which query `i` asks key `j`.

        Raises:
            IndexError: `i` or `j` is not a position of this head.
        """
        n_queries, n_keys = self.scores.shape
        if not (0 <= i < n_queries and 0 <= j < n_keys):
            raise IndexError(f"cell ({i}, {j}) is outside the {n_queries} × {n_keys} cells of this head")
        row_max, exps, sink = _exponentials(self.masked[i : i + 1], self.sink_logit)
        return Bill(
            query=i,
            key=j,
            products=read_only(self.q[i] * self.k[j]),
            score=float(self.scores[i, j]),
            scaled=float(self.scaled[i, j]),
            bias=None if self.bias is None else float(self.bias[i, j]),
            row_max=float(row_max[0, 0]),
            exp=float(exps[0, j]),
            row_sum=float(exps.sum()) if sink is None else float(exps.sum() + sink[0, 0]),
            weight=float(self.weights[i, j]),
            weighted_value=read_only(self.weights[i, j] * self.v[j]),
            is_allowed=bool(self.allowed[i, j]),
            sink_exp=None if sink is None else float(sink[0, 0]),
        )


def attention(
    q: Num[np.ndarray, "query d_head"],
    k: Num[np.ndarray, "key d_head"],
    v: Num[np.ndarray, "key d_v"],
    *,
    scale: float | None = None,
    allowed: Bool[np.ndarray, "query key"] | None = None,
    bias: Num[np.ndarray, "query key"] | None = None,
    softcap: float | None = None,
    sink: float | None = None,
) -> HeadSteps:
    """All stages of one head's attention (the formula at the top of this module).

    Computes in float32 when q, k and v are float32, else in float64.

    Args:
        q, k, v: what is asked, offered, handed over.
        scale: multiplies the scores; None means 1/√d_head.
        allowed: True where a query may see a key; None means everywhere. `causal(n)` makes the usual one.
        bias: added to the scaled scores.
        softcap: c, where the scaled scores become c · tanh(scaled / c) before the bias (Gemma 2, 2024).
        sink: a logit that takes part in every row's softmax and stands for no key (gpt-oss, 2025).

    Raises:
        ShapeMismatch: the arrays do not fit together.

    >>> one_hot = np.eye(3)
    >>> attention(one_hot, one_hot, one_hot, allowed=causal(3)).weights[0]
    array([1., 0., 0.])
    """
    q, k, v = _same_precision(q, k, v)
    _check_shapes(q, k, v, allowed, bias)
    n_queries, n_keys = len(q), len(k)
    factor = 1 / math.sqrt(q.shape[1]) if scale is None else float(scale)
    visible = np.ones((n_queries, n_keys), dtype=bool) if allowed is None else allowed

    scores = q @ k.T
    scaled = scores * q.dtype.type(factor)
    if softcap is not None:
        scaled = q.dtype.type(softcap) * np.tanh(scaled / q.dtype.type(softcap))
    if bias is not None:
        bias = bias.astype(q.dtype, copy=False)
        scaled = scaled + bias
    masked = np.where(visible, scaled, q.dtype.type(-np.inf))
    weights, has_keys, sink_mass = _shares(masked, sink)
    return HeadSteps(
        q=owned(q),
        k=owned(k),
        v=owned(v),
        scores=read_only(scores),
        scaled=read_only(scaled),
        masked=read_only(masked),
        weights=read_only(weights),
        output=read_only(weights @ v),
        scale=factor,
        allowed=owned(visible),
        bias=None if bias is None else owned(bias),
        has_keys=read_only(has_keys),
        sink=None if sink_mass is None else read_only(sink_mass),
        sink_logit=sink,
        softcap=softcap,
    )


def softmax(
    masked: Float[np.ndarray, "query key"],
) -> tuple[Float[np.ndarray, "query key"], Bool[np.ndarray, " query"]]:
    """Each row's exponentials as shares of their sum, and which rows have any key; a row without one is zeros."""
    weights, has_keys, _ = _shares(masked, None)
    return weights, has_keys


def project(
    x: Num[np.ndarray, "token d_model"],
    w: Num[np.ndarray, "d_model d_head"],
    b: Num[np.ndarray, " d_head"] | None = None,
) -> Float[np.ndarray, "token d_head"]:
    """What a head reads of each token: x w + b, for example Q = X W_Q.

    Raises:
        ShapeMismatch: the widths of x and w, or of w and b, differ.
    """
    if x.shape[1] != w.shape[0]:
        raise ShapeMismatch(axis="d_model", expected=x.shape[1], actual=w.shape[0])
    if b is not None and b.shape != (w.shape[1],):
        raise ShapeMismatch(axis="d_head", expected=w.shape[1], actual=b.shape)
    x, w = _same_precision(x, w)
    return read_only(x @ w if b is None else x @ w + b.astype(x.dtype))


def _known(x: np.ndarray | None, w: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
    return None if x is None or w is None else project(x, w, b)


def causal(n: int) -> Bool[np.ndarray, "query key"]:
    """(n, n), True on and below the diagonal: each token may see itself and what came before it."""
    return read_only(np.tri(n, dtype=bool))


def read_only(array: np.ndarray) -> np.ndarray:
    """Mark an array that nobody else writes to as a value, and return it."""
    array.flags.writeable = False
    return array


def owned(array: np.ndarray) -> np.ndarray:
    """A read-only array that later writes to the caller's own array cannot change."""
    return array if _is_frozen(array) else read_only(array.copy())


def _is_frozen(array: np.ndarray) -> bool:
    # A read-only view of an array that somebody can still write to would change with it.
    base = array.base
    return not array.flags.writeable and (base is None or (isinstance(base, np.ndarray) and _is_frozen(base)))


def _shares(
    masked: Float[np.ndarray, "query key"], sink_logit: float | None
) -> tuple[Float[np.ndarray, "query key"], Bool[np.ndarray, " query"], Float[np.ndarray, " query"] | None]:
    """Each key's share, which rows have any key, and the sink's share (all of it in a row without keys)."""
    _, exps, sink = _exponentials(masked, sink_logit)
    has_keys = np.asarray(exps.any(axis=1))
    row_sum = exps.sum(axis=1, keepdims=True)
    if sink is not None:
        row_sum = row_sum + sink
    weights = np.divide(exps, row_sum, out=np.zeros_like(exps), where=row_sum > 0)
    return weights, has_keys, None if sink is None else (sink / row_sum)[:, 0]


def _exponentials(
    masked: Float[np.ndarray, "query key"], sink_logit: float | None
) -> tuple[Float[np.ndarray, "query 1"], Float[np.ndarray, "query key"], Float[np.ndarray, "query 1"] | None]:
    # Softmax ignores a constant shift; subtracting the max keeps exp() finite.
    row_max = masked.max(axis=1, keepdims=True, initial=-np.inf)
    if sink_logit is not None:
        row_max = np.maximum(row_max, masked.dtype.type(sink_logit))
    shift = np.where(np.isneginf(row_max), masked.dtype.type(0), row_max)
    sink = None if sink_logit is None else np.exp(masked.dtype.type(sink_logit) - shift)
    return row_max, np.exp(masked - shift), sink


def _same_precision(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    single = all(a.dtype == np.float32 for a in arrays)
    return tuple(np.asarray(a, dtype=np.float32 if single else np.float64) for a in arrays)


def _check_shapes(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, allowed: np.ndarray | None, bias: np.ndarray | None
) -> None:
    for name, array in (("q", q), ("k", k), ("v", v)):
        if array.ndim != 2:
            raise ShapeMismatch(axis=f"dimensions of {name}", expected=2, actual=array.ndim)
    if q.shape[1] != k.shape[1]:
        raise ShapeMismatch(axis="d_head", expected=q.shape[1], actual=k.shape[1])
    if len(k) != len(v):
        raise ShapeMismatch(axis="key", expected=len(k), actual=len(v))
    for name, matrix in (("allowed", allowed), ("bias", bias)):
        if matrix is not None and matrix.shape != (len(q), len(k)):
            raise ShapeMismatch(axis=f"(query, key) of {name}", expected=(len(q), len(k)), actual=matrix.shape)
