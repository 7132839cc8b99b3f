"""How far loading a model has come, for whoever waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """One step of loading a model.

    Attributes:
        stage: "starting" (torch and transformers are imported), "downloading", "reading" or "checking".
        done, total: bytes while downloading and reading, else steps.
    """

    stage: str
    done: int
    total: int


# May raise `Cancelled`: loading stops there.
Listener = Callable[[Progress], None]


def unheard(progress: Progress) -> None:
    """Nobody listens."""
