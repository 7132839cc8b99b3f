"""A text through a tokenizer of the transformers library, fast or slow. The library itself is not imported here."""

from __future__ import annotations

from typing import Any

from attention_core.tokens import Reading, read


def encode(tokenizer: Any, text: str, pair: str | None = None, *, add_special_tokens: bool = True) -> Reading:
    """The tokens that `tokenizer` makes of a text, or of a pair: `reading.ids` is what to feed.

    Nothing is cut off and nothing is padded.
    """
    given = (text,) if pair is None else (text, pair)
    asked = {"return_special_tokens_mask": True, "add_special_tokens": add_special_tokens, "verbose": False}
    is_fast = tokenizer.is_fast
    found = tokenizer(*given, return_offsets_mapping=is_fast, **asked)
    ids = list(found["input_ids"])
    begins = (tokenizer.bos_token_id, tokenizer.cls_token_id)
    return read(
        given,
        ids,
        [str(piece) for piece in tokenizer.convert_ids_to_tokens(ids)],
        offsets=found["offset_mapping"] if is_fast else None,
        special=found["special_tokens_mask"],
        segments=found.sequence_ids(0) if is_fast else None,
        words=found.word_ids(0) if is_fast else None,
        special_ids=frozenset(tokenizer.all_special_ids),
        unknown_id=tokenizer.unk_token_id,
        begin_id=next((begin for begin in begins if begin is not None), None),
    )
