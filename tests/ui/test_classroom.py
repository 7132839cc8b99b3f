"""The teacher's page and the interview page: sheets that add up, answers held back, hands, codes, handouts, texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from ui import classroom, classroom_code, classroom_plan, glossary, handout, interview, qr, refreshers, tally
from ui.addresses import read_address
from ui.classroom_plan import LAB, LECTURE, SHEETS, Step
from ui.scenes import books, texts
from ui.translations import LANGUAGES

STEPS = [(sheet, step) for sheet, steps in SHEETS.items() for step in steps]
STEP_NAMES = [f"{sheet}-{step.id}" for sheet, step in STEPS]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def test_the_minutes_add_up() -> None:
    assert sum(step.minutes for step in LECTURE) == 45
    assert sum(step.minutes for step in LAB) == 90
    assert all(len({step.id for step in steps}) == len(steps) for steps in SHEETS.values())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("sheet", SHEETS)
def test_a_sheet_shows_its_steps_and_no_answer(open_app: Callable, sheet: str, language: str) -> None:
    app = open_app("classroom", model=None, lang=language, sheet=sheet)
    said, at = app.said(), 0
    for step in SHEETS[sheet]:
        own = texts.of_scene("classroom", f"{sheet}_{step.id}", language)
        assert f"### {own('title')}" in said
        assert own("question") in said
        assert own("answer") not in said
        span = f"{at} to {at + step.minutes} " if language == "en" else f"{at}–{at + step.minutes} "
        assert span in said
        at += step.minutes
    assert f"sheet={sheet}" in app.query()


@pytest.mark.parametrize(("sheet", "step"), STEPS, ids=STEP_NAMES)
def test_an_answer_is_shown_when_the_teacher_presses(open_app: Callable, sheet: str, step: Step) -> None:
    app = open_app("classroom", model=None, lang="zh", sheet=sheet)
    answer = texts.of_scene("classroom", f"{sheet}_{step.id}", "zh")("answer")
    app.test.button(key=f"reveal_{sheet}_{step.id}").click().run()
    assert not app.test.exception
    assert [answer in element.value for element in app.test.info] == [True]
    scene = classroom_plan.scene_of(step)
    if scene is not None:
        key, parts = scene.verdict(scene.compute(**classroom_plan.values(step)))
        assert texts.of_scene(step.page, scene.id, "zh")(key, **parts) in app.test.info[0].value
    app.test.button(key="hide_all").click().run()
    assert answer not in app.said()


@pytest.mark.parametrize(("sheet", "step"), STEPS, ids=STEP_NAMES)
def test_a_step_opens_what_it_says(open_app: Callable, sheet: str, step: Step) -> None:
    app = open_app("classroom", model=None, sheet=sheet, lang="en")
    title = texts.of_scene("classroom", f"{sheet}_{step.id}", "en")("title")
    (markdown,) = [each.value for each in app.test.markdown if each.value.startswith(f"### {title}\n")]
    (address,) = LINK.findall(markdown)
    fields = dict(parse_qsl(urlsplit(address).query))
    assert urlsplit(address).path == step.page
    opened = open_app(step.page, **(fields if step.page == "learn" else {"model": None, **fields}))
    assert "not here" not in opened.said()
    if step.scene is not None:
        assert f"scene={step.scene}" in opened.query()
        names = {control.name for control in classroom_plan.scene_of(step).controls}  # type: ignore[union-attr]
        assert set(step.fields) <= names
    else:
        assert not read_address(fields, "en")[1]


def test_hands_are_counted_and_forgotten(open_app: Callable) -> None:
    app = open_app("classroom", model=None, sheet="hands", lang="en")
    assert "No hands" in app.said()
    for letter, kind in ["B+", "B+", "B+", "A+", "A+", "A-", "D-"]:
        app.test.button(key=f"hands_{letter}_{'more' if kind == '+' else 'fewer'}").click().run()
    assert "4 hands; B has most of them (3)" in app.said()
    assert [bars(app, letter) for letter in tally.LETTERS] == ["33.3%", "100.0%", "0.0%", "0.0%"]
    for _ in range(2):
        app.test.button(key="hands_A_more").click().run()
    assert "6 hands; A, B are even (3 each)" in app.said()
    app.test.button(key="hands_reset").click().run()
    assert "No hands" in app.said()


def bars(app: object, letter: str) -> str:
    """How long that letter's bar is drawn."""
    drawn = [each.proto.body for each in app.test.get("html") if "hands-bar" in each.proto.body]  # type: ignore[attr-defined]
    (html,) = [html for html in drawn if f"<span>{letter}" in html]
    return re.findall(r"width:([\d.]+%)", html)[0]


def test_a_lesson_of_the_lecture_can_be_voted_on(open_app: Callable) -> None:
    app = open_app("classroom", model=None, sheet="lecture", lang="en")
    app.test.button(key="count_lecture_scaling").click().run()
    assert "sheet=hands" in app.query()
    assert texts.of_scene("lessons", "scaling", "en")("predict") in app.said()


def test_every_lesson_has_letters_enough() -> None:
    options = [scene.options for scene in books.scenes(tally.LESSONS)]
    assert 2 <= max(map(len, options)) <= len(tally.LETTERS)


@pytest.mark.parametrize("page", classroom_code.PAGES)
def test_the_code_is_of_the_page_as_it_stands(open_app: Callable, page: str) -> None:
    app = open_app(page, model=None, lang="zh")
    expected = app.query()
    app.go("classroom")
    app.test.segmented_control(key="classroom_part").set_value("code").run()
    app.test.selectbox(key="code_page").set_value(page).run()
    app.test.text_input(key="code_base").set_value("http://10.0.0.7:8501/").run()
    assert not app.test.exception
    (link,) = [each.value for each in app.test.code]
    address, _, query = link.partition("?")
    assert address == f"http://10.0.0.7:8501/{page}"
    assert dict(parse_qsl(query)) == dict(parse_qsl(expected))
    assert any('class="qr"' in each.proto.body for each in app.test.get("html"))


def test_a_long_link_becomes_a_file(open_app: Callable) -> None:
    app = open_app("classroom", model=None, sheet="code", lang="en")
    app.test.selectbox(key="code_page").set_value(classroom_code.OWN).run()
    assert not app.test.code
    for n, is_drawn in [(qr.MAX_CHARACTERS, True), (qr.MAX_CHARACTERS + 1, False)]:
        app.test.text_input(key="code_link").set_value("x" * n).run()
        assert any('class="qr"' in each.proto.body for each in app.test.get("html")) == is_drawn
        assert (str(n) in app.said()) != is_drawn
        assert app.test.get("download_button")


def test_an_address_of_this_computer_alone_is_said(open_app: Callable) -> None:
    app = open_app("classroom", model=None, sheet="code", lang="en")
    app.test.text_input(key="code_base").set_value("http://localhost:8501").run()
    assert "HOST=0.0.0.0" in app.said()
    app.test.text_input(key="code_base").set_value("http://10.0.0.7:8501").run()
    assert "HOST=0.0.0.0" not in app.said()


def test_a_code_is_made_of_the_text() -> None:
    one, other = (qr.image(f"http://10.0.0.7/dish?scene={scene}") for scene in ("asking", "adding"))
    assert one.startswith("data:image/svg+xml")
    assert one != other
    assert qr.image("http://10.0.0.7/dish?scene=asking") == one
    with pytest.raises(qr.TooLong):
        qr.image("问" * qr.MAX_CHARACTERS)
    with pytest.raises(ValueError, match=r"^$"):
        qr.image("")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("book", books.BOOKS)
def test_a_handout_has_every_scene_with_its_verdict(open_app: Callable, book: str, language: str) -> None:
    app = open_app("classroom", model=None, lang=language, handout=book)
    said = app.said()
    drawn = {header["scene"]: (header, arrays) for header, arrays in app.frames("scene")}
    assert list(drawn) == [scene.id for scene in books.scenes(book)]
    for scene in books.scenes(book):
        header, arrays = drawn[scene.id]
        assert header["paper"]
        pictures = scene.pictures(scene.compute(**scene.defaults()), texts.of_scene(book, scene.id, language))
        for i, picture in enumerate(pictures):
            assert header["pictures"][i]["label"] == picture.label
            for name, array in picture.arrays.items():
                np.testing.assert_array_equal(arrays[f"{i}.{name}"], array)
        own = texts.of_scene(book, scene.id, language)
        key, parts = scene.verdict(scene.compute(**scene.defaults()))
        assert own("title") in said
        assert own("text") in said
        assert own(key, **parts) in said
    assert f"handout={book}" in app.query()


def test_a_handout_of_one_lesson_without_answers(open_app: Callable) -> None:
    app = open_app("classroom", model=None, lang="en", handout="lessons", only="order", answers=0)
    own, other = (texts.of_scene("lessons", name, "en") for name in ("order", "masking"))
    scene = next(each for each in books.scenes("lessons") if each.id == "order")
    key, parts = scene.verdict(scene.compute(**scene.defaults()))
    assert own("predict") in app.said()
    assert own(key, **parts) not in app.said()
    assert not app.has("scene")
    assert other("title") not in app.said()
    assert {"only": "order", "answers": "0"}.items() <= dict(parse_qsl(app.query())).items()
    app.test.toggle(key=handout.ANSWERS).set_value(True).run()
    assert own(key, **parts) in app.said()


def test_the_lab_sheet_on_paper(open_app: Callable) -> None:
    app = open_app("classroom", model=None, lang="zh", handout="lab", answers=0)
    for step in LAB:
        own = texts.of_scene("classroom", f"lab_{step.id}", "zh")
        assert own("do") in app.said()
        assert own("answer") not in app.said()


def test_an_unknown_part_or_handout_is_noted(open_app: Callable) -> None:
    for field in ("sheet", "handout"):
        assert "`nonsense`" in open_app("classroom", model=None, lang="en", **{field: "nonsense"}).said()


@pytest.mark.parametrize("language", LANGUAGES)
def test_refreshers_follow_their_seed(open_app: Callable, language: str) -> None:
    app = open_app("classroom", model=None, lang=language, sheet="refresh")
    first = [each.value for each in app.test.latex]
    assert len(first) == len(refreshers.CARDS)
    app.test.number_input(key="refresh_seed").set_value(17).run()
    assert not app.test.exception
    assert all(one != other for one, other in zip(first, [each.value for each in app.test.latex], strict=True))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_glossary_has_every_term_in_both_languages(open_app: Callable, language: str) -> None:
    said = open_app("classroom", model=None, lang=language, sheet="glossary").said()
    assert len(glossary.terms()) >= 30
    for term in glossary.terms():
        for code in LANGUAGES:
            assert texts.of_scene("classroom", "glossary", code)(term) in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_interview_question_is_answered_with_its_numbers(open_app: Callable, language: str) -> None:
    app = open_app("interview", model=None, lang=language)
    for question in interview.QUESTIONS:
        own = texts.of_scene("interview", question.id, language)
        live = own("live", **question.said(question.compute()))
        assert own("question") in app.said()
        assert live not in app.said()
        app.test.button(key=f"reveal_interview_{question.id}").click().run()
        assert not app.test.exception
        assert live in app.said()
        assert "{" not in live
    links = [LINK.findall(each.value) for each in app.test.markdown if "scene=" in each.value]
    assert len(links) == len(interview.QUESTIONS)


@pytest.mark.parametrize("question", interview.QUESTIONS, ids=lambda each: each.id)
def test_an_interview_question_points_at_a_scene(question: interview.Question) -> None:
    scene = next(scene for scene in books.scenes(question.page) if scene.id == question.scene)
    assert set(question.fields) <= {control.name for control in scene.controls}


@pytest.mark.parametrize("book", ["classroom", "interview"])
def test_both_languages_say_the_same_things(book: str) -> None:
    english, chinese = (texts.book_texts(book, language) for language in LANGUAGES)
    assert list(english) == list(chinese)
    for section, said in english.items():
        assert list(said) == list(chinese[section])
        for key, text in said.items():
            assert _parts(text) == _parts(chinese[section][key]), (section, key)
            assert text.strip()
            assert chinese[section][key].strip()


def test_no_text_is_missing_or_left_over() -> None:
    step = {"title", "do", "question", "answer"}
    wanted = {f"{sheet}_{each.id}": step for sheet, each in STEPS}
    wanted |= {f"refresh_{name}": {"title", "text", "live"} for name in refreshers.CARDS}
    wanted |= {"intro": set(classroom.PARTS), "keys": {"text"}}
    terms = glossary.terms()
    wanted["glossary"] = {*terms, *(term + glossary.MEANING for term in terms)}
    assert {section: set(said) for section, said in texts.book_texts("classroom", "en").items()} == wanted
    asked = {"question", "answer", "live", "source"}
    wanted = {"page": {"title", "text"}, **{question.id: asked for question in interview.QUESTIONS}}
    assert {section: set(said) for section, said in texts.book_texts("interview", "en").items()} == wanted


def _parts(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))
