"""Imports transformers' tokenizers. From text to the ids that are fed, and to what a person reads at each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase

from attention_core.errors import EmptyText, UnsupportedModel
from attention_core.trace import Token

FED = ("input_ids", "attention_mask", "token_type_ids")


class Reader:
    """A tokenizer that several threads may use; each token reads as the characters that it stands for."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        if not tokenizer.is_fast:
            raise UnsupportedModel("its tokenizer does not say which characters a token stands for")
        self._tokenizer = tokenizer
        self._lock = Lock()  # Padding and truncation are settings of the one tokenizer that all threads share.

    def read(self, text: str, pair: str | None = None) -> tuple[tuple[Token, ...], dict[str, torch.Tensor]]:
        """The tokens, and (1, token) the numbers that the model is fed.

        Raises:
            EmptyText: there is no token in the text.
        """
        encoded = self._encode(text, pair)
        tokens = self._tokens(encoded, text, pair)
        if not any(not token.is_special for token in tokens):
            raise EmptyText()
        return tokens, {name: torch.tensor([encoded[name]]) for name in FED if name in encoded}

    def read_target(self, target: str, start: int) -> tuple[tuple[Token, ...], torch.Tensor]:
        """What a decoder is fed so that it says `target`: the start token, then all but the last token.

        Raises:
            EmptyText: there is no token in the target.
        """
        encoded = self._encode(target, None, is_target=True)
        tokens = self._tokens(encoded, target, None)
        if not any(not token.is_special for token in tokens):
            raise EmptyText()
        fed = (self._start(start), *tokens[:-1])
        return fed, torch.tensor([[token.id for token in fed]])

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """The text of ids that a model wrote, its first one the start token, and its tokens."""
        text, tokens = "", [self._start(ids[0])]
        special = set(self._tokenizer.all_special_ids)
        for i in range(1, len(ids)):
            if ids[i] in special:
                tokens.append(Token(self.name_of(ids[i]), ids[i], len(text), len(text), is_special=True))
                continue
            longer = self.words(ids[1 : i + 1])
            tokens.append(Token(longer[len(text) :], ids[i], len(text), len(longer)))
            text = longer
        return text, tuple(tokens)

    def words(self, ids: Sequence[int]) -> str:
        """The text that these ids stand for."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def name_of(self, identity: int) -> str:
        """What the vocabulary calls this id."""
        return str(self._tokenizer.convert_ids_to_tokens(identity))

    def limit(self) -> int:
        """The longest text by the tokenizer's own account; a very large number where it has none."""
        return int(self._tokenizer.model_max_length)

    def _encode(self, text: str, pair: str | None, is_target: bool = False) -> Any:
        given: Mapping[str, Any] = {"text_target": text} if is_target else {"text": text, "text_pair": pair}
        with self._lock:
            return self._tokenizer(**given, return_offsets_mapping=True, verbose=False)

    def _tokens(self, encoded: Any, text: str, pair: str | None) -> tuple[Token, ...]:
        segments = encoded.sequence_ids(0)
        spans, ids = encoded["offset_mapping"], encoded["input_ids"]
        texts = (text, pair or "")
        return tuple(
            Token(self.name_of(i), i, 0, 0, is_special=True)
            if segment is None
            else Token(texts[segment][start:end], i, start, end, is_unknown=self._is_unknown(i), segment=segment)
            for i, (start, end), segment in zip(ids, spans, segments, strict=True)
        )

    def _is_unknown(self, identity: int) -> bool:
        return identity == self._tokenizer.unk_token_id

    def _start(self, identity: int) -> Token:
        return Token(self.name_of(identity), identity, 0, 0, is_special=True)
