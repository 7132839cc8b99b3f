"""A real model from a folder: what it reads, what its trace holds, and what is refused."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import sleep

import numpy as np
import pytest
import torch
import transformers

import attention_core as ac
from attention_core.capture import RealModel, load_folder, real
from attention_core.capture.engine import prepare
from tests.core.capture_words import TEXT, byte_level, saved, tokenizer
from tests.core.capture_zoo import BART, ENCODERS, GROUPED, OURS, THROUGH_INTERFACE, Kind, text

CAUSAL = text("LlamaConfig", "LlamaForCausalLM", **GROUPED)
MASKED = text("BertConfig", "BertForMaskedLM")
WRITER = Kind("BartConfig", {**OURS, **BART}, "BartForConditionalGeneration")
ATTRIBUTES = ("q", "k", "v", "allowed", "x", "w_q", "w_k", "w_v", "w_o")


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> RealModel:
    return load_folder(saved(CAUSAL, tmp_path_factory.mktemp("models") / "tiny-llama"))


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> RealModel:
    return load_folder(saved(MASKED, tmp_path_factory.mktemp("models") / "tiny-bert", tokenizer(limit=24)))


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> RealModel:
    return load_folder(saved(WRITER, tmp_path_factory.mktemp("models") / "tiny-bart"))


def test_the_card_says_what_the_model_is(causal: RealModel, masked: RealModel) -> None:
    card = causal.card
    assert (card.name, card.n_layers, card.n_heads, card.d_model, card.d_head) == ("tiny-llama", 2, 4, 32, 8)
    assert (card.causal, card.max_tokens) == (True, 64)
    assert (masked.card.causal, masked.card.max_tokens) == (False, 24)
    assert card.details["method"] == "interface"
    assert card.details["largest_difference"] < 1e-4
    assert card.n_parameters == sum(p.numel() for p in CAUSAL.make().parameters())


def test_a_trace_reads_as_the_text_and_its_ids_are_those_fed(masked: RealModel) -> None:
    trace = masked.trace("The cat, zat 猫!")
    assert [token.text for token in trace.tokens] == ["<s>", "The", "cat", ",", "z", "a", "t", "猫", "!", "</s>"]
    typed = [token for token in trace.tokens if not token.is_special]
    assert all(token.text == trace.text[token.start : token.end] for token in typed)
    assert [token.is_special for token in trace.tokens] == [True, *[False] * len(typed), True]
    assert [token.text for token in typed if token.is_unknown] == [",", "猫", "!"]
    assert trace.method == "interface"


def test_predictions_are_the_models_own(masked: RealModel, causal: RealModel) -> None:
    for model, kind in ((masked, MASKED), (causal, CAUSAL)):
        trace = model.trace("the cat sat on the <mask>")
        ids = torch.tensor([[token.id for token in trace.tokens]])
        with torch.no_grad():
            shares = kind.make()(input_ids=ids).logits[0].softmax(-1)
        assert trace.predictions is not None
        for answers, row in zip(trace.predictions, shares, strict=True):
            assert [answer.probability for answer in answers] == pytest.approx(row.topk(5).values.tolist(), abs=1e-4)
        likeliest, reader = int(shares[-1].argmax()), model.reader
        assert trace.predictions[-1][0].word == (reader.words([likeliest]) or reader.name_of(likeliest))


def test_a_pair_is_read_as_two_segments(masked: RealModel) -> None:
    trace = masked.trace("the cat sat", pair="the dog slept")
    assert [token.segment for token in trace.tokens if not token.is_special] == [0, 0, 0, 1, 1, 1]
    assert [token.text for token in trace.tokens if token.segment == 1 and not token.is_special] == [
        "the",
        "dog",
        "slept",
    ]
    other = masked.trace("the cat sat </s> the dog slept")
    assert [token.id for token in other.tokens] == [token.id for token in trace.tokens]
    assert np.abs(other.layers[0].q - trace.layers[0].q).max() > 1e-2  # The segments themselves are fed.


def test_one_character_in_three_tokens_keeps_its_span(tmp_path: Path) -> None:
    kind = Kind("GPT2Config", {"vocab_size": 300, "n_embd": 32, "n_layer": 1, "n_head": 2, "n_positions": 64})
    trace = load_folder(saved(kind, tmp_path / "bytes", byte_level())).trace("a猫b")
    assert [token.text for token in trace.tokens] == ["a", "猫", "猫", "猫", "b"]
    assert [(token.start, token.end) for token in trace.tokens] == [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]


@pytest.mark.parametrize("blank", ["", "  \n"])
def test_an_empty_text_is_refused(masked: RealModel, blank: str) -> None:
    with pytest.raises(ac.EmptyText):
        masked.trace(blank)


def test_a_long_text_is_refused_and_the_limit_itself_is_not(masked: RealModel) -> None:
    assert len(masked.trace("cat " * 22).tokens) == 24
    with pytest.raises(ac.TextTooLong) as caught:
        masked.trace("cat " * 23)
    assert (caught.value.n, caught.value.limit) == (25, 24)


def test_places_of_roberta_begin_after_the_padding() -> None:
    kind = ENCODERS["roberta"]
    model = real.make(kind.make(), real.Reader(tokenizer(is_pairing=False)), "roberta", "")
    assert model.card.max_tokens == 63
    assert len(model.trace("cat " * 63).tokens) == 63


def test_a_target_is_what_the_decoder_reads(writer: RealModel) -> None:
    trace = writer.trace("the cat sat", target="the dog slept")
    assert list(trace.stacks) == ["encoder", "decoder", "cross"]
    assert trace.layers is trace.stacks["encoder"]
    assert trace.target == "the dog slept"
    assert [token.text for token in trace.target_tokens] == ["</s>", "<s>", "the", "dog", "slept"]
    cross = trace.stacks["cross"][0]
    assert cross.allowed.shape == (5, 5)
    assert cross.x is not None
    assert cross.x_key is not None
    assert np.abs(cross.x - cross.x_key).max() > 1e-2
    assert not np.triu(trace.stacks["decoder"][0].allowed, 1).any()
    assert trace.check(full=True).passed


def test_without_a_target_the_model_writes_it(writer: RealModel) -> None:
    trace = writer.trace("the cat sat")
    ids = torch.tensor([[token.id for token in trace.tokens]])
    with torch.no_grad():
        wanted = WRITER.make().generate(ids, max_new_tokens=real.N_WRITTEN, do_sample=False, num_beams=1)[0].tolist()
    assert [token.id for token in trace.target_tokens] == wanted
    typed = [token for token in trace.target_tokens if not token.is_special]
    assert all(token.text == trace.target[token.start : token.end] for token in typed)
    assert "".join(token.text for token in typed) == trace.target.replace(" ", "")


def test_targets_belong_to_encoder_decoders(causal: RealModel, tmp_path: Path) -> None:
    with pytest.raises(ac.UnsupportedModel, match="no decoder"):
        causal.trace(TEXT, target="x")
    silent = load_folder(saved(THROUGH_INTERFACE["t5"], tmp_path / "silent"))
    with pytest.raises(ac.UnsupportedModel, match="give a target"):
        silent.trace("the cat")
    assert silent.trace("the cat", target="the dog").target == "the dog"


def test_values_are_read_only_single_precision(causal: RealModel) -> None:
    layer = causal.trace(TEXT).layers[1]
    for name in ATTRIBUTES:
        array = getattr(layer, name)
        assert array.dtype == (bool if name == "allowed" else np.float32)
        with pytest.raises(ValueError, match="read-only"):
            array[(0,) * array.ndim] = 1
    with pytest.raises(AttributeError):
        layer.scale = 2  # type: ignore[misc]


def test_threads_take_turns_at_the_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    words, inside = tokenizer(), []
    call = type(words).__call__

    def alone(self: object, *args: object, **kwargs: object) -> object:
        inside.append(1)
        assert len(inside) == 1
        sleep(0.002)
        inside.pop()
        return call(self, *args, **kwargs)

    monkeypatch.setattr(type(words), "__call__", alone)
    reader = real.Reader(words)
    with ThreadPoolExecutor(8) as threads:
        assert len(set(map(str, threads.map(reader.read, [TEXT] * 16)))) == 1


def test_a_tokenizer_set_to_cut_and_to_pad_does_neither(tmp_path: Path) -> None:
    words = tokenizer()
    words.backend_tokenizer.enable_truncation(6)
    words.backend_tokenizer.enable_padding(length=10)
    folder = saved(MASKED, tmp_path / "cutting")
    words.backend_tokenizer.save(str(folder / "tokenizer.json"))
    model = load_folder(folder)
    text = "the cat sat on the mat"
    assert [token.text for token in model.trace(text).tokens][1:-1] == text.split()
    assert len(model.trace("the cat").tokens) == 4


@pytest.mark.parametrize("name", ["q", "k", "v", "w_q", "w_k", "w_v", "x", "x_key", "w_o", "scale", "allowed"])
def test_a_trace_that_was_changed_fails_its_check(causal: RealModel, name: str) -> None:
    trace = causal.trace(TEXT)
    assert trace.check().passed
    layer = trace.layers[1]
    value = getattr(layer, name)
    changed = ~value if name == "allowed" else value * np.float32(1.3)
    check = replace(trace, layers=(trace.layers[0], replace(layer, **{name: changed}))).check()
    assert not check.passed
    assert check.layer == 1


def test_ids_that_were_not_fed_fail_the_check(causal: RealModel) -> None:
    trace = causal.trace(TEXT)
    tokens = (replace(trace.tokens[0], id=trace.tokens[0].id + 1), *trace.tokens[1:])
    assert not replace(trace, tokens=tokens).check().passed


def test_a_wrong_recorder_is_never_drawn(monkeypatch: pytest.MonkeyPatch, causal: RealModel) -> None:
    from attention_core.capture import layers

    right = layers._split

    def open_(mask: object, n: int, m: int) -> object:
        return replace(right(mask, n, m), allowed=np.ones((n, m), dtype=bool))

    monkeypatch.setattr(layers, "_split", open_)
    with pytest.raises(ac.TraceMismatch):
        causal.trace(TEXT)
    with pytest.raises(ac.TraceMismatch):
        prepare(CAUSAL.make(), CAUSAL.inputs())


def test_the_full_check_compares_every_row(causal: RealModel) -> None:
    trace = causal.trace(TEXT)
    assert trace.check().n_rows == 8
    assert trace.check(full=True).n_rows == len(trace.tokens) > 8
    layer = trace.layers[0]
    q = layer.q.copy()
    q[:, 1] *= 1.5  # One row that the eight of the quick check leave out.
    changed = replace(trace, layers=(replace(layer, q=q), trace.layers[1]))
    assert changed.check().passed
    assert not changed.check(full=True).passed


def test_a_model_of_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ac.UnsupportedModel, match="does not read text"):
        load_folder(saved(THROUGH_INTERFACE["vit"], tmp_path / "vit"))


def test_a_folder_of_pickles_is_refused_with_the_way_out(tmp_path: Path) -> None:
    folder = saved(CAUSAL, tmp_path / "pickled")
    (folder / "model.safetensors").unlink()
    torch.save(CAUSAL.make().state_dict(), folder / "pytorch_model.bin")
    with pytest.raises(ac.UnsupportedModel, match=r"pickled \(pytorch_model.bin\).*save_file"):
        load_folder(folder)


def test_code_of_the_models_own_is_never_run(tmp_path: Path) -> None:
    folder = saved(CAUSAL, tmp_path / "own-code")
    facts = json.loads((folder / "config.json").read_text())
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    facts["auto_map"] = {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}
    (folder / "config.json").write_text(json.dumps({**facts, "model_type": "evil"}))
    with pytest.raises(ac.UnsupportedModel, match="code of its own"):
        load_folder(folder)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda f: (f / "config.json").write_text("{"), "config.json is damaged"),
        (lambda f: (f / "config.json").write_text("[]"), "holds no object"),
        (lambda f: (f / "config.json").unlink(), "no config.json"),
        (lambda f: (f / "config.json").write_text('{"model_type": "no-such-thing"}'), "does not load"),
        (lambda f: (f / "model.safetensors").write_bytes((f / "model.safetensors").read_bytes()[:5000]), "damaged"),
        (lambda f: (f / "model.safetensors").unlink(), "no weights"),
        (lambda f: (f / "tokenizer.json").write_text("{}"), "does not load"),
    ],
)
def test_a_damaged_folder_is_refused_in_a_sentence(tmp_path: Path, damage: object, said: str) -> None:
    folder = saved(CAUSAL, tmp_path / "damaged")
    damage(folder)  # type: ignore[operator]
    with pytest.raises(ac.UnsupportedModel, match=said):
        load_folder(folder)


def test_weights_that_are_not_there_are_not_made_up(tmp_path: Path) -> None:
    folder = saved(CAUSAL, tmp_path / "short")
    facts = json.loads((folder / "config.json").read_text())
    facts.pop("layer_types", None)
    (folder / "config.json").write_text(json.dumps({**facts, "num_hidden_layers": 3}))
    with pytest.raises(ac.UnsupportedModel, match=r"incomplete: model\.layers\.2"):
        load_folder(folder)


def test_a_missing_pooler_is_no_reason(tmp_path: Path) -> None:
    config = transformers.BertConfig(**dict(MASKED.facts))
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(tmp_path / "no-pooler")
    tokenizer().save_pretrained(tmp_path / "no-pooler")
    assert load_folder(tmp_path / "no-pooler").trace("the cat").method == "interface"


def test_the_package_loads_a_folder(tmp_path: Path) -> None:
    model = ac.load_folder(saved(CAUSAL, tmp_path / "again"))
    assert model.trace("the cat").card.name == "again"


def test_a_tokenizer_of_another_model_is_found_out(tmp_path: Path) -> None:
    kind = text("LlamaConfig", **{**GROUPED, "vocab_size": 12})
    with pytest.raises(ac.UnsupportedModel, match=r"not this model's.*up to 98.*12 numbers") as caught:
        load_folder(saved(kind, tmp_path / "small"))
    assert (caught.value.kind, caught.value.facts["available"]) == ("other_vocabulary", 12)
    model = real.make(kind.make(), real.Reader(tokenizer()), "small", "")
    with pytest.raises(ac.UnsupportedModel, match=r"not this model's.*'dog'.*12 numbers"):
        model.trace("the dog")


def test_the_probe_is_longer_than_the_window() -> None:
    kind = text("MistralConfig", **GROUPED, sliding_window=30)
    card = real.make(kind.make(), real.Reader(tokenizer()), "window", "").card
    assert card.details["probed"] == 34
