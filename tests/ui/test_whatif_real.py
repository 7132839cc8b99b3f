"""What if on real models: the switches that make sense there, each equal to attention that was written anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import attention_core as ac
from attention_core.capture import load_folder
from tests.core.capture_words import TEXT, saved
from tests.core.capture_zoo import BART, ENCODERS, GPT, OURS, Kind
from tests.core.edited_real import Plain, written_anew
from tests.ui.test_real_models import wait_for
from tests.ui.test_whatif import heat, in_text_order, toggle
from ui import edit_texts
from ui.translations import LANGUAGES, words

SENTENCE = "the cat sat on the mat"
KINDS = {
    "reader": Kind("BertConfig", {**ENCODERS["bert"].facts, "num_hidden_layers": 5}, "AutoModelForMaskedLM"),
    "writer": Kind("GPT2Config", {**OURS, **GPT}, "GPT2LMHeadModel"),
    "folded": ENCODERS["esm"],
    "both": Kind("BartConfig", {**OURS, **BART}, "BartForConditionalGeneration"),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    below = tmp_path_factory.mktemp("models")
    for name, kind in KINDS.items():
        saved(kind, below / name)
    return below


@pytest.fixture
def opened(open_app: Any, folders: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ATTENTION_MODELS", "local")
    monkeypatch.setenv("ATTENTION_MODEL_DIRS", str(folders))

    def opened(name: str, picture: str = "whatif", **fields: object) -> Any:
        app = open_app("whatif", model=f"dir:{folders / name}", **{"text": SENTENCE, **fields})
        if picture:
            wait_for(app, picture)
        return app

    return opened


def shuffled(n: int) -> ac.Edits:
    return ac.Edits(order=edit_texts.shuffled([False] * n, 1))


# What a reader does, by model, and the edits that it stands for.
READER = {
    "causal": (lambda app: toggle(app, "causal", True), ac.Edits(causal=True)),
    "scale": (lambda app: toggle(app, "scale", False), ac.Edits(scale=False)),
    "cold": (lambda app: heat(app, 0.2), ac.Edits(temperature=0.2)),
}
WRITER = {
    "open": (lambda app: toggle(app, "causal", False), ac.Edits(causal=False)),
    "hot": (lambda app: heat(app, 3.0), ac.Edits(temperature=3)),
    "order": (lambda app: toggle(app, "order", True), shuffled(6)),
}
CASES = [("reader", name) for name in READER] + [("writer", name) for name in WRITER]


def expected(folder: Path, edits: ac.Edits) -> tuple[list[np.ndarray], torch.Tensor]:
    """By layer (head, query, key) weights, and (place, word) chances, by torch alone; rows as fed."""
    auto = transformers.AutoModelForCausalLM if folder.name == "writer" else transformers.AutoModelForMaskedLM
    net = auto.from_pretrained(folder, attn_implementation="eager").eval()
    read = transformers.AutoTokenizer.from_pretrained(folder)(SENTENCE, return_tensors="pt")
    fed = {name: one[:, list(edits.order)] if edits.order else one for name, one in read.items()}
    plain = Plain(edits, tuple(range(net.config.num_hidden_layers)))
    with written_anew(net, plain), torch.no_grad():
        logits = net(**fed, use_cache=False).logits[0]
    return plain.weights, logits.softmax(-1)


def assert_shows(app: Any, folder: Path, edits: ac.Edits, layer: int = 1, h: int = 2) -> dict:
    header, arrays = app.frame("whatif")
    (first, before), (second, after) = expected(folder, ac.Edits()), expected(folder, edits)
    wanted = in_text_order(second[layer][h], edits)
    found = {"before": first[layer][h], "after": wanted, "difference": wanted - first[layer][h]}
    for name, values in found.items():
        np.testing.assert_allclose(arrays[name], values, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(arrays["allowed_after"].astype(bool), wanted > 0)
    assert len(header["answers"]) == len(first[layer][h])
    for token, answer in enumerate(header["answers"]):
        assert answer["share"] == pytest.approx(float(before[token].max()), abs=1e-5)
        assert answer["share_after"] == pytest.approx(float(after[edits.place(token)].max()), abs=1e-5)
    assert header["check"]["passed"]
    assert "what the model computed" in header["check"]["sentence"]
    return header


@pytest.mark.parametrize(("name", "switch"), CASES)
def test_a_switch_equals_attention_written_anew(opened: Any, folders: Path, name: str, switch: str) -> None:
    act, edits = {**READER, **WRITER}[switch]
    app = opened(name, layer=1, head=2)
    quiet, arrays = app.frame("whatif")
    assert not arrays["difference"].any()
    if name == "writer":
        assert len(quiet["tokens"]) == 8, "the special tokens stay where they are"
        edits = ac.Edits(order=(0, *(1 + i for i in edits.order), 7)) if edits.order else edits
    act(app)
    header = assert_shows(app, folders / name, edits)
    assert header["verdict"] != quiet["verdict"]
    app.test.button(key="whatif_reset").click().run()
    assert app.frame("whatif")[0]["verdict"] == quiet["verdict"]


def test_silenced_cut_and_one_layer_of_five_come_by_address(opened: Any, folders: Path) -> None:
    app = opened("reader", layer=3, head=2, edits="noscale~s2~c3-2-4-1~l3")
    edits = ac.Edits(scale=False, silenced={2}, cut={(3, 2, 4, 1)}, layer=3)
    assert_shows(app, folders / "reader", edits, layer=3)
    box = app.test.selectbox(key="whatif_layer")
    assert box.value == 3
    box.set_value(-1).run()
    assert_shows(app, folders / "reader", ac.Edits(scale=False, silenced={2}, cut={(3, 2, 4, 1)}), layer=3)
    assert "edits=noscale~s2~c3-2-4-1" in app.query()


def test_switches_that_need_our_own_layers_are_not_there(opened: Any) -> None:
    app = opened("reader", edits="nopos~qk~t2~s40")
    header, _ = app.frame("whatif")
    assert [change["piece"] for change in header["changes"]] == ["t2"]
    for piece in ("nopos", "qk", "s40"):
        assert f"{piece}" in app.said()
    keys = {widget.key for kind in ("toggle", "button_group") for widget in app.test.get(kind)}
    assert not keys & {"whatif_positions", "whatif_tie"}


def test_a_factor_that_is_in_the_weights_cannot_be_left_out(opened: Any) -> None:
    app = opened("folded", edits="noscale")
    switch = app.test.toggle(key="whatif_scale")
    assert (switch.value, switch.disabled) == (False, True)
    assert switch.label == words("en")("whatif.scale_none")
    assert "noscale" in app.said()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_an_encoder_and_decoder_are_told_why_not(opened: Any, folders: Path, lang: str) -> None:
    app = opened("both", picture="", lang=lang)
    for _ in range(100):
        if words(lang)("whatif.takes_none") in app.said():
            break
        app.test.run()
    assert words(lang)("whatif.takes_none") in app.said()
    assert not app.has("whatif")
    with pytest.raises(ac.UnsupportedModel):
        load_folder(folders / "both").trace(SENTENCE, edits=ac.Edits(causal=True))


def test_a_text_that_is_too_long_to_compare_is_kept(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.whatif.LONGEST", 9)
    app = opened("reader")
    app.type(TEXT)
    assert not app.has("whatif")
    assert "16 tokens; this page compares up to 9" in app.said()
    assert app.test.text_input(key="text").value == TEXT
