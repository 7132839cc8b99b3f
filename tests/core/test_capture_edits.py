"""What-ifs in real models: every layer and the output equal those of attention that was written anew, cell by cell."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import attention_core as ac
from attention_core.capture.engine import Engine, Pass, first_output, prepare
from tests.core.capture_zoo import DECODERS, ENCODERS, OTHERS, THROUGH_INTERFACE
from tests.core.edited_real import Plain, written_anew

N, N_HEADS = 11, 4
NAMES = [*ENCODERS, *(name for name in DECODERS if name != "llava"), "clip-text"]
ORDER = (0, 3, 1, 10, 2, 5, 4, 9, 8, 6, 7)


class Engines(dict[str, tuple[Engine, Any]]):
    """Each network made ready, and another one of the same numbers."""

    def __missing__(self, name: str) -> tuple[Engine, Any]:
        kind = THROUGH_INTERFACE[name]
        other = kind.make()
        other.config.use_cache = False
        self[name] = prepare(kind.make(), kind.inputs()), other
        return self[name]


ENGINES = Engines()


def both(name: str, edits: ac.Edits) -> tuple[Pass, list[np.ndarray], Tensor]:
    engine, net = ENGINES[name]
    ids = THROUGH_INTERFACE[name].inputs(N, seed=3)["input_ids"]
    fed = {"input_ids": ids[:, list(edits.order)] if edits.order else ids}
    plain = Plain(edits, engine.numbers)
    with written_anew(net, plain), torch.no_grad():
        output = net(**fed)
    return engine.run(fed, full=True, edits=edits), plain.weights, first_output(output)


def assert_equal(name: str, edits: ac.Edits) -> Pass:
    seen, weights, output = both(name, edits)
    assert len(seen.layers) == len(weights) > 0
    for layer, wanted in zip(seen.layers, weights, strict=True):
        assert wanted.shape == (layer.n_heads, N, N)
        for h in range(layer.n_heads):
            np.testing.assert_allclose(layer.weights(h), wanted[h], rtol=0, atol=2e-4)
            assert (layer.weights(h)[~layer.head(h).allowed] == 0).all()
    np.testing.assert_allclose(first_output(seen.output), output, rtol=2e-3, atol=2e-3)
    check = seen.check(1e-4)
    assert check.passed, check
    return seen


SINGLES = {
    "nothing": ac.Edits(),
    "causal": ac.Edits(causal=True),
    "open": ac.Edits(causal=False),
    "scale": ac.Edits(scale=False),
    "cold": ac.Edits(temperature=0.3),
    "hot": ac.Edits(temperature=3.0),
    "silenced": ac.Edits(silenced={1, 4}),
    "cut": ac.Edits(cut={(1, 2, 6, 3), (1, None, 5, 5), (1, 0, 9, 2)}),
    "order": ac.Edits(order=ORDER, silenced={3}, cut={(1, 1, 6, 5)}),
}


@pytest.mark.parametrize("edit", SINGLES)
@pytest.mark.parametrize("name", NAMES)
def test_each_edit_equals_attention_written_anew(name: str, edit: str) -> None:
    if ENGINES[name][0].numbers == (1, 3):  # A hybrid model: its other layers have no attention.
        assert_equal(name, ac.Edits(cut={(3, 2, 6, 3)}, layer=3, temperature=0.5))
    seen = assert_equal(name, SINGLES[edit])
    unchanged = ENGINES[name][0].run({"input_ids": THROUGH_INTERFACE[name].inputs(N, seed=3)["input_ids"]})
    pairs = zip(seen.layers, unchanged.layers, strict=True)
    moved = max(np.abs(one.weights(h) - two.weights(h)).max() for one, two in pairs for h in range(one.n_heads))
    is_causal = not np.triu(unchanged.layers[0].allowed, 1).any()
    # Such a model does the same already, or (ESM) divides its queries by √d before it hands them over.
    is_nothing = {"nothing": True, "causal": is_causal, "open": not is_causal}
    is_nothing["scale"] = all(layer.scale == 1 for layer in unchanged.layers)
    cut = [(layer, h, q, k) for layer, h, q, k in SINGLES["cut"].cut if h is not None]
    is_nothing["cut"] = not any(unchanged.layers[layer % 2].weights(h)[q, k] for layer, h, q, k in cut)
    assert moved == 0 if is_nothing.get(edit, False) else moved > 1e-3


edges = st.tuples(
    st.integers(0, 1), st.none() | st.integers(0, N_HEADS - 1), st.integers(0, N - 1), st.integers(0, N - 1)
)
many = st.builds(
    ac.Edits,
    causal=st.sampled_from([None, True, False]),
    scale=st.booleans(),
    temperature=st.floats(0.2, 20),
    order=st.none() | st.permutations(range(N)).map(tuple),
    silenced=st.frozensets(st.integers(0, N - 1)),
    cut=st.frozensets(edges, max_size=20),
    layer=st.sampled_from([None, 0, 1]),
)


@settings(max_examples=60)
@given(edits=many, name=st.sampled_from(["bert", "gpt2", "llama", "gemma2", "gpt-oss", "albert"]))
def test_any_edits_together(edits: ac.Edits, name: str) -> None:
    assert_equal(name, edits)


def test_a_query_without_any_key_gives_nothing() -> None:
    cut = frozenset((1, 2, 6, key) for key in range(N))
    for name in ("bert", "gemma2", "llama"):
        seen = assert_equal(name, ac.Edits(cut=cut))
        head = seen.layers[1].head(2)
        assert not head.has_keys[6]
        assert (head.weights[6] == 0).all()
        assert (head.output[6] == 0).all()
        assert seen.layers[1].head(1).has_keys.all()


def test_an_edit_holds_in_its_layer_and_a_pass_after_it_is_the_models_own() -> None:
    engine, _ = ENGINES["bert"]
    fed = THROUGH_INTERFACE["bert"].inputs(N, seed=3)
    before = engine.run(fed)
    edited = engine.run(fed, edits=ac.Edits(scale=False, layer=1))
    after = engine.run(fed)
    for h in range(N_HEADS):
        np.testing.assert_array_equal(before.layers[0].weights(h), edited.layers[0].weights(h))
        assert np.abs(before.layers[1].weights(h) - edited.layers[1].weights(h)).max() > 0.01
        np.testing.assert_array_equal(before.layers[1].weights(h), after.layers[1].weights(h))


@cache
def minilm() -> Any:
    return ac.load("minilm")


def test_minilm_takes_them_with_its_tokens() -> None:
    model = minilm()
    text = "The animal didn't cross the street because it was too tired."
    before = model.trace(text)
    shown = [token.shown for token in before.tokens]
    it, animal = shown.index("it"), shown.index("animal")
    cut = model.trace(text, edits=ac.Edits(cut={(3, 1, it, animal)}))
    old, new = before.layers[3].weights(1)[it], cut.layers[3].weights(1)[it]
    assert old[animal] > 0.6
    assert new[animal] == 0
    # The rest of the row takes the share over, in proportion.
    np.testing.assert_allclose(new, np.where(np.arange(len(old)) == animal, 0, old / (1 - old[animal])), atol=1e-5)
    order = (0, *reversed(range(1, len(shown) - 1)), len(shown) - 1)
    turned = model.trace(text, edits=ac.Edits(order=order))
    assert [token.shown for token in turned.tokens] == [shown[i] for i in order]
    for trace in (cut, turned):
        assert trace.check(full=True).passed


def test_the_check_sees_an_edit_that_was_not_made() -> None:
    model = minilm()
    trace = model.trace("The cat sat.", edits=ac.Edits(temperature=3))
    assert trace.check(full=True).passed
    object.__setattr__(trace, "edits", ac.Edits(temperature=2))
    assert not trace.check(full=True).passed


@pytest.mark.parametrize("edits", [ac.Edits(positions=False), ac.Edits(tie="qk"), ac.Edits(tie="kv")])
def test_what_only_taught_models_take(edits: ac.Edits) -> None:
    with pytest.raises(ac.UnfitEdit, match="only taught models"):
        minilm().trace("The cat sat.", edits=edits)


@pytest.mark.parametrize(
    "edits", [ac.Edits(silenced={99}), ac.Edits(cut={(6, 0, 1, 1)}), ac.Edits(cut={(0, 12, 1, 1)}), ac.Edits(layer=6)]
)
def test_what_is_not_there(edits: ac.Edits) -> None:
    with pytest.raises(ac.UnfitEdit):
        minilm().trace("The cat sat.", edits=edits)


def test_none_of_the_zoo_is_forgotten() -> None:
    texts = {name for name, kind in THROUGH_INTERFACE.items() if kind.reads == "text"}
    assert texts - {"llava"} == set(NAMES)
    assert "clip-text" in OTHERS
