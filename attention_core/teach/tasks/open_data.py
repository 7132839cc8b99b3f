"""What `pronoun-open` is taught from: sentences with nouns of all sorts, in which an adjective tells what "it" is.

A sentence is a riddle if its adjective fits one of its nouns and can't be said of the other. The words' vectors are
given (see `word_table`) and stay as they are, so what is learned of a few hundred nouns can hold for their neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from jaxtyping import Bool, Int

from attention_core.teach.runs import BadSentence, Batch, RunSpec
from attention_core.teach.tasks.open_words import (
    ADJECTIVES,
    CATEGORY,
    FRAMES,
    NEUTRAL,
    NOUNS,
    NUMBER,
    PAIRS,
    PLAIN_FRAMES,
    PREPOSITIONS,
    PRONOUN,
    TELLING,
    VERBS,
    VOCABULARY,
    Categories,
    Fit,
    Words,
)
from attention_core.teach.tasks.pronoun_data import MAX_OWN_WORDS, Corpus, Sentence, shuffled
from attention_core.teach.word_table import UNKNOWN
from attention_core.words import fold, spans


@dataclass(frozen=True)
class Recipe:
    """The choices that shape the data.

    Attributes:
        n_sentences: how many the model is taught from. batch: sentences per step.
        pronoun_weight: how much "it" counts beside another word.
        neutral_share: sentences with an adjective that fits no noun; plain_share: without "it".
        unknown_share: words hidden as [UNK]; strange_share: words, none of the riddle's, replaced by any of the table.
        max_offset: the latest place at which a sentence begins.
        own_share: a batch's sentences that are the reader's own, where there are any.
        noise: standard deviation of what is added to every number of every word.
        n_rivals: words drawn at each step that compete with those of the batch as answers.
    """

    n_sentences: int = 30_000
    batch: int = 64
    pronoun_weight: float = 5.0
    neutral_share: float = 0.15
    plain_share: float = 0.15
    unknown_share: float = 0.05
    strange_share: float = 0.1
    max_offset: int = 15
    own_share: float = 0.1
    noise: float = 0.6
    n_rivals: int = 300


RECIPE = Recipe()


def riddle(
    rng: np.random.Generator, frames: Sequence[str], nouns: Words = NOUNS, adjectives: Words | None = None
) -> Sentence:
    """A sentence with "it", which may be either noun. adjectives: others than the taught ones, by what they fit."""
    while True:
        pair, meant = _pick(rng, PAIRS), int(rng.integers(2))
        fitting = TELLING[pair][meant] if adjectives is None else adjectives.get(pair[meant], ())
        if fitting:
            return _asked(rng, _pick(rng, frames), pair, _two(rng, nouns, pair), meant, _pick(rng, fitting))


def flip(rng: np.random.Generator, frames: Sequence[str], nouns: Words) -> tuple[Sentence, Sentence]:
    """Two sentences that differ in the adjective only, and so in what "it" is."""
    while True:
        pair = _pick(rng, PAIRS)
        if all(TELLING[pair]):
            break
    frame, two, seed = _pick(rng, frames), _two(rng, nouns, pair), int(rng.integers(2**31))

    def side(meant: int) -> Sentence:
        same = np.random.default_rng(seed)  # The same verb and the same preposition.
        return _asked(same, frame, pair, two, meant, _pick(rng, TELLING[pair][meant]))

    return side(0), side(1)


def neutral(rng: np.random.Generator, frames: Sequence[str]) -> Sentence:
    """A sentence whose adjective fits neither noun: "it" stands for itself."""
    pair, adjective = _pick(rng, PAIRS), _pick(rng, NEUTRAL)
    words = fill(rng, _pick(rng, frames), _two(rng, NOUNS, pair), _pick(rng, VERBS[pair]), adjective)
    return Sentence(words, words, adjective)


def plain(rng: np.random.Generator) -> Sentence:
    """A sentence without "it": every word stands for itself."""
    pair, adjective = _pick(rng, PAIRS), _pick(rng, tuple(ADJECTIVES))
    words = fill(rng, _pick(rng, PLAIN_FRAMES), _two(rng, NOUNS, pair), _pick(rng, VERBS[pair]), adjective)
    return Sentence(words, words)


def _two(rng: np.random.Generator, nouns: Words, pair: Categories) -> tuple[str, str]:
    return _pick(rng, nouns[pair[0]]), _pick(rng, nouns[pair[1]])


def _asked(
    rng: np.random.Generator, frame: str, pair: Categories, nouns: tuple[str, str], meant: int, adjective: str
) -> Sentence:
    words = fill(rng, frame, nouns, _pick(rng, VERBS[pair]), adjective)
    return answered(words, adjective, nouns[meant], nouns[1 - meant])


def answered(words: tuple[str, ...], adjective: str, referent: str, other: str) -> Sentence:
    """The sentence with its answer: "it" stands for the referent."""
    return Sentence(words, tuple(referent if word == PRONOUN else word for word in words), adjective, referent, other)


def fill(
    rng: np.random.Generator, frame: str, nouns: tuple[str, str], verb: tuple[str, str], adjective: str
) -> tuple[str, ...]:
    """The frame's words with its gaps filled, and "an" before a vowel."""
    gaps = {"subject": nouns[0], "object": nouns[1], "verb": verb[0], "participle": verb[1]}
    words = frame.format(adjective=adjective, preposition=_pick(rng, PREPOSITIONS), **gaps).split()
    following = zip(words, [*words[1:], ""], strict=True)
    return tuple("an" if word == "a" and after[:1] in tuple("aeiou") else word for word, after in following)


def training_sentences(rng: np.random.Generator, recipe: Recipe) -> list[Sentence]:
    """The sentences that the model is taught from, in the recipe's shares."""

    def sentence() -> Sentence:
        draw = rng.random()
        if draw < recipe.plain_share:
            return plain(rng)
        return neutral(rng, FRAMES) if draw < recipe.plain_share + recipe.neutral_share else riddle(rng, FRAMES)

    return [sentence() for _ in range(recipe.n_sentences)]


def encode(sentences: Sequence[Sentence]) -> Corpus:
    """Sentences as arrays; words outside the table as [UNK]."""
    lengths = np.array([len(sentence.words) for sentence in sentences])
    real = np.arange(lengths.max()) < lengths[:, None]
    tokens, targets = np.zeros(real.shape, dtype=np.int64), np.zeros(real.shape, dtype=np.int64)
    tokens[real] = [NUMBER.get(word, 0) for sentence in sentences for word in sentence.words]
    targets[real] = [NUMBER.get(word, 0) for sentence in sentences for word in sentence.targets]

    def places(words: list[str | None]) -> Int[np.ndarray, " sentence"]:
        found = zip(sentences, words, strict=True)
        return np.array([each.words.index(word) if word in each.words else -1 for each, word in found])

    return Corpus(
        tokens=tokens,
        targets=targets,
        real=real,
        pronoun=places([PRONOUN] * len(sentences)),
        adjective=places([sentence.adjective for sentence in sentences]),
        referent=places([sentence.referent for sentence in sentences]),
        other=places([sentence.other for sentence in sentences]),
    )


def replace_words(corpus: Corpus, replaced: Bool[np.ndarray, "sentence token"], numbers: np.ndarray) -> Corpus:
    """Other words in some places, each of which stands for itself; the riddle's own words and padding stay."""
    riddles_own = np.zeros(corpus.tokens.shape, dtype=bool)
    for place in (corpus.pronoun, corpus.adjective, corpus.referent, corpus.other):
        rows = np.nonzero(place >= 0)[0]
        riddles_own[rows, place[rows]] = True
    free = replaced & corpus.real & ~riddles_own
    return corpus._replace(
        tokens=np.where(free, numbers, corpus.tokens), targets=np.where(free, numbers, corpus.targets)
    )


def hide_words(corpus: Corpus, hidden: Bool[np.ndarray, "sentence token"]) -> Corpus:
    """[UNK] in some places, the riddle's among them, the targets kept honest.

    A hidden word stands for [UNK]. Where the noun that is meant is hidden, so does "it"; where the adjective is, nobody
    can tell what "it" is: it stands for itself.
    """
    hidden = hidden & corpus.real
    tokens, targets = np.where(hidden, NUMBER[UNKNOWN], corpus.tokens), corpus.targets.copy()
    asked = np.nonzero(corpus.referent >= 0)[0]
    for place, answer in ((corpus.referent, UNKNOWN), (corpus.adjective, PRONOUN)):
        lost = asked[hidden[asked, place[asked]]]
        targets[lost, corpus.pronoun[lost]] = NUMBER[answer]
    targets[hidden] = NUMBER[UNKNOWN]
    return corpus._replace(tokens=tokens, targets=targets)


def batches(spec: RunSpec, recipe: Recipe = RECIPE) -> Iterator[Batch]:
    """Endless training batches: sentences by chance, words replaced and hidden by chance, every word blurred."""
    rng = np.random.default_rng(spec.seed)
    sentences = training_sentences(rng, recipe)
    if spec.shuffled_labels:
        sentences = shuffled(sentences, np.random.default_rng(spec.seed))
    corpus = encode(sentences + [own_sentence(text) for text in spec.own])
    while True:
        rows = rng.integers(len(sentences), size=recipe.batch)
        if spec.own:
            is_own = rng.random(recipe.batch) < recipe.own_share
            rows = np.where(is_own, len(sentences) + rng.integers(len(spec.own), size=recipe.batch), rows)
        yield _batch(rng, Corpus(*(field[rows] for field in corpus)), recipe, spec.options.d_model)


def _batch(rng: np.random.Generator, drawn: Corpus, recipe: Recipe, d_model: int) -> Batch:
    width = int(drawn.real.sum(axis=1).max())
    drawn = drawn._replace(**{name: getattr(drawn, name)[:, :width] for name in ("tokens", "targets", "real")})
    shape = drawn.tokens.shape
    drawn = replace_words(drawn, rng.random(shape) < recipe.strange_share, rng.integers(1, len(VOCABULARY), shape))
    drawn = hide_words(drawn, rng.random(shape) < recipe.unknown_share)
    weight = np.where(drawn.tokens == NUMBER[PRONOUN], recipe.pronoun_weight, 1.0) * drawn.real
    rivals = rng.integers(len(VOCABULARY), size=recipe.n_rivals)
    return Batch(
        tokens=drawn.tokens,
        real=drawn.real,
        offset=rng.integers(recipe.max_offset + 1, size=len(drawn.tokens)),
        targets={"embedding": drawn.targets},
        weight={"embedding": weight.astype(np.float32)},
        word_noise=np.float32(recipe.noise) * rng.standard_normal((*shape, d_model), dtype=np.float32),
        candidates=np.union1d(drawn.targets, rivals),
    )


def own_sentence(text: str) -> Sentence:
    """A sentence of the reader's own: two nouns of the lists, one "it", one adjective that fits one of the nouns only.

    Raises:
        BadSentence: "too_long", "unknown_words", "no_pronoun", "two_pronouns", "not_two_nouns", "not_one_adjective",
            "nouns_alike" (the adjective can be said of both) or "fits_neither".
    """
    words = tuple(fold(text[start:end]) for start, end in spans(text))
    nouns, adjectives = [word for word in words if word in CATEGORY], [word for word in words if word in ADJECTIVES]
    fit = ADJECTIVES[adjectives[0]] if adjectives else Fit(frozenset(), frozenset())
    fitting = [noun for noun in nouns if CATEGORY[noun] in fit.fits]
    sayable = [noun for noun in nouns if CATEGORY[noun] in fit.fits | fit.also]
    unknown = tuple(word for word in words if word not in NUMBER or word == UNKNOWN)
    faults = {
        "too_long": len(words) > MAX_OWN_WORDS,
        "unknown_words": bool(unknown),
        "no_pronoun": PRONOUN not in words,
        "two_pronouns": words.count(PRONOUN) > 1,
        "not_two_nouns": len(nouns) != 2 or nouns[0] == nouns[1],
        "not_one_adjective": len(adjectives) != 1,
        "nouns_alike": len(sayable) == 2,
        "fits_neither": not fitting,
    }
    for reason, is_so in faults.items():
        if is_so:
            raise BadSentence(text, reason, unknown if reason == "unknown_words" else tuple(nouns + adjectives))
    return answered(words, adjectives[0], fitting[0], next(noun for noun in nouns if noun != fitting[0]))


_Item = TypeVar("_Item")


def _pick(rng: np.random.Generator, items: Sequence[_Item]) -> _Item:
    return items[int(rng.integers(len(items)))]
