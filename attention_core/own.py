"""Your own arrays as a trace: q, k and v of any source, or the weights alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Float

from attention_core.arrays import Array, check_factors, layered, masks, spread
from attention_core.cards import ModelCard
from attention_core.errors import ShapeMismatch, TraceMismatch, UnfitValues, UnreadableArrays
from attention_core.tokens import Note, Token
from attention_core.trace import LayerTrace, Trace, Verification

ROW_TOLERANCE = 1e-3  # Half precision rounds each weight by up to 2⁻¹¹ of itself.
WEIGHT_TOLERANCE = 1e-4  # Between given weights and those of q and k: float32 sums in another order.

Tokens = Sequence[str] | Sequence[Token] | None


def from_weights(
    array: Array,
    tokens: Tokens = None,
    query_tokens: Tokens = None,
    *,
    allowed: Array | None = None,
    item: int | None = None,
) -> Trace:
    """A trace of weights alone: its layers have `weights` and `head_weights`; `head` raises `WeightsOnly`.

    Rows that do not sum to 1 and numbers outside 0–1 are taken as they are and said in `trace.notes`; `trace.check()`
    then does not pass.

    Args:
        array: (query, key), (head, query, key), (layer, head, query, key), or with a batch (layer, item, head, query,
            key); a sequence of arrays is one per layer.
        tokens: those of the keys, and of the queries too where there are as many; numbered unless given.
        query_tokens: those of the queries, where they are others.
        allowed: (query, key) or (layer, query, key), True where a key may be seen; everywhere unless given: a 0 in the
            weights alone does not say that the key was masked.
        item: which item of a batch.

    Raises:
        UnfitShape, ShapeMismatch: the shapes stand for nothing, or do not fit together or the tokens.
        WhichItem: a batch, and no item named.
        UnfitValues: something else than finite numbers, or weight on a key that may not be seen.
    """
    weights = layered("weights", array, ("query", "key"), item)
    n_layers, n_heads, n_queries, n_keys = weights.shape
    seen = masks(allowed, n_layers, n_queries, n_keys)
    if (weights[~np.broadcast_to(seen[:, None], weights.shape)] != 0).any():
        raise UnfitValues("weights", "weight on a key that may not be seen")
    kind = _kind(n_queries, n_keys, query_tokens)
    layers = tuple(LayerTrace(i, kind, None, None, None, None, seen[i], given=weights[i]) for i in range(n_layers))
    trace = _traced(layers, tokens, query_tokens, (n_layers, n_heads, 0))
    return replace(trace, notes=tuple(_notes(weights)))


def from_arrays(
    *,
    q: Array,
    k: Array,
    v: Array,
    scale: float | None = None,
    allowed: Array | None = None,
    bias: Array | None = None,
    softcap: float | None = None,
    weights: Array | None = None,
    tokens: Tokens = None,
    query_tokens: Tokens = None,
    item: int | None = None,
) -> Trace:
    """A trace of q, k and v as they are multiplied (after rotation and norms), with every step of every head.

    Args:
        q: (query, d_head), (head, query, d_head), (layer, head, query, d_head), or with a batch (layer, item, head,
            query, d_head). k: the same with keys for queries, v: with d_v for d_head; they may have fewer heads than q,
            each shared by as many neighbours.
        scale, softcap: as in `attention`, the same for all layers.
        allowed: (query, key) or (layer, query, key), True where a key may be seen.
        bias: (query, key), (head, query, key) or (layer, head, query, key), added to the scaled scores.
        weights: what they should come to, where it is known: compared, and refused if it differs.
        tokens, query_tokens, item: as in `from_weights`.

    Raises:
        UnfitShape, ShapeMismatch, WhichItem, UnfitValues: as in `from_weights`.
        TraceMismatch: `weights` differ from those of q and k.
    """
    asks = layered("q", q, ("query", "d_head"), item)
    offers, gives = layered("k", k, ("key", "d_head"), item), layered("v", v, ("key", "d_v"), item)
    check_factors(asks, offers, gives)
    n_layers, n_heads, n_queries, d_head = asks.shape
    n_keys = offers.shape[2]
    seen = masks(allowed, n_layers, n_queries, n_keys)
    added = None if bias is None else spread("bias", bias, (n_layers, n_heads, n_queries, n_keys), item)
    factor = 1 / math.sqrt(d_head) if scale is None else float(scale)
    kind = _kind(n_queries, n_keys, query_tokens)
    layers = tuple(
        LayerTrace(
            *(i, kind, asks[i], offers[i], gives[i], factor, seen[i]),
            bias=None if added is None else added[i],
            softcap=softcap,
        )
        for i in range(n_layers)
    )
    trace = _traced(layers, tokens, query_tokens, (n_layers, n_heads, d_head))
    if weights is None:
        return trace
    return _held(trace, spread("weights", weights, (n_layers, n_heads, n_queries, n_keys), item))


def _traced(layers: tuple[LayerTrace, ...], tokens: Tokens, query_tokens: Tokens, sizes: tuple[int, int, int]) -> Trace:
    n_queries, n_keys = layers[0].allowed.shape
    keys, text = _tokens("tokens", tokens, n_keys)
    rows, asked = ((), "") if layers[0].kind == "self" else _tokens("query_tokens", query_tokens, n_queries)
    is_causal = n_queries == n_keys and not any(np.triu(layer.allowed, 1).any() for layer in layers)
    card = _card(sizes, is_causal, n_keys)
    return Trace(text, keys, card, "arrays", layers, None, _verify, target=asked, target_tokens=rows)


def _kind(n_queries: int, n_keys: int, query_tokens: Tokens) -> str:
    """One sequence that looks at itself, or two of which one asks the other."""
    return "self" if query_tokens is None and n_queries == n_keys else "cross"


def _tokens(name: str, given: Tokens, n: int) -> tuple[tuple[Token, ...], str]:
    """One token for each of `n` positions, and the text they make; never fewer, never cropped."""
    if isinstance(given, str):
        raise UnfitValues(name, "one text: give its tokens as a list")
    words = [str(i) for i in range(n)] if given is None else list(given)
    if len(words) != n:
        raise ShapeMismatch(axis=name, expected=n, actual=len(words))
    found, start = [], 0
    for word in words:
        token = word if isinstance(word, Token) else Token(str(word), -1, start, start + len(str(word)))
        found.append(token)
        start += len(token.text) + 1
    return tuple(found), " ".join(token.text for token in found)


def _card(sizes: tuple[int, int, int], is_causal: bool, n_keys: int) -> ModelCard:
    n_layers, n_heads, d_head = sizes
    title = {"en": "Your own arrays", "zh": "自己的数组"}
    source = {"en": "given as arrays", "zh": "以数组给出"}
    return ModelCard(
        name="arrays",
        title=MappingProxyType(title),
        source=MappingProxyType(source),
        n_layers=n_layers,
        n_heads=n_heads,
        d_model=0,
        d_head=d_head,
        n_parameters=0,
        causal=is_causal,
        max_tokens=n_keys,
        reading_head=None,
        licence="",
        is_available=True,
        details=MappingProxyType({"name": "arrays", "title": title, "source": source, "tokenizer": "words"}),
    )


def from_named(arrays: Mapping[str, np.ndarray], item: int | None = None) -> Trace:
    """A trace of the arrays of a file, by their names.

    Args:
        arrays: what `arrays.read` gave: "q", "k" and "v", or "weights", or a single array under any name; with them
            what `from_arrays` and `from_weights` take under the names there ("tokens", "allowed", "scale" …).

    Raises:
        UnreadableArrays: there is neither; otherwise as those two.
    """
    given: dict[str, Any] = {n: array.tolist() if array.dtype.kind == "U" else array for n, array in arrays.items()}
    extras = _picked(given, "tokens", "query_tokens", "allowed")
    if {"q", "k", "v"} <= set(given):
        scalars: dict[str, Any] = {
            name: _scalar(name, value) for name, value in _picked(given, "scale", "softcap").items()
        }
        factors = _picked(given, "q", "k", "v", "bias", "weights")
        return from_arrays(item=item, **factors, **extras, **scalars)
    others = [name for name in given if name not in extras]
    if "weights" not in given and len(others) != 1:
        raise UnreadableArrays(f"there is no q, k and v and no weights among {', '.join(sorted(given)) or 'nothing'}")
    return from_weights(given["weights" if "weights" in given else others[0]], item=item, **extras)


def _picked(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}


def _scalar(name: str, value: Any) -> float:
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "iuf":
        raise UnfitValues(name, "something else than one number")
    return float(array.reshape(())[()])


def _notes(weights: Float[np.ndarray, "layer head query key"]) -> Iterator[Note]:
    """Rows that do not sum to 1 (those of zeros have no keys) and numbers outside 0–1: where each is furthest off."""
    off = _row_errors(weights)
    if (off > ROW_TOLERANCE).any():
        layer, head, row = (int(i) for i in np.unravel_index(off.argmax(), off.shape))
        total = float(weights[layer, head, row].sum(dtype=np.float64))
        yield Note("row_sums", (row,), layer=layer, head=head, value=total, n=int((off > ROW_TOLERANCE).sum()))
    outside = np.maximum(-weights, weights - 1)
    if outside.max() > ROW_TOLERANCE:
        layer, head, row, key = (int(i) for i in np.unravel_index(outside.argmax(), outside.shape))
        value, n = float(weights[layer, head, row, key]), int((outside > ROW_TOLERANCE).sum())
        yield Note("outside", (row, key), layer=layer, head=head, value=value, n=n)


def _row_errors(weights: Float[np.ndarray, "*heads query key"]) -> Float[np.ndarray, "*heads query"]:
    return np.abs(weights.sum(axis=-1, dtype=np.float64) - (weights != 0).any(axis=-1))


def _verify(trace: Trace, full: bool) -> Verification:
    """Own arrays have no model to be held against: what is checked is that they are weights."""
    looks = [layer.weights(h) for layer in trace.layers for h in range(layer.n_heads)]
    forbidden = [~layer.allowed for layer in trace.layers for _ in range(layer.n_heads)]
    return Verification(
        reference="given",
        largest_difference=0.0,
        tolerance=ROW_TOLERANCE,
        layer=0,
        n_rows=0,
        row_sum_error=float(max(_row_errors(weights).max() for weights in looks)),
        forbidden_weight=float(max(np.abs(w[f]).max(initial=0.0) for w, f in zip(looks, forbidden, strict=True))),
    )


def _held(trace: Trace, weights: Float[np.ndarray, "layer head query key"]) -> Trace:
    """The trace, once its weights are those that were given with it."""
    for layer, expected in zip(trace.layers, weights, strict=True):
        error = max(float(np.abs(layer.weights(h) - expected[h]).max()) for h in range(layer.n_heads))
        if not error <= WEIGHT_TOLERANCE:
            raise TraceMismatch(layer.index, error)
    return trace
