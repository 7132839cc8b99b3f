"""`pronoun-open`: what does "it" stand for, with any English noun of a table of 6,000 words?

The model is that of `pronoun`; but the words' vectors are given, and the read-out is tied to them: an answer is the
word whose vector fits best what the last layer writes.
"""

from __future__ import annotations

from attention_core.teach.runs import Options, Readout, Training
from attention_core.teach.tasks import open_card, open_measures, pronoun_measures
from attention_core.teach.tasks.open_data import RECIPE, batches, own_sentence
from attention_core.teach.tasks.open_words import PRONOUN, VOCABULARY
from attention_core.teach.tasks.task import Task
from attention_core.teach.word_table import D_MODEL, UNKNOWN, load

OPTIONS = Options(n_layers=2, d_model=D_MODEL, d_head=32, writes_beside=True, key_reads="word", score_std=0.035)
TRAINING = Training(n_steps=2500, learning_rate=3e-3, batch=RECIPE.batch, every=50)


def readouts(options: Options) -> tuple[Readout, ...]:
    """Which word each token stands for, read from what the last layer writes; the columns are the words' vectors."""
    return (Readout("embedding", ("answer",), after=options.n_layers - 1),)


TASK = Task(
    name="pronoun-open",
    title=open_card.TITLE,
    columns=open_card.COLUMNS,
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
    held_out=open_measures.held_out,
    held_out_label={
        "en": "right between the two nouns, neither of them taught",
        "zh": "两个名词都没教过：选对的比例",
    },
    measure=open_measures.measure,
    limits=open_measures.limits,
    describe=open_card.describe,
    variants=open_card.variants(OPTIONS),
    choices={
        "n_layers": (1, 2),
        "n_heads": (1, 2),
        "d_head": (16, 32),
        "share": ("none", "qk", "kv"),
        "positions": ("none", "sinusoidal"),
        "key_reads": ("word", "stream"),
        "shuffled_table": (False, True),
    },
    check_own=own_sentence,
    table=lambda: load()[1],
)
