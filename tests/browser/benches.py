"""What a reader's hands do on the Bench page, and what stands there."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import Locator, Page

from tests.browser import reading

VIEW = ".st-key-bench .view"
SHEET = ".st-key-exercise .view"


def handle(page: Page, vector: str) -> Locator:
    """The round handle of an arrow: "qA", "kC"."""
    return page.locator(f"{VIEW} .handle[data-vector={vector}]")


def centre(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def stage(page: Page, name: str) -> np.ndarray:
    """The numbers of a stage as they stand in its cells, in full."""
    cells = page.locator(f"{VIEW} [data-matrix={name}] .cell").evaluate_all(
        "nodes => nodes.map((n) => [Number(n.dataset.row), Number(n.dataset.col), n.dataset.value])"
    )
    found = np.full((1 + max(row for row, _, _ in cells), 1 + max(col for _, col, _ in cells)), np.nan)
    for row, column, value in cells:
        found[row, column] = reading.number(value.replace("Infinity", "inf"))
    return found


def editor(page: Page, name: str) -> np.ndarray:
    """The numbers of a matrix that can be changed."""
    rows = page.locator(f"{VIEW} [data-editor={name}] tbody tr")
    return np.array(
        rows.evaluate_all(
            "rows => rows.map((r) => [...r.querySelectorAll('input')].map((box) => Number(box.dataset.value)))"
        )
    )


def box(page: Page, name: str, i: int, j: int) -> Locator:
    return page.locator(f"{VIEW} [data-editor={name}] input[data-i='{i}'][data-j='{j}']")


def figure(page: Page, name: str) -> float:
    return float(page.locator(f"{VIEW} .figures [data-stage={name}]").get_attribute("data-value"))


def press(page: Page, action: str) -> None:
    page.locator(f"{VIEW} [data-action='{action}']").click()


def entry(page: Page, stage: str, i: int, j: int) -> Locator:
    return page.locator(f"{SHEET} .part[data-stage={stage}] input[data-i='{i}'][data-j='{j}']")


def fill(page: Page, stage: str, values: np.ndarray, digits: int = 3) -> None:
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            entry(page, stage, i, j).fill("-inf" if value == -np.inf else f"{value:.{digits}f}")


def check(page: Page, stage: str) -> Locator:
    """Ask for the check; returns the line in which the verdict will stand."""
    part = page.locator(f"{SHEET} .part[data-stage={stage}]")
    part.locator("[data-action=check]").click()
    return part.locator(".verdict")
