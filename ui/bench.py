"""The bench: a few small matrices as a value, with its checks and its ready-made examples.

Two ways to hold them: in "matrices" Q, K and V are made from X and three weight matrices; in "vectors" they are
changed themselves, and X and the weights lie by unchanged. All numbers stand on a grid of 1/10,000, so that a link
carries them exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

import attention_core as ac

MODES = ("vectors", "matrices")
PARTS = ("bench", "exercise")
TOKENS, DIMS = (2, 6), (2, 4)
MAX_SEED = 2**31 - 1
DIGITS = 4
LIMITS = {"x": 30.0, "w": 30.0, "v": 9999.0}  # X, the weights, and the vectors, which may be products of both.
LARGEST = 1e9  # Beyond this nothing is looked at any further.

_INPUTS, WEIGHTS, _VECTORS = ("x",), ("w_q", "w_k", "w_v"), ("q", "k", "v")
MATRICES = (*_INPUTS, *WEIGHTS, *_VECTORS)

Rows = tuple[tuple[float, ...], ...]


class Unfit(Exception):
    """What was read is no bench.

    Attributes:
        kind: "format" (it is something else), "shape" (a matrix has another size) or "number" (too large, or none).
        detail: which part.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


@dataclass(frozen=True)
class Bench:
    """What lies on the bench.

    Attributes:
        mode: "vectors" or "matrices", see above.
        x: (token, d); w_q, w_k, w_v: (d, d); q, k, v: (token, d), used in "vectors" only.
        is_causal: a token sees itself and those before it.
        axes: the two dimensions that the plane shows; query, key: the chosen pair.
        seed: for numbers drawn at random.
    """

    mode: str
    x: Rows
    w_q: Rows
    w_k: Rows
    w_v: Rows
    q: Rows
    k: Rows
    v: Rows
    is_causal: bool = False
    axes: tuple[int, int] = (0, 1)
    query: int = 0
    key: int = 0
    seed: int = 1

    @property
    def n(self) -> int:
        return len(self.x)

    @property
    def d(self) -> int:
        return len(self.w_q)

    def vectors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Q, K and V as they are multiplied."""
        if self.mode == "vectors":
            return np.array(self.q), np.array(self.k), np.array(self.v)
        x = np.array(self.x)
        q, k, v = (ac.project(x, np.array(w)) for w in (self.w_q, self.w_k, self.w_v))
        return q, k, v

    def steps(self) -> ac.HeadSteps:
        """All stages, computed in Python: what the browser's numbers must equal."""
        q, k, v = self.vectors()
        return ac.attention(q, k, v, allowed=ac.causal(self.n) if self.is_causal else None)


def rows(array: Any) -> Rows:
    """Numbers on the grid, −0 as 0."""
    return tuple(tuple(round(float(value), DIGITS) + 0.0 for value in row) for row in array)


def from_vectors(q: Any, k: Any, v: Any, **others: Any) -> Bench:
    """A bench on which these vectors lie; X is the same as Q, with weights that change nothing."""
    d = len(q[0])
    same = rows(np.eye(d))
    return Bench("vectors", rows(q), same, same, same, rows(q), rows(k), rows(v), **others)


def from_inputs(x: Any, w_q: Any, w_k: Any, w_v: Any, **others: Any) -> Bench:
    """A bench on which X and the weights lie, and the vectors that they make."""
    q, k, v = (rows(np.array(x) @ np.array(w)) for w in (w_q, w_k, w_v))
    return Bench("matrices", rows(x), rows(w_q), rows(w_k), rows(w_v), q, k, v, **others)


def drawn(seed: int, like: Bench) -> Bench:
    """Numbers from −2 to 2 with one decimal, from a seed; in the size and the way of `like`."""
    rng = np.random.default_rng([seed, like.n, like.d])
    x, *weights = (rng.integers(-20, 21, size) / 10 for size in ((like.n, like.d), *[(like.d, like.d)] * 3))
    if like.mode == "matrices":
        made = from_inputs(x, *weights)
    else:
        made = replace(from_vectors(*rng.integers(-20, 21, (3, like.n, like.d)) / 10), x=rows(x))
    return replace(made, is_causal=like.is_causal, axes=like.axes, query=like.query, key=like.key, seed=seed)


def presets() -> dict[str, Bench]:
    """Ready-made benches by name; the first one is what a new reader finds."""
    unit = np.eye(3)
    return {
        "first": from_vectors(
            [[1.5, 0.5], [-0.5, 1.5], [1, -1]], [[0.5, 1.5], [1.5, 1], [-1, 0.5]], [[1, 0], [0, 1], [2, 2]], key=1
        ),
        "hand": from_vectors(
            [[1, 1, 0, 0], [0, 0, 2, 0], [0, 1, 0, 0]],
            [[1, 3, 0, 0], [2, 0, 0, 5], [0, 0, 1, 7]],
            [[1, 0, 0, 0], [0, 10, 0, 0], [100, 0, 0, 0]],
        ),
        "long_key": from_vectors(
            [[2, 0.5], [1, 1], [0.5, 2]], [[1, 0.25], [3, 0.75], [0.5, 1.5]], [[1, 0], [0, 1], [-1, 1]], key=1
        ),
        "orthogonal": from_vectors(2 * unit, 2 * unit, unit),
        "tied": from_inputs(
            [[1, 0.5], [-0.5, 1], [2, 1], [0.5, -1.5]], [[1, 0.5], [0, 1]], [[1, 0.5], [0, 1]], [[1, 0], [0, 1]], key=2
        ),
    }  # fmt: skip


def as_data(bench: Bench) -> dict[str, Any]:
    """Plain values, for the browser and for files."""
    data = {field.name: getattr(bench, field.name) for field in fields(bench)}
    return {name: [list(row) for row in value] if name in MATRICES else value for name, value in data.items()} | {
        "axes": list(bench.axes)
    }


def parse(data: Any) -> Bench:
    """The bench that plain values describe: the inverse of `as_data`, with every part checked.

    Raises:
        Unfit: they describe none.
    """
    if not isinstance(data, Mapping):
        raise Unfit("format", type(data).__name__)
    x, w = _matrix(data, "x"), _matrix(data, "w_q")
    n, d = len(x), len(w)
    if not (TOKENS[0] <= n <= TOKENS[1] and DIMS[0] <= d <= DIMS[1]):
        raise Unfit("shape", f"{n} × {d}")
    found = {name: _matrix(data, name) for name in MATRICES}
    for name, matrix in found.items():
        if len(matrix) != (d if name in WEIGHTS else n) or any(len(row) != d for row in matrix):
            raise Unfit("shape", name)
        if any(abs(value) > limit_of(name) for row in matrix for value in row):
            raise Unfit("number", name)
    axes = data.get("axes", (0, 1))
    if not isinstance(axes, list | tuple) or len(axes) != 2 or axes[0] == axes[1]:
        raise Unfit("format", "axes")
    first, second = (_whole({"axes": axis}, "axes", d) for axis in axes)
    return Bench(
        mode=_among(data.get("mode"), MODES, "mode"),
        **found,
        is_causal=_among(data.get("is_causal", False), (False, True), "is_causal"),
        axes=(first, second),
        query=_whole(data, "query", n),
        key=_whole(data, "key", n),
        seed=_whole(data, "seed", MAX_SEED + 1),
    )


def limit_of(name: str) -> float:
    """The largest number that a matrix may hold."""
    return LIMITS["x" if name in _INPUTS else "w" if name in WEIGHTS else "v"]


def _matrix(data: Mapping[str, Any], name: str) -> Rows:
    value = data.get(name)
    if not isinstance(value, list | tuple) or not all(isinstance(row, list | tuple) for row in value):
        raise Unfit("format", name)
    if len(value) > TOKENS[1] or any(len(row) > DIMS[1] for row in value):
        raise Unfit("shape", name)
    if not all(_is_number(cell) for row in value for cell in row):
        raise Unfit("number", name)
    return rows(value)


def _is_number(value: Any) -> bool:
    """A finite number; one too large for a float is none."""
    is_known = isinstance(value, int | float) and not isinstance(value, bool)
    return is_known and abs(value) <= LARGEST


def _whole(data: Mapping[str, Any], name: str, limit: int) -> int:
    value = data.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < limit:
        raise Unfit("format", name)
    return value


def _among(value: Any, options: tuple, name: str) -> Any:
    if not isinstance(value, str | bool) or value not in options:
        raise Unfit("format", name)
    return value
