"""One frame of data for a picture: a JSON header, then the arrays as they are (read by components/shared/frame.js).

[uint32 length of the header, little endian][header JSON, padded with spaces][arrays, each on an 8-byte boundary]

Booleans travel as bits, eight to a byte, the first one lowest.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

_CODES = {"float64": "f8", "float32": "f4", "uint8": "u1", "bool": "b1"}
_BOUNDARY = 8


def pack(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Header and arrays as one frame; the header gains `arrays` (where each stands) and `revision` (a hash of all)."""
    body, entries = bytearray(), []
    for name, array in arrays.items():
        code = _CODES[str(array.dtype)]
        entries.append({"name": name, "dtype": code, "shape": list(array.shape), "offset": len(body)})
        body += _bytes(array, code)
        body += bytes(-len(body) % _BOUNDARY)
    facts = {**header, "arrays": entries}
    revision = hashlib.sha256(_json(facts) + body).hexdigest()[:16]
    text = _json({**facts, "revision": revision})
    text += b" " * (-(len(text) + 4) % _BOUNDARY)
    return struct.pack("<I", len(text)) + text + bytes(body)


def unpack(frame: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a frame; the inverse of `pack`."""
    (length,) = struct.unpack_from("<I", frame)
    header = json.loads(frame[4 : 4 + length])
    start = 4 + length
    return header, {entry.pop("name"): _array(frame, start, **entry) for entry in header.pop("arrays")}


def _json(facts: Mapping[str, Any]) -> bytes:
    # Chinese as it is takes half of what its escapes take.
    return json.dumps(facts, allow_nan=False, ensure_ascii=False).encode(errors="replace")


def _bytes(array: np.ndarray, code: str) -> bytes:
    if code == "b1":
        return np.packbits(array, bitorder="little").tobytes()
    return np.ascontiguousarray(array).astype(f"<{code}", copy=False).tobytes()


def _array(frame: bytes, start: int, dtype: str, shape: list[int], offset: int) -> np.ndarray:
    size = int(np.prod(shape))
    if dtype == "b1":
        packed = np.frombuffer(frame, np.uint8, count=-(-size // 8), offset=start + offset)
        return np.unpackbits(packed, count=size, bitorder="little").astype(bool).reshape(shape)
    return np.frombuffer(frame, f"<{dtype}", count=size, offset=start + offset).reshape(shape)
