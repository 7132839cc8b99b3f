"""`pronoun`: what does "it" stand for? Layer 0 finds the adjective, layer 1 the noun that it describes."""

from __future__ import annotations

from functools import partial

from attention_core.teach.runs import Options, Readout, Training
from attention_core.teach.tasks import pronoun_card, pronoun_measures, pronoun_variants
from attention_core.teach.tasks.pronoun_data import RECIPE, batches, own_sentence
from attention_core.teach.tasks.pronoun_words import PRONOUN, UNKNOWN, VOCABULARY
from attention_core.teach.tasks.task import Task

OPTIONS = Options(n_layers=2, d_model=16, d_head=8, writes_beside=True, key_reads="word")


def readouts(options: Options) -> tuple[Readout, ...]:
    """Which word each token stands for: read from what the last layer writes, and from nothing else."""
    reads = ("answer",) if options.writes_beside else ("word",)
    return (Readout("readout", reads, after=options.n_layers - 1),)


TRAINING = Training(n_steps=2000, learning_rate=2e-2, batch=RECIPE.batch, score_decay=0.05)

TASK = Task(
    name="pronoun",
    title=pronoun_card.TITLE,
    columns=pronoun_card.COLUMNS,
    vocabulary=VOCABULARY,
    unknown=UNKNOWN,
    tokenizer="words",
    pronouns=(PRONOUN,),
    options=OPTIONS,
    training=TRAINING,
    scenes=pronoun_measures.SCENES,
    reading_head=(1, 0),
    ask=PRONOUN,
    readouts=readouts,
    batches=batches,
    pattern=pronoun_measures.pattern,
    pattern_label=pronoun_measures.PATTERN_LABEL,
    held_out=pronoun_measures.held_out,
    held_out_label={
        "en": "right between the two nouns, in word combinations never seen",
        "zh": "没见过的词语搭配：两个名词中选对的比例",
    },
    measure=pronoun_measures.measure,
    limits=pronoun_measures.limits,
    describe=partial(pronoun_card.describe, training=TRAINING),
    variants=pronoun_variants.variants(OPTIONS),
    choices={
        "n_layers": (1, 2),
        "n_heads": (1, 2),
        "d_model": (8, 16, 24),
        "d_head": (2, 3, 4, 8),
        "share": ("none", "qk", "kv"),
        "positions": ("none", "sinusoidal"),
        "key_reads": ("word", "stream"),
        "mlp": (0, 32),
    },
    check_own=own_sentence,
)
