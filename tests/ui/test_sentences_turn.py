"""Every sentence of a scene can be reached: where no control leads to it, by numbers that were changed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.ui.shown import figures_of, settings
from ui.scenes import books, texts

SCENES = {f"{book}.{scene.id}": scene for book in books.BOOKS for scene in books.scenes(book)}
NOTHING, TALK = "晚上我们吃火锅", "今天吃佛跳墙，明天看佛经。"
HALF = np.array([0.5, 0.5])

# Scene, controls, changed numbers → the sentence that follows.
TURNED: tuple[tuple[str, Mapping[str, Any], Mapping[str, Any], str], ...] = (
    ("dish.cooking", {}, {"yes": 0.49}, "no"),
    ("dish.asking", {"sentence": NOTHING, "equal": True}, {}, "missing_equal"),
    ("dish.adding", {}, {"n_above": 0}, "none"),
    ("dish.jobs", {}, {"means": (0.010, 0.013), "spread": 0.004}, "free"),
    ("dish.jobs", {}, {"means": (0.013, 0.010), "spread": 0.001}, "free"),
    ("dish.jobs", {"room": "wide"}, {"means": (0.010, 0.015), "spread": 0.004}, "costs"),
    ("dish.stacking", {}, {"gap": 1e-6}, "differ"),
    ("dish.origin", {"done": 0}, {}, "start"),
    ("dish.origin", {}, {"now": 0.49}, "searching"),
    ("dish.neighbours", {}, {"by_term": np.array([1.0, 2.0, 3.0, 4.0])}, "position_position"),
    ("dish.neighbours", {}, {"by_term": np.array([1.0, -9.0, 3.0, 2.0])}, "position_content"),
    ("dish.neighbours", {"places": False}, {"gap": 0.1}, "inexact"),
    ("dish.ends", {}, {"beside": 3}, "chain"),
    ("dish.ends", {}, {"beside": 2}, "other"),
    ("dish.depth", {}, {"two_right": False}, "named_wrong"),
    ("dish.depth", {"sentence": NOTHING}, {"two_right": False}, "unnamed_wrong"),
    ("dish.several", {"sentence": "晚上我们吃佛跳墙"}, {}, "half"),
    ("dish.several", {}, {"pairs": np.array([[0.9, 0.8], [0.1, 0.2]])}, "mixed"),
    ("dish.tied", {}, {"elsewhere": 0, "example": None}, "even_self"),
    ("dish.graph", {}, {"mutual": []}, "none"),
    ("dish.chain", {"ab": 0.7, "bc": 0.7}, {}, "free"),
    ("dish.cost", {"what": "letters"}, {"means": (0.9, 0.8), "spread": 0.2}, "free"),
    ("dish.cost", {"what": "heads"}, {"means": (0.9, 0.8), "spread": 0.05}, "costs"),
    ("it.advert", {}, {"best": "street"}, "else_library"),
    ("it.advert", {"like": "search"}, {"best": "street"}, "else_search"),
    ("it.note", {}, {"whole_told": 0.5, "cut_told": 0.6}, "no_help"),
    ("it.note", {}, {"whole_told": 0.5, "alone_told": 0.6}, "no_help"),
    ("it.note", {"which": "single"}, {"other": np.eye(12)[3]}, "single_flips"),
    ("it.plane", {}, {"margins": (1.0, -0.1)}, "mixed_principal"),
    ("it.plane", {"view": "asked"}, {"margins": (-0.1, 1.0)}, "mixed_asked"),
    ("it.words", {}, {"answers": [["horse"], ["horse"]]}, "same"),
    ("it.words", {}, {"answers": [["horse"], ["dog"]]}, "else"),
    ("it.moved", {}, {"told": 0.4, "other": 0.4}, "missed"),
    ("it.moved", {}, {"distance": -3}, "before"),
    ("it.causal", {"mask": False}, {"answers": [["a", "b"], ["a", "c"]]}, "free_alike"),
    ("it.causal", {"case": "twice"}, {"answers": [["a", "b"], ["c", "b"]]}, "masked_lost"),
    ("it.final", {}, {"largest": ("embedding", None, None)}, "elsewhere"),
    ("it.final", {}, {"is_read": np.array([True, False, True])}, "many"),
    ("lessons.stored", {}, {"stored_numbers": 1}, "moved"),
    ("lessons.tied", {}, {"example": None, "n_elsewhere": 0}, "self"),
    ("lessons.two_jobs", {}, {"moved": 0.1}, "else"),
    ("lessons.two_jobs", {"part": "k"}, {"moved": 0.0}, "else"),
    ("lessons.similarity", {}, {"nearest": "animal", "strongest": "animal"}, "alike"),
    ("lessons.all_ask", {"quiet": True}, {"answer": "c"}, "kept"),
    ("lessons.axes", {}, {"row_sums": np.full(12, 1.1)}, "columns"),
    ("lessons.shares", {"copies": 1}, {}, "alone"),
    ("lessons.shares", {"copies": 1, "of": "three"}, {}, "three"),
    ("lessons.shares", {"copies": 1, "of": "none"}, {}, "none"),
    ("lessons.scaling", {"d": 2}, {}, "close"),
    ("lessons.masking", {"way": "infinity"}, {"lowest": 0.9}, "short"),
    ("lessons.order", {"mask": True, "taught": "with"}, {}, "both"),
    ("lessons.order", {"shuffle": 0}, {}, "still"),
    ("lessons.heads", {"sentence": "佛祖看佛经"}, {}, "buddhism_swapped"),
    ("lessons.heads", {"sentence": "佛祖看佛经"}, {"finders": [1, 1]}, "buddhism_same"),
    ("lessons.heads", {"sentence": "佛跳墙"}, {"finders": [0, 0]}, "dish_same"),
    ("lessons.heads", {"sentence": "佛在这里"}, {}, "nobody"),
    ("lessons.shapes", {"d_model": 128, "d_head": 64}, {}, "equal"),
    ("lessons.explanation", {}, {"then": "street"}, "turned"),
    ("lessons.contribution", {"measure": "answer"}, {"same": False}, "logit_other"),
    ("lessons.contribution", {"measure": "answer"}, {"same": True}, "logit_same"),
    ("lessons.mechanism", {}, {"answer_flips": False, "map_flips": True}, "stays_flips"),
    ("lessons.mechanism", {}, {"answer_flips": False, "map_flips": False}, "stays_stays"),
    ("lessons.cls", {"asker": "last"}, {"asker_right": 6}, "only"),
    ("lessons.cls", {"asker": "last"}, {"asker_right": 7}, "others"),
    ("lessons.future", {"mask": False}, {"knows": False}, "open_blind"),
    ("lessons.count", {"mark": True, "which": "one"}, {}, "mark_one"),
    ("lessons.count", {"times": 1}, {}, "once"),
)  # fmt: skip

BELIEFS: tuple[tuple[str, Mapping[str, Any], str], ...] = (
    ("stored", {"stored_numbers": 3, "n_rows": 1}, "both"),
    ("stored", {"stored_numbers": 3, "n_rows": 0}, "stored"),
    ("tied", {"uneven_weights": 0.0}, "symmetric"),
    ("tied", {"n_elsewhere": 0}, "self"),
    ("two_jobs", {"value_moves": 0.1}, "move"),
    ("similarity", {"cosine_change": 0.1}, "both"),
    ("similarity", {"score_change": 0.0}, "neither"),
    ("all_ask", {"n_queries": 13}, "letter"),
    ("all_ask", {"n_queries": 1}, "one"),
    ("axes", {"noun": 1.0}, "one"),
    ("shares", {"halved": 1.0}, "same"),
    ("shares", {"halved": 0.1}, "none"),
    ("scaling", {"at_64": 0.1}, "even"),
    ("scaling", {"at_64": 0.3}, "third"),
    ("masking", {"zero_leak": 0.0}, "none"),
    ("masking", {"zero_leak": 0.05}, "little"),
    ("order", {"plain_gap": 1.0}, "changed"),
    ("heads", {"n_first": 5}, "zero"),
    ("heads", {"n_first": 0}, "one"),
    ("shapes", {"two": 5, "product": 5}, "equal"),
    ("explanation", {"changed_cases": 0}, "never"),
    ("explanation", {"changed_cases": 4}, "always"),
    ("contribution", {"same": True}, "same"),
    ("mechanism", {"maps_one": HALF + 0.1}, "both"),
    ("mechanism", {"maps_two": HALF - 0.1}, "neither"),
    ("cls", {"blank_right": np.array([7, 8])}, "most"),
    ("future", {"it_seen": 12}, "all"),
    ("future", {"it_seen": 1}, "itself"),
    ("count", {"three": np.ones(8), "single": np.ones(8) / 3}, "times"),
    ("count", {"three": np.ones(8), "single": np.ones(8) / 2}, "other"),
)


def _altered(name: str, values: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    figures = figures_of(SCENES[name], {**SCENES[name].defaults(), **values})
    assert set(changed) <= set(figures)
    return {**figures, **changed}


@pytest.mark.parametrize(("name", "values", "changed", "key"), TURNED)
def test_a_sentence_turns_with_its_numbers(
    name: str, values: Mapping[str, Any], changed: Mapping[str, Any], key: str
) -> None:
    assert SCENES[name].verdict(_altered(name, values, changed))[0] == f"verdict_{key}"


@pytest.mark.parametrize(("name", "changed", "option"), BELIEFS)
def test_another_belief_would_be_borne_out_by_other_numbers(name: str, changed: Mapping[str, Any], option: str) -> None:
    scene = SCENES[f"lessons.{name}"]
    assert scene.borne_out is not None
    assert scene.borne_out(_altered(f"lessons.{name}", {}, changed)) == option


@pytest.mark.parametrize("name", list(SCENES))
def test_no_sentence_is_left_untried(name: str) -> None:
    book, scene = name.split(".")
    known = {key for key in texts.book_texts(book, "en")[scene] if key.startswith("verdict_")}
    reached = {SCENES[name].verdict(figures_of(SCENES[name], values))[0] for values in settings(SCENES[name])}
    assert known == reached | {f"verdict_{key}" for one, *_, key in TURNED if one == name}
