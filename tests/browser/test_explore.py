"""Explore as a reader meets it: who looks at whom, said in arcs, words and numbers that are Python's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import attention_core as ac
from tests.browser import reading
from tests.browser.conftest import Visits
from tests.running import PATIENCE, TIRED, WIDE

IT, ANIMAL, STREET = 7, 1, 5
LAYER, HEAD = ac.load("pronoun").card.reading_head
EXPLORE = ".st-key-explore"


@pytest.fixture(scope="module")
def head() -> ac.HeadSteps:
    return ac.load("pronoun").trace(TIRED).layers[LAYER].head(HEAD)


@pytest.fixture(scope="module")
def first_page(browser: Browser, app_address: str) -> Iterator[Page]:
    """The page as it opens by itself, for the tests that only read it."""
    visits = Visits(browser, app_address)
    yield visits()
    visits.close()


def arcs(page: Page) -> dict[tuple[int, int], float]:
    """Thickness of every arc, by (query, key)."""
    drawn = page.locator(f"{EXPLORE} path.arc").evaluate_all(
        "nodes => nodes.map((n) => [n.dataset.query, n.dataset.key, n.getAttribute('stroke-width')])"
    )
    return {(int(query), int(key)): float(width) for query, key, width in drawn}


def expect_it_looks_at(page: Page, noun: str, key: int, other: int) -> None:
    """Statement, arcs, labels and ranking all say that "it" gives most of its attention to the noun."""
    said = re.compile(rf"^it gives {noun} \d+\.\d% of its attention\.$")
    expect(page.locator(f"{EXPLORE} .said")).to_have_text(said, timeout=PATIENCE)
    (share,) = re.findall(r"(\d+\.\d)%", reading.statement(page))
    assert float(share) >= 70
    expect(reading.chip(page, IT)).to_have_attribute("aria-pressed", "true")
    drawn = arcs(page)
    assert max(drawn, key=drawn.get) == (IT, key)
    assert f"{share}%" in reading.texts(page, f"{EXPLORE} .arc-label.strong")
    weight = page.locator(f"{EXPLORE} path.arc[data-query='{IT}'][data-key='{other}']").get_attribute("data-weight")
    assert float(weight) <= 0.15


def test_it_is_the_animal_when_tired(first_page):
    expect_it_looks_at(first_page, "animal", ANIMAL, STREET)
    assert reading.answer_words(first_page)[IT] == "animal"


def test_typing_wide_key_by_key_moves_it_to_the_street(visit):
    page = visit(text=TIRED)
    reading.type_instead(page, "tired", "wide")
    expect_it_looks_at(page, "street", STREET, ANIMAL)
    assert page.locator(".st-key-text input").input_value() == WIDE
    reading.type_instead(page, "wide", "tired")
    expect_it_looks_at(page, "animal", ANIMAL, STREET)


def test_the_example_button_moves_it_too(visit):
    page = visit()
    reading.press_option(page, "example", "… too wide")
    expect_it_looks_at(page, "street", STREET, ANIMAL)
    expect(page.locator(".st-key-text input")).to_have_value(WIDE)


def test_the_other_direction_shows_who_looks_at_a_word(visit, head):
    page = visit(token=ANIMAL)
    reading.press_option(page, "look", "who looks at it")
    asker = int(head.weights[:, ANIMAL].argmax())
    share = f"{100 * head.weights[asker, ANIMAL]:.1f}%"
    word = ac.load("pronoun").trace(TIRED).tokens[asker].text
    said = f"animal is looked at most by {word}, which spends {share} of its attention here."
    expect(page.locator(f"{EXPLORE} .said")).to_have_text(said)
    assert {key for _, key in arcs(page)} == {ANIMAL}
    assert reading.wait_address(page, look="answers")["token"] == str(ANIMAL)


def test_ranking_shows_the_strongest_weights_of_the_row(first_page, head):
    page = first_page
    order = np.argsort(-head.weights[IT], kind="stable")[:5]
    shown = reading.texts(page, f"{EXPLORE} .rank-figure")
    assert shown == [f"{100 * head.weights[IT, j]:.2f}%" for j in order]
    exact = [reading.number(title) for title in reading.titles(page, f"{EXPLORE} .rank")]
    np.testing.assert_allclose(exact, head.weights[IT, order], rtol=0, atol=1e-10)
    rest = 1 - head.weights[IT, order].sum()
    expect(page.locator(f"{EXPLORE} .rest")).to_have_text(f"the other 7 words together {100 * rest:.2f}%")


def test_every_cell_reads_out_its_exact_weight_and_both_words(first_page, head):
    page = first_page
    read = reading.view(page).evaluate(
        """view => [...view.querySelectorAll('.heat-grid .cell')].map((cell) => {
          cell.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }));
          return [cell.dataset.row, cell.dataset.col, view.querySelector('.readout').textContent];
        }).concat(view.querySelector('.heat-grid').dispatchEvent(new PointerEvent('pointerleave')) ? [] : [null])"""
    )
    words = [token.text for token in ac.load("pronoun").trace(TIRED).tokens]
    assert len(read) == len(words) ** 2
    for i, j, text in read:
        asker, key, weight = re.fullmatch(r"(.+) → (.+): weight (\S+)", text).groups()
        assert (asker, key) == (words[int(i)], words[int(j)])
        assert reading.number(weight) == pytest.approx(head.weights[int(i), int(j)], abs=1e-10)


def test_hovering_sends_nothing_and_shows_both_words(visit):
    page = visit(text=TIRED)
    sent = len(visit.frames)
    readout = page.locator(f"{EXPLORE} .readout")
    for i, j, asker, key in [
        (0, 0, "The", "The"),
        (3, 9, "cross", "too"),
        (11, 1, ".", "animal"),
        (7, 5, "it", "street"),
    ]:
        reading.cell(page, i, j).hover()
        expect(readout).to_have_text(re.compile(rf"^{re.escape(asker)} → {key}: weight "))
    for position in range(12):
        reading.chip(page, position).hover()
        expect(reading.chip(page, position)).to_contain_class("shown")
    page.locator(f"{EXPLORE} .rank").nth(2).hover()
    # One click, one message: had the mouse sent any before it, however late, they would be counted too.
    reading.chip(page, 4).click()
    reading.wait_address(page, token=4)
    assert len(visit.frames) == sent + 1


def test_a_chosen_cell_has_its_bill_and_its_place_in_the_address(visit, head):
    page = visit(text=TIRED)
    reading.cell(page, 10, 3).click()
    reading.wait_address(page, token=10, key=3)
    bill = head.explain(10, 3)
    page.wait_for_function(
        "view => view.querySelector('.bill').ariaBusy !== 'true'", arg=reading.view(page).element_handle()
    )
    products = [
        reading.number(title.rsplit(" = ")[-1]) for title in reading.titles(page, f"{EXPLORE} .bill-body .strip-cell")
    ]
    np.testing.assert_allclose(products, bill.products, rtol=1e-11, atol=1e-12)
    names = reading.texts(page, f"{EXPLORE} .flow .stage small")
    stages = dict(zip(names, reading.titles(page, f"{EXPLORE} .flow .stage b"), strict=True))
    shown = {name: reading.number(title) for name, title in stages.items()}
    expected = {
        "score": bill.score,
        "scaled": bill.scaled,
        "exp": bill.exp,
        "row sum": bill.row_sum,
        "weight": bill.weight,
    }
    assert shown == pytest.approx(expected, rel=1e-11)
    assert sum(products) == pytest.approx(bill.score, abs=1e-10)
    handed = [reading.number(title) for title in reading.titles(page, f"{EXPLORE} .hands .strip-cell")]
    np.testing.assert_allclose(handed, bill.weighted_value, rtol=1e-11, atol=1e-12)


def test_click_locks_and_a_second_click_or_escape_releases(visit):
    page = visit(text=TIRED)
    hint = page.locator(f"{EXPLORE} .lock-hint span").first
    kept, free = "Kept. Click the word again or press Esc to let go.", "Point at a word to look, click it to keep it."
    for release in (lambda: reading.chip(page, 1).click(), lambda: page.keyboard.press("Escape")):
        reading.chip(page, 1).click()
        expect(hint).to_have_text(kept)
        reading.wait_address(page, token=1)
        page.mouse.move(5, 5)
        assert reading.statement(page).startswith("animal gives"), "it stays when the mouse has gone"
        release()
        page.mouse.move(5, 5)
        expect(hint).to_have_text(free)
        assert reading.wait_address(page, token="none").get("key") is None
        assert "Choose one" in reading.statement(page)
        expect(page.locator(f"{EXPLORE} .chip[aria-pressed=true]")).to_have_count(0)


def test_everything_can_be_chosen_from_the_keyboard(visit):
    page = visit(text=TIRED)
    page.locator(".st-key-text input").focus()
    assert reading.tab_to(page, r"\bchip\b").endswith(f" {IT}")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert reading.held(page).endswith(f" {STREET}")
    page.keyboard.press("Enter")
    reading.wait_address(page, token=STREET)
    assert reading.held(page).endswith(f" {STREET}"), "the keyboard stays where it was"
    page.keyboard.press("Escape")
    reading.wait_address(page, token="none")
    reading.tab_to(page, r"\bcell\b")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert reading.wait_address(page, key=1)["token"] == reading.held(page).split()[-1].split(",")[0]
    reading.tab_to(page, r"\brank\b")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("() => new URLSearchParams(location.search).get('key') !== '1'")
    reading.tab_to(page, r"\bwalk\b")


def test_the_sum_behind_an_answer_adds_up_on_the_screen(visit):
    page = visit(text=TIRED)
    page.locator(f"{EXPLORE} .answer").nth(IT).click()
    panel = page.locator(f"{EXPLORE} .panel")
    expect(panel.locator(".sum-table")).to_be_visible()
    total = ac.load("pronoun").trace(TIRED).explain_answer(IT)
    rows = {
        name: reading.titles(page, f"{EXPLORE} .sum-table tr:is({name}) .amount b")
        for name in (".unread", ".part", ".word-part", ".sum")
    }
    shown = {name: [reading.number(title) for title in found] for name, found in rows.items()}
    assert shown[".unread"] + shown[".part"] == pytest.approx([part.logit for part in total.parts], abs=1e-10)
    assert sum(shown[".unread"] + shown[".part"]) == pytest.approx(shown[".sum"][0], abs=1e-9)
    assert sum(shown[".word-part"]) == pytest.approx(shown[".part"][0], abs=1e-9)
    assert shown[".sum"] == pytest.approx([total.logit, total.probability], abs=1e-10)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert reading.fields(page)["token"] == str(IT), "Esc closes the panel first and keeps the word"


def test_the_check_line_names_what_was_compared(first_page):
    page = first_page
    check = page.locator(f"{EXPLORE} .check")
    expect(check).to_contain_class("passed")
    difference = ac.load("pronoun").trace(TIRED).check().largest_difference
    assert difference < 1e-10
    mantissa = f"{difference:.1e}".split("e")[0]
    assert re.search(rf"^✓ .*separate plain forward pass.*largest difference {mantissa}·10⁻", check.inner_text())
