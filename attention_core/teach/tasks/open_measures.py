"""How well a model of `pronoun-open` does: the figures on its card, and the curves of its film."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from attention_core.teach.runs import Ask
from attention_core.teach.tasks import open_data as data
from attention_core.teach.tasks.open_words import (
    CATEGORY,
    FRAMES,
    NEW_ADJECTIVES,
    NEW_FRAMES,
    NEW_NOUNS,
    NOUNS,
    NUMBER,
    PRONOUN,
    VOCABULARY,
)
from attention_core.teach.tasks.pronoun_data import Sentence
from attention_core.teach.tasks.pronoun_measures import HEADLINE
from attention_core.teach.word_table import UNKNOWN, load
from attention_core.words import fold, spans

N_SENTENCES = 1000
N_FILM = 40  # Sentences that the film's curve is measured on, again and again.
AT_ONCE = 100  # Sentences whose answers, one of 6,000 words at each token, fit comfortably into memory.
BOTH = FRAMES + NEW_FRAMES

Pairs = Sequence[tuple[Sentence, Sentence]]


class Answers(NamedTuple):
    """What a model says at the "it" of each sentence.

    Attributes:
        said: number of the word it names. is_closer: whether the noun that is meant beats the other one.
        weights: of the reading head, from "it".
    """

    said: np.ndarray
    is_closer: Bool[np.ndarray, " sentence"]
    weights: Float[np.ndarray, "sentence key"]


def answers(ask: Ask, sentences: Sequence[Sentence], offset: int = 0) -> Answers:
    """Ask the model about the (first) "it" of every sentence."""
    corpus = data.encode(sentences)
    parts = []
    for start in range(0, len(sentences), AT_ONCE):
        part = data.Corpus(*(field[start : start + AT_ONCE] for field in corpus))
        rows = np.arange(len(part.tokens))
        result = ask(part.tokens, part.real, np.full(len(rows), offset))
        logits = result.logits["embedding"][rows, part.pronoun]
        meant, other = part.tokens[rows, part.referent], part.tokens[rows, part.other]
        is_closer = logits[rows, meant] > logits[rows, other]
        parts.append((logits.argmax(-1), is_closer, result.weights[-1][rows, 0, part.pronoun]))
    return Answers(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def accuracy(ask: Ask, sentences: Sequence[Sentence], offset: int = 0) -> dict[str, float]:
    """Share of right answers: between the two nouns, among all words; and of the reading head's top weight."""
    corpus, told = data.encode(sentences), answers(ask, sentences, offset)
    meant = corpus.tokens[np.arange(len(sentences)), corpus.referent]
    return {
        "two_way": float(told.is_closer.mean()),
        "full": float((told.said == meant).mean()),
        "looked": float((told.weights.argmax(-1) == corpus.referent).mean()),
    }


def headline(ask: Ask) -> dict[str, dict[str, float]]:
    """The reading head's weights from "it" in the two sentences that everybody knows; neither noun is taught."""
    sentences = [data.own_sentence(HEADLINE.format(adjective)) for adjective in ("tired", "wide")]
    weights = answers(ask, sentences).weights
    return {
        str(each.adjective): {
            word: round(float(row[each.words.index(word)]), 4)
            for word in ("animal", PRONOUN, str(each.adjective), "street")
        }
        for each, row in zip(sentences, weights, strict=True)
    }


@cache
def forty_pairs() -> tuple[tuple[Sentence, Sentence], ...]:
    """The test: forty sentences written by hand, each with two adjectives, no noun of theirs taught."""
    written = tomllib.loads(Path(__file__).with_name("open_pairs.toml").read_text(encoding="utf-8"))["pair"]
    return tuple((_written(each, "first", "second"), _written(each, "second", "first")) for each in written)


def _written(pair: dict[str, Any], meant: str, other: str) -> Sentence:
    adjective = pair[meant]["adjective"]
    text = pair["sentence"].format(adjective)
    words = tuple(fold(text[start:end]) for start, end in spans(text))
    return data.answered(words, adjective, pair[meant]["noun"], pair[other]["noun"])


def flips(ask: Ask, pairs: Pairs) -> dict[str, Any]:
    """How many pairs are right in both sentences, how many sentences are right, and which are wrong."""
    sentences = [sentence for pair in pairs for sentence in pair]
    corpus, told = data.encode(sentences), answers(ask, sentences)
    looked = told.weights.argmax(-1) == corpus.referent
    return {
        "pairs": _both(told.is_closer),
        "sentences": int(told.is_closer.sum()),
        "looks": _both(looked),
        "wrong": [
            f"{sentence.referent} ({sentence.adjective})"
            for sentence, is_right in zip(sentences, told.is_closer, strict=True)
            if not is_right
        ],
    }


def _both(is_right: Bool[np.ndarray, " sentence"]) -> int:
    return int(is_right.reshape(-1, 2).all(axis=1).sum())


def cosine() -> dict[str, int]:
    """The forty pairs without any model: which noun's vector points more nearly where the adjective's does."""
    table = load()[1] / np.linalg.norm(load()[1], axis=1, keepdims=True)

    def likeness(noun: str | None, adjective: str | None) -> float:
        return float(table[NUMBER[str(noun)]] @ table[NUMBER[str(adjective)]])

    right = np.array(
        [
            likeness(each.referent, each.adjective) > likeness(each.other, each.adjective)
            for pair in forty_pairs()
            for each in pair
        ]
    )
    return {"pairs": _both(right), "sentences": int(right.sum())}


@cache
def _film_sentences() -> tuple[Sentence, ...]:
    rng = np.random.default_rng(4)
    return tuple(data.riddle(rng, BOTH, NEW_NOUNS) for _ in range(N_FILM))


def held_out(ask: Ask) -> float:
    """Right between the two nouns, with nouns that are never taught."""
    corpus = data.encode(_film_sentences())
    words, rows = np.unique(corpus.tokens), np.arange(N_FILM)
    logits = ask(corpus.tokens, corpus.real, candidates=words).logits["embedding"][rows, corpus.pronoun]

    def of(place: np.ndarray) -> np.ndarray:
        return logits[rows, np.searchsorted(words, corpus.tokens[rows, place])]

    return float((of(corpus.referent) > of(corpus.other)).mean())


def measure(ask: Ask) -> dict[str, Any]:
    """The figures of the card."""
    rng = np.random.default_rng(1)
    new_nouns = [data.flip(rng, BOTH, NEW_NOUNS) for _ in range(N_SENTENCES // 2)]
    told = flips(ask, new_nouns)
    return {
        "held_out_nouns": {
            **accuracy(ask, [sentence for pair in new_nouns for sentence in pair]),
            "flips": told["pairs"] / len(new_nouns),
        },
        "held_out_frames": accuracy(ask, [data.riddle(rng, NEW_FRAMES) for _ in range(N_SENTENCES)]),
        "held_out_adjectives": accuracy(
            ask, [data.riddle(rng, FRAMES, adjectives=NEW_ADJECTIVES) for _ in range(N_SENTENCES)]
        ),
        "headline": headline(ask),
        "forty_pairs": {**(told := flips(ask, forty_pairs())), "flip": told["pairs"] / len(forty_pairs())},
    }


def limits(ask: Ask, n: int = 500, seed: int = 3) -> dict[str, float]:
    """Shares of right or sensible answers to sentences that the model was not made for.

    Returns:
        one_of_two_alike: both nouns of one category: it names one of them. late_start: the sentence begins at place 32:
        right between the two. although: "although" for "because": the answer stays the same. unknown_noun: the noun
        that is meant is outside the table: it answers [UNK]. unknown_adjective: the adjective is: it answers "it".
        both_described: an adjective before each noun as well: right between the two. cosine_pairs, cosine_sentences:
        the forty pairs by the table alone, without a model.
    """
    rng = np.random.default_rng(seed)
    riddles = [data.riddle(rng, FRAMES) for _ in range(n)]
    because = [each for each in riddles if "because" in each.words]
    alike = [each._replace(words=_swap(each, each.other, _neighbour(each.referent))) for each in riddles]
    nothing = {
        name: [each._replace(words=_swap(each, getattr(each, name), UNKNOWN)) for each in riddles]
        for name in ("referent", "adjective")
    }
    said_because = said(ask, because)
    said_although = said(ask, [each._replace(words=_swap(each, "because", "although")) for each in because])
    return {
        "one_of_two_alike": _share(
            [
                word in {each.referent, _neighbour(each.referent)}
                for word, each in zip(said(ask, alike), riddles, strict=True)
            ]
        ),
        "late_start": accuracy(ask, riddles, offset=32)["two_way"],
        "although": _share([one == other for one, other in zip(said_because, said_although, strict=True)]),
        "unknown_noun": _share([word == UNKNOWN for word in said(ask, nothing["referent"])]),
        "unknown_adjective": _share([word == PRONOUN for word in said(ask, nothing["adjective"])]),
        "both_described": accuracy(ask, [_described(rng, each) for each in riddles])["two_way"],
        **{f"cosine_{name}": float(count) for name, count in cosine().items()},
    }


def said(ask: Ask, sentences: Sequence[Sentence]) -> list[str]:
    """The model's answer at the (first) "it" of each sentence, among all words."""
    return [VOCABULARY[number] for number in answers(ask, sentences).said]


def _share(are_so: Sequence[bool]) -> float:
    return float(np.mean(are_so))


def _swap(sentence: Sentence, old: str | None, new: str) -> tuple[str, ...]:
    return tuple(new if word == old else word for word in sentence.words)


def _neighbour(noun: str | None) -> str:
    """Another taught noun of the same category."""
    nouns = NOUNS[CATEGORY[str(noun)]]
    return nouns[(nouns.index(str(noun)) + 1) % len(nouns)]


def _described(rng: np.random.Generator, sentence: Sentence) -> Sentence:
    """With an adjective that fits before each of the two nouns, too."""
    words: list[str] = []
    for word in sentence.words:
        if word in (sentence.referent, sentence.other):
            fitting = [
                a for a, fit in data.ADJECTIVES.items() if CATEGORY[word] in fit.fits and a != sentence.adjective
            ]
            words += [fitting[int(rng.integers(len(fitting)))]] if fitting else []
        words.append(word)
    return data.answered(tuple(words), *map(str, (sentence.adjective, sentence.referent, sentence.other)))
