"""`dish`: is this about the dish 佛跳墙? Layer 0 finds the name's characters, in layer 1 [CLS] gathers them."""

from __future__ import annotations

from functools import partial

from attention_core.teach.runs import Options, Readout, Training
from attention_core.teach.tasks import dish_card, dish_measures, dish_variants
from attention_core.teach.tasks.dish_data import RECIPE, batches, own_sentence
from attention_core.teach.tasks.dish_measures import SCENE, TRAP, WANTED
from attention_core.teach.tasks.dish_texts import FIRST, UNKNOWN, VOCABULARY
from attention_core.teach.tasks.task import Scene, Task

OPTIONS = Options(d_model=24, d_head=8, windows=(2, None), positions="sinusoidal", max_tokens=32)
TRAINING = Training(n_steps=2000, learning_rate=2e-2, batch=RECIPE.batch, score_penalty=3e-4)


def readouts(options: Options) -> tuple[Readout, ...]:
    """About the dish? at [CLS], after the last layer. Inside its name? at the characters, after the first layer.

    With one layer, both are read after that one.
    """
    return (
        Readout("about", ("word",), options.n_layers - 1, ("no", "yes"), "prefix", bias=True),
        Readout("inside", ("word",), 0, ("no", "yes"), "text", bias=True, weight=RECIPE.inside_weight),
    )


TASK = Task(
    name="dish",
    title=dish_card.TITLE,
    columns=dish_card.COLUMNS,
    vocabulary=VOCABULARY,
    unknown=UNKNOWN,
    tokenizer="characters",
    prefix=(FIRST,),
    options=OPTIONS,
    training=TRAINING,
    scenes=(Scene(SCENE, asker=0, wanted=WANTED), Scene(TRAP, asker=0, wanted=())),
    reading_head=(1, 0),
    ask=FIRST,
    readouts=readouts,
    batches=batches,
    pattern=dish_measures.pattern,
    pattern_label={
        "en": "[CLS] → 佛, 跳, 墙: their weights together (above .5 only if they are its top three)",
        "zh": "[CLS] → 佛、跳、墙：三者注意力权重之和（三者不全是前三名时，最多记 0.5）",
    },
    held_out=dish_measures.held_out,
    held_out_label={
        "en": "right about sentences in frames never seen, half of them traps",
        "zh": "没见过的句式（一半是陷阱句）：判断正确的比例",
    },
    measure=dish_measures.measure,
    limits=dish_measures.limits,
    describe=partial(dish_card.describe, training=TRAINING),
    variants=dish_variants.variants(OPTIONS),
    choices={
        "n_layers": (1, 2),
        "n_heads": (1, 2, 4),
        "d_model": (8, 16, 24),
        "d_head": (2, 3, 4, 8),
        "share": ("none", "qk", "kv"),
        "positions": ("none", "sinusoidal", "learned"),
        "mlp": (0, 32),
    },
    check_own=own_sentence,
)
