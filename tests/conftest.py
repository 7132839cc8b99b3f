"""What several tests stand on: the default model, its headline traces, and repeatable examples from Hypothesis."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

import attention_core as ac

ROOT = Path(__file__).resolve().parent.parent
HEADLINE = "The animal didn't cross the street because it was too {}."

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None, max_examples=100)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's folder."""
    return ROOT


@pytest.fixture(scope="session")
def pronoun() -> ac.TaughtModel:
    return ac.load("pronoun")


@pytest.fixture(scope="session")
def tired(pronoun: ac.TaughtModel) -> ac.Trace:
    return pronoun.trace(HEADLINE.format("tired"))


@pytest.fixture(scope="session")
def wide(pronoun: ac.TaughtModel) -> ac.Trace:
    return pronoun.trace(HEADLINE.format("wide"))
