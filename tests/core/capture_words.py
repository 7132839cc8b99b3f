"""Tokenizers made on the spot, and models saved with them as a person would find them in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from tests.core.capture_zoo import VOCABULARY, Kind

TEXT = "the cat sat on the mat because it was tired and the dog slept"
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>", "<mask>")


def tokenizer(is_pairing: bool = True, limit: int | None = None) -> PreTrainedTokenizerFast:
    """Whole words and a few pieces; `<s> a </s>` and `<s> a </s> b </s>`."""
    words = [
        *SPECIAL,
        *dict.fromkeys(TEXT.split()),
        *"abcdefghijklmnopqrstuvwxyz",
        *(f"##{c}" for c in "abcdeilnorstz"),
    ]
    words += [f"word{i}" for i in range(VOCABULARY - len(words))]
    made = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if is_pairing:
        made.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 1), ("</s>", 2)]
        )
    return wrapped(made, model_max_length=limit)


def byte_level() -> PreTrainedTokenizerFast:
    """Byte-level BPE that has learned nothing but single bytes: one Chinese character is three tokens."""
    made = Tokenizer(models.BPE(unk_token=None))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator([], trainers.BpeTrainer(special_tokens=list(SPECIAL), initial_alphabet=alphabet))
    return wrapped(made)


def wrapped(made: Tokenizer, **more: Any) -> PreTrainedTokenizerFast:
    names = {
        "pad_token": "<pad>",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "mask_token": "<mask>",
    }
    more["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=made, **names, **{k: v for k, v in more.items() if v is not None})


def saved(kind: Kind, folder: Path, words: PreTrainedTokenizerFast | None = None, **more: Any) -> Path:
    """The folder with the architecture's tiny network and a tokenizer."""
    net = kind.make()
    for name, value in more.items():
        net = getattr(net, name)(value)
    net.save_pretrained(folder)
    (tokenizer() if words is None else words).save_pretrained(folder)
    return folder
