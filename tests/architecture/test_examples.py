"""The example sentences do what they are there to show: the model knows their words, and each flip flips."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

import attention_core as ac
from attention_core.words import fold, spans

N_FLIPS = 4  # Beside tired and wide.


def read(root: Path) -> dict[str, dict]:
    entries = tomllib.loads((root / "assets" / "examples.toml").read_text(encoding="utf-8"))["example"]
    return {entry["id"]: entry for entry in entries}


@pytest.fixture(scope="module")
def examples(root: Path) -> dict[str, dict]:
    return read(root)


@pytest.fixture(scope="module")
def flips(examples: dict[str, dict]) -> list[tuple[dict, dict]]:
    """Every example that has a flip, with it."""
    return [(entry, examples[entry["flip"]]) for entry in examples.values() if "flip" in entry]


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in spans(text)]


def looked_at(trace: ac.Trace) -> str:
    """The word that the reading head gives most of the weight of "it"."""
    layer, head = trace.card.reading_head
    asker = [fold(token.text) for token in trace.tokens].index("it")
    return fold(trace.tokens[int(np.argmax(trace.layers[layer].weights(head)[asker]))].text)


def answered(trace: ac.Trace) -> str:
    """What the model says that "it" stands for."""
    asker = [fold(token.text) for token in trace.tokens].index("it")
    return trace.predictions[asker][0].word


def test_there_is_enough_to_choose_from(root: Path, examples: dict[str, dict], flips: list) -> None:
    entries = tomllib.loads((root / "assets" / "examples.toml").read_text(encoding="utf-8"))["example"]
    assert len(entries) == len(examples) == len({entry["text"] for entry in entries})
    assert next(iter(examples)) == "tired"
    pairs = {frozenset((one["id"], other["id"])) for one, other in flips}
    assert frozenset(("tired", "wide")) in pairs
    assert len(pairs) > N_FLIPS
    assert any("it" not in map(fold, words(entry["text"])) for entry in entries)


def test_every_example_has_a_button_in_both_languages_or_is_the_flip_of_one(examples: dict[str, dict]) -> None:
    buttons = [entry for entry in examples.values() if "label" in entry]
    assert len(buttons) >= 2 + N_FLIPS + 1
    for entry in buttons:
        assert set(entry["label"]) == {"en", "zh"}
        assert all(label.strip() for label in entry["label"].values())
    reached = {entry["id"] for entry in buttons} | {entry.get("flip") for entry in buttons}
    assert set(examples) <= reached


def test_the_model_knows_every_word(pronoun: ac.TaughtModel, examples: dict[str, dict]) -> None:
    unknown = {
        name: [token.text for token in pronoun.tokenize(entry["text"]) if token.is_unknown]
        for name, entry in examples.items()
        if not entry.get("has_unknown", False)
    }
    assert {name: found for name, found in unknown.items() if found} == {}


def test_what_is_flagged_as_unknown_is(pronoun: ac.TaughtModel, examples: dict[str, dict]) -> None:
    for entry in examples.values():
        if entry.get("has_unknown", False):
            assert any(token.is_unknown for token in pronoun.tokenize(entry["text"])), entry["id"]


def test_flips_are_mutual_and_differ_in_the_word_that_they_name(flips: list[tuple[dict, dict]]) -> None:
    for one, other in flips:
        assert other["flip"] == one["id"]
        here, there = words(one["text"]), words(other["text"])
        different = [pair for pair in zip(here, there, strict=True) if pair[0] != pair[1]]
        assert different == [(one["changed"], other["changed"])], one["id"]


def test_every_flip_flips(pronoun: ac.TaughtModel, flips: list[tuple[dict, dict]]) -> None:
    for one, other in flips:
        traces = [pronoun.trace(entry["text"]) for entry in (one, other)]
        found = [looked_at(trace) for trace in traces]
        assert found[0] != found[1], one["id"]
        assert found == [answered(trace) for trace in traces], one["id"]
