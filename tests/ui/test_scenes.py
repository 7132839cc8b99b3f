"""Every scene of every story and every lesson: its address, its controls, its pictures, its texts in both languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from tests.ui.shown import figures_of, others, settings
from ui.scenes import books, texts
from ui.scenes.kinds import Figures, Picture, Scene, written
from ui.scenes.texts import Texts
from ui.translations import LANGUAGES

ALL = [(book, scene) for book in books.BOOKS for scene in books.scenes(book)]
NAMES = [f"{book}-{scene.id}" for book, scene in ALL]
KINDS = {"bars", "matrix", "plane", "tokens", "curve", "flow", "numbers"}
FIXED = ("title", "text", "after", "source", "predict")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("book", "scene"), ALL, ids=NAMES)
def test_it_opens_by_its_address_and_follows_its_controls(
    open_app: Callable, book: str, scene: Scene, language: str
) -> None:
    app = open_app(book, model=None, lang=language, scene=scene.id)
    if scene.options:
        assert not app.has("scene")
        app.test.button(key=f"predict_{scene.options[0]}").click().run()
    assert f"scene={scene.id}" in app.query()
    first = app.frame("scene")[0]
    _shows(app, book, scene, language, scene.defaults())
    mine = list(LANGUAGES).index(language)  # The values take turns between the languages.
    for control in scene.controls:
        for value in others(control)[mine :: len(LANGUAGES)]:
            moved = open_app(book, model=None, lang=language, scene=scene.id, **{control.name: written(value)})
            if scene.options:
                moved.test.button(key="predict_skip").click().run()
            assert not moved.test.exception
            assert moved.frame("scene")[0]["revision"] != first["revision"], (control.name, value)
            _shows(moved, book, scene, language, {**scene.defaults(), control.name: value})
            assert f"{control.name}=" in moved.query()


@pytest.mark.parametrize(("book", "scene"), ALL, ids=NAMES)
def test_every_control_moves_a_figure_and_the_sentence(book: str, scene: Scene) -> None:
    first = figures_of(scene, scene.defaults())
    for control in scene.controls:
        for value in others(control):
            moved = figures_of(scene, {**scene.defaults(), control.name: value})
            assert not _same(first, moved), (control.name, value)
        sentences = [scene.verdict(figures_of(scene, {**scene.defaults(), control.name: v})) for v in others(control)]
        assert any(sentence != scene.verdict(first) for sentence in sentences), control.name


@pytest.mark.parametrize(("book", "scene"), ALL, ids=NAMES)
def test_its_texts_are_whole_in_both_languages(book: str, scene: Scene) -> None:
    for language in LANGUAGES:
        said = _said(book, scene, language)
        asked = _Asked(language, said.texts)
        for figures in [figures_of(scene, values) for values in settings(scene)]:
            for picture in scene.pictures(figures, asked):
                _is_drawn(picture)
            key, parts = scene.verdict(figures)
            assert "{" not in asked(key, **parts)
            if scene.borne_out is not None:
                assert scene.borne_out(figures) in scene.options
        needed = {"title", "text", *asked.used, *_of_controls(scene), *(f"option_{name}" for name in scene.options)}
        needed |= {f"link_{page}" for page, _ in scene.links} | ({"predict"} if scene.options else set())
        known = set(said.texts)
        assert needed <= known
        unused = {key for key in known - needed - set(FIXED) if not key.startswith(("verdict_", "picture_"))}
        assert not unused


def test_both_languages_say_the_same_things() -> None:
    for book in books.BOOKS:
        english, chinese = (texts.book_texts(book, language) for language in LANGUAGES)
        assert set(english) == set(chinese) == {scene.id for scene in books.scenes(book)}
        for scene, said in english.items():
            assert set(said) == set(chinese[scene])
            for key, text in said.items():
                assert _parts(text) == _parts(chinese[scene][key]), (book, scene, key)
                assert text.strip()
                assert chinese[scene][key].strip()


def test_an_unknown_scene_is_noted_and_the_first_is_shown(open_app: Callable) -> None:
    app = open_app(books.BOOKS[0], model=None, scene="nowhere")
    assert "`nowhere`" in app.said()
    assert f"scene={books.scenes(books.BOOKS[0])[0].id}" in app.query()


def test_a_control_that_an_address_gets_wrong_is_noted(open_app: Callable) -> None:
    book, scene, control = next(
        (book, scene, control) for book, scene in ALL for control in scene.controls if control.kind != "text"
    )
    app = open_app(book, model=None, scene=scene.id, **{control.name: "nonsense"})
    assert "nonsense" in app.said()


class _Asked(Texts):
    """Texts that remember which of them were asked for."""

    def __init__(self, language: str, known: Any) -> None:
        super().__init__(language, known)
        object.__setattr__(self, "used", set())

    def __call__(self, key: str, **parts: object) -> str:
        self.used.add(key)  # type: ignore[attr-defined]
        return super().__call__(key, **parts)


def _said(book: str, scene: Scene, language: str) -> Texts:
    return texts.of_scene(book, scene.id, language)


def _shows(app: Any, book: str, scene: Scene, language: str, values: Mapping[str, Any]) -> None:
    """The page sends the numbers of exactly these values, and says what they say."""
    header, arrays = app.frame("scene")
    said, figures = _said(book, scene, language), figures_of(scene, values)
    pictures = scene.pictures(figures, said)
    for i, picture in enumerate(pictures):
        assert {name: header["pictures"][i][name] for name in ("kind", "label")} == {
            "kind": picture.kind,
            "label": picture.label,
        }
        for name, array in picture.arrays.items():
            np.testing.assert_array_equal(arrays[f"{i}.{name}"], np.asarray(array))
    assert len(header["pictures"]) == len(pictures)
    key, parts = scene.verdict(figures)
    assert f"**{said(key, **parts)}**" in app.said()


def _of_controls(scene: Scene) -> set[str]:
    choices = {f"{c.name}_{option}" for c in scene.controls if c.kind == "choice" for option in c.options}
    return {control.name for control in scene.controls} | choices


def _is_drawn(picture: Picture) -> None:
    assert picture.kind in KINDS
    assert picture.label
    for array in picture.arrays.values():
        assert np.asarray(array).size
        assert not np.isnan(np.asarray(array, dtype=float)).any()


def _same(first: Figures, other: Figures) -> bool:
    return set(first) == set(other) and all(np.array_equal(first[name], other[name]) for name in first)


def _parts(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))
