"""Edits as they stand in an address: one short piece for each, "nopos~t0.5~s3~c1-0-7-1".

causal, open            the causal mask, there or not          nopos, noscale   without positions, without ÷ √d
t0.5                    temperature                            qk, kv           what is shared
o2-0-1                  the words in this order                s3               a silenced word
c1-0-7-1, c1-x-7-1      a cut edge: layer, head (x: all), query, key            l1   in this layer only
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import attention_core as ac
from attention_core.edits import EMPTY

TEMPERATURES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 10.0, 20.0)
JOIN = "~"
N_SEEDS = 99

FLAGS: dict[str, dict[str, Any]] = {
    "causal": {"causal": True},
    "open": {"causal": False},
    "nopos": {"positions": False},
    "noscale": {"scale": False},
    "qk": {"tie": "qk"},
    "kv": {"tie": "kv"},
}
SINGLE = ("causal", "positions", "scale", "temperature", "tie", "order", "layer")
NUMBERS = re.compile(r"(?P<kind>[oscl])(?P<values>(\d{1,4}|x)(-(\d{1,4}|x))*)")


def write(edits: ac.Edits) -> str:
    """All edits as one text; "" for none."""
    return JOIN.join(pieces(edits))


def pieces(edits: ac.Edits) -> list[str]:
    """A piece for every single edit, always in the same order. A layer alone is none."""
    found = [flag for flag, facts in FLAGS.items() if all(getattr(edits, name) == v for name, v in facts.items())]
    found += [] if edits.temperature == 1 else [f"t{edits.temperature:g}"]
    found += [] if edits.order is None else ["o" + "-".join(map(str, edits.order))]
    found += [f"s{token}" for token in sorted(edits.silenced)]
    cut = sorted(edits.cut, key=lambda edge: tuple(-1 if part is None else part for part in edge))
    found += ["c" + "-".join("x" if part is None else str(part) for part in edge) for edge in cut]
    return found + ([] if edits.layer is None else [f"l{edits.layer}"])


def read(text: str) -> tuple[ac.Edits, tuple[str, ...]]:
    """The edits that a text describes, and the pieces of it that say nothing, or twice the same thing."""
    edits, bad = EMPTY, []
    for piece in filter(None, text.split(JOIN)):
        try:
            more = _one(piece)
        except (ValueError, ac.UnfitEdit):
            bad.append(piece)
            continue
        if _clash(edits, more):
            bad.append(piece)
        else:
            edits = together(edits, more)
    return edits, tuple(bad)


def keep(text: str, is_fit: Callable[[ac.Edits], bool]) -> tuple[str, tuple[str, ...]]:
    """The pieces of a text whose edit fits, as a text, and the others."""
    edits, _ = read(text)
    found = pieces(edits)
    good = [piece for piece in found if is_fit(_one(piece))]
    return JOIN.join(good), tuple(piece for piece in found if piece not in good)


def without(edits: ac.Edits, piece: str) -> ac.Edits:
    """All edits but the one of this piece."""
    return read(JOIN.join(other for other in pieces(edits) if other != piece))[0]


def together(first: ac.Edits, second: ac.Edits) -> ac.Edits:
    """Both; where they say two things about one, the second holds."""
    changed: dict[str, Any] = {name: getattr(second, name) for name in SINGLE if _says(second, name)}
    return replace(first, **changed, silenced=first.silenced | second.silenced, cut=first.cut | second.cut)


def shuffled(fixed: Iterable[bool], seed: int) -> tuple[int, ...] | None:
    """Another order of the tokens that are not fixed, the same for the same seed; None where there is no other."""
    is_fixed = list(fixed)
    movable = [token for token, stays in enumerate(is_fixed) if not stays]
    if len(movable) < 2:
        return None
    drawn, rng = movable.copy(), random.Random(seed)
    while drawn == movable:
        rng.shuffle(drawn)
    nexts = iter(drawn)
    return tuple(token if stays else next(nexts) for token, stays in enumerate(is_fixed))


def seed_of(order: tuple[int, ...] | None, fixed: Iterable[bool]) -> int | None:
    """The seed that makes this order; None where it was made by hand, or there is none."""
    is_fixed = list(fixed)
    return next((seed for seed in range(1, N_SEEDS + 1) if shuffled(is_fixed, seed) == order), None) if order else None


def _one(piece: str) -> ac.Edits:
    if piece in FLAGS:
        return ac.Edits(**FLAGS[piece])
    if piece.startswith("t"):
        temperature = float(piece[1:])
        if temperature not in TEMPERATURES:
            raise ValueError(piece)
        return ac.Edits(temperature=temperature)
    found = NUMBERS.fullmatch(piece)
    if found is None:
        raise ValueError(piece)
    return _numbered(found["kind"], [None if value == "x" else int(value) for value in found["values"].split("-")])


def _numbered(kind: str, values: list[int | None]) -> ac.Edits:
    if kind == "o":
        return ac.Edits(order=tuple(values))  # type: ignore[arg-type]
    if kind == "c":
        return ac.Edits(cut=frozenset([tuple(values)]))  # type: ignore[list-item]
    (number,) = values
    return ac.Edits(silenced=frozenset([number])) if kind == "s" else ac.Edits(layer=number)  # type: ignore[list-item]


def _clash(edits: ac.Edits, more: ac.Edits) -> bool:
    """Whether `more` says again what is said already, the same or something else."""
    again = (more.silenced & edits.silenced) | (more.cut & edits.cut)
    return bool(again) or any(_says(more, name) and _says(edits, name) for name in SINGLE)


def _says(edits: ac.Edits, name: str) -> bool:
    return getattr(edits, name) != getattr(EMPTY, name)
