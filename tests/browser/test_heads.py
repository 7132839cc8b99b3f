"""The Heads page as a reader meets it: every head on one canvas, one enlarged, opened in Explore and come back from."""

from __future__ import annotations

import re

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import attention_core as ac
from tests.browser import reading
from tests.browser.conftest import Visits
from tests.browser.overviews import OVERVIEWS
from tests.running import TIRED, wait_drawn

HEADS = ".st-key-heads"
DISH = "佛祖放下佛经，来找佛跳墙。"


def head(page: Page, layer: int, h: int):
    return page.locator(f"{HEADS} .head[data-layer='{layer}'][data-head='{h}']")


def planted_heads(planted: Visits, name: str, **options: object) -> Page:
    page = planted.reader(**options).new_page()
    page.goto(f"{planted.address}/?picture=heads&head={name}")
    wait_drawn(page, "heads")
    return page


def title(page: Page) -> str:
    return page.locator(f"{HEADS} h2").inner_text()


def shown_measures(page: Page) -> dict[str, tuple[str, str, str]]:
    """By name: figure, exact value, rows."""
    lines = page.locator(f"{HEADS} .measures tr").evaluate_all(
        """lines => lines.map((line) => {
          const [figure, rows] = ['.figure', '.counted'].map((name) => line.querySelector(name));
          return [line.dataset.measure, [figure.textContent, figure.title, rows.textContent]];
        })"""
    )
    return {name: tuple(found) for name, found in lines}


def pixels(page: Page, layer: int, h: int) -> np.ndarray:
    """What the canvas shows of one head: (row, column, RGBA)."""
    found = reading.view(page, "heads").evaluate(
        """(view, [layer, head]) => {
          const canvas = view.querySelector('.heads-frame canvas');
          const place = view.querySelector(`.head[data-layer='${layer}'][data-head='${head}']`).getBoundingClientRect();
          const gap = parseFloat(getComputedStyle(view.querySelector('.heads-frame')).getPropertyValue('--gap'));
          const { left, top } = canvas.getBoundingClientRect();
          const size = [place.width - gap, place.height - gap].map(Math.round);
          const from = [place.left - left, place.top - top].map(Math.round);
          const { data } = canvas.getContext('2d').getImageData(...from, ...size);
          return [size, Array.from(data)];
        }""",
        [layer, h],
    )
    (width, height), data = found
    return np.array(data, dtype=np.uint8).reshape(height, width, 4)


def test_every_head_has_its_place_with_the_models_own_numbers(planted):
    page = planted_heads(planted, "hybrid")
    places = page.locator(f"{HEADS} .head").evaluate_all(
        "places => places.map(({ dataset }) => [Number(dataset.layer), Number(dataset.head)])"
    )
    assert places == [[i, h] for i, n in ((1, 2), (4, 5), (11, 3)) for h in range(n)]
    assert reading.texts(page, f"{HEADS} .side") == ["1", "4", "11"]
    assert reading.texts(page, f"{HEADS} .top") == ["0", "1", "2", "3", "4"]
    expect(page.locator(f"{HEADS} canvas")).to_have_count(2)
    expect(page.locator(f"{HEADS} .hint")).to_contain_text("Layers that are not listed have no attention weights.")
    expect(page.locator(f"{HEADS} .statement")).to_contain_text("both counted from 0")


@pytest.mark.parametrize(("name", "n_heads"), [("one", 1), ("24x16", 384)])
def test_the_smallest_and_a_large_model_are_drawn_whole(planted, name, n_heads):
    page = planted_heads(planted, name)
    expect(page.locator(f"{HEADS} .head")).to_have_count(n_heads)
    last = page.locator(f"{HEADS} .head").last
    last.scroll_into_view_if_needed()
    assert (
        len(np.unique(pixels(page, *map(int, (last.get_attribute("data-layer"), last.get_attribute("data-head")))))) > 1
    )


def test_hovering_enlarges_a_head_with_its_measures_and_sends_nothing(planted):
    page = planted_heads(planted, "grouped")
    sent = len(planted.frames)
    for view in ac.overview(OVERVIEWS["grouped"]()).heads:
        head(page, view.layer, view.head).hover()
        assert title(page) == f"Layer {view.layer} · head {view.head}"
        found = shown_measures(page)
        assert list(found) == list(view.measures)
        for name, mean in view.measures.items():
            figure, exact, rows = found[name]
            assert reading.number(exact) == pytest.approx(mean.value, abs=1e-7)
            written = f"{mean.value:.3f}" if name == "entropy" else f"{100 * mean.value:.1f}%"
            assert figure == written
            assert rows == f"{mean.n_rows} of 11 rows"
        group = f"Reads key/value head {view.kv_head}, as heads {3 * view.kv_head}–{3 * view.kv_head + 2} do."
        expect(page.locator(f"{HEADS} .facts .note")).to_have_text(group)
    page.mouse.move(5, 5)
    assert title(page) == "Layer 0 · head 0", "what is chosen comes back"
    assert len(planted.frames) == sent


def test_masked_zero_and_no_keys_look_different(planted):
    page = planted_heads(planted, "padded")
    image = pixels(page, 0, 1)
    rows, columns = (np.linspace(0, size, 8).astype(int) for size in image.shape[:2])
    masked = image[rows[3] : rows[4], columns[0] : columns[2]]
    blank = image[rows[0] : rows[1], columns[3] : columns[5]]
    weight = image[rows[3] + 3 : rows[4] - 3, columns[3] + 3 : columns[4] - 3]
    assert 0 < (masked[..., 3] > 0).mean() < 0.5, "hatched: lines and what is behind them"
    assert 0 < (blank[..., 3] > 0).mean() < 0.5
    assert (weight[..., 3] == 255).all()
    assert len(np.unique(weight.reshape(-1, 4), axis=0)) == 1

    def leans(patch: np.ndarray, way: int) -> bool:
        lines = patch[..., 3] > 0
        return bool((lines[1:, 1:] == lines[:-1, :-1]).all() if way > 0 else (lines[1:, :-1] == lines[:-1, 1:]).all())

    assert (leans(masked, -1), leans(masked, 1)) == (True, False)
    assert (leans(blank, -1), leans(blank, 1)) == (False, True)
    assert reading.texts(page, f"{HEADS} .hatched > span") == ["may not be seen", "no keys"]


def test_a_weight_has_the_colour_that_it_has_in_explore(visit):
    page = visit("heads", text=TIRED)
    weights = ac.load("pronoun").trace(TIRED).layers[1].weights(0)
    image = pixels(page, 1, 0)
    centres = [((np.arange(12) + 0.5) * size / 12).astype(int) for size in image.shape[:2]]
    drawn = image[np.ix_(*centres)][..., :3].astype(int)
    page.get_by_role("link", name="Explore").click()
    wait_drawn(page)
    colours = page.locator(".st-key-explore .heat-grid .cell").evaluate_all(
        "cells => cells.map((cell) => getComputedStyle(cell).backgroundColor)"
    )
    cells = np.array([[int(part) for part in re.findall(r"\d+", colour)[:3]] for colour in colours]).reshape(12, 12, 3)
    # A level is a 253rd of the root's range: the colours are a shade apart at most.
    assert np.abs(drawn - cells).max() <= 2
    assert np.abs(cells[weights > 0.5] - cells[0, 3]).max() > 100


def test_long_texts_are_made_smaller_and_the_page_says_so(planted):
    page = planted_heads(planted, "12x12")
    said = "Long text: each square is the largest of 2 × 2 weights."
    expect(page.locator(f"{HEADS} .hint")).to_contain_text(said)
    short = planted_heads(planted, "grouped")
    expect(short.locator(f"{HEADS} .hint")).not_to_contain_text("Long text")


def test_rectangles_stay_rectangles(planted):
    page = planted_heads(planted, "cross")
    height, width, _ = pixels(page, 1, 2).shape
    assert height / width == pytest.approx(5 / 7, abs=0.05)
    assert list(shown_measures(page)) == ["entropy", "first"]


def test_everything_goes_by_keyboard(planted):
    page = planted_heads(planted, "hybrid")
    page.locator(f"{HEADS} .mark-choice").last.focus()
    page.keyboard.press("Tab")
    walk = """ArrowRight 1 1, ArrowRight 1 1, ArrowDown 4 1, End 4 4, ArrowDown 11 2, ArrowLeft 11 1, PageUp 1 1,
        Home 1 0, ArrowUp 1 0, PageDown 11 0"""
    assert title(page) == "Layer 1 · head 0"
    for key, layer, h in (step.split() for step in walk.split(",")):
        page.keyboard.press(key)
        assert title(page) == f"Layer {layer} · head {h}", key
        focused = page.locator(f"{HEADS} .head:focus")
        assert focused.get_attribute("aria-label").startswith(f"layer {layer}, head {h}, normalised entropy 0.")
        expect(focused).to_have_css("outline-width", "3px")


def test_a_screen_reader_gets_every_measure_as_a_table(planted):
    page = planted_heads(planted, "hybrid")
    table = page.get_by_role("table", name="The measures of every head")
    expect(table.get_by_role("row")).to_have_count(11)
    rows = table.locator("tbody tr").all_inner_texts()
    for row, view in zip(rows, ac.overview(OVERVIEWS["hybrid"]()).heads, strict=True):
        name, entropy, *masses = row.split("\t")
        assert name == f"layer {view.layer}, head {view.head}"
        assert entropy == f"{view.measures['entropy'].value:.3f}"
        values = [view.measures[each].value for each in ("previous", "self", "next", "first")]
        assert masses == ["–" if value is None else f"{100 * value:.1f}%" for value in values]


def test_a_measure_is_drawn_under_each_head(planted):
    page = planted_heads(planted, "grouped")
    before = pixels(page, 0, 5)
    page.locator(f"{HEADS} [data-mark=sink]").click()
    expect(page.locator(f"{HEADS} [data-mark=sink]")).to_have_attribute("aria-pressed", "true")
    for view in ac.overview(OVERVIEWS["grouped"]()).heads:
        bar = pixels(page, view.layer, view.head)[-4]
        ink = (bar != bar[-1]).any(axis=1).mean()
        assert ink == pytest.approx(view.measures["sink"].value, abs=2 / len(bar))
    page.locator(f"{HEADS} [data-mark=none]").click()
    np.testing.assert_array_equal(pixels(page, 0, 5), before)


def test_a_click_opens_the_head_in_explore_and_back_returns_to_it(visit):
    page = visit("heads", model="two-heads", text=DISH)
    head(page, 0, 1).click()
    wait_drawn(page)
    assert reading.wait_address(page, head=1)["layer"] == "0"
    weights = ac.load("two-heads").trace(DISH).layers[0].weights(1)
    reading.cell(page, 0, 10).hover()
    readout = page.locator(".st-key-explore .readout").inner_text()
    assert reading.number(readout.rsplit(" ")[-1]) == pytest.approx(weights[0, 10], abs=1e-10)
    page.go_back()
    wait_drawn(page, "heads")
    expect(head(page, 0, 1)).to_be_focused()
    assert title(page) == "Layer 0 · head 1"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    wait_drawn(page)
    reading.wait_address(page, head=0)
    page.get_by_role("link", name="▦").click()
    wait_drawn(page, "heads")
    expect(head(page, 0, 0)).to_be_focused()


def test_back_returns_to_the_same_scroll(visit):
    page = visit("heads", reader=visit.reader(viewport={"width": 1400, "height": 420}), text=TIRED)
    main = page.locator("[data-testid=stMain]")
    main.evaluate("node => { node.scrollTop = 170; }")
    page.wait_for_timeout(100)
    at = main.evaluate("node => node.scrollTop")
    assert at > 100
    head(page, 1, 0).click()
    wait_drawn(page)
    page.go_back()
    wait_drawn(page, "heads")
    page.wait_for_timeout(300)
    assert main.evaluate("node => node.scrollTop") == pytest.approx(at, abs=2)


def test_a_tap_does_what_hovering_does_and_a_second_one_opens(visit):
    reader = visit.reader(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = visit("heads", reader=reader, model="two-heads", text=DISH)
    expect(page.locator(f"{HEADS} .hint")).to_contain_text("Tap a head")
    head(page, 0, 1).tap()
    assert title(page) == "Layer 0 · head 1"
    expect(head(page, 0, 1)).to_contain_class("shown")
    head(page, 0, 1).tap()
    wait_drawn(page)
    reading.wait_address(page, head=1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(planted, theme):
    page = planted_heads(planted, "padded", color_scheme=theme)
    expect(reading.view(page, "heads")).to_have_attribute("data-theme", theme)
    found = Axe().run(page, context="[data-testid=stMain]").response["violations"]
    assert [
        (item["id"], item["nodes"][0]["failureSummary"]) for item in found if item["impact"] in {"serious", "critical"}
    ] == []


def test_nothing_is_cut_off_on_a_narrow_screen(planted):
    page = planted_heads(planted, "24x16", viewport={"width": 390, "height": 844})
    wide = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert wide <= 390
    box = page.locator(f"{HEADS} .detail").bounding_box()
    assert box["y"] + box["height"] <= 845, "the enlarged head is in sight while the heads are scrolled"
