"""How well a taught model does: the figures on its card."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_core.teach import pronoun
from attention_core.teach.model import TwoHop
from attention_core.teach.pronoun import (
    ADJECTIVES,
    NOUNS,
    NUMBER,
    PRONOUN,
    TRAINING_FRAMES,
    VOCABULARY,
    Sentence,
)

HEADLINE = "The animal didn't cross the street because it was too {}."
HEADLINE_WORDS = ("animal", "it", "{}", "street")


class Answers(NamedTuple):
    """What a model says at the "it" of each sentence, and where its reading head looks from there."""

    logits: Float[np.ndarray, "sentence word"]
    weights: Float[np.ndarray, "sentence key"]


class Accuracy(NamedTuple):
    """Share of right answers: between the two nouns, among all words; and of the reading head's top weight."""

    two_way: float
    full: float
    looked: float


class Row(NamedTuple):
    """One token's attention weights in both layers, and the model's answer there."""

    words: list[str]
    layers: list[list[float]]
    answer: str
    probability: float


def answers(model: TwoHop, sentences: list[Sentence], offset: int = 0) -> Answers:
    """Ask the model about the "it" of every sentence."""
    corpus = pronoun.encode(sentences)
    rows = np.arange(len(sentences))
    start = torch.full((len(sentences),), offset)
    with torch.no_grad():
        result = model(torch.from_numpy(corpus.tokens), torch.from_numpy(corpus.real), start)
    return Answers(
        logits=result.logits.numpy()[rows, corpus.pronoun],
        weights=result.weights[-1].numpy()[rows, 0, corpus.pronoun],
    )


def accuracy(model: TwoHop, sentences: list[Sentence], offset: int = 0) -> Accuracy:
    """How often the model finds what "it" stands for."""
    corpus = pronoun.encode(sentences)
    rows = np.arange(len(sentences))
    logits, weights = answers(model, sentences, offset)
    meant, other = corpus.tokens[rows, corpus.referent], corpus.tokens[rows, corpus.other]
    return Accuracy(
        two_way=float((logits[rows, meant] > logits[rows, other]).mean()),
        full=float((logits.argmax(-1) == meant).mean()),
        looked=float((weights.argmax(-1) == corpus.referent).mean()),
    )


def row(model: TwoHop, text: str, word: str = PRONOUN) -> Row:
    """The attention weights from `word` in both layers, and what the model answers there."""
    words = pronoun.split_words(text)
    tokens = torch.tensor([[NUMBER.get(each, 0) for each in words]])
    place = words.index(word)
    with torch.no_grad():
        result = model(tokens)
    chances = result.logits[0, place].softmax(-1)
    best = int(chances.argmax())
    layers = [weights[0, 0, place].tolist() for weights in result.weights]
    return Row(words, layers, VOCABULARY[best], float(chances[best]))


def headline(model: TwoHop) -> dict[str, dict[str, float]]:
    """The reading head's weights from "it" in the two sentences that everybody knows."""

    def weights(adjective: str) -> dict[str, float]:
        words, layers, _, _ = row(model, HEADLINE.format(adjective))
        wanted = [word.format(adjective) for word in HEADLINE_WORDS]
        return {word: round(layers[1][words.index(word)], 4) for word in wanted}

    return {adjective: weights(adjective) for adjective in ("tired", "wide")}


def flips(n: int, seed: int = 2) -> list[tuple[Sentence, Sentence]]:
    """Pairs of sentences that differ in the adjective only, and so in what "it" is; new word combinations.

    In every second pair the nouns have changed places: "The street wasn't crossed by the animal ..."
    """
    rng = np.random.default_rng(seed)
    pairs = []
    while len(pairs) < n:
        frame = TRAINING_FRAMES[3 if len(pairs) % 2 else 0]
        first = pronoun.riddle(rng, (frame,), "combinations")
        assert first.referent and first.other and first.adjective
        fitting = ADJECTIVES[class_of(first.other)]
        adjective = fitting[int(rng.integers(len(fitting)))]
        words = tuple(adjective if word == first.adjective else word for word in first.words)
        if pronoun.allowed((first.referent, first.other, adjective), "combinations"):
            targets = tuple(first.other if word == PRONOUN else word for word in words)
            pairs.append((first, Sentence(words, targets, adjective, first.other, first.referent)))
    return pairs


def class_of(noun: str) -> pronoun.Class:
    """The class that a noun belongs to."""
    return next(kind for kind, nouns in NOUNS.items() if noun in nouns)


def flips_right(model: TwoHop, pairs: list[tuple[Sentence, Sentence]]) -> float:
    """Share of pairs in both sentences of which the reading head looks most at the noun that is meant."""
    right = np.ones(len(pairs), dtype=bool)
    for side in ([first for first, _ in pairs], [second for _, second in pairs]):
        right &= answers(model, side).weights.argmax(-1) == pronoun.encode(side).referent
    return float(right.mean())


class Limits(NamedTuple):
    """Shares of sentences of kinds that the model was not made for."""

    names_first_of_two: float  # both nouns of one class: it settles for the first
    first_of_two_riddles: float  # two riddles in one sentence: the first "it" is right
    late_start: float  # the sentence begins at place 32
    unknown_noun: float  # the noun that is meant is unknown: it answers [UNK]
    unknown_adjective: float  # the adjective is unknown: it answers "it"


def limits(model: TwoHop, n: int = 1000, seed: int = 3) -> Limits:
    """Measure what the model gets wrong, or can only guess."""
    riddles = [pronoun.riddle(np.random.default_rng(seed + i), TRAINING_FRAMES, "training") for i in range(n)]
    joined = [
        one._replace(
            words=(*one.words[:-1], "and", *two.words), targets=(*one.targets[:-1], "and", *two.targets)
        )
        for one, two in zip(riddles, riddles[1:], strict=False)
        if not {one.referent, one.other, one.adjective} & set(two.words)
    ]
    return Limits(
        names_first_of_two=_names_first(model, riddles),
        first_of_two_riddles=accuracy(model, joined).full,
        late_start=accuracy(model, riddles, offset=32).full,
        unknown_noun=_answer_share(model, [hide(each, each.referent) for each in riddles], pronoun.UNKNOWN),
        unknown_adjective=_answer_share(model, [hide(each, each.adjective) for each in riddles], PRONOUN),
    )


def hide(sentence: Sentence, word: str | None) -> Sentence:
    """The sentence with this word replaced by one that the model does not know."""
    words = tuple(pronoun.UNKNOWN if each == word else each for each in sentence.words)
    return sentence._replace(words=words)


def _answer_share(model: TwoHop, sentences: list[Sentence], answer: str) -> float:
    return float((answers(model, sentences).logits.argmax(-1) == NUMBER[answer]).mean())


def _names_first(model: TwoHop, riddles: list[Sentence]) -> float:
    twins = []
    for each in riddles:
        assert each.referent and each.other
        nouns = NOUNS[class_of(each.referent)]
        twin = nouns[(nouns.index(each.referent) + 1) % len(nouns)]
        words = tuple(twin if word == each.other else word for word in each.words)
        twins.append(each._replace(words=words, other=twin))
    corpus, logits = pronoun.encode(twins), answers(model, twins).logits
    rows, first = np.arange(len(twins)), np.minimum(corpus.referent, corpus.other)
    return float((logits.argmax(-1) == corpus.tokens[rows, first]).mean())
