"""What an edit did to one head: the weights of two runs of a text, by word, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from attention_core.edits import Edits
from attention_core.steps import HeadWeights, read_only


@dataclass(frozen=True, eq=False)
class Side:
    """One head in one run, its rows and columns by the words of the text, whatever the order in which they were fed.

    Attributes:
        weights: (query, key); allowed: (query, key) where a key may be seen; has_keys: (query,).
        entropy: (query,) −Σ w log₂ w of each row in bits: 0 where all goes to one key (or there is none), log₂ m where
            m keys share alike.
        row_sum: (query,).
    """

    weights: Float[np.ndarray, "query key"]
    allowed: Bool[np.ndarray, "query key"]
    has_keys: Bool[np.ndarray, " query"]
    entropy: Float[np.ndarray, " query"]
    row_sum: Float[np.ndarray, " query"]


@dataclass(frozen=True, eq=False)
class Change:
    """Two runs of one text through one head, and `difference` = after − before, (query, key)."""

    before: Side
    after: Side
    difference: Float[np.ndarray, "query key"]

    @property
    def largest(self) -> float:
        """The largest difference of any weight."""
        return float(np.abs(self.difference).max())


def change(before: HeadWeights, after: HeadWeights, edits: Edits) -> Change:
    """The same head in two runs: as it is, and in one whose words were fed as `edits` say."""
    first, second = side(before, Edits()), side(after, edits)
    return Change(first, second, read_only(second.weights - first.weights))


def side(head: HeadWeights, edits: Edits) -> Side:
    """A head's weights by the words of the text: row and column i belong to token i of the text."""
    places = np.array([edits.place(token) for token in range(len(head.weights))])
    weights = head.weights[np.ix_(places, places)]
    return Side(
        weights=read_only(weights),
        allowed=read_only(head.allowed[np.ix_(places, places)]),
        has_keys=read_only(head.has_keys[places]),
        entropy=read_only(entropy(weights)),
        row_sum=read_only(weights.sum(axis=1)),
    )


def entropy(weights: Float[np.ndarray, "query key"]) -> Float[np.ndarray, " query"]:
    """How spread each row is, in bits."""
    logs = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    return np.asarray(-(weights * logs).sum(axis=1)) + 0.0  # No −0.
