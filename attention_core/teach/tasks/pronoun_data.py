"""What `pronoun` is taught from: sentences in which an adjective tells what "it" stands for.

Every sentence is a frame filled with words of four classes. The target of a word is that word; the target of "it" is
the noun of the adjective's class. Nothing here says where to look, except `looks`, which only a supervised model reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from jaxtyping import Bool, Int

from attention_core.teach.runs import BadSentence, Batch, RunSpec
from attention_core.teach.tasks.pronoun_words import (
    ADJECTIVES,
    GROUP,
    NEUTRAL,
    NOUNS,
    NUMBER,
    PLAIN_FRAMES,
    PRONOUN,
    TEST_FRAMES,
    TRAINING_FRAMES,
    UNKNOWN,
    VERBS,
)
from attention_core.words import fold, spans

# "training": no two content words of one group; "combinations": all of one group; "any": as they come.
Split = Literal["training", "combinations", "any"]

MAX_OWN_WORDS = 24
CLASS = {word: kind for table in (NOUNS, ADJECTIVES) for kind, words in table.items() for word in words}
IS_NOUN = {word for words in NOUNS.values() for word in words}


@dataclass(frozen=True)
class Recipe:
    """The choices that shape the data.

    Attributes:
        n_sentences: how many the model is taught from. batch: sentences per step.
        pronoun_weight: how much "it" counts beside another word.
        neutral_share: sentences with an adjective that fits no noun; plain_share: without "it".
        unknown_share: words hidden as [UNK]. max_offset: the latest place at which a sentence begins.
        own_share: a batch's sentences that are the reader's own, where there are any.
    """

    n_sentences: int = 30_000
    batch: int = 64
    pronoun_weight: float = 5.0
    neutral_share: float = 0.15
    plain_share: float = 0.15
    unknown_share: float = 0.05
    max_offset: int = 15
    own_share: float = 0.1


RECIPE = Recipe()


class Sentence(NamedTuple):
    """Words, what each of them stands for, and the parts of the riddle (None where there is none)."""

    words: tuple[str, ...]
    targets: tuple[str, ...]
    adjective: str | None = None
    referent: str | None = None
    other: str | None = None


class Corpus(NamedTuple):
    """Sentences as numbers of words, filled up on the right (`real` is False there).

    `pronoun`, `adjective`, `referent` and `other` (the noun that is not meant) are places in the sentence, or -1.
    """

    tokens: Int[np.ndarray, "sentence token"]
    targets: Int[np.ndarray, "sentence token"]
    real: Bool[np.ndarray, "sentence token"]
    pronoun: Int[np.ndarray, " sentence"]
    adjective: Int[np.ndarray, " sentence"]
    referent: Int[np.ndarray, " sentence"]
    other: Int[np.ndarray, " sentence"]


def allowed(words: tuple[str, ...], split: Split) -> bool:
    """Whether these content words may stand together in a sentence of this split."""
    groups = [GROUP[word] for word in words if word in GROUP]
    n_different = len(set(groups))
    return {"training": n_different == len(groups), "combinations": n_different == 1, "any": True}[split]


def riddle(rng: np.random.Generator, frames: tuple[str, ...], split: Split, neutral: bool = False) -> Sentence:
    """A sentence with "it". Its adjective fits one of the two nouns, the first as often as the second.

    A neutral adjective fits neither: then "it" stands for itself.
    """
    while True:
        classes = _pick(rng, tuple(VERBS))
        nouns = _pick(rng, NOUNS[classes[0]]), _pick(rng, NOUNS[classes[1]])
        meant = int(rng.integers(2))
        adjective = _pick(rng, NEUTRAL if neutral else ADJECTIVES[classes[meant]])
        if allowed((*nouns, adjective), split):
            break
    words = fill(_pick(rng, frames), nouns, _pick(rng, VERBS[classes]), adjective)
    if neutral:
        return Sentence(words, words, adjective)
    targets = tuple(nouns[meant] if word == PRONOUN else word for word in words)
    return Sentence(words, targets, adjective, nouns[meant], nouns[1 - meant])


def plain(rng: np.random.Generator, split: Split = "training") -> Sentence:
    """A sentence without "it": every word stands for itself."""
    while True:
        classes = _pick(rng, tuple(VERBS))
        nouns = _pick(rng, NOUNS[classes[0]]), _pick(rng, NOUNS[classes[1]])
        adjective = _pick(rng, ADJECTIVES[classes[0]])
        if allowed((*nouns, adjective), split):
            break
    words = fill(_pick(rng, PLAIN_FRAMES), nouns, _pick(rng, VERBS[classes]), adjective)
    return Sentence(words, words)


def fill(frame: str, nouns: tuple[str, str], verb: tuple[str, str], adjective: str) -> tuple[str, ...]:
    """The frame's words with its gaps filled, and "an" before a vowel."""
    gaps = {"subject": nouns[0], "object": nouns[1], "verb": verb[0], "participle": verb[1]}
    words = frame.format(adjective=adjective, **gaps).split()
    following = [*words[1:], ""]
    return tuple(
        "an" if word == "a" and after[:1] in tuple("aeiou") else word
        for word, after in zip(words, following, strict=True)
    )


def training_sentences(rng: np.random.Generator, recipe: Recipe) -> list[Sentence]:
    """The sentences that the model is taught from, in the recipe's shares."""

    def sentence() -> Sentence:
        draw = rng.random()
        if draw < recipe.plain_share:
            return plain(rng)
        return riddle(rng, TRAINING_FRAMES, "training", neutral=draw < recipe.plain_share + recipe.neutral_share)

    return [sentence() for _ in range(recipe.n_sentences)]


def held_out(kind: Literal["combinations", "frames"], n: int, seed: int = 1) -> list[Sentence]:
    """Riddles never seen in training: word combinations in known frames, or frames with any words."""
    rng = np.random.default_rng(seed)
    if kind == "combinations":
        return [riddle(rng, TRAINING_FRAMES, "combinations") for _ in range(n)]
    return [riddle(rng, TEST_FRAMES, "any") for _ in range(n)]


def encode(sentences: list[Sentence]) -> Corpus:
    """Sentences as arrays."""
    width = max(len(sentence.words) for sentence in sentences)

    def numbers(words: tuple[str, ...]) -> list[int]:
        return [NUMBER[word] for word in words] + [NUMBER[UNKNOWN]] * (width - len(words))

    def places(words: list[str | None]) -> Int[np.ndarray, " sentence"]:
        found = zip(sentences, words, strict=True)
        return np.array([s.words.index(word) if word in s.words else -1 for s, word in found])

    lengths = np.array([len(sentence.words) for sentence in sentences])
    return Corpus(
        tokens=np.array([numbers(sentence.words) for sentence in sentences]),
        targets=np.array([numbers(sentence.targets) for sentence in sentences]),
        real=np.arange(width) < lengths[:, None],
        pronoun=places([PRONOUN] * len(sentences)),
        adjective=places([sentence.adjective for sentence in sentences]),
        referent=places([sentence.referent for sentence in sentences]),
        other=places([sentence.other for sentence in sentences]),
    )


def hide_words(corpus: Corpus, share: float, rng: np.random.Generator) -> Corpus:
    """Replace a share of all words, important ones too, by [UNK], and keep the targets honest.

    A hidden word stands for [UNK]. Where the adjective is hidden, nobody can tell what "it" is: it stands for itself.
    Where the noun that is meant is hidden, "it" stands for [UNK]: the adjective does not fit the other noun.
    """
    hidden = corpus.real & (rng.random(corpus.tokens.shape) < share)
    rows = np.arange(len(corpus.tokens))
    targets = corpus.targets.copy()
    has_pronoun = corpus.pronoun >= 0

    def is_hidden(place: Int[np.ndarray, " sentence"]) -> Bool[np.ndarray, " sentence"]:
        return has_pronoun & (place >= 0) & hidden[rows, place]

    lost_noun, lost_adjective = is_hidden(corpus.referent), is_hidden(corpus.adjective)
    targets[rows[lost_noun], corpus.pronoun[lost_noun]] = NUMBER[UNKNOWN]
    targets[rows[lost_adjective], corpus.pronoun[lost_adjective]] = NUMBER[PRONOUN]
    targets[hidden] = NUMBER[UNKNOWN]
    return corpus._replace(tokens=np.where(hidden, NUMBER[UNKNOWN], corpus.tokens), targets=targets)


def batches(spec: RunSpec, recipe: Recipe = RECIPE) -> Iterator[Batch]:
    """Endless training batches: sentences by chance, words hidden by chance, the first word at place 0 to 15."""
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
        drawn = hide_words(Corpus(*(field[rows] for field in corpus)), recipe.unknown_share, rng)
        weight = np.where(drawn.tokens == NUMBER[PRONOUN], recipe.pronoun_weight, 1.0) * drawn.real
        yield Batch(
            tokens=drawn.tokens,
            real=drawn.real,
            offset=rng.integers(recipe.max_offset + 1, size=recipe.batch),
            targets={"readout": drawn.targets},
            weight={"readout": weight.astype(np.float32)},
            looks=_looks(drawn) if spec.options.supervised else None,
        )


def shuffled(sentences: list[Sentence], rng: np.random.Generator) -> list[Sentence]:
    """The same sentences, but a coin says which noun "it" stands for: the adjective then tells nothing."""

    def dealt(sentence: Sentence) -> Sentence:
        if sentence.referent is None or sentence.other is None or rng.random() < 0.5:
            return sentence
        targets = tuple(sentence.other if word == PRONOUN else word for word in sentence.words)
        return sentence._replace(targets=targets, referent=sentence.other, other=sentence.referent)

    return [dealt(sentence) for sentence in sentences]


def own_sentence(text: str) -> Sentence:
    """A sentence of the reader's own: two nouns of different classes, one "it", one adjective that fits one of them.

    Raises:
        BadSentence: "too_long", "unknown_words", "no_pronoun", "two_pronouns", "not_two_nouns", "not_one_adjective",
            "nouns_alike" (of one class) or "fits_neither".
    """
    words = tuple(fold(text[start:end]) for start, end in spans(text))
    nouns = [word for word in words if word in IS_NOUN]
    adjectives = [word for word in words if word in CLASS and word not in IS_NOUN]
    fitting = [noun for noun in nouns if adjectives and CLASS[noun] == CLASS[adjectives[0]]]
    others = [noun for noun in nouns if noun not in fitting]
    unknown = tuple(word for word in words if word not in NUMBER or word == UNKNOWN)
    faults = {
        "too_long": len(words) > MAX_OWN_WORDS,
        "unknown_words": bool(unknown),
        "no_pronoun": PRONOUN not in words,
        "two_pronouns": words.count(PRONOUN) > 1,
        "not_two_nouns": len(nouns) != 2 or nouns[0] == nouns[1],
        "not_one_adjective": len(adjectives) != 1,
        "nouns_alike": len(fitting) == 2 or (len({CLASS[noun] for noun in nouns}) == 1),
        "fits_neither": not fitting,
    }
    for reason, is_so in faults.items():
        if is_so:
            raise BadSentence(text, reason, unknown if reason == "unknown_words" else tuple(nouns + adjectives))
    targets = tuple(fitting[0] if word == PRONOUN else word for word in words)
    return Sentence(words, targets, adjectives[0], fitting[0], others[0])


def _looks(corpus: Corpus) -> dict[int, Int[np.ndarray, "sentence token"]]:
    """Where "it" should look: at its adjective in layer 0, at the noun that is meant in layer 1."""
    rows = np.nonzero((corpus.pronoun >= 0) & (corpus.adjective >= 0) & (corpus.referent >= 0))[0]

    def wanted(place: Int[np.ndarray, " sentence"]) -> Int[np.ndarray, "sentence token"]:
        looks = np.full(corpus.tokens.shape, -1)
        looks[rows, corpus.pronoun[rows]] = place[rows]
        return looks

    return {0: wanted(corpus.adjective), 1: wanted(corpus.referent)}


_Item = TypeVar("_Item")


def _pick(rng: np.random.Generator, items: tuple[_Item, ...]) -> _Item:
    return items[int(rng.integers(len(items)))]
