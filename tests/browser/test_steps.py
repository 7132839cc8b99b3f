"""Step by step: every number of the four steps is Python's own, and no step waits for the server."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import attention_core as ac
from tests.browser import reading
from tests.running import TIRED, WIDE, wait_drawn
from ui.examples import of_family
from ui.selection import STEPS

SUBJECTS = ("animal", "dog", "cat", "horse", "bear", "zebra")
VIEW = ".st-key-steps .view"

# Press something and say, in the same breath, what is drawn and what was sent meanwhile.
PRESS = """(view, press) => {
  const before = window.sent;
  if (press.startsWith('Page')) document.dispatchEvent(new KeyboardEvent('keydown', { key: press, bubbles: true }));
  else view.querySelector(press).click();
  const numbers = view.querySelectorAll('.stage [data-value]').length;
  return { step: view.dataset.step, sent: window.sent - before, drawn: numbers > 100 };
}"""


def trace_of(text: str) -> ac.Trace:
    return ac.load("pronoun").trace(text)


def at_step(page: Page, step: str) -> None:
    expect(page.locator(VIEW)).to_have_attribute("data-step", step)


def close(shown: object, wanted: object) -> None:
    np.testing.assert_allclose(shown, wanted, rtol=1e-12, atol=1e-12)


def choose(page: Page, key: str, i: int, j: int) -> None:
    """Click a cell of a matrix, so that it is kept (a click on the kept cell itself lets it go)."""
    kept = page.locator(VIEW).evaluate(
        """(view, cell) => {
          view.querySelector(cell).click();
          if (view.dataset.locked === 'false') view.querySelector(cell).click();
          return view.dataset.locked;
        }""",
        f"[data-matrix='{key}'] .cell[data-row='{i}'][data-col='{j}']",
    )
    assert kept == "true"


def test_one_input_and_three_matrices_make_q_k_and_v(visit):
    page = visit("steps", text=TIRED, layer=1, step="project")
    for layer in (1, 0):
        head = trace_of(TIRED).layers[layer].head(0)
        if layer == 0:
            reading.press_option(page, "layer", "0")
            expect(page.locator(f"{VIEW} [data-matrix=x] .cell[data-row='0']")).to_have_count(head.x.shape[1])
        read = reading.Numbers(page)
        x = read.matrix("x")
        close(x, head.x)
        for part in ("q", "k", "v"):
            w, made = read.matrix(f"w_{part}"), read.matrix(part)
            close(w, getattr(head, f"w_{part}"))
            close(made, getattr(head, part))
            np.testing.assert_allclose(x @ w, made, rtol=1e-12, atol=1e-10)
            # The bill of one number: terms of X and W, their products, their sum.
            choose(page, part, 3, 5)
            bill = reading.Numbers(page)
            close(list(bill.stated("products").values()), head.x[3] * w[:, 5])
            assert bill.stated("sum")[3, 5] == pytest.approx(getattr(head, part)[3, 5], abs=1e-10)


def project_equals(page: Page, head: ac.HeadSteps, i: int, j: int) -> None:
    dim = (i + j) % head.q.shape[1]
    choose(page, "k", j, dim)
    read = reading.Numbers(page)
    for part, row in (("q", i), ("k", j), ("v", j)):
        close(read.matrix(part)[row], getattr(head, part)[row])
    close(read.stated("sum")[j, dim], head.k[j, dim])


def score_equals(page: Page, head: ac.HeadSteps, i: int, j: int) -> None:
    bill, read = head.explain(i, j), reading.Numbers(page)
    products = read.stated("products")
    close([products[i, c] for c in range(len(bill.products))], bill.products)
    close(read.stated("score")[i, j], bill.score)
    close(read.matrix("scores"), head.scores)


def softmax_equals(page: Page, head: ac.HeadSteps, i: int, j: int) -> None:
    bill, read = head.explain(i, j), reading.Numbers(page)
    close(read.stated("scaled")[i, j], bill.scaled)
    close(read.stated("row_max")[i, 0], bill.row_max)
    close(read.stated("exp")[i, j], bill.exp)
    close(read.stated("row_sum")[i, 0], bill.row_sum)
    close(read.stated("weights")[i, j], bill.weight)
    close(read.matrix("weights"), head.weights)


def sum_equals(page: Page, head: ac.HeadSteps, i: int, j: int) -> None:
    bill, read = head.explain(i, j), reading.Numbers(page)
    terms, output = read.matrix("bill"), read.stated("output")
    close(terms[j], bill.weighted_value)
    close([output[i, c] for c in range(len(bill.weighted_value))], head.output[i])
    close(terms.sum(axis=0), head.output[i])


def places(count: int) -> list[tuple[str, int, int, int, int]]:
    """Sentences, layers, heads and cells, drawn once and for all."""
    dice = random.Random(20)
    model = ac.load("pronoun")
    found = []
    for _ in range(count):
        text = dice.choice(of_family("pronoun")).text.replace("animal", dice.choice(SUBJECTS))
        layer = dice.randrange(model.card.n_layers)
        n = len(model.trace(text).tokens)
        found.append((text, layer, dice.randrange(model.card.n_heads), dice.randrange(n), dice.randrange(n)))
    return found


def show(page: Page, text: str, layer: int, h: int) -> ac.HeadSteps:
    """Another head of another sentence, at the step "score"; returns what Python knows of it."""
    if page.locator(".st-key-text input").input_value() != text:
        reading.fill(page, text, "steps")
    for key, value in (("layer", layer), ("head", h)):
        if reading.fields(page)[key] != str(value):
            reading.press_option(page, key, str(value))
    reading.wait_address(page, text=text, layer=layer, head=h)
    wait_drawn(page, "steps")
    press(page, "[data-action=tab-score]", "score")
    head = trace_of(text).layers[layer].head(h)
    first = page.locator(f"{VIEW} [data-matrix=scores] .cell[data-row='0'][data-col='0']")
    expect(first).to_have_attribute("data-value", re.compile(re.escape(f"{head.scores[0, 0]:.9f}"[:-1])))
    return head


def press(page: Page, what: str, step: str) -> None:
    """Press a key or a button: the step stands there at once, before anything is sent."""
    assert page.locator(VIEW).evaluate(PRESS, what) == {"step": step, "sent": 0, "drawn": True}


def test_twenty_cells_equal_python_in_all_four_steps_and_no_step_waits(visit):
    page = visit("steps", step="score")
    for text, layer, h, i, j in places(20):
        head = show(page, text, layer, h)
        choose(page, "scores", i, j)
        press(page, "PageUp", "project")
        project_equals(page, head, i, j)
        press(page, "PageDown", "score")
        score_equals(page, head, i, j)
        press(page, "[data-action=next]", "softmax")
        softmax_equals(page, head, i, j)
        press(page, "PageDown", "sum")
        sum_equals(page, head, i, j)


def test_keys_buttons_and_tabs_walk_and_the_address_follows(visit):
    page = visit("steps", text=TIRED)
    at_step(page, "project")
    page.keyboard.press("PageUp")
    at_step(page, "project")
    for step in STEPS[1:]:
        page.keyboard.press("PageDown")
        at_step(page, step)
    page.keyboard.press("PageDown")
    at_step(page, "sum")
    page.locator(f"{VIEW} [data-action=back]").click()
    at_step(page, "softmax")
    page.keyboard.press("PageUp")
    at_step(page, "score")
    page.locator(f"{VIEW} [data-action=tab-softmax]").click()
    at_step(page, "softmax")
    expect(page.locator(f"{VIEW} .tab[aria-current]")).to_contain_text("softmax")
    page.locator(f"{VIEW} [data-matrix=weights] .cell[data-row='3'][data-col='4']").click()
    expect(page.locator(VIEW)).to_have_attribute("data-locked", "true")
    reading.wait_address(page, step="softmax", token=3, key=4)
    page.reload()
    at_step(page, "softmax")
    expect(page.locator(f"{VIEW} [data-matrix=weights] .cell.chosen")).to_have_attribute("data-row", "3")
    expect(page.locator(f"{VIEW} [data-matrix=weights] .cell.chosen")).to_have_attribute("data-col", "4")


def test_a_chosen_cell_stays_the_same_cell_whichever_way_one_looks(visit):
    page = visit("steps", text=WIDE, look="answers", token=5, key=7, step="score")
    chosen = page.locator(f"{VIEW} [data-matrix=scores] .cell.chosen")
    expect(chosen).to_have_attribute("data-row", "7")
    choose(page, "scores", 2, 10)
    page.wait_for_function("() => new URLSearchParams(location.search).get('token') !== '5'")
    page.reload()
    expect(chosen).to_have_attribute("data-row", "2")
    expect(chosen).to_have_attribute("data-col", "10")
    page.get_by_role("link", name="Explore").click()
    selected = page.locator(".st-key-explore .heat-grid .cell[aria-selected]")
    expect(selected).to_have_attribute("data-row", "2")
    expect(selected).to_have_attribute("data-col", "10")


LIT = {"project": {"q", "k", "v"}, "score": {"q", "k"}, "softmax": {"softmax", "scale"}, "sum": {"v"}}


def test_the_formula_the_row_and_the_column_light_up(visit):
    page = visit("steps", text=TIRED, token=7, key=1)
    for step, terms in LIT.items():
        page.locator(f"{VIEW} [data-action=tab-{step}]").click()
        at_step(page, step)
        bold = page.locator(f"{VIEW} .formula .term").evaluate_all(
            "nodes => nodes.filter((n) => getComputedStyle(n).fontWeight === '700').map((n) => n.classList[1].slice(5))"
        )
        assert set(bold) == terms, step
    at_step(page, "sum")
    lit = page.locator(f"{VIEW} .matrix").evaluate_all(
        """views => views.map((view) => [view.dataset.matrix, ...['row', 'col'].map((kind) =>
          [...view.querySelectorAll(`.lit[data-${kind}-label]`)].map((n) => n.textContent))])"""
    )
    lights = {name: (rows, columns) for name, rows, columns in lit}
    assert lights["weights"] == (["it"], ["animal"])
    assert lights["v"] == (["animal"], [])
    assert lights["output"] == (["it"], [])
    page.locator(f"{VIEW} [data-action=tab-score]").click()
    for name, place in {"q": (["it"], []), "k": ([], ["animal"]), "scores": (["it"], ["animal"])}.items():
        view = page.locator(f"{VIEW} [data-matrix={name}]")
        found = tuple(view.locator(f".lit[data-{kind}-label]").all_text_contents() for kind in ("row", "col"))
        assert found == place, name


def test_arrow_keys_move_the_cell_and_escape_releases_it(visit):
    page = visit("steps", text=TIRED, token=7, key=1, step="score")
    view, chosen = page.locator(VIEW), page.locator(f"{VIEW} [data-matrix=scores] .cell.chosen")
    page.locator(f"{VIEW} [data-matrix=scores] .cell[data-row='7'][data-col='1']").click()
    expect(page.locator(f"{VIEW} .hint")).to_contain_text("This cell is kept.")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(chosen).to_have_attribute("data-row", "8")
    expect(chosen).to_have_attribute("data-col", "2")
    assert reading.held(page).endswith("8,2")
    reading.wait_address(page, token=8, key=2)
    page.keyboard.press("Escape")
    expect(view).to_have_attribute("data-locked", "false")
    expect(page.locator(f"{VIEW} .hint")).to_contain_text("Point at a cell")
    sent = len(visit.frames)
    page.locator(f"{VIEW} [data-matrix=scores] .cell[data-row='2'][data-col='3']").hover()
    expect(chosen).to_have_attribute("data-row", "2")
    # What hovering sent, however late, would stand beside the one message of the click.
    choose(page, "scores", 0, 11)
    reading.wait_address(page, token=0, key=11)
    assert len(visit.frames) == sent + 1


def test_a_step_taken_while_the_server_answers_is_not_undone(visit):
    page = visit("steps", text=TIRED, layer=1, step="score")
    layer = page.locator(".st-key-layer button").get_by_text("0", exact=True).element_handle()
    # Another layer is asked for, and the reader goes on before it is there.
    page.locator(f"{VIEW} [data-action=tab-sum]").evaluate("(tab, layer) => { layer.click(); tab.click(); }", layer)
    at_step(page, "sum")
    reading.wait_address(page, layer=0)
    reading.wait_address(page, step="sum")
    at_step(page, "sum")
    weights = trace_of(TIRED).layers[0].weights(0)
    # The address may be told of the other layer before its numbers are there.
    first = page.locator(f"{VIEW} [data-matrix=weights] .cell[data-row='0'][data-col='0']")
    expect(first).to_have_attribute("data-value", re.compile(re.escape(f"{weights[0, 0]:.9f}"[:-1])))
    at_step(page, "sum")
    close(reading.Numbers(page).matrix("weights"), weights)


def test_the_next_step_survives_the_answer_to_the_last_one(visit):
    page = visit("steps", text=TIRED, step="project")
    # The second step is taken when the first has just been told to the server, before it answers.
    page.locator(VIEW).evaluate(
        """async view => {
          const go = () => document.dispatchEvent(new KeyboardEvent('keydown', { key: 'PageDown', bubbles: true }));
          const before = window.sent;
          go();
          while (window.sent === before) await new Promise(requestAnimationFrame);
          go();
        }"""
    )
    at_step(page, "softmax")
    reading.wait_address(page, step="score")
    reading.wait_address(page, step="softmax")
    at_step(page, "softmax")
