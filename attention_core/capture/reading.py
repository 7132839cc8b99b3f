"""Imports torch. From text to the numbers that a network is fed, and to what a person reads at each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

import torch

from attention_core import encoding
from attention_core.align import bytes_of
from attention_core.errors import EmptyText
from attention_core.tokens import Reading, Token

BROKEN = "\ufffd"  # What decoding puts where bytes make no character.
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

    def continued(self, prompt: str, asked: Sequence[int], ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """What these ids say after a prompt of the ids `asked`, and their tokens, placed in prompt and answer together.

        A token that holds but a part of a character, whose rest has not come, shows its bytes.
        """
        with self._lock:
            before = self.words(asked)
            reading = encoding.decoded(self._tokenizer, [*asked, *filter(self._has, ids)])
        whole, found = reading.texts[0], reading.tokens[len(asked) :]
        begun = len(before) if whole.startswith(before) else min((t.start for t in found if t.end), default=len(whole))
        moved = (_moved(token, len(prompt) - begun) for token in found)
        return whole[begun:], tuple(next(moved) if self._has(i) else Token(_unnamed(i), i, 0, 0) for i in ids)

    def spell(self, identity: int) -> str:
        """What one id says, with its space; its bytes, if it is a part of a character."""
        if not self._has(identity):
            return _unnamed(identity)
        piece, said = self.name_of(identity), self.words([identity])
        if not said or identity in self._tokenizer.all_special_ids or piece.startswith("##"):
            return piece
        if BROKEN in said:
            return _bytes(piece)
        return " " + said.lstrip() if piece.startswith("▁") else said

    @property
    def closing(self) -> frozenset[int]:
        """What the tokenizer may put after a text."""
        return frozenset({self._tokenizer.eos_token_id, self._tokenizer.sep_token_id} - {None})

    def _has(self, identity: int) -> bool:
        # Networks may have more numbers than their tokenizer has names.
        return self._tokenizer.convert_ids_to_tokens(identity) is not None

    def name_of(self, identity: int) -> str:
        """What the vocabulary calls this id."""
        return str(self._tokenizer.convert_ids_to_tokens(identity))

    def limit(self) -> int:
        """The longest text by the tokenizer's own account; a very large number where it has none."""
        return int(self._tokenizer.model_max_length)

    def _start(self, identity: int) -> Token:
        return Token(self.name_of(identity), identity, 0, 0, is_special=True)


def _moved(token: Token, by: int) -> Token:
    """The same token in a text whose characters stand `by` further on."""
    if token.is_special and not token.end:
        return token
    splits = tuple(replace(split, start=split.start + by, end=split.end + by) for split in token.splits)
    moved = replace(token, start=token.start + by, end=token.end + by, splits=splits)
    return replace(moved, text=_bytes(token.piece or token.text), splits=()) if BROKEN in token.text else moved


def _bytes(piece: str) -> str:
    return f"⟨{bytes_of(piece).hex(' ').upper()}⟩"


def _unnamed(identity: int) -> str:
    return f"⟨#{identity}⟩"


def _must_hold_text(tokens: Sequence[Token]) -> None:
    if not any(not token.is_special for token in tokens):
        raise EmptyText()
