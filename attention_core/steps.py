"""Scaled dot-product attention for one head, one stage at a time.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V            Vaswani et al. 2017, "Attention Is All You Need", eq. 1

Our names for what stands between the symbols:

    scores   = q kᵀ                       (query, key)
    scaled   = scores · scale + bias      (query, key)    scale is 1/√d_k unless told otherwise
    masked   = scaled, −∞ where a key may not be seen
    weights  = softmax of masked over the keys
    output   = weights · v                (query, d_v)

Rows are queries (who asks), columns are keys (who answers), here and everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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
        row_sum: the sum of exp over the row.
        weight: exp / row_sum; 0 in a row without keys.
        weighted_value: (d_v,) weight · v[key], this key's part of the row's output.
        is_allowed: whether this key may be seen by this query.
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


@dataclass(frozen=True, eq=False, kw_only=True)
class HeadWeights:
    """What one head looks at, however it was had. All arrays are read-only.

    Attributes:
        weights: (query, key), rows ask.
        allowed: (query, key) where a key may be seen.
        has_keys: (query,) False where a query may see no key; its weights are zeros.
        sink: (query,) weight that goes to no key, or None where the head has no sink.
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
        x, x_key: (query, d_in), (key, d_key_in) what the projections read, or None; d_in is d_model unless several
            parts of the stream are read side by side.
        w_q, w_k, w_v: (d_in, d_head) or None; b_q, b_k, b_v: (d_head,) or None.
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
    x: Float[np.ndarray, "query d_in"] | None = None
    x_key: Float[np.ndarray, "key d_key_in"] | None = None
    w_q: Float[np.ndarray, "d_in d_head"] | None = None
    w_k: Float[np.ndarray, "d_key_in d_head"] | None = None
    w_v: Float[np.ndarray, "d_key_in d_v"] | None = None
    b_q: Float[np.ndarray, " d_head"] | None = None
    b_k: Float[np.ndarray, " d_head"] | None = None
    b_v: Float[np.ndarray, " d_v"] | None = None
    w_o: Float[np.ndarray, "d_v d_model"] | None = None

    def explain(self, i: int, j: int) -> Bill:
        """The bill of the cell in which query `i` asks key `j`.

        Raises:
            IndexError: `i` or `j` is not a position of this head.
        """
        n_queries, n_keys = self.scores.shape
        if not (0 <= i < n_queries and 0 <= j < n_keys):
            raise IndexError(f"cell ({i}, {j}) is outside the {n_queries} × {n_keys} cells of this head")
        row_max, exps = _exponentials(self.masked[i : i + 1])
        return Bill(
            query=i,
            key=j,
            products=read_only(self.q[i] * self.k[j]),
            score=float(self.scores[i, j]),
            scaled=float(self.scaled[i, j]),
            bias=None if self.bias is None else float(self.bias[i, j]),
            row_max=float(row_max[0, 0]),
            exp=float(exps[0, j]),
            row_sum=float(exps.sum()),
            weight=float(self.weights[i, j]),
            weighted_value=read_only(self.weights[i, j] * self.v[j]),
            is_allowed=bool(self.allowed[i, j]),
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
) -> HeadSteps:
    """All stages of one head's attention (the formula at the top of this module).

    Computes in float32 when q, k and v are float32, else in float64.

    Args:
        q, k, v: what is asked, offered, handed over.
        scale: multiplies the scores; None means 1/√d_head.
        allowed: True where a query may see a key; None means everywhere. `causal(n)` makes the usual one.
        bias: added to the scaled scores.
        softcap: c, where the scaled scores become c · tanh(scaled / c) before the bias (Gemma 2, 2024).

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
    weights, has_keys = softmax(masked)
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
    )


def softmax(
    masked: Float[np.ndarray, "query key"],
) -> tuple[Float[np.ndarray, "query key"], Bool[np.ndarray, " query"]]:
    """Each row's exponentials as shares of their sum, and which rows have any key; a row without one is zeros."""
    _, exps = _exponentials(masked)
    row_sum = exps.sum(axis=1, keepdims=True)
    has_keys = row_sum[:, 0] > 0
    return np.divide(exps, row_sum, out=np.zeros_like(exps), where=row_sum > 0), has_keys


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


def _exponentials(
    masked: Float[np.ndarray, "query key"],
) -> tuple[Float[np.ndarray, "query 1"], Float[np.ndarray, "query key"]]:
    # Softmax ignores a constant shift; subtracting the max keeps exp() finite.
    row_max = masked.max(axis=1, keepdims=True, initial=-np.inf)
    shift = np.where(np.isneginf(row_max), masked.dtype.type(0), row_max)
    return row_max, np.exp(masked - shift)


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
