"""Any text is shown letter by letter and does nothing (CASES.md 12, 23, 24)."""

from __future__ import annotations

import csv
import re

import pytest
from playwright.sync_api import Page, expect

import attention_core as ac
from tests.browser import reading
from tests.browser.heads import MARKUP
from ui.selection import STEPS

EXPLORE = ".st-key-explore"
MARKED = " ".join(MARKUP)
SCRIPTS = "it ▁ cafe\u0301 e\u0301te\u0301 👩‍🚀 👍🏽 🇨🇳 שלום عربي ไทย 猫 क़"

# Elements that markup in a text would become, and that a page without it has not.
BORN = """root => [root, ...[...root.querySelectorAll('*')].map((node) => node.shadowRoot).filter(Boolean)]
  .flatMap((part) => [...part.querySelectorAll('b:not(.figure, .symbol, .stage b), s, x, amp, img, script, .katex, a')])
  .map((node) => `${node.localName} ${node.textContent}`).sort()"""


def tokens(text: str) -> list[str]:
    return [token.text for token in ac.load("pronoun").trace(text).tokens]


def shown(page: Page) -> dict[str, list[str]]:
    """The sentence as its words stand in each part of the Explore picture."""
    return reading.view(page).evaluate(
        """view => Object.fromEntries(Object.entries({
          chips: '.askers .chip', rows: '.row-label', columns: '.column-label',
        }).map(([name, selector]) => [name,
          [...view.querySelectorAll(selector)].map((node) => node.querySelector('bdi').textContent)]))"""
    )


def hovered(page: Page) -> list[list[str]]:
    """For every word: what statement, read-out and titles say when the mouse is over its cell of the diagonal."""
    return reading.view(page).evaluate(
        """view => [...view.querySelectorAll('.heat-grid .cell')].filter((c) => c.dataset.row === c.dataset.col)
          .map((cell) => {
            cell.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }));
            const [asker, key] = ['.q', '.k'].map((role) => view.querySelector(`.readout ${role}`));
            return [...[asker, key].map((n) => n.querySelector('bdi').textContent), asker.title, key.title,
              view.querySelector('.said bdi')?.textContent, view.querySelector('.ranking h2 bdi').textContent];
          })"""
    )


def ranked(page: Page) -> set[str]:
    """Every word that the ranking shows while each word is looked at in turn."""
    return set(
        reading.view(page).evaluate(
            """view => [...view.querySelectorAll('.askers .chip')].flatMap((chip) => {
              chip.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }));
              return [...view.querySelectorAll('.rank-word bdi')].map((word) => word.textContent);
            })"""
        )
    )


# The labels of a long matrix come and go as it is scrolled: all of them, from its top to its end.
LABELS = """async (matrix) => {
  const room = [matrix, ...matrix.querySelectorAll('*')].find((node) => {
    const scrolls = getComputedStyle(node).overflowY;
    return node.scrollHeight > node.clientHeight + 1 && (scrolls === 'auto' || scrolls === 'scroll');
  });
  const found = new Map();
  const note = () => matrix.querySelectorAll('[data-row-label]').forEach((label) =>
    found.set(Number(label.dataset.rowLabel), label.querySelector('bdi').textContent));
  note();
  for (let top = 0; room && top < room.scrollHeight; top += room.clientHeight / 2) {
    room.scrollTop = top;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    note();
  }
  return [...found].sort((one, other) => one[0] - other[0]).map(([, text]) => text);
}"""


def in_the_walk(page: Page, step: str) -> list[str]:
    """The row labels of the step's first matrix that has one per word."""
    page.locator(f".st-key-steps [data-action=tab-{step}]").click()
    expect(page.locator(".st-key-steps .view")).to_have_attribute("data-step", step)
    name = {"project": "q", "score": "scores", "softmax": "weights", "sum": "output"}[step]
    return page.locator(f".st-key-steps [data-matrix={name}]").first.evaluate(LABELS)


def test_markup_is_shown_letter_by_letter_everywhere(visit, tmp_path):
    page = visit()
    born = page.locator("html").evaluate(BORN)
    reading.fill(page, MARKED)
    words = tokens(MARKED)
    assert "".join(words) == "".join(MARKUP)
    assert shown(page) == {"chips": words, "rows": words, "columns": words}
    assert hovered(page) == [[word] * 6 for word in words]
    assert ranked(page) <= set(words)
    named = list(dict.fromkeys(token.text for token in ac.load("pronoun").trace(MARKED).tokens if token.is_unknown))
    notice = page.locator(f"{EXPLORE} .notice").inner_text()
    assert [word for word in named[:6] if f"“{word}”" not in notice] == []
    assert page.locator("html").evaluate(BORN) == born
    with page.expect_download() as download:
        page.locator(".st-key-save button").click()
    download.value.save_as(tmp_path / "saved.csv")
    with (tmp_path / "saved.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["key_token"] for row in csv.DictReader(file)][: len(words)] == words
    page.get_by_role("link", name="Step by step").click()
    for step in STEPS:
        assert in_the_walk(page, step) == words
    assert [item for item in page.locator("html").evaluate(BORN) if item not in born] == []


@pytest.mark.parametrize("picture", ["explore", "steps"])
def test_whole_tokens_of_markup_are_inert_in_the_pictures(planted, picture):
    page = planted("" if picture == "explore" else "steps", picture=picture, head="markup", step="sum")
    if picture == "explore":
        assert shown(page) == {"chips": list(MARKUP), "rows": list(MARKUP), "columns": list(MARKUP)}
        assert hovered(page) == [[word] * 6 for word in MARKUP]
        assert ranked(page) == set(MARKUP)
        titles = page.locator(f"{EXPLORE} .askers .chip").evaluate_all("chips => chips.map((chip) => chip.title)")
        assert titles == list(MARKUP)
        assert reading.texts(page, f"{EXPLORE} .bill h2 bdi")[0] == MARKUP[0]
    else:
        for step in STEPS:
            assert in_the_walk(page, step) == list(MARKUP)
    assert reading.view(page, picture).evaluate(BORN) == []


def test_notes_show_markup_of_a_bad_address_letter_by_letter(visit):
    bad = {
        "model": "<b>x</b>",
        "layer": ":red[x]",
        "head": "$x$",
        "token": "![](x)",
        "step": "&amp;",
        "look": "`</script>",
    }
    page = visit()
    born = page.locator("html").evaluate(BORN)
    page = visit(**bad)
    notes = page.locator("[data-testid=stAlert]")
    expect(notes).to_have_count(len(bad))
    said = notes.all_inner_texts()
    for value in bad.values():
        assert any(value in note for note in said), value
    assert page.locator("html").evaluate(BORN) == born


def test_quotes_backslashes_and_braces_redraw(visit):
    text = 'they didn\'t "get" \\n {x}'
    page = visit()
    reading.fill(page, text)
    words = ["they", "didn't", '"', "get", '"', "\\", "n", "{", "x", "}"]
    assert shown(page) == {"chips": words, "rows": words, "columns": words}
    assert re.fullmatch(r"they gives .+ \d+\.\d% of its attention\.", reading.statement(page))
    assert hovered(page) == [[word] * 6 for word in words]


def test_every_script_is_shown_whole_and_in_order(visit):
    page = visit()
    reading.fill(page, SCRIPTS)
    words = tokens(SCRIPTS)
    assert "".join(words) == "".join(SCRIPTS.split())
    assert shown(page) == {"chips": words, "rows": words, "columns": words}
    assert hovered(page) == [[word] * 6 for word in words]
    assert page.locator(".st-key-text input").input_value() == SCRIPTS
    lefts = page.locator(f"{EXPLORE} .askers .chip").evaluate_all(
        "chips => chips.map((chip) => chip.getBoundingClientRect().left)"
    )
    assert lefts == sorted(lefts), "right-to-left words do not turn their neighbours round"
    page.get_by_role("link", name="Step by step").click()
    assert in_the_walk(page, "score") == words
