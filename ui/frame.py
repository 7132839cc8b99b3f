"""One frame of data for a picture: a JSON header, then the arrays as they are (read by components/shared/frame.js).

[uint32 length of the header, little endian][header JSON, padded with spaces][arrays, each on an 8-byte boundary]
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

_CODES = {"float64": "f8", "float32": "f4", "uint8": "u1", "bool": "u1"}
_BOUNDARY = 8


def pack(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Header and arrays as one frame; the header gains `arrays` (where each stands) and `revision` (a hash of all)."""
    body, entries = bytearray(), []
    for name, array in arrays.items():
        code = _CODES[str(array.dtype)]
        entries.append({"name": name, "dtype": code, "shape": list(array.shape), "offset": len(body)})
        body += np.ascontiguousarray(array).astype(f"<{code}", copy=False).tobytes()
        body += bytes(-len(body) % _BOUNDARY)
    facts = json.dumps({**header, "arrays": entries}, allow_nan=False)
    revision = hashlib.sha256(facts.encode() + body).hexdigest()[:16]
    text = json.dumps({**header, "arrays": entries, "revision": revision}, allow_nan=False).encode()
    text += b" " * (-(len(text) + 4) % _BOUNDARY)
    return struct.pack("<I", len(text)) + text + bytes(body)


def unpack(frame: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a frame; the inverse of `pack`."""
    (length,) = struct.unpack_from("<I", frame)
    header = json.loads(frame[4 : 4 + length])
    start = 4 + length
    arrays = {
        entry["name"]: np.frombuffer(
            frame, f"<{entry['dtype']}", count=int(np.prod(entry["shape"])), offset=start + entry["offset"]
        ).reshape(entry["shape"])
        for entry in header.pop("arrays")
    }
    return header, arrays
