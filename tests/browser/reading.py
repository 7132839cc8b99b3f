"""What stands on a page, read from its DOM, and what a reader's hands do to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import numpy as np
from playwright.sync_api import Locator, Page, expect

from tests.running import PATIENCE


def view(page: Page, picture: str = "explore") -> Locator:
    """The root of a picture, inside its shadow root."""
    return page.locator(f".st-key-{picture} .view")


def number(text: str) -> float:
    """A number as our pictures write it, in full: with a real minus sign."""
    return float(text.replace("−", "-").replace("∞", "inf"))


def titles(page: Page, selector: str) -> list[str]:
    return page.locator(selector).evaluate_all("nodes => nodes.map((node) => node.title)")


def texts(page: Page, selector: str) -> list[str]:
    return page.locator(selector).evaluate_all("nodes => nodes.map((node) => node.textContent)")


def revision(page: Page, picture: str = "explore") -> str:
    return view(page, picture).get_attribute("data-revision")


@contextmanager
def redrawn(page: Page, picture: str = "explore") -> Iterator[None]:
    """Do something, then wait until the server has sent the picture another frame."""
    before = revision(page, picture)
    yield
    expect(view(page, picture)).not_to_have_attribute("data-revision", before, timeout=PATIENCE)


def fields(page: Page) -> dict[str, str]:
    """The address bar, by name."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def wait_address(page: Page, **wanted: object) -> dict[str, str]:
    """Wait until the address says so; None: until it says nothing of that name."""
    page.wait_for_function(
        """wanted => {
          const query = new URLSearchParams(location.search);
          return Object.entries(wanted).every(([name, value]) => query.get(name) === value);
        }""",
        arg={name: None if value is None else str(value) for name, value in wanted.items()},
        timeout=PATIENCE,
    )
    return fields(page)


def fill(page: Page, text: str, picture: str = "explore", key: str = "text") -> None:
    """Another sentence in the box, and its picture."""
    with redrawn(page, picture):
        page.locator(f".st-key-{key} input").fill(text)
    wait_address(page, **{key: text})


def type_instead(page: Page, old: str, new: str) -> None:
    """Put the caret before the full stop and type another last word, key by key."""
    page.locator(".st-key-text input").press("End")
    page.keyboard.press("ArrowLeft")
    for _ in old:
        page.keyboard.press("Backspace")
    page.keyboard.type(new, delay=20)


def statement(page: Page) -> str:
    return page.locator(".st-key-explore .said").inner_text()


def chip(page: Page, position: int) -> Locator:
    return page.locator(f".st-key-explore .chip[data-position='{position}']")


def cell(page: Page, i: int, j: int) -> Locator:
    return page.locator(f".st-key-explore .heat-grid .cell[data-row='{i}'][data-col='{j}']")


def answer_words(page: Page) -> list[str]:
    return texts(page, ".st-key-explore .answer:visible .answer-word")


def press_option(page: Page, key: str, label: str) -> None:
    """Press one of a row of buttons (layer, direction, language, example)."""
    page.locator(f".st-key-{key} button").get_by_text(label, exact=True).click()


class Numbers:
    """Every number on the Steps page as its element states it (data-value), read in one go."""

    def __init__(self, page: Page) -> None:
        self.all = view(page, "steps").evaluate(
            """view => [...view.querySelectorAll('[data-value]')].map((node) => {
              const { stage, i, j, row, col, value } = node.dataset;
              const place = row === undefined ? null : [Number(row), Number(col)];
              const matrix = node.closest('[data-matrix]')?.dataset.matrix ?? null;
              return { stage, at: [Number(i), Number(j)], value, place, matrix };
            })"""
        )

    def matrix(self, key: str) -> np.ndarray:
        """The cells of one matrix."""
        cells = [number for number in self.all if number["matrix"] == key and number["place"] is not None]
        found = np.full((1 + np.array([cell["place"] for cell in cells]).max(axis=0)), np.nan)
        for cell in cells:
            found[tuple(cell["place"])] = float(cell["value"])
        return found

    def stated(self, stage: str, matrix: str | None = None) -> dict[tuple[int, int], float]:
        """Every number of a stage, by its place; where one stands twice, it must be the same number."""
        found: dict[tuple[int, int], float] = {}
        for number in self.all:
            if number["stage"] == stage and matrix in (None, number["matrix"]):
                place, value = tuple(number["at"]), float(number["value"])
                assert found.setdefault(place, value) == value, f"{stage} {place} is shown with two values"
        return found


def held(page: Page) -> str:
    """What has the keyboard, wherever in a shadow root: its tag, class and place."""
    return page.evaluate(
        """() => {
          let node = document.activeElement;
          while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
          const { position, row, col, action } = node.dataset;
          return [node.localName, node.className, position ?? action ?? (row ? `${row},${col}` : '')].join(' ').trim();
        }"""
    )


def tab_to(page: Page, wanted: str, most: int = 40) -> str:
    """Press Tab until what has the keyboard matches the pattern."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if re.search(wanted, held(page)):
            return held(page)
    raise AssertionError(f"{most} times Tab did not reach {wanted!r}; at {held(page)!r}")
