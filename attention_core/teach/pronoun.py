"""What `pronoun` is taught from: sentences in which an adjective tells what "it" stands for.

Every sentence is a frame filled with words of four classes. The target of a word is that word; the target of "it" is
the noun of the adjective's class. Nothing here says where to look.

The words of each class stand in five groups (the place in the list, modulo 5). In training no two content words of
one group ever meet. So all pairs that a held-out sentence is made of, three words of one group, are new to the model:
"animal", "street", "tired" and "wide" are group 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar, get_args

import numpy as np
from jaxtyping import Bool, Int

from attention_core.teach.trainer import Batch

Class = Literal["animate", "place", "food", "thing"]
CLASSES: tuple[Class, ...] = get_args(Class)
N_GROUPS = 5

# "training": no two content words of one group; "combinations": all of one group; "any": as they come.
Split = Literal["training", "combinations", "any"]

UNKNOWN = "[UNK]"
PRONOUN = "it"

NOUNS: dict[Class, tuple[str, ...]] = {
    "animate": ("animal", "dog", "cat", "horse", "bear", "rabbit", "fox", "donkey", "cow", "monkey"),
    "place": ("street", "tunnel", "bridge", "river", "forest", "road", "cave", "field", "garden", "path"),
    "food": ("bread", "cake", "soup", "meat", "cheese", "apple", "rice", "stew", "salad", "porridge"),
    "thing": ("cart", "box", "barrel", "wagon", "truck", "sled", "basket", "crate", "boat", "suitcase"),
}
ADJECTIVES: dict[Class, tuple[str, ...]] = {
    "animate": ("tired", "scared", "sleepy", "weak", "hungry", "lazy", "shy", "sick", "thirsty", "nervous"),
    "place": ("wide", "dark", "narrow", "deep", "crowded", "busy", "gloomy", "muddy", "steep", "noisy"),
    "food": ("stale", "sweet", "salty", "raw", "spicy", "sour", "bitter", "greasy", "rotten", "bland"),
    "thing": (
        "bulky",
        "fragile",
        "rusty",
        "heavy",
        "overloaded",
        "wobbly",
        "battered",
        "shaky",
        "creaky",
        "broken",
    ),
}
NEUTRAL = ("strange", "odd", "ugly", "nice", "unusual")

_TRAVEL = (("cross", "crossed"), ("enter", "entered"), ("reach", "reached"), ("leave", "left"))
_IMPRESS = (("stop", "stopped"), ("please", "pleased"), ("surprise", "surprised"))
_EAT = (("eat", "eaten"), ("taste", "tasted"), ("finish", "finished"), ("want", "wanted"))
_HAUL = (("pull", "pulled"), ("push", "pushed"), ("carry", "carried"), ("lift", "lifted"))
_HOLD = (("hold", "held"), ("carry", "carried"))

# Who does what to whom: (subject's class, object's class) → verbs, each with its participle.
VERBS: dict[tuple[Class, Class], tuple[tuple[str, str], ...]] = {
    ("animate", "place"): _TRAVEL,
    ("animate", "food"): _EAT,
    ("animate", "thing"): _HAUL,
    ("thing", "place"): _TRAVEL,
    ("thing", "food"): _HOLD,
    ("food", "place"): _TRAVEL[2:],
    ("place", "animate"): _IMPRESS,
    ("food", "animate"): _IMPRESS,
    ("thing", "animate"): _IMPRESS,
}

TRAINING_FRAMES = (
    "the {subject} didn't {verb} the {object} because it was too {adjective} .",
    "the {subject} couldn't {verb} the {object} because it was so {adjective} .",
    "the {subject} doesn't {verb} the {object} since it is very {adjective} .",
    "the {object} wasn't {participle} by the {subject} because it was too {adjective} .",
    "because it was too {adjective} , the {subject} didn't {verb} the {object} .",
    "as it was so {adjective} , the {object} was never {participle} by the {subject} .",
    "the {subject} had {participle} the {object} although it was rather {adjective} .",
    "the {object} could not be {participle} by the {subject} as it was very {adjective} .",
    "the {subject} and the {object} were there , but it was too {adjective} .",
)
TEST_FRAMES = (
    "the {subject} wouldn't {verb} the {object} because it was rather {adjective} .",
    "since it is so {adjective} , the {object} isn't {participle} by the {subject} .",
    "yesterday the {subject} could not {verb} the {object} , as it was very {adjective} .",
    "as it was rather {adjective} , the {subject} had never {participle} the {object} .",
    "the {object} was there , the {subject} was there , and it was so {adjective} .",
)
PLAIN_FRAMES = (
    "the {subject} didn't {verb} the {object} .",
    "yesterday the {subject} wouldn't {verb} the {object} .",
    "the {object} isn't {participle} by the {subject} .",
    "a {subject} had {participle} the {object} and was not {adjective} .",
    "the {adjective} {subject} had never {participle} a {object} .",
)


GROUP = {
    word: place % N_GROUPS
    for table in (NOUNS, ADJECTIVES)
    for words in table.values()
    for place, word in enumerate(words)
}


def _vocabulary() -> tuple[str, ...]:
    """[UNK], the nouns and adjectives by class, the neutral adjectives, then all other words by alphabet."""
    verbs = {form for forms in VERBS.values() for verb in forms for form in verb}
    frames = " ".join(TRAINING_FRAMES + TEST_FRAMES + PLAIN_FRAMES).split()
    other = verbs | {"an"} | {word for word in frames if "{" not in word}
    return (UNKNOWN, *GROUP, *NEUTRAL, *sorted(other))


VOCABULARY = _vocabulary()
NUMBER = {word: number for number, word in enumerate(VOCABULARY)}


@dataclass(frozen=True)
class Recipe:
    """Every choice that shapes the model and is not in the data or the architecture."""

    n_steps: int = 2000
    batch: int = 64
    learning_rate: float = 2e-2
    embedding_std: float = 0.3
    score_std: float = 0.1
    score_decay: float = 0.05
    pronoun_weight: float = 5.0
    n_sentences: int = 30_000
    neutral_share: float = 0.15
    plain_share: float = 0.15
    unknown_share: float = 0.05
    max_offset: int = 15


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


def batches(recipe: Recipe, seed: int) -> Iterator[Batch]:
    """Endless training batches: sentences by chance, words hidden by chance, the first word at place 0 to 15."""
    rng = np.random.default_rng(seed)
    corpus = encode(training_sentences(rng, recipe))
    while True:
        rows = rng.integers(len(corpus.tokens), size=recipe.batch)
        drawn = hide_words(Corpus(*(field[rows] for field in corpus)), recipe.unknown_share, rng)
        weight = np.where(drawn.tokens == NUMBER[PRONOUN], recipe.pronoun_weight, 1.0) * drawn.real
        offset = rng.integers(recipe.max_offset + 1, size=recipe.batch)
        yield Batch(drawn.tokens, drawn.targets, weight.astype(np.float32), drawn.real, offset)


def split_words(text: str) -> list[str]:
    """Words in small letters with the apostrophes inside them, every other mark by itself."""
    return re.findall(r"\w+(?:'\w+)*|[^\w\s]", text.replace("\u2019", "'").casefold())


_Item = TypeVar("_Item")


def _pick(rng: np.random.Generator, items: tuple[_Item, ...]) -> _Item:
    return items[int(rng.integers(len(items)))]
