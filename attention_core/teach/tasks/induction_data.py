"""What `induction` is taught from: letters by chance, now and then repeated. Nothing here says where to look, except
`looks`, which only a supervised model reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from attention_core.teach.runs import Batch, RunSpec

UNKNOWN = "[UNK]"
LETTERS = tuple("abcdefghij")
VOCABULARY = (UNKNOWN, *LETTERS)
N_TOKENS = 14
COPY_SHARE = 0.15  # A letter seen before goes on as it did then in this share; else the next letter is any.
UNKNOWN_SHARE = 0.1  # In this share of texts one of the letters is unknown.
N_TEXTS = 30_000
BATCH = 64


class Texts(NamedTuple):
    """Letters as numbers; what comes next; and where it can be told (the letter stood there before, and went on so)."""

    tokens: Int[np.ndarray, "text token"]
    targets: Int[np.ndarray, "text token"]
    is_told: Bool[np.ndarray, "text token"]


def texts(rng: np.random.Generator, n: int) -> Texts:
    """Letters by chance, but now and then what followed a letter before follows it again."""
    rows, letters = np.arange(n), np.zeros((n, N_TOKENS + 1), dtype=np.int64)
    letters[:, 0] = rng.integers(1, len(VOCABULARY), size=n)
    for place in range(1, N_TOKENS + 1):
        before = _last_place(letters[:, :place])
        goes_on = (before >= 0) & (rng.random(n) < COPY_SHARE)
        any_letter = rng.integers(1, len(VOCABULARY), size=n)
        letters[:, place] = np.where(goes_on, letters[rows, before + 1], any_letter)
    unknown = np.where(rng.random(n) < UNKNOWN_SHARE, rng.integers(1, len(VOCABULARY), size=n), -1)
    letters[letters == unknown[:, None]] = 0
    return Texts(letters[:, :-1], letters[:, 1:], _is_told(letters))


def _last_place(letters: Int[np.ndarray, "text token"]) -> Int[np.ndarray, " text"]:
    """Where the last letter stood before, most recently; -1 if nowhere."""
    same = letters[:, :-1] == letters[:, -1:]
    places = np.where(same, np.arange(same.shape[1]), -1)
    return places.max(axis=1, initial=-1)


def _is_told(letters: Int[np.ndarray, "text token+1"]) -> Bool[np.ndarray, "text token"]:
    """Where a letter stood before, and every time went on as it does now."""
    here, following = letters[:, :-1], letters[:, 1:]
    earlier = np.tril(np.ones((here.shape[1],) * 2, dtype=bool), k=-1)
    same = (here[:, :, None] == here[:, None, :]) & earlier  # (text, token, earlier token)
    agrees = following[:, :, None] == following[:, None, :]
    return same.any(axis=2) & (agrees | ~same).all(axis=2)


def batches(spec: RunSpec) -> Iterator[Batch]:
    """Endless training batches. Only letters whose successor can be told are asked for it."""
    rng = np.random.default_rng(spec.seed)
    corpus = texts(rng, N_TEXTS)
    if spec.shuffled_labels:
        dealt = rng.integers(1, len(VOCABULARY), size=corpus.targets.shape)
        corpus = corpus._replace(targets=dealt)
    looks = {0: _previous(len(corpus.tokens)), 1: successors(corpus)} if spec.options.supervised else None
    real, offset = np.ones((BATCH, N_TOKENS), dtype=bool), np.zeros(BATCH, dtype=np.int64)
    while True:
        rows = rng.integers(N_TEXTS, size=BATCH)
        yield Batch(
            tokens=corpus.tokens[rows],
            real=real,
            offset=offset,
            targets={"readout": corpus.targets[rows]},
            weight={"readout": corpus.is_told[rows].astype(np.float32)},
            looks=None if looks is None else {layer: wanted[rows] for layer, wanted in looks.items()},
        )


def _previous(n: int) -> Int[np.ndarray, "text token"]:
    return np.tile(np.arange(N_TOKENS) - 1, (n, 1))


def successors(corpus: Texts) -> Int[np.ndarray, "text token"]:
    """Where the same letter stood before, plus one: the most recent such place, -1 where nothing can be told."""
    same = (corpus.tokens[:, :, None] == corpus.tokens[:, None, :]) & np.tri(N_TOKENS, k=-1, dtype=bool)
    places = np.where(same, np.arange(N_TOKENS) + 1, -1).max(axis=2)
    return np.where(corpus.is_told, places, -1)
