"""Imports torch. A real causal model while it writes: each token is read once, its keys and values are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from attention_core.errors import TextTooLong, UnsupportedModel
from attention_core.generating import Reading
from attention_core.tokens import Note, Token
from attention_core.writing import Writing

if TYPE_CHECKING:
    from attention_core.capture.real import RealModel

WHOLE = "attention_mask"  # What is fed for all tokens, also for those that were read before.


class RealPen:
    """A real model while it writes. Its attention is recorded at every step, as in a trace."""

    def __init__(self, model: RealModel) -> None:
        self._model, self._net = model, model.engine.net
        self.limit = model.card.max_tokens
        self.ends = ends_of(self._net)
        self._ids: tuple[int, ...] = ()
        self._kept: Any = None  # Keys and values of what was read, in the library's own form.
        self._more: dict[str, int] = {}
        self.spell = cache(model.reader.spell)

    def open(self, prompt: str) -> Writing:
        tokens, notes, self._more = prompt_of(self._model, prompt)
        return Writing(prompt, prompt, tokens, len(tokens), notes=notes)

    def read(self, ids: Sequence[int]) -> Reading:
        n = len(self._ids)
        if self._kept is None or not n < len(ids) or tuple(ids[:n]) != self._ids:
            n, self._kept = 0, None
        if len(ids) > self.limit:
            raise TextTooLong(n=len(ids), limit=self.limit)
        inputs = inputs_of(ids, self._more)
        new: dict[str, Any] = {name: one if name == WHOLE else one[:, n:] for name, one in inputs.items()}
        if "cache" in self._model.fed:  # Some old architectures keep nothing, and read all of it anew.
            new |= {"use_cache": True, "cache": self._kept}
        seen = self._model.engine.run(new)
        logits = getattr(seen.output, "logits", None)
        if not isinstance(logits, Tensor) or logits.ndim != 3:
            raise UnsupportedModel("this checkpoint gives no probabilities of tokens: it has no output layer")
        self._ids, self._kept = tuple(ids), getattr(seen.output, "cache", None)
        return Reading(logits[0, -1].float().numpy(), seen.layers)

    def compose(self, writing: Writing, ids: Sequence[int]) -> Writing:
        asked = writing.tokens[: writing.n_prompt]
        more, written = self._model.reader.continued(writing.prompt, [token.id for token in asked], ids)
        return replace(writing, text=writing.prompt + more, tokens=(*asked, *written))


def prompt_of(model: RealModel, prompt: str) -> tuple[tuple[Token, ...], tuple[Note, ...], dict[str, int]]:
    """The prompt's tokens, the notes on them, and what is fed for each token beside its number.

    A token for the end that the tokenizer puts after a text is left out: the text is to go on.

    Raises:
        EmptyText, TextTooLong: the prompt does not fit.
    """
    reading, read = model.reader.read(prompt)
    tokens = reading.tokens
    while tokens[-1].is_special and not tokens[-1].end and tokens[-1].id in model.reader.closing:
        tokens = tokens[:-1]
    model.check(tokens)
    beside = {name: int(one[0, len(tokens) - 1]) for name, one in read.items() if name in model.fed}
    return tokens, reading.notes, {name: value for name, value in beside.items() if name != "input_ids"}


def inputs_of(ids: Sequence[int], more: Mapping[str, int]) -> dict[str, Tensor]:
    """(1, token) what is fed: the numbers, and the same value beside each of them."""
    fed = torch.tensor([list(ids)])
    return {"input_ids": fed, **{name: torch.full_like(fed, value) for name, value in more.items()}}


def ends_of(net: Any) -> frozenset[int]:
    """The numbers of the tokens that end a text."""
    for config in (getattr(net, "generation_config", None), net.config):
        ends = getattr(config, "eos_token_id", None)
        if ends is not None:
            return frozenset([ends] if isinstance(ends, int) else ends)
    return frozenset()
