"""What `dish` is taught from: sentences with two answers, "about the dish?" and "inside its name?" for each character.

Both answers follow from the text alone: the dish is named where 佛, 跳 and 墙 stand next to each other in this order.
Nothing here says where to look.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from attention_core.teach.runs import BadSentence, Batch, RunSpec
from attention_core.teach.tasks.dish_texts import (
    DISH,
    FIRST,
    NUMBER,
    OTHER_DISHES,
    UNKNOWN,
    Sentence,
    about,
    disturbed,
    elsewhere,
    framed,
    hard,
    pick,
)
from attention_core.words import SPLITTERS, fold

MAX_OWN = 24  # Characters of a reader's own sentence.


@dataclass(frozen=True)
class Recipe:
    """The choices that shape the data.

    Attributes:
        n_sentences: how many the model is taught from. batch: sentences per step.
        positive_share: about the dish; hard_share: traps, its characters without its name; elsewhere_share: with its
            characters in other words. The rest is about other food.
        disturbed_share: characters outside the name replaced by any others; unknown_share: hidden as [UNK].
        hidden_share: characters that [CLS] may not see in the last layer, drawn anew at every step.
        inside_weight: what "inside its name?" counts beside "about the dish?".
        max_offset: the latest place at which a sentence begins.
        own_share: a batch's sentences that are the reader's own, where there are any.
    """

    n_sentences: int = 20_000
    batch: int = 64
    positive_share: float = 0.45
    hard_share: float = 0.35
    elsewhere_share: float = 0.12
    disturbed_share: float = 0.1
    unknown_share: float = 0.15
    hidden_share: float = 0.4
    inside_weight: float = 3.0
    max_offset: int = 12
    own_share: float = 0.1


RECIPE = Recipe()


class Corpus(NamedTuple):
    """Sentences as numbers, [CLS] first, filled up on the right; whether about the dish; which tokens are its name."""

    tokens: Int[np.ndarray, "sentence token"]
    real: Bool[np.ndarray, "sentence token"]
    is_about: Bool[np.ndarray, " sentence"]
    inside: Bool[np.ndarray, "sentence token"]


def training_sentences(rng: np.random.Generator, recipe: Recipe) -> list[Sentence]:
    """The sentences that the model is taught from, in the recipe's shares."""
    kinds = np.cumsum([recipe.positive_share, recipe.hard_share, recipe.elsewhere_share])

    def text() -> str:
        kind = int(np.searchsorted(kinds, rng.random(), side="right"))
        if kind == 1:
            return hard(rng).text
        if kind == 2:
            return elsewhere(rng)
        return framed(rng, DISH if kind == 0 else pick(rng, OTHER_DISHES))

    return [about(disturbed(rng, text(), recipe.disturbed_share)) for _ in range(recipe.n_sentences)]


def encode(sentences: list[Sentence]) -> Corpus:
    """Sentences as arrays. Every place where the name stands is marked, also where it stands twice."""
    width = 1 + max(len(sentence.text) for sentence in sentences)
    tokens = np.full((len(sentences), width), NUMBER[UNKNOWN])
    tokens[:, 0] = NUMBER[FIRST]
    inside = np.zeros(tokens.shape, dtype=bool)
    for row, (text, places) in enumerate(sentences):
        tokens[row, 1 : 1 + len(text)] = [NUMBER.get(character, NUMBER[UNKNOWN]) for character in text]
        for place in places:
            inside[row, 1 + place : 1 + place + len(DISH)] = True
    lengths = np.array([1 + len(sentence.text) for sentence in sentences])
    is_about = np.array([sentence.is_about for sentence in sentences])
    return Corpus(tokens, np.arange(width) < lengths[:, None], is_about, inside)


def batches(spec: RunSpec, recipe: Recipe = RECIPE) -> Iterator[Batch]:
    """Endless training batches: sentences by chance, characters hidden by chance."""
    rng = np.random.default_rng(spec.seed)
    sentences = training_sentences(rng, recipe)
    corpus = encode(sentences + [own_sentence(text) for text in spec.own])
    if spec.shuffled_labels:
        dealt = np.random.default_rng(spec.seed).permutation(len(corpus.is_about))
        # Both answers of another sentence, which belong together there and mean nothing here.
        corpus = corpus._replace(is_about=corpus.is_about[dealt], inside=corpus.inside[dealt])
    while True:
        rows = rng.integers(len(sentences), size=recipe.batch)
        if spec.own:
            is_own = rng.random(recipe.batch) < recipe.own_share
            rows = np.where(is_own, len(sentences) + rng.integers(len(spec.own), size=recipe.batch), rows)
        yield _batch(Corpus(*(field[rows] for field in corpus)), rng, spec, recipe)


def _batch(drawn: Corpus, rng: np.random.Generator, spec: RunSpec, recipe: Recipe) -> Batch:
    is_text = drawn.real.copy()
    is_text[:, 0] = False
    # A character of the name that cannot be read would leave no name: those are never hidden as [UNK].
    unknown = is_text & ~drawn.inside & (rng.random(drawn.tokens.shape) < recipe.unknown_share)
    hidden = is_text & (rng.random(drawn.tokens.shape) < recipe.hidden_share)
    first = np.zeros_like(is_text)
    first[:, 0] = True
    return Batch(
        tokens=np.where(unknown, NUMBER[UNKNOWN], drawn.tokens),
        real=drawn.real,
        offset=rng.integers(recipe.max_offset + 1, size=recipe.batch),
        targets={"about": np.where(first, drawn.is_about[:, None], 0), "inside": drawn.inside.astype(np.int64)},
        weight={"about": first.astype(np.float32), "inside": is_text.astype(np.float32)},
        # With one layer, [CLS] reads characters that know nothing of each other: hiding some would only hide evidence.
        hidden=hidden if spec.options.n_layers > 1 else None,
    )


def own_sentence(text: str) -> Sentence:
    """A sentence of the reader's own; it is about the dish if 佛跳墙 stands in it.

    Raises:
        BadSentence: "empty", "too_long", or "unknown_words" (more than half of its characters are).
    """
    characters = [fold(text[start:end]) for start, end in SPLITTERS["characters"](text)]
    unknown = [each for each in characters if each not in NUMBER]
    if not characters:
        raise BadSentence(text, "empty")
    if len(characters) > MAX_OWN:
        raise BadSentence(text, "too_long")
    if len(unknown) * 2 > len(characters):
        raise BadSentence(text, "unknown_words", tuple(dict.fromkeys(unknown)))
    # One place for each: what is many code points long is unknown in any case.
    return about("".join(each if each in NUMBER else "?" for each in characters))
