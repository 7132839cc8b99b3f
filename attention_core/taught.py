"""The taught models: small transformers without norms, run in float64 with NumPy alone.

The stream of such a model has named parts, each d_model wide: "word" (embedding + position), "note" and "answer". A
layer's queries read some parts, its keys and values read some, and it writes one:

    Q = Σ_{p ∈ query_reads} stream[p] W_Q        K, V = Σ_{p ∈ key_reads} stream[p] W_K, W_V
    stream[writes] += Σ_heads softmax(Q Kᵀ / √d_head) V W_O

As one input and three matrices, the same numbers are Q = X̃ W̃_Q with X̃ the parts side by side and W̃_Q the matrix W_Q
repeated under itself for every part that is read, zeros for every part that is not. Traces hold this form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from jaxtyping import Bool, Float, Int

from attention_core import plain
from attention_core.cards import ModelCard
from attention_core.edits import EMPTY, Edits
from attention_core.errors import EmptyText, TextTooLong, TraceMismatch, UnfitEdit, UnsupportedModel
from attention_core.readouts import Readout
from attention_core.steps import project, read_only
from attention_core.trace import Answer, AnswerSum, LayerTrace, Token, Trace
from attention_core.words import SPLITTERS, fold
from attention_core.writing import Writing, agreeing

Stream = Mapping[str, Float[np.ndarray, "token d_model"]]


@dataclass(frozen=True, eq=False)
class Mlp:
    """relu(s · w_in + b_in) · w_out + b_out, for each token by itself.

    Attributes:
        w_in: (d_model, hidden), b_in: (hidden,), w_out: (hidden, d_model), b_out: (d_model,).
    """

    w_in: Float[np.ndarray, "d_model hidden"]
    b_in: Float[np.ndarray, " hidden"]
    w_out: Float[np.ndarray, "hidden d_model"]
    b_out: Float[np.ndarray, " d_model"]

    def __call__(self, stream: Float[np.ndarray, "token d_model"]) -> Float[np.ndarray, "token d_model"]:
        return np.maximum(stream @ self.w_in + self.b_in, 0) @ self.w_out + self.b_out


@dataclass(frozen=True, eq=False)
class TaughtLayer:
    """The matrices of one layer, as trained, and which parts of the stream they read and write.

    Attributes:
        w_q, w_k: (head, d_model, d_head), w_v: (head, d_model, d_v), w_o: (head, d_v, d_model).
        query_reads, key_reads: names of parts; writes: the name of one.
        window: how far a token sees to either side, or None for everywhere.
        mlp: what follows the attention, or None. It reads `query_reads` and what the attention wrote.
    """

    w_q: Float[np.ndarray, "head d_model d_head"]
    w_k: Float[np.ndarray, "head d_model d_head"]
    w_v: Float[np.ndarray, "head d_model d_v"]
    w_o: Float[np.ndarray, "head d_v d_model"]
    query_reads: tuple[str, ...]
    key_reads: tuple[str, ...]
    writes: str
    window: int | None = None
    mlp: Mlp | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """Every part that any projection reads: what X̃ holds side by side."""
        return tuple(dict.fromkeys(self.query_reads + self.key_reads))

    def allowed(self, n: int, is_causal: bool) -> Bool[np.ndarray, "query key"]:
        """Which keys each of `n` queries may see."""
        away = np.arange(n)[:, None] - np.arange(n)
        seen = np.full((n, n), True) if self.window is None else np.abs(away) <= self.window
        return read_only(seen & (away >= 0) if is_causal else seen)


@dataclass(frozen=True, eq=False)
class TaughtModel:
    """A taught model, ready to trace. A value: tracing changes nothing in it.

    Attributes:
        card: what is known about it.
        embedding: (word, d_model); positions: (place, d_model), the same for every text, or None without positions.
        layers: bottom to top; readouts: what turns the stream into answers.
    """

    card: ModelCard
    embedding: Float[np.ndarray, "word d_model"]
    positions: Float[np.ndarray, "place d_model"] | None
    layers: tuple[TaughtLayer, ...]
    readouts: tuple[Readout, ...]

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        return tuple(self.card.details["vocabulary"])

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.vocabulary)}

    def tokenize(self, text: str) -> tuple[Token, ...]:
        """The tokens of `text`. A word outside the vocabulary is fed as the card's unknown word and flagged.

        Raises:
            EmptyText: no token; TextTooLong: more tokens than `card.max_tokens`.
        """
        details = self.card.details
        found = SPLITTERS[details["tokenizer"]](text)
        prefix = [Token(word, self._ids[word], 0, 0, is_special=True) for word in details["prefix"]]
        if not found:
            raise EmptyText()
        if len(prefix) + len(found) > self.card.max_tokens:
            raise TextTooLong(n=len(prefix) + len(found), limit=self.card.max_tokens)
        unknown = self._ids[details["unknown"]]
        ids = [self._ids.get(fold(text[start:end])) for start, end in found]
        typed = (
            Token(text[start:end], unknown if i is None else i, start, end, is_unknown=i is None)
            for (start, end), i in zip(found, ids, strict=True)
        )
        return (*prefix, *typed)

    def trace(self, text: str, pair: str | None = None, edits: Edits = EMPTY) -> Trace:
        """Run the model on `text` and keep every factor of its attention.

        Args:
            edits: what is different in this run. The trace's tokens stand in the order in which they were fed.

        Raises:
            EmptyText, TextTooLong: the text does not fit.
            UnfitEdit: an edit names a token, layer or head that is not there, or needs other shapes.
            UnsupportedModel: a pair was given; a taught model reads one text.
            TraceMismatch: the steps differ from the plain forward pass (a damaged model file).
        """
        if pair is not None:
            raise UnsupportedModel("a taught model reads one text, not a pair")
        tokens = self.tokenize(text)
        edits.check(len(tokens), [len(layer.w_q) for layer in self.layers])
        return self._traced(text, edits.ordered(tokens), edits)

    def trace_written(self, writing: Writing) -> Trace:
        """What a model wrote, by its numbers: every token but the last, which has not been read yet.

        Raises:
            TraceMismatch: the steps differ from the plain forward pass, or from what the model said while writing.
        """
        return agreeing(self._traced(writing.text_read, writing.read), writing, plain.TOLERANCE)

    def read_on(self, ids: Sequence[int]) -> tuple[Float[np.ndarray, " word"], tuple[LayerTrace, ...]]:
        """The logits of the word after these, and every layer's factors.

        Raises:
            UnsupportedModel: its answers are no words of its own.
        """
        run = self._run(np.array(ids))
        readout = self.next_word()
        return readout.logits(run.streams[readout.after])[-1], run.layers

    def next_word(self) -> Readout:
        """The read-out that says the next word.

        Raises:
            UnsupportedModel: there is none: its answers are no words of its own.
        """
        found = [one for one in self.readouts if one.at != "prefix" and one.answers == self.vocabulary]
        if not found:
            raise UnsupportedModel("this model gives no probabilities of words")
        return found[0]

    def _traced(self, text: str, tokens: tuple[Token, ...], edits: Edits = EMPTY) -> Trace:
        run = self._run(np.array([token.id for token in tokens]), edits)
        trace = Trace(
            text=text,
            tokens=tokens,
            card=self.card,
            method="numpy",
            layers=run.layers,
            predictions=self._answers(run, tokens),
            verify=partial(plain.verify, self),
            sum_answer=partial(self._sum_answer, run, tokens),
            edits=edits,
        )
        verification = trace.check()
        if not verification.passed:
            raise TraceMismatch(verification.layer, verification.largest_difference)
        return trace

    def readout_at(self, token: Token) -> Readout | None:
        """The read-out that answers at this token."""
        return next((readout for readout in self.readouts if readout.answers_at(token)), None)

    def _run(self, ids: Int[np.ndarray, " token"], edits: Edits = EMPTY) -> Run:
        places = self.positions if edits.positions else None
        word = self.embedding[ids] if places is None else self.embedding[ids] + places[: len(ids)]
        streams: list[Stream] = [{"word": word}]
        layers, fed = [], []
        for index, layer in enumerate(self.layers):
            before = streams[-1]
            traced = _trace_layer(index, _tied(layer, edits.within(index).tie), before, self.card.causal, edits)
            after = _added(before, layer.writes, np.asarray(traced.written))
            extra = None if layer.mlp is None else layer.mlp(_mlp_input(layer, after))
            after = after if extra is None else _added(after, layer.writes, extra)
            layers.append(traced)
            streams.append(after)
            fed.append(extra)
        return Run(word, tuple(layers), tuple(fed), tuple(streams[1:]))

    def _answers(self, run: Run, tokens: tuple[Token, ...]) -> tuple[tuple[Answer, ...], ...]:
        return tuple(
            () if (readout := self.readout_at(token)) is None else readout.best(run.streams[readout.after], i)
            for i, token in enumerate(tokens)
        )

    def _sum_answer(self, run: Run, tokens: tuple[Token, ...], token: int, word: str | None) -> AnswerSum:
        readout = self.readout_at(tokens[token])
        if readout is None:
            raise UnsupportedModel("the model answers nothing at this token")
        writes = tuple(layer.writes for layer in self.layers)
        return readout.sum_answer(run.word, run.streams[readout.after], run.layers, run.fed, writes, token, word)


@dataclass(frozen=True, eq=False)
class Run:
    """One pass: the embedded words; by layer its factors, what its MLP added (or None), and the stream after it."""

    word: Float[np.ndarray, "token d_model"]
    layers: tuple[LayerTrace, ...]
    fed: tuple[Float[np.ndarray, "token d_model"] | None, ...]
    streams: tuple[Stream, ...]


def sinusoids(n: int, d_model: int) -> Float[np.ndarray, "token d_model"]:
    """Positions 0 … n−1 as waves, sine in even columns and cosine in odd ones (Vaswani et al. 2017, section 3.5)."""
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    waves = np.empty((n, d_model))
    waves[:, 0::2], waves[:, 1::2] = np.sin(angles), np.cos(angles)[:, : d_model // 2]
    return waves


def _added(stream: Stream, part: str, more: Float[np.ndarray, "token d_model"]) -> Stream:
    return {**stream, part: stream[part] + more if part in stream else more}


def _mlp_input(layer: TaughtLayer, stream: Stream) -> Float[np.ndarray, "token d_model"]:
    return np.add.reduce([stream[part] for part in dict.fromkeys((*layer.query_reads, layer.writes))])


def _tied(layer: TaughtLayer, tie: str | None) -> TaughtLayer:
    if tie == "qk":
        return replace(layer, w_k=layer.w_q)
    if tie == "kv" and layer.w_k.shape != layer.w_v.shape:
        keys, values = layer.w_k.shape[2], layer.w_v.shape[2]
        raise UnfitEdit("tie", tie, f"another: W_K makes vectors of {keys} numbers, and values have {values}")
    return replace(layer, w_v=layer.w_k) if tie == "kv" else layer


def _trace_layer(index: int, layer: TaughtLayer, stream: Stream, is_causal: bool, edits: Edits) -> LayerTrace:
    x = read_only(np.concatenate([stream[part] for part in layer.parts], axis=1))
    w_q = _stacked(layer.w_q, layer.query_reads, layer.parts)
    w_k, w_v = (_stacked(w, layer.key_reads, layer.parts) for w in (layer.w_k, layer.w_v))
    by_head = edits.apply_to_mask(layer.allowed(len(x), is_causal), index, len(layer.w_q))
    allowed = read_only(np.asarray(by_head.any(axis=0)))
    traced = LayerTrace(
        index=index,
        kind="self",
        q=_projected(x, w_q),
        k=_projected(x, w_k),
        v=_projected(x, w_v),
        scale=edits.factor(1 / math.sqrt(layer.w_q.shape[2]), index),
        allowed=allowed,
        hidden=None if (allowed == by_head).all() else read_only(allowed & ~by_head),
        x=x,
        x_key=x,
        w_q=w_q,
        w_k=w_k,
        w_v=w_v,
        w_o=layer.w_o,
    )
    written = np.add.reduce([traced.head(h).output @ layer.w_o[h] for h in range(traced.n_heads)])
    return replace(traced, written=read_only(written))


def _projected(
    x: Float[np.ndarray, "token d_in"], w: Float[np.ndarray, "head d_in d_head"]
) -> Float[np.ndarray, "head token d_head"]:
    return read_only(np.stack([project(x, one) for one in w]))


def _stacked(
    w: Float[np.ndarray, "head d_model d_head"], reads: tuple[str, ...], parts: tuple[str, ...]
) -> Float[np.ndarray, "head d_in d_head"]:
    # W once for every part that is read, zeros for every part that is not: see the module's X̃ and W̃.
    blocks = [w if part in reads else np.zeros_like(w) for part in parts]
    return read_only(np.concatenate(blocks, axis=1))
