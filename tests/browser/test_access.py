"""Everybody can use the pages: axe finds nothing serious, focus is seen, nothing moves unasked, nothing is cut off."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser import reading
from tests.running import TIRED, wait_drawn
from ui.selection import STEPS

BAD = {"serious", "critical"}
PICTURES = {"explore": "", "steps": "steps"}


def to_steps(page: Page) -> None:
    """From Explore to the walk; where the sidebar is folded away, by address."""
    if page.viewport_size["width"] > 700:
        page.get_by_role("link", name="⟶").click()
    else:
        page.goto(page.url.replace("/?", "/steps?"))
    wait_drawn(page, "steps")


def go_to(page: Page, step: str) -> None:
    page.locator(f".st-key-steps [data-action=tab-{step}]").click()
    expect(reading.view(page, "steps")).to_have_attribute("data-step", step)


def violations(page: Page) -> list[str]:
    """What axe-core finds in the page's main area, our pictures included, with the elements it names."""
    found = Axe().run(page, context="[data-testid=stMain]").response["violations"]
    return [
        f"{item['id']} ({item['impact']}): {node['target']} {node['failureSummary']}"
        for item in found
        if item["impact"] in BAD
        for node in item["nodes"]
    ]


def in_theme(page: Page, theme: str, picture: str) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    expect(reading.view(page, picture)).to_have_attribute("data-theme", theme)


# Colours are of a theme, texts of a language: every step in two of the four pairs, one in the others.
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_axe_finds_nothing_serious(visit, lang):
    page = visit(reader=visit.reader(color_scheme="light"), lang=lang, text="The zebra saw it.", compare=1)
    page.locator(".st-key-explore .answer").nth(3).click()
    expect(page.locator(".st-key-explore .sum-table")).to_be_visible()
    for theme in ("light", "dark"):
        in_theme(page, theme, "explore")
        assert violations(page) == [], theme
    to_steps(page)
    full, other = ("light", "dark") if lang == "en" else ("dark", "light")
    for theme, steps in ((full, STEPS), (other, STEPS[2:3])):
        in_theme(page, theme, "steps")
        for step in steps:
            go_to(page, step)
            assert violations(page) == [], (theme, step)


KINDS = {"explore": {"button.chip", "span.cell", "button.rank", "button.walk"}, "steps": {"button.tab", "div.cell"}}


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
    assert seen >= KINDS[picture]


MOVING = """view => {
  const moves = (node) => node.getAnimations().length > 0 || getComputedStyle(node).animationName !== 'none'
    || getComputedStyle(node).transitionDuration.split(',').some((part) => parseFloat(part) > 0);
  return [view, ...view.querySelectorAll('*')].filter(moves)
    .map((node) => `${node.localName}.${node.getAttribute('class')}`);
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


# What reaches beyond the picture's right edge (but for a frame's rim of 3 px), unless it stands in a frame of its own.
BEYOND = """view => {
  const edge = view.getBoundingClientRect().right + 4;
  const framed = (node) => {
    for (let above = node.parentElement; above && above !== view; above = above.parentElement) {
      if (getComputedStyle(above).overflowX !== 'visible') return true;
    }
    return false;
  };
  const beyond = (node) => node.getBoundingClientRect().right > edge && node.checkVisibility() && !framed(node);
  return [...view.querySelectorAll('*')].filter(beyond)
    .map((node) => `${node.localName}.${node.getAttribute('class')} ${node.textContent.slice(0, 40)}`);
}"""

# Neighbours that lie over each other.
OVERLAPPING = """(view, selector) => {
  const nodes = [...view.querySelectorAll(selector)].filter((node) => node.checkVisibility());
  const boxes = nodes.map((node) => [node.textContent.slice(0, 40), node.getBoundingClientRect()]);
  const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  return boxes.flatMap(([name, box], i) =>
    boxes.slice(i + 1).filter(([, other]) => over(box, other)).map(([other]) => `${name} over ${other}`));
}"""


def fits(page: Page, picture: str) -> None:
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    main = page.locator("[data-testid=stMain]").evaluate("n => [n.scrollWidth, n.clientWidth]")
    assert main[0] <= main[1], "the page scrolls sideways"
    view = reading.view(page, picture)
    assert view.evaluate(BEYOND) == []
    for selector in (".chip", ".tab", ".area", ".stage > b"):
        assert view.evaluate(OVERLAPPING, selector) == []


@pytest.mark.parametrize(
    ("width", "projector", "lang"),
    [(390, 0, "en"), (390, 0, "zh"), (1400, 0, "en"), (1400, 0, "zh"), (1400, 1, "en"), (1400, 1, "zh")],
)
def test_nothing_is_cut_off_or_laid_over(visit, width, projector, lang):
    reader = visit.reader(viewport={"width": width, "height": 900})
    page = visit(reader=reader, lang=lang, projector=projector, text=TIRED, compare=1)
    fits(page, "explore")
    fits(page, "compare")
    to_steps(page)
    for step in STEPS:
        go_to(page, step)
        fits(page, "steps")


SMALL = """view => {
  const written = (node) => [...node.childNodes].some(
    (child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim() !== '');
  const size = (node) => parseFloat(getComputedStyle(node).fontSize);
  const small = (node) => written(node) && node.checkVisibility() && size(node) < 19.95
    && !node.closest('.unseen, sub, sup, .place');
  return [...new Set([...view.querySelectorAll('*')].filter(small)
    .map((node) => `${node.localName}.${node.getAttribute('class')} ${size(node)}`))];
}"""


def test_on_a_projector_no_text_is_small(visit):
    page = visit(projector=1, text=TIRED, compare=1, lang="en")
    for selector in (".statement", ".chip", ".cell.open", ".rank", ".strip-cell"):
        sizes = page.locator(f".st-key-explore {selector}").evaluate_all(
            "nodes => nodes.map((node) => parseFloat(getComputedStyle(node).fontSize))"
        )
        assert min(sizes) >= 20, selector
    assert reading.view(page).evaluate(SMALL) == []
    assert reading.view(page, "compare").evaluate(SMALL) == []
    to_steps(page)
    for step in STEPS:
        go_to(page, step)
        assert reading.view(page, "steps").evaluate(SMALL) == []
