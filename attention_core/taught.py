"""The taught models: small transformers without norms, biases or MLPs, run in float64 with NumPy alone.

The stream of such a model has named parts, each d_model wide: "word" (embedding + position), "note" and "answer". A layer's
queries read some parts, its keys and values read some, and it writes one:

    Q = Σ_{p ∈ query_reads} stream[p] W_Q        K, V = Σ_{p ∈ key_reads} stream[p] W_K, W_V
    stream[writes] += Σ_heads softmax(Q Kᵀ / √d_head) V W_O

As one input and three matrices, the same numbers are Q = X̃ W̃_Q with X̃ the parts side by side and W̃_Q the matrix W_Q repeated
under itself for every part that is read, zeros for every part that is not. Traces hold this form.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from safetensors.numpy import load as load_tensors

from attention_core import plain
from attention_core.cards import FOLDER, ModelCard, card_of
from attention_core.errors import EmptyText, TextTooLong, TraceMismatch, UnsupportedModel
from attention_core.steps import project, read_only
from attention_core.trace import Answer, AnswerSum, LayerTrace, LogitPart, LogitTerm, Token, Trace
from attention_core.words import fold, spans

N_ANSWERS = 5  # How many of a token's answers a trace keeps.

Stream = Mapping[str, Float[np.ndarray, "token d_model"]]


@dataclass(frozen=True, eq=False)
class TaughtLayer:
    """The matrices of one layer, as trained, and which parts of the stream they read and write.

    Attributes:
        w_q, w_k: (head, d_model, d_head), w_v: (head, d_model, d_v), w_o: (head, d_v, d_model).
        query_reads, key_reads: names of parts; writes: the name of one.
    """

    w_q: Float[np.ndarray, "head d_model d_head"]
    w_k: Float[np.ndarray, "head d_model d_head"]
    w_v: Float[np.ndarray, "head d_model d_v"]
    w_o: Float[np.ndarray, "head d_v d_model"]
    query_reads: tuple[str, ...]
    key_reads: tuple[str, ...]
    writes: str

    @property
    def parts(self) -> tuple[str, ...]:
        """Every part that any projection reads: what X̃ holds side by side."""
        return tuple(dict.fromkeys(self.query_reads + self.key_reads))


@dataclass(frozen=True, eq=False)
class TaughtModel:
    """A taught model, ready to trace. A value: tracing changes nothing in it.

    Attributes:
        card: what is known about it.
        embedding: (vocabulary, d_model); readout: (d_model, vocabulary), from the parts named in `readout_reads`.
        layers: bottom to top.
    """

    card: ModelCard
    embedding: Float[np.ndarray, "word d_model"]
    layers: tuple[TaughtLayer, ...]
    readout: Float[np.ndarray, "d_model word"]
    readout_reads: tuple[str, ...]

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
        found = spans(text)
        if not found:
            raise EmptyText()
        if len(found) > self.card.max_tokens:
            raise TextTooLong(n=len(found), limit=self.card.max_tokens)
        unknown = self._ids[self.card.details["unknown"]]
        ids = [self._ids.get(fold(text[start:end])) for start, end in found]
        return tuple(
            Token(text[start:end], unknown if i is None else i, start, end, is_unknown=i is None)
            for (start, end), i in zip(found, ids, strict=True)
        )

    def trace(self, text: str, pair: str | None = None) -> Trace:
        """Run the model on `text` and keep every factor of its attention.

        Raises:
            EmptyText, TextTooLong: the text does not fit.
            UnsupportedModel: a pair was given; a taught model reads one text.
            TraceMismatch: the steps differ from the plain forward pass (a damaged model file).
        """
        if pair is not None:
            raise UnsupportedModel("a taught model reads one text, not a pair")
        tokens = self.tokenize(text)
        layers, stream = self._run(np.array([token.id for token in tokens]))
        trace = Trace(
            text=text,
            tokens=tokens,
            card=self.card,
            method="numpy",
            layers=layers,
            predictions=self._answers(stream),
            verify=partial(plain.verify, self),
            sum_answer=partial(self._sum_answer, layers, stream),
        )
        verification = trace.check()
        if not verification.passed:
            raise TraceMismatch(verification.layer, verification.largest_difference)
        return trace

    def _run(self, ids: Int[np.ndarray, " token"]) -> tuple[tuple[LayerTrace, ...], Stream]:
        stream = {"word": self.embedding[ids] + sinusoids(len(ids), self.card.d_model)}
        layers = []
        for index, layer in enumerate(self.layers):
            traced = _trace_layer(index, layer, stream, self.card.causal)
            layers.append(traced)
            stream[layer.writes] = stream.get(layer.writes, 0) + traced.written
        return tuple(layers), stream

    def logits(self, stream: Stream) -> Float[np.ndarray, "token word"]:
        """What the read-out makes of a finished stream, before softmax."""
        return sum(stream[part] for part in self.readout_reads) @ self.readout

    def _answers(self, stream: Stream) -> tuple[tuple[Answer, ...], ...]:
        logits = self.logits(stream)
        best = np.argsort(-logits, axis=1, kind="stable")[:, :N_ANSWERS]
        return tuple(
            tuple(Answer(self.vocabulary[w], math.exp(row[w] - log_sum_exp(row)), float(row[w])) for w in words)
            for row, words in zip(logits, best, strict=True)
        )

    def _sum_answer(self, layers: tuple[LayerTrace, ...], stream: Stream, token: int, word: str | None) -> AnswerSum:
        row = self.logits(stream)[token]
        answer = int(row.argmax()) if word is None else self._ids[word]
        direction = self.readout[:, answer]
        reads_word = "word" in self.readout_reads
        parts = [LogitPart(None, float(stream["word"][token] @ direction) if reads_word else 0.0, reads_word)]
        for layer, traced in zip(self.layers, layers, strict=True):
            is_read = layer.writes in self.readout_reads
            terms = _logit_terms(traced, token, direction) if is_read else ()
            parts.append(LogitPart(traced.index, math.fsum(t.logit for t in terms), is_read, terms))
        total = log_sum_exp(row)
        return AnswerSum(
            token=token,
            word=self.vocabulary[answer],
            logit=float(row[answer]),
            log_sum_exp=total,
            probability=math.exp(row[answer] - total),
            parts=tuple(parts),
        )


def load_taught(name: str, folder: Path = FOLDER) -> TaughtModel:
    """The taught model of that name, its weights checked against the card's checksum.

    Raises:
        UnknownModel: no such name in the catalogue.
        UnsupportedModel: the weights are missing or are not those of the card.
    """
    card = card_of(name)
    path = folder / f"{name}.safetensors"
    if not path.is_file():
        raise UnsupportedModel(f"the weights of {name!r} are missing: reinstall, or retrain it")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != card.details["sha256"]:
        raise UnsupportedModel(f"the weights of {name!r} are not those of its card: reinstall, or retrain it")
    return build(card, load_tensors(data))


def build(card: ModelCard, tensors: Mapping[str, np.ndarray]) -> TaughtModel:
    """A model from its card and tensors (`embedding`, `layers.{l}.w_q` …, `readout`), in float64."""
    exact = {name: read_only(tensor.astype(np.float64)) for name, tensor in tensors.items()}
    layers = tuple(
        TaughtLayer(
            **{name: exact[f"layers.{index}.{name}"] for name in ("w_q", "w_k", "w_v", "w_o")},
            query_reads=tuple(facts["query_reads"]),
            key_reads=tuple(facts["key_reads"]),
            writes=facts["writes"],
        )
        for index, facts in enumerate(card.details["layers"])
    )
    return TaughtModel(card, exact["embedding"], layers, exact["readout"], tuple(card.details["readout_reads"]))


def sinusoids(n: int, d_model: int) -> Float[np.ndarray, "token d_model"]:
    """Positions 0 … n−1 as waves, sine in even columns and cosine in odd ones (Vaswani et al. 2017, section 3.5)."""
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    waves = np.empty((n, d_model))
    waves[:, 0::2], waves[:, 1::2] = np.sin(angles), np.cos(angles)[:, : d_model // 2]
    return waves


def log_sum_exp(row: Float[np.ndarray, " word"]) -> float:
    """log Σ exp, shifted by the maximum so that it stays finite."""
    top = float(row.max())
    return top + math.log(float(np.exp(row - top).sum()))


def _trace_layer(index: int, layer: TaughtLayer, stream: Stream, is_causal: bool) -> LayerTrace:
    x = np.concatenate([stream[part] for part in layer.parts], axis=1)
    w_q = _stacked(layer.w_q, layer.query_reads, layer.parts)
    w_k, w_v = (_stacked(w, layer.key_reads, layer.parts) for w in (layer.w_k, layer.w_v))
    n = len(x)
    traced = LayerTrace(
        index=index,
        kind="self",
        q=_projected(x, w_q),
        k=_projected(x, w_k),
        v=_projected(x, w_v),
        scale=1 / math.sqrt(layer.w_q.shape[2]),
        allowed=read_only(np.tri(n, dtype=bool) if is_causal else np.ones((n, n), dtype=bool)),
        x=read_only(x),
        x_key=read_only(x),
        w_q=w_q,
        w_k=w_k,
        w_v=w_v,
        w_o=layer.w_o,
        written=None,
    )
    return _with_written(traced)


def _with_written(traced: LayerTrace) -> LayerTrace:
    heads = (traced.head(h) for h in range(traced.n_heads))
    return replace(traced, written=read_only(sum(head.output @ head.w_o for head in heads)))


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


def _logit_terms(traced: LayerTrace, token: int, direction: Float[np.ndarray, " d_model"]) -> tuple[LogitTerm, ...]:
    terms = []
    for h in range(traced.n_heads):
        head = traced.head(h)
        says = head.v @ head.w_o @ direction  # (key,) what each key's value says for the word.
        for j, weight in enumerate(head.weights[token]):
            terms.append(LogitTerm(h, j, float(weight), float(weight * says[j])))
    return tuple(terms)
