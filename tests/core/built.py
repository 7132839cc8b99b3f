"""Tokenizers of the usual kinds, built here: nothing is downloaded, and every piece of their vocabularies is known."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast
from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

SENTENCES = ["the cat saw the dog the", "Ragnarok fell 猫猫 狗狗 猫狗", "café the animal didn't cross"] * 20


@cache
def byte_level(*, trim: bool = False, prefix: bool = False) -> PreTrainedTokenizerFast:
    """Byte-level BPE as GPT-2 has it; with `trim` and `prefix` as RoBERTa has it."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    special = ["<s>", "</s>", "<pad>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=340, initial_alphabet=alphabet, special_tokens=special, show_progress=False
    )
    made.train_from_iterator(SENTENCES, trainer)
    made.post_processor = processors.RobertaProcessing(
        ("</s>", 1), ("<s>", 0), trim_offsets=trim, add_prefix_space=prefix
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", pad_token="<pad>", clean_up_tokenization_spaces=False
    )


WORD_PIECES = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "saw", "cafe", "un", "##want", "##ed", "o", "猫", "a", "##b"),
    *(".", "'", "didn", "t", "rag", "##nar", "##ok", "fell"),
)


@cache
def word_piece() -> PreTrainedTokenizerFast:
    """WordPiece as BERT has it, uncased."""
    made = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(WORD_PIECES)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]"
    )


def word_piece_slow(folder: Path) -> BertTokenizerLegacy:
    """The same in Python alone: ids and pieces, no offsets."""
    path = folder / "vocab.txt"
    path.write_text("\n".join(WORD_PIECES), encoding="utf-8")
    return BertTokenizerLegacy(str(path))


@cache
def unigram() -> PreTrainedTokenizerFast:
    """Unigram as T5 and XLM-R have it: ▁ for spaces, NFKC."""
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=60, unk_token="<unk>", special_tokens=["<unk>", "</s>"], show_progress=False
    )
    made.train_from_iterator(SENTENCES, trainer)
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B:1 </s>:1", special_tokens=[("</s>", 1)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", eos_token="</s>")


@cache
def byte_fallback() -> PreTrainedTokenizerFast:
    """BPE with byte fallback and no words of its own, as Llama 2 has it."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *"atheco", "th", "the", "▁the"]
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    merges = [("t", "h"), ("th", "e"), ("▁", "the")]
    made = Tokenizer(models.BPE(vocabulary, merges, byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", bos_token="<s>", eos_token="</s>")


FAST = {
    "bytes": byte_level,
    "bytes-trimmed": lambda: byte_level(trim=True, prefix=True),
    "word-piece": word_piece,
    "unigram": unigram,
    "byte-fallback": byte_fallback,
}
