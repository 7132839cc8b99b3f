"""The example sentences do what they are there to show: their models know them, and each flip flips the answer."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

import attention_core as ac
from attention_core.words import fold, spans

N_FLIPS = 4  # Of the first model, beside tired and wide.
AVAILABLE = [card.name for card in ac.models() if card.is_available]
# A real model was not taught to answer what "it" stands for.
TAUGHT = [card.name for card in ac.models() if card.details["kind"] == "taught"]


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


def asking(trace: ac.Trace) -> int:
    """The token that the model's card names: its first place, or where words see only backwards, its last one."""
    texts = [fold(token.text) for token in trace.tokens]
    asker = fold(trace.card.details["ask"]["token"])
    return len(texts) - 1 - texts[::-1].index(asker) if trace.card.causal else texts.index(asker)


def looked_at(trace: ac.Trace) -> str:
    """The word that the reading head gives most of the asker's weight."""
    layer, head = trace.card.reading_head
    return fold(trace.tokens[int(np.argmax(trace.layers[layer].weights(head)[asking(trace)]))].text)


def answered(trace: ac.Trace) -> str:
    return trace.predictions[asking(trace)][0].word


def test_there_is_enough_to_choose_from(root: Path, examples: dict[str, dict], flips: list) -> None:
    entries = tomllib.loads((root / "assets" / "examples.toml").read_text(encoding="utf-8"))["example"]
    assert len(entries) == len(examples) == len({entry["text"] for entry in entries})
    assert next(iter(examples)) == "tired"
    pairs = {frozenset((one["id"], other["id"])) for one, other in flips if "pronoun" in one["models"]}
    assert frozenset(("tired", "wide")) in pairs
    assert len(pairs) > N_FLIPS
    assert any("it" not in map(fold, words(entry["text"])) for entry in entries if "pronoun" in entry["models"])


def test_every_example_has_a_button_in_both_languages_or_is_the_flip_of_one(examples: dict[str, dict]) -> None:
    buttons = [entry for entry in examples.values() if "label" in entry]
    assert len(buttons) >= 2 + N_FLIPS + 1
    for entry in buttons:
        assert set(entry["label"]) == {"en", "zh"}
        assert all(label.strip() for label in entry["label"].values())
    reached = {entry["id"] for entry in buttons} | {entry.get("flip") for entry in buttons}
    assert set(examples) <= reached


def test_the_models_know_every_word(examples: dict[str, dict]) -> None:
    unknown = {
        (entry["id"], name): [token.text for token in ac.load(name).tokenize(entry["text"]) if token.is_unknown]
        for entry in examples.values()
        for name in entry["models"]
        if name in AVAILABLE
    }
    assert {place: found for place, found in unknown.items() if found} == {}
    assert len(unknown) > 2 * N_FLIPS


def test_flips_are_mutual_and_differ_in_what_they_name(flips: list[tuple[dict, dict]]) -> None:
    for one, other in flips:
        assert other["flip"] == one["id"]
        assert other["models"] == one["models"]
        here, there = one["text"], other["text"]
        starts = [i for i in range(len(here)) if here.startswith(one["changed"], i)]
        changed = {here[:i] + other["changed"] + here[i + len(one["changed"]) :] for i in starts}
        assert there in changed, one["id"]


def test_every_flip_flips(flips: list[tuple[dict, dict]]) -> None:
    for one, other in flips:
        for name in set(one["models"]) & set(TAUGHT):
            traces = [ac.load(name).trace(entry["text"]) for entry in (one, other)]
            assert answered(traces[0]) != answered(traces[1]), (one["id"], name)
            if traces[0].card.details["pronouns"]:
                found = [looked_at(trace) for trace in traces]
                assert found == [answered(trace) for trace in traces], (one["id"], name)
