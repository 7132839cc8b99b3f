"""Imports torch. What stands where an array does, and has its numbers when they are asked for.

Both are read like a (head, …) array: `one[h]`, `one[:, rows]`, `np.asarray(one)`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Any
from weakref import ref

import numpy as np
from torch import Tensor

from attention_core.steps import read_only


class Single:
    """Half-precision weights of the model, in float32 for whom looks at them: held twice they would double it.

    Attributes:
        shape: (head, …).
    """

    dtype = np.dtype(np.float32)

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self.shape = tuple(tensor.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, where: Any) -> np.ndarray:
        return read_only(np.asarray(self._tensor[where].float().numpy()))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[...], dtype=dtype)


class Shelf:
    """The last arrays that were worked out, up to so many bytes together (and the last one, however large)."""

    def __init__(self, n_bytes: int) -> None:
        self._limit = n_bytes
        self._lock = Lock()
        self._held: deque[np.ndarray] = deque()

    def put(self, array: np.ndarray) -> None:
        with self._lock:
            self._held.append(array)
            while len(self._held) > 1 and sum(one.nbytes for one in self._held) > self._limit:
                self._held.popleft()


class Later:
    """A (head, query, key) array that is worked out again whenever it is on no shelf any more. Threads may share it.

    Attributes:
        shape: (head, query, key).
    """

    dtype = np.dtype(np.float32)

    def __init__(
        self, shape: tuple[int, ...], rows: np.ndarray, known: np.ndarray, make: Callable[[], np.ndarray], shelf: Shelf
    ) -> None:
        """What it is at these query rows is known already: (head, row, key)."""
        self.shape = shape
        self._rows, self._known = rows, known
        self._make, self._shelf = make, shelf
        self._lock = Lock()
        self._found: Callable[[], np.ndarray | None] = lambda: None

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, where: Any) -> np.ndarray:
        match where:
            case slice(start=None, stop=None, step=None), np.ndarray() as rows if np.array_equal(rows, self._rows):
                return self._known
        return self._whole()[where]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._whole(), dtype=dtype)

    def _whole(self) -> np.ndarray:
        with self._lock:  # Whoever asks meanwhile waits for the same pass.
            found = self._found()
            if found is None:
                found = self._make()
                self._found = ref(found)
                self._shelf.put(found)
            return found
