"""How well a taught model does: the figures on its card."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from attention_core.teach import pronoun
from attention_core.teach.model import TwoHop
from attention_core.teach.pronoun import (
    ADJECTIVES,
    GROUP,
    NOUNS,
    NUMBER,
    PRONOUN,
    TRAINING_FRAMES,
    UNKNOWN,
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
    pairs: list[tuple[Sentence, Sentence]] = []
    while len(pairs) < n:
        frame = TRAINING_FRAMES[3 if len(pairs) % 2 else 0]
        first = pronoun.riddle(rng, (frame,), "combinations")
        fitting = next(ADJECTIVES[kind] for kind, nouns in NOUNS.items() if first.other in nouns)
        adjective = fitting[int(rng.integers(len(fitting)))]
        if GROUP[adjective] == GROUP[str(first.other)]:
            second = _swap(first, first.adjective, adjective)
            targets = tuple(str(first.other) if word == PRONOUN else word for word in second.words)
            pairs.append((first, Sentence(second.words, targets, adjective, first.other, first.referent)))
    return pairs


def flips_right(model: TwoHop, pairs: list[tuple[Sentence, Sentence]]) -> float:
    """Share of pairs in both sentences of which the reading head looks most at the noun that is meant."""
    right = np.ones(len(pairs), dtype=bool)
    for side in ([first for first, _ in pairs], [second for _, second in pairs]):
        right &= answers(model, side).weights.argmax(-1) == pronoun.encode(side).referent
    return float(right.mean())


class Limits(NamedTuple):
    """Shares of right or sensible answers to sentences that the model was not made for."""

    one_of_two_alike: float  # both nouns of one class: it names one of them
    none_fits: float  # the adjective fits neither noun: it answers [UNK]
    first_of_two: float  # two riddles in one sentence: the first "it" is right
    late_start: float  # the sentence begins at place 32: right
    although: float  # "although" for "because": the answer stays the same
    unknown_noun: float  # the noun that is meant is unknown: it answers [UNK]
    unknown_adjective: float  # the adjective is unknown: it answers "it"


def limits(model: TwoHop, n: int = 1000, seed: int = 3) -> Limits:
    """Measure what the model gets wrong, or can only guess."""
    rng = np.random.default_rng(seed)
    riddles = [pronoun.riddle(rng, TRAINING_FRAMES, "training") for _ in range(n)]
    alike = [_swap(each, each.other, _neighbour(each.referent)) for each in riddles]
    unfit = [_swap(each, each.adjective, _unfit_adjective(each)) for each in riddles]
    joined = [_join(one, two) for one, two in pairwise(riddles) if not set(one.words) & set(two.words) & set(GROUP)]
    because = [each for each in riddles if "because" in each.words]
    although = [_swap(each, "because", "although") for each in because]
    no_noun = [_swap(each, each.referent, UNKNOWN) for each in riddles]
    no_adjective = [_swap(each, each.adjective, UNKNOWN) for each in riddles]
    return Limits(
        one_of_two_alike=_share(said(model, alike), [{each.referent, _neighbour(each.referent)} for each in riddles]),
        none_fits=_share(said(model, unfit), [{UNKNOWN}] * n),
        first_of_two=_share(said(model, joined), [{each.referent} for each in joined]),
        late_start=accuracy(model, riddles, offset=32).full,
        although=_share(said(model, although), [{word} for word in said(model, because)]),
        unknown_noun=_share(said(model, no_noun), [{UNKNOWN}] * n),
        unknown_adjective=_share(said(model, no_adjective), [{PRONOUN}] * n),
    )


def said(model: TwoHop, sentences: list[Sentence]) -> list[str]:
    """The model's answer at the (first) "it" of each sentence."""
    return [VOCABULARY[number] for number in answers(model, sentences).logits.argmax(-1)]


def _share(answers: list[str], right: Sequence[Container[str | None]]) -> float:
    return float(np.mean([answer in accepted for answer, accepted in zip(answers, right, strict=True)]))


def _swap(sentence: Sentence, old: str | None, new: str) -> Sentence:
    return sentence._replace(words=tuple(new if word == old else word for word in sentence.words))


def _join(one: Sentence, two: Sentence) -> Sentence:
    return one._replace(words=(*one.words[:-1], "and", *two.words), targets=(*one.targets[:-1], "and", *two.targets))


def _neighbour(noun: str | None) -> str:
    """Another noun of the same class."""
    nouns = next(nouns for nouns in NOUNS.values() if noun in nouns)
    return nouns[(nouns.index(noun) + 1) % len(nouns)]


def _unfit_adjective(sentence: Sentence) -> str:
    """An adjective that fits neither noun."""
    adjectives = [
        words[0] for kind, words in ADJECTIVES.items() if not {sentence.referent, sentence.other} & set(NOUNS[kind])
    ]
    return adjectives[len(sentence.words) % len(adjectives)]
