"""The words and frames of `pronoun-open`, from `open_words.toml`; its vocabulary is that of the table.

Nouns have categories. An adjective fits the nouns of some of them, and could be said of those of some others as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

from attention_core.teach.word_table import lists, load

PRONOUN = "it"
VOCABULARY = load()[0]
NUMBER = {word: number for number, word in enumerate(VOCABULARY)}

Words = Mapping[str, tuple[str, ...]]  # By category.
Categories = tuple[str, str]  # Of subject and object.


class Fit(NamedTuple):
    """The categories that an adjective fits, and those of which it could be said as well."""

    fits: frozenset[str]
    also: frozenset[str]


def _by_category(name: str) -> dict[str, tuple[str, ...]]:
    return {category: tuple(words.split()) for category, words in lists()[name].items()}


NOUNS, NEW_NOUNS, NEW_ADJECTIVES = map(_by_category, ("nouns", "held_out_nouns", "held_out_adjectives"))
ADJECTIVES = {
    adjective: Fit(frozenset(facts["fits"].split()), frozenset(facts["also"].split()))
    for adjective, facts in lists()["adjectives"].items()
}
NEUTRAL = tuple(lists()["neutral"]["words"].split())
PREPOSITIONS = tuple(lists()["frames"]["prepositions"].split())
FRAMES, NEW_FRAMES, PLAIN_FRAMES = (tuple(lists()["frames"][name]) for name in ("taught", "held_out", "plain"))

# The two of the sentence that everybody knows: never taught.
CATEGORY = {"animal": "animal", "street": "road"} | {
    noun: category for nouns in (NOUNS, NEW_NOUNS) for category, words in nouns.items() for noun in words
}


def telling(meant: str, other: str) -> tuple[str, ...]:
    """The adjectives that fit a noun of the one category and can't be said of one of the other."""
    return tuple(a for a, fit in ADJECTIVES.items() if meant in fit.fits and other not in fit.fits | fit.also)


def _verbs() -> dict[Categories, tuple[tuple[str, str], ...]]:
    """By the categories of subject and object: verbs, each with its participle; only pairs that make a riddle."""
    groups = {group: tuple(members.split()) for group, members in lists()["groups"].items()}
    found: dict[Categories, tuple[tuple[str, str], ...]] = {}
    for pair, verbs in lists()["verbs"].items():
        forms = tuple((verb.split("/")[0], verb.split("/")[1]) for verb in verbs.split())
        for subject, thing in product(*(groups.get(name, (name,)) for name in pair.split())):
            if subject != thing and (telling(subject, thing) or telling(thing, subject)):
                found[subject, thing] = found.get((subject, thing), ()) + forms
    return found


VERBS = _verbs()
PAIRS = tuple(VERBS)
# By categories of subject and object: the adjectives that tell of the subject, and those that tell of the object.
TELLING = {pair: (telling(*pair), telling(*reversed(pair))) for pair in PAIRS}
