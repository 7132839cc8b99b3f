"""What is loaded before the first reader comes."""

from __future__ import annotations

import attention_core as ac
from attention_core.cards import DEFAULT
from ui import components, controls, examples, lesson_controls, notes, selection, translations, whatif
from ui.caches import trace_of
from ui.pictures import compare, explore, heads, learn, steps
from ui.pictures import whatif as whatif_picture

WARMED = (
    *(components, controls, examples, lesson_controls, notes, selection, translations, whatif),
    *(compare, explore, heads, learn, steps, whatif_picture),
)


def warm_up() -> None:
    """Load the default model and the translations, and trace the first sentence once."""
    ac.load(DEFAULT)
    for language in translations.LANGUAGES:
        translations.words(language)
    trace_of(DEFAULT, examples.first().text).check()
