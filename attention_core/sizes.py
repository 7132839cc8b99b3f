"""How much memory arrays hold."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.lib.array_utils import byte_bounds


def n_bytes(arrays: Iterable[object]) -> int:
    """Bytes that lie under these arrays, whatever several of them share counted once; other things count nothing.

    >>> whole = np.zeros((3, 5))
    >>> n_bytes([whole, whole[1:], np.broadcast_to(np.zeros(1), (7, 7)), None])
    128
    """
    total = reached = 0
    for start, end in sorted(byte_bounds(one) for one in arrays if isinstance(one, np.ndarray) and one.size):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total
