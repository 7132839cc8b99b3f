"""A text through a tokenizer of the transformers library, fast or slow. The library itself is not imported here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attention_core.tokens import Reading, read


def encode(tokenizer: Any, text: str, pair: str | None = None, **asked: Any) -> Reading:
    """The tokens that `tokenizer` makes of a text, or of a pair: `reading.ids` is what to feed.

    Nothing is cut off and nothing is padded.

    Args:
        asked: further arguments of the tokenizer's call, for example `add_special_tokens=False`.
    """
    given = (text,) if pair is None else (text, pair)
    return reading_of(tokenizer, given, encoded(tokenizer, *given, **asked))


def encoded(tokenizer: Any, *given: str, **asked: Any) -> Any:
    """What the tokenizer's call gives, with all that `reading_of` needs; `text_target=…` may stand in for texts."""
    return tokenizer(
        *given, return_offsets_mapping=tokenizer.is_fast, return_special_tokens_mask=True, verbose=False, **asked
    )


def reading_of(tokenizer: Any, texts: tuple[str, ...], found: Any) -> Reading:
    """The tokens of what `encoded` gave for these texts."""
    ids, is_fast = list(found["input_ids"]), tokenizer.is_fast
    return read(
        texts,
        ids,
        _pieces(tokenizer, ids),
        offsets=found["offset_mapping"] if is_fast else None,
        special=found["special_tokens_mask"],
        segments=found.sequence_ids(0) if is_fast else None,
        words=found.word_ids(0) if is_fast else None,
        special_ids=frozenset(tokenizer.all_special_ids),
        unknown_id=tokenizer.unk_token_id,
        begin_id=_begin(tokenizer),
    )


def decoded(tokenizer: Any, ids: Sequence[int]) -> Reading:
    """The text that these ids stand for, as a model wrote them, and its tokens, one for each id."""
    text = str(tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))
    special, unknown = frozenset(tokenizer.all_special_ids), tokenizer.unk_token_id
    return read((text,), list(ids), _pieces(tokenizer, ids), special_ids=special, unknown_id=unknown)


def _pieces(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    return [str(piece) for piece in tokenizer.convert_ids_to_tokens(list(ids))]


def _begin(tokenizer: Any) -> int | None:
    begins = (tokenizer.bos_token_id, tokenizer.cls_token_id)
    return next((begin for begin in begins if begin is not None), None)
