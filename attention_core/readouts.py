"""How a taught model answers: a matrix from the stream to one logit per answer, and the exact sum behind each logit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from attention_core.trace import Answer, AnswerSum, LayerTrace, LogitPart, LogitTerm, Token

N_ANSWERS = 5  # How many of a token's answers a trace keeps.


@dataclass(frozen=True, eq=False)
class Readout:
    """logits = Σ_{p ∈ reads} stream[p] · matrix + bias, read after one layer, at some tokens.

    Attributes:
        matrix: (d_model, answer); bias: (answer,) or None.
        answers: what each column stands for.
        reads: names of parts of the stream; after: the layer after which they are read.
        at: the tokens at which it answers: "all", "prefix" (those that the model puts before a text) or "text".
    """

    matrix: Float[np.ndarray, "d_model answer"]
    bias: Float[np.ndarray, " answer"] | None
    answers: tuple[str, ...]
    reads: tuple[str, ...]
    after: int
    at: str

    @cached_property
    def column(self) -> Mapping[str, int]:
        """The column of each answer."""
        return {word: i for i, word in enumerate(self.answers)}

    def answers_at(self, token: Token) -> bool:
        return self.at == "all" or (self.at == "prefix") == token.is_special

    def logits(self, stream: Mapping[str, Float[np.ndarray, "token d_model"]]) -> Float[np.ndarray, "token answer"]:
        """What this read-out makes of a stream, before softmax."""
        read = np.add.reduce([stream[part] for part in self.reads]) @ self.matrix
        return read if self.bias is None else read + self.bias

    def best(self, stream: Mapping[str, Float[np.ndarray, "token d_model"]], token: int) -> tuple[Answer, ...]:
        """The likeliest answers at one token."""
        row = self.logits(stream)[token]
        total = log_sum_exp(row)
        order = np.argsort(-row, kind="stable")[:N_ANSWERS]
        return tuple(Answer(self.answers[i], math.exp(row[i] - total), float(row[i])) for i in order)

    def sum_answer(
        self,
        word: Float[np.ndarray, "token d_model"],
        stream: Mapping[str, Float[np.ndarray, "token d_model"]],
        layers: tuple[LayerTrace, ...],
        fed: tuple[Float[np.ndarray, "token d_model"] | None, ...],
        writes: tuple[str, ...],
        token: int,
        answer: str | None,
    ) -> AnswerSum:
        """The exact sum behind one answer.

        Args:
            word: the embedded words; stream: what is read; layers, fed, writes: each layer's factors, what its MLP
                added (or None) and the part that it writes.
            token: where; answer: which word, or None for the likeliest.
        """
        row = self.logits(stream)[token]
        column = int(row.argmax()) if answer is None else self.column[answer]
        direction = self.matrix[:, column]
        reads_word = "word" in self.reads
        parts = [LogitPart("embedding", None, float(word[token] @ direction) if reads_word else 0.0, reads_word)]
        for traced, extra, part in zip(layers, fed, writes, strict=True):
            is_read = part in self.reads and traced.index <= self.after
            parts.append(_layer_part(traced, token, direction, is_read))
            if extra is not None:
                parts.append(LogitPart("mlp", traced.index, float(extra[token] @ direction) * is_read, is_read))
        if self.bias is not None:
            parts.append(LogitPart("bias", None, float(self.bias[column]), True))
        total = log_sum_exp(row)
        return AnswerSum(
            token=token,
            word=self.answers[column],
            logit=float(row[column]),
            log_sum_exp=total,
            probability=math.exp(row[column] - total),
            parts=tuple(parts),
        )


def log_sum_exp(row: Float[np.ndarray, " answer"]) -> float:
    """log Σ exp, shifted by the maximum so that it stays finite."""
    top = float(row.max())
    return top + math.log(float(np.exp(row - top).sum()))


def _layer_part(traced: LayerTrace, token: int, direction: Float[np.ndarray, " d_model"], is_read: bool) -> LogitPart:
    terms = _logit_terms(traced, token, direction) if is_read else ()
    return LogitPart("layer", traced.index, math.fsum(term.logit for term in terms), is_read, terms)


def _logit_terms(traced: LayerTrace, token: int, direction: Float[np.ndarray, " d_model"]) -> tuple[LogitTerm, ...]:
    terms = []
    for h in range(traced.n_heads):
        head = traced.head(h)
        says = head.v @ head.w_o @ direction  # (key,) what each key's value says for the word.
        for j, weight in enumerate(head.weights[token]):
            terms.append(LogitTerm(h, j, float(weight), float(weight * says[j])))
    return tuple(terms)
