"""What a training is, as values: its options, what goes in at each step, what comes out. No torch in here.

A `RunSpec` says everything that a training depends on: on one thread, the same specification gives the same frames, bit
for bit. The page that shows trainings reads and checks it without torch; only `trainer` needs that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from attention_core.errors import AttentionError

Share = Literal["none", "qk", "kv"]
Positions = Literal["none", "sinusoidal", "learned"]


class BadSpec(AttentionError):
    """A training that cannot be run as asked.

    Attributes:
        field: the option that does not fit; value: what was asked for; reason: what would fit.
    """

    def __init__(self, field: str, value: object, reason: str) -> None:
        super().__init__(f"{field} = {value!r}: {reason}")
        self.field, self.value, self.reason = field, value, reason


class BadSentence(AttentionError):
    """A sentence of the reader's own that cannot be trained on.

    Attributes:
        sentence: as it was written.
        reason: a key, the same in every language ("unknown_words", "no_pronoun" …).
        words: the words that it is about, if any.
    """

    def __init__(self, sentence: str, reason: str, words: tuple[str, ...] = ()) -> None:
        about = f" ({', '.join(words)})" if words else ""
        super().__init__(f"{sentence!r}: {reason.replace('_', ' ')}{about}")
        self.sentence, self.reason, self.words = sentence, reason, words


@dataclass(frozen=True)
class Options:
    """A model's sizes and switches.

    Attributes:
        n_layers, n_heads, d_model, d_head: numbers of layers, of heads per layer, of dimensions per token and per head.
        causal: whether a token sees only itself and what came before.
        windows: by layer, how far a token sees to either side (None: everywhere); () for no windows at all.
        share: "qk": one matrix serves as W_Q and W_K; "kv": one serves as W_K and W_V; "none".
        positions: "sinusoidal" (the paper's waves), "learned" (a vector for each of `max_tokens` places) or "none".
        max_tokens: the longest text, with what is put before it.
        writes_beside: a layer's output is kept beside the word (the last layer's goes to the read-out alone). False:
            it is added onto the word, the ordinary residual stream.
        key_reads: what K and V are computed from: "stream" (the word and the notes on it) or "word" (the word alone).
        mlp: hidden units of the MLP after each attention, 0 for none.
        embedding_std, score_std: the spread of the first embeddings (learned positions too), and of W_Q and W_K.
        twin_heads: the heads of a layer start with the same numbers, W_O included.
        supervised: the loss also says where to look. Otherwise it never mentions attention.
        shuffled_table: where word vectors are given, every word gets another one's, by chance.
    """

    n_layers: int = 2
    n_heads: int = 1
    d_model: int = 16
    d_head: int = 8
    causal: bool = False
    windows: tuple[int | None, ...] = ()
    share: Share = "none"
    positions: Positions = "sinusoidal"
    max_tokens: int = 64
    writes_beside: bool = False
    key_reads: Literal["word", "stream"] = "stream"
    mlp: int = 0
    embedding_std: float = 0.3
    score_std: float = 0.1
    twin_heads: bool = False
    supervised: bool = False
    shuffled_table: bool = False

    def __post_init__(self) -> None:
        if min(self.n_layers, self.n_heads, self.d_model, self.d_head, self.max_tokens) < 1:
            raise BadSpec("options", self, "every size is at least 1")
        if self.windows and len(self.windows) != self.n_layers:
            raise BadSpec("windows", self.windows, f"one for each of the {self.n_layers} layers, or none at all")
        if self.key_reads == "word" and not self.writes_beside:
            raise BadSpec("key_reads", self.key_reads, "the word alone is there only if the layers write beside it")

    def window(self, layer: int) -> int | None:
        """How far a token sees in this layer, to either side."""
        return self.windows[layer] if self.windows else None

    def layers(self) -> tuple[Layer, ...]:
        """What each layer reads and writes."""
        return tuple(self._layer(index) for index in range(self.n_layers))

    def _layer(self, index: int) -> Layer:
        if not self.writes_beside:
            return Layer(("word",), ("word",), "word", self.window(index))
        reads = ("word", "note") if index else ("word",)
        writes = "answer" if index == self.n_layers - 1 else "note"
        return Layer(reads, reads if self.key_reads == "stream" else ("word",), writes, self.window(index))


class Layer(NamedTuple):
    """Names of the parts of the stream that a layer's queries read, its keys and values read, and it writes."""

    query_reads: tuple[str, ...]
    key_reads: tuple[str, ...]
    writes: str
    window: int | None


@dataclass(frozen=True)
class Readout:
    """logits = (sum of the parts read) · matrix + bias, after one layer.

    Attributes:
        tensor: its name ("embedding": tied, an answer's column is its word's own row).
        reads: parts of the stream; after: the layer after which they are read.
        answers: what the columns stand for, None for the vocabulary.
        at: the tokens at which it answers, "all", "prefix" (put before the text) or "text".
        weight: how much its surprise counts in the loss.
    """

    tensor: str
    reads: tuple[str, ...]
    after: int
    answers: tuple[str, ...] | None = None
    at: Literal["all", "prefix", "text"] = "all"
    bias: bool = False
    weight: float = 1.0


@dataclass(frozen=True)
class Training:
    """How a task is trained, apart from model and data.

    Attributes:
        n_steps, learning_rate: unless a run says otherwise; the rate falls along half a cosine.
        batch: sentences per step.
        score_decay: AdamW's weight decay, on W_Q and W_K only.
        score_penalty: times the mean of Σ scaled² that a token gives in the last layer, over the tokens `penalised`:
            the first of every sentence, or every one.
        look_weight: what a supervised look counts in the loss (see `Options.supervised`).
        every: steps from frame to frame.
    """

    n_steps: int = 1500
    learning_rate: float = 1e-2
    batch: int = 64
    score_decay: float = 0.0
    score_penalty: float = 0.0
    penalised: Literal["first", "every"] = "first"
    look_weight: float = 1.0
    every: int = 25


@dataclass(frozen=True)
class RunSpec:
    """Everything that a training depends on.

    Attributes:
        task: its name in `TASKS`; options: the model; seed: of the first weights and of the data.
        own: sentences of the reader's own, trained on beside the others.
        shuffled_labels: the right answers are dealt out by chance, so that there is nothing to learn.
    """

    task: str
    options: Options
    seed: int
    n_steps: int
    learning_rate: float
    own: tuple[str, ...] = ()
    shuffled_labels: bool = False

    def to_json(self) -> dict[str, Any]:
        """As plain values, for a link, a file or another process."""
        return asdict(self)

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> RunSpec:
        """From what `to_json` gave, lists for tuples allowed.

        Raises:
            BadSpec: an unknown or missing field, or options that do not fit together.
        """
        given = {**facts, "own": tuple(facts.get("own", ()))}
        options = dict(given.pop("options", {}))
        options["windows"] = tuple(options.get("windows", ()))
        _known(cls, given)
        _known(Options, options)
        missing = {"task", "seed", "n_steps", "learning_rate"} - set(given)
        if missing:
            raise BadSpec("spec", sorted(missing), "missing")
        return cls(options=Options(**options), **given)


def _known(cls: type, given: Mapping[str, Any]) -> None:
    unknown = set(given) - {field.name for field in fields(cls)}
    if unknown:
        raise BadSpec(cls.__name__, sorted(unknown), "no such field")


class Batch(NamedTuple):
    """What one step learns from.

    Attributes:
        tokens: numbers of words; real: False on padding; offset: the place at which each sentence begins.
        targets, weight: by read-out, the right answer at each token and how much it counts (0: not asked).
        hidden: tokens that the first token may not see in the last layer, or None.
        noise: added to what the last layer writes, or None.
        looks: by layer, the token that each token should look at (-1: wherever it likes); only the loss of a
            supervised model reads it.
        word_noise: added to the words as the first layer reads them, or None.
        candidates: the words, by number and in order, among which a read-out from the word vectors chooses; all targets
            are among them. None: every word.
    """

    tokens: Int[np.ndarray, "batch token"]
    real: Bool[np.ndarray, "batch token"]
    offset: Int[np.ndarray, " batch"]
    targets: Mapping[str, Int[np.ndarray, "batch token"]]
    weight: Mapping[str, Float[np.ndarray, "batch token"]]
    hidden: Bool[np.ndarray, "batch token"] | None = None
    noise: Float[np.ndarray, "batch token d_model"] | None = None
    looks: Mapping[int, Int[np.ndarray, "batch token"]] | None = None
    word_noise: Float[np.ndarray, "batch token d_model"] | None = None
    candidates: Int[np.ndarray, " candidate"] | None = None


class Answers(NamedTuple):
    """What a model says about a batch: logits by read-out, and attention weights by layer."""

    logits: Mapping[str, Float[np.ndarray, "batch token answer"]]
    weights: tuple[Float[np.ndarray, "batch head query key"], ...]


# (tokens, real=None, offset=None, candidates=None), as NumPy arrays: how tasks measure without torch.
Ask = Callable[..., Answers]
Looks = tuple[Float[np.ndarray, "head query key"], ...]  # One sentence's attention weights, by layer.


class Frame(NamedTuple):
    """How far the training is: small enough to send to a page as it goes.

    Attributes:
        step: steps done, 0 before the first; loss: of the last step (None before the first).
        held_out: share right on sentences never seen; pattern: from 0 to 1, above .5 the pattern is there.
        looks: the attention weights of the task's scenes. matrices: every W_Q, W_K, W_V by its tensor's name.
        tensors: the whole model, in the last frame only.
    """

    step: int
    n_steps: int
    loss: float | None
    learning_rate: float
    seconds: float
    held_out: float
    pattern: float
    looks: tuple[Looks, ...]
    matrices: Mapping[str, Float[np.ndarray, "head d_model d_head"]]
    tensors: Mapping[str, np.ndarray] | None = None

    @property
    def is_last(self) -> bool:
        return self.tensors is not None
