"""Step by step on real architectures and own arrays: the numbers of all four steps are Python's, whatever the head."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import attention_core as ac
from tests.browser import reading
from tests.browser.real_heads import REAL
from tests.browser.test_steps import VIEW, at_step, choose
from tests.running import wait_drawn
from ui.selection import STEPS

# Head, stack, its number, a cell. Where the model sees backwards only, the cell lies where it may be seen.
SHOWN = [
    ("bert", "self", 0, 3, 7),
    ("gpt2", "self", 1, 7, 3),
    ("gpt-neox", "self", 0, 9, 2),
    ("llama", "self", 3, 7, 3),
    ("qwen3", "self", 1, 5, 2),
    ("gemma2", "self", 2, 7, 5),
    ("gpt-oss", "self", 3, 7, 5),
    ("deepseek-v3", "self", 0, 7, 3),
    ("deberta", "self", 1, 2, 9),
    ("mpt", "self", 3, 7, 3),
    ("t5", "encoder", 1, 3, 11),
    ("t5", "decoder", 1, 3, 1),
    ("t5", "cross", 1, 3, 11),
    ("bart", "cross", 0, 4, 10),
    ("minilm", "self", 1, 10, 2),
    ("arrays", "cross", 1, 3, 5),
]
# What stands in the formula beside Q, K, V, softmax and √d.
FORMULAS = {
    ("bert", "self"): "softmax(QKT√dk)V",
    ("gemma2", "self"): "softmax(2·tanh(0.25·QKT2))V",
    ("gpt-oss", "self"): "softmax(QKT√dk,s)V",
    ("deberta", "self"): "softmax(QKT+B)V",
    ("mpt", "self"): "softmax(QKT√dk+B)V",
    ("t5", "encoder"): "softmax(QKT+B)V",
    ("t5", "cross"): "softmax(QKT)V",
    ("weights", "self"): "weightsV",
}
BUDGET = 100  # Milliseconds from a choice to what it shows.


def head_of(name: str, stack: str, h: int) -> ac.HeadSteps:
    return REAL[name]().trace().stacks[stack][0].head(h)


@pytest.fixture
def show(planted):
    """Open a head's walk at a step."""

    def shown(name: str, stack: str = "self", h: int = 0, step: str = "project", **more: object) -> Page:
        page = planted.reader().new_page()
        fields = {"head": name, "stack": stack, "h": h, "picture": "steps", "step": step, **more}
        page.goto(f"{planted.address}/?{urlencode(fields)}")
        wait_drawn(page, "steps")
        return page

    return shown


def near(shown: object, wanted: object) -> None:
    """Equal as far as two ways of adding up float32 numbers are; of a head in float64, to its last digits."""
    wanted = np.asarray(wanted)
    share = 1e-5 if wanted.dtype == np.float32 else 1e-12
    finite = np.abs(wanted[np.isfinite(wanted)])
    np.testing.assert_allclose(shown, wanted, rtol=share, atol=share * float(finite.max(initial=0.0)))


def go(page: Page, step: str) -> None:
    page.locator(f"{VIEW} [data-action=tab-{step}]").click()
    at_step(page, step)


def project_is_right(page: Page, head: ac.HeadSteps, i: int, j: int) -> None:
    go(page, "project")
    read = reading.Numbers(page)
    for part in ("q", "k", "v"):
        near(read.matrix(part)[j if part != "q" else i], getattr(head, part)[j if part != "q" else i])
        made = getattr(head, f"{part}_projected", None)
        assert (made is not None) == any(number["matrix"] == f"{part}_projected" for number in read.all)
        if made is not None:
            near(read.matrix(f"{part}_projected"), made)
    if head.x is None:
        assert page.locator(f"{VIEW} .notice").count() == 1
        return
    for part, row in (("v", j), ("k", j), ("q", i)):
        bill_is_right(page, head, part, row)


def bill_is_right(page: Page, head: ac.HeadSteps, part: str, row: int) -> None:
    """x w + b of one number, and what the model turned it into."""
    is_made = getattr(head, f"{part}_projected", None) is not None
    choose(page, f"{part}_projected" if is_made else part, row, 1)
    read = reading.Numbers(page)
    x, w, b = head.x if part == "q" else head.x_key, getattr(head, f"w_{part}"), getattr(head, f"b_{part}")
    sums = read.stated("sum")
    assert list(sums) == [(row, 1)]
    near(sums[row, 1], (x.astype(np.float64) @ w).astype(np.float32)[row, 1])
    products = read.stated("products", "bill")
    near([products[row, c] for c in range(len(products))], (x[row] * w[:, 1])[: len(products)])
    if b is not None:
        near([read.stated(f"b_{part}")[0, c] for c in range(2)], b[:2])
    near(sums[row, 1] + (0 if b is None else b[1]), getattr(head, f"{part}_projected" if is_made else part)[row, 1])


def score_is_right(page: Page, head: ac.HeadSteps, i: int, j: int) -> None:
    go(page, "score")
    choose(page, "scores", i, j)
    bill, read = head.explain(i, j), reading.Numbers(page)
    near(read.matrix("scores"), head.scores)
    products = read.stated("products")
    near([products[i, c] for c in range(head.q.shape[1])], bill.products)
    near(read.stated("score")[i, j], head.scores[i, j])


def softmax_is_right(page: Page, head: ac.HeadSteps, i: int, j: int) -> None:
    go(page, "softmax")
    bill, read = head.explain(i, j), reading.Numbers(page)
    weights, sums = read.matrix("weights"), read.stated("weight_sum")
    near(weights, head.weights)
    shown = {name: read.stated(name) for name in ("scaled", "masked", "exp", "row_sum", "row_max")}
    kind = head.q.dtype.type
    stated = [shown["exp"][i, j], shown["row_sum"][i, 0], shown["row_max"][i, 0]]
    near(stated, np.array([bill.exp, bill.row_sum, bill.row_max], kind))
    near([shown["scaled"][i, c] for c in range(len(head.k))], head.scaled[i])
    if not head.allowed.all():
        near([shown["masked"][i, c] for c in range(len(head.k))], head.masked[i])
    if head.bias is not None and head.bias.any():
        near(read.matrix("bias"), head.bias)
    sink = np.zeros(len(head.q)) if head.sink is None else [read.stated("sink")[row, 0] for row in range(len(head.q))]
    near(sink, np.zeros(len(head.q), kind) if head.sink is None else head.sink)
    # With the sink, every row that has a key adds up to 1, in the cells and in the sum that stands beside them.
    np.testing.assert_allclose(weights.sum(axis=1) + sink, 1, atol=1e-5)
    np.testing.assert_allclose([sums[row, 0] for row in range(len(head.q))], 1, atol=1e-5)


def sum_is_right(page: Page, head: ac.HeadSteps, i: int, j: int) -> None:
    go(page, "sum")
    bill, read = head.explain(i, j), reading.Numbers(page)
    terms = read.matrix("bill")
    near(terms[j], bill.weighted_value)
    near(read.matrix("output"), head.output)
    near(terms.sum(axis=0).astype(head.v.dtype), head.output[i])
    if head.w_o is None:
        assert page.locator(f"{VIEW} [data-matrix=written]").count() == 0
        return
    part = head.output[i] @ head.w_o
    written = read.stated("head_written", "written")
    near([written[i, c] for c in range(len(written))], part[: len(written)])
    assert not read.stated("written"), "what the whole layer adds is not kept with a trace"


@pytest.mark.parametrize(("name", "stack", "h", "i", "j"), SHOWN)
def test_all_four_steps_equal_python(show, name, stack, h, i, j):
    head = head_of(name, stack, h)
    assert head.allowed[i, j]
    page = show(name, stack, h)
    score_is_right(page, head, i, j)
    softmax_is_right(page, head, i, j)
    sum_is_right(page, head, i, j)
    project_is_right(page, head, i, j)


@pytest.mark.parametrize(("name", "stack"), FORMULAS)
def test_the_formula_is_the_models_own(show, name, stack):
    page = show(name, stack, step="softmax")
    text = page.locator(f"{VIEW} .formula").inner_text()
    assert re.sub(r"\s", "", text) == FORMULAS[name, stack]
    bold = "nodes => nodes.filter((n) => getComputedStyle(n).fontWeight === '700').map((n) => n.classList[1].slice(5))"
    lit = set(page.locator(f"{VIEW} .formula .term").evaluate_all(bold))
    assert lit == set(page.locator(f"{VIEW} .formula .term").evaluate_all(ALL)) - {"q", "k", "v"}


ALL = "nodes => nodes.map((n) => n.classList[1].slice(5))"


def test_a_sink_is_a_cell_with_a_name(show):
    head = head_of("gpt-oss", "self", 0)
    page = show("gpt-oss", step="softmax", token=7)
    for key, value in (("weights", head.sink[7]), ("scaled", head.sink_logit)):
        view = page.locator(f"{VIEW} [data-matrix={key}]")
        expect(view.locator(".head .lead")).to_have_text("sink")
        near(float(view.locator(".matrix-row:nth-child(9) .lead").get_attribute("data-value")), np.float32(value))
    row = page.locator(f"{VIEW} .bill tfoot tr").first
    expect(row).to_contain_text("sink (no token)")
    near(float(row.locator("td").last.get_attribute("data-value")), head.sink[7])
    expect(page.locator(f"{VIEW} .own")).to_contain_text("with it the row adds up to 1")


def test_turned_queries_and_keys_stand_beside_what_they_were(show):
    page = show("gpt-neox", token=5)
    said = page.locator(f"{VIEW} .turned").inner_text()
    assert "each row keeps its length" in said
    assert "V is never turned" in said
    assert page.locator(f"{VIEW} [data-matrix=v_projected]").count() == 0
    head = head_of("gpt-neox", "self", 0)
    choose(page, "q", 5, 2)
    shown = page.locator(f"{VIEW} .totals .number")
    near(float(shown.last.get_attribute("data-value")), head.q[5, 2])
    near(float(shown.nth(-2).get_attribute("data-value")), head.q_projected[5, 2])


def test_cross_attention_has_two_inputs_with_their_own_tokens(show):
    trace = REAL["bart"]().trace()
    page = show("bart", "cross")
    for key, tokens in (("x", trace.target_tokens), ("x_key", trace.tokens)):
        labels = page.locator(f"{VIEW} [data-matrix={key}] [data-row-label]").all_inner_texts()
        assert labels == [token.shown for token in tokens]
    read, layer = reading.Numbers(page), trace.stacks["cross"][0]
    near(read.matrix("x"), layer.x)
    near(read.matrix("x_key"), layer.x_key)


def test_grouped_heads_say_which_keys_they_read(show):
    page = show("llama", "self", 3, "score")
    note = page.locator(f"{VIEW} .corner").inner_text()
    assert "Query head 3" in note
    assert "key/value head 1" in note
    assert "query heads 2–3" in note


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_of_weights_alone_only_weights_are_shown(show, lang):
    given = REAL["weights"]().trace().layers[0].weights(0)
    page = show("weights", lang=lang)
    for step in STEPS:
        go(page, step)
        expect(page.locator(f"{VIEW} .notice")).to_have_count(1)
        read = reading.Numbers(page)
        if step == "softmax":
            near(read.matrix("weights"), given)
            assert {number["stage"] for number in read.all} <= {"weights", "weight_sum"}
        else:
            assert read.all == []


# The chosen cell of every matrix that has one, and whether the reader sees it: nothing lies over its middle.
SEEN = """view => [...view.querySelectorAll('.stage .cell.chosen')].map((cell) => {
  // The page moves, so that the matrix is on screen; what stands in its frame does not.
  cell.closest('.matrix-frame').scrollIntoView({ block: 'center' });
  const now = cell.getBoundingClientRect();
  const over = view.getRootNode().elementFromPoint(now.left + now.width / 2, now.top + now.height / 2);
  const frame = cell.closest('.matrix-frame').getBoundingClientRect();
  const inside = now.left >= frame.left - 1 && now.right <= frame.right + 1;
  return { matrix: cell.closest('[data-matrix]').dataset.matrix, at: [cell.dataset.row, cell.dataset.col].map(Number),
           seen: now.width > 0 && inside && cell.contains(over) };
})"""
MAIN = {"project": "q", "score": "scores", "softmax": "weights", "sum": "weights"}


@pytest.mark.parametrize("name", ["minilm-long", "largest"])
def test_the_chosen_cell_of_a_long_text_is_in_view_with_all_its_terms(show, name):
    head = head_of(name, "self", 0)
    i, j = len(head.q) - 3, len(head.k) - 9
    page = show(name, step="softmax", token=i, key=j)
    for step in ("sum", "softmax", "score"):
        go(page, step)
        cells = page.locator(VIEW).evaluate(SEEN)
        assert MAIN[step] in {cell["matrix"] for cell in cells}, step
        assert all(cell["at"] == [i, j] and cell["seen"] for cell in cells), (step, cells)
    bill, read = head.explain(i, j), reading.Numbers(page)
    products = read.stated("products")
    near([products[i, c] for c in range(head.q.shape[1])], bill.products)
    near(read.stated("score")[i, j], head.scores[i, j])
    go(page, "softmax")
    read = reading.Numbers(page)
    near(read.stated("weights")[i, j], head.weights[i, j])
    near(read.stated("row_sum")[i, 0], np.float32(bill.row_sum))
    # The words of so long a row come and go with scrolling; the chosen one is there.
    rows = page.locator(f"{VIEW} .bill tbody tr:not([aria-hidden])")
    assert rows.count() < 64 < len(head.k)
    box, row = (page.locator(f"{VIEW} {where}").bounding_box() for where in (".bill-box", ".bill tbody tr.lit"))
    assert box["y"] < row["y"] < row["y"] + row["height"] < box["y"] + box["height"]
    go(page, "sum")
    output = reading.Numbers(page).stated("output")
    near([output[i, c] for c in range(8)], head.output[i, :8])


HOVER = """
const cells = view.querySelectorAll('[data-matrix="%s"] .cell[data-row]');
const over = new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' });
cells[Math.floor(cells.length * %s)].dispatchEvent(over);
"""
# Do something and wait until it is drawn.
DRAWN = """(view, does) => new Promise((done) => {
  new Function('view', does)(view);
  requestAnimationFrame(() => { view.scrollHeight; setTimeout(done); });
})"""
WORK = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
MOST_NUMBERS = 4000  # In the document at once; a 512 × 512 matrix alone has 262,144.
# Of the page's own thread, for one choice: 100 ms on a machine of one's own; what shares it slows every step down.
MILLISECONDS = 250


def work_of(page: Page, *turns: str) -> float:
    """Milliseconds that the page's thread works on the last of these: the least of three, others only add to it."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        found = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
        return 1000 * sum(found[name] for name in WORK)

    def once() -> float:
        for does in turns:
            before = spent()
            page.locator(VIEW).evaluate(DRAWN, does)
        return spent() - before

    return min(once() for _ in range(3))


@pytest.mark.parametrize("name", ["minilm-long", "largest"])
def test_long_texts_and_wide_models_stay_quick(show, name):
    page = show(name, step="score", token=len(REAL[name]().trace().tokens) - 3)
    tab = "view.querySelector('[data-action=tab-%s]').click();"
    for step in STEPS:
        drawn = work_of(page, tab % ("score" if step != "score" else "project"), tab % step)
        at_step(page, step)
        hovered = work_of(page, HOVER % (MAIN[step], 0.2), HOVER % (MAIN[step], 0.6))
        count = page.locator(f"{VIEW} .stage [data-value]").count()
        print(f"{name} {step}: {drawn:.0f} ms, hover {hovered:.0f} ms, {count} numbers in the document")
        assert count < MOST_NUMBERS, step
        # What comes and goes with scrolling is there wherever there is room for it.
        counts = page.locator(f"{VIEW} .stage .matrix:visible").evaluate_all(
            "all => all.map((m) => [m.dataset.matrix, m.querySelectorAll('.cell[data-row]').length])"
        )
        assert all(shown > 30 for _, shown in counts), counts
        assert drawn < MILLISECONDS, step
        assert hovered < MILLISECONDS / 4, step
