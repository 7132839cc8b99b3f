"""Arrays from outside, checked before anything is computed from them: numbers, tensors, `.npy` and `.npz` files.

Axes are (query, key) for one head, (head, query, key) for one layer, (layer, head, query, key) for several; with a
batch (layer, item, head, query, key), as `np.stack(outputs.attentions)` gives it. Nothing is cropped, transposed or
filled up to make it fit: what does not fit is refused with the shapes that would do.
"""

from __future__ import annotations

import io
import math
import zipfile
from typing import IO, Any

import numpy as np
from jaxtyping import Bool, Float

from attention_core.errors import ShapeMismatch, UnfitShape, UnfitValues, UnreadableArrays, WhichItem
from attention_core.steps import owned, read_only
from attention_core.tables import is_table, read_table

LARGEST = 2**29  # Bytes that a file may unpack to.

Array = Any  # What NumPy can read as an array: ndarray, nested lists, a tensor; or a sequence of arrays, one per layer.


def read(data: bytes, limit: int = LARGEST) -> dict[str, np.ndarray]:
    """The arrays of a `.npz` file or of a saved table by name, or of a `.npy` file as {"array": …}.

    Nothing of the file is executed.

    Args:
        data: the file; limit: the most bytes that its arrays may take together.

    Raises:
        UnreadableArrays: it is no such file, is damaged or too large, or holds objects (pickle).
    """
    try:
        return _read(data, limit)
    except UnreadableArrays:
        raise
    except Exception as error:  # A file by anybody can hold anything: whatever cannot be read is refused.
        raise UnreadableArrays(f"the file is no .npy, .npz or saved table that can be read: {error}") from error


def _read(data: bytes, limit: int) -> dict[str, np.ndarray]:
    if is_table(data):
        return read_table(data)
    if data[:6] == np.lib.format.MAGIC_PREFIX:
        return {"array": _array("array", io.BytesIO(data), len(data), limit)}
    with zipfile.ZipFile(io.BytesIO(data)) as files:
        infos = [info for info in files.infolist() if info.filename.endswith(".npy")]
        if sum(info.file_size for info in infos) > limit:
            raise UnreadableArrays(f"its arrays take more than {limit} bytes")
        found = {}
        for info in infos:
            name = info.filename.removesuffix(".npy")
            with files.open(info) as file:
                found[name] = _array(name, file, info.file_size, limit)
    if not found:
        raise UnreadableArrays("there is no array in the file")
    return found


def _array(name: str, file: IO[bytes], size: int, limit: int) -> np.ndarray:
    """One array; what its header says must be what follows, before any room is made for it."""
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, is_fortran, dtype = header(file)
    if dtype.hasobject:
        raise UnreadableArrays(f"{name} holds Python objects (pickle), which are never read")
    if dtype.kind not in "biufU":
        raise UnreadableArrays(f"{name} holds {dtype}: only numbers and texts are read")
    n_bytes = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or not 0 <= n_bytes <= min(size, limit):
        raise UnreadableArrays(f"{name} says that it is {shape}, which the file does not hold")
    data = file.read(n_bytes + 1)
    if len(data) != n_bytes:
        raise UnreadableArrays(f"{name} is {len(data)} bytes long, and its header says {n_bytes}")
    array = np.frombuffer(data, dtype, count=math.prod(shape)).reshape(shape, order="F" if is_fortran else "C")
    if dtype.kind == "U":
        array.tolist()  # Raises where the bytes are no text.
    return array


def layered(name: str, array: Array, axes: tuple[str, str], item: int | None) -> Float[np.ndarray, "layer head a b"]:
    """The array with all four axes, read-only; a batch's one item."""
    numbers = finite(name, array)
    rows, columns = axes
    accepted = tuple(f"({front}{rows}, {columns})" for front in ("", "head, ", "layer, head, ", "layer, item, head, "))
    is_batch = numbers.ndim == 5
    if numbers.ndim not in (2, 3, 4, 5) or 0 in numbers.shape or (item is not None and not is_batch):
        raise UnfitShape(name, numbers.shape, accepted[3:] if item is not None else accepted)
    if is_batch:
        n_items = numbers.shape[1]
        if item is None and n_items > 1:
            raise WhichItem(name, numbers.shape, n_items)
        if not 0 <= (item or 0) < n_items:
            raise IndexError(f"item {item} is outside the items 0–{n_items - 1} of {name}")
        numbers = numbers[:, item or 0]
    return read_only(numbers.reshape((1,) * (4 - numbers.ndim) + numbers.shape))


def finite(name: str, array: Array) -> np.ndarray:
    """Finite numbers in single or double precision, as a copy."""
    try:
        is_by_layer = isinstance(array, list | tuple) and all(hasattr(part, "shape") for part in array)
        found = np.stack([_plain(part) for part in array]) if is_by_layer and len(array) else _plain(array)
    except ValueError as error:  # Parts of different shapes.
        raise UnfitShape(name, tuple(np.shape(part) for part in array), ("parts of one shape",)) from error
    if found.dtype.kind not in "biuf":
        raise UnfitValues(name, str(found.dtype))
    if not np.isfinite(found).all():
        raise UnfitValues(name, "NaN or infinity")
    return found.astype(np.float32 if found.dtype in (np.float16, np.float32) else np.float64)


def _plain(array: Array) -> np.ndarray:
    if hasattr(array, "detach"):
        # A tensor: off its graph and device; NumPy has no bfloat16.
        array = array.detach().cpu()
        array = array.float() if str(array.dtype) == "torch.bfloat16" else array
    return np.asarray(array)


def spread(name: str, array: Array, shape: tuple[int, int, int, int], item: int | None) -> np.ndarray:
    """One matrix, one per head, or one per layer and head, for every head of every layer."""
    numbers = finite(name, array)
    numbers = layered(name, numbers, ("query", "key"), item if numbers.ndim == 5 else None)
    for axis, size, wanted in zip(("layer", "head", "query", "key"), numbers.shape, shape, strict=True):
        if size not in ((wanted,) if axis in ("query", "key") else (1, wanted)):
            raise ShapeMismatch(axis=f"{axis} of {name}", expected=wanted, actual=size)
    return owned(np.broadcast_to(numbers, shape))


def masks(allowed: Array | None, n_layers: int, n_queries: int, n_keys: int) -> Bool[np.ndarray, "layer query key"]:
    shape = (n_layers, n_queries, n_keys)
    if allowed is None:
        return read_only(np.ones(shape, dtype=bool))
    numbers = finite("allowed", allowed)
    if not np.isin(numbers, (0, 1)).all():
        raise UnfitValues("allowed", "other numbers than 0 and 1 (True where a key may be seen)")
    if numbers.shape not in (shape, shape[1:]):
        raise UnfitShape("allowed", numbers.shape, (f"(query, key) = {shape[1:]}", f"(layer, query, key) = {shape}"))
    return owned(np.broadcast_to(numbers.astype(bool), shape))


def check_factors(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> None:
    pairs = (
        ("layer of k", q.shape[0], k.shape[0]),
        ("layer of v", q.shape[0], v.shape[0]),
        ("d_head", q.shape[3], k.shape[3]),
        ("key", k.shape[2], v.shape[2]),
        ("kv_head", k.shape[1], v.shape[1]),
    )
    for axis, expected, actual in pairs:
        if expected != actual:
            raise ShapeMismatch(axis=axis, expected=expected, actual=actual)
    if q.shape[1] % k.shape[1]:
        raise ShapeMismatch(axis="head of q", expected=f"a multiple of {k.shape[1]}", actual=q.shape[1])
