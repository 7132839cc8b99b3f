"""For the classroom: answers wait for the teacher, hands are counted, a camera reads the code, handouts print alone."""

from __future__ import annotations

import io
import re

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.scenes import HALL, PHONE, SMALL, focus, opened, tab_to, tap, wait_for_focus
from tests.browser.test_access import violations
from tests.running import wait_drawn
from ui import classroom, interview
from ui.classroom_plan import LECTURE
from ui.scenes import books, texts
from ui.translations import words

FRAME = (
    '[data-testid="stSidebar"]',
    '[data-testid="stHeader"]',
    '[data-testid="stToolbar"]',
    '[data-testid="stStatusWidget"]',
    "button",
    "input",
    "a",
    ".st-key-link .view",
)


def press(page: Page, name: str, key: str = "Enter") -> None:
    """Tab to a button and press it."""
    tab_to(page, name)
    page.keyboard.press(key)


def test_an_answer_waits_for_the_teacher(visit):
    page = opened(visit, "classroom", reader={"viewport": HALL}, lang="en", sheet="lecture", projector=1)
    expect(page.locator(".st-key-step_lecture_open")).to_be_visible()
    answers = page.locator("[data-testid=stAlert]")
    expect(page.locator("[class*=st-key-reveal_lecture_]")).to_have_count(len(LECTURE))
    expect(answers).to_have_count(0)
    first = LECTURE[0]
    press(page, f"reveal_lecture_{first.id}")
    expect(answers).to_have_count(1)
    said = texts.of_scene("classroom", f"lecture_{first.id}", "en")("answer")
    expect(page.locator(f".st-key-step_lecture_{first.id}")).to_contain_text(re.sub(r"[*`]", "", said)[:60])
    assert f"reveal_lecture_{first.id}" in focus(page)["names"]
    page.keyboard.press("Space")
    expect(answers).to_have_count(0)


def test_hands_are_counted_with_keys_and_fingers(visit):
    page = opened(visit, "classroom", reader={"viewport": PHONE, "has_touch": True}, lang="en", sheet="hands")
    expect(page.locator(".hands")).to_have_count(4)
    for key, count in [("2", "0100"), ("2", "0200"), ("1", "1200"), ("4", "1201"), ("Shift+4", "1200")]:
        page.keyboard.press(key)
        hands(page, count)
    tap(page, "hands_C_more")
    hands(page, "1210")
    widths = page.locator(".hands-bar").evaluate_all("bars => bars.map((bar) => bar.getBoundingClientRect().width)")
    assert [round(width / max(widths), 2) for width in widths] == [0.5, 1, 0.5, 0]
    tap(page, "hands_reset")
    hands(page, "0000")


def hands(page: Page, count: str) -> None:
    expect(page.locator(".hands-label b")).to_have_text(list(count))


def test_counting_hands_on_a_question_keeps_the_keyboard(visit):
    page = opened(visit, "classroom", reader={"viewport": HALL}, lang="zh", sheet="lecture")
    lesson = next(step for step in LECTURE if step.page == "lessons")
    press(page, f"count_lecture_{lesson.id}")
    expect(page.get_by_text(texts.of_scene("lessons", lesson.scene, "zh")("predict"))).to_be_visible()
    wait_for_focus(page, "classroom_part")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_camera_reads_the_code(visit, theme):
    """What is on the screen, read by a decoder that has nothing to do with what drew it."""
    reader = {"viewport": PHONE if theme == "light" else HALL, "color_scheme": theme}
    page = opened(visit, "classroom", reader=reader, lang="zh", sheet="code")
    base = page.locator(".st-key-code_base input")
    base.fill("http://10.0.0.7:8501")
    base.press("Enter")
    expect(page.locator("code")).to_contain_text("http://10.0.0.7:8501/")
    page.wait_for_function("document.querySelector('img.qr').complete")
    link = page.locator("code").inner_text().replace("\n", "")
    (found,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(page.locator("img.qr").screenshot())))
    assert found.format == zxingcpp.BarcodeFormat.QRCode
    assert found.text == link


def test_a_handout_prints_alone_and_whole(visit):
    page = opened(visit, "classroom", reader={"color_scheme": "dark"}, lang="en", handout="dish")
    expect(page.locator("[class*=st-key-handout_dish_]")).to_have_count(len(books.scenes("dish")))
    expect(page.locator(".st-key-handout_tools")).to_be_visible()
    page.emulate_media(media="print", color_scheme="dark")
    for selector in FRAME:
        assert [node.inner_text() for node in page.locator(selector).all() if node.is_visible()] == [], selector
    title = page.locator(".st-key-handout_dish_cooking h3")
    expect(title).to_have_css("color", "rgb(0, 0, 0)")
    # Nothing of the page is left in a window that paper cannot scroll.
    printed = page.pdf()
    sheets = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert sheets >= len(books.scenes("dish")) / 4
    assert len(printed) < 4e6, "stripes and shadows that print as a hundred megabytes"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pictures_of_a_handout_are_drawn_for_paper(visit, theme):
    page = opened(visit, "classroom", reader={"color_scheme": theme}, lang="en", handout="lessons", only="all_ask")
    view = page.locator("[class*=st-key-scene_lessons_all_ask] .view")
    expect(view.locator(".matrix td, .matrix .cell").first).to_be_visible()
    expect(view).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(view).to_have_css("color", "rgb(0, 0, 0)")
    assert len(page.pdf()) < 1e6


def test_an_interview_answer_is_opened_by_the_keyboard(visit):
    page = opened(visit, "interview", reader={"viewport": PHONE}, lang="zh")
    question = interview.QUESTIONS[1]
    box = page.locator(f".st-key-question_{question.id}")
    expect(box).to_be_visible()
    said = texts.of_scene("interview", question.id, "zh")
    live = re.sub(r"[*`]", "", said("live", **question.said(question.compute())))
    expect(box).not_to_contain_text(live)
    press(page, f"reveal_interview_{question.id}")
    expect(box).to_contain_text(live)
    assert f"reveal_interview_{question.id}" in focus(page)["names"]


@pytest.mark.parametrize(("size", "lang", "theme"), [(PHONE, "zh", "light"), (HALL, "en", "dark")])
def test_axe_finds_nothing_serious_and_nothing_is_cut_off(visit, size, lang, theme):
    is_hall, said = size == HALL, words(lang)
    fields = {"lang": lang, "projector": int(is_hall)}
    reader = {"viewport": size, "color_scheme": theme}
    page = opened(visit, "classroom", reader=reader, **fields)
    for part in classroom.PARTS[is_hall::2]:
        page.locator(".st-key-classroom_part").get_by_text(said(f"classroom.part_{part}"), exact=True).click()
        page.wait_for_url(lambda url, part=part: f"sheet={part}" in url)
        sound(page, part, is_hall)
    sound(opened(visit, "interview", reader=reader, **fields), "interview", is_hall)


def sound(page: Page, part: str, is_hall: bool) -> None:
    wait_drawn(page, "link")
    expect(page.locator("[data-testid=stMain] h2").first).to_be_visible()
    assert violations(page) == [], part
    assert page.locator("[data-testid=stMain]").evaluate("node => node.scrollWidth - node.clientWidth") == 0, part
    if is_hall:
        assert page.evaluate(SMALL) == [], part
