"""How well a model of `pronoun` does: the figures on its card, and the curves of its film."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from attention_core.teach.runs import Ask, Looks
from attention_core.teach.tasks import pronoun_data as data
from attention_core.teach.tasks.pronoun_data import Sentence
from attention_core.teach.tasks.pronoun_words import (
    ADJECTIVES,
    GROUP,
    NOUNS,
    PRONOUN,
    TRAINING_FRAMES,
    UNKNOWN,
    VOCABULARY,
)
from attention_core.teach.tasks.task import Scene

IT = 7  # The place of "it" in the headline, and of the noun that is meant: "animal" if tired, "street" if wide.
WANTED = (1, 5)
HEADLINE = "The animal didn't cross the street because it was too {}."
SCENES = tuple(
    Scene(HEADLINE.format(adjective), IT, (wanted,))
    for adjective, wanted in zip(("tired", "wide"), WANTED, strict=True)
)
PATTERN_LABEL = {
    "en": "it → animal if tired, it → street if wide (the smaller of the two)",
    "zh": "it → animal（tired）与 it → street（wide）中较小的注意力权重",
}
N_HELD_OUT = 2000
N_FLIPS = 40
N_FILM = 200  # Sentences that the film's curve is measured on, again and again.


class Answers(NamedTuple):
    """What a model says at the "it" of each sentence, and where its reading head looks from there."""

    logits: Float[np.ndarray, "sentence word"]
    weights: Float[np.ndarray, "sentence key"]


class Accuracy(NamedTuple):
    """Share of right answers: between the two nouns, among all words; and of the reading head's top weight."""

    two_way: float
    full: float
    looked: float


def answers(ask: Ask, sentences: Sequence[Sentence], offset: int = 0) -> Answers:
    """Ask the model about the "it" of every sentence."""
    corpus = data.encode(list(sentences))
    rows = np.arange(len(sentences))
    result = ask(corpus.tokens, corpus.real, np.full(len(sentences), offset))
    return Answers(
        logits=result.logits["readout"][rows, corpus.pronoun],
        weights=result.weights[-1][rows, 0, corpus.pronoun],
    )


def accuracy(ask: Ask, sentences: Sequence[Sentence], offset: int = 0) -> Accuracy:
    """How often the model finds what "it" stands for."""
    corpus = data.encode(list(sentences))
    rows = np.arange(len(sentences))
    logits, weights = answers(ask, sentences, offset)
    meant, other = corpus.tokens[rows, corpus.referent], corpus.tokens[rows, corpus.other]
    return Accuracy(
        two_way=float((logits[rows, meant] > logits[rows, other]).mean()),
        full=float((logits.argmax(-1) == meant).mean()),
        looked=float((weights.argmax(-1) == corpus.referent).mean()),
    )


def headline(ask: Ask) -> dict[str, dict[str, float]]:
    """The reading head's weights from "it" in the two sentences that everybody knows."""
    sentences = [data.own_sentence(HEADLINE.format(adjective)) for adjective in ("tired", "wide")]
    weights = answers(ask, sentences).weights
    return {
        str(each.adjective): {
            word: round(float(row[each.words.index(word)]), 4)
            for word in ("animal", PRONOUN, str(each.adjective), "street")
        }
        for each, row in zip(sentences, weights, strict=True)
    }


def flips(n: int, seed: int = 2) -> list[tuple[Sentence, Sentence]]:
    """Pairs of sentences that differ in the adjective only, and so in what "it" is; new word combinations.

    In every second pair the nouns have changed places: "The street wasn't crossed by the animal ..."
    """
    rng = np.random.default_rng(seed)
    pairs: list[tuple[Sentence, Sentence]] = []
    while len(pairs) < n:
        frame = TRAINING_FRAMES[3 if len(pairs) % 2 else 0]
        first = data.riddle(rng, (frame,), "combinations")
        fitting = next(ADJECTIVES[kind] for kind, nouns in NOUNS.items() if first.other in nouns)
        adjective = fitting[int(rng.integers(len(fitting)))]
        if GROUP[adjective] == GROUP[str(first.other)]:
            second = _swap(first, first.adjective, adjective)
            targets = tuple(str(first.other) if word == PRONOUN else word for word in second.words)
            pairs.append((first, Sentence(second.words, targets, adjective, first.other, first.referent)))
    return pairs


def flips_right(ask: Ask, pairs: Sequence[tuple[Sentence, Sentence]]) -> float:
    """Share of pairs in both sentences of which the reading head looks most at the noun that is meant."""
    right = np.ones(len(pairs), dtype=bool)
    for side in ([first for first, _ in pairs], [second for _, second in pairs]):
        right &= answers(ask, side).weights.argmax(-1) == data.encode(side).referent
    return float(right.mean())


def pattern(scenes: tuple[Looks, ...]) -> float:
    """The weight of the right noun in the last layer, in that of the headline's two sentences where it is smaller.

    Of several heads, the one that does it best.
    """
    right = [scene[-1][:, IT, wanted] for scene, wanted in zip(scenes, WANTED, strict=True)]  # (head,) each
    return float(np.min(right, axis=0).max())


@cache
def _film_sentences() -> tuple[Sentence, ...]:
    return tuple(data.held_out("combinations", N_FILM))


def held_out(ask: Ask) -> float:
    """Right between the two nouns, in word combinations never seen."""
    return accuracy(ask, _film_sentences()).two_way


def measure(ask: Ask) -> dict[str, Any]:
    """The figures of the card."""
    combinations, frames = (accuracy(ask, data.held_out(kind, N_HELD_OUT)) for kind in ("combinations", "frames"))
    return {
        "held_out_combinations": {"two_way": combinations.two_way, "full": combinations.full},
        "held_out_frames": {"two_way": frames.two_way, "full": frames.full},
        "looks_at_the_noun": combinations.looked,
        "headline": headline(ask),
        "flips_right": flips_right(ask, flips(N_FLIPS)),
    }


def limits(ask: Ask, n: int = 1000, seed: int = 3) -> dict[str, float]:
    """Shares of right or sensible answers to sentences that the model was not made for.

    Returns:
        one_of_two_alike: both nouns of one class: it names one of them. none_fits: the adjective fits neither noun: it
        answers [UNK]. first_of_two: two riddles in one sentence: the first "it" is right. late_start: the sentence
        begins at place 32: right. although: "although" for "because": the answer stays the same. unknown_noun: the
        noun that is meant is unknown: it answers [UNK]. unknown_adjective: the adjective is unknown: it answers "it".
    """
    rng = np.random.default_rng(seed)
    riddles = [data.riddle(rng, TRAINING_FRAMES, "training") for _ in range(n)]
    alike = [_swap(each, each.other, _neighbour(each.referent)) for each in riddles]
    unfit = [_swap(each, each.adjective, _unfit_adjective(each)) for each in riddles]
    joined = [_join(one, two) for one, two in pairwise(riddles) if not set(one.words) & set(two.words) & set(GROUP)]
    because = [each for each in riddles if "because" in each.words]
    although = [_swap(each, "because", "although") for each in because]
    no_noun = [_swap(each, each.referent, UNKNOWN) for each in riddles]
    no_adjective = [_swap(each, each.adjective, UNKNOWN) for each in riddles]
    return {
        "one_of_two_alike": _share(said(ask, alike), [{each.referent, _neighbour(each.referent)} for each in riddles]),
        "none_fits": _share(said(ask, unfit), [{UNKNOWN}] * n),
        "first_of_two": _share(said(ask, joined), [{each.referent} for each in joined]),
        "late_start": accuracy(ask, riddles, offset=32).full,
        "although": _share(said(ask, although), [{word} for word in said(ask, because)]),
        "unknown_noun": _share(said(ask, no_noun), [{UNKNOWN}] * n),
        "unknown_adjective": _share(said(ask, no_adjective), [{PRONOUN}] * n),
    }


def said(ask: Ask, sentences: list[Sentence]) -> list[str]:
    """The model's answer at the (first) "it" of each sentence."""
    return [VOCABULARY[number] for number in answers(ask, sentences).logits.argmax(-1)]


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
