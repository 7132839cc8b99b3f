"""What if in a browser: words, cells and rows are pressed, dragged and reached by keyboard; nothing is cut off."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import attention_core as ac
from tests.browser import reading
from tests.browser.test_access import BEYOND, SMALL, in_theme, violations
from tests.running import TIRED
from ui.edit_texts import write

IT, ANIMAL, STREET = 7, 1, 5
SIDES = ("before", "after", "difference")


@pytest.fixture
def page(visit) -> Page:
    return visit("whatif", text=TIRED, lang="en")


def at(page: Page, selector: str) -> Locator:
    return page.locator(f".st-key-whatif {selector}")


def chip(page: Page, token: int) -> Locator:
    return at(page, f".fed-chip[data-position='{token}']")


def cell(page: Page, side: str, i: int, j: int) -> Locator:
    return at(page, f".map:nth-child({SIDES.index(side) + 1}) .cell[data-row='{i}'][data-col='{j}']")


def weights(edits: ac.Edits) -> np.ndarray:
    """Rows and columns by the words of the text."""
    places = [edits.place(token) for token in range(12)]
    return ac.load("pronoun").trace(TIRED, edits=edits).layers[1].weights(0)[np.ix_(places, places)]


def assert_shows(page: Page, edits: ac.Edits) -> None:
    """The link and every cell of the three pictures say so."""
    reading.wait_address(page, edits=write(edits) or None)
    before, after = weights(ac.Edits()), weights(edits)
    for side, wanted in zip(SIDES, (before, after, after - before), strict=True):
        cells = at(page, f".map:nth-child({SIDES.index(side) + 1}) .cell:is(.open, .masked)")
        found = cells.evaluate_all("nodes => nodes.map((n) => [n.dataset.row, n.dataset.col, n.textContent])")
        assert len(found) == 144
        for i, j, text in found:
            value = wanted[int(i), int(j)]
            if text in {"·", "✂"}:
                assert value == 0
            else:
                assert abs(reading.number(text or "0") - 100 * value) <= 0.5 + 1e-9


def test_a_word_is_silenced_and_heard_again(page):
    with reading.redrawn(page, "whatif"):
        chip(page, ANIMAL).click()
    edits = ac.Edits(silenced={ANIMAL})
    assert_shows(page, edits)
    expect(chip(page, ANIMAL)).to_have_attribute("aria-pressed", "true")
    share = weights(edits)[IT, ANIMAL]
    assert share == 0
    expect(at(page, ".verdict")).to_contain_text("“it” now gives “animal” 0.0% of its attention instead of 98.1%.")
    with reading.redrawn(page, "whatif"):
        chip(page, ANIMAL).click()
    assert_shows(page, ac.Edits())


def test_an_edge_is_cut_in_any_of_the_pictures_and_mended(page):
    edits = ac.Edits()
    for side, j in zip(SIDES, (ANIMAL, STREET, 10), strict=True):
        with reading.redrawn(page, "whatif"):
            cell(page, side, IT, j).click()
        edits = replace(edits, cut=edits.cut | {(1, 0, IT, j)})
        expect(cell(page, "after", IT, j)).to_have_text("✂")
        expect(cell(page, "after", IT, j)).to_have_attribute("aria-label", "cut")
    assert_shows(page, edits)
    with reading.redrawn(page, "whatif"):
        cell(page, "after", IT, STREET).click()
    assert_shows(page, ac.Edits(cut={(1, 0, IT, ANIMAL), (1, 0, IT, 10)}))
    # The list of changes takes the others back.
    with reading.redrawn(page, "whatif"):
        at(page, f".change[data-piece='c1-0-{IT}-{ANIMAL}']").click()
    assert_shows(page, ac.Edits(cut={(1, 0, IT, 10)}))


def test_a_cell_that_is_masked_anyway_cannot_be_cut(page):
    with reading.redrawn(page, "whatif"):
        page.locator(".st-key-whatif_causal label").click()
    page.wait_for_timeout(200)
    sent = page.evaluate("window.sent")
    cell(page, "after", 0, 5).click()
    page.wait_for_timeout(200)
    assert page.evaluate("window.sent") == sent
    assert_shows(page, ac.Edits(causal=True))


def test_by_keyboard_alone(page):
    page.locator(".st-key-text input").focus()
    reading.tab_to(page, r"fed-chip.* 0$")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert reading.held(page).endswith(" 3")
    with reading.redrawn(page, "whatif"):
        page.keyboard.press("Shift+ArrowRight")
    order = (0, 1, 2, 4, 3, *range(5, 12))
    assert_shows(page, ac.Edits(order=order))
    assert reading.held(page).endswith(" 3")  # The keyboard stays with the word.
    with reading.redrawn(page, "whatif"):
        page.keyboard.press("Enter")
    reading.tab_to(page, r"cell open")
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    with reading.redrawn(page, "whatif"):
        page.keyboard.press("Enter")
    assert_shows(page, ac.Edits(order=order, silenced={3}, cut={(1, 0, 2, 0)}))
    assert reading.held(page).endswith(" 2,0")
    reading.tab_to(page, r"follow 0$")
    with reading.redrawn(page, "whatif"):
        page.keyboard.press("Enter")
    reading.wait_address(page, token=0)
    assert reading.held(page) == "button follow 0"
    expect(at(page, ".row-label.lit").first).to_have_text("The")
    with reading.redrawn(page, "whatif"):
        page.locator(".st-key-whatif_reset button").focus()
        page.keyboard.press("Enter")
    assert_shows(page, ac.Edits())


@pytest.mark.parametrize("is_touch", [False, True])
def test_a_word_is_dragged(visit, is_touch):
    page = visit("whatif", text=TIRED, lang="en", reader=visit.reader(has_touch=is_touch))
    first, last = (chip(page, token).bounding_box() for token in (ANIMAL, IT))
    with reading.redrawn(page, "whatif"):
        if is_touch:
            drag_by_finger(page, first, last)
        else:
            page.mouse.move(first["x"] + 30, first["y"] + 10)
            page.mouse.down()
            page.mouse.move(last["x"] + 10, last["y"] + 10, steps=12)
            page.mouse.up()
    order = (0, *range(2, 8), 1, *range(8, 12))
    assert_shows(page, ac.Edits(order=order))
    expect(chip(page, ANIMAL)).to_have_attribute("aria-pressed", "false")  # Dragged is not pressed.
    expect(at(page, ".matched")).to_be_visible()
    assert re.search("o0-2-3-4-5-6-7-1-8", page.url)


def drag_by_finger(page: Page, start: dict, end: dict) -> None:
    client = page.context.new_cdp_session(page)

    def touch(kind: str, x: float, y: float) -> None:
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    x, y = start["x"] + 12, start["y"] + start["height"] / 2
    touch("touchStart", x, y)
    for step in range(1, 13):
        touch("touchMove", x + (end["x"] + 10 - x) * step / 12, y + (end["y"] + 10 - y) * step / 12)
    touch("touchEnd", 0, 0)


def test_a_row_is_followed_by_its_name(page):
    with reading.redrawn(page, "whatif"):
        at(page, ".map:nth-child(3) .heat-row[data-row='2'] .row-label").click()
    reading.wait_address(page, token=2)
    expect(at(page, ".rows .follow[aria-pressed='true']")).to_have_text("didn't")


def test_looking_sends_nothing(page):
    page.wait_for_timeout(300)
    sent = page.evaluate("window.sent")
    exact = weights(ac.Edits())[3, 4]
    cell(page, "before", 3, 4).hover()
    readout = at(page, ".map:nth-child(1) .readout")
    expect(readout).to_contain_text("cross → the")
    assert reading.number(readout.inner_text().split()[-1]) == pytest.approx(exact, rel=1e-11)
    expect(at(page, ".map:nth-child(3) .row-label.lit")).to_have_text("cross")  # In all three pictures.
    assert page.evaluate("window.sent") == sent


def test_a_link_in_a_fresh_browser_is_the_same_picture(visit, page):
    with reading.redrawn(page, "whatif"):
        page.locator(".st-key-whatif_positions label").click()
    with reading.redrawn(page, "whatif"):
        chip(page, STREET).click()
    reading.wait_address(page, edits=f"nopos~s{STREET}")
    other = visit.follow(page.url, "whatif")
    assert reading.revision(other, "whatif") == reading.revision(page, "whatif")


EDITED = {"edits": f"causal~t2~s10~c1-0-{IT}-{ANIMAL}~o7-11-0-8-5-6-3-10-4-1-9-2"}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_axe_finds_nothing_serious(visit, lang):
    page = visit("whatif", reader=visit.reader(color_scheme="light"), lang=lang, text="The zebra saw it.")
    assert violations(page) == []
    page = visit("whatif", reader=visit.reader(color_scheme="light"), lang=lang, text=TIRED, **EDITED)
    for theme in ("light", "dark"):
        in_theme(page, theme, "whatif")
        assert violations(page) == [], theme


@pytest.mark.parametrize(
    ("width", "projector", "lang"), [(390, 0, "en"), (390, 0, "zh"), (1400, 0, "zh"), (1400, 1, "en"), (1400, 1, "zh")]
)
def test_nothing_is_cut_off(visit, width, projector, lang):
    reader = visit.reader(viewport={"width": width, "height": 900})
    page = visit("whatif", reader=reader, lang=lang, projector=projector, text=TIRED, **EDITED)
    main = page.locator("[data-testid=stMain]").evaluate("n => [n.scrollWidth, n.clientWidth]")
    assert main[0] <= main[1], "the page scrolls sideways"
    assert reading.view(page, "whatif").evaluate(BEYOND) == []
    if projector:
        assert reading.view(page, "whatif").evaluate(SMALL) == []
    tops = [at(page, f".map:nth-child({i})").bounding_box()["y"] for i in (1, 2, 3)]
    is_beside = len(set(tops)) == 1
    assert is_beside == (width == 1400 and not projector)


LONG = " ".join([f"The animal {i} didn't cross the street because it was too tired." for i in range(8)])


@pytest.fixture(scope="module")
def minilm() -> object:
    return ac.load("minilm")


def on_canvas(page: Page, side: str, i: int, j: int, n: int) -> dict[str, float]:
    """Where a cell of a painted head is, within its picture."""
    box = at(page, f".map:nth-child({SIDES.index(side) + 1}) .paper").bounding_box()
    return {"x": (j + 0.5) * box["width"] / n, "y": (i + 0.5) * box["height"] / n}


def pixel(page: Page, side: str, i: int, j: int, n: int) -> list[int]:
    place = on_canvas(page, side, i, j, n)
    return at(page, f".map:nth-child({SIDES.index(side) + 1}) canvas").evaluate(
        """(canvas, { x, y }) => {
            const dense = Math.max(devicePixelRatio, 1);
            return [...canvas.getContext("2d").getImageData(x * dense, y * dense, 1, 1).data];
        }""",
        place,
    )


def test_a_long_text_through_a_real_model_is_painted_and_cut(visit, minilm):
    before = minilm.trace(LONG)
    n = len(before.tokens)
    weights = before.layers[3].weights(1)
    i, j = divmod(int(np.where(np.eye(n, dtype=bool), 0, weights)[:, 1:].argmax()), n - 1)
    j += 1
    edits = ac.Edits(cut={(3, 1, i, j)}, silenced={4})
    after = minilm.trace(LONG, edits=edits).layers[3].weights(1)
    page = visit("whatif", model="minilm", layer=3, head=1, text=LONG, lang="en", edits="s4")
    open_pixel = pixel(page, "after", i, j, n)
    with reading.redrawn(page, "whatif"):
        at(page, ".map:nth-child(1) .paper").click(position=on_canvas(page, "before", i, j, n))
    reading.wait_address(page, edits=write(edits))
    assert pixel(page, "after", i, j, n) != open_pixel
    expect(at(page, ".severed-edge")).to_have_count(1)
    for side, wanted in (("before", weights[i, j]), ("difference", after[i, j] - weights[i, j])):
        at(page, f".map:nth-child({SIDES.index(side) + 1}) .paper").hover(position=on_canvas(page, side, i, j, n))
        readout = at(page, f".map:nth-child({SIDES.index(side) + 1}) .readout")
        expect(readout).to_contain_text(re.compile(r"\d"))
        assert reading.number(readout.inner_text().split()[-1]) == pytest.approx(wanted, abs=1e-6)
    # What was lost is purple, what was gained is orange: red and blue tell them apart.
    gained = int(np.argmax(after[i] - weights[i]))
    lost, more = (pixel(page, "difference", i, k, n) for k in (j, gained))
    assert lost[2] > lost[0]
    assert more[0] > more[2]
    expect(at(page, ".check.passed")).to_contain_text("what the model computed")
