"""Every model of the catalogue on every page: its own examples, heads, answers and card, in both languages."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import attention_core as ac
from attention_core.cards import DEFAULT
from ui import card as card_view
from ui import controls, examples, models, selection
from ui.frame import unpack
from ui.pictures import answers, notice
from ui.translations import LANGUAGES, words

CARDS = [card for card in ac.models() if card.details["kind"] == "taught"]
REAL = [card.name for card in ac.models() if card.details["kind"] == "real"]
NAMES = [card.name for card in CARDS]
BASES = [card.name for card in CARDS if "variant_of" not in card.details]
OWN = "my own words"  # No example, and short enough for every model.


def first_of(name: str) -> examples.Example:
    return examples.first(examples.family_of(models.card(name)))


def unknown_in(name: str, text: str) -> list[str]:
    return [token.text for token in ac.load(name).tokenize(text) if token.is_unknown]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_a_model_opens_with_its_own_first_example_and_reading_head(open_app, name, lang):
    app = open_app(model=name, lang=lang)
    card = ac.load(name).card
    for page in ("explore", "steps"):
        header, arrays = app.go(page).frame(page)
        assert app.test.text_input(key="text").value == first_of(name).text
        assert (header["layer"], header["head"]) == card.reading_head
        assert header["notice"] is None
        assert not [text for text in header["strings"].values() if "{unit" in text]
    np.testing.assert_allclose(arrays["x"] @ arrays["w_q"], arrays["q"], atol=1e-9)
    np.testing.assert_allclose(arrays["x"] @ arrays["w_k"], arrays["k"], atol=1e-9)
    # Without names the columns are numbered: only where X̃ holds one part of the stream.
    facts = card.details["layers"][card.reading_head[0]]
    is_one = len({*facts["query_reads"], *facts["key_reads"]}) == 1
    assert (header["x_columns"] is None) == is_one
    assert is_one or len(header["x_columns"]) == arrays["x"].shape[1]
    asker = header["tokens"][header["query"]]["shown"].casefold()
    assert asker == card.details["ask"]["token"].casefold()


@pytest.mark.parametrize("name", NAMES)
def test_it_knows_every_word_of_its_examples(name):
    family = examples.of_family(examples.family_of(models.card(name)))
    assert family, f"{name} has no examples"
    found = {example.id: unknown_in(name, example.text) for example in family}
    assert {id: missing for id, missing in found.items() if missing} == {}
    assert examples.with_buttons(examples.family_of(models.card(name)))[0][0] == family[0]


@pytest.mark.parametrize("name", BASES)
def test_every_example_of_a_base_model_draws_every_head(open_app, name):
    app = open_app(model=name)
    card = models.card(name)
    for example, label in examples.with_buttons(examples.family_of(card)):
        app.test.button_group(key="example").set_value(example.id).run()
        assert not app.test.exception
        assert app.test.text_input(key="text").value == example.text, label
        assert app.frame("explore")[0]["check"]["passed"]
    for layer in range(card.n_layers):
        for head in range(card.n_heads):
            header, arrays = open_app(model=name, layer=layer, head=head).frame("explore")
            expected = ac.load(name).trace(first_of(name).text).layers[layer].weights(head)
            np.testing.assert_array_equal(arrays["weights"], expected)
            assert (header["layer"], header["head"]) == (layer, head)


@pytest.mark.parametrize("name", NAMES)
def test_another_models_example_gives_way_and_the_readers_own_text_stays(open_app, name):
    others = [other for other in BASES if examples.family_of(models.card(name)) != other]
    app = open_app(model=others[-1] if others else name)
    app.test.selectbox(key="model").set_value(name).run()
    header, _ = app.frame("explore")
    shown = examples.of_text(app.test.text_input(key="text").value)
    assert examples.family_of(models.card(name)) in shown.models
    assert (header["layer"], header["head"]) == models.card(name).reading_head
    asker = header["tokens"][header["token"]]["shown"].casefold()
    assert asker == models.card(name).details["ask"]["token"].casefold()
    app.type(OWN).test.selectbox(key="model").set_value(DEFAULT).run()
    assert app.test.text_input(key="text").value == OWN
    app.test.selectbox(key="model").set_value(name).run()
    assert app.test.text_input(key="text").value == OWN
    header, _ = app.frame("explore")
    assert bool(header["notice"]) == bool(unknown_in(name, OWN))


@pytest.mark.parametrize("name", BASES)
def test_what_it_does_not_know_is_named_with_a_way_to_its_example(open_app, name):
    header, _ = open_app(model=name, text="ŵ").frame("explore")
    assert "ŵ" in header["notice"]["text"]
    assert models.card(name).details["unknown"] in header["notice"]["text"]
    assert first_of(name).id in [offer.get("example") for offer in header["notice"]["offers"]]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", BASES)
def test_a_text_that_does_not_fit_says_so_and_leads_to_an_example(open_app, name, lang):
    long = "a b " * 600
    app = open_app("steps", model=name, lang=lang).type(long)
    (warning,) = app.test.warning
    assert str(models.card(name).max_tokens) in warning.value
    assert app.test.text_input(key="text").value == long
    app.test.button(key="take_example").click().run()
    assert app.test.text_input(key="text").value == first_of(name).text
    assert app.has("steps")


def test_the_menu_has_every_model_base_models_first_the_default_on_top(open_app):
    menu = controls.menu(DEFAULT)
    assert sorted(menu) == sorted([*NAMES, *REAL])
    assert menu[0] == DEFAULT
    first = [*BASES, *REAL]
    assert menu[: len(first)] == [name for name in menu if name in first]
    for lang in LANGUAGES:
        labels = open_app(lang=lang).test.selectbox(key="model").options
        for name, label in zip(menu, labels, strict=True):
            assert name in label
            card = models.card(name)
            assert card.details.get("variant", {"title": card.title})["title"][lang] in label


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_fixed_answers_are_named_with_their_question(name, lang):
    trace = ac.load(name).trace(first_of(name).text)
    said = answers.answers(trace, words(lang))
    for i, answer in enumerate(said):
        facts = answers.readout_at(trace, i)
        raw = next(iter(trace.predictions[i]), None)
        if facts is None:
            assert answer is None
            continue
        assert answer["probability"] == raw.probability
        if facts["answers"] is None:
            assert answer == {"word": raw.word, "probability": raw.probability}
            continue
        task = trace.card.details.get("task", name).replace("-", "_")
        assert answer["question"] == words(lang)(f"readouts.{task}_{facts['tensor']}")
        column = facts["answers"].index(raw.word)
        assert answer["word"] == words(lang)(f"readouts.{task}_{facts['tensor']}_{column}")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_its_card_opens_with_every_text_and_figure(open_app, name, lang):
    app = open_app(model=name, lang=lang)
    app.test.button(key="open_card").click().run()
    assert not app.test.exception
    said, facts = app.said(), models.card(name).details
    texts = [text[lang] for text in facts.values() if isinstance(text, dict) and set(text) == set(LANGUAGES)]
    lines = [line for text in texts for line in ([text] if isinstance(text, str) else text)]
    assert [line for line in lines if line not in said] == []
    rows = card_view.figures(facts, words(lang))
    assert rows
    assert all(len(row) == 1 + len(facts["figures"]["seeds"]) for row in rows)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_frames_stay_within_their_budgets(open_app, name, lang):
    app = open_app(model=name, lang=lang)
    sizes = {}
    for page in ("explore", "steps"):
        app.go(page)
        (proto,) = [e.proto for e in app.test.get("bidi_component") if e.proto.component_name == page]
        sizes[page] = len(proto.bytes)
    header, arrays = unpack(proto.bytes)
    n = len(header["tokens"])
    assert sizes["explore"] <= 4 * n * n + 200 * n + 20_000
    assert sizes["steps"] <= 1.2 * sum(array.nbytes for array in arrays.values()) + 20_000


def test_a_model_that_knows_more_is_offered(open_app, monkeypatch):
    (here,) = [card for card in CARDS if card.name == "pronoun"]
    wide = replace(here, name="wide")
    variant = replace(here, name="variant", details={**here.details, "variant_of": "pronoun"})
    others = [card for card in CARDS if card.name == "pronoun"]
    trace = ac.load("pronoun").trace("the zebra saw it")

    def offered(n_unknown: int) -> str | None:
        model = SimpleNamespace(tokenize=lambda text: [SimpleNamespace(is_unknown=i < n_unknown) for i in range(4)])
        monkeypatch.setattr(notice.ac, "models", lambda: (*others, wide, variant))
        monkeypatch.setattr(notice.models, "load", lambda name: {"wide": model}[name])
        return notice.knows_more(trace)

    assert offered(1) == "wide"
    assert offered(2) is None, "it knows no more of them"
    told = notice.notice(trace, words("en"))
    assert "wide" not in [offer.get("model") for offer in told["offers"]]
    offered(0)
    assert notice.notice(trace, words("en"))["offers"][0] == {"label": "open in wide", "model": "wide"}


@pytest.mark.parametrize("name", NAMES)
def test_what_a_note_offers_is_done(monkeypatch, name):
    state = {"model": DEFAULT, "text": OWN, "second": "", "layer": 0, "head": 0, "token": 0, "key": 1}
    monkeypatch.setattr(selection.st, "session_state", state)
    selection.open_instead(name, None)
    assert state["model"] == name
    assert state["text"] == OWN
    assert (state["layer"], state["head"]) == models.card(name).reading_head
    selection.open_instead("no such model", "no such example")
    assert (state["model"], state["text"]) == (name, OWN)
    selection.open_instead(None, first_of(name).id)
    assert state["text"] == first_of(name).text


def test_a_label_of_another_language_changes_nothing(monkeypatch):
    state = {"model": "pronoun · “it”指的是谁？", "text": OWN, "layer": 0, "head": 0, "_saved": {"model": "pronoun"}}
    monkeypatch.setattr(selection.st, "session_state", state)
    selection.use_model()
    assert (state["model"], state["text"], state["layer"]) == ("pronoun", OWN, 0)


def test_the_menu_is_chosen_anew_when_its_language_changes(open_app):
    app = open_app(lang="en", model=NAMES[-1])
    app.test.button_group(key="lang").set_value("zh").run()
    assert not app.test.exception
    (proto,) = [box.proto for box in app.test.selectbox if box.key == "model"]
    assert proto.set_value, "the browser would go on sending the old label"
    assert models.card(NAMES[-1]).name in proto.raw_value
