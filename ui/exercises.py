"""The choice of an exercise, its address, and what is said of an answer that a browser sends."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from attention_core.exercises import ASKS, MAX_SEED, WIDTHS, Ask, Exercise, check, exercise
from attention_core.notation import MAX_CHARACTERS

MASK = "mask"
_CODE = re.compile(
    rf"(?P<seed>[0-9]{{1,10}})-(?P<ask>{'|'.join(ASKS)})-(?P<width>{'|'.join(map(str, WIDTHS))})(?P<mask>-{MASK})?"
)


@dataclass(frozen=True)
class Choice:
    """Which exercise: its seed, who asks ("row" or "all"), whether there is a causal mask, the width of q and k."""

    seed: int = 1
    ask: Ask = "all"
    is_masked: bool = False
    width: int = WIDTHS[0]

    @property
    def code(self) -> str:
        """The choice in an address: "17-all-4", "17-row-2-mask"."""
        return "-".join([str(self.seed), self.ask, str(self.width), *([MASK] if self.is_masked else [])])

    def exercise(self) -> Exercise:
        return exercise(self.seed, ask=self.ask, masked=self.is_masked, d_head=self.width)


def fields_of(choice: Choice) -> dict[str, Any]:
    """The choice by the names that it has in the state."""
    return {f"exercise_{name}": value for name, value in asdict(choice).items()}


def choice_of(state: Callable[[str], Any]) -> Choice:
    """The choice that stands in these fields; an empty box means the first seed."""
    found = {name: state(field) for name, field in zip(asdict(Choice()), fields_of(Choice()), strict=True)}
    return Choice(**{**found, "seed": Choice.seed if found["seed"] is None else found["seed"]})


def read(query: Mapping[str, str], refuse: Callable[[str, str], None]) -> dict[str, Any]:
    """The fields in an address; what cannot be used is refused."""
    try:
        return fields_of(decode(query["exercise"]) if "exercise" in query else Choice())
    except ValueError:
        refuse("exercise", query["exercise"][:40])
        return fields_of(Choice())


def decode(code: str) -> Choice:
    """The inverse of `Choice.code`.

    Raises:
        ValueError: it is no code of an exercise.
    """
    found = _CODE.fullmatch(code)
    if found is None or int(found["seed"]) > MAX_SEED:
        raise ValueError(f"no exercise: {code[:40]}")
    return Choice(int(found["seed"]), found["ask"], found["mask"] is not None, int(found["width"]))  # type: ignore[arg-type]


def judged(message: Any, choice: Choice) -> dict[str, Any] | None:
    """What is said of a stage that a browser sent for checking; None where the message makes no sense."""
    if not isinstance(message, dict) or message.get("exercise") != choice.code:
        return None
    stage, answers = message.get("stage"), message.get("answers")
    if (
        not isinstance(answers, dict)
        or not all(_is_typed(answer) for answer in answers.values())
        or not isinstance(stage, str)
        or stage not in answers
    ):
        return None
    try:
        verdict = check(choice.exercise(), stage, answers[stage], answers)
    except ValueError:
        return None
    return {"token": str(message.get("token")), "exercise": choice.code, "stage": stage, **asdict(verdict)}


def _is_typed(answer: Any) -> bool:
    """Rows of short texts."""
    if not isinstance(answer, list) or not all(isinstance(row, list) for row in answer):
        return False
    return all(isinstance(text, str) and len(text) <= MAX_CHARACTERS for row in answer for text in row)
