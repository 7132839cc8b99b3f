"""Everybody can use the pages: axe finds nothing serious, focus is seen, nothing moves unasked, nothing is cut off."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser import reading
from tests.running import TIRED
from ui.selection import STEPS

BAD = {"serious", "critical"}
PICTURES = {"explore": "", "steps": "steps"}
# Everything of a picture, in its shadow root.
EVERYTHING = "[...view.querySelectorAll('*')]"


def violations(page: Page) -> list[str]:
    """What axe-core finds in the page's main area, our pictures included, with the elements it names."""
    found = Axe().run(page, context="[data-testid=stMain]").response["violations"]
    return [
        f"{item['id']} ({item['impact']}): {node['target']} {node['failureSummary']}"
        for item in found
        if item["impact"] in BAD
        for node in item["nodes"]
    ]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit, theme, lang):
    reader = visit.reader(color_scheme=theme, reduced_motion="reduce")
    page = visit(reader=reader, lang=lang, text=TIRED + " zebra", compare=1)
    assert violations(page) == [], "explore with a comparison"
    page.locator(".st-key-explore .answer").nth(7).click()
    expect(page.locator(".st-key-explore .sum-table")).to_be_visible()
    assert violations(page) == [], "explore with the sum behind an answer"
    page.goto(page.url.replace("/?", "/steps?"))
    for step in STEPS:
        page.locator(f".st-key-steps [data-action=tab-{step}]").click()
        expect(reading.view(page, "steps")).to_have_attribute("data-step", step)
        assert violations(page) == [], step


@pytest.mark.parametrize("picture", PICTURES)
def test_what_has_the_keyboard_is_seen(visit, picture):
    page = visit(PICTURES[picture], text=TIRED)
    page.locator(".st-key-text input").focus()
    seen = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        kind, style, width = page.evaluate(
            """() => {
              let node = document.activeElement;
              while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
              const { outlineStyle, outlineWidth } = getComputedStyle(node);
              const ours = node.getRootNode() instanceof ShadowRoot;
              return [ours ? `${node.localName}.${node.className}` : null, outlineStyle, parseFloat(outlineWidth)];
            }"""
        )
        if kind is not None:
            seen.add(kind.split(" ")[0])
            assert (style, width >= 2) == ("solid", True), kind
    wanted = (
        {"button.chip", "span.cell", "button.rank", "button.walk"}
        if picture == "explore"
        else {"button.tab", "div.cell"}
    )
    assert wanted <= seen


MOVING = """view => {
  const all = [view, ...view.querySelectorAll('*')];
  const moves = (value) => value.split(',').some((part) => parseFloat(part) > 0);
  return all.filter((node) => node.getAnimations().length > 0 || moves(getComputedStyle(node).transitionDuration)
    || getComputedStyle(node).animationName !== 'none').map((node) => `${node.localName}.${node.getAttribute('class')}`);
}"""


def moving(page: Page, picture: str) -> set[str]:
    return set(reading.view(page, picture).evaluate(MOVING))


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_moves_for_those_who_asked_for_it(visit, motion):
    page = visit("steps", reader=visit.reader(reduced_motion=motion), text=TIRED, step="score")
    # The step, and what moves in it, in one go: an outlined row flies for some 400 ms.
    flying = reading.view(page, "steps").evaluate(
        f"""view => {{
          view.querySelector('[data-action=next]').click();
          return ({MOVING})(view);
        }}"""
    )
    page.get_by_role("link", name="Explore").click()
    reading.chip(page, 4).click()
    found = moving(page, "explore")
    if motion == "reduce":
        assert (flying, found) == ([], set())
    else:
        assert any("ghost" in name for name in flying)
        assert any("arc" in name for name in found)


# What reaches beyond the picture's right edge, unless it stands in a frame of its own that scrolls or cuts.
BEYOND = """view => {
  const edge = view.getBoundingClientRect().right + 1;
  const framed = (node) => {
    for (let above = node.parentElement; above && above !== view; above = above.parentElement) {
      if (getComputedStyle(above).overflowX !== 'visible') return true;
    }
    return false;
  };
  return [...view.querySelectorAll('*')].filter((n) => n.getBoundingClientRect().right > edge && n.checkVisibility() && !framed(n))
    .map((n) => `${n.localName}.${n.getAttribute('class')} ${n.textContent.slice(0, 40)}`);
}"""

# Neighbours in one line that lie over each other.
OVERLAPPING = """([view, selector]) => {
  const boxes = [...view.querySelectorAll(selector)].filter((n) => n.checkVisibility()).map((n) => [n.textContent, n.getBoundingClientRect()]);
  const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  return boxes.flatMap(([name, a], i) => boxes.slice(i + 1).filter(([, b]) => over(a, b)).map(([other]) => `${name} over ${other}`));
}"""


def fits(page: Page, picture: str) -> None:
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    main = page.locator("[data-testid=stMain]").evaluate("n => [n.scrollWidth, n.clientWidth]")
    assert main[0] <= main[1], "the page scrolls sideways"
    view = reading.view(page, picture)
    assert view.evaluate(BEYOND) == []
    for selector in (".chip", ".tab", ".area", ".stage > b"):
        assert page.evaluate(OVERLAPPING, [view.element_handle(), selector]) == []


@pytest.mark.parametrize(("width", "projector"), [(390, 0), (1400, 0), (1400, 1)])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_is_cut_off_or_laid_over(visit, width, projector, lang):
    reader = visit.reader(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    page = visit(reader=reader, lang=lang, projector=projector, text=TIRED, compare=1)
    fits(page, "explore")
    fits(page, "compare")
    page.goto(page.url.replace("/?", "/steps?"))
    for step in STEPS:
        page.locator(f".st-key-steps [data-action=tab-{step}]").click()
        expect(reading.view(page, "steps")).to_have_attribute("data-step", step)
        fits(page, "steps")


SMALL = """view => [...view.querySelectorAll('*')].filter((node) => node.checkVisibility() && !node.closest('.unseen')
    && [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim() !== '')
    && !['SUB', 'SUP'].includes(node.tagName) && parseFloat(getComputedStyle(node).fontSize) < 19.95)
  .map((node) => `${node.localName}.${node.getAttribute('class')} ${getComputedStyle(node).fontSize} ${node.textContent}`)"""


def test_on_a_projector_no_text_is_small(visit):
    page = visit(projector=1, text=TIRED, compare=1, lang="en")
    for selector in (".statement", ".chip", ".cell.open", ".rank", ".strip-cell"):
        sizes = page.locator(f".st-key-explore {selector}").evaluate_all(
            "n => n.map((x) => parseFloat(getComputedStyle(x).fontSize))"
        )
        assert min(sizes) >= 20, selector
    assert reading.view(page).evaluate(SMALL) == []
    assert reading.view(page, "compare").evaluate(SMALL) == []
    page.goto(page.url.replace("/?", "/steps?"))
    for step in STEPS:
        page.locator(f".st-key-steps [data-action=tab-{step}]").click()
        expect(reading.view(page, "steps")).to_have_attribute("data-step", step)
        assert reading.view(page, "steps").evaluate(SMALL) == []
