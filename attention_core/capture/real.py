"""Imports torch. A real model, ready to trace."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from attention_core.capture.described import card_of, n_places
from attention_core.capture.engine import Engine, Pass, prepare
from attention_core.capture.layers import Kept
from attention_core.capture.reading import Reader
from attention_core.capture.verifying import verify
from attention_core.capture.writing import inputs_of, prompt_of
from attention_core.cards import ModelCard, Words
from attention_core.edits import EMPTY, Edits
from attention_core.errors import TextTooLong, TraceMismatch, UnfitEdit, UnsupportedModel
from attention_core.tokens import Reading, Token
from attention_core.trace import Answer, Trace, Verification
from attention_core.writing import Writing, agreeing

ORDER = ("self", "encoder", "decoder", "cross")
N_ANSWERS = 5
N_TOGETHER = 64  # Tokens whose answers are read off at once.
N_WRITTEN = 32  # Tokens that an encoder–decoder writes by itself where no target is given.
PROBED = 256  # Tokens of the longest probe, whatever the window; the card says how many there were.


@dataclass(frozen=True, eq=False)
class RealModel:
    """A transformer and its tokenizer. A value: tracing changes nothing in it, and threads may trace at once.

    Attributes:
        card: what is known about it.
        engine: the network, its attention recorded; reader: its tokenizer; fed: which of the reader's inputs it takes.
    """

    card: ModelCard
    engine: Engine
    reader: Reader
    fed: frozenset[str]

    @property
    def n_bytes(self) -> int:
        """What its network takes in memory: parameters and buffers."""
        net = self.engine.net
        return sum(tensor.nbytes for tensors in (net.parameters(), net.buffers()) for tensor in tensors)

    def tokenize(self, text: str, pair: str | None = None) -> tuple[Token, ...]:
        """The tokens that would be fed.

        Raises:
            EmptyText: no token; TextTooLong: more tokens than `card.max_tokens`.
        """
        reading, _ = self.reader.read(text, pair)
        self._fits(len(reading.tokens))
        return reading.tokens

    def check(self, tokens: tuple[Token, ...]) -> None:
        """Whether these can be fed.

        Raises:
            TextTooLong: more tokens than `card.max_tokens`. UnsupportedModel: a number that the model does not know.
        """
        self._knows(tokens)
        self._fits(len(tokens))

    def trace(self, text: str, pair: str | None = None, target: str | None = None, edits: Edits = EMPTY) -> Trace:
        """Run the model on `text` and keep every factor of its attention.

        Args:
            pair: a second segment, for models that read two.
            target: what an encoder–decoder's decoder reads; None lets the model write it, greedily.
            edits: what is different in this run. The trace's tokens stand in the order in which they were fed.

        Raises:
            EmptyText, TextTooLong: the text does not fit.
            UnfitEdit: an edit names a token, layer or head that is not there, or one that only taught models take.
            UnsupportedModel: a target for a model without a decoder, or none for one that cannot write; edits for a
                model that does not take any (`takes_edits`).
            TraceMismatch: what would be shown is not what the model computed.
        """
        reading, read = self.reader.read(text, pair)
        self._knows(reading.tokens)
        inputs = {name: numbers for name, numbers in read.items() if name in self.fed}
        self._fits(len(reading.tokens))
        written, target_tokens = "", tuple[Token, ...]()
        if self._decodes:
            written, target_tokens, inputs["decoder_input_ids"] = self._target(inputs, target)
            self._fits(len(target_tokens))
        elif target is not None:
            raise UnsupportedModel("this model has no decoder that could read a target")
        self._takes(edits, len(reading.tokens))
        trace = self._trace(replace(reading, tokens=edits.ordered(reading.tokens)), _fed(inputs, edits), edits)
        return _proven(replace(trace, target=written, target_tokens=target_tokens))

    def trace_written(self, writing: Writing) -> Trace:
        """What the model wrote, by its numbers, in one full pass: every token but the last, which has not been read.

        Raises:
            TraceMismatch: what would be shown is not what the model computed, now or while it wrote.
        """
        _, notes, beside = prompt_of(self, writing.prompt)
        inputs = inputs_of([token.id for token in writing.read], beside)
        trace = _proven(self._trace(Reading((writing.text_read,), writing.read, notes), inputs))
        return agreeing(trace, writing, 10 * self.engine.tolerance)  # Layer upon layer, rounding adds up.

    def trace_image(self, image: object) -> Trace:
        """There is no picture that it could look at.

        Raises:
            UnsupportedModel: always.
        """
        raise UnsupportedModel("this model reads text: give it a sentence")

    @property
    def takes_edits(self) -> bool:
        """Whether it has a second run: one stack of self-attention, computed by our attention function."""
        return self.engine.method == "interface" and not self._decodes

    def _takes(self, edits: Edits, n: int) -> None:
        if not self.takes_edits:
            if edits.is_empty:
                return
            raise UnsupportedModel("nothing can be changed inside this model's attention")
        for name in ("positions", "tie"):
            if getattr(edits, name) != getattr(EMPTY, name):
                raise UnfitEdit(name, getattr(edits, name), f"{getattr(EMPTY, name)}: only taught models take another")
        sizes = self.card.details["stacks"]["self"]
        edits.check(n, dict(zip(sizes["layers"], sizes["heads"], strict=True)))

    @property
    def _decodes(self) -> bool:
        return bool(getattr(self.engine.net.config, "is_encoder_decoder", False))

    def _knows(self, tokens: tuple[Token, ...]) -> None:
        size = n_known(self.engine.net)
        strange = next((token for token in tokens if token.id >= size > 0), None)
        if strange is not None:
            raise UnsupportedModel(
                f"the tokenizer is not this model's: it gives {strange.text!r} the number {strange.id}, and the model "
                f"knows {size} numbers"
            )

    def _fits(self, n: int) -> None:
        if n > self.card.max_tokens:
            raise TextTooLong(n=n, limit=self.card.max_tokens)

    def _target(self, inputs: Mapping[str, Tensor], target: str | None) -> tuple[str, tuple[Token, ...], Tensor]:
        if target is not None:
            tokens, ids = self.reader.read_target(target, start_of(self.engine.net))
            return target, tokens, ids
        if not hasattr(self.engine.net, "generate") or not self.engine.net.can_generate():
            raise UnsupportedModel("this checkpoint cannot write by itself: give a target")
        with torch.no_grad():
            writer: Any = self.engine.net
            ids = writer.generate(**inputs, max_new_tokens=N_WRITTEN, do_sample=False, num_beams=1, use_cache=True)
        text, tokens = self.reader.written(ids[0].tolist())
        return text, tokens, ids

    def _trace(self, reading: Reading, inputs: Mapping[str, Tensor], edits: Edits = EMPTY) -> Trace:
        seen = self.engine.run(inputs, edits=edits)
        stacks = [stack for kind in ORDER if (stack := seen.stack(kind))]
        return Trace(
            text=reading.texts[0],
            pair=reading.texts[1] if len(reading.texts) > 1 else None,
            tokens=reading.tokens,
            notes=reading.notes,
            card=self.card,
            method=self.engine.method,
            layers=stacks[0],
            others=tuple(stacks[1:]),
            predictions=self._answers(seen.output),
            verify=partial(self._verify, inputs, _own(seen), seen.ids),
            edits=edits,
        )

    def _answers(self, output: Any) -> tuple[tuple[Answer, ...], ...] | None:
        logits = getattr(output, "logits", None)
        if not isinstance(logits, Tensor) or logits.ndim != 3:
            return None
        # By parts: in single precision, all of a long text's logits take more than the model.
        return tuple(answers for part in logits[0].split(N_TOGETHER) for answers in self._answers_of(part.float()))

    def _answers_of(self, logits: Tensor) -> Iterator[tuple[Answer, ...]]:
        top, total = logits.topk(min(N_ANSWERS, logits.shape[-1])), logits.logsumexp(-1, keepdim=True)
        numbers = (top.indices.tolist(), top.values.tolist(), (top.values - total).exp().tolist())
        for found in zip(*numbers, strict=True):
            yield tuple(Answer(self._word(i), p, logit) for i, logit, p in zip(*found, strict=True))

    def _word(self, identity: int) -> str:
        return self.reader.words([identity]) or self.reader.name_of(identity)

    def _verify(
        self,
        inputs: Mapping[str, Tensor],
        own: Mapping[str, tuple[Kept, ...]],
        fed: tuple[tuple[int, ...], ...],
        trace: Trace,
        full: bool,
    ) -> Verification:
        if full:
            again = self.engine.run(inputs, full=True, edits=trace.edits)
            own, fed = _own(again), again.ids
        layers = [layer for stack in trace.stacks.values() for layer in stack]
        kept = [one for kind in trace.stacks for one in own[kind]]
        found = verify(layers, kept, self.engine.tolerance, self.engine.dtype)
        shown = [tuple(token.id for token in one) for one in (trace.tokens, trace.target_tokens) if one]
        # The ids beside the picture must be those that entered the model.
        return found if all(ids in fed for ids in shown) else replace(found, largest_difference=float("inf"))


def _fed(inputs: Mapping[str, Tensor], edits: Edits) -> dict[str, Tensor]:
    """The inputs with the tokens, and what belongs to each, in the order of the edits."""
    if edits.order is None:
        return dict(inputs)
    order = torch.tensor(edits.order)
    return {name: one[:, order] if one.shape[1:2] == order.shape else one for name, one in inputs.items()}


def _proven(trace: Trace) -> Trace:
    verification = trace.check()
    if not verification.passed:
        raise TraceMismatch(verification.layer, verification.largest_difference)
    return trace


def make(net: PreTrainedModel, reader: Reader, name: str, source: Words | str, licence: str = "") -> RealModel:
    """The model of this network and tokenizer, proven on a probe.

    Args:
        name, source, licence: for its card; the source by language, or one text for all.

    Raises:
        UnsupportedModel: it reads no text, or has no attention matrices that can be shown.
        TraceMismatch: what is recorded differs from its eager attention.
    """
    if "input_ids" not in net.main_input_name and not getattr(net.config, "is_encoder_decoder", False):
        raise UnsupportedModel(f"this model does not read text: it reads {net.main_input_name}", kind="not_text")
    probe = probe_of(net)
    engine = prepare(net, probe)
    first = engine.run(probe)
    stacks = {kind: found for kind in ORDER if (found := first.stack(kind))}
    fed = frozenset(inspect.signature(net.forward).parameters)
    return RealModel(card_of(engine, reader, stacks, name, source, licence), engine, reader, fed)


def probe_of(net: PreTrainedModel) -> dict[str, Tensor]:
    """Ids to be held against: longer than eight tokens and than any sliding window up to `PROBED`."""
    config = net.config.get_text_config()
    window = max((w for key in ("sliding_window", "local_attention") if (w := getattr(config, key, 0))), default=0)
    n = min(max(12, window + 4), PROBED, n_places(net))
    ids = torch.randint(0, config.vocab_size, (1, n), generator=torch.Generator().manual_seed(0))
    special = {getattr(config, f"{name}_token_id", None) for name in ("pad", "bos", "eos")}
    ids = ids.apply_(lambda i: next(j % config.vocab_size for j in range(i, i + 9) if j not in special))
    more = {"decoder_input_ids": ids[:, : n - 2]} if net.config.is_encoder_decoder else {}
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), **more}


def n_known(net: PreTrainedModel) -> int:
    """How many ids the network has vectors for, or 0 where it does not say."""
    try:
        return int(getattr(net.get_input_embeddings(), "num_embeddings", 0))
    except NotImplementedError:
        return 0


def start_of(net: PreTrainedModel) -> int:
    """The id with which the decoder begins."""
    config = net.config
    known = (getattr(config, name, None) for name in ("decoder_start_token_id", "bos_token_id"))
    return int(next(identity for identity in known if identity is not None))


def _own(seen: Pass) -> dict[str, tuple[Kept, ...]]:
    found: dict[str, tuple[Kept, ...]] = {}
    for layer, own in zip(seen.layers, seen.kept, strict=True):
        found[layer.kind] = (*found.get(layer.kind, ()), own)
    return found
