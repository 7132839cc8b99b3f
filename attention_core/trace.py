"""What one run of a model leaves behind: tokens, layers, answers, and the check that all of it is the model's own.

Factors are kept (q, k, v per head), the query × key matrices of a head are computed when somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from attention_core.cards import ModelCard
from attention_core.edits import EMPTY, Edits
from attention_core.errors import UnsupportedModel, WeightsOnly
from attention_core.sizes import n_bytes
from attention_core.steps import HeadSteps, HeadWeights, attention, read_only
from attention_core.tokens import Note, Token

# The arrays of a layer that are no part of the model.
OF_THE_TEXT = ("q", "k", "v", "allowed", "bias", "x", "x_key", "written", "given", "hidden")


@dataclass(frozen=True, eq=False)
class LayerTrace:
    """The factors of one layer's attention. All arrays are read-only.

    Attributes:
        index: the layer's number in the model, from 0; a hybrid model's other layers are left out, not renumbered.
        kind: the stack it belongs to: "self", "encoder", "decoder" or "cross".
        q: (head, query, d_head), k: (kv_head, key, d_head), v: (kv_head, key, d_v); None where only `given` is known.
        scale: what the scores are multiplied by, or None with them.
        allowed: (query, key) where a key may be seen.
        bias: (head, query, key) added after scaling, or None.
        softcap: the cap c of c·tanh(scaled/c), or None where the layer has none.
        sinks: (head,) a logit per head that stands for no key, or None.
        x, x_key: (query, d_in), (key, d_key_in) what the projections read, or None; d_in is d_model unless a layer
            reads several parts of the stream side by side.
        w_q, w_k, w_v: (head, d_in, d_head) or None; w_o: (head, d_v, d_model) or None; b_q, b_k, b_v: (head, d_head)
            or None; b_o: (d_model,) added once for all heads, or None.
        is_turned: q and k are not x w + b: the model rotates, norms or scales them before it multiplies.
        reason: why x and the matrices are None, or None where nothing is missing.
        written: (query, d_model) what the layer, all heads together, adds to the stream, or None.
        given: (head, query, key) weights that came without q, k and v, or None.
        hidden: (head, query, key) True where one head may not see what `allowed` lets others see, or None.
    """

    index: int
    kind: str
    q: Float[np.ndarray, "head query d_head"] | None
    k: Float[np.ndarray, "kv_head key d_head"] | None
    v: Float[np.ndarray, "kv_head key d_v"] | None
    scale: float | None
    allowed: Bool[np.ndarray, "query key"]
    bias: Float[np.ndarray, "head query key"] | None = None
    softcap: float | None = None
    sinks: Float[np.ndarray, " head"] | None = None
    x: Float[np.ndarray, "query d_in"] | None = None
    x_key: Float[np.ndarray, "key d_key_in"] | None = None
    w_q: Float[np.ndarray, "head d_in d_head"] | None = None
    w_k: Float[np.ndarray, "kv_head d_key_in d_head"] | None = None
    w_v: Float[np.ndarray, "kv_head d_key_in d_v"] | None = None
    w_o: Float[np.ndarray, "head d_v d_model"] | None = None
    written: Float[np.ndarray, "query d_model"] | None = None
    b_q: Float[np.ndarray, "head d_head"] | None = None
    b_k: Float[np.ndarray, "kv_head d_head"] | None = None
    b_v: Float[np.ndarray, "kv_head d_v"] | None = None
    b_o: Float[np.ndarray, " d_model"] | None = None
    is_turned: bool = False
    reason: str | None = None
    given: Float[np.ndarray, "head query key"] | None = None
    hidden: Bool[np.ndarray, "head query key"] | None = None

    @property
    def n_heads(self) -> int:
        heads = self.q if self.given is None else self.given
        return 0 if heads is None else len(heads)

    @property
    def n_kv_heads(self) -> int:
        return self.n_heads if self.k is None else len(self.k)

    def head(self, h: int) -> HeadSteps:
        """Every stage of head `h`, computed now.

        Raises:
            IndexError: the layer has no such head.
            WeightsOnly: there are no q, k and v to compute it from; `head_weights` has what there is.
        """
        self._find(h)
        if self.q is None or self.k is None or self.v is None:
            raise WeightsOnly(self.index)
        shared = h * self.n_kv_heads // self.n_heads  # Grouped heads read one key/value head together.
        steps = attention(
            self.q[h],
            self.k[shared],
            self.v[shared],
            scale=self.scale,
            allowed=self.allowed if self.hidden is None else self.allowed & ~self.hidden[h],
            bias=_part(self.bias, h),
            softcap=self.softcap,
            sink=None if self.sinks is None else float(self.sinks[h]),
        )
        return replace(
            steps,
            x=self.x,
            x_key=self.x_key,
            w_q=_part(self.w_q, h),
            w_k=_part(self.w_k, shared),
            w_v=_part(self.w_v, shared),
            w_o=_part(self.w_o, h),
            b_q=_part(self.b_q, h),
            b_k=_part(self.b_k, shared),
            b_v=_part(self.b_v, shared),
            is_turned=self.is_turned,
        )

    def at_rows(self, rows: Int[np.ndarray, " row"]) -> LayerTrace:
        """The same layer with only these queries, all keys kept."""
        return replace(
            self,
            q=_rows(self.q, rows),
            allowed=self.allowed[rows],
            bias=_rows(self.bias, rows),
            x=None if self.x is None else self.x[rows],
            written=None if self.written is None else self.written[rows],
            given=_rows(self.given, rows),
            hidden=_rows(self.hidden, rows),
        )

    def head_weights(self, h: int) -> HeadWeights:
        """What head `h` looks at; all its stages (a `HeadSteps`) where there are q, k and v.

        Raises:
            IndexError: the layer has no such head.
        """
        if self.given is None:
            return self.head(h)
        self._find(h)
        # No softmax makes a row of zeros: such a query had no key.
        has_keys = read_only((self.given[h] != 0).any(axis=1))
        return HeadWeights(weights=self.given[h], allowed=self.allowed, has_keys=has_keys)

    def weights(self, head: int) -> Float[np.ndarray, "query key"]:
        """The attention weights of one head: rows ask, columns answer."""
        return self.head_weights(head).weights

    def _find(self, h: int) -> None:
        if not 0 <= h < self.n_heads:
            raise IndexError(f"head {h} is outside layer {self.index}'s heads 0–{self.n_heads - 1}")


@dataclass(frozen=True)
class Answer:
    """A word that the model answers at a token, with its probability and its logit (in nats, before softmax)."""

    word: str
    probability: float
    logit: float


@dataclass(frozen=True)
class LogitTerm:
    """What one key's value, through one head's weight, adds to a logit."""

    head: int
    key: int
    weight: float
    logit: float


@dataclass(frozen=True)
class LogitPart:
    """What one part of the stream adds to a logit.

    Attributes:
        kind: "embedding", "layer" (its attention), "mlp" or "bias" (the read-out's own).
        layer: the layer that wrote the part, or None for the embedding and the bias.
        logit: its contribution.
        is_read: False where the read-out has no weights on this part: its 0 is a structural zero, not a finding.
        terms: the same contribution by head and key; empty where it cannot be split.
    """

    kind: str
    layer: int | None
    logit: float
    is_read: bool
    terms: tuple[LogitTerm, ...] = ()


@dataclass(frozen=True)
class AnswerSum:
    """The exact sum behind one answer: embedding + each layer's output, through the read-out.

    The field calls it direct logit attribution. The parts' logits add up to `logit`; `probability` is
    exp(logit − log_sum_exp) over all answers.
    """

    token: int
    word: str
    logit: float
    log_sum_exp: float
    probability: float
    parts: tuple[LogitPart, ...]


@dataclass(frozen=True)
class Verification:
    """A trace held against the model's own computation.

    Attributes:
        reference: what the trace was compared with: "plain-forward" for a taught model, "model-output" for a real one.
        largest_difference: over every compared number, absolute; for a real model, as a share of the largest number it
            is compared with where that is above 1.
        tolerance: the largest difference that counts as equal.
        layer: where the largest difference is; the number of layers for the read-out.
        n_rows: query rows compared per layer.
        row_sum_error: largest |row sum − 1| over rows with keys.
        forbidden_weight: the largest weight on a key that may not be seen.
        dtype: the type of the numbers that a real model computed with ("float32", "bfloat16" …); its rounding is what
            `tolerance` allows for. "" where there is no such model.
    """

    reference: str
    largest_difference: float
    tolerance: float
    layer: int
    n_rows: int
    row_sum_error: float
    forbidden_weight: float
    dtype: str = ""

    @property
    def passed(self) -> bool:
        return (
            self.largest_difference <= self.tolerance
            and self.row_sum_error <= self.tolerance
            and self.forbidden_weight == 0
        )


@dataclass(frozen=True, eq=False)
class Trace:
    """One text through one model.

    Attributes:
        text: what was given; pair: the second segment, or None; tokens: the positions of both in order.
        card: the model's card; method: how the factors were had ("numpy" for the taught models, "arrays" for own ones).
        layers: the first stack's layers; stacks: every stack by name, one unless the model is an encoder–decoder.
        target, target_tokens: the second sequence, where there is one: what an encoder–decoder's decoder reads, or the
            rows of own arrays where they are others than the columns; "" and () elsewhere.
        predictions: per token the model's answers, likeliest first (none at a token where it answers nothing), or
            None where it has no such head.
        notes: what a reader should know about the tokens or the numbers.
        edits: what was different in this run; tokens stand in the order in which they were fed.
        image: the picture as the model saw it, 0–255, and grid: its patches, (rows, columns); None for texts.
    """

    text: str
    tokens: tuple[Token, ...]
    card: ModelCard
    method: str
    layers: tuple[LayerTrace, ...]
    predictions: tuple[tuple[Answer, ...], ...] | None
    verify: Callable[[Trace, bool], Verification] = field(repr=False)
    sum_answer: Callable[[int, str | None], AnswerSum] | None = field(default=None, repr=False)
    others: tuple[tuple[LayerTrace, ...], ...] = field(default=(), repr=False)
    target: str = ""
    target_tokens: tuple[Token, ...] = ()
    notes: tuple[Note, ...] = ()
    pair: str | None = None
    edits: Edits = EMPTY
    image: UInt8[np.ndarray, "height width 3"] | None = None
    grid: tuple[int, int] | None = None

    @cached_property
    def stacks(self) -> Mapping[str, tuple[LayerTrace, ...]]:
        return MappingProxyType({layers[0].kind: layers for layers in (self.layers, *self.others)})

    def asking(self, kind: str = "self") -> tuple[Token, ...]:
        """The tokens of the rows of a stack's layers: who asks."""
        return self.target_tokens if kind in {"decoder", "cross"} else self.tokens

    def answering(self, kind: str = "self") -> tuple[Token, ...]:
        """The tokens of the columns of a stack's layers: who answers."""
        return self.target_tokens if kind == "decoder" else self.tokens

    @cached_property
    def n_bytes(self) -> int:
        """Bytes of the arrays that this text brought about, shared ones counted once; the model's matrices are its."""
        layers = [layer for stack in self.stacks.values() for layer in stack]
        return n_bytes(getattr(layer, name) for layer in layers for name in OF_THE_TEXT)

    def check(self, full: bool = False) -> Verification:
        """Hold this trace against the model's own computation: eight query rows per layer, or all of them."""
        return self.verify(self, full)

    def explain_answer(self, token: int, word: str | None = None) -> AnswerSum:
        """The exact sum behind what the model answers at `token` (its likeliest word, or `word`).

        Raises:
            UnsupportedModel: the model answers nothing, there or anywhere.
            IndexError: no such token.
            KeyError: `word` is not among the answers.
        """
        if self.sum_answer is None:
            raise UnsupportedModel("this model answers nothing at a token")
        if not 0 <= token < len(self.tokens):
            raise IndexError(f"token {token} is outside 0–{len(self.tokens) - 1}")
        return self.sum_answer(token, word)


def _part(weights: np.ndarray | None, h: int) -> np.ndarray | None:
    return None if weights is None else weights[h]


def _rows(per_head: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if per_head is None else per_head[:, rows]
