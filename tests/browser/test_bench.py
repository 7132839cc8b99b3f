"""The bench: immediate, exact, told once, undone, handed on; and exercises by hand, mouse and finger."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import attention_core as ac
from attention_core.exercises import exercise
from tests.browser import benches, reading
from tests.browser.benches import SHEET, VIEW, handle, stage
from tests.browser.test_access import BEYOND, SMALL, violations
from ui import bench, bench_codes
from ui.translations import words

STAGES = ("scores", "scaled", "weights", "output")

# Drag in the page itself, with time between the moves for whatever would be sent: what was sent is counted beside the
# score that has moved by then.
DRAG = """async ([view, vector, dx, dy, kind]) => {
  const node = view.querySelector(`.handle[data-vector=${vector}]`);
  const box = node.getBoundingClientRect();
  const at = (x, y) => ({
    bubbles: true, pointerId: 7, pointerType: kind, isPrimary: true, button: 0, buttons: 1, clientX: x, clientY: y,
  });
  const score = () => view.querySelector('.figures [data-stage=score]').dataset.value;
  node.setPointerCapture = () => {};
  const before = { score: score(), sent: window.sent };
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  node.dispatchEvent(new PointerEvent('pointerdown', at(x, y)));
  const seen = [];
  for (let part = 1; part <= 10; part += 1) {
    node.dispatchEvent(new PointerEvent('pointermove', at(x + dx * part / 10, y + dy * part / 10)));
    seen.push(score());
    await new Promise((done) => setTimeout(done, 60));
  }
  const during = window.sent - before.sent;
  node.dispatchEvent(new PointerEvent('pointerup', at(x + dx, y + dy)));
  return { before: before.score, seen, during };
}"""


def drag(page: Page, vector: str, dx: float, dy: float, kind: str = "mouse") -> dict:
    view = page.locator(VIEW).element_handle()
    return page.evaluate(DRAG, [view, vector, dx, dy, kind])


def rest(page: Page, milliseconds: int = 900) -> int:
    """Let everything arrive that is on its way; returns how many messages were sent since the page was opened."""
    page.wait_for_timeout(milliseconds)
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    return page.evaluate("window.sent")


def of_address(page: Page) -> bench.Bench:
    return bench_codes.decode(reading.fields(page)["bench"])


def equals_python(page: Page, lying: bench.Bench) -> None:
    steps = lying.steps()
    for name in (*STAGES, *(["masked"] if lying.is_causal else [])):
        np.testing.assert_allclose(stage(page, name), getattr(steps, name), rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", bench.presets())
@pytest.mark.parametrize("is_causal", [False, True])
def test_every_number_equals_python(visit, name, is_causal):
    page = visit("bench")
    benches.press(page, f"preset-{name}")
    if is_causal:
        benches.press(page, "causal")
    ready = bench.presets()[name]
    lying = replace(ready, is_causal=is_causal)
    reading.wait_address(page, bench=bench_codes.encode(lying))
    equals_python(page, lying)


def test_numbers_from_a_seed_in_every_size_equal_python(visit):
    page = visit("bench", bench=bench_codes.encode(bench.presets()["tied"]))
    for seed, grow in ((5, "more-d"), (31, "more-n"), (32, "more-d"), (2_000_000_011, "more-n")):
        benches.press(page, grow)
        page.locator(f"{VIEW} [data-action=seed]").fill(str(seed))
        before = page.url
        benches.press(page, "draw")
        page.wait_for_function("url => location.href !== url", arg=before)
        rest(page, 500)
        lying = of_address(page)
        assert lying == bench.drawn(seed, like=lying)
        np.testing.assert_array_equal(benches.editor(page, "x"), lying.x)
        np.testing.assert_allclose(stage(page, "q"), np.array(lying.x) @ lying.w_q, rtol=0, atol=1e-12)
        equals_python(page, lying)
    assert (lying.n, lying.d) == (6, 4)


@pytest.mark.parametrize("kind", ["mouse", "touch"])
@pytest.mark.parametrize("vector", ["qA", "kB", "kC"])
def test_dragging_moves_the_score_without_the_server_and_releasing_sends_one_message(visit, vector, kind):
    page = visit("bench")
    before = rest(page)
    if vector[0] == "k":
        handle(page, vector).focus()
        before = rest(page)
    done = drag(page, vector, -60, 45, kind)
    assert done["during"] == 0
    assert len({done["before"], *done["seen"]}) >= 8
    assert rest(page) == before + 1
    lying = of_address(page)
    assert lying != bench.presets()["first"]
    equals_python(page, lying)
    assert benches.figure(page, "score") == pytest.approx(float(done["seen"][-1]), abs=1e-12)


def test_the_figures_are_those_of_the_vectors(visit):
    page = visit("bench", bench=bench_codes.encode(bench.presets()["hand"]))
    for query, key in ((0, 1), (2, 0), (1, 2)):
        page.locator(f"{VIEW} [data-matrix=scores] .cell[data-row='{query}'][data-col='{key}']").click()
        q, k, _ = bench.presets()["hand"].vectors()
        a, b = q[query], k[key]
        assert benches.figure(page, "length_q") == pytest.approx(math.sqrt(a @ a), rel=1e-12)
        assert benches.figure(page, "length_k") == pytest.approx(math.sqrt(b @ b), rel=1e-12)
        angle = math.degrees(math.acos(a @ b / math.sqrt((a @ a) * (b @ b))))
        assert benches.figure(page, "angle") == pytest.approx(angle, abs=1e-9)
        assert benches.figure(page, "score") == a @ b
        reading.wait_address(page, bench=bench_codes.encode(_looking(query, key)))


def _looking(query: int, key: int) -> bench.Bench:
    return bench.parse({**bench.as_data(bench.presets()["hand"]), "query": query, "key": key})


def test_a_real_mouse_drags_and_escape_takes_it_back(visit):
    page = visit("bench")
    start = benches.editor(page, "q")
    x, y = benches.centre(handle(page, "qA"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 90, y - 60, steps=4)
    assert benches.editor(page, "q")[0, 0] < start[0, 0]
    page.keyboard.press("Escape")
    page.mouse.up()
    np.testing.assert_array_equal(benches.editor(page, "q"), start)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 90, y - 60, steps=4)
    page.mouse.up()
    moved = benches.editor(page, "q")
    assert moved[0, 0] < start[0, 0] < start[0, 0] + 1
    assert moved[0, 1] > start[0, 1]
    np.testing.assert_array_equal(moved[1:], start[1:])
    np.testing.assert_allclose(moved * 10, np.round(moved * 10), atol=1e-9)  # By whole steps of 0.1.


def test_a_finger_drags(visit):
    reader = visit.reader(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = visit("bench", reader=reader)
    place = handle(page, "qA")
    place.scroll_into_view_if_needed()
    start = benches.editor(page, "q")
    x, y = benches.centre(place)
    touch = reader.new_cdp_session(page)
    send = lambda kind, *points: touch.send(  # noqa: E731
        "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]}
    )
    scrolled = page.locator("[data-testid=stMain]").evaluate("n => n.scrollTop")
    send("touchStart", (x, y))
    for part in range(1, 9):
        send("touchMove", (x - 8 * part, y - 9 * part))
    send("touchEnd")
    rest(page)
    moved = benches.editor(page, "q")
    assert moved[0, 0] < start[0, 0]
    assert moved[0, 1] > start[0, 1]
    assert page.locator("[data-testid=stMain]").evaluate("n => n.scrollTop") == scrolled
    equals_python(page, of_address(page))


def test_the_keyboard_alone_moves_an_arrow_and_undoes_it(visit):
    page = visit("bench")
    start = benches.editor(page, "k")
    page.locator(f"{VIEW} [data-action=reset]").focus()
    reading.tab_to(page, r"handle k")
    assert handle(page, "kA").evaluate("node => node.getRootNode().activeElement === node")
    before = rest(page)
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    expected = start + np.array([[0.1, 0.5], [0, 0], [0, 0]])
    np.testing.assert_allclose(benches.editor(page, "k"), expected, atol=1e-12)
    assert rest(page) == before + 1, "several keys are one change"
    page.keyboard.press("Control+z")
    np.testing.assert_array_equal(benches.editor(page, "k"), start)
    page.keyboard.press("Control+Shift+z")
    np.testing.assert_allclose(benches.editor(page, "k"), expected, atol=1e-12)
    rest(page)
    np.testing.assert_allclose(of_address(page).k, expected, atol=1e-12)


def test_a_number_counts_while_it_is_typed_and_is_told_once(visit):
    page = visit("bench")
    before = rest(page)
    cell = benches.box(page, "q", 1, 0)
    cell.click()
    page.keyboard.press("Control+a")
    for text, value in (("2", 2), (",", 2), ("5", 2.5)):
        page.keyboard.type(text)
        assert benches.editor(page, "q")[1, 0] == value
        assert stage(page, "scores")[1, 0] == pytest.approx(value * 0.5 + 1.5 * 1.5, abs=1e-12)
    page.keyboard.type("x")
    expect(cell).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Enter")
    expect(cell).to_have_value("2.5")
    assert reading.held(page).endswith("number-box")
    assert rest(page) == before + 1
    equals_python(page, of_address(page))
    page.keyboard.press("Control+z")
    assert benches.editor(page, "q")[1, 0] == -0.5
    benches.press(page, "redo")
    assert benches.editor(page, "q")[1, 0] == 2.5
    benches.press(page, "reset")
    np.testing.assert_array_equal(benches.editor(page, "q"), bench.presets()["first"].q)


def test_made_from_x_the_arrows_are_locked_and_say_so(visit):
    page = visit("bench", bench=bench_codes.encode(bench.presets()["tied"]))
    expect(page.locator(f"{VIEW} .locked")).to_contain_text("made from X")
    scores = stage(page, "scores")
    drag(page, "qA", -60, 45)
    handle(page, "qA").press("ArrowUp")
    np.testing.assert_array_equal(stage(page, "scores"), scores)
    benches.box(page, "x", 0, 0).fill("3")
    assert stage(page, "q")[0].tolist() == [3, 2]
    benches.box(page, "x", 0, 0).press("Enter")
    q = stage(page, "q")
    page.locator(f"{VIEW} .locked button").click()
    np.testing.assert_array_equal(benches.editor(page, "q"), q)
    expect(page.locator(f"{VIEW} .locked")).to_be_empty()
    drag(page, "qB", 40, 40)
    assert (benches.editor(page, "q") != q).any()
    rest(page)
    equals_python(page, of_address(page))


def test_the_plane_says_which_dimensions_it_shows_and_shows_others(visit):
    page = visit("bench", bench=bench_codes.encode(bench.presets()["hand"]))
    up = page.locator(f"{VIEW} [data-action=axis-1]")
    expect(up).to_have_value("1")
    up.select_option("3")
    start = benches.editor(page, "k")
    handle(page, "kB").focus()
    page.keyboard.press("ArrowUp")
    changed = np.zeros((3, 4))
    changed[1, 3] = 0.1
    np.testing.assert_allclose(benches.editor(page, "k") - start, changed, atol=1e-12)
    rest(page)
    assert of_address(page).axes == (0, 3)
    page.locator(f"{VIEW} [data-action=axis-0]").select_option("3")
    rest(page)
    assert of_address(page).axes == (3, 0)


def test_a_copied_link_and_a_file_bring_everything_back(visit, tmp_path):
    page = visit("bench", bench=bench_codes.encode(bench.presets()["tied"]))
    for action in ("more-d", "more-n", "causal"):
        benches.press(page, action)
    handle(page, "kC").focus()
    rest(page)
    lying = of_address(page)
    other = visit.follow(page.url, "bench")
    equals_python(other, lying)
    assert of_address(other) == lying
    assert other.locator(f"{VIEW} .said").inner_text() == page.locator(f"{VIEW} .said").inner_text()
    with page.expect_download() as download:
        page.locator(".st-key-bench_save button").click()
    path = tmp_path / "bench.json"
    download.value.save_as(path)
    assert bench_codes.from_file(path.read_bytes()) == lying
    third = visit("bench")
    third.locator(".st-key-bench_load_box button").click()
    third.locator(".st-key-bench_load input[type=file]").set_input_files(path)
    reading.wait_address(third, bench=bench_codes.encode(lying))
    equals_python(third, lying)
    third.keyboard.press("Escape")
    benches.press(third, "undo")
    np.testing.assert_array_equal(benches.editor(third, "q"), bench.presets()["first"].q)


def test_a_bad_file_is_refused_in_a_sentence_and_nothing_is_lost(visit, tmp_path):
    page = visit("bench", lang="en")
    start = of_address(page)
    large = {**json.loads(bench_codes.to_file(start)), "q": [[1e9, 0], [0, 1], [1, 1]]}
    page.locator(".st-key-bench_load_box button").click()
    bad = {"is not a saved bench": "no JSON", "A number in this file cannot be used": json.dumps(large)}
    for number, (said, text) in enumerate(bad.items()):
        path = tmp_path / f"bad{number}.json"
        path.write_text(text)
        page.locator(".st-key-bench_load input[type=file]").set_input_files(path)
        expect(page.locator("[data-testid=stAlert]")).to_contain_text(said)
    assert of_address(page) == start
    page.keyboard.press("Escape")
    drag(page, "qA", -60, 45)
    expect(page.locator("[data-testid=stAlert]")).to_have_count(0)


def test_the_sentence_follows_the_numbers(visit):
    page = visit("bench", bench=bench_codes.encode(bench.presets()["long_key"]))
    said = page.locator(f"{VIEW} .said")
    expect(said).to_have_attribute("data-kind", "longer")
    expect(said).to_contain_text("3.0 times as long")
    for i, j, value in ((1, 0, "0"), (1, 1, "0")):
        benches.box(page, "k", i, j).fill(value)
    expect(said).not_to_have_attribute("data-kind", "longer")
    for j in (0, 1):
        benches.box(page, "q", 0, j).fill("0")
    expect(said).to_have_attribute("data-kind", "no_question")
    expect(said).to_contain_text("33.3%")
    benches.press(page, "causal")
    expect(said).to_have_attribute("data-kind", "alone")
    benches.press(page, "preset-tied")
    expect(page.locator(f"{VIEW} .note")).to_contain_text(words("en")("bench.symmetric"))
    benches.box(page, "w_q", 0, 1).fill("2")
    expect(page.locator(f"{VIEW} .note")).to_be_empty()


def reason(lying: bench.Bench) -> tuple[str, str, str]:
    """Who gets most of the asker's attention, how much, and why: worked out here on its own."""
    steps = lying.steps()
    row = steps.weights[lying.query]
    second, first = np.argsort(row)[-2:]
    q, lengths = steps.q[lying.query], np.linalg.norm(steps.k, axis=1)
    cosines = steps.k @ q / lengths / np.linalg.norm(q)
    is_nearer, is_longer = cosines[first] > cosines[second], lengths[first] > lengths[second]
    kinds = {(True, True): "both", (False, True): "longer", (True, False): "closer_shorter", (False, False): "shorter"}
    is_alike = is_nearer and abs(lengths[first] / lengths[second] - 1) < 0.02
    return "ABCDEF"[first], f"{row[first]:.1%}", "closer" if is_alike else kinds[is_nearer, is_longer]


def test_the_sentence_is_true_of_numbers_from_seeds(visit):
    page = visit("bench", lang="en", bench=bench_codes.encode(replace(bench.presets()["first"], query=1)))
    said, seen = page.locator(f"{VIEW} .said"), set()
    for seed in (0, 3, 22, 55, 57, 59):
        page.locator(f"{VIEW} [data-action=seed]").fill(str(seed))
        lying = bench.drawn(seed, like=of_address(page))
        benches.press(page, "draw")
        reading.wait_address(page, bench=bench_codes.encode(lying))
        key, weight, kind = reason(lying)
        expect(said).to_contain_text(f"B looks at {key} most: {weight}.")
        expect(said).to_have_attribute("data-kind", kind)
        seen.add(kind)
    assert len(seen) == 5


def test_the_history_outlives_a_look_at_another_page(visit):
    page = visit("bench")
    benches.press(page, "preset-long_key")
    drag(page, "qA", -40, 30)
    rest(page)
    page.get_by_role("link", name="Learn").click()
    page.wait_for_selector(".st-key-learn .view[data-revision]")
    page.get_by_role("link", name="Bench").click()
    page.wait_for_selector(f"{VIEW}[data-revision]")
    benches.press(page, "undo")
    np.testing.assert_array_equal(benches.editor(page, "q"), bench.presets()["long_key"].q)


def open_sheet(visit, code: str, **fields: object) -> Page:
    reader = fields.pop("reader", None) or visit.reader()
    page = reader.new_page()
    query = "&".join(f"{name}={value}" for name, value in {"part": "exercise", "exercise": code, **fields}.items())
    page.goto(f"{visit.address}/bench?{query}")
    page.wait_for_selector(f"{SHEET}[data-revision]")
    return page


def test_an_exercise_is_judged_stage_by_stage(visit):
    page = open_sheet(visit, "17-all-4-mask", lang="en")
    steps = exercise(17, masked=True).steps
    say = words("en")
    for name, wrong, kind in (
        ("scores", steps.scores.T, "transposed"),
        ("scaled", steps.scores, "not_scaled"),
        ("masked", steps.scaled, "sees_all"),
        ("weights", ac.attention(steps.q, steps.k, steps.v).weights * steps.allowed, "mask_after"),
        ("output", steps.v, "own_value"),
    ):
        benches.fill(page, name, wrong)
        expect(benches.check(page, name)).to_contain_text(say(f"exercise.kind_{kind}"))
        benches.fill(page, name, getattr(steps, name))
        expect(page.locator(f"{SHEET} .part[data-stage={name}] .verdict")).to_be_empty()
        expect(benches.check(page, name)).to_contain_text(say("exercise.kind_right"))
    expect(page.locator(f"{SHEET} .part[data-kind=right]")).to_have_count(5)


def test_a_wrong_cell_is_shown_and_not_given_away(visit):
    page = open_sheet(visit, "17-all-4", lang="en")
    steps = exercise(17).steps
    benches.fill(page, "weights", steps.weights)
    benches.entry(page, "weights", 1, 2).fill("0.5")
    verdict = benches.check(page, "weights")
    expect(verdict).to_contain_text("B → C")
    expect(benches.entry(page, "weights", 1, 2)).to_have_attribute("aria-invalid", "true")
    assert f"{steps.weights[1, 2]:.2f}" not in verdict.inner_text()
    benches.fill(page, "weights", steps.weights + 0.3)
    expect(benches.check(page, "weights")).to_contain_text("Not right yet: 9 of 9 cells")
    benches.fill(page, "weights", steps.weights)
    benches.entry(page, "weights", 1, 2).fill("0.5")
    benches.entry(page, "weights", 0, 0).fill("three")
    expect(benches.check(page, "weights")).to_contain_text("A → A")
    benches.entry(page, "weights", 0, 0).fill("")
    benches.entry(page, "weights", 1, 2).fill(f"{steps.weights[1, 2]:.3f}")
    expect(benches.check(page, "weights")).to_contain_text("Still empty: A → A")


def test_hints_come_one_by_one_and_the_answer_when_asked_for(visit):
    page = open_sheet(visit, "17-all-4", lang="en")
    steps = exercise(17).steps
    part = page.locator(f"{SHEET} .part[data-stage=scores]")
    for count in (1, 2, 3):
        part.locator("[data-action=hint]").click()
        expect(part.locator(".hints li")).to_have_count(count)
    assert part.locator(".hints li").last.inner_text().endswith(f"= {steps.scores[2, 0]:.0f}")
    expect(part.locator("[data-action=hint]")).to_have_attribute("aria-disabled", "true")
    part.locator("[data-action=show]").click()
    shown = [float(text.replace("−", "-")) for text in reading.texts(page, f"{SHEET} .answer td:not(:empty)")]
    np.testing.assert_array_equal(shown, steps.scores.ravel())


def test_the_keyboard_alone_fills_a_sheet_and_what_was_typed_stays_for_the_visit(visit):
    page = open_sheet(visit, "17-row-2", lang="en")
    steps = exercise(17, ask="row", d_head=2).steps
    benches.entry(page, "scores", 0, 0).focus()
    for value in steps.scores[0]:
        page.keyboard.type(f"{value:.0f}")
        page.keyboard.press("Enter")
    expect(page.locator(f"{SHEET} .part[data-stage=scores] .verdict")).to_contain_text("All right.")
    reading.press_option(page, "lang", "中文")
    expect(page.locator(f"{SHEET} .task")).to_contain_text("由")
    expect(benches.entry(page, "scores", 0, 0)).to_have_value(f"{steps.scores[0, 0]:.0f}")
    page.locator(".st-key-exercise_next button").click()
    reading.wait_address(page, exercise="18-row-2")
    expect(benches.entry(page, "scores", 0, 0)).to_have_value("")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_axe_finds_nothing_serious(visit, lang):
    for theme in ("light", "dark"):
        reader = visit.reader(color_scheme=theme)
        page = visit("bench", reader=reader, lang=lang, bench=bench_codes.encode(bench.presets()["tied"]))
        assert violations(page) == [], theme
        benches.press(page, "preset-hand")
        assert violations(page) == [], theme
        page = open_sheet(visit, "17-all-4-mask", reader=reader, lang=lang)
        benches.entry(page, "scores", 0, 0).fill("9")
        benches.check(page, "scores")
        page.locator(f"{SHEET} [data-action=hint]").first.click()
        expect(page.locator(f"{SHEET} [aria-invalid]")).to_have_count(1)
        assert violations(page) == [], theme


@pytest.mark.parametrize(("width", "projector"), [(390, 0), (1400, 0), (1400, 1)])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_is_cut_off(visit, width, projector, lang):
    reader = visit.reader(viewport={"width": width, "height": 900})
    big = bench.drawn(3, like=bench.from_inputs(np.ones((6, 4)), *np.ones((3, 4, 4))))
    pages = [(VIEW, visit("bench", reader=reader, lang=lang, projector=projector, bench=bench_codes.encode(each)))
             for each in (big, bench.presets()["first"])]  # fmt: skip
    pages.append((SHEET, open_sheet(visit, "17-all-4-mask", reader=reader, lang=lang, projector=projector)))
    for view, page in pages:
        main = page.locator("[data-testid=stMain]").evaluate("n => [n.scrollWidth, n.clientWidth]")
        assert main[0] <= main[1], "the page scrolls sideways"
        assert page.locator(view).evaluate(BEYOND) == []
        if projector:
            assert page.locator(view).evaluate(SMALL) == []
