"""The words and frames that the sentences of `pronoun` are made of.

The words of each class stand in five groups (the place in the list, modulo 5). In training no two content words of
one group ever meet. So all pairs that a held-out sentence is made of, three words of one group, are new to the model:
"animal", "street", "tired" and "wide" are group 0.
"""

from __future__ import annotations

from typing import Literal, get_args

Class = Literal["animate", "place", "food", "thing"]
CLASSES: tuple[Class, ...] = get_args(Class)
N_GROUPS = 5

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
