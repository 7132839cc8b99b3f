"""A bench in the letters of an address, and as a file. Both are checked like any input when they come back."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ui.bench import DIGITS, DIMS, MATRICES, MODES, PARTS, TOKENS, WEIGHTS, Bench, Unfit, as_data, parse, presets

MAX_CODE = 2_000  # Characters in a link.
MAX_FILE = 20_000
FORMAT, VERSION = "attention-bench", 1


def to_file(bench: Bench) -> bytes:
    """The bench as a JSON file."""
    return json.dumps({"format": FORMAT, "version": VERSION, **as_data(bench)}, indent=1).encode()


def from_file(data: bytes) -> Bench:
    """The bench in a file.

    Raises:
        Unfit: there is none in it.
    """
    if len(data) > MAX_FILE:
        raise Unfit("format", f"{len(data)} > {MAX_FILE} bytes")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise Unfit("format", "JSON") from None
    if not isinstance(found, dict) or (found.get("format"), found.get("version")) != (FORMAT, VERSION):
        raise Unfit("format", FORMAT)
    return parse(found)


def encode(bench: Bench) -> str:
    """The bench in the letters of an address."""
    head = [
        VERSION,
        bench.n,
        bench.d,
        MODES.index(bench.mode),
        int(bench.is_causal),
        *bench.axes,
        bench.query,
        bench.key,
    ]
    numbers = [round(value * 10**DIGITS) for name in MATRICES for row in getattr(bench, name) for value in row]
    body = bytes(head) + b"".join(map(_varint, [bench.seed, *map(_zigzag, numbers)]))
    return base64.urlsafe_b64encode(zlib.compress(body, 9)).rstrip(b"=").decode()


def decode(code: str) -> Bench:
    """The inverse of `encode`.

    Raises:
        ValueError: it is no code of a bench.
    """
    if len(code) > MAX_CODE or not code.isascii():
        raise ValueError(f"no bench: {code[:40]}")
    try:
        packed = base64.b64decode(code + "=" * (-len(code) % 4), altchars=b"-_", validate=True)
        body = zlib.decompressobj().decompress(packed, 10 * MAX_CODE)
        return _decoded(body)
    except (ValueError, zlib.error, IndexError, StopIteration, Unfit) as fault:
        raise ValueError(f"no bench: {code[:40]}") from fault


def _decoded(body: bytes) -> Bench:
    version, n, d, mode, causal, first, second, query, key = body[:9]
    if version != VERSION or n > TOKENS[1] or d > DIMS[1]:
        raise Unfit("format", "version")
    numbers = _numbers(body[9:])
    seed = next(numbers)
    data: dict[str, Any] = {"mode": MODES[mode], "is_causal": bool(causal), "axes": [first, second], "seed": seed}
    for name in MATRICES:
        n_rows = d if name in WEIGHTS else n
        data[name] = [[_unzigzag(next(numbers)) / 10**DIGITS for _ in range(d)] for _ in range(n_rows)]
    return parse({**data, "query": query, "key": key})


def _zigzag(value: int) -> int:
    return 2 * value if value >= 0 else -2 * value - 1


def _unzigzag(value: int) -> int:
    return value // 2 if value % 2 == 0 else -(value + 1) // 2


def _varint(value: int) -> bytes:
    """Seven bits a byte, the low ones first; the high bit says that more follow."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _numbers(data: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def read(query: Mapping[str, str], refuse: Callable[[str, str], None]) -> dict[str, Any]:
    """The bench's fields in an address; what cannot be used is refused."""
    state: dict[str, Any] = {"bench_part": PARTS[0], "bench_state": next(iter(presets().values()))}
    if query.get("part", PARTS[0]) in PARTS:
        state["bench_part"] = query.get("part", PARTS[0])
    else:
        refuse("part", query["part"])
    if "bench" in query:
        try:
            state["bench_state"] = decode(query["bench"])
        except ValueError:
            refuse("bench", query["bench"][:40])
    return state
