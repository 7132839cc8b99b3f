"""What the tests of training share: one thread, short runs, the shipped files as torch models."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from safetensors.numpy import load_file  # noqa: E402

from attention_core.teach.model import Taught  # noqa: E402
from attention_core.teach.runs import Frame, RunSpec  # noqa: E402
from attention_core.teach.tasks import TASKS  # noqa: E402
from attention_core.teach.trainer import new_model, run  # noqa: E402

MODELS = Path(__file__).parents[2] / "attention_core" / "models"


@pytest.fixture(autouse=True)
def one_thread():
    """Repeatable bit for bit, and the other tests keep their threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def card(name: str) -> dict[str, Any]:
    return json.loads((MODELS / f"{name}.json").read_text(encoding="utf-8"))


def cards() -> list[dict[str, Any]]:
    """The cards of the taught models; a real one's weights come from elsewhere."""
    found = [card(path.stem) for path in sorted(MODELS.glob("*.json"))]
    return [described for described in found if described["kind"] != "real"]


def spec_of(name: str) -> RunSpec:
    """The run that made a shipped file."""
    return RunSpec.from_json(card(name)["training"]["spec"])


def shipped(name: str) -> Taught:
    """A shipped file as the torch model that it was."""
    model = new_model(replace(spec_of(name), seed=99))
    weights = {key: torch.from_numpy(array) for key, array in load_file(MODELS / f"{name}.safetensors").items()}
    if TASKS[card(name)["task"]].table is not None:
        weights["embedding"] = model.embedding.data
    model.load_state_dict(weights)
    return model


def last_of(spec: RunSpec) -> Frame:
    """The last frame of a run."""
    *_, last = run(spec)
    return last


def same(one: Frame, other: Frame) -> bool:
    """Whether two frames hold the same numbers to the last bit; the clock aside."""
    arrays = [[layer for looks in each.looks for layer in looks] for each in (one, other)]
    facts = [(each.step, each.loss, each.learning_rate, each.held_out, each.pattern) for each in (one, other)]
    ends = [sorted({**each.matrices, **(each.tensors or {})}.items()) for each in (one, other)]
    return (
        facts[0] == facts[1]
        and all(np.array_equal(a, b) for a, b in zip(*arrays, strict=True))
        and [name for name, _ in ends[0]] == [name for name, _ in ends[1]]
        and all(np.array_equal(a, b) for (_, a), (_, b) in zip(*ends, strict=True))
    )
