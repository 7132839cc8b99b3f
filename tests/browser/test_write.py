"""Write as a reader meets it: a text that grows, a triangle that grows with it, and what could have come instead."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import attention_core as ac
from tests.browser import reading
from tests.browser.conftest import Visits
from tests.running import PATIENCE

WRITE = ".st-key-write"
PROMPT = "d b h f a c e d b"
LETTERS = ac.load("induction")

# Notes (tokens, rows) and where things stand whenever the page changes.
WATCH = """
view => {
  window.seen = [];
  const count = (selector) => view.querySelectorAll(selector).length;
  const top = (selector) => Math.round(view.querySelector(selector).getBoundingClientRect().top);
  const note = () => window.seen.push([
    count('.token'), count('.heat-rows .heat-row'),
    ...['.paper', '.statement', '.unread-line', '.columns', '.next', '.check'].map(top),
  ]);
  note();
  new MutationObserver(note).observe(view, { subtree: true, childList: true, attributes: true });
}
"""


# Presses the main button as soon as there are n tokens, and says how many: a hand that is quicker than any test.
PRESS_AT = """
(view, n) => new Promise((done) => {
  const look = () => {
    const there = view.querySelectorAll('.token').length;
    if (there < n) requestAnimationFrame(look);
    else {
      view.querySelector('.main').click();
      done(there);
    }
  };
  look();
})
"""


@pytest.fixture(scope="module")
def written(browser: Browser, app_address: str) -> Iterator[Page]:
    """Three letters and two written ones, for the tests that only read."""
    visits = Visits(browser, app_address)
    page = visits("write", model="induction", prompt="a b a")
    for n in (4, 5):
        one_more(page, n)
    yield page
    visits.close()


def one_more(page: Page, n: int) -> None:
    page.locator(f"{WRITE} .one").click()
    expect(page.locator(f"{WRITE} .token")).to_have_count(n, timeout=PATIENCE)
    rest(page)


def rest(page: Page) -> None:
    expect(page.locator(f"{WRITE} .check")).to_have_class(re.compile("passed"), timeout=PATIENCE)
    expect(page.locator(f"{WRITE} .one")).to_have_attribute("aria-disabled", re.compile("."), timeout=PATIENCE)


def tokens(page: Page) -> list[str]:
    """The tokens without the positions beside them."""
    return page.locator(f"{WRITE} .token bdi").all_inner_texts()


def last(prompt: str, n: int, **asked: object) -> ac.Writing:
    *_, step = ac.generate(LETTERS, prompt, n, **asked)
    return step.writing


def test_three_and_two_make_four_rows_and_the_fifth_has_none(written: Page) -> None:
    page, writing = written, last("a b a", 2)
    assert tokens(page) == [token.text for token in writing.tokens]
    assert page.locator(f"{WRITE} .heat-rows .heat-row").count() == 4
    assert page.locator(f"{WRITE} .heat-grid .cell.masked").count() == 6
    kinds = page.locator(f"{WRITE} .token").evaluate_all("nodes => nodes.map((node) => node.dataset.kind)")
    assert kinds == ["typed", "typed", "typed", "written", "unread"]
    said = page.locator(f"{WRITE} .unread-line").inner_text()
    assert said.startswith("5 characters, 4 rows: ")
    assert "It has not looked at anything yet, so it has no row" in said


def test_every_cell_reads_out_the_weight_of_the_full_pass(written: Page) -> None:
    weights = LETTERS.trace_written(last("a b a", 2)).layers[1].weights(0)
    read = reading.view(written, "write").evaluate(
        """view => [...view.querySelectorAll('.heat-grid .cell.open')].map((cell) => {
          cell.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }));
          return [Number(cell.dataset.row), Number(cell.dataset.col), view.querySelector('.readout').textContent];
        }).concat(view.querySelector('.heat-grid').dispatchEvent(new PointerEvent('pointerleave')) ? [] : [null])"""
    )
    assert len(read) == 10
    for i, j, text in read:
        assert reading.number(text.split("weight ")[1]) == pytest.approx(weights[i, j], abs=1e-10)


def test_the_list_names_the_probabilities_of_the_model(written: Page) -> None:
    choice = last("a b a", 2).choices[1]
    listed = written.locator(f"{WRITE} .candidate .said").all_inner_texts()
    assert listed == [one.text for one in choice.candidates]
    exact = [reading.number(title) for title in reading.titles(written, f"{WRITE} .candidate .share")]
    np.testing.assert_allclose(exact, [one.probability for one in choice.candidates], rtol=1e-10)
    taken = written.locator(f"{WRITE} .candidate[aria-pressed='true']")
    expect(taken).to_have_count(1)
    expect(taken.locator(".said")).to_have_text(choice.chosen.text)


def test_hovering_asks_nobody(visit: Visits) -> None:
    page = visit("write", model="induction", prompt="a b a b")
    one_more(page, 5)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    sent = len(visit.frames)
    page.locator(f"{WRITE} .token").nth(1).hover()
    expect(page.locator(f"{WRITE} .statement")).to_contain_text("b1")
    page.locator(f"{WRITE} .cell[data-row='3'][data-col='0']").hover()
    expect(page.locator(f"{WRITE} .readout")).to_contain_text("weight")
    page.locator(f"{WRITE} .token").nth(4).hover()
    expect(page.locator(f"{WRITE} .statement")).to_contain_text("it has no row")
    expect(page.locator(f"{WRITE} .others").first).to_contain_text("Nobody knows yet")
    assert (asked, len(visit.frames)) == ([], sent)


def test_rows_come_one_by_one_and_nothing_jumps(visit: Visits) -> None:
    page = visit("write", model="induction", prompt=PROMPT)
    rest(page)
    reading.view(page, "write").evaluate(WATCH)
    page.locator(f"{WRITE} .main").click()
    expect(page.locator(f"{WRITE} .token")).to_have_count(15, timeout=PATIENCE)
    rest(page)
    seen = page.evaluate("window.seen")
    grown = list(dict.fromkeys((n, rows) for n, rows, *_ in seen))
    # A busy machine may show two tokens at once; none has a row before the next one is there.
    assert len(grown) >= 4
    assert grown == sorted(grown)
    assert all(rows == n - (n > 9) for n, rows in grown)
    assert len({tuple(places) for _, _, *places in seen}) == 1
    assert " ".join(tokens(page)) == last(PROMPT, 6).text
    expect(page.locator(f"{WRITE} .state")).to_contain_text("reads at most 14 characters")
    expect(page.locator(f"{WRITE} .main")).to_have_attribute("aria-disabled", "true")


def test_stop_stops_and_continue_goes_on(visit: Visits) -> None:
    page = visit("write", model="induction", prompt="c a")
    rest(page)
    main = page.locator(f"{WRITE} .main")
    main.click()
    expect(main).to_have_text("Stop")
    pressed = reading.view(page, "write").evaluate(PRESS_AT, 3)
    rest(page)
    n = len(tokens(page))
    assert 3 <= pressed <= n <= pressed + 2 < 15  # One may be on its way to the page, one to the server.
    page.wait_for_timeout(600)
    assert len(tokens(page)) == n
    expect(main).to_have_text("Continue")
    main.click()
    expect(page.locator(f"{WRITE} .token")).to_have_count(15, timeout=PATIENCE)
    assert " ".join(tokens(page)) == last("c a", 13).text


def test_another_candidate_can_be_taken_and_all_of_it_undone(visit: Visits) -> None:
    page = visit("write", model="induction", prompt=PROMPT)
    one_more(page, 10)
    one_more(page, 11)
    page.locator(f"{WRITE} .token").nth(8).click()
    other = last(PROMPT, 1).choices[0].candidates[4].text
    page.locator(f"{WRITE} .candidate").nth(4).click()
    expect(page.locator(f"{WRITE} .token")).to_have_count(10)
    rest(page)
    assert tokens(page)[9] == other
    expect(page.locator(f"{WRITE} .candidate[aria-pressed='true'] .said")).to_have_text(other)
    page.locator(f"{WRITE} .again").click()
    expect(page.locator(f"{WRITE} .token")).to_have_count(9)
    rest(page)
    expect(page.locator(f"{WRITE} .candidate[aria-pressed='true']")).to_have_count(0)


def test_it_is_all_done_with_the_keyboard(visit: Visits) -> None:
    page = visit("write", model="induction", prompt="a b a")
    rest(page)
    reading.tab_to(page, r"^button main")
    page.keyboard.press("Enter")
    expect(page.locator(f"{WRITE} .main")).to_have_text("Stop")
    expect(page.locator(f"{WRITE} .token").nth(3)).to_be_visible()
    page.keyboard.press("Enter")
    rest(page)
    assert 3 < len(tokens(page)) < 15
    assert reading.held(page).startswith("button main")
    page.keyboard.press("Tab")
    n = len(tokens(page)) + 1
    page.keyboard.press("Enter")
    expect(page.locator(f"{WRITE} .token")).to_have_count(n, timeout=PATIENCE)
    rest(page)
    reading.tab_to(page, r"^button token")
    page.keyboard.press("End")
    expect(page.locator(f"{WRITE} .statement")).to_contain_text("it has no row")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator(f"{WRITE} .token[aria-pressed='true']")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(f"{WRITE} .token[aria-pressed='true']")).to_have_count(0)
    reading.tab_to(page, r"^button candidate")
    n = len(tokens(page))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    rest(page)
    expect(page.locator(f"{WRITE} .token")).to_have_count(n)


def test_what_is_typed_is_read_at_once(visit: Visits) -> None:
    page = visit("write", model="induction", prompt="a b")
    rest(page)
    page.locator(".st-key-prompt input").fill("a b c")
    expect(page.locator(f"{WRITE} .token")).to_have_count(3, timeout=PATIENCE)
    reading.wait_address(page, prompt="a b c")
    page.locator(".st-key-prompt input").fill("a </b> <i>")
    expect(page.locator(f"{WRITE} .token").nth(2)).to_have_text("/", timeout=PATIENCE)


def test_a_link_is_written_on_by_somebody_else_in_the_same_way(visit: Visits) -> None:
    fields = {"model": "induction", "prompt": "c a f", "how": "sampled", "temperature": 5, "write_seed": 11}
    page = visit("write", **fields)
    rest(page)
    page.locator(f"{WRITE} .main").click()
    expect(page.locator(f"{WRITE} .token")).to_have_count(15, timeout=PATIENCE)
    assert " ".join(tokens(page)) == last("c a f", 12, temperature=5.0, seed=11).text
    chances = [reading.number(title) for title in reading.titles(page, f"{WRITE} .candidate .chance")]
    assert 0 < sum(chances) <= 1 + 1e-9


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_phone_shows_it_without_scrolling_sideways(visit: Visits, lang: str, options: dict) -> None:
    reader = visit.reader(viewport={"width": 390, "height": 844}, has_touch=True, **options)
    page = visit("write", reader=reader, model="induction", prompt=PROMPT, lang=lang)
    rest(page)
    page.locator(f"{WRITE} .one").tap()
    expect(page.locator(f"{WRITE} .token")).to_have_count(10, timeout=PATIENCE)
    rest(page)
    page.locator(f"{WRITE} .token").nth(3).tap()
    expect(page.locator(f"{WRITE} .token[aria-pressed='true']")).to_have_count(1)
    wide = page.evaluate("document.querySelector('.stMainBlockContainer').scrollWidth")
    assert wide <= 390


def test_leaving_and_coming_back_finds_the_text_again(visit: Visits) -> None:
    page = visit("write", model="induction", prompt=PROMPT)
    one_more(page, 10)
    page.get_by_role("link", name="Explore").click()
    page.wait_for_selector(".st-key-explore .view[data-revision]")
    page.get_by_role("link", name="Write").click()
    expect(page.locator(f"{WRITE} .token")).to_have_count(10, timeout=PATIENCE)
