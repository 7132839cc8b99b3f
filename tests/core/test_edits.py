"""What-ifs: each edit alone and every pair against a forward pass in torch (edited.py), and what must hold."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attention_core as ac
from attention_core.cards import ModelCard
from attention_core.edits import EMPTY
from attention_core.plain import forward
from attention_core.readouts import Readout
from attention_core.taught import Mlp, TaughtLayer, TaughtModel, sinusoids
from tests.core.edited import by_torch

# Every axis has a length of its own.
N_WORDS, N, D, D_HEAD, N_HEADS, HIDDEN, N_ANSWERS = 17, 7, 11, 5, 3, 13, 19
VOCABULARY = (*"abcdefghijklmnop", "?")
TEXT = "cabdage"
ORDER = (3, 0, 6, 1, 5, 2, 4)
SIZES = {"n_layers": 2, "n_heads": N_HEADS, "d_model": D, "d_head": D_HEAD, "n_parameters": 1, "max_tokens": 23}


def made(
    *, causal: bool = False, positions: str = "sinusoidal", notes: bool = False, mlp: bool = False, d_v: int = D_HEAD
) -> TaughtModel:
    """A model of random numbers whose weights are neither uniform nor 0 and 1."""
    rng = np.random.default_rng(29)

    def draw(*shape: int) -> np.ndarray:
        return rng.normal(size=shape) / math.sqrt(shape[-2] if len(shape) > 1 else 1)

    def layer(index: int) -> TaughtLayer:
        square = (N_HEADS, D, D_HEAD)
        after = Mlp(draw(D, HIDDEN), draw(HIDDEN), draw(HIDDEN, D), draw(D)) if mlp else None
        reads = ("word", "note") if notes and index else ("word",)
        writes = ("note", "answer")[index] if notes else "word"
        window = 2 if index == 0 else None
        parts = (draw(*square), draw(*square), draw(N_HEADS, D, d_v), draw(N_HEADS, d_v, D))
        return TaughtLayer(*parts, reads, ("word",), writes, window, after)

    facts = {"vocabulary": VOCABULARY, "tokenizer": "characters", "prefix": [], "unknown": "?", "positions": positions}
    card = ModelCard(
        "made", {}, {}, **SIZES, causal=causal, reading_head=None, licence="", is_available=True,
        details=MappingProxyType(facts),
    )  # fmt: skip
    places = {"none": None, "sinusoidal": sinusoids(23, D), "learned": rng.normal(size=(23, D))}[positions]
    answers = tuple(f"answer {i}" for i in range(N_ANSWERS))
    readout = Readout(draw(D, N_ANSWERS), draw(N_ANSWERS), answers, ("answer" if notes else "word",), 1, "all")
    return TaughtModel(card, rng.normal(size=(N_WORDS, D)), places, (layer(0), layer(1)), (readout,))


MODELS = {
    "plain": made(),
    "causal": made(causal=True, positions="learned", mlp=True),
    "notes": made(notes=True, mlp=True),
    "placeless": made(positions="none"),
}
SINGLES: dict[str, dict[str, Any]] = {
    "causal": {"causal": True},
    "open": {"causal": False},
    "placeless": {"positions": False},
    "unscaled": {"scale": False},
    "hot": {"temperature": 3.7},
    "cold": {"temperature": 0.13},
    "q is k": {"tie": "qk"},
    "k is v": {"tie": "kv"},
    "shuffled": {"order": ORDER},
    "silenced": {"silenced": frozenset({2, 5})},
    "cut": {"cut": frozenset({(1, 0, 4, 1), (0, 2, 3, 3), (1, None, 6, 2)})},
    "in layer 1": {"layer": 1},
}
PAIRS = [(one, other) for one, other in combinations(SINGLES, 2) if not SINGLES[one].keys() & SINGLES[other].keys()]
ASKED = [(name,) for name in SINGLES] + PAIRS


def ids_of(text: str) -> list[int]:
    return [VOCABULARY.index(letter) for letter in text]


def assert_equal(model: TaughtModel, edits: ac.Edits) -> ac.Trace:
    trace, expected = model.trace(TEXT, edits=edits), by_torch(model, ids_of(TEXT), edits)
    for layer, weights, masked in zip(trace.layers, expected.weights, expected.masked, strict=True):
        for h in range(N_HEADS):
            np.testing.assert_allclose(layer.head(h).weights, weights[h], rtol=0, atol=1e-12)
            np.testing.assert_allclose(layer.head(h).masked, masked[h], rtol=1e-12, atol=1e-12)
    chances = expected.logits[0].softmax(-1)
    for answers, row in zip(trace.predictions, chances, strict=True):
        # By value first: two answers may be alike to the last digit.
        np.testing.assert_allclose([a.probability for a in answers], row.topk(len(answers)).values, rtol=0, atol=1e-12)
        said = [row[int(answer.word.split()[1])] for answer in answers]
        np.testing.assert_allclose([a.probability for a in answers], said, rtol=0, atol=1e-12)
    assert trace.check(full=True).passed
    return trace


@pytest.mark.parametrize("asked", ASKED, ids=" + ".join)
@pytest.mark.parametrize("name", MODELS)
def test_each_edit_and_every_pair_equals_torch(name: str, asked: tuple[str, ...]) -> None:
    edits = ac.Edits(**{field: value for one in asked for field, value in SINGLES[one].items()})
    trace = assert_equal(MODELS[name], edits)
    assert trace.edits is edits
    assert [token.text for token in trace.tokens] == [TEXT[i] for i in (edits.order or range(N))]


edges = st.tuples(
    st.integers(0, 1), st.none() | st.integers(0, N_HEADS - 1), st.integers(0, N - 1), st.integers(0, N - 1)
)
many = st.builds(
    ac.Edits,
    causal=st.sampled_from([None, True, False]),
    positions=st.booleans(),
    scale=st.booleans(),
    temperature=st.floats(0.05, 20),
    tie=st.sampled_from([None, "qk", "kv"]),
    order=st.none() | st.permutations(range(N)).map(tuple),
    silenced=st.frozensets(st.integers(0, N - 1)),
    cut=st.frozensets(edges, max_size=20),
    layer=st.sampled_from([None, 0, 1]),
)


@given(edits=many, name=st.sampled_from(sorted(MODELS)))
def test_any_edits_together_equal_torch(edits: ac.Edits, name: str) -> None:
    assert_equal(MODELS[name], edits)


@pytest.mark.parametrize("field", ["causal", "positions", "scale", "temperature", "tie", "silenced", "cut"])
def test_and_the_check_sees_an_edit_that_was_not_made(field: str) -> None:
    value = {"causal": True, "positions": False, "scale": False, "temperature": 3.7, "tie": "qk"}
    value |= {"silenced": {2}, "cut": {(1, 0, 4, 1)}}
    trace = MODELS["plain"].trace(TEXT)
    wrong = replace(trace, edits=ac.Edits(**{field: value[field]}))
    assert not wrong.check(full=True).passed
    assert trace.check(full=True).passed


def same(one: ac.Trace, other: ac.Trace) -> bool:
    """Equal to the last bit."""
    names = ("q", "k", "v", "written", "allowed")
    return one.predictions == other.predictions and all(
        all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)
        and a.scale == b.scale
        and a.hidden is None is b.hidden
        and all(np.array_equal(a.weights(h), b.weights(h)) for h in range(a.n_heads))
        for a, b in zip(one.layers, other.layers, strict=True)
    )


@pytest.mark.parametrize("name", [card.name for card in ac.models() if "vocabulary" in card.details])
def test_nothing_edited_is_the_trace_itself_bit_for_bit(name: str) -> None:
    model = ac.load(name)
    text = {"words": "The animal was tired.", "characters": "abcab佛跳墙ab"}[model.card.details["tokenizer"]]
    trace = model.trace(text)
    n = len(trace.tokens)
    unchanged = (ac.Edits(), ac.Edits(temperature=1), ac.Edits(layer=0), ac.Edits(order=tuple(range(n))))
    for edits in (*unchanged, ac.Edits(causal=model.card.causal)):
        assert same(trace, model.trace(text, edits=edits))
    other = model.trace(text, edits=ac.Edits(temperature=2))
    assert not same(trace, other)


@pytest.mark.parametrize(
    ("name", "edits"),
    [
        ("causal", ac.Edits(causal=True)),
        ("plain", ac.Edits(causal=False)),
        ("placeless", ac.Edits(positions=False)),
        ("plain", ac.Edits(cut={(0, None, 0, 6)})),  # Outside the window of layer 0 already.
        ("causal", ac.Edits(cut={(1, 2, 1, 4)})),  # A later key is hidden already.
    ],
)
def test_edits_that_change_nothing(name: str, edits: ac.Edits) -> None:
    assert not edits.is_empty
    assert same(MODELS[name].trace(TEXT), MODELS[name].trace(TEXT, edits=edits))


def windowless(model: TaughtModel) -> TaughtModel:
    return replace(model, layers=tuple(replace(layer, window=None) for layer in model.layers))


@given(order=st.permutations(range(N)).map(tuple))
def test_without_positions_another_order_only_permutes(order: tuple[int, ...]) -> None:
    model = windowless(MODELS["plain"])
    first = model.trace(TEXT, edits=ac.Edits(positions=False))
    other = model.trace(TEXT, edits=ac.Edits(positions=False, order=order))
    places = [order.index(token) for token in range(N)]
    for one, two in zip(first.layers, other.layers, strict=True):
        np.testing.assert_allclose(two.written[places], one.written, rtol=0, atol=1e-12)
        for h in range(N_HEADS):
            np.testing.assert_allclose(two.weights(h)[np.ix_(places, places)], one.weights(h), rtol=0, atol=1e-12)


def test_with_positions_or_a_causal_mask_it_does_more_than_that() -> None:
    model = windowless(MODELS["plain"])
    places = [ORDER.index(token) for token in range(N)]
    for edits in (ac.Edits(), ac.Edits(positions=False, causal=True)):
        first, other = (model.trace(TEXT, edits=replace(edits, order=order)) for order in (None, ORDER))
        difference = other.layers[1].weights(0)[np.ix_(places, places)] - first.layers[1].weights(0)
        assert np.abs(difference).max() > 0.01


def test_what_the_edits_mean_in_a_row() -> None:
    model = windowless(MODELS["plain"])
    before = model.trace(TEXT).layers[0].head(1)
    silent = model.trace(TEXT, edits=ac.Edits(silenced={2})).layers[0].head(1)
    assert (silent.weights[[0, 1, 3, 4, 5, 6], 2] == 0).all()
    assert silent.weights[2, 2] == before.weights[2, 2] > 0  # Its own query sees what it saw.
    np.testing.assert_allclose(silent.weights.sum(axis=1), 1, rtol=0, atol=1e-12)
    cut = model.trace(TEXT, edits=ac.Edits(cut={(0, 1, 4, 1)})).layers[0]
    kept = np.delete(before.weights[4], 1)
    # The rest of the row takes the share over, in proportion.
    np.testing.assert_allclose(np.delete(cut.head(1).weights[4], 1), kept / kept.sum(), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(cut.head(1).allowed, np.arange(N * N).reshape(N, N) != 4 * N + 1)
    np.testing.assert_array_equal(cut.head(0).weights, model.trace(TEXT).layers[0].weights(0))
    assert cut.head(0).allowed.all()
    at_rows = cut.at_rows(np.array([4, 5]))
    np.testing.assert_array_equal(at_rows.head(1).weights, cut.head(1).weights[4:6])
    bare = model.trace(TEXT, edits=ac.Edits(scale=False, temperature=4)).layers[0].head(0)
    assert bare.scale == 0.25
    tied = model.trace(TEXT, edits=ac.Edits(tie="qk")).layers[0].head(0)
    np.testing.assert_allclose(tied.scores, tied.scores.T, rtol=0, atol=1e-12)
    assert np.abs(tied.weights - tied.weights.T).max() > 0.01
    assert tied.w_k is not None
    np.testing.assert_array_equal(tied.w_k, tied.w_q)


def test_a_query_without_any_key_has_no_weights() -> None:
    cut = frozenset((1, None, 3, key) for key in range(N))
    trace = assert_equal(MODELS["notes"], ac.Edits(cut=cut))
    head = trace.layers[1].head(2)
    assert not head.has_keys[3]
    assert (head.weights[3] == 0).all()
    assert (head.output[3] == 0).all()


def test_the_sum_behind_an_answer_is_that_of_the_edited_run() -> None:
    edits = ac.Edits(silenced={1}, order=ORDER, cut={(1, 0, 4, 6)}, tie="kv", temperature=0.5)
    trace = MODELS["notes"].trace(TEXT, edits=edits)
    for i, answers in enumerate(trace.predictions):
        total = trace.explain_answer(i)
        assert (total.word, total.logit) == (answers[0].word, pytest.approx(answers[0].logit, abs=1e-12))
        assert math.fsum(part.logit for part in total.parts) == pytest.approx(total.logit, abs=1e-10)


def test_masks_of_any_model_take_edits() -> None:
    allowed = np.tri(N, dtype=bool) & ~np.tri(N, k=-4, dtype=bool)  # Causal, and three back at most.
    opened = ac.Edits(causal=False).apply_to_mask(allowed, 0, N_HEADS)
    np.testing.assert_array_equal(opened[1], np.abs(np.subtract.outer(range(N), range(N))) <= 3)
    edits = ac.Edits(silenced={2}, cut={(5, 1, 4, 1)}, order=ORDER)
    found = edits.apply_to_mask(allowed, 5, N_HEADS)
    assert found.shape == (N_HEADS, N, N)
    column = edits.place(2)
    assert (found[:, :, column] == (np.arange(N) == column)).all()
    assert (allowed[edits.place(4), edits.place(1)], found[1, edits.place(4), edits.place(1)]) == (True, False)
    assert found[0, edits.place(4), edits.place(1)]
    assert allowed.sum() == 22  # The model's own mask is as it was.


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("causal", 1),
        ("positions", None),
        ("scale", 0),
        *(("temperature", value) for value in (0, -1, math.inf, math.nan, True, "1")),
        ("tie", "qv"),
        *(("order", value) for value in ((0, 0), (1, 2), (0.0, 1.0), 3, "01", (-1, 0))),
        *(("silenced", value) for value in (3, {-1}, {True}, {1.5}, None)),
        *(("cut", value) for value in ({(0, 0, 1)}, {(None, 0, 1, 1)}, {(0, -1, 1, 1)}, {3}, None)),
        *(("layer", value) for value in (-1, 1.0, True)),
    ],
)
def test_values_that_make_no_sense(field: str, value: object) -> None:
    with pytest.raises(ac.UnfitEdit) as caught:
        ac.Edits(**{field: value})
    assert caught.value.name == field


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("order", tuple(range(N - 1))),
        ("silenced", {N}),
        ("layer", 2),
        *(("cut", {edge}) for edge in ((2, 0, 0, 0), (0, N_HEADS, 0, 0), (0, 0, N, 0), (0, None, 0, N))),
    ],
)
def test_values_that_this_model_or_text_cannot_take(field: str, value: object) -> None:
    with pytest.raises(ac.UnfitEdit) as caught:
        MODELS["plain"].trace(TEXT, edits=ac.Edits(**{field: value}))
    assert caught.value.name == field


def test_values_of_another_width_than_keys_cannot_be_tied() -> None:
    wide = made(d_v=2)
    assert wide.trace(TEXT, edits=ac.Edits(tie="qk")).check().passed
    with pytest.raises(ac.UnfitEdit, match="5 numbers, and values have 2"):
        wide.trace(TEXT, edits=ac.Edits(tie="kv"))


def test_edits_are_values() -> None:
    edits = ac.Edits(order=[1, 0], silenced=[1, 1], cut=[[0, None, 1, 0]], temperature=2)
    assert edits == ac.Edits(order=(1, 0), silenced={1}, cut={(0, None, 1, 0)}, temperature=2.0)
    assert len({edits, replace(edits)}) == 1
    with pytest.raises(AttributeError):
        edits.scale = False
    assert EMPTY.is_empty
    assert ac.Edits(layer=1).is_empty
    assert not edits.is_empty
    assert edits.ordered("ab") == ("b", "a")
    assert [edits.place(token) for token in range(2)] == [1, 0]


def test_the_plain_forward_of_nothing_edited_is_what_it_was() -> None:
    model = MODELS["plain"]
    expected = by_torch(model, ids_of(TEXT), EMPTY)
    for found, wanted in zip(forward(model, np.array(ids_of(TEXT))).weights, expected.weights, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
