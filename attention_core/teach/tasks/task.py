"""What a task is: the facts about it, and the functions that make its data and measure its models. No torch in here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from jaxtyping import Int

from attention_core.teach.runs import Ask, BadSentence, BadSpec, Batch, Looks, Options, Readout, RunSpec, Training
from attention_core.words import SPLITTERS, fold

Text = Mapping[str, str]  # By language: {"en": …, "zh": …}.
MAX_STEPS = 5000
MAX_OWN = 20


@dataclass(frozen=True)
class Scene:
    """A sentence whose attention the film shows.

    Attributes:
        text: as a reader writes it; asker: the token that asks; wanted: the tokens that the pattern is about.
            Both count from 0, tokens that are put before the text included.
    """

    text: str
    asker: int
    wanted: tuple[int, ...]


@dataclass(frozen=True)
class Variant:
    """The task with something changed, to see what the change does.

    Attributes:
        name: its files are named task-name. options, n_steps: what is changed.
        title: how a reader finds it; lesson: what differs and what to look at. Measured figures are added by the card.
        seed: the one that is shipped, where it is about a seed.
        is_shipped: False: only its figures stand on the task's card.
    """

    name: str
    options: Options
    title: Text
    lesson: Text
    n_steps: int | None = None
    seed: int | None = None
    is_shipped: bool = True


@dataclass(frozen=True)
class Column:
    """One figure of the table on the card, a line per seed.

    Attributes:
        path: where it stands in what `measure` gives, names joined by dots.
        label: its heading; is_share: shown in per cent (otherwise as a number from 0 to 1).
    """

    path: str
    label: Text
    is_share: bool = True


@dataclass(frozen=True)
class Task:
    """Everything about a task but the training itself.

    Attributes:
        title: a reader's name for it; columns: what the card's table of figures shows.
        vocabulary, unknown, tokenizer, prefix: how text becomes numbers (as on the card).
        options, training: the recipe. choices: by field of `Options`, the values that a reader may choose.
        scenes: whose attention the film shows. reading_head: (layer, head) in which the pattern appears.
        ask: the word that is chosen first in the app.
        readouts: the read-outs of a model with these options.
        batches: endless training batches of a run, by its seed alone.
        pattern: from the scenes' attention to a figure from 0 to 1; above .5 the pattern is there.
        pattern_label, held_out_label: what the two curves of the film show.
        held_out: a quick share of right answers to what was never seen, for the film.
        measure: every figure of the card for one model, as plain values.
        describe: the texts of the card, by field, from the figures and the limits.
        limits: failures, measured on the model that is shipped; what `describe` makes its text from.
        check_own: raises BadSentence for a sentence that cannot be trained on; None: takes none.
        table: word vectors that are given, not learned, (word, d_model); None: learned.
    """

    name: str
    vocabulary: tuple[str, ...]
    unknown: str
    tokenizer: str
    options: Options
    training: Training
    scenes: tuple[Scene, ...]
    reading_head: tuple[int, int]
    ask: str
    readouts: Callable[[Options], tuple[Readout, ...]]
    batches: Callable[[RunSpec], Iterator[Batch]]
    pattern: Callable[[tuple[Looks, ...]], float]
    pattern_label: Text
    held_out: Callable[[Ask], float]
    held_out_label: Text
    measure: Callable[[Ask], dict[str, Any]]
    limits: Callable[[Ask], dict[str, float]]
    describe: Callable[[Description], dict[str, Any]]
    title: Text = field(default_factory=dict)  # Its name until it is given a better one.
    columns: tuple[Column, ...] = ()
    prefix: tuple[str, ...] = ()
    pronouns: tuple[str, ...] = ()
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()
    check_own: Callable[[str], object] | None = None
    table: Callable[[], np.ndarray] | None = None

    def spec(self, variant: str | None = None, seed: int = 0, n_steps: int | None = None) -> RunSpec:
        """The run of the recipe, or of one of its variants.

        Raises:
            BadSpec: no variant of that name.
        """
        chosen = None if variant is None else self.variant(variant)
        options = self.options if chosen is None else chosen.options
        own_steps = self.training.n_steps if chosen is None or chosen.n_steps is None else chosen.n_steps
        return RunSpec(self.name, options, seed, own_steps if n_steps is None else n_steps, self.training.learning_rate)

    def variant(self, name: str) -> Variant:
        """The variant of that name."""
        known = {variant.name: variant for variant in self.variants}
        if name not in known:
            raise BadSpec("variant", name, f"choose one of {', '.join(known)}")
        return known[name]

    def encode(self, text: str) -> Int[np.ndarray, " token"]:
        """The numbers of a text's tokens, what is put before it included; unknown words as the unknown word."""
        number = {word: i for i, word in enumerate(self.vocabulary)}
        words = [fold(text[start:end]) for start, end in SPLITTERS[self.tokenizer](text)]
        typed = [number.get(word, number[self.unknown]) for word in words]
        return np.array([number[word] for word in self.prefix] + typed)

    def check(self, spec: RunSpec) -> None:
        """Refuse a run that cannot be made, or that would go on for too long.

        Raises:
            BadSpec: an option out of its range; BadSentence: a sentence that cannot be trained on.
        """
        for option in fields(Options):
            value = getattr(spec.options, option.name)
            models = (self.options, *(variant.options for variant in self.variants))
            offered = [*self.choices.get(option.name, ()), *(getattr(model, option.name) for model in models)]
            if value not in offered:
                raise BadSpec(option.name, value, f"choose one of {sorted(set(offered), key=str)}")
        if not 1 <= spec.n_steps <= MAX_STEPS:
            raise BadSpec("n_steps", spec.n_steps, f"from 1 to {MAX_STEPS}")
        if not 0 <= spec.learning_rate <= 0.1:
            raise BadSpec("learning_rate", spec.learning_rate, "from 0 to 0.1")
        if not 0 <= spec.seed < 2**31:
            raise BadSpec("seed", spec.seed, "from 0 to 2147483647")
        self._check_own(spec.own)

    def _check_own(self, own: tuple[str, ...]) -> None:
        if own and self.check_own is None:
            raise BadSentence(own[0], "none_taken")
        if len(own) > MAX_OWN:
            raise BadSentence(own[MAX_OWN], "too_many")
        for sentence in own:
            assert self.check_own is not None
            self.check_own(sentence)


@dataclass(frozen=True)
class Description:
    """What a card's texts are made from.

    Attributes:
        spec: the run that is shipped; figures: its own; seeds: of every seed; limits: its failures, measured.
        n_reached: seeds in which the pattern is there at the end.
    """

    spec: RunSpec
    figures: Mapping[str, Any]
    seeds: tuple[Mapping[str, Any], ...]
    limits: Mapping[str, float]
    n_reached: int
