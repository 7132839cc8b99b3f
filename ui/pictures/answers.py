"""What a model answers at each token, named in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attention_core as ac
from attention_core.visible import visible
from ui.translations import Words

Facts = Mapping[str, Any]  # A read-out as the card describes it.


def answers(trace: ac.Trace, words: Words, kind: str = "self") -> list[dict[str, Any] | None] | None:
    """The likeliest answer at each asking token of a stack, with the question where it has one; None where none is."""
    found = answers_of(trace, kind)
    if found is None:
        return None
    return [_answer(trace, i, best[0], words) if best else None for i, best in enumerate(found)]


def answers_after(trace: ac.Trace, layer: int, words: Words) -> list[dict[str, Any] | None] | None:
    """The answers that are read right after this layer; None where none is."""
    after = [(facts := readout_at(trace, i)) is not None and facts["after"] == layer for i in range(len(trace.tokens))]
    found = answers(trace, words)
    if found is None or not any(after):
        return None
    return [answer if is_here else None for answer, is_here in zip(found, after, strict=True)]


def listed(trace: ac.Trace, token: int | None, kind: str = "self") -> dict[str, Any] | None:
    """The likeliest answers at a token, where the model cannot tell the sum behind them; None where it can."""
    here = answers_of(trace, kind)
    if token is None or trace.sum_answer is not None or here is None or not here[token]:
        return None
    return {
        "token": token,
        "answers": [{"word": visible(a.word), "probability": a.probability, "logit": a.logit} for a in here[token]],
    }


def answers_of(trace: ac.Trace, kind: str) -> tuple[tuple[ac.Answer, ...], ...] | None:
    """What the model answers at each asking token of a stack.

    An encoder–decoder answers at what its decoder reads, and nowhere else.
    """
    is_there = trace.predictions is not None and len(trace.predictions) == len(trace.asking(kind))
    return trace.predictions if is_there and kind != "encoder" else None


def readout_at(trace: ac.Trace, token: int) -> Facts | None:
    """The card's entry of the read-out that answers at this token; None where a model's card has none."""
    readouts = trace.card.details.get("readouts", ())
    if not readouts:
        return None
    where = ("all", "prefix" if trace.tokens[token].is_special else "text")
    return next((facts for facts in readouts if facts["at"] in where), None)


def named(trace: ac.Trace, token: int, word: str, words: Words) -> str:
    """An answer as the reader's language says it: fixed answers like "yes" have names, words name themselves."""
    facts = readout_at(trace, token)
    if facts is None or facts["answers"] is None:
        return visible(word)
    column = facts["answers"].index(word)
    try:
        return words(f"readouts.{_task(trace)}_{facts['tensor']}_{column}")
    except KeyError:
        return word


def question(trace: ac.Trace, token: int, words: Words) -> str | None:
    """What is asked at this token, where the answers alone do not tell."""
    facts = readout_at(trace, token)
    if facts is None or facts["answers"] is None:
        return None
    try:
        return words(f"readouts.{_task(trace)}_{facts['tensor']}")
    except KeyError:
        return None


def _answer(trace: ac.Trace, token: int, best: ac.Answer, words: Words) -> dict[str, Any]:
    asked = question(trace, token, words)
    told = {"word": named(trace, token, best.word, words), "probability": best.probability}
    return told if asked is None else {**told, "question": asked}


def _task(trace: ac.Trace) -> str:
    return trace.card.details.get("task", trace.card.name).replace("-", "_")
