"""The example sentences, from assets/examples.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import attention_core as ac
from attention_core.cards import DEFAULT
from ui.paths import ASSETS

REAL = "minilm"  # Whose examples every real model of text shows.


@dataclass(frozen=True)
class Example:
    """A sentence to start from.

    Attributes:
        id: its name in the file and in code.
        models: the base models that it is for.
        text: the sentence.
        label: what its button says, by language; None where it has no button.
        flip: the id of the same sentence with something changed, or None.
        changed: that in which it differs from its flip, or None.
    """

    id: str
    models: tuple[str, ...]
    text: str
    label: Mapping[str, str] | None
    flip: str | None
    changed: str | None


@cache
def all_examples() -> tuple[Example, ...]:
    entries = tomllib.loads((ASSETS / "examples.toml").read_text(encoding="utf-8"))["example"]
    return tuple(
        Example(e["id"], tuple(e["models"]), e["text"], e.get("label"), e.get("flip"), e.get("changed"))
        for e in entries
    )


def family_of(card: ac.ModelCard) -> str:
    """The base model whose examples serve this one: that of its task, or for a real one that reads text, `REAL`."""
    is_reader = card.details.get("kind") == "real" and card.details["tokenizer"] == "tokens"
    return card.details.get("task", REAL if is_reader else card.name)


@cache
def families() -> tuple[str, ...]:
    """The base models that have examples, in the order of the file."""
    return tuple(dict.fromkeys(name for example in all_examples() for name in example.models))


def of_family(family: str) -> tuple[Example, ...]:
    return tuple(example for example in all_examples() if family in example.models)


def with_buttons(family: str) -> tuple[tuple[Example, Mapping[str, str]], ...]:
    """The family's examples that have a button, each with its label by language."""
    return tuple((example, example.label) for example in of_family(family) if example.label is not None)


def first(family: str = DEFAULT) -> Example:
    """What is shown first; for a model without examples, what is shown first of all."""
    return next(iter(of_family(family)), all_examples()[0])


def by_id(name: str) -> Example:
    return next(example for example in all_examples() if example.id == name)


def of_text(text: str) -> Example | None:
    """The example with exactly this sentence, if there is one."""
    return next((example for example in all_examples() if example.text == text.strip()), None)


def flip_of(text: str) -> Example | None:
    """The example that flips this sentence, if this is an example that has one."""
    example = of_text(text)
    return None if example is None or example.flip is None else by_id(example.flip)
