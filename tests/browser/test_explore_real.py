"""The Explore picture on what no taught model makes: rectangles, sinks, words, pairs, long texts, real models."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser import reading
from tests.browser.explore_heads import LONG, TRACES
from ui.translations import LANGUAGES, words

EXPLORE = ".st-key-explore"


def weights(name: str, head: int = 0) -> np.ndarray:
    return TRACES[name]().trace().layers[0].weights(head)


def said(page: Page) -> str:
    return page.locator(f"{EXPLORE} .said").inner_text()


def readout(page: Page) -> str:
    return page.locator(f"{EXPLORE} .readout").inner_text()


def chips(page: Page, line: str) -> list[str]:
    return page.locator(f"{EXPLORE} .line.{line} .chip bdi").all_inner_texts()


def titles(page: Page, line: str = "askers") -> list[str]:
    return page.locator(f"{EXPLORE} .line.{line} .chip").evaluate_all("chips => chips.map((chip) => chip.title)")


def bill_stages(page: Page) -> dict[str, float]:
    names = reading.texts(page, f"{EXPLORE} .flow .stage small")
    shown = reading.titles(page, f"{EXPLORE} .flow .stage b")
    return {name: reading.number(value) for name, value in zip(names, shown, strict=True)}


# CASES 8: rectangles


def test_a_rectangle_has_its_own_words_on_each_side(planted):
    page = planted(head="rectangle", stack="cross", token=1)
    asking, answering = ["the", "dog", "saw", "the", "cat"], ["der", "Hund", "sah", "die", "Katze", "im", "Garten"]
    assert (chips(page, "askers"), chips(page, "keys")) == (asking, answering)
    assert page.locator(f"{EXPLORE} .row-label bdi").all_inner_texts() == asking
    assert page.locator(f"{EXPLORE} .column-label bdi").all_inner_texts() == answering
    above, below = (page.locator(f"{EXPLORE} .line.{side}").bounding_box()["y"] for side in ("askers", "keys"))
    assert above < below, "who asks stands above who answers"
    arcs = page.locator(f"{EXPLORE} path.arc").evaluate_all("arcs => arcs.map((a) => [a.dataset.query, a.dataset.key])")
    assert arcs == [["1", str(key)] for key in range(7)]
    expect(reading.cell(page, 2, 3)).to_have_class("cell masked")
    best = int(weights("rectangle")[1].argmax())
    assert said(page).startswith(f"dog gives {answering[best]} ")


def test_the_other_direction_of_a_rectangle_looks_at_a_column(planted):
    page = planted(head="rectangle", stack="cross", token=6, look="answers")
    column = weights("rectangle")[:, 6]
    asker = ["the0", "dog", "saw", "the3", "cat"][int(column.argmax())]
    assert re.sub(r"\s", "", said(page)).startswith(f"Gartenislookedatmostby{asker}")
    with reading.redrawn(page):
        page.locator(f"{EXPLORE} .line.keys .chip").nth(0).click()
    first = ["the0", "dog", "saw", "the3", "cat"][int(weights("rectangle")[:, 0].argmax())]
    assert re.sub(r"\s", "", said(page)).startswith(f"derislookedatmostby{first},")
    assert reading.texts(page, f"{EXPLORE} .rank-word")[0] == first


@pytest.mark.parametrize("lang", LANGUAGES)
def test_weights_alone_have_no_bill_and_say_why(planted, lang):
    page = planted(head="rectangle", stack="cross", token=1, lang=lang)
    expect(page.locator(f"{EXPLORE} .bill-body")).to_have_text(words(lang)("remarks.weights_given"))
    expect(page.locator(f"{EXPLORE} .hands")).to_be_hidden()
    expect(page.locator(f"{EXPLORE} .walk")).to_be_hidden()


# Soft-cap, bias, a head's own sink


def test_every_link_of_a_bill_is_drawn_and_they_add_up(planted):
    page = planted(head="no-key", layer=3, h=1, token=5)
    shown, head = bill_stages(page), TRACES["no-key"]().trace().layers[0].head(1)
    key = int(head.weights[5].argmax())
    assert shown["score"] == pytest.approx(head.scores[5, key], rel=1e-6)
    assert shown["soft-capped"] + shown["position bias"] == pytest.approx(shown["scaled"], abs=1e-6)
    assert shown["scaled"] == pytest.approx(head.scaled[5, key], rel=1e-6)
    assert shown["exp"] / shown["row sum"] == pytest.approx(shown["weight"], rel=1e-5)
    assert shown["the sink’s part of it"] / shown["row sum"] == pytest.approx(head.sink[5], rel=1e-5)
    assert "2.5·tanh(" in page.locator(f"{EXPLORE} .flow").inner_text()


def test_a_heads_own_sink_is_a_column_and_stands_in_the_ranking(planted):
    page = planted(head="no-key", layer=3, h=1, token=3)
    head = TRACES["no-key"]().trace().layers[0].head(1)
    column = page.locator(f"{EXPLORE} .heat-rows .no-key")
    shown = [reading.number(title) for title in column.evaluate_all("cells => cells.map((cell) => cell.title)")]
    np.testing.assert_allclose(shown, head.sink, rtol=1e-6)
    expect(page.locator(f"{EXPLORE} .heat-grid .cell")).to_have_count(49)
    expect(page.locator(f"{EXPLORE} .column-label.no-key")).to_have_text("sink")
    exact = map(reading.number, reading.titles(page, f"{EXPLORE} .rank"))
    ranked = dict(zip(reading.texts(page, f"{EXPLORE} .rank-word"), exact, strict=True))
    assert ranked["sink"] == pytest.approx(head.sink[3], rel=1e-6)
    assert sum(ranked.values()) == pytest.approx(1, abs=1e-5), "four keys and the sink"
    column.nth(3).hover()
    assert re.fullmatch(r"four → sink: 0\.\d+, which goes to no word", readout(page))


# CASES 20: a key that is a sink


def test_a_sink_is_labelled_explained_and_can_be_left_out(planted):
    page = planted(head="sink", token=7)
    assert reading.texts(page, f"{EXPLORE} .position")[:2] == ["0 · sink", "1"]
    assert "takes most of this head’s attention" in titles(page)[0]
    whole = weights("sink")
    mean = f"{100 * whole[1:, 0].mean():.1f}%"
    assert f"is a sink: it takes {mean}" in page.locator(f"{EXPLORE} .about").inner_text()
    page = planted(head="sink", token=7, nosink=1)
    gone = f"{100 * whole[:, 0].sum() / len(whole):.1f}%"
    assert f"is left out. It held {gone} of all weight" in page.locator(f"{EXPLORE} .about").inner_text()
    expect(reading.cell(page, 7, 0)).to_have_class("cell hidden")
    expect(reading.cell(page, 3, 9)).to_have_class("cell masked")
    cells = page.locator(f"{EXPLORE} .cell.open[data-row='7']").evaluate_all("cells => cells.map((c) => c.ariaLabel)")
    assert sum(float(cell[:-1]) for cell in cells) == pytest.approx(100, abs=0.1)
    rest = page.locator(f"{EXPLORE} .rest").inner_text()
    assert rest.endswith(f"left out of this view: {100 * whole[7, 0]:.2f}%")
    reading.cell(page, 7, 0).hover()
    assert "left out of this view. It holds 0.9" in readout(page)
    reading.chip(page, 0).hover()
    assert said(page) == "All that <s> gives goes to what is left out."


# CASES 10: whole words


def test_whole_words_sum_what_comes_in_and_average_what_goes_out(planted):
    page = planted(head="pieces", token=1, whole=1)
    assert chips(page, "askers") == ["Ragnarok", "fell", "<b>x</b>"]
    shown = page.locator(f"{EXPLORE} .heat-grid .cell").evaluate_all("cells => cells.map((c) => c.ariaLabel)")
    merged = np.array([float(cell[:-1]) for cell in shown]).reshape(3, 3)
    np.testing.assert_allclose(merged.sum(axis=1), 100, atol=0.02)
    whole = weights("pieces")
    assert merged[0, 2] == pytest.approx(100 * whole[0:3, 4:6].sum(axis=1).mean(), abs=0.006)
    with reading.redrawn(page):
        reading.cell(page, 0, 2).click()
    expect(page.locator(f"{EXPLORE} .bill > h2")).to_have_text("The pieces behind Ragnarok → <b>x</b>")
    pieces = [reading.number(title) for title in reading.titles(page, f"{EXPLORE} .pieces td[title]:not(.sum)")]
    np.testing.assert_allclose(np.reshape(pieces, (3, 2)), whole[0:3, 4:6], rtol=1e-6)
    expect(page.locator(f"{EXPLORE} .cell[aria-selected=true]")).to_have_attribute("data-col", "2")


# Pairs


def test_a_block_of_a_pair_hides_the_others_and_says_how_much_they_hold(planted):
    page = planted(head="pair", token=6, block="BA")
    starts = page.locator(f"{EXPLORE} .unit[data-starts]").evaluate_all("u => u.map((n) => n.dataset.starts)")
    assert starts == ["A", "B"]
    assert page.locator(f"{EXPLORE} .segment").all_inner_texts() == ["A", "B", "A", "B"]
    whole = weights("pair")
    inside = np.zeros((9, 9), dtype=bool)
    inside[5:, :5] = True
    expect(page.locator(f"{EXPLORE} .cell.hidden")).to_have_count(int((~inside).sum()))
    expect(reading.cell(page, 6, 6)).to_have_css("background-image", re.compile("radial-gradient"))
    held = whole[~inside].sum() / 9
    assert f"hold {100 * held:.1f}% of all weight" in page.locator(f"{EXPLORE} .about").inner_text()
    rest = page.locator(f"{EXPLORE} .rest").inner_text()
    assert rest.endswith(f"left out of this view: {100 * whole[6, 5:].sum():.2f}%")
    assert not set(reading.texts(page, f"{EXPLORE} .rank-word")) & {"it", "was", "tired"}


# Tokens and notes


def test_tokens_say_what_was_fed_and_notes_are_sentences(planted):
    page = planted(head="noted", token=4)
    shown = titles(page)
    assert shown[0] == "<s>: the model puts it there by itself\n<s> · position 0 · id 1"
    assert shown[3] == "zebra: not in the model’s vocabulary. It reads <unk> there (id 3)."
    assert shown[4] == "\u2068שלום\u2069 · position 4 · id 40"
    notes = page.locator(f"{EXPLORE} .remarks:not(.about) li").all_inner_texts()
    wanted = ["begins twice", "was typed", "does not read it", "could not be found", "do not sum to 1", "lie outside"]
    assert [part in note for part, note in zip(wanted, notes, strict=True)] == [True] * 6
    expect(page.locator(f"{EXPLORE} .check")).to_contain_class("failed")
    assert (
        reading.view(page).evaluate("view => getComputedStyle(view.querySelector('.chip bdi')).unicodeBidi")
        == "isolate"
    )


# CASES 1: long texts


def painted(page: Page, row: float, column: float) -> tuple[float, float]:
    """Where a place of the painted head (as shares of its sides) is on the page."""
    box = page.locator(f"{EXPLORE} .paper").bounding_box()
    return box["x"] + column * box["width"], box["y"] + row * box["height"]


def test_hundreds_of_words_are_painted_and_read_out_exactly(planted):
    page = planted(head="long-256", token=200)
    whole = weights("long-256")
    page.mouse.move(*painted(page, 100.5 / 256, 50.5 / 256))
    asker, key, shown = re.fullmatch(r"(\S+) → (\S+): weight (\S+)", readout(page)).groups()
    assert (asker, key) == ("w100", "w50")
    assert np.float32(reading.number(shown)) == np.float32(whole[100, 50])
    page.mouse.move(*painted(page, 50.5 / 256, 100.5 / 256))
    assert "may not be seen" in readout(page)
    page.mouse.move(5, 5)
    order = np.argsort(-whole[200], kind="stable")[:5]
    exact = [np.float32(reading.number(title)) for title in reading.titles(page, f"{EXPLORE} .rank")]
    assert exact == list(whole[200, order].astype(np.float32))
    rows = page.locator(f"{EXPLORE} table.unseen tr")
    expect(rows).to_have_count(256)
    room = page.locator(f"{EXPLORE} .line.askers")
    assert room.evaluate("room => room.scrollHeight > room.clientHeight && room.clientHeight < 320")
    line, chip = room.bounding_box(), reading.chip(page, 200).bounding_box()
    assert line["y"] <= chip["y"] <= line["y"] + line["height"], "the chosen word is in sight"


def test_thousands_of_words_come_as_squares_and_another_word_is_asked_for(planted):
    page = planted(head=f"long-{LONG}", token=1500)
    whole = weights(f"long-{LONG}")
    a = -(-LONG // 192)
    assert f"each square is the largest of {a} × {a} cells" in page.locator(f"{EXPLORE} .about").inner_text()
    squares = -(-LONG // a)
    page.mouse.move(*painted(page, 100.5 / squares, 50.5 / squares))
    asker, key, shown, count = re.fullmatch(
        r"(\S+) → (\S+): weight (\S+), the largest of (\d+) cells", readout(page)
    ).groups()
    part = whole[100 * a : 101 * a, 50 * a : 51 * a]
    i, j = np.unravel_index(part.argmax(), part.shape)
    assert np.float32(reading.number(shown)) == part.max()
    assert int(count) == a * a
    names = [f"w{p}" if p % 7 else "the" for p in (100 * a + i, 50 * a + j)]
    assert [re.match(r"w\d+|the", word).group() for word in (asker, key)] == names
    page.mouse.move(*painted(page, 100.5 / squares, 100.5 / squares))
    assert "some of which may not be seen" in readout(page)
    page.mouse.move(*painted(page, 50.5 / squares, 150.5 / squares))
    assert readout(page) == f"None of these {a * a} cells may be seen."
    reading.chip(page, 1490).scroll_into_view_if_needed()
    with reading.redrawn(page):
        reading.chip(page, 1490).click()
    best = int(whole[1490].argmax())
    figure = page.locator(f"{EXPLORE} .rank").first
    assert np.float32(reading.number(figure.get_attribute("title"))) == whole[1490, best]
    expect(page.locator(f"{EXPLORE} .rest")).to_contain_text(f"the other {1491 - 5} words together")
    expect(page.locator(f"{EXPLORE} .chip")).to_have_count(LONG)


def test_a_painted_head_is_read_with_the_arrow_keys(planted):
    page = planted(head="long-100", token=60)
    page.locator(f"{EXPLORE} .paper").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert readout(page).startswith("w2 → w1: weight ")
    with reading.redrawn(page):
        page.keyboard.press("Enter")
    expect(reading.chip(page, 2)).to_have_attribute("aria-pressed", "true")


# Real models


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_real_model_answers_and_lists_its_answers(planted, lang):
    page = planted(head="bert-answers", token=4, lang=lang)
    trace = TRACES["bert-answers"]().trace()
    best = [answers[0].word for answers in trace.predictions]
    assert reading.answer_words(page) == best
    page.locator(f"{EXPLORE} .answer").nth(6).click()
    listed = page.locator(f"{EXPLORE} .answer-list tbody th")
    expect(listed).to_have_text([answer.word for answer in trace.predictions[6]])
    check = page.locator(f"{EXPLORE} .check")
    expect(check).to_contain_class("passed")
    assert {"en": "recorded at the model’s attention function", "zh": "注意力函数处记录"}[lang] in check.inner_text()


def test_grouped_heads_say_whose_keys_they_read(planted):
    page = planted(head="gpt-oss-answers", token=6, h=3)
    about = page.locator(f"{EXPLORE} .about").inner_text()
    assert "Query head 3 reads key/value head 1, together with query heads 2–3." in about
    assert "This head has a sink" in about


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_runs_out_of_a_narrow_page(planted, width, theme):
    reader = planted.reader(viewport={"width": width, "height": 900}, color_scheme=theme)
    for fields in ({"head": "rectangle-steps", "stack": "cross"}, {"head": "long-300"}, {"head": "no-key", "layer": 3}):
        page = planted(reader=reader, **fields)
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 0, fields
        view = reading.view(page).bounding_box()
        for part in (".ribbon", ".heat", ".ranking", ".bill", ".check"):
            box = page.locator(f"{EXPLORE} {part}").bounding_box()
            assert box["x"] + box["width"] <= view["x"] + view["width"] + 1, (fields, part)
