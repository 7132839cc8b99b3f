"""What safetensors files claim to hold, read from their headers alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from attention_core.capture.memory import size
from attention_core.errors import UnsupportedModel

LONGEST = 25_000_000  # Bytes of a header: those of large models take one or two million.
BITS = dict.fromkeys(("F64", "I64", "U64", "C64"), 64) | dict.fromkeys(("F32", "I32", "U32"), 32)
BITS |= dict.fromkeys(("F16", "BF16", "I16", "U16"), 16) | dict.fromkeys(("BOOL", "I8", "U8"), 8)
BITS |= dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8)
BITS |= {"F6_E2M3": 6, "F6_E3M2": 6, "F4": 4}


@dataclass(frozen=True)
class Claim:
    """What a checkpoint's headers say.

    Attributes:
        n_tensors, n_numbers: how many there are; n_bytes: what they take.
        overdrawn: files whose header says more than the file holds, with (bytes said, bytes there).
    """

    n_tensors: int
    n_numbers: int
    n_bytes: int
    overdrawn: tuple[tuple[str, int, int], ...]


def claim_of(files: Iterable[Path]) -> Claim:
    """The claims of a checkpoint's files, added up. No tensor is read.

    Raises:
        UnsupportedModel: a file has no header, or one that describes no tensors.
    """
    found = [_claim(path) for path in files]
    return Claim(
        n_tensors=sum(one.n_tensors for one in found),
        n_numbers=sum(one.n_numbers for one in found),
        n_bytes=sum(one.n_bytes for one in found),
        overdrawn=tuple(pair for one in found for pair in one.overdrawn),
    )


def must_hold(claim: Claim) -> None:
    """Refuse files that are shorter than their headers say: they were cut off, or they lie.

    Raises:
        UnsupportedModel: with both numbers.
    """
    for name, said, there in claim.overdrawn:
        raise UnsupportedModel(
            f"{name} is damaged: its header describes {size(said)} of weights and the file has {size(there)}; "
            "fetch it again",
            kind="damaged",
            file=name,
            needed=said,
            available=there,
        )


def _claim(path: Path) -> Claim:
    there = path.stat().st_size
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= min(there - 8, LONGEST):
                raise ValueError("its header is cut off")
            tensors = json.loads(file.read(length))
        tensors.pop("__metadata__", None)
        numbers = [_numbers(facts) for facts in tensors.values()]
        n_bytes = sum(n * BITS[facts["dtype"]] // 8 for n, facts in zip(numbers, tensors.values(), strict=True))
        end = max((int(facts["data_offsets"][1]) for facts in tensors.values()), default=0)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UnsupportedModel(
            f"{path.name} is damaged: it is no whole safetensors file ({error}); fetch it again",
            kind="damaged",
            file=path.name,
            detail=str(error),
        ) from error
    said = max(n_bytes, end)
    rest = there - 8 - length
    return Claim(len(tensors), sum(numbers), said, ((path.name, said, rest),) if said > rest else ())


def _numbers(facts: dict[str, Any]) -> int:
    shape = facts["shape"]
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"a tensor has the shape {shape!r:.60}")
    return prod(shape)
