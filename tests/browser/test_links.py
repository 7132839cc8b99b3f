"""An address describes the picture, the picture is what its address says, and nothing is lost on the way."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from attention_core.cards import DEFAULT
from tests.browser import reading
from tests.running import TIRED, WIDE, wait_drawn
from ui.translations import words

EXPLORE, STEPS = ".st-key-explore", ".st-key-steps .view"


def copied(page: Page, visits) -> str:
    """What "copy link" puts on the clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=visits.address)
    page.locator(".st-key-link button.copy").click()
    expect(page.locator(".st-key-link .said")).not_to_be_empty()
    return page.evaluate("navigator.clipboard.readText()")


def explored(page: Page) -> dict[str, object]:
    """What a reader sees on Explore."""
    data = "nodes => nodes.map((node) => ({ ...node.dataset }))"
    return {
        "statement": reading.statement(page),
        "sentence": page.locator(".st-key-text input").input_value(),
        "layer": page.locator(".st-key-layer button[aria-checked=true]").inner_text(),
        "kept": page.locator(f"{EXPLORE} .chip[aria-pressed=true]").evaluate_all(data),
        "cell": page.locator(f"{EXPLORE} .cell[aria-selected]").evaluate_all(data),
        "bill": reading.texts(page, f"{EXPLORE} .flow"),
        "language": page.evaluate("document.documentElement.lang"),
        "title": page.locator(f"{EXPLORE} .whole h2").inner_text(),
    }


def test_a_copied_link_shows_the_same_picture_to_somebody_else(visit):
    page = visit(text=TIRED, lang="en")
    reading.press_option(page, "lang", "中文")
    reading.wait_address(page, lang="zh")
    reading.press_option(page, "layer", "0")
    reading.wait_address(page, layer=0)
    reading.cell(page, 9, 4).click()
    reading.wait_address(page, token=9, key=4)
    page.mouse.move(5, 5)
    expect(page.locator(f"{EXPLORE} .bill")).to_have_attribute("aria-busy", "false")
    link = copied(page, visit)
    assert link == page.url
    other = visit.follow(link, locale="en-GB")
    assert explored(other) == explored(page)
    assert explored(other)["cell"] == [{"row": "9", "col": "4"}]
    assert explored(other)["language"] == "zh"
    assert other.url == link


def test_a_copied_link_of_a_comparison_on_a_projector_shows_both(visit):
    page = visit(text=TIRED)
    page.locator(".st-key-is_compared label").click()
    reading.wait_address(page, compare=1)
    page.locator(".st-key-is_projected label").click()
    reading.wait_address(page, projector=1)
    reading.fill(page, "The dog saw it.", "compare", key="second")
    other = visit.follow(copied(page, visit))
    said = ".st-key-compare .said"
    expect(other.locator(said)).to_have_text(page.locator(said).inner_text().replace("\n", ""))
    assert other.locator(".st-key-second input").input_value() == "The dog saw it."
    expect(reading.view(other)).to_have_attribute("data-projector", "true")


def test_a_copied_link_of_a_step_shows_the_same_step_and_cell(visit):
    page = visit("steps", text=WIDE, layer=0)
    page.locator(f"{STEPS} [data-action=tab-softmax]").click()
    page.locator(f"{STEPS} [data-matrix=weights] .cell[data-row='2'][data-col='10']").click()
    reading.wait_address(page, step="softmax", token=2, key=10)
    link = copied(page, visit)
    assert link == page.url
    other = visit.follow(link, "steps")
    expect(other.locator(STEPS)).to_have_attribute("data-step", "softmax")
    chosen = other.locator(f"{STEPS} [data-matrix=weights] .cell.chosen")
    assert [chosen.get_attribute(name) for name in ("data-row", "data-col")] == ["2", "10"]
    assert reading.Numbers(other).all == reading.Numbers(page).all
    assert other.locator(".st-key-text input").input_value() == WIDE


def test_a_long_text_is_left_out_of_the_link_and_the_link_says_so(visit):
    page = visit(lang="en")
    page.locator(".st-key-text input").fill("word " * 2000)
    page.wait_for_function("() => !location.search.includes('text=')")
    assert "text" not in parse_qs(urlsplit(copied(page, visit)).query)
    expect(page.locator(".st-key-link .said")).to_have_text(words("en")("link.too_long"))


@pytest.mark.parametrize("path", ["", "steps"])
def test_a_bad_address_is_answered_with_notes_and_a_picture(visit, path):
    page = visit(path, lang="en", layer=99, model="nope", token="x", step="up")
    notes = page.locator("[data-testid=stAlert]")
    expect(notes).to_have_count(4)
    said = " ".join(notes.all_inner_texts())
    for named in ("layer 99", "model nope", "word x", "step up"):
        assert named in said
    found = reading.wait_address(page, layer=1, model=DEFAULT, token=7, step="project")
    assert found["text"] == TIRED


def described(page: Page, picture: str) -> dict[str, object]:
    """The picture in the words of an address."""
    chosen = f"{EXPLORE} .chip[aria-pressed=true]" if picture == "explore" else f"{STEPS} .lit.tone-q[data-row-label]"
    place = "n => n[0]?.dataset.position ?? n[0]?.dataset.rowLabel ?? 'none'"
    return {
        "text": page.locator(".st-key-text input").input_value(),
        "layer": page.locator(".st-key-layer button[aria-checked=true]").inner_text(),
        "token": page.locator(chosen).evaluate_all(place),
        "lang": page.evaluate("document.documentElement.lang"),
    }


def settle(page: Page, picture: str, **wanted: object) -> None:
    """Wait for the picture and the address of a page, then hold them against each other."""
    page.wait_for_url(lambda url: urlsplit(url).path == ("/" if picture == "explore" else f"/{picture}"))
    wait_drawn(page, picture)
    found = reading.wait_address(page, **wanted)
    assert {name: found[name] for name in ("text", "layer", "token", "lang")} == described(page, picture)


def test_back_and_forward_keep_the_picture_and_its_address_together(visit):
    page = visit(lang="en")
    reading.fill(page, WIDE)
    reading.chip(page, 4).click()
    settle(page, "explore", text=WIDE, token=4, layer=1)
    page.get_by_role("link", name="Step by step").click()
    settle(page, "steps", text=WIDE, token=4, layer=1)
    reading.press_option(page, "layer", "0")
    settle(page, "steps", text=WIDE, token=4, layer=0)
    reading.fill(page, TIRED, "steps")
    settle(page, "steps", text=TIRED, token=4, layer=0)
    page.go_back()
    settle(page, "explore", text=TIRED, token=4, layer=0)
    page.go_forward()
    settle(page, "steps", text=TIRED, token=4, layer=0)
    page.go_back()
    reading.chip(page, 1).click()
    settle(page, "explore", text=TIRED, token=1, layer=0)
    page.go_forward()
    settle(page, "steps", text=TIRED, token=1, layer=0)
    page.reload()
    settle(page, "steps", text=TIRED, token=1, layer=0)


def test_another_language_keeps_everything_else(visit):
    page = visit(text=WIDE, lang="en", layer=0, token=3, key=1, look="answers", compare=1, step="sum")
    before = reading.fields(page)
    picture = explored(page)
    for name, lang in (("中文", "zh"), ("English", "en")):
        reading.press_option(page, "lang", name)
        assert reading.wait_address(page, lang=lang) == {**before, "lang": lang}
        expect(page.locator("html")).to_have_attribute("lang", lang)
        expect(page.locator(f"{EXPLORE} .whole h2")).to_contain_text(words(lang)("explore.heat_title"))
        expect(page.locator("[data-testid=stSidebar]")).to_contain_text(words(lang)("nav.steps"))
    assert explored(page) == picture


@pytest.fixture
def reader(visit, request: pytest.FixtureRequest) -> BrowserContext:
    return visit.reader(locale=request.param)


@pytest.mark.parametrize(("reader", "lang"), [("zh-CN", "zh"), ("de-DE", "en")], indirect=["reader"])
def test_the_browser_chooses_the_language(visit, reader, lang):
    page = visit("steps", reader=reader)
    expect(page.locator("html")).to_have_attribute("lang", lang)
    expect(page.locator(f"{STEPS} [data-action=tab-score]")).to_contain_text(words(lang)("steps.tab_score"))
    assert reading.fields(page)["lang"] == lang
