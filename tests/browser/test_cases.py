"""Troubles that users of attention viewers report (CASES.md), each as a small input and the right behaviour."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import attention_core as ac
from tests.browser import reading
from tests.browser.heads import HEADS
from ui.paths import ASSETS
from ui.selection import STEPS
from ui.translations import words

EXPLORE = ".st-key-explore"


def labels(page: Page, kind: str) -> list[str]:
    return page.locator(f"{EXPLORE} .heat-grid .{kind}-label").evaluate_all(
        "labels => labels.map((label) => label.querySelector('bdi').textContent)"
    )


def colours(page: Page, selector: str) -> list[str]:
    return page.locator(selector).evaluate_all("nodes => nodes.map((node) => getComputedStyle(node).backgroundColor)")


def rgb(colour: str) -> np.ndarray:
    return np.array([int(part) for part in re.findall(r"\d+", colour)[:3]])


# 3: no network at all


def test_everything_draws_with_every_other_machine_cut_off(visit):
    reader = visit.reader()
    own = urlsplit(visit.address).netloc
    reader.route(lambda url: url.startswith("http") and urlsplit(url).netloc != own, lambda route: route.abort())
    page = visit(reader=reader, compare=1)
    assert page.locator(".st-key-compare table.pairs td").count() == 36
    page.locator(".st-key-open_card button").click()
    expect(page.get_by_role("dialog").locator("table")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Step by step").click()
    for step in STEPS:
        page.locator(f".st-key-steps [data-action=tab-{step}]").click()
        expect(page.locator(".st-key-steps .stage [data-matrix]").first).to_be_visible()


def test_no_file_of_ours_names_another_machine():
    found = {}
    for path in ASSETS.rglob("*"):
        if path.suffix in {".js", ".css", ".html", ".svg", ".toml"}:
            text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")  # A name, not an address.
            found[path.name] = re.findall(r"\w+://\S+|url\(\s*['\"]?//\S+|@import\s+\S+", text)
    assert len(found) > 30
    assert {name: addresses for name, addresses in found.items() if addresses} == {}


# 5, 18, 19: masked, without keys, identity


def test_masked_cells_differ_from_zero_cells(planted):
    page = planted(head="causal", token=3)
    weights = HEADS["causal"]().head().weights
    assert weights[3, 1] == 0
    for i in range(5):
        for j in range(5):
            expect(reading.cell(page, i, j)).to_have_class("cell masked" if j > i else "cell open")
    reading.cell(page, 1, 4).hover()
    expect(page.locator(f"{EXPLORE} .readout")).to_have_text("World → !: may not be seen, weight exactly 0")
    expect(page.locator(f"{EXPLORE} .said")).to_contain_text("the cell is masked")
    expect(reading.cell(page, 1, 4)).to_have_css("background-image", re.compile("repeating-linear-gradient"))
    reading.cell(page, 3, 1).hover()
    expect(page.locator(f"{EXPLORE} .readout")).to_have_text("again → World: weight 0")
    expect(reading.cell(page, 3, 1)).to_have_css("background-image", "none")
    ranked = reading.texts(page, f"{EXPLORE} .rank-word")
    assert "!" not in ranked, "what may not be seen is not among the answers"


def test_the_walk_draws_masked_cells_too(planted):
    page = planted("steps", picture="steps", head="causal", step="softmax", token=3)
    for name in ("scaled", "weights"):
        forbidden = page.locator(f".st-key-steps [data-matrix={name}] .cell.forbidden").evaluate_all(
            "cells => cells.map(({ dataset: d, textContent }) => [Number(d.row), Number(d.col), textContent])"
        )
        assert forbidden == [[i, j, "·"] for i in range(5) for j in range(i + 1, 5)]
    np.testing.assert_allclose(reading.Numbers(page).matrix("weights"), HEADS["causal"]().head().weights, atol=1e-12)
    masked = reading.Numbers(page).stated("masked", "scaled")
    assert set(masked.values()) == {-np.inf}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_rows_without_keys_are_hatched_and_say_so(planted, lang):
    page = planted(head="without-keys", lang=lang)
    note = words(lang)("explore.cell_nokeys")
    assert lang != "en" or note == "no keys"
    expect(page.locator(f"{EXPLORE} .cell.nokeys")).to_have_count(8)
    expect(reading.cell(page, 0, 2)).to_have_css("background-image", re.compile("repeating-linear-gradient"))
    assert reading.texts(page, f"{EXPLORE} .blank-rows span") == [note] * 2
    expect(page.locator(f"{EXPLORE} .ranks li")).to_have_count(0)
    reading.cell(page, 2, 0).hover()
    expect(reading.cell(page, 2, 0)).to_have_class("cell masked")
    assert "NaN" not in reading.view(page).inner_text()
    page = planted("steps", picture="steps", head="without-keys", lang=lang, step="softmax")
    assert reading.texts(page, ".st-key-steps [data-matrix=weights] .nokeys-note") == [words(lang)("steps.nokeys")] * 2
    assert (reading.Numbers(page).matrix("weights")[:2] == 0).all()
    for step in ("score", "softmax", "sum"):
        page.locator(f".st-key-steps [data-action=tab-{step}]").click()
        assert "NaN" not in reading.view(page, "steps").inner_text()
    output = reading.Numbers(page).matrix("output")
    np.testing.assert_allclose(output, HEADS["without-keys"]().head().output, atol=1e-12)
    assert (output[:2] == 0).all()


def test_a_planted_identity_is_exactly_the_diagonal(planted):
    page = planted(head="identity")
    read = page.locator(f"{EXPLORE} .heat-grid .cell").evaluate_all("cells => cells.map((c) => c.ariaLabel)")
    assert np.array_equal(np.array(read).reshape(7, 7) == "100.00%", np.eye(7, dtype=bool))
    assert set(read) == {"100.00%", "0.00%"}
    shown = np.array(colours(page, f"{EXPLORE} .heat-grid .cell")).reshape(7, 7)
    assert len(set(shown[np.eye(7, dtype=bool)])) == len(set(shown[~np.eye(7, dtype=bool)])) == 1
    assert labels(page, "row") == labels(page, "column") == list("abcdefg")
    boxes = {
        kind: [label.bounding_box() for label in page.locator(f"{EXPLORE} .{kind}-label").all()]
        for kind in ("row", "column")
    }
    assert len({box["y"] for box in boxes["row"]}) == len({box["x"] for box in boxes["column"]}) == 7
    assert all(box["width"] > 0 and box["height"] > 0 for kind in boxes.values() for box in kind)


# 13, 15: colours


def test_a_weight_of_nine_tenths_is_one_colour_everywhere(planted):
    found = []
    for head, i, j in (("nine-tenths-of-4", 1, 2), ("nine-tenths-of-12", 8, 3)):
        page = planted(head=head)
        np.testing.assert_allclose(HEADS[head]().head().weights[i, j], 0.9, atol=1e-12)
        found.append(colours(page, f"{EXPLORE} .cell[data-row='{i}'][data-col='{j}']")[0])
        assert reading.texts(page, f"{EXPLORE} .legend .mark") == ["0", "0.25", "0.5", "1"]
    page = planted("steps", picture="steps", head="nine-tenths-of-12", step="softmax")
    found += colours(page, ".st-key-steps [data-matrix=weights] .cell[data-row='8'][data-col='3']")
    assert len(set(found)) == 1
    other = colours(page, ".st-key-steps [data-matrix=weights] .cell[data-row='0'][data-col='0']")[0]
    assert other != found[0]


# What a reader without green cones sees (Machado, Oliveira, Fernandes 2009, severity 1, on linear light).
DEUTAN = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]])


def scores_by_colour(page: Page) -> dict[float, str]:
    """The colour of each score on the page; one score has one colour."""
    cells = page.locator(".st-key-steps [data-matrix=scores] .cell[data-row]").evaluate_all(
        "cells => cells.map((cell) => [Number(cell.dataset.value), getComputedStyle(cell).backgroundColor])"
    )
    shades = dict(cells)
    assert all(shades[value] == colour for value, colour in cells)
    return shades


def test_signed_values_diverge_from_a_neutral_zero(planted):
    pages = [planted("steps", picture="steps", head=head, step="score") for head in ("signs", "no-minus")]
    for theme in ("light", "dark"):
        for page in pages:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            expect(reading.view(page, "steps")).to_have_attribute("data-theme", theme)
        both, positive = map(scores_by_colour, pages)
        assert positive == {value: both[value] for value in (0, 1)}, "zero stays where it is"
        minus, zero, plus = (rgb(both[value]) for value in (-1, 0, 1))
        assert zero.max() - zero.min() <= 20, "zero is neutral"
        assert min(plus.max() - plus.min(), minus.max() - minus.min()) > 80
        linear = [(colour / 255) ** 2.2 for colour in (minus, zero, plus)]
        seen = [255 * np.clip(DEUTAN @ light, 0, 1) ** (1 / 2.2) for light in linear]
        distances = [np.linalg.norm(seen[a] - seen[b]) for a, b in ((0, 1), (1, 2), (0, 2))]
        assert min(distances) > 60, "−1, 0 and 1 can be told apart without green cones"
        away = [np.linalg.norm(colour - zero) for colour in (minus, plus)]
        assert max(away) / min(away) < 1.35, "both signs stand equally far from zero"


# 11: the same word more than once


def test_the_same_word_five_times_is_five_rows_and_columns(visit):
    page = visit(text="the cat saw the dog the", token=3)
    spoken = ["the", "cat", "saw", "the", "dog", "the"]
    expect(page.locator(f"{EXPLORE} .heat-grid .cell")).to_have_count(36)
    assert labels(page, "row") == labels(page, "column") == spoken
    chips = page.locator(f"{EXPLORE} .chip").evaluate_all(
        "chips => chips.map((chip) => [chip.dataset.position, chip.textContent])"
    )
    assert chips == [[str(i), word] for i, word in enumerate(spoken)]
    expect(reading.chip(page, 3)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(f"{EXPLORE} .chip[aria-pressed=true]")).to_have_count(1)
    weights = ac.load("pronoun").trace("the cat saw the dog the").layers[1].weights(0)
    reading.cell(page, 0, 5).hover()
    expect(page.locator(f"{EXPLORE} .readout")).to_have_text(re.compile(r"^the0 → the5: weight "))
    shown = reading.number(page.locator(f"{EXPLORE} .readout").inner_text().split()[-1])
    assert shown == pytest.approx(weights[0, 5], abs=1e-10)
    names = page.locator(f"{EXPLORE} .row-label").evaluate_all("labels => labels.map((label) => label.textContent)")
    assert names == ["the0", "cat", "saw", "the3", "dog", "the5"]
