"""`induction`: what came after this letter the last time? Layer 0 notes the letter before, layer 1 finds and copies.

The circuit is that of Elhage et al. (2021), "A Mathematical Framework for Transformer Circuits", and of Olsson et al.
(2022), "In-context Learning and Induction Heads": a previous-token head below an induction head.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from attention_core.teach.runs import Answers, Ask, Looks, Options, Readout, Training
from attention_core.teach.tasks import induction_card
from attention_core.teach.tasks.induction_data import BATCH, N_TOKENS, UNKNOWN, VOCABULARY, Texts, batches, texts
from attention_core.teach.tasks.task import Scene, Task

OPTIONS = Options(causal=True, positions="learned", max_tokens=N_TOKENS)
TRAINING = Training(n_steps=1500, learning_rate=1e-2, batch=BATCH)
N_HELD_OUT = 2000
N_FILM = 100


def readouts(options: Options) -> tuple[Readout, ...]:
    """Which letter comes next, from the stream after the last layer."""
    reads = ("answer",) if options.writes_beside else ("word",)
    return (Readout("readout", reads, after=options.n_layers - 1, bias=True),)


@cache
def _unseen(n: int) -> Texts:
    return texts(np.random.default_rng(2**31), n)  # The first seed that no run may have.


def held_out(ask: Ask) -> float:
    """Right about what comes next, in new texts, where it can be told."""
    corpus = _unseen(N_FILM)
    return _accuracy(ask(corpus.tokens), corpus)


def measure(ask: Ask) -> dict[str, Any]:
    """The figures of the card: accuracy, weight on the letters to copy, weight of the letter before in layer 0.

    `headline`: in the last layer, the weight of the letter to copy in each of the scenes.
    """
    corpus = _unseen(N_HELD_OUT)
    result = ask(corpus.tokens)
    looks = [ask(TASK.encode(scene.text)[None]).weights[-1][0] for scene in SCENES]
    return {
        "accuracy": _accuracy(result, corpus),
        "n_told": int(corpus.is_told.sum()),
        "copy": round(copy_weight(result.weights[-1], corpus), 4),
        "previous": round(previous_weight(result.weights[0]), 4),
        "headline": {name: round(copied, 4) for name, copied in zip(SCENE_NAMES, _copied(looks), strict=True)},
    }


def copy_weight(weights: Float[np.ndarray, "text head query key"], corpus: Texts) -> float:
    """The weight that goes to letters which followed the same letter before, as a mean; of the head that has most."""
    same = (corpus.tokens[:, :, None] == corpus.tokens[:, None, :]) & np.tri(N_TOKENS, k=-1, dtype=bool)
    follows = np.zeros_like(same)
    follows[:, :, 1:] = same[:, :, :-1]
    copied = (weights * follows[:, None]).sum(axis=-1)  # (text, head, query)
    return float(max(copied[:, head][corpus.is_told].mean() for head in range(weights.shape[1])))


def previous_weight(weights: Float[np.ndarray, "text head query key"]) -> float:
    """The weight from each letter to the one before it, as a mean; of the head that has most."""
    return float(np.diagonal(weights, offset=-1, axis1=2, axis2=3).mean(axis=(0, 2)).max())


def _accuracy(result: Answers, corpus: Texts) -> float:
    said = result.logits["readout"].argmax(axis=-1)
    return float((said == corpus.targets)[corpus.is_told].mean())


def pattern(scenes: tuple[Looks, ...]) -> float:
    """In the last layer, the weight of the letter to copy, in that of the scenes where it is smallest."""
    return min(_copied([looks[-1] for looks in scenes]))


def _copied(scenes: Sequence[Float[np.ndarray, "head query key"]]) -> list[float]:
    """By scene, what its asker gives the letter to copy: in the head whose smallest such weight is largest."""
    pairs = zip(SCENES, scenes, strict=True)
    right = np.array([weights[:, scene.asker, list(scene.wanted)].sum(axis=-1) for scene, weights in pairs])
    return [float(weight) for weight in right[:, right.min(axis=0).argmax()]]


def limits(ask: Ask, n: int = 1000) -> dict[str, float]:
    """What it says where its task gives no answer, or no fair one.

    Returns:
        first_of_two, later_of_two: a letter went on in two ways: it follows the earlier or the later one. untold: the
        probability of its likeliest answer at a letter that is new in the text. unknown: at an unknown letter, it says
        what followed the unknown letter before, be it the same or another: both are [UNK].
    """
    rng = np.random.default_rng(3)
    drawn = rng.permuted(np.tile(np.arange(1, len(VOCABULARY)), (n, 1)), axis=1)
    x, a, b, unknown = drawn[:, 0], drawn[:, 1], drawn[:, 2], np.zeros(n, dtype=np.int64)
    middle = drawn[:, 3:6].T

    def answered(*letters: Int[np.ndarray, " text"]) -> Float[np.ndarray, "text answer"]:
        logits = ask(np.stack(letters, axis=1)).logits["readout"][:, -1]
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    two = answered(x, a, *middle, x, b, *drawn[:, 6:8].T, x).argmax(axis=1)
    lone = answered(*drawn[:, 4:6].T, unknown, a, *drawn[:, 6:9].T, unknown).argmax(axis=1)
    return {
        "first_of_two": float((two == a).mean()),
        "later_of_two": float((two == b).mean()),
        "untold": float(answered(*drawn.T).max(axis=1).mean()),
        "unknown": float((lone == a).mean()),
    }


SCENES = (
    Scene("d b h f a c e d b h f a c e", asker=13, wanted=(7,)),
    Scene("f c i a e b d j g h a", asker=10, wanted=(4,)),
)
SCENE_NAMES = ("repeated", "scattered")

TASK = Task(
    name="induction",
    title=induction_card.TITLE,
    columns=induction_card.COLUMNS,
    vocabulary=VOCABULARY,
    unknown=UNKNOWN,
    tokenizer="characters",
    options=OPTIONS,
    training=TRAINING,
    scenes=SCENES,
    reading_head=(1, 0),
    ask="a",
    readouts=readouts,
    batches=batches,
    pattern=pattern,
    pattern_label={
        "en": "a letter seen before → the letter that followed it (the smaller of the two)",
        "zh": "出现过的字母 → 上次紧跟其后的字母（两句中较小的注意力权重）",
    },
    held_out=held_out,
    held_out_label={
        "en": "right about the next letter in new texts, where it can be told",
        "zh": "没见过的字母串：能推断之处，下一个字母答对的比例",
    },
    measure=measure,
    limits=limits,
    describe=induction_card.describe,
    variants=induction_card.variants(OPTIONS),
    choices={
        "n_layers": (1, 2, 3),
        "n_heads": (1, 2),
        "d_model": (8, 16, 24),
        "d_head": (2, 3, 4, 8),
        "share": ("none", "qk", "kv"),
        "positions": ("none", "sinusoidal", "learned"),
        "mlp": (0, 32),
    },
)
