"""Progress with the lessons: counted, saved as a file, brought back."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from ui.scenes import books, state

BOOK = "lessons"


def test_what_was_predicted_is_counted(open_app: Callable) -> None:
    n = len(books.scenes(BOOK))
    app = open_app(BOOK, model=None, lang="en", scene="shares")
    assert f"0 of {n} lessons seen" in _captions(app)
    app.test.button(key="predict_half").click().run()
    assert f"1 of {n} lessons seen" in _captions(app)
    app.test.button(key="turn_PageDown").click().run()
    app.test.button(key="predict_skip").click().run()
    assert f"2 of {n} lessons seen" in _captions(app)
    (button,) = app.test.get("download_button")
    assert button.proto.label == "Save progress"


def test_a_prediction_is_held_against_the_numbers(open_app: Callable) -> None:
    app = open_app(BOOK, model=None, lang="en", scene="shares")
    app.test.button(key="predict_same").click().run()
    assert "The numbers say otherwise: about half each." in app.said()
    app.test.button(key="predict_half").click().run()
    assert "You expected this: about half each." in app.said()


def test_a_book_without_lessons_counts_none(open_app: Callable) -> None:
    assert "lessons seen" not in _captions(open_app("dish", model=None, lang="en"))


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> dict:
    """What stands in the session, without one."""
    found: dict = {}
    monkeypatch.setattr(state.selection, "peek", found.get)
    monkeypatch.setattr(state.selection, "mark", found.__setitem__)
    return found


def test_a_saved_file_brings_back_what_was_predicted(kept: dict) -> None:
    state.predict(BOOK, "shares", "half")
    state.predict(BOOK, "masking", state.SKIPPED)
    file = state.saved()
    kept.clear()
    assert state.prediction(BOOK, "shares") is None
    assert state.load(file)
    assert state.prediction(BOOK, "shares") == "half"
    assert state.prediction(BOOK, "masking") == state.SKIPPED


def test_a_file_adds_to_what_was_predicted_since(kept: dict) -> None:
    state.predict(BOOK, "masking", "none")
    assert state.load(json.dumps({"predictions": {f"{BOOK}.shares": "same"}}).encode())
    assert state.predictions() == {f"{BOOK}.masking": "none", f"{BOOK}.shares": "same"}


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe", b"[]", b"{}", b'{"predictions": 3}', b'{"predictions": [1]}', b"null", b"[" * 100_000]
)
def test_another_file_is_refused(kept: dict, data: bytes) -> None:
    assert not state.load(data)
    assert not state.predictions()


def test_what_no_lesson_offers_is_left_out(kept: dict) -> None:
    strange = {f"{BOOK}.shares": "<b>", f"{BOOK}.nowhere": "half", "x": "y", f"{BOOK}.axes": ["one"], f"{BOOK}.tied": 3}
    assert state.load(json.dumps({"predictions": {**strange, f"{BOOK}.masking": "much"}}).encode())
    assert state.predictions() == {f"{BOOK}.masking": "much"}


def _captions(app: object) -> str:
    return "\n".join(each.value for each in app.test.caption)  # type: ignore[attr-defined]
