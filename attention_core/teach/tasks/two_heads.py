"""`two-heads`: is this text about the dish 佛跳墙, about Buddhism, or both?

佛 asks for 跳, 墙 with one head and for 祖, 经 with the other. One layer, no positions. Both questions are answered by
one read-out from the sum of both heads: nothing says which head should do what, or that they should differ.
"""

from __future__ import annotations

from functools import partial

from attention_core.teach.runs import Options, Readout, Training
from attention_core.teach.tasks import two_heads_card, two_heads_measures
from attention_core.teach.tasks.task import Scene, Task
from attention_core.teach.tasks.two_heads_data import ANSWERS, ASKED, BUDDHA, RECIPE, UNKNOWN, VOCABULARY, batches
from attention_core.teach.tasks.two_heads_measures import HEADLINE

OPTIONS = Options(n_layers=1, n_heads=2, d_model=16, d_head=8, positions="none")
TRAINING = Training(n_steps=700, learning_rate=1e-2, batch=RECIPE.batch, score_penalty=1e-3, penalised="every")


def readouts(options: Options) -> tuple[Readout, ...]:
    """What the text is about, at 佛; "not asked" at every other character. The two count the same: see `batches`."""
    return (Readout("about", ("word",), options.n_layers - 1, ANSWERS, "text", weight=2.0),)


def _scene(text: str) -> Scene:
    return Scene(text, text.index(BUDDHA), tuple(i for i, character in enumerate(text) if character in ASKED))


TASK = Task(
    name="two-heads",
    title=two_heads_card.TITLE,
    columns=two_heads_card.COLUMNS,
    vocabulary=VOCABULARY,
    unknown=UNKNOWN,
    tokenizer="characters",
    options=OPTIONS,
    training=TRAINING,
    scenes=(_scene(HEADLINE), _scene("老师说佛跳墙很有名。")),
    reading_head=(0, 0),
    ask=BUDDHA,
    readouts=readouts,
    batches=batches,
    pattern=two_heads_measures.pattern,
    pattern_label={
        "en": "one head → 跳, 墙, another → 祖, 经 (twice the smallest of the four weights)",
        "zh": "一个头 → 跳、墙，另一个头 → 祖、经（四个注意力权重中最小者的两倍）",
    },
    held_out=two_heads_measures.held_out_share,
    held_out_label={"en": "right about texts in frames never seen", "zh": "没见过的句式：答对的比例"},
    measure=two_heads_measures.measure,
    limits=two_heads_measures.limits,
    describe=partial(two_heads_card.describe, training=TRAINING),
    variants=two_heads_card.variants(OPTIONS),
    choices={
        "n_heads": (1, 2, 3, 4),
        "d_model": (16, 24, 32),
        "d_head": (4, 8, 16),
        "share": ("none", "qk", "kv"),
        "twin_heads": (False, True),
    },
)
