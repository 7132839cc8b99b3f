"""Writing on: a causal model says what may come next, one of it is chosen and read, and so on.

The model has read the tokens 0 … n−1. From the logits of the last row,

    probability = softmax(logits)        chance = softmax(logits / temperature) over the `top_k` likeliest

and the next token is the likeliest one (greedy) or drawn by chance. What was chosen last has not been read: it has
asked nobody, so that a prompt of three tokens and two written ones make four rows, a 4 × 4 triangle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from attention_core.errors import TextTooLong, UnsupportedModel
from attention_core.taught import TaughtModel
from attention_core.tokens import Token
from attention_core.trace import LayerTrace
from attention_core.writing import ENDED, FULL, Candidate, Choice, Writing

if TYPE_CHECKING:
    from attention_core.capture.real import RealModel

TOP = 10


@dataclass(frozen=True, eq=False)
class Reading:
    """What a model makes of tokens that are new to it.

    Attributes:
        logits: (token id,) of what comes next. layers: their rows, over all keys up to them.
    """

    logits: Float[np.ndarray, " id"]
    layers: tuple[LayerTrace, ...] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Written:
    """One token written.

    Attributes:
        token: as it reads now (a part of a character may read otherwise once the rest has come).
        candidates: what could have come, likeliest first; chosen: what was taken.
        writing: all that stands there now, this token last.
        layers: the rows that were read to choose it: the whole prompt at first, then one row, over all keys up to it.
            They hold the keys and values of all tokens; keep the weights you need of them, not the layers.
    """

    token: Token
    candidates: tuple[Candidate, ...]
    chosen: Candidate
    writing: Writing
    layers: tuple[LayerTrace, ...] = field(repr=False)

    @property
    def ids(self) -> tuple[int, ...]:
        return self.writing.ids


@runtime_checkable
class Pen(Protocol):
    """A model while it writes; it remembers what it has read, so each thread needs one of its own.

    Attributes:
        limit: how many tokens it can read; ends: numbers of tokens that end a text.
    """

    limit: int
    ends: frozenset[int]

    def open(self, prompt: str) -> Writing:
        """The prompt, with nothing written after it; comes before all else."""

    def read(self, ids: Sequence[int]) -> Reading:
        """Read what is new of these tokens: all of them, unless they continue those that were read last."""

    def spell(self, identity: int) -> str:
        """What the token of that number says."""

    def compose(self, writing: Writing, ids: Sequence[int]) -> Writing:
        """The writing's prompt with these tokens written after it."""


def generate(
    model: TaughtModel | RealModel,
    prompt: str | Writing,
    n: int,
    *,
    temperature: float | None = None,
    seed: int = 0,
    top: int = TOP,
    top_k: int | None = None,
) -> Iterator[Written]:
    """Write up to `n` tokens, each as soon as it is chosen; stopped by not asking for more.

    Args:
        prompt: a text, or a writing to go on with. What is drawn depends on the seed and the place alone: stopping and
            going on gives what would have come at once.
        temperature: None takes the likeliest token; a number above 0 draws: below 1 closer to the likeliest, above 1
            more evenly. top_k: draw among that many likeliest only.
        top: how many candidates are named.

    Raises:
        EmptyText, TextTooLong: the prompt does not fit.
        UnsupportedModel: the model is not causal, or gives no probabilities of tokens.
        ValueError: a temperature that is not above 0, or a count below 1.
    """
    pen = pen_of(model)
    opened = pen.open(prompt if isinstance(prompt, str) else prompt.prompt)
    writing = opened if isinstance(prompt, str) else prompt
    for _ in range(n):
        if writing.end is not None:
            return
        reading = pen.read(writing.ids)
        choice = choose(pen, reading, len(writing.tokens), temperature=temperature, seed=seed, top=top, top_k=top_k)
        writing = take(pen, writing, choice)
        yield Written(writing.tokens[-1], choice.candidates, choice.chosen, writing, reading.layers)


def pen_of(model: TaughtModel | RealModel) -> Pen:
    """The model, ready to write.

    Raises:
        UnsupportedModel: it is not causal, or gives no probabilities of tokens.
    """
    if not model.card.causal:
        raise UnsupportedModel("this model is not causal: its tokens see what comes after them, so it cannot write on")
    if isinstance(model, TaughtModel):
        return TaughtPen(model)
    from attention_core.capture.writing import RealPen

    return RealPen(model)


def choose(
    pen: Pen,
    reading: Reading,
    place: int,
    *,
    temperature: float | None = None,
    seed: int = 0,
    top: int = TOP,
    top_k: int | None = None,
) -> Choice:
    """What may come at `place` (how many tokens stand before it), and what is taken.

    Raises:
        UnsupportedModel: the model's numbers are not finite. ValueError: as `generate`.
    """
    if (temperature is not None and not temperature > 0) or min(top, 1 if top_k is None else top_k) < 1:
        raise ValueError(f"temperature {temperature}, top {top}, top_k {top_k}: each must be above 0")
    logits = np.asarray(reading.logits, dtype=np.float64)
    if np.isnan(logits).any() or not np.isfinite(logits.max()):
        raise UnsupportedModel("the model's probabilities are no numbers")
    order = np.argsort(-logits, kind="stable")
    probabilities = _softmax(logits)
    chances = _chances(logits, order, temperature, top_k)
    drawn = order[0] if temperature is None else _draw(chances, seed, place)
    rank = int(np.flatnonzero(order == drawn)[0])
    named = {
        r: Candidate(int(i), pen.spell(int(i)), float(probabilities[i]), float(chances[i]), float(logits[i]), r)
        for r, i in [*enumerate(order[:top]), (rank, drawn)]
    }
    return Choice(tuple(named[r] for r in range(min(top, len(order)))), named[rank])


def take(pen: Pen, writing: Writing, choice: Choice) -> Writing:
    """The writing with the chosen token after it."""
    written = (*writing.ids[writing.n_prompt :], choice.chosen.id)
    end = ENDED if choice.chosen.id in pen.ends else FULL if len(writing.tokens) >= pen.limit else None
    return replace(pen.compose(writing, written), choices=(*writing.choices, choice), end=end)


def cut(pen: Pen, writing: Writing, n: int) -> Writing:
    """The writing with its first `n` written tokens alone."""
    if n >= len(writing.choices):
        return writing
    kept = writing.ids[writing.n_prompt : writing.n_prompt + n]
    return replace(pen.compose(writing, kept), choices=writing.choices[:n], end=None)


class TaughtPen:
    """A taught model while it writes. Its texts are so short that it reads them whole each time."""

    def __init__(self, model: TaughtModel) -> None:
        model.next_word()
        self._model = model
        self.limit = model.card.max_tokens
        self.ends = frozenset[int]()
        self._read: tuple[int, ...] = ()

    def open(self, prompt: str) -> Writing:
        return Writing(prompt, prompt, tokens := self._model.tokenize(prompt), len(tokens))

    def read(self, ids: Sequence[int]) -> Reading:
        n = len(self._read)
        first = n if tuple(ids[:n]) == self._read and n < len(ids) else 0
        if len(ids) > self.limit:
            raise TextTooLong(n=len(ids), limit=self.limit)
        logits, layers = self._model.read_on(ids)
        self._read = tuple(ids)
        rows = np.arange(first, len(ids))
        return Reading(logits, tuple(layer.at_rows(rows) for layer in layers))

    def spell(self, identity: int) -> str:
        return self._model.vocabulary[identity]

    def compose(self, writing: Writing, ids: Sequence[int]) -> Writing:
        # Words stand apart, and so do characters where the reader has put spaces between them.
        is_spaced = self._model.card.details["tokenizer"] == "words" or len(writing.prompt.split()) > 1
        text, tokens = writing.prompt, list(writing.tokens[: writing.n_prompt])
        unknown = self._model.card.details["unknown"]
        for identity in ids:
            word = self.spell(identity)
            text += " " if is_spaced and text and not text[-1].isspace() else ""
            tokens.append(Token(word, identity, len(text), len(text) + len(word), is_unknown=word == unknown))
            text += word
        return replace(writing, text=text, tokens=tuple(tokens))


def _softmax(logits: Float[np.ndarray, " id"]) -> Float[np.ndarray, " id"]:
    exp = np.exp(logits - logits.max())
    return exp / exp.sum()


def _chances(
    logits: Float[np.ndarray, " id"], order: np.ndarray, temperature: float | None, top_k: int | None
) -> Float[np.ndarray, " id"]:
    among = order[:1] if temperature is None else order[:top_k]
    chances = np.zeros(len(logits))
    chances[among] = _softmax(logits[among] / (1.0 if temperature is None else temperature))
    return chances


def _draw(chances: Float[np.ndarray, " id"], seed: int, place: int) -> int:
    # Each place has its own chance, drawn from seed and place: going on later changes nothing.
    reached = np.cumsum(chances)
    found = np.searchsorted(reached, np.random.default_rng([seed, place]).random() * reached[-1], side="right")
    return int(min(found, np.flatnonzero(chances)[-1]))
