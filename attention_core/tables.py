"""Tables of one head, a line per cell, as the app saves them: read back as arrays."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

import numpy as np

from attention_core.errors import UnreadableArrays

NEEDED = ("query", "query_token", "key", "key_token", "weights")
MOST_CELLS = 2**24

Line = Mapping[str, str]


def is_table(data: bytes) -> bool:
    """Whether the file begins like a table: a line of names, those that are needed among them."""
    head = data[:4096].decode("utf-8-sig", errors="replace").partition("\n")[0]
    return set(NEEDED) <= {name.strip() for name in head.split(",")}


def read_table(data: bytes) -> dict[str, np.ndarray]:
    """(query, key) weights of one head, with tokens and, where the table says it, what may be seen.

    Lines of a head's sink stand for no key and are left out: such rows then sum to less than 1.

    Raises:
        UnreadableArrays: a cell is missing or stands there twice, or something is no number.
    """
    try:
        lines = list(_lines(data))
        cells = {(int(line["query"]), int(line["key"])): line for line in lines}
        n, m = (1 + max(place) for place in zip(*cells, strict=True))
        weights = np.array([[float(cells[i, j]["weights"]) for j in range(m)] for i in range(n)])
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise UnreadableArrays(f"the table has no number for every cell of one head: {error}") from error
    if len(cells) != len(lines):
        raise UnreadableArrays(f"the table has {len(lines)} lines for {len(cells)} cells: give one head only")
    found = {"weights": weights, "tokens": np.array([cells[0, j]["key_token"] for j in range(m)])}
    if cells[0, 0].get("stack", "self") == "cross" or n != m:
        found["query_tokens"] = np.array([cells[i, 0]["query_token"] for i in range(n)])
    if all(line.get("masked") for line in lines):
        found["allowed"] = np.array([[float(cells[i, j]["masked"]) > -np.inf for j in range(m)] for i in range(n)])
    return found


def _lines(data: bytes) -> Iterator[Line]:
    reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    for i, line in enumerate(reader):
        if i >= MOST_CELLS:
            raise UnreadableArrays(f"the table has more than {MOST_CELLS:,} lines")
        if line["key"] != "sink":
            yield line
