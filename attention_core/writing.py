"""What a model has written: a prompt, the tokens after it, and at each of them what else could have come."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from attention_core.errors import TraceMismatch
from attention_core.tokens import Note, Token
from attention_core.trace import Trace
from attention_core.visible import visible

ENDED, FULL = "ended", "full"  # The model wrote its token for the end; it can read no more.


@dataclass(frozen=True)
class Candidate:
    """A token that could come next.

    Attributes:
        id: its number; text: what it says, with its space (" cat").
        probability: the model's own; chance: with which it is drawn, 1 and 0 where the likeliest is taken.
        logit: before softmax; rank: 0 for the likeliest.
    """

    id: int
    text: str
    probability: float
    chance: float
    logit: float
    rank: int

    @property
    def shown(self) -> str:
        """Its text with a sign for everything that cannot be seen."""
        return visible(self.text)


@dataclass(frozen=True)
class Choice:
    """What could come next at one place, likeliest first, and what was taken of it (perhaps none of the likeliest)."""

    candidates: tuple[Candidate, ...]
    chosen: Candidate

    def of(self, identity: int) -> Choice:
        """The same place with the candidate of that number taken instead.

        Raises:
            LookupError: it is none of them.
        """
        known = {one.id: one for one in (*self.candidates, self.chosen)}
        return Choice(self.candidates, known[identity])


@dataclass(frozen=True)
class Writing:
    """A prompt and what a model wrote after it.

    Attributes:
        prompt: as it was typed; text: with what was written.
        tokens: the prompt's, then the written ones; n_prompt: how many are the prompt's.
        choices: one for each written token.
        end: "ended" (the model wrote its token for the end), "full" (it can read no more), or None.
        notes: what a reader should know about the prompt's tokens.
    """

    prompt: str
    text: str
    tokens: tuple[Token, ...]
    n_prompt: int
    choices: tuple[Choice, ...] = ()
    end: str | None = None
    notes: tuple[Note, ...] = field(default=(), repr=False)

    @property
    def ids(self) -> tuple[int, ...]:
        """The numbers of all tokens: never the text tokenised anew, which may give others."""
        return tuple(token.id for token in self.tokens)

    @property
    def read(self) -> tuple[Token, ...]:
        """The tokens that have looked around, each a row: all but the one that was written last."""
        return self.tokens[:-1] if self.choices else self.tokens

    @property
    def text_read(self) -> str:
        """The text that those tokens stand for."""
        return self.text[: max((token.end for token in self.read), default=0)] if self.choices else self.prompt


def agreement(trace: Trace, writing: Writing) -> float:
    """The largest difference of the candidates' logits from those of a full pass, as a share of the largest logit
    where that is above 1; not a number where an answer is missing."""
    largest = 0.0
    for i, choice in enumerate(writing.choices):
        answers = () if trace.predictions is None else trace.predictions[writing.n_prompt - 1 + i]
        n = min(len(answers), len(choice.candidates))
        made = np.array([candidate.logit for candidate in choice.candidates[:n]])
        wanted = np.array([answer.logit for answer in answers[:n]])
        if n == 0:
            return float("nan")
        largest = max(largest, float(np.abs(made - wanted).max()) / max(1.0, float(np.abs(wanted).max())))
    return largest


def agreeing(trace: Trace, writing: Writing, tolerance: float) -> Trace:
    """The trace itself.

    Raises:
        TraceMismatch: the probabilities while writing were not those of the full pass.
    """
    away = agreement(trace, writing)
    if not away <= tolerance:
        raise TraceMismatch(len(trace.layers), away)
    return trace
