"""Imports torch. From text to the numbers that a network is fed, and to what a person reads at each."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import torch

from attention_core import encoding
from attention_core.errors import EmptyText
from attention_core.tokens import Reading, Token

FED = ("attention_mask", "token_type_ids")


class Reader:
    """A tokenizer of the transformers library, fast or slow, that several threads may use."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._lock = Lock()  # Padding and truncation are settings of the one tokenizer that all threads share.

    def read(self, text: str, pair: str | None = None) -> tuple[Reading, dict[str, torch.Tensor]]:
        """The tokens, and (1, token) the numbers that the model is fed.

        Raises:
            EmptyText: there is no token in the text.
        """
        given = (text,) if pair is None else (text, pair)
        with self._lock:
            found = encoding.encoded(self._tokenizer, *given)
            reading = encoding.reading_of(self._tokenizer, given, found)
        _must_hold_text(reading.tokens)
        more = {name: torch.tensor([found[name]]) for name in FED if name in found}
        return reading, {"input_ids": torch.tensor([reading.ids]), **more}

    def read_target(self, target: str, start: int) -> tuple[tuple[Token, ...], torch.Tensor]:
        """What a decoder is fed so that it says `target`: the start token, then all but the last token.

        Raises:
            EmptyText: there is no token in the target.
        """
        with self._lock:
            found = encoding.encoded(self._tokenizer, text_target=target)
            reading = encoding.reading_of(self._tokenizer, (target,), found)
        _must_hold_text(reading.tokens)
        fed = (self._start(start), *reading.tokens[:-1])
        return fed, torch.tensor([[token.id for token in fed]])

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """The text of ids that a model wrote, its first one the start token, and its tokens."""
        with self._lock:
            reading = encoding.decoded(self._tokenizer, ids[1:])
        return reading.texts[0], (self._start(ids[0]), *reading.tokens)

    def words(self, ids: Sequence[int]) -> str:
        """The text that these ids stand for."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def name_of(self, identity: int) -> str:
        """What the vocabulary calls this id."""
        return str(self._tokenizer.convert_ids_to_tokens(identity))

    def limit(self) -> int:
        """The longest text by the tokenizer's own account; a very large number where it has none."""
        return int(self._tokenizer.model_max_length)

    def _start(self, identity: int) -> Token:
        return Token(self.name_of(identity), identity, 0, 0, is_special=True)


def _must_hold_text(tokens: Sequence[Token]) -> None:
    if not any(not token.is_special for token in tokens):
        raise EmptyText()
