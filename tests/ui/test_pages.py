"""Every page in every language, with what a reader can do there, through Streamlit's own test runner."""

from __future__ import annotations

import csv
import io
from urllib.parse import parse_qs

import numpy as np
import pytest

import attention_core as ac
from attention_core.cards import DEFAULT
from tests.running import TIRED, WIDE
from ui.addresses import MAX_ADDRESS, STEPS
from ui.pictures import table
from ui.translations import LANGUAGES, language_of, words

PAGES = ("explore", "steps")
HEAD = ac.load("pronoun").card.reading_head


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_page_draws_its_picture_in_every_language(open_app, page, lang):
    app = open_app(page, lang=lang)
    header, _ = app.frame(page)
    unit = {"en": "word", "zh": "词"}[lang]
    sections = words(lang).section(page)
    assert set(header["strings"]) == set(sections)
    assert header["strings"]["word" if page == "steps" else "ranking_idle_asks"].count(unit) == 1
    assert [token["shown"] for token in header["tokens"]][7] == "it"
    assert (header["layer"], header["head"]) == HEAD


def test_the_first_picture_is_it_to_animal_with_the_weights_of_the_model(open_app):
    header, arrays = open_app().frame("explore")
    weights = ac.load("pronoun").trace(TIRED).layers[HEAD[0]].weights(HEAD[1])
    np.testing.assert_array_equal(arrays["weights"], weights)
    assert header["token"] == 7
    assert header["bill"]["key"] == 1
    assert header["bill"]["weight"] == weights[7, 1] >= 0.7
    assert header["answers"][7]["word"] == "animal"
    assert header["check"]["passed"]


def test_the_sum_behind_an_answer_adds_up(open_app):
    total = open_app().frame("explore")[0]["answer_sum"]
    assert total["word"] == "animal"
    assert sum(part["logit"] for part in total["parts"]) == pytest.approx(total["logit"], abs=1e-12)
    assert [part["reads"] for part in total["parts"]] == [False, False, True]
    says = sum(word["logit"] for word in total["parts"][2]["words"])
    assert says == pytest.approx(total["parts"][2]["logit"], abs=1e-12)


def test_wide_moves_the_answer_to_the_street(open_app):
    header, arrays = open_app().type(WIDE).frame("explore")
    assert header["token"] == 7
    assert header["bill"]["key"] == 5 == arrays["weights"][7].argmax()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_bad_address_shows_notes_and_the_usual_choice(open_app, lang):
    app = open_app(lang=lang, layer=99, head="one", model="nope", token="x", step="9", look="up", compare="maybe")
    for value in ("99", "one", "nope", "x", "9", "up", "maybe"):
        assert f"`{value}`" in app.said()
    header, _ = app.frame("explore")
    assert (header["layer"], header["head"], header["token"], header["direction"]) == (*HEAD, 7, "asks")
    app.type(WIDE)
    assert "`nope`" not in app.said(), "the reader's first action puts the notes away"


def test_a_bad_language_falls_back_with_a_note(open_app):
    assert "`xx`" in open_app(lang="xx").said()


def test_a_token_beyond_the_sentence_falls_back_with_a_note(open_app):
    app = open_app(token=12, key=77)
    assert "`12`" in app.said()
    assert "`77`" in app.said()
    assert app.frame("explore")[0]["token"] == 7


@pytest.mark.parametrize(
    ("before", "token", "after", "expected"),
    [
        (TIRED, 1, WIDE, 1),  # The same word at the same place stays chosen.
        (TIRED, 10, WIDE, 7),  # Another word there: the first "it".
        (TIRED, 1, "The dog slept.", 0),  # No "it": the first word.
        (TIRED, 7, "It was too wide.", 0),
        (TIRED, 7, "the dog saw it .", 3),
    ],
)
def test_the_chosen_token_after_an_edit(open_app, before, token, after, expected):
    app = open_app(text=before, token=token)
    assert app.frame("explore")[0]["token"] == token
    assert app.type(after).frame("explore")[0]["token"] == expected


def test_the_address_describes_everything_and_reproduces_it(open_app):
    fields = {"text": WIDE, "lang": "zh", "layer": 0, "token": 4, "key": 3, "look": "answers", "step": "sum"}
    app = open_app(**fields, compare=1, second="the dog saw it", projector=1)
    found = {name: values[0] for name, values in parse_qs(app.query()).items()}
    assert found == {**{n: str(v) for n, v in fields.items()}, "model": "pronoun", "head": "0", "compare": "1",
                     "second": "the dog saw it", "projector": "1"}  # fmt: skip
    again = open_app(**found)
    assert again.query() == app.query()
    for picture in ("explore", "compare"):
        assert again.frame(picture)[0] == app.frame(picture)[0]


def test_a_released_token_stays_released_in_the_link(open_app):
    app = open_app(token="none")
    header, _ = app.frame("explore")
    assert header["token"] is None
    assert header["bill"] is None
    assert "token=none" in app.query()


def test_choices_are_kept_from_page_to_page(open_app):
    app = open_app(text=WIDE, layer=0, token=3, lang="zh")
    query = app.query()
    assert app.go("steps").query() == query
    assert app.frame("steps")[0]["layer"] == 0
    assert app.go("explore").query() == query


BAD = {
    "empty": "",
    "blank": "   \t ",
    "long": "word " * 5000,
    "emoji": "👩‍🚀👍🏽🇨🇳",
    "script": "<script>alert(1)</script>",
    "control": "a\x00b\x07c",
    "right to left": "שלום עולם",
    "markup": ":red[x] $x$ ![](http://x.y/z.png) **b** `c` https://example.org",
    "quotes": 'they didn\'t "get" \\n {x}',
}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_bad_input_is_a_picture_or_a_sentence_and_the_text_stays(open_app, page, lang, text):
    app = open_app(page, lang=lang).type(text)
    assert not app.test.exception
    assert app.test.text_input(key="text").value == text
    assert app.has(page) or app.test.warning
    if app.has(page):
        shown = [token["shown"] for token in app.frame(page)[0]["tokens"]]
        assert "".join(shown) == "".join("".join(text.split()).replace("\x00", "").replace("\x07", ""))
    assert app.type(TIRED).has(page)


def test_too_long_says_how_long_and_what_fits(open_app):
    app = open_app().type("word " * 5000)
    (warning,) = app.test.warning
    assert "5000" in warning.value
    assert "64" in warning.value
    assert len(app.query()) <= MAX_ADDRESS


def test_unknown_words_are_named_letter_by_letter(open_app):
    app = open_app().type("the :red[zebra] saw it")
    header, _ = app.frame("explore")
    assert "“zebra”" in header["notice"]["text"]
    assert "[UNK]" in header["notice"]["text"]
    assert {token["shown"] for token in header["tokens"] if not token.get("unknown")} == {"the", "it"}
    assert app.type(TIRED).frame("explore")[0]["notice"] is None


def test_two_sentences_stand_side_by_side_on_one_scale(open_app):
    app = open_app(compare=1)
    header, arrays = app.frame("compare")
    model = ac.load("pronoun")
    rows = [model.trace(text).layers[HEAD[0]].weights(HEAD[1])[7] for text in (TIRED, WIDE)]
    np.testing.assert_array_equal(arrays["row_0"], rows[0])
    np.testing.assert_array_equal(arrays["row_1"], rows[1])
    np.testing.assert_array_equal(arrays["difference"], rows[1] - rows[0])
    assert header["pairs"] == [[i, i] for i in range(12)]


def test_the_comparison_marks_words_without_a_partner(open_app):
    app = open_app(compare=1, second="The animal crossed it .")
    header, arrays = app.frame("compare")
    for (a, b), value in zip(header["pairs"], arrays["difference"], strict=True):
        assert np.isnan(value) == (a is None or b is None)
    assert {a for a, _ in header["pairs"]} - {None} == set(range(12))
    assert {b for _, b in header["pairs"]} - {None} == set(range(5))


def test_the_saved_table_reads_back():
    text = 'it said "=1+1", 佛 <s> it'
    trace = ac.load("pronoun").trace(text)
    rows = list(csv.DictReader(io.StringIO(table.write(trace, 1, 0))))
    n = len(trace.tokens)
    assert tuple(rows[0]) == table.COLUMNS
    assert [row["key_token"] for row in rows[:n]] == [token.text for token in trace.tokens]
    head = trace.layers[1].head(0)
    for stage in ("scores", "scaled", "masked", "weights"):
        back = np.array([float(row[stage]) for row in rows]).reshape(n, n)
        np.testing.assert_allclose(back, getattr(head, stage), atol=1e-6)


def test_steps_frame_holds_the_factors_and_stays_within_its_budget(open_app):
    app = open_app("steps")
    header, arrays = app.frame("steps")
    assert header["step"] in STEPS
    np.testing.assert_allclose(arrays["x"] @ arrays["w_q"], arrays["q"], atol=1e-12)
    np.testing.assert_allclose(arrays["x"] @ arrays["w_k"], arrays["k"], atol=1e-12)
    np.testing.assert_allclose(arrays["x"] @ arrays["w_v"], arrays["v"], atol=1e-12)
    (proto,) = [e.proto for e in app.test.get("bidi_component") if e.proto.component_name == "steps"]
    factors = sum(array.nbytes for array in arrays.values())
    assert len(proto.bytes) <= 1.2 * factors + 20_000


def test_explore_frame_stays_within_its_budget_at_the_longest_text(open_app):
    app = open_app(text=" ".join(["the animal was tired ."] * 12))
    (proto,) = [e.proto for e in app.test.get("bidi_component") if e.proto.component_name == "explore"]
    n = 60
    assert len(proto.bytes) <= 4 * n * n + 200 * n + 20_000


@pytest.mark.parametrize(
    ("locale", "lang"), [("zh-CN", "zh"), ("zh_TW", "zh"), ("en-GB", "en"), ("de", "en"), (None, "en"), ("", "en")]
)
def test_the_language_follows_the_browser(locale, lang):
    assert language_of(locale) == lang


def test_the_first_model_knows_the_sentence_that_everybody_knows(open_app) -> None:
    for text, wanted, other in ((TIRED, "animal", "street"), (WIDE, "street", "animal")):
        app = open_app(model=None, text=text)
        assert f"model={DEFAULT}" in app.query()
        header, arrays = app.frame("explore")
        words = [token["shown"] for token in header["tokens"]]
        row = arrays["weights"][words.index("it")]
        assert row[words.index(wanted)] >= 0.70
        assert row[words.index(other)] <= 0.15
