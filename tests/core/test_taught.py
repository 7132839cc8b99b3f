"""`pronoun`: it finds what "it" stands for, and every number of its traces is its own."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import attention_core as ac
from attention_core import plain
from attention_core.cards import DEFAULT, FOLDER
from attention_core.loading import build, load_taught
from attention_core.taught import sinusoids
from attention_core.teach.model import Forward
from attention_core.teach.tasks import TASKS
from attention_core.teach.tasks.pronoun_words import ADJECTIVES, NOUNS
from attention_core.teach.trainer import new_model

HEADLINE = "The animal didn't cross the street because it was too {}."
SWAPPED = "The street wasn't crossed by the animal because it was too {}."
TEXTS = (
    HEADLINE.format("tired"),
    SWAPPED.format("wide"),
    "It",
    "the cat saw the dog the",
    "yesterday a fox had tasted the soup , and nobody asked 猫 why " * 4,
)


def index_of(trace: ac.Trace, word: str) -> int:
    return [token.text for token in trace.tokens].index(word)


def reading_row(trace: ac.Trace) -> np.ndarray:
    """What the card's reading head gives from "it" to each token."""
    layer, head = trace.card.reading_head
    return trace.layers[layer].weights(head)[index_of(trace, "it")]


def looked_at(trace: ac.Trace) -> str:
    return trace.tokens[int(reading_row(trace).argmax())].text


def flips_the_headline(model: ac.TaughtModel) -> bool:
    """Acceptance B: the noun that is meant gets at least .70, the other one at most .15."""

    def weights(adjective: str) -> dict[str, float]:
        trace = model.trace(HEADLINE.format(adjective))
        return {noun: reading_row(trace)[index_of(trace, noun)] for noun in ("animal", "street")}

    tired, wide = weights("tired"), weights("wide")
    return min(tired["animal"], wide["street"]) >= 0.70 and max(tired["street"], wide["animal"]) <= 0.15


def test_the_headline_flips(pronoun: ac.TaughtModel) -> None:
    assert flips_the_headline(pronoun)
    assert pronoun.card.reading_head == (1, 0)


@pytest.mark.parametrize("name", ["w_q", "w_k"])
@pytest.mark.parametrize("layer", [0, 1])
def test_and_without_learned_queries_or_keys_it_does_not(pronoun: ac.TaughtModel, layer: int, name: str) -> None:
    layers = list(pronoun.layers)
    layers[layer] = replace(layers[layer], **{name: np.zeros_like(getattr(layers[layer], name))})
    assert not flips_the_headline(replace(pronoun, layers=tuple(layers)))


def generated_flips(n: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Frames with one gap, and which noun is meant by which adjective; the nouns change places in every second one."""
    rng = np.random.default_rng(11)
    nouns, adjectives = ({kind: list(rng.permutation(table[kind])) for kind in table} for table in (NOUNS, ADJECTIVES))
    for i in range(n):
        place = i // 2 % 10
        frame = SWAPPED if i % 2 else HEADLINE
        animal, street = nouns["animate"][place], nouns["place"][(place + i // 20) % 10]
        text = frame.replace("animal", animal).replace("street", street)
        yield text, {adjectives["animate"][i % 10]: animal, adjectives["place"][(i + 3) % 10]: street}


def test_forty_generated_flips(pronoun: ac.TaughtModel) -> None:
    flips = list(generated_flips(40))
    assert len({text for text, _ in flips}) == 40
    right = [
        all(looked_at(pronoun.trace(text.format(adjective))) == noun for adjective, noun in meant.items())
        for text, meant in flips
    ]
    assert np.mean(right[0::2]) >= 0.95
    assert np.mean(right[1::2]) >= 0.95


def test_one_input_and_three_matrices(pronoun: ac.TaughtModel, tired: ac.Trace) -> None:
    for layer in tired.layers:
        head = layer.head(0)
        assert head.x is head.x_key
        for part, w in (("q", head.w_q), ("k", head.w_k), ("v", head.w_v)):
            np.testing.assert_allclose(head.x @ w, getattr(head, part), rtol=0, atol=1e-12)
    first, second = (layer.head(0) for layer in tired.layers)
    d = pronoun.card.d_model
    assert first.x.shape == (12, d)
    # X̃ = [X | Δ]: the word, and beside it what layer 0 wrote; W_Q stands twice, keys and values do not read the note.
    np.testing.assert_array_equal(second.x, np.hstack([first.x, tired.layers[0].written]))
    trained = pronoun.layers[1]
    np.testing.assert_array_equal(second.w_q, np.vstack([trained.w_q[0]] * 2))
    for w, own in ((second.w_k, trained.w_k), (second.w_v, trained.w_v)):
        np.testing.assert_array_equal(w, np.vstack([own[0], np.zeros((d, pronoun.card.d_head))]))


@pytest.fixture
def in_double() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def by_torch(trace: ac.Trace, dtype: torch.dtype) -> Forward:
    model = new_model(TASKS["pronoun"].spec()).to(dtype)
    model.load_state_dict(load_file(FOLDER / "pronoun.safetensors"))
    with torch.no_grad():
        return model(torch.tensor([[token.id for token in trace.tokens]]))


def assert_equal_to_torch(trace: ac.Trace, expected: Forward, tolerance: float) -> None:
    for layer, weights in zip(trace.layers, expected.weights, strict=True):
        np.testing.assert_allclose(layer.weights(0), weights[0, 0].numpy(), rtol=0, atol=tolerance)
    vocabulary = list(trace.card.details["vocabulary"])
    for answers, row in zip(trace.predictions, expected.logits["readout"][0].double(), strict=True):
        best = row.topk(len(answers))
        assert [answer.word for answer in answers] == [vocabulary[i] for i in best.indices]
        np.testing.assert_allclose([a.logit for a in answers], best.values, rtol=tolerance, atol=tolerance)
        chances = row.softmax(-1)[best.indices]
        np.testing.assert_allclose([a.probability for a in answers], chances, rtol=0, atol=10 * tolerance)


@pytest.mark.usefixtures("in_double")
@pytest.mark.parametrize("text", TEXTS)
def test_traces_equal_torch_in_double(pronoun: ac.TaughtModel, text: str) -> None:
    trace = pronoun.trace(text)
    assert_equal_to_torch(trace, by_torch(trace, torch.float64), 1e-12)


@pytest.mark.parametrize("text", TEXTS[:2])
def test_traces_equal_torch_as_trained(pronoun: ac.TaughtModel, text: str) -> None:
    trace = pronoun.trace(text)
    assert_equal_to_torch(trace, by_torch(trace, torch.float32), 1e-6)


def test_answers(pronoun: ac.TaughtModel, tired: ac.Trace, wide: ac.Trace) -> None:
    for trace, noun in ((tired, "animal"), (wide, "street")):
        said = [answers[0].word for answers in trace.predictions]
        expected = [token.text.casefold() for token in trace.tokens]
        expected[index_of(trace, "it")] = noun
        assert said == expected
        for answers in trace.predictions:
            chances = [answer.probability for answer in answers]
            assert chances == sorted(chances, reverse=True)
            assert sum(chances) <= 1 + 1e-12
    every = [tired.explain_answer(7, word).probability for word in pronoun.vocabulary]
    assert sum(every) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("word", [None, "street", "[UNK]"])
def test_an_answer_is_the_sum_of_its_parts(tired: ac.Trace, word: str | None) -> None:
    for i, answers in enumerate(tired.predictions):
        total = tired.explain_answer(i, word)
        assert (total.token, total.word) == (i, answers[0].word if word is None else word)
        assert math.fsum(part.logit for part in total.parts) == pytest.approx(total.logit, abs=1e-12)
        assert math.exp(total.logit - total.log_sum_exp) == pytest.approx(total.probability, rel=1e-12)
        assert [part.layer for part in total.parts] == [None, 0, 1]
        assert [part.is_read for part in total.parts] == [False, False, True]
        terms = total.parts[2].terms
        assert math.fsum(term.logit for term in terms) == pytest.approx(total.parts[2].logit, abs=1e-12)
        assert [term.weight for term in terms] == list(tired.layers[1].weights(0)[i])
        for answer in answers:
            if answer.word == total.word:
                assert (answer.logit, answer.probability) == (total.logit, total.probability)


def test_an_answer_that_is_not_there(tired: ac.Trace) -> None:
    for token in (-1, 12):
        with pytest.raises(IndexError):
            tired.explain_answer(token)
    with pytest.raises(KeyError):
        tired.explain_answer(0, "robot")
    with pytest.raises(ac.UnsupportedModel):
        replace(tired, sum_answer=None).explain_answer(0)


def test_sinusoids() -> None:
    # d_model 4: place p is sin p, cos p, sin(p / 100), cos(p / 100).
    expected = [
        [0, 1, 0, 1],
        [0.84147098, 0.54030231, 0.00999983, 0.99995],
        [0.90929743, -0.41614684, 0.01999867, 0.9998],
    ]
    np.testing.assert_allclose(sinusoids(3, 4), expected, rtol=0, atol=1e-8)
    # d_model 3: the third column is a sine of p / 10000^(2/3) and has no cosine.
    np.testing.assert_allclose(sinusoids(2, 3)[1], [0.84147098, 0.54030231, 0.00215443], rtol=0, atol=1e-8)


def test_the_catalogue(pronoun: ac.TaughtModel) -> None:
    assert ac.models()[0].name == DEFAULT
    card = next(known for known in ac.models() if known.name == "pronoun")
    assert card is pronoun.card
    assert (card.name, card.n_layers, card.n_heads, card.d_model, card.d_head) == ("pronoun", 2, 1, 16, 8)
    assert card.is_available
    assert set(card.title) == set(card.source) == {"en", "zh"}
    matrices = [pronoun.embedding, *(readout.matrix for readout in pronoun.readouts)]
    matrices += [getattr(layer, name) for layer in pronoun.layers for name in ("w_q", "w_k", "w_v", "w_o")]
    assert card.n_parameters == sum(matrix.size for matrix in matrices)
    assert len(pronoun.vocabulary) == len(set(pronoun.vocabulary)) == len(pronoun.embedding)


def test_a_model_is_loaded_once(pronoun: ac.TaughtModel) -> None:
    assert ac.load("pronoun") is pronoun


def test_a_name_that_nobody_knows() -> None:
    with pytest.raises(ac.UnknownModel) as caught:
        ac.load("nope")
    assert (caught.value.name, caught.value.known) == ("nope", tuple(card.name for card in ac.models()))


def test_a_pair_is_refused(pronoun: ac.TaughtModel) -> None:
    with pytest.raises(ac.UnsupportedModel, match="pair"):
        pronoun.trace("it", pair="it")


def test_damaged_or_missing_weights_are_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "models")
    weights = folder / "pronoun.safetensors"
    assert load_taught("pronoun", folder).trace("it").check().passed
    whole = weights.read_bytes()
    for damaged in (whole[:-1] + bytes([whole[-1] ^ 1]), whole[:-1], b""):
        weights.write_bytes(damaged)
        with pytest.raises(ac.UnsupportedModel, match="not those of its card"):
            load_taught("pronoun", folder)
    weights.unlink()
    with pytest.raises(ac.UnsupportedModel, match="missing"):
        load_taught("pronoun", folder)


def test_weights_that_are_no_numbers_are_not_drawn(pronoun: ac.TaughtModel) -> None:
    tensors = {name: tensor.numpy().copy() for name, tensor in load_file(FOLDER / "pronoun.safetensors").items()}
    tensors["layers.1.w_v"][0, 0, 0] = np.nan
    with pytest.raises(ac.TraceMismatch):
        build(pronoun.card, tensors).trace(TEXTS[0])


def test_eight_threads_trace_as_one(pronoun: ac.TaughtModel) -> None:
    texts = [text.format(adjective) for text, meant in generated_flips(40) for adjective in meant]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(pronoun.trace, texts))
    for text, trace in zip(texts, together, strict=True):
        alone = pronoun.trace(text)
        assert trace.predictions == alone.predictions
        for one, other in zip(trace.layers, alone.layers, strict=True):
            np.testing.assert_array_equal(one.weights(0), other.weights(0))


def test_everything_handed_out_is_read_only_and_in_double(pronoun: ac.TaughtModel, tired: ac.Trace) -> None:
    values = [pronoun, *pronoun.layers, *pronoun.readouts, *tired.layers, *(layer.head(0) for layer in tired.layers)]
    everything = [getattr(value, field.name) for value in values for field in fields(value)]
    arrays = [value for value in everything if isinstance(value, np.ndarray)]
    assert not any(array.flags.writeable for array in arrays)
    assert {array.dtype for array in arrays} == {np.dtype(np.float64), np.dtype(bool)}


def test_the_trace_names_its_stack_and_its_method(tired: ac.Trace) -> None:
    assert tired.method == "numpy"
    assert tired.stacks == {"self": tired.layers}
    assert [(layer.index, layer.kind, layer.bias) for layer in tired.layers] == [(0, "self", None), (1, "self", None)]
    assert all(layer.scale == 1 / math.sqrt(8) for layer in tired.layers)
    assert tired.check().reference == plain.REFERENCE
