"""What if: every switch in both languages changes the picture to what torch computes, and the sentences follow."""

from __future__ import annotations

from types import SimpleNamespace
from urllib.parse import parse_qs

import numpy as np
import pytest

import attention_core as ac
from attention_core.change import entropy
from tests.core.edited import Expected, by_torch
from tests.running import TIRED, WIDE
from ui import edit_texts, selection, whatif
from ui.edit_texts import TEMPERATURES, read, shuffled, write
from ui.translations import LANGUAGES, words

N, IT, ANIMAL, STREET = 12, 7, 1, 5
SHUFFLED = shuffled([False] * N, 1)


def toggle(app, name: str, value: bool) -> None:
    app.test.toggle(key=f"whatif_{name}").set_value(value).run()


def choose(app, name: str, value: object) -> None:
    app.test.button_group(key=f"whatif_{name}").set_value(value).run()


def heat(app, value: float) -> None:
    app.test.select_slider(key="whatif_temperature").set_value(value).run()


# What a reader does, and the edits that it stands for.
SWITCHES = {
    "causal": (lambda app: toggle(app, "causal", True), ac.Edits(causal=True)),
    "positions": (lambda app: toggle(app, "positions", False), ac.Edits(positions=False)),
    "scale": (lambda app: toggle(app, "scale", False), ac.Edits(scale=False)),
    "hot": (lambda app: heat(app, 5.0), ac.Edits(temperature=5)),
    "cold": (lambda app: heat(app, 0.2), ac.Edits(temperature=0.2)),
    "q is k": (lambda app: choose(app, "tie", "qk"), ac.Edits(tie="qk")),
    "k is v": (lambda app: choose(app, "tie", "kv"), ac.Edits(tie="kv")),
    "order": (lambda app: toggle(app, "order", True), ac.Edits(order=SHUFFLED)),
}


def expected(name: str, text: str, edits: ac.Edits) -> Expected:
    model = ac.load(name)
    return by_torch(model, [token.id for token in model.tokenize(text)], edits)


def in_text_order(matrix: np.ndarray, edits: ac.Edits) -> np.ndarray:
    places = [edits.place(token) for token in range(len(matrix))]
    return matrix[np.ix_(places, places)]


def assert_shows(app, edits: ac.Edits, *, name: str = "pronoun", layer: int = 1, h: int = 0, text: str = TIRED) -> dict:
    """The three pictures, entropies, sums and answers are torch's; returns the header."""
    header, arrays = app.frame("whatif")
    before, after = expected(name, text, ac.Edits()), expected(name, text, edits)
    first = before.weights[layer][h].numpy()
    second = in_text_order(after.weights[layer][h].numpy(), edits)
    for found, wanted in (("before", first), ("after", second), ("difference", second - first)):
        np.testing.assert_allclose(arrays[found], wanted, rtol=0, atol=1e-12)
    for side, wanted in (("before", first), ("after", second)):
        np.testing.assert_allclose(arrays[f"row_sum_{side}"], wanted.sum(axis=1), rtol=0, atol=1e-12)
        logs = np.log2(wanted, where=wanted > 0, out=np.zeros_like(wanted))
        np.testing.assert_allclose(arrays[f"entropy_{side}"], -(wanted * logs).sum(axis=1), rtol=0, atol=1e-12)
        np.testing.assert_array_equal(arrays[f"allowed_{side}"].astype(bool), wanted > 0)
    for token, answer in enumerate(header["answers"]):
        if answer is not None and len(after.logits) == 1:
            chances = after.logits[0].softmax(-1)[edits.place(token)]
            assert answer["share_after"] == pytest.approx(float(chances.max()), abs=1e-12)
            if answer["question"] is None:  # Else the answer has a name in the reader's language.
                assert answer["after"] == ac.load(name).readouts[0].answers[int(chances.argmax())]
    assert header["check"]["passed"]
    return header


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("switch", SWITCHES)
def test_a_switch_changes_the_picture_and_the_sentences(open_app, lang, switch):
    act, edits = SWITCHES[switch]
    app = open_app("whatif", lang=lang)
    quiet, arrays = app.frame("whatif")
    assert not arrays["difference"].any()
    assert quiet["changes"] == []
    act(app)
    assert not app.test.exception
    header = assert_shows(app, edits)
    assert np.abs(app.frame("whatif")[1]["difference"]).max() > 0.001
    assert header["verdict"] != quiet["verdict"]
    said = words(lang)
    shares = [app.frame("whatif")[1][side][IT, ANIMAL] for side in ("before", "after")]
    facts = dict(
        zip(("before", "after"), (f"{share:.1%}" if share >= 5e-4 else "<0.1%" for share in shares), strict=True)
    )
    kind = "weight" if abs(shares[1] - shares[0]) >= 5e-4 else "weight_same"
    assert header["verdict"][0] == said(f"whatif.{kind}", asker="it", key="animal", **facts)
    assert [change["piece"] for change in header["changes"]] == edit_texts.pieces(edits)
    # Back to start.
    app.test.button(key="whatif_reset").click().run()
    assert app.frame("whatif")[0]["verdict"] == quiet["verdict"]
    assert "edits" not in app.query()


def test_the_verdict_names_the_new_largest_weight_and_the_new_answer(open_app):
    header, arrays = open_app("whatif", edits="causal").frame("whatif")
    row = arrays["after"][IT]
    top = int(row.argmax())
    assert top != ANIMAL
    after = header["answers"][IT]
    assert (after["before"], after["after"]) == ("animal", "it")
    weight, largest, answer, moved = header["verdict"]
    assert largest == f"Most of it now goes to “it”: {row[top]:.1%}, before {arrays['before'][IT, top]:.1%}."
    assert answer == (
        f"The model's answer there changes from “animal” ({after['share']:.1%}) to “it” ({after['share_after']:.1%})."
    )
    n = sum(each["before"] != each["after"] for each in header["answers"])
    assert moved == f"Over the whole text, the answer changes at {n} of 12 places."
    assert n >= 1
    assert "animal" in weight


# What the picture sends, and the edits that it stands for.
SENT = [
    ("silence", ANIMAL, ac.Edits(silenced={ANIMAL})),
    ("cut", {"query": IT, "key": ANIMAL}, ac.Edits(cut={(1, 0, IT, ANIMAL)})),
    ("order", list(SHUFFLED), ac.Edits(order=SHUFFLED)),
]


def sent(edits: str, name: str, value: object) -> str:
    """What the edits are after the picture has sent a value: AppTest runs no JavaScript, so its callback is called."""
    kept = {"edits": edits}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "event", lambda component, trigger: value)
        patch.setattr(selection, "edits", lambda: read(kept["edits"])[0])
        patch.setattr(selection, "edit", lambda changed: kept.update(edits=write(changed)))
        patch.setattr(selection, "current", lambda: SimpleNamespace(layer=1, head=0))
        getattr(whatif, f"_{name}")()
    return kept["edits"]


@pytest.mark.parametrize(("name", "value", "edits"), SENT)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_is_pressed_in_the_picture(open_app, name, value, edits, lang):
    text = sent("", name, value)
    assert read(text) == (edits, ())
    header = assert_shows(open_app("whatif", lang=lang, edits=text), edits)
    assert header["silenced"] == sorted(edits.silenced)
    assert header["cut"] == [list(edge[2:]) for edge in edits.cut]
    assert header["order"] == list(edits.order or range(N))
    if name == "cut":
        assert "0.0%" in header["verdict"][0]


def test_pressing_again_takes_it_back():
    for name, value, edits in SENT[:2]:
        assert sent(write(edits), name, value) == ""
    assert sent(write(ac.Edits(order=SHUFFLED)), "order", list(range(N))) == ""
    assert sent("nopos~s3~s5", "drop", "s3") == "nopos~s5"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("silence", value) for value in (None, -1, "1", True, 1.5, [1], {})),
        *(("cut", value) for value in (None, 3, {}, {"query": 1}, {"query": "1", "key": 2}, {"query": [1], "key": 2})),
        *(("order", value) for value in (None, 3, [0, 0], ["a", "b"], [[0]], {"a": 1})),
        *(("drop", value) for value in (None, 3, "nothing", {})),
    ],
)
def test_what_no_browser_of_ours_sends_changes_nothing(name, value):
    assert sent("nopos~s3", name, value) == "nopos~s3"


def test_a_link_brings_everything_back(open_app):
    edits = ac.Edits(
        positions=False, scale=False, temperature=2, tie="kv", order=SHUFFLED, silenced={STREET, 10},
        cut={(1, 0, IT, ANIMAL), (0, None, 3, 4)}, layer=0,
    )  # fmt: skip
    app = open_app("whatif", edits=write(edits))
    assert_shows(app, edits)
    query = {name: values[0] for name, values in parse_qs(app.query()).items()}
    assert read(query["edits"]) == (edits, ())
    again = open_app("whatif", **query)
    assert again.frame("whatif")[0]["revision"] == app.frame("whatif")[0]["revision"]
    assert again.said() == app.said()
    # Other pages show the model as it is, and the edits are there on coming back.
    weights = ac.load("pronoun").trace(TIRED).layers[1].weights(0)
    np.testing.assert_array_equal(app.go("explore").frame("explore")[1]["weights"], weights)
    assert read(parse_qs(app.go("whatif").query())["edits"][0]) == (edits, ())


def test_what_an_address_cannot_have_is_noted_and_the_rest_stands(open_app):
    bad = ["t0.3", "x", "s99", "c7-0-1-1", "c1-0-1", "o1-0", "nopos", "l9", "qk", "s", "t", "tnan", "open"]
    app = open_app("whatif", edits="~".join(["nopos", "kv", "s1", *bad]))
    header, _ = app.frame("whatif")
    assert [change["piece"] for change in header["changes"]] == ["nopos", "kv", "s1"]
    said = [info.value for info in app.test.info]
    assert sorted(said) == sorted(
        words("en")("notes.address", field=words("en")("notes.field_edits"), value=f"`{piece}`") for piece in bad
    )
    app.test.run()
    assert not app.test.info


def test_a_word_that_goes_takes_its_edits_with_it(open_app):
    app = open_app("whatif", edits=f"nopos~s10~s{ANIMAL}~c1-0-{IT}-10~c1-0-{IT}-{ANIMAL}")
    app.type(WIDE)  # Another last word.
    pieces = [change["piece"] for change in app.frame("whatif")[0]["changes"]]
    assert pieces == ["nopos", f"s{ANIMAL}", f"c1-0-{IT}-{ANIMAL}"]
    app.type("It .")
    assert [change["piece"] for change in app.frame("whatif")[0]["changes"]] == ["nopos"]
    assert not app.test.info


def test_another_seed_is_another_order_and_the_prefix_stays(open_app):
    app = open_app("whatif", model="dish", text="今天我想吃佛跳墙")
    toggle(app, "order", True)
    first = app.frame("whatif")[0]["order"]
    assert first[0] == 0
    app.test.button(key="whatif_again").click().run()
    header = app.frame("whatif")[0]
    assert header["order"] == list(shuffled([True] + [False] * 8, 2)) != first
    assert "2" in header["changes"][0]["text"]


@pytest.mark.parametrize("name", [card.name for card in ac.models() if "vocabulary" in card.details])
def test_every_taught_model_has_its_board(open_app, name):
    app = open_app("whatif", model=name, edits="noscale~t2")
    text = app.test.text_input(key="text").value
    card = ac.load(name).card
    layer, h = card.reading_head
    assert_shows(app, ac.Edits(scale=False, temperature=2), name=name, layer=layer, h=h, text=text)
    placeless = card.details["positions"] == "none"
    assert app.test.toggle(key="whatif_positions").disabled == placeless
    assert app.test.toggle(key="whatif_positions").value is not placeless
    assert app.test.toggle(key="whatif_causal").value is card.causal
    toggle(app, "causal", not card.causal)
    edits = ac.Edits(scale=False, temperature=2, causal=not card.causal)
    assert_shows(app, edits, name=name, layer=layer, h=h, text=text)
    toggle(app, "causal", card.causal)
    assert app.frame("whatif")[0]["changes"][0]["piece"] == "noscale"


def test_one_layer_alone(open_app):
    app = open_app("whatif", edits="causal")
    choose(app, "layer", 0)
    assert_shows(app, ac.Edits(causal=True, layer=0))
    choose(app, "layer", -1)
    assert_shows(app, ac.Edits(causal=True))


def test_an_edit_that_changes_nothing_here_says_so(open_app):
    header, arrays = open_app("whatif", edits="c0-0-3-2", layer=0, model="pronoun-one-layer").frame("whatif")
    assert np.abs(arrays["difference"]).max() > 0
    header, arrays = open_app("whatif", edits="kv", layer=0).frame("whatif")  # Values come after the weights.
    assert not arrays["difference"].any()
    assert header["verdict"][0].startswith("Nothing changes in this head")


def test_a_row_without_keys_says_so(open_app):
    cut = "~".join(f"c1-0-{IT}-{key}" for key in range(N))
    header, arrays = open_app("whatif", edits=cut).frame("whatif")
    assert arrays["row_sum_after"][IT] == arrays["entropy_after"][IT] == 0
    assert header["verdict"][0] == words("en")("whatif.no_keys", asker="it")


def test_texts_of_edits_read_back():
    every = [ac.Edits(temperature=value) for value in TEMPERATURES]
    every += [edits for _, edits in SWITCHES.values()] + [edits for _, _, edits in SENT]
    for edits in every:
        assert read(write(edits)) == (edits, ())
    assert read("s1~s1") == (ac.Edits(silenced={1}), ("s1",))
    assert read("causal~open") == (ac.Edits(causal=True), ("open",))
    assert read("") == (ac.Edits(), ())


def test_orders_are_others_and_repeat():
    fixed = [True, False, False]
    assert {shuffled(fixed, seed) for seed in range(1, 9)} == {(0, 2, 1)}
    assert shuffled([True, False], 1) is None
    assert len({shuffled([False] * 9, seed) for seed in range(1, 20)}) > 15
    assert edit_texts.seed_of(shuffled([False] * 9, 7), [False] * 9) == 7
    assert edit_texts.seed_of((1, 0), [False, False]) == 1
    assert edit_texts.seed_of(None, [False] * 9) is None


def test_entropy_in_bits():
    rows = np.array([[0.5, 0.5, 0, 0], [1, 0, 0, 0], [0.25] * 4, [0, 0, 0, 0], [0.5, 0.25, 0.25, 0]])
    np.testing.assert_allclose(entropy(rows), [1, 0, 2, 0, 1.5], rtol=0, atol=1e-15)
    assert not np.signbit(entropy(rows)).any()
