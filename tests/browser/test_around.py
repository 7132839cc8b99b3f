"""What stands around the picture: the card, the comparison, the saved file, words that the model does not know."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import attention_core as ac
from tests.browser import reading
from tests.running import TIRED, WIDE
from ui.card import figures
from ui.translations import LANGUAGES, words

IT = 7
LAYER, HEAD = ac.load("pronoun").card.reading_head
TEXTS = ("summary", "architecture", "data", "objective", "regularisers", "structural_zeros", "failures")


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def test_the_card_can_be_read_in_full_in_both_languages(visit):
    page = visit(lang="en")
    card = ac.load("pronoun").card
    for lang, name in LANGUAGES.items():
        reading.press_option(page, "lang", name)
        expect(page.locator("html")).to_have_attribute("lang", lang)
        page.locator(".st-key-open_card button").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text(words(lang)("card.title", name="pronoun"))
        expect(dialog.locator("table tr")).to_have_count(1 + len(figures(card.details, words(lang))))
        shown = plain(dialog.inner_text())
        texts = [card.title[lang], card.source[lang], *card.details["not_to_claim"][lang]]
        texts += [card.details[name][lang] for name in TEXTS]
        assert [text for text in texts if plain(text) not in shown] == []
        for run in card.details["figures"]["seeds"]:
            assert f"{run['held_out_combinations']['two_way']:.1%}" in shown
            assert f"{run['headline']['tired']['animal']:.3f}" in shown
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()


def compared(page: Page, line: int) -> list[dict]:
    """The cells of one line of the comparison: 0 sentence A, 1 sentence B, 2 the difference."""
    cells = page.locator(".st-key-compare table.pairs.across tr").nth(line).locator("td")
    return cells.evaluate_all(
        """cells => cells.map((cell) => ({
          title: cell.title, text: cell.innerText, colour: getComputedStyle(cell).backgroundColor,
        }))"""
    )


def test_two_sentences_stand_side_by_side_on_one_scale(visit):
    page = visit(text=TIRED)
    page.locator(".st-key-is_compared label").click()
    expect(page.locator(".st-key-second input")).to_have_value(WIDE)
    expect(page.locator(".st-key-compare .statement")).to_contain_text("With “tired”, it gives animal")
    rows = [ac.load("pronoun").trace(text).layers[LAYER].weights(HEAD)[IT] for text in (TIRED, WIDE)]
    for line, row in enumerate(rows):
        exact = [reading.number(cell["title"].rsplit(": ")[-1]) for cell in compared(page, line)]
        np.testing.assert_allclose(exact, row, rtol=0, atol=1e-10)
    points = [reading.number(cell["title"].removesuffix(" pp")) for cell in compared(page, 2)]
    np.testing.assert_allclose(points, 100 * (rows[1] - rows[0]), rtol=0, atol=1e-8)
    heat = page.locator(f".st-key-explore .heat-grid .cell[data-row='{IT}']").evaluate_all(
        "cells => cells.map((cell) => getComputedStyle(cell).backgroundColor)"
    )
    assert [cell["colour"] for cell in compared(page, 0)] == heat
    reading.fill(page, TIRED, "compare", key="second")
    expect(page.locator(".st-key-compare .statement")).to_contain_text("In A, it gives animal")
    assert [cell["colour"] for cell in compared(page, 1)] == heat, "the same weight, the same colour"
    assert {cell["text"] for cell in compared(page, 2)} == {"0.0"}


def test_the_saved_file_reads_back(visit, tmp_path):
    page = visit(text=TIRED, layer=0)
    with page.expect_download() as download:
        page.locator(".st-key-save button").click()
    assert download.value.suggested_filename == "pronoun-layer0-head0.csv"
    download.value.save_as(tmp_path / "saved.csv")
    with (tmp_path / "saved.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    trace = ac.load("pronoun").trace(TIRED)
    head, n = trace.layers[0].head(0), len(trace.tokens)
    assert [row["query_token"] for row in rows[::n]] == [token.text for token in trace.tokens]
    for stage in ("scores", "scaled", "masked", "weights"):
        back = np.array([float(row[stage]) for row in rows]).reshape(n, n)
        np.testing.assert_allclose(back, getattr(head, stage), atol=1e-6)


# On a narrow screen the note about the word takes a second line under the words; the words themselves stay.
@pytest.mark.parametrize(
    ("width", "parts"), [(1400, (".view", ".ribbon", ".statement", ".columns")), (390, (".view", ".ribbon"))]
)
def test_an_unknown_word_is_named_and_nothing_jumps(visit, width, parts):
    page = visit(text=TIRED, reader=visit.reader(viewport={"width": width, "height": 900}))
    tops = {part: page.locator(f".st-key-explore {part}").bounding_box()["y"] for part in parts}
    page.locator(".st-key-text input").press("Home")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    for _ in "animal":
        page.keyboard.press("Delete")
    page.keyboard.type("zebra", delay=20)
    notice = page.locator(".st-key-explore .notice")
    expect(notice).to_contain_text("pronoun does not know “zebra”: it reads [UNK] there")
    unknown = page.locator(".st-key-explore .chip.unknown")
    expect(unknown).to_have_text("zebra")
    expect(unknown).to_have_css("border-style", "dotted")
    now = {part: page.locator(f".st-key-explore {part}").bounding_box()["y"] for part in parts}
    assert now == pytest.approx(tops, abs=1)
    reading.fill(page, TIRED)
    expect(notice).to_have_count(0)
