"""What-ifs: a second run of a model in which something is different. Never a patch of numbers from the first run.

What each edit means, in the stages of `attention_core.steps`:

    causal       True: a query may see no later key, on top of the model's own mask. False: whoever may see a token may
                 be seen by it, which undoes a causal mask (allowed | allowedᵀ). None: the model's own mask.
    positions    False: no position vector is added to the words before the first layer.
    scale        False: scaled = scores, the factor 1/√d_head is left out.
    temperature  T: softmax reads everything divided by T: scaled = scores · factor / T, and so are a model's bias,
                 its soft-cap and its sink. Below 1 sharpens, above 1 flattens; T applies without the factor too.
    tie          "qk": keys are made with W_Q (k = what the keys read · W_Q). "kv": values are made with W_K, and go
                 through W_O as before; only where values are as wide as keys. What is read stays the same, so that with
                 "qk" the scores are symmetric only in a layer whose queries and keys read the same.
    order        The words in another order: order[i] is the number, in the text, of the token that is fed at place i.
                 Positions belong to places, tokens move.
    silenced     Tokens whose key is hidden from every query but their own.
    cut          Edges (layer, head, query, key): that query of that head may not see that key; head None: in all heads.
                 Like every mask it acts before softmax, so that the rest of the row takes the share over.
    layer        Where causal, scale, temperature, tie and silenced hold: in every layer (None) or in this one alone.
                 Positions and order concern what is fed, and an edge names its layer.

The taught models take all of them. Real models that read one text and compute attention through the library's interface
take all but `positions` and `tie`.

`silenced` and `cut` speak of tokens by their number in the text as it was typed (the model's own special tokens
counted), whatever `order` says: they stay with their words. A query that is left without any key has weights 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
from jaxtyping import Bool

from attention_core.errors import UnfitEdit

Edge = tuple[int, int | None, int, int]  # layer, head (None: all of them), query, key
Item = TypeVar("Item")

TIES = (None, "qk", "kv")


@dataclass(frozen=True)
class Edits:
    """What is different in a second run; `Edits()` changes nothing. Frozen and hashable.

    Attributes:
        causal, positions, scale, temperature, tie, order, silenced, cut, layer: see the module.

    Raises:
        UnfitEdit: a value that no model could take; one that this model or text cannot take is found by `check`.
    """

    causal: bool | None = None
    positions: bool = True
    scale: bool = True
    temperature: float = 1.0
    tie: Literal["qk", "kv"] | None = None
    order: tuple[int, ...] | None = None
    silenced: frozenset[int] = field(default_factory=frozenset)
    cut: frozenset[Edge] = field(default_factory=frozenset)
    layer: int | None = None

    def __post_init__(self) -> None:
        for name, make in (("silenced", frozenset), ("cut", _edges), ("order", tuple)):
            object.__setattr__(self, name, _made(name, make, getattr(self, name)))
        wanted = {
            "causal": ("True, False or None", self.causal is None or isinstance(self.causal, bool)),
            "positions": ("True or False", isinstance(self.positions, bool)),
            "scale": ("True or False", isinstance(self.scale, bool)),
            "temperature": ("a finite number above 0", _is_temperature(self.temperature)),
            "tie": ('"qk", "kv" or None', self.tie in TIES),
            "order": ("a permutation of 0 … n − 1", self.order is None or _is_permutation(self.order)),
            "silenced": ("token numbers from 0", _are(_is_number, self.silenced)),
            "cut": ("edges (layer, head or None, query, key), counted from 0", _are(_is_edge, self.cut)),
            "layer": ("a layer's number or None", self.layer is None or _is_number(self.layer)),
        }
        for name, (accepted, is_fit) in wanted.items():
            if not is_fit:
                raise UnfitEdit(name, getattr(self, name), accepted)
        object.__setattr__(self, "temperature", float(self.temperature))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is different."""
        return replace(self, layer=None) == Edits()

    def check(self, n_tokens: int, n_heads: Sequence[int] | Mapping[int, int]) -> None:
        """Hold the edits against a text of so many tokens and a model with so many heads in each layer.

        Args:
            n_heads: by layer; a mapping where the layers' numbers do not run from 0.

        Raises:
            UnfitEdit: a token, layer or head is named that is not there, or the order is of another length.
        """
        heads = n_heads if isinstance(n_heads, Mapping) else dict(enumerate(n_heads))
        layers = _listed(heads)
        if self.order is not None and len(self.order) != n_tokens:
            raise UnfitEdit("order", self.order, f"a permutation of the {n_tokens} tokens")
        for token in self.silenced:
            if token >= n_tokens:
                raise UnfitEdit("silenced", token, f"a token of 0–{n_tokens - 1}")
        if self.layer is not None and self.layer not in heads:
            raise UnfitEdit("layer", self.layer, f"a layer of {layers}")
        for edge in self.cut:
            layer, head, query, key = edge
            if layer not in heads or (head or 0) >= heads[layer] or max(query, key) >= n_tokens:
                sizes = f"{n_tokens} tokens, layers {layers}, and heads by layer: {', '.join(map(str, heads.values()))}"
                raise UnfitEdit("cut", edge, f"an edge that is there ({sizes})")

    def ordered(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """What stands at each place when these are fed in this order."""
        return tuple(items) if self.order is None else tuple(items[i] for i in self.order)

    def place(self, token: int) -> int:
        """The place at which a token of the text is fed."""
        return token if self.order is None else self.order.index(token)

    def within(self, layer: int) -> Edits:
        """What holds inside this layer; what concerns the tokens (positions, order) is kept, cuts are its own."""
        cut = frozenset(edge for edge in self.cut if edge[0] == layer)
        if self.layer in (None, layer):
            return replace(self, cut=cut)
        return Edits(positions=self.positions, order=self.order, cut=cut)

    def factor(self, scale: float, layer: int) -> float:
        """What the scores of this layer are multiplied by, where the model's own factor is `scale`."""
        here = self.within(layer)
        return (scale if here.scale else 1.0) / here.temperature

    def apply_to_mask(
        self, allowed: Bool[np.ndarray, "query key"], layer: int, n_heads: int
    ) -> Bool[np.ndarray, "head query key"]:
        """Where each head of a self-attention layer may look, from where the model lets it: (place, place) by head.

        Args:
            allowed: the model's own mask, rows and columns by place.
        """
        here = self.within(layer)
        if here.causal is not None:
            allowed = np.tril(allowed) if here.causal else allowed | allowed.T
        found = np.repeat(allowed[None], n_heads, axis=0)
        for token in here.silenced:
            place = self.place(token)
            kept = found[:, place, place].copy()
            found[:, :, place] = False
            found[:, place, place] = kept
        for _, head, query, key in here.cut:
            found[slice(None) if head is None else head, self.place(query), self.place(key)] = False
        return found


def _listed(layers: Iterable[int]) -> str:
    found = sorted(layers)
    is_whole = found == list(range(len(found)))
    return f"0–{len(found) - 1}" if is_whole else ", ".join(map(str, found))


def _made(name: str, make: Callable[[Any], object], value: object) -> object:
    # Lists and sets are taken too; what is kept is hashable.
    try:
        return value if value is None else make(value)
    except TypeError as error:
        raise UnfitEdit(name, value, "a collection of numbers") from error


def _edges(value: Iterable[Iterable[int | None]]) -> frozenset[tuple[int | None, ...]]:
    return frozenset(tuple(edge) for edge in value)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are(is_one: Callable[[Any], bool], values: object) -> bool:
    return isinstance(values, frozenset) and all(map(is_one, values))


def _is_temperature(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0 and math.isfinite(value)


def _is_permutation(order: tuple[int, ...]) -> bool:
    return all(map(_is_number, order)) and sorted(order) == list(range(len(order)))


def _is_edge(edge: tuple) -> bool:
    return len(edge) == 4 and all(_is_number(part) for i, part in enumerate(edge) if i != 1 or part is not None)


EMPTY = Edits()
