"""Stories and lessons are read with the keyboard alone and with a finger, on a phone and in a lecture hall."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.scenes import (
    HALL,
    PHONE,
    SMALL,
    at,
    crowded,
    focus,
    ids,
    move,
    opened,
    shown,
    tab_to,
    tap,
    turned,
    wait_for_focus,
)
from tests.browser.test_access import violations
from ui.scenes import books

STORIES = ("dish", "it")
CONTROLLED = {(book, scene.id): bool(scene.controls) for book in STORIES for scene in books.scenes(book)}


# Colours are of a theme, texts of a language: axe looks at every scene once, in each of the two by turns.
@pytest.mark.parametrize(
    ("book", "size", "lang", "theme"),
    [
        ("dish", PHONE, "zh", "dark"),
        ("dish", HALL, "en", "light"),
        ("it", PHONE, "en", "light"),
        ("it", HALL, "zh", "dark"),
    ],
)
def test_a_story_is_read_with_the_keyboard_alone(visit, book, size, lang, theme):
    is_hall = size == HALL
    reader = {"viewport": size, "color_scheme": theme}
    page = opened(visit, book, picture="scene", reader=reader, lang=lang, projector=int(is_hall))
    *_, before, last = ids(book)
    for number, scene in enumerate(ids(book)):
        if number:
            turned(page, scene)
            wait_for_focus(page, "turning")
        if number % 2 == is_hall:
            assert violations(page) == [], scene
        if is_hall:
            assert page.evaluate(SMALL) == [], scene
        assert crowded(page) == [], scene
        if CONTROLLED[book, scene]:
            move(page, tab_to(page, "scene_controls"))
        if scene != last:
            page.keyboard.press("PageDown")
    page.keyboard.press("PageUp")
    turned(page, before)


def test_what_turns_the_scenes_keeps_the_keyboard(visit):
    """Enter on Next, again and again; at the end, where there is no next, Back has the keyboard."""
    page = opened(visit, "it", picture="scene", reader={"viewport": PHONE}, lang="en")
    tab_to(page, "turn_PageDown")
    *_, last = ids("it")
    main = page.locator("[data-testid=stMain]")
    for scene in ids("it")[1:]:
        assert "turn_PageDown" in focus(page)["names"]
        main.evaluate("node => node.scrollTo({ top: node.scrollHeight })")  # Read to the end.
        page.keyboard.press("Enter")
        turned(page, scene)
    assert at(page) == last
    wait_for_focus(page, "turn_PageUp")


@pytest.mark.parametrize("book", STORIES)
def test_a_story_is_read_with_a_finger(visit, book):
    page = opened(visit, book, picture="scene", reader={"viewport": PHONE, "has_touch": True}, lang="zh")
    for scene in ids(book)[1:]:
        tap(page, "turn_PageDown")
        turned(page, scene)
    expect(page.locator(".st-key-turn_PageDown button")).to_be_disabled()
    tap(page, "turn_PageUp")
    turned(page, ids(book)[-2])


def test_a_slider_is_dragged_with_a_finger(visit):
    page = opened(
        visit, "dish", picture="scene", reader={"viewport": PHONE, "has_touch": True}, lang="en", scene="adding"
    )
    thumb = page.locator(".st-key-dish-adding-k [data-testid=stSliderThumbValue]").locator("xpath=..")
    thumb.scroll_into_view_if_needed()
    box = thumb.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    finger = page.context.new_cdp_session(page)
    for kind, dx in [("touchStart", 0), *(("touchMove", step) for step in range(10, 101, 10))]:
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x + dx, "y": y}]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_url(lambda url: "&k=5" in url)
    shown(page)


def test_lessons_are_predicted_seen_and_left_with_the_keyboard_alone(visit):
    page = opened(visit, "lessons", reader={"viewport": PHONE, "color_scheme": "light"}, lang="en")
    for number, lesson in enumerate(books.scenes("lessons")):
        if number:
            turned(page, lesson.id)
        wait_for_options(page, lesson.options)
        expect(page.locator(".st-key-scene")).to_have_count(0)
        wanted = "predict_skip" if number % 3 == 2 else f"predict_{lesson.options[-1]}"
        tab_to(page, wanted)
        page.keyboard.press("Enter")
        shown(page)
        # What was pressed keeps the keyboard; where it is gone, its neighbour gets it.
        wait_for_focus(page, wanted if number % 3 != 2 else f"predict_{lesson.options[0]}")
        assert crowded(page) == [], lesson.id
        assert violations(page) == [], lesson.id
        page.keyboard.press("PageDown")
    assert at(page) == ids("lessons")[-1]
    expect(page.locator(".st-key-progress")).to_contain_text(f"{len(ids('lessons'))} of {len(ids('lessons'))}")


def wait_for_options(page: Page, options: tuple[str, ...]) -> None:
    for option in options:
        expect(page.locator(f".st-key-predict_{option} button")).to_be_visible()


# How the element that has the keyboard and what encloses it are outlined; how the one before looks without it.
MARKS = """before => {
  const looks = (node) => {
    const found = [];
    for (let at = node; at && found.length < 7; at = at.parentElement ?? at.getRootNode().host) {
      const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor } = getComputedStyle(at);
      found.push(outlineStyle === 'none' ? '' : outlineWidth, boxShadow);
    }
    return found.join(' | ');
  };
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  const had = window.had;
  window.had = node;
  return {
    now: had ? window.looked : '', before: had ? looks(had) : null,
    name: had ? `${had.localName} ${had.getAttribute('aria-label') ?? had.textContent.slice(0, 40)}` : '',
    had: (window.looked = looks(node)),
  };
}"""


@pytest.mark.parametrize(("size", "lang"), [(PHONE, "zh"), (HALL, "en")])
def test_what_has_the_keyboard_is_seen(visit, size, lang):
    page = opened(
        visit,
        "dish",
        picture="scene",
        reader={"viewport": size},
        lang=lang,
        scene="adding",
        projector=int(size == HALL),
    )
    unmarked, previous = [], None
    for _ in range(32):
        page.keyboard.press("Tab")
        marks = page.evaluate(MARKS, previous)
        if previous is not None and marks["now"] == marks["before"]:
            unmarked.append(marks["name"])
        previous = marks["had"]
    assert [name for name in unmarked if not name.startswith(("main ", "body "))] == []  # The page as a whole.
