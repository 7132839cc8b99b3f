"""Real models in the app: opened by folder, waited for, shared, stopped, refused."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import attention_core as ac
from tests.core.capture_words import saved
from tests.core.capture_zoo import BART, OTHERS, OURS, Kind, text
from ui import notes, own, shelf, translations
from ui.caches import trace_of

SENTENCE = "the cat sat"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of tiny models: a masked reader, and one that reads and writes."""
    below = tmp_path_factory.mktemp("models")
    saved(text("BertConfig", "AutoModelForMaskedLM"), below / "tiny-bert")
    saved(Kind("BartConfig", {**OURS, **BART}, "BartForConditionalGeneration"), below / "tiny-bart")
    return below


@pytest.fixture(autouse=True)
def _allowed(monkeypatch: pytest.MonkeyPatch, folders: Path) -> None:
    monkeypatch.setenv("ATTENTION_MODELS", "local")
    monkeypatch.setenv("ATTENTION_MODEL_DIRS", str(folders))


def wait_for(app: object, picture: str = "explore") -> None:
    """Until the model is loaded and its picture is there."""
    for _ in range(300):
        if app.has(picture):  # type: ignore[attr-defined]
            return
        time.sleep(0.1)
        app.test.run()  # type: ignore[attr-defined]
        assert not app.test.exception  # type: ignore[attr-defined]
    raise AssertionError(app.said())  # type: ignore[attr-defined]


def test_a_folder_is_opened_by_its_path(open_app: Callable, folders: Path) -> None:
    app = open_app(model=None, text=SENTENCE)
    app.test.text_input(key="wanted_model").set_value(str(folders / "tiny-bert"))
    next(button for button in app.test.button if button.label == "Open").click().run()
    wait_for(app)
    header, arrays = app.frame("explore")
    trace = trace_of(f"dir:{folders / 'tiny-bert'}", SENTENCE)
    np.testing.assert_array_equal(arrays["weights"], trace.layers[0].weights(0))
    assert header["model"] == "tiny-bert"
    assert [token["shown"] for token in header["tokens"]] == [token.shown for token in trace.tokens]
    assert f"model=dir%3A{str(folders).replace('/', '%2F')}%2Ftiny-bert" in app.query()


def test_its_layers_and_heads_are_those_that_it_has(open_app: Callable, folders: Path) -> None:
    app = open_app(model=f"dir:{folders / 'tiny-bert'}", text=SENTENCE, layer=1, head=2)
    wait_for(app)
    card = trace_of(f"dir:{folders / 'tiny-bert'}", SENTENCE).card
    for key, n in (("layer", card.n_layers), ("head", card.n_heads)):
        assert app.test.button_group(key=key).options == list(map(str, range(n)))
    assert (app.frame("explore")[0]["layer"], app.frame("explore")[0]["head"]) == (1, 2)


def test_a_layer_that_it_has_not_is_noted(open_app: Callable, folders: Path) -> None:
    app = open_app(model=f"dir:{folders / 'tiny-bert'}", text=SENTENCE, layer=77)
    wait_for(app)
    assert "layer `77`" in app.said()
    assert app.frame("explore")[0]["layer"] == 0


def test_two_people_load_it_once(open_app: Callable, folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, opened, loads = f"dir:{folders / 'tiny-bart'}", shelf._opened, []
    monkeypatch.setattr(shelf, "_opened", lambda *asked: loads.append(asked) or opened(*asked))
    shelf._shelf.drop(lambda key: key == name)
    first, second = open_app(model=name, text=SENTENCE), open_app(model=name, text=SENTENCE)
    wait_for(first)
    wait_for(second)
    assert len(loads) == 1


def test_cancel_leads_back_to_the_usual_model(
    open_app: Callable, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(name: str, heard: Callable[[ac.Progress], None]) -> None:
        while True:  # Until nobody waits: `heard` raises then.
            heard(ac.Progress("downloading", 3 * 2**20, 7 * 2**20))
            time.sleep(0.01)

    monkeypatch.setattr(shelf, "_opened", slow)
    name = f"dir:{folders / 'slow'}"
    app = open_app(model=name, text=SENTENCE)
    time.sleep(0.1)
    app.test.run()
    assert "3 of 7 MB" in app.test.get("progress")[0].proto.text
    app.test.button(key="cancel_loading").click().run()
    assert app.frame("explore")[0]["model"] == "pronoun-open"
    assert app.test.text_input(key="text").value == SENTENCE
    for _ in range(100):
        if isinstance(shelf._loadings.get(name, shelf.Loading(name)).error, ac.Cancelled):
            return
        time.sleep(0.02)
    raise AssertionError("the loading goes on")


def test_what_does_not_load_says_why_and_can_be_tried_again(open_app: Callable, folders: Path) -> None:
    app = open_app(model=f"dir:{folders / 'nothing'}", text=SENTENCE)
    for _ in range(100):
        if app.test.warning:
            break
        time.sleep(0.05)
        app.test.run()
    assert "nothing" in app.said()
    saved(text("BertConfig", "AutoModelForMaskedLM"), folders / "nothing")
    app.test.button(key="load_again").click().run()
    wait_for(app)
    assert app.frame("explore")[0]["model"] == "nothing"


def test_nothing_outside_of_the_folders(open_app: Callable, folders: Path) -> None:
    app = open_app(model=f"dir:{folders.parent}", text=SENTENCE)
    assert str(folders.parent) in app.said()
    assert app.frame("explore")[0]["model"] == "pronoun-open"
    app.test.text_input(key="wanted_model").set_value(f"{folders}/../elsewhere")
    next(button for button in app.test.button if button.label == "Open").click().run()
    assert "ATTENTION_MODEL_DIRS" in app.said()
    assert app.frame("explore")[0]["model"] == "pronoun-open"


def test_the_hub_is_refused_where_the_server_was_not_started_for_it(open_app: Callable) -> None:
    app = open_app(model=None, text=SENTENCE)
    app.test.text_input(key="wanted_model").set_value("owner/model")
    next(button for button in app.test.button if button.label == "Open").click().run()
    assert "ATTENTION_MODELS=local,hub" in app.said()
    assert app.test.text_input(key="text").value == SENTENCE


@pytest.mark.parametrize("look", ["asks", "answers"])
@pytest.mark.parametrize("stack", ["encoder", "decoder", "cross"])
def test_an_encoder_decoder_shows_its_three_stacks(open_app: Callable, folders: Path, stack: str, look: str) -> None:
    name = f"dir:{folders / 'tiny-bart'}"
    app = open_app(model=name, text="the dog sat", target="the cat slept", stack=stack, look=look)
    wait_for(app)
    trace = trace_of(name, "the dog sat", target="the cat slept")
    assert {key: len(layers) for key, layers in trace.stacks.items()} == {"encoder": 2, "decoder": 2, "cross": 2}
    _, arrays = app.frame("explore")
    np.testing.assert_array_equal(arrays["weights"], trace.stacks[stack][0].weights(0))
    assert ("stack=encoder" in app.query()) == (stack == "encoder")
    assert "target=the+cat+slept" in app.query()


def test_a_pair_is_read_with_its_second_text(open_app: Callable, folders: Path) -> None:
    name = f"dir:{folders / 'tiny-bert'}"
    app = open_app(model=name, text="the cat sat", pair="the dog slept")
    wait_for(app)
    trace = trace_of(name, "the cat sat", "the dog slept")
    assert trace.pair == "the dog slept"
    assert app.frame("explore")[1]["weights"].shape == (len(trace.tokens),) * 2
    app.test.text_input(key="pair").set_value("").run()
    assert app.frame("explore")[1]["weights"].shape[0] < len(trace.tokens)
    assert "pair=" not in app.query()


def test_minilm_reads_the_animal_sentence(open_app: Callable) -> None:
    app = open_app(model="minilm")
    wait_for(app)
    header, arrays = app.frame("explore")
    shown = [token["shown"] for token in header["tokens"]]
    it, animal, street = (shown.index(word) for word in ("it", "animal", "street"))
    assert (header["layer"], header["head"], header["token"]) == (3, 1, it)
    assert arrays["weights"][it, animal] == pytest.approx(0.677, abs=0.005)
    assert arrays["weights"][it, street] == pytest.approx(0.050, abs=0.005)
    bill = header["bill"]
    assert (bill["query"], bill["key"]) == (it, animal)
    assert arrays["bill_products"].sum() == pytest.approx(bill["score"], rel=1e-5)
    np.testing.assert_allclose(arrays["bill_q"] * arrays["bill_k"], arrays["bill_products"], rtol=1e-6)


@pytest.fixture(scope="module")
def seeing(folders: Path) -> Path:
    """The folder of a tiny model that looks at pictures of 16 × 16 pixels, 4 × 4 patches."""
    folder = folders / "tiny-vit"
    OTHERS["vit"].make().save_pretrained(folder)
    facts = {"image_processor_type": "ViTImageProcessor", "size": {"height": 16, "width": 16}}
    (folder / "preprocessor_config.json").write_text(json.dumps(facts), encoding="utf-8")
    return folder


def test_a_model_that_looks_at_pictures(open_app: Callable, seeing: Path) -> None:
    name = f"dir:{seeing}"
    app = open_app(model=name)
    for _ in range(300):
        if any(button.key == "sample_picture" for button in app.test.button):
            break
        time.sleep(0.1)
        app.test.run()
    app.test.button(key="sample_picture").click().run()
    header, arrays = app.frame("vision")
    trace = trace_of(name, "", image="house")
    assert trace.grid is not None
    assert header["grid"] == list(trace.grid)
    np.testing.assert_array_equal(arrays["weights"], trace.layers[0].weights(0))
    np.testing.assert_array_equal(arrays["image"].reshape(trace.image.shape), trace.image)
    assert len(header["names"]) == len(trace.tokens)
    assert header["check"]["passed"]


def test_own_arrays_go_through_every_page(open_app: Callable) -> None:
    weights = np.array([[0.75, 0.25, 0], [0.5, 0.25, 0.25], [0.125, 0.125, 0.75]])
    data = io.BytesIO()
    np.savez(data, weights=weights, tokens=np.array(["<b>a</b>", "$x$", ":red[c]"]))
    name = own.add(data.getvalue(), "my arrays.npz")
    app = open_app(model=name)
    header, arrays = app.frame("explore")
    np.testing.assert_array_equal(arrays["weights"], weights)
    assert [token["shown"] for token in header["tokens"]] == ["<b>a</b>", "$x$", ":red[c]"]
    assert header["bill"] is None or "products" not in header["bill"]
    for page, picture in (("heads", "heads"), ("steps", "steps")):
        app.go(page)
        assert not app.test.exception
        assert app.has(picture)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.array([0.9, 0.1]), "(head, query, key)"),
        (np.full((2, 3, 2, 4, 4), 0.25), "3 items"),
        (np.array([[np.nan, 1.0], [0.5, 0.5]]), "weights"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_with_what_would(array: np.ndarray, said: str) -> None:
    data = io.BytesIO()
    np.save(data, array)
    with pytest.raises(ac.AttentionError) as refused:
        own.add(data.getvalue(), "x.npy")
    assert said in notes.sentence_of(refused.value, translations.words("en"))
    assert notes.sentence_of(refused.value, translations.words("zh"))


def test_every_refusal_has_a_sentence_in_both_languages() -> None:
    facts = dict.fromkeys(("file", "folder", "name", "page", "detail", "convert"), "x") | {"needed": 3, "available": 2}
    for kind in notes.REFUSALS:
        for language in translations.LANGUAGES:
            said = notes.sentence_of(ac.UnsupportedModel("because", kind, **facts), translations.words(language))
            assert "{" not in said
