"""Writing on: what is chosen, with which chance, and that the full pass afterwards is what the model computed."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import decoders

import attention_core as ac
from attention_core import generating, plain
from attention_core.capture import RealModel, load_folder
from attention_core.writing import ENDED, FULL, Writing, agreement
from tests.core.capture_words import byte_level, saved, tokenizer
from tests.core.capture_zoo import BYPASSING, DECODERS, OURS, Kind

PROMPT = "d b h f a c e d b"
LETTERS = ac.load("induction")
WRITERS = {
    name: replace(kind, model="AutoModelForCausalLM")
    for name, kind in {**DECODERS, **BYPASSING}.items()
    if name not in {"llava", "deberta", "deberta-v2", "mpnet", "convbert", "squeezebert", "roformer", "big-bird"}
    and name not in {"xlnet", "xlm"}  # These see both ways.
}


def last(model: Any, prompt: str | Writing, n: int, **asked: Any) -> Writing:
    *_, written = ac.generate(model, prompt, n, **asked)
    return written.writing


def logits_after(ids: tuple[int, ...]) -> np.ndarray:
    """By the separate plain forward pass."""
    return plain.forward(LETTERS, np.array(ids)).logits[0][-1]


def softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(logits) / np.exp(logits).sum()


# A taught model


def test_letters_go_on_as_they_went_before() -> None:
    writing = last(LETTERS, PROMPT, 5)
    assert writing.text == "d b h f a c e d b h f a c e"
    assert [token.text for token in writing.tokens] == writing.text.split()
    assert all(writing.text[token.start : token.end] == token.text for token in writing.tokens)
    assert last(LETTERS, "dbhfacedb", 5).text == "dbhfacedbhface"


def test_a_prompt_of_three_and_two_written_make_four_rows() -> None:
    writing = last(LETTERS, "a b a", 2)
    trace = LETTERS.trace_written(writing)
    assert len(writing.tokens) == 5
    weights = trace.layers[1].weights(0)
    assert weights.shape == (4, 4)
    assert (weights[np.triu_indices(4, 1)] == 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
    assert [token.id for token in trace.tokens] == list(writing.ids[:4])
    assert trace.text == writing.text[: writing.tokens[3].end]


def test_rows_come_one_by_one_and_are_those_of_the_full_pass() -> None:
    steps = list(ac.generate(LETTERS, PROMPT, 4))
    trace = LETTERS.trace_written(steps[-1].writing)
    assert [step.layers[1].weights(0).shape for step in steps] == [(9, 9), (1, 10), (1, 11), (1, 12)]
    for n, step in enumerate(steps, start=9):
        row = step.layers[1].weights(0)[-1]
        np.testing.assert_allclose(row, trace.layers[1].weights(0)[n - 1, :n], atol=1e-12)


def test_candidates_are_the_models_own_probabilities() -> None:
    for step in ac.generate(LETTERS, PROMPT, 5, top=7):
        probabilities = softmax(logits_after(step.ids[:-1]))
        order = np.argsort(-probabilities)
        assert [one.id for one in step.candidates] == order[:7].tolist()
        np.testing.assert_allclose([one.probability for one in step.candidates], probabilities[order[:7]], atol=1e-12)
        assert [one.chance for one in step.candidates] == [1] + [0] * 6
        assert step.chosen == step.candidates[0]
        assert step.token.text == step.chosen.text == LETTERS.vocabulary[order[0]]


@pytest.mark.parametrize("varied", ["seed", "place"])
@pytest.mark.parametrize(("temperature", "top_k"), [(0.7, None), (3.0, None), (5.0, 3)])
def test_what_is_drawn_comes_as_often_as_its_chance_says(temperature: float, top_k: int | None, varied: str) -> None:
    pen = generating.pen_of(LETTERS)
    reading = pen.read(pen.open("a b c a d c a").ids)
    chances = softmax(reading.logits / temperature)
    if top_k is not None:
        chances[np.argsort(-chances)[top_k:]] = 0
        chances /= chances.sum()
    n, asked = 4000, {"temperature": temperature, "top_k": top_k, "top": 11}
    places = [{"place": 7, "seed": i} if varied == "seed" else {"place": i, "seed": 7} for i in range(n)]
    drawn = [generating.choose(pen, reading, **place, **asked) for place in places]
    np.testing.assert_allclose([one.chance for one in drawn[0].candidates], np.sort(chances)[::-1], atol=1e-12)
    counts = Counter(choice.chosen.id for choice in drawn)
    shares = np.array([counts[i] / n for i in range(len(chances))])
    assert (np.abs(shares - chances) < 4.5 * np.sqrt(chances * (1 - chances) / n) + 1e-12).all()
    assert len(counts) > 2 or top_k is None


def test_a_drawn_token_that_is_not_among_the_named_is_named_beside_them() -> None:
    steps = [step for seed in range(40) for step in ac.generate(LETTERS, PROMPT, 1, temperature=9, seed=seed, top=2)]
    outside = [step for step in steps if step.chosen.rank >= 2]
    assert outside
    for step in outside:
        assert step.chosen not in step.candidates
        assert step.chosen.probability <= step.candidates[-1].probability
        assert step.token.text == step.chosen.text


def test_going_on_gives_what_would_have_come_at_once() -> None:
    asked = {"temperature": 6.0, "seed": 11}
    at_once = last(LETTERS, "c a f", 7, **asked)
    assert last(LETTERS, last(LETTERS, "c a f", 3, **asked), 4, **asked) == at_once
    assert last(LETTERS, "c a f", 7, temperature=6.0, seed=12) != at_once


def test_it_ends_where_the_model_can_read_no_more() -> None:
    writing = last(LETTERS, PROMPT, 50)
    assert (len(writing.read), len(writing.tokens), writing.end) == (14, 15, FULL)
    assert list(ac.generate(LETTERS, writing, 1)) == []
    assert LETTERS.trace_written(writing).layers[0].weights(0).shape == (14, 14)
    whole = last(LETTERS, "d b h f a c e d b h f a c e", 3)
    assert (len(whole.tokens), whole.end) == (15, FULL)


def test_numbers_are_traced_not_the_text_anew() -> None:
    tried = (last(LETTERS, "c a f", 4, temperature=9, seed=seed) for seed in range(200))
    found = next(writing for writing in tried if any(token.is_unknown for token in writing.read))
    trace = LETTERS.trace_written(found)
    assert [token.id for token in trace.tokens] == list(found.ids[:-1])
    assert len(LETTERS.tokenize(trace.text)) > len(trace.tokens)  # "[UNK]" typed would be five signs.


def test_another_candidate_takes_the_place_of_a_written_token() -> None:
    pen = generating.pen_of(LETTERS)
    pen.open(PROMPT)
    writing = last(LETTERS, PROMPT, 6)
    other = writing.choices[2].candidates[4]
    changed = generating.take(pen, generating.cut(pen, writing, 2), writing.choices[2].of(other.id))
    assert changed.ids == (*writing.ids[:11], other.id)
    assert (len(changed.choices), changed.choices[2].chosen, changed.end) == (3, other, None)
    assert LETTERS.trace_written(changed).layers[0].weights(0).shape == (11, 11)
    again = last(LETTERS, changed, 1)
    assert again.choices[3].chosen.logit == pytest.approx(logits_after(changed.ids).max(), abs=1e-12)
    with pytest.raises(LookupError):
        writing.choices[2].of(10**6)


def test_choices_of_another_run_are_refused() -> None:
    writing = last(LETTERS, PROMPT, 3)
    assert agreement(LETTERS.trace_written(writing), writing) < 1e-12
    moved = replace(writing.choices[1].candidates[0], logit=writing.choices[1].candidates[0].logit + 1e-6)
    choice = replace(writing.choices[1], candidates=(moved, *writing.choices[1].candidates[1:]))
    with pytest.raises(ac.TraceMismatch):
        LETTERS.trace_written(replace(writing, choices=(writing.choices[0], choice, writing.choices[2])))


@pytest.mark.parametrize("name", ["pronoun", "dish", "two-heads", "pronoun-open"])
def test_what_sees_both_ways_cannot_write(name: str) -> None:
    with pytest.raises(ac.UnsupportedModel, match="not causal"):
        next(ac.generate(ac.load(name), "the cat", 1))


@pytest.mark.parametrize("asked", [{"temperature": 0}, {"temperature": -1.0}, {"top": 0}, {"top_k": 0}])
def test_what_makes_no_sense_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        next(ac.generate(LETTERS, PROMPT, 1, **asked))


def test_an_empty_prompt_and_a_long_one_are_refused() -> None:
    with pytest.raises(ac.EmptyText):
        next(ac.generate(LETTERS, " ", 1))
    with pytest.raises(ac.TextTooLong):
        next(ac.generate(LETTERS, "a " * 15, 1))


def test_letters_are_written_without_torch() -> None:
    code = (
        "import sys, attention_core as ac; m = ac.load('induction'); *_, w = ac.generate(m, 'a b a', 3); "
        "m.trace_written(w.writing); assert not {'torch', 'transformers'} & set(sys.modules), 'imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


# Real models


@pytest.fixture(scope="module")
def model_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., RealModel]:
    folder, made = tmp_path_factory.mktemp("writers"), {}

    def load(name: str) -> RealModel:
        if name not in made:
            made[name] = load_folder(saved(WRITERS[name], folder / name))
        return made[name]

    return load


def fed(model: RealModel, ids: tuple[int, ...]) -> dict[str, torch.Tensor]:
    """The ids, and the first segment's number where the network asks for one."""
    one = torch.tensor([ids])
    beside = {"token_type_ids": torch.zeros_like(one)} if "token_type_ids" in model.fed else {}
    return {"input_ids": one, "attention_mask": torch.ones_like(one), **beside}


@pytest.mark.parametrize("name", WRITERS)
def test_the_cached_path_is_the_full_pass(name: str, model_of: Callable[..., RealModel]) -> None:
    model = model_of(name)
    steps = list(ac.generate(model, "the cat sat on", 7, top=99))
    writing = steps[-1].writing
    trace = model.trace_written(writing)
    net = model.engine.net
    with torch.no_grad():
        full = net(**fed(model, writing.ids[:-1])).logits[0]
    assert len(trace.tokens) == len(writing.tokens) - 1
    assert len(steps) > 1
    for step in steps:
        n_rows = len(step.layers[0].allowed)
        assert n_rows == (len(step.ids) - 1 if name == "openai-gpt" or step is steps[0] else 1)  # It has no cache.
        logits = np.empty(full.shape[1])
        for one in step.candidates:
            logits[one.id] = one.logit
        read = len(step.ids) - 1
        np.testing.assert_allclose(logits, full[read - 1].numpy(), atol=2e-4)
        for layer, whole in zip(step.layers, trace.layers, strict=True):
            n, m = layer.allowed.shape
            for h in range(layer.n_heads):
                wanted = whole.weights(h)[read - n : read, read - m : read]
                np.testing.assert_allclose(layer.weights(h), wanted, atol=1e-4)
    assert agreement(trace, writing) < 1e-4


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral", "gpt-oss"])
def test_the_librarys_own_generation_is_the_same(name: str, model_of: Callable[..., RealModel]) -> None:
    model = model_of(name)
    writing = last(model, "the cat sat on", 6)
    net = WRITERS[name].make()
    made = net.generate(
        **fed(model, writing.ids[:5]),
        max_new_tokens=6,
        do_sample=False,
        output_attentions=True,
        output_logits=True,
        return_dict_in_generate=True,
    )
    assert tuple(made.sequences[0].tolist()) == writing.ids
    trace = model.trace_written(writing)
    for t, layers in enumerate(made.attentions):
        for layer, given in zip(trace.layers, layers, strict=True):
            for h in range(layer.n_heads):
                row = given[0, h, -1].numpy()
                n = 5 + t
                np.testing.assert_allclose(layer.weights(h)[n - 1, n - len(row) : n], row, atol=1e-4)
        best = made.logits[t][0].max().item()
        assert writing.choices[t].chosen.logit == pytest.approx(best, abs=2e-4)


def test_a_real_prompt_of_three_and_two_written_make_four_rows(model_of: Callable[..., RealModel]) -> None:
    model = model_of("llama")
    writing = last(model, "the cat", 2)
    assert [token.shown for token in writing.tokens[:3]] == ["<s>", "the", "cat"]  # No </s>: the text goes on.
    weights = model.trace_written(writing).layers[1].weights(2)
    assert weights.shape == (4, 4)
    assert (weights[np.triu_indices(4, 1)] == 0).all()


def test_a_cut_writing_is_read_anew(model_of: Callable[..., RealModel]) -> None:
    model = model_of("gpt2")
    writing = last(model, "the cat sat on", 5, temperature=2.0)
    pen = generating.pen_of(model)
    pen.open(writing.prompt)
    pen.read(writing.ids)
    choice = writing.choices[1]
    changed = generating.take(pen, generating.cut(pen, writing, 1), choice.of(choice.candidates[3].id))
    logits = pen.read(changed.ids).logits
    with torch.no_grad():
        wanted = model.engine.net(**fed(model, changed.ids)).logits[0, -1]
    np.testing.assert_allclose(logits, wanted.numpy(), atol=2e-4)


def test_it_stops_after_the_token_for_the_end(tmp_path: Path) -> None:
    net = WRITERS["gpt2"].make()
    model = load_folder(saved(WRITERS["gpt2"], tmp_path / "free"))
    free = last(model, "the cat", 6, temperature=3.0)
    chosen = [choice.chosen.id for choice in free.choices]
    assert chosen[2] not in chosen[:2]
    net.generation_config.eos_token_id = [chosen[2]]
    net.save_pretrained(tmp_path / "ends")
    tokenizer().save_pretrained(tmp_path / "ends")
    ending = load_folder(tmp_path / "ends")
    writing = last(ending, "the cat", 6, temperature=3.0)
    assert (writing.ids, writing.end) == (free.ids[:-3], ENDED)
    assert len(ending.trace_written(writing).tokens) == len(writing.tokens) - 1


def test_it_ends_at_the_last_place_of_the_network(tmp_path: Path) -> None:
    model = load_folder(saved(WRITERS["gpt2"], tmp_path / "short", tokenizer(limit=11)))
    writing = last(model, "the cat sat on", 50)
    assert (len(writing.read), writing.end) == (11, FULL)
    assert model.trace_written(writing).layers[0].weights(0).shape == (11, 11)


def test_a_checkpoint_without_an_output_layer_cannot_write(tmp_path: Path) -> None:
    with pytest.raises(ac.UnsupportedModel, match="output layer"):
        next(ac.generate(load_folder(saved(DECODERS["gpt2"], tmp_path / "bare")), "the cat", 1))


def test_a_real_encoder_cannot_write(tmp_path: Path) -> None:
    bert = Kind("BertConfig", {**OURS, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2})
    with pytest.raises(ac.UnsupportedModel, match="not causal"):
        next(ac.generate(load_folder(saved(bert, tmp_path / "bert")), "the cat", 1))


@pytest.fixture(scope="module")
def bytes_model(tmp_path_factory: pytest.TempPathFactory) -> RealModel:
    words = byte_level()
    words.backend_tokenizer.decoder = decoders.ByteLevel()
    facts = {"vocab_size": 300, "n_embd": 32, "n_layer": 1, "n_head": 2, "n_positions": 64}
    folder = saved(Kind("GPT2Config", facts, "GPT2LMHeadModel"), tmp_path_factory.mktemp("bytes") / "m", words)
    return load_folder(folder)


def written(model: RealModel, prompt: str, more: str) -> Writing:
    """`more` as if the model had written it."""
    pen = generating.pen_of(model)
    writing = pen.open(prompt)
    for identity in model.reader.read(more)[1]["input_ids"][0].tolist():
        choice = generating.choose(pen, pen.read(writing.ids), len(writing.tokens), top=300)
        wanted = next(one for one in choice.candidates if one.id == identity)
        writing = generating.take(pen, writing, replace(choice, chosen=wanted))
    return writing


def test_a_character_in_three_tokens_reads_as_one_once_it_is_whole(bytes_model: RealModel) -> None:
    writing = written(bytes_model, "a猫", "é猫")
    assert [t.shown for t in writing.tokens] == ["a", "猫 1/3", "猫 2/3", "猫 3/3", "é 1/2", "é 2/2"] + [
        f"猫 {i}/3" for i in (1, 2, 3)
    ]
    assert writing.text == "a猫é猫"
    assert [choice.chosen.shown for choice in writing.choices[:2]] == ["⟨C3⟩", "⟨A9⟩"]
    short = generating.cut(generating.pen_of(bytes_model), writing, 3)
    assert [t.shown for t in short.tokens[4:]] == ["é 1/2", "é 2/2", "⟨E7⟩"]
    assert all("\ufffd" not in token.shown for token in short.tokens)
    trace = bytes_model.trace_written(writing)
    assert [t.shown for t in trace.tokens] == [t.shown for t in writing.tokens[:-1]]


def test_spaces_belong_to_the_words_they_stand_before(bytes_model: RealModel) -> None:
    writing = written(bytes_model, "a b", " c")
    assert writing.text == "a b c"
    assert [choice.chosen.shown for choice in writing.choices] == ["␣", "c"]


def test_whole_words_are_joined_as_the_tokenizer_joins_them(model_of: Callable[..., RealModel]) -> None:
    writing = written_words(model_of("gpt2"))
    assert writing.text == "the cat sat on"
    assert [token.text for token in writing.tokens if not token.is_special] == ["the", "cat", "sat", "on"]


def written_words(model: RealModel) -> Writing:
    pen = generating.pen_of(model)
    writing = pen.open("the cat")
    known = tokenizer()
    for word in ("sat", "on"):
        choice = generating.choose(pen, pen.read(writing.ids), len(writing.tokens), top=99)
        wanted = next(one for one in choice.candidates if one.id == known.convert_tokens_to_ids(word))
        writing = generating.take(pen, writing, replace(choice, chosen=wanted))
    return writing


def test_a_trace_after_writing_keeps_no_cache(model_of: Callable[..., RealModel]) -> None:
    model = model_of("gpt2")
    last(model, "the cat", 3)
    assert model.engine.run({"input_ids": torch.tensor([[5, 6, 7]])}).output.cache is None


def test_numbers_without_a_name_stand_as_numbers(bytes_model: RealModel) -> None:
    pen = generating.pen_of(bytes_model)
    writing = pen.open("None")
    nameless = 299
    for identity in (nameless, int(bytes_model.reader.read("h")[1]["input_ids"][0, 0])):
        choice = generating.choose(pen, pen.read(writing.ids), len(writing.tokens), top=300)
        writing = generating.take(pen, writing, choice.of(identity))
    assert [token.shown for token in writing.tokens[4:]] == ["⟨#299⟩", "h"]
    assert writing.choices[0].chosen.shown == "⟨#299⟩"
    assert bytes_model.trace_written(writing).tokens == writing.tokens[:-1]
