"""Own arrays: a shape that stands for something is taken as it is, any other is refused with those that would do."""

from __future__ import annotations

import numpy as np
import pytest

import attention_core as ac
from attention_core.tokens import Note

N_LAYERS, N_HEADS, N_QUERIES, N_KEYS, D_HEAD, D_V = 2, 6, 5, 7, 3, 4
RNG = np.random.default_rng(11)


def weights(*shape: int) -> np.ndarray:
    return RNG.dirichlet(np.ones(shape[-1]), size=shape[:-1])


def factors(*front: int, kv: int | None = None) -> dict[str, np.ndarray]:
    fronts = (*front[:-1], kv) if kv else front
    return {
        "q": RNG.standard_normal((*front, N_QUERIES, D_HEAD)),
        "k": RNG.standard_normal((*fronts, N_KEYS, D_HEAD)),
        "v": RNG.standard_normal((*fronts, N_KEYS, D_V)),
    }


class TestWeights:
    @pytest.mark.parametrize("shape", [(5, 7), (6, 5, 7), (2, 6, 5, 7), (7, 7)])
    def test_case_6_the_shapes_that_are_taken(self, shape: tuple[int, ...]) -> None:
        given_array = weights(*shape)
        trace = ac.from_weights(given_array)
        full = given_array.reshape((1,) * (4 - len(shape)) + shape)
        assert (trace.method, len(trace.layers), trace.layers[0].n_heads) == ("arrays", *full.shape[:2])
        assert [layer.index for layer in trace.layers] == list(range(full.shape[0]))
        for layer, expected in zip(trace.layers, full, strict=True):
            for h in range(layer.n_heads):
                np.testing.assert_array_equal(layer.weights(h), expected[h])
        assert trace.stacks == {"self" if full.shape[2] == full.shape[3] else "cross": trace.layers}
        assert trace.check().passed
        assert trace.notes == ()

    @pytest.mark.parametrize("given_array", [[0.9, 0.1], 0.5, [], [[]], np.zeros((1, 1, 1, 1, 1, 1)), np.zeros((0, 3))])
    def test_case_6_other_shapes_are_refused_with_those_that_would_do(self, given_array: object) -> None:
        with pytest.raises(ac.UnfitShape) as caught:
            ac.from_weights(given_array)
        assert caught.value.shape == np.shape(given_array)
        assert caught.value.name == "weights"
        assert caught.value.accepted[:3] == ("(query, key)", "(head, query, key)", "(layer, head, query, key)")
        assert "(head, query, key)" in str(caught.value)

    def test_a_batch_asks_which_item(self) -> None:
        batch = weights(2, 3, 6, 5, 7)
        with pytest.raises(ac.WhichItem) as caught:
            ac.from_weights(batch)
        assert (caught.value.n_items, caught.value.shape) == (3, (2, 3, 6, 5, 7))
        trace = ac.from_weights(batch, item=1)
        np.testing.assert_array_equal(trace.layers[1].weights(4), batch[1, 1, 4])
        np.testing.assert_array_equal(ac.from_weights(batch[:, :1]).layers[1].weights(4), batch[1, 0, 4])

    @pytest.mark.parametrize("item", [-1, 3])
    def test_an_item_that_is_not_there(self, item: int) -> None:
        with pytest.raises(IndexError, match="items 0–2"):
            ac.from_weights(weights(2, 3, 6, 5, 7), item=item)

    def test_an_item_of_no_batch(self) -> None:
        with pytest.raises(ac.UnfitShape, match="layer, item, head"):
            ac.from_weights(weights(6, 5, 7), item=0)

    def test_one_array_per_layer(self) -> None:
        attentions = tuple(weights(1, 6, 5, 7) for _ in range(2))  # As transformers' `outputs.attentions`.
        trace = ac.from_weights(attentions)
        assert len(trace.layers) == 2
        np.testing.assert_array_equal(trace.layers[1].weights(5), attentions[1][0, 5])
        with pytest.raises(ac.UnfitShape, match="one shape"):
            ac.from_weights((weights(1, 6, 5, 7), weights(1, 6, 4, 7)))

    def test_case_4_no_attentions_at_all(self) -> None:
        with pytest.raises(ac.UnfitValues, match="object"):
            ac.from_weights((None, None))

    def test_tensors(self) -> None:
        torch = pytest.importorskip("torch")
        tensor = torch.softmax(torch.randn(6, 5, 7, requires_grad=True), dim=-1)
        trace = ac.from_weights(tensor)
        np.testing.assert_array_equal(trace.layers[0].weights(2), tensor[2].detach().numpy())
        halves = ac.from_weights([tensor.detach().bfloat16()] * 2)
        np.testing.assert_array_equal(halves.layers[1].weights(2), tensor[2].detach().bfloat16().float().numpy())

    @pytest.mark.parametrize(("dtype", "held"), [("f2", "f4"), ("f4", "f4"), ("f8", "f8"), ("i8", "f8"), ("?", "f8")])
    def test_precision(self, dtype: str, held: str) -> None:
        assert ac.from_weights(np.eye(3, dtype=dtype)).layers[0].weights(0).dtype == np.dtype(held)

    def test_the_array_is_copied_and_held_read_only(self) -> None:
        mine = weights(6, 5, 7)
        trace, before = ac.from_weights(mine), mine.copy()
        mine[:] = 0
        np.testing.assert_array_equal(trace.layers[0].weights(3), before[3])
        assert not trace.layers[0].weights(3).flags.writeable

    @pytest.mark.parametrize(
        ("given_array", "found"),
        [
            ([[1.0, float("nan")]], "NaN"),
            ([[1.0, float("inf")]], "infinity"),
            ([["a", "b"]], "<U1"),
            ([[1j, 0]], "complex"),
            (np.array([[None, 1]]), "object"),
        ],
    )
    def test_what_is_no_number_is_refused(self, given_array: object, found: str) -> None:
        with pytest.raises(ac.UnfitValues, match=found):
            ac.from_weights(given_array)

    def test_rows_of_another_sum_are_taken_and_said(self) -> None:
        mine = weights(2, 6, 5, 7)
        mine[1, 3, 2] *= 0.5
        mine[0, 1, 4] *= 0.9
        trace = ac.from_weights(mine)
        np.testing.assert_array_equal(trace.layers[1].weights(3), mine[1, 3])
        (note,) = trace.notes
        assert (note.kind, note.layer, note.head, note.tokens, note.n) == ("row_sums", 1, 3, (2,), 2)
        assert note.value == pytest.approx(0.5)
        checked = trace.check()
        assert not checked.passed
        assert checked.row_sum_error == pytest.approx(0.5)
        assert (checked.reference, checked.n_rows) == ("given", 0)

    def test_half_precision_is_no_fault(self) -> None:
        assert ac.from_weights(weights(6, 50, 70).astype(np.float16)).notes == ()

    def test_case_15_signed_numbers_are_taken_and_said(self) -> None:
        trace = ac.from_weights([[-1.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
        assert trace.layers[0].weights(0).min() == -1
        outside = Note("outside", (0, 0), value=-1.0, n=1)
        assert outside in trace.notes

    def test_case_18_rows_of_zeros_have_no_keys(self) -> None:
        trace = ac.from_weights([[0.0, 0.0], [0.25, 0.75]])
        assert trace.layers[0].head_weights(0).has_keys.tolist() == [False, True]
        assert trace.notes == ()
        assert trace.check().passed

    def test_case_7_a_lower_triangle_and_one_token_more(self) -> None:
        triangle = np.tri(4) / np.tri(4).sum(axis=1, keepdims=True)
        trace = ac.from_weights(triangle, tokens=["a", "b", "c", "d"], allowed=ac.causal(4))
        assert trace.card.causal
        np.testing.assert_array_equal(trace.layers[0].head_weights(0).allowed, ac.causal(4))
        with pytest.raises(ac.ShapeMismatch) as caught:
            ac.from_weights(triangle, tokens=["a", "b", "c", "d", "e"])
        assert (caught.value.axis, caught.value.expected, caught.value.actual) == ("tokens", 4, 5)

    def test_a_zero_is_not_a_mask(self) -> None:
        trace = ac.from_weights(np.eye(4))
        assert trace.layers[0].allowed.all()
        assert not trace.card.causal

    def test_weight_where_none_may_be_is_refused(self) -> None:
        with pytest.raises(ac.UnfitValues, match="may not be seen"):
            ac.from_weights(np.full((4, 4), 0.25), allowed=ac.causal(4))

    @pytest.mark.parametrize("allowed", [np.ones((4, 3)), np.ones((3, 4, 4)), np.ones(4)])
    def test_masks_of_another_shape_are_refused(self, allowed: np.ndarray) -> None:
        with pytest.raises(ac.UnfitShape, match="allowed"):
            ac.from_weights(weights(2, 6, 4, 4), allowed=allowed)

    def test_additive_masks_are_refused(self) -> None:
        with pytest.raises(ac.UnfitValues, match="allowed"):
            ac.from_weights(np.eye(2), allowed=[[0.0, -1e9], [0.0, 0.0]])

    def test_a_mask_for_each_layer(self) -> None:
        masks = np.stack([np.ones((4, 4), bool), ac.causal(4)])
        trace = ac.from_weights(np.broadcast_to(np.eye(4), (2, 6, 4, 4)), allowed=masks)
        np.testing.assert_array_equal(trace.layers[1].allowed, ac.causal(4))

    def test_what_cannot_be_had_is_said(self) -> None:
        layer = ac.from_weights(weights(2, 6, 5, 7)).layers[1]
        assert (layer.q, layer.k, layer.v, layer.scale, layer.x) == (None,) * 5
        with pytest.raises(ac.WeightsOnly, match="layer 1") as caught:
            layer.head(0)
        assert caught.value.layer == 1
        assert not isinstance(layer.head_weights(0), ac.HeadSteps)

    @pytest.mark.parametrize("h", [-1, 6])
    def test_a_head_that_is_not_there(self, h: int) -> None:
        layer = ac.from_weights(weights(6, 5, 7)).layers[0]
        for ask in (layer.head, layer.weights, layer.head_weights):
            with pytest.raises(IndexError, match="heads 0–5"):
                ask(h)


class TestTokens:
    def test_given_ones(self) -> None:
        trace = ac.from_weights(np.eye(3), tokens=["the", "cat", "the"])
        assert trace.text == "the cat the"
        assert [trace.text[token.start : token.end] for token in trace.tokens] == ["the", "cat", "the"]
        assert {token.id for token in trace.tokens} == {-1}
        assert trace.target_tokens == ()
        assert set(trace.stacks) == {"self"}

    def test_case_8_a_rectangle_has_names_on_both_sides(self) -> None:
        keys, queries = list("abcdefg"), list("vwxyz")
        trace = ac.from_weights(weights(6, 5, 7), keys, queries)
        assert [token.text for token in trace.tokens] == keys
        assert [token.text for token in trace.target_tokens] == queries

    def test_numbered_where_none_are_given(self) -> None:
        trace = ac.from_weights(weights(5, 7), tokens=list("abcdefg"))
        assert [token.text for token in trace.target_tokens] == ["0", "1", "2", "3", "4"]
        assert [token.text for token in ac.from_weights(weights(2, 2)).tokens] == ["0", "1"]

    def test_tokens_of_a_tokenizer_stay_what_they_are(self) -> None:
        mine = (ac.Token("[CLS]", 2, 0, 0, is_special=True), ac.Token("cat", 9, 0, 3))
        assert ac.from_weights(np.eye(2), mine).tokens == mine

    @pytest.mark.parametrize("n", [6, 8])
    def test_too_few_or_too_many_are_said_and_never_cropped(self, n: int) -> None:
        for name, size in (("tokens", 7), ("query_tokens", 5)):
            wrong = ["t"] * (n if name == "tokens" else n - 2)
            with pytest.raises(ac.ShapeMismatch) as caught:
                ac.from_weights(weights(5, 7), **{name: wrong})
            assert (caught.value.axis, caught.value.expected, caught.value.actual) == (name, size, len(wrong))

    def test_a_text_is_not_its_tokens(self) -> None:
        with pytest.raises(ac.UnfitValues, match="list"):
            ac.from_weights(weights(3, 3), tokens="abc")


class TestFactors:
    @pytest.mark.parametrize("front", [(), (6,), (2, 6)])
    def test_case_6_every_step_of_every_head(self, front: tuple[int, ...]) -> None:
        mine = factors(*front)
        trace = ac.from_arrays(**mine)
        assert trace.method == "arrays"
        full = {name: array.reshape((1,) * (4 - array.ndim) + array.shape) for name, array in mine.items()}
        for i, layer in enumerate(trace.layers):
            for h in range(layer.n_heads):
                own = {name: array[i, h] for name, array in full.items()}
                expected, head = ac.attention(**own), layer.head(h)
                for name in ("q", "k", "v", "scores", "scaled", "masked", "weights", "output"):
                    np.testing.assert_array_equal(getattr(head, name), getattr(expected, name), err_msg=name)
                np.testing.assert_array_equal(layer.weights(h), expected.weights)
                assert isinstance(layer.head_weights(h), ac.HeadSteps)
        assert trace.check(full=True).passed

    def test_case_17_shared_key_value_heads(self) -> None:
        mine = factors(2, 6, kv=3)
        layer = ac.from_arrays(**mine).layers[1]
        assert (layer.n_heads, layer.n_kv_heads) == (6, 3)
        np.testing.assert_array_equal(layer.head(3).k, mine["k"][1, 1])

    def test_all_that_a_layer_may_have(self) -> None:
        mine, bias = factors(2, 6), RNG.standard_normal((2, 6, 5, 7))
        allowed = RNG.random((5, 7)) < 0.7
        trace = ac.from_arrays(**mine, scale=0.3, allowed=allowed, bias=bias, softcap=2.0)
        own = {name: array[1, 4] for name, array in mine.items()}
        expected = ac.attention(**own, scale=0.3, allowed=allowed, bias=bias[1, 4], softcap=2.0)
        np.testing.assert_array_equal(trace.layers[1].weights(4), expected.weights)

    @pytest.mark.parametrize("front", [(), (6,), (2, 6)])
    def test_a_bias_for_all_or_for_each(self, front: tuple[int, ...]) -> None:
        bias = RNG.standard_normal((*front, 5, 7))
        layer = ac.from_arrays(**factors(2, 6), bias=bias).layers[1]
        np.testing.assert_array_equal(layer.head(4).bias, np.broadcast_to(bias, (2, 6, 5, 7))[1, 4])

    def test_a_batch_asks_which_item(self) -> None:
        mine = {name: np.stack([array] * 3, axis=1) for name, array in factors(2, 6).items()}
        mine["q"][:, 2] += 1
        with pytest.raises(ac.WhichItem) as caught:
            ac.from_arrays(**mine)
        assert (caught.value.name, caught.value.n_items) == ("q", 3)
        np.testing.assert_array_equal(ac.from_arrays(**mine, item=2).layers[1].head(3).q, mine["q"][1, 2, 3])

    @pytest.mark.parametrize(
        ("name", "shape", "axis", "expected", "actual"),
        [
            ("k", (2, 6, 7, 4), "d_head", 3, 4),
            ("v", (2, 6, 8, 4), "key", 7, 8),
            ("k", (3, 6, 7, 3), "layer of k", 2, 3),
            ("v", (1, 6, 7, 4), "layer of v", 2, 1),
            ("v", (2, 3, 7, 4), "kv_head", 6, 3),
            ("q", (2, 8, 5, 3), "head of q", "a multiple of 6", 8),
            ("bias", (6, 5, 6), "key of bias", 7, 6),
            ("bias", (3, 5, 7), "head of bias", 6, 3),
            ("weights", (2, 6, 4, 7), "query of weights", 5, 4),
        ],
    )
    def test_what_does_not_fit_together(
        self, name: str, shape: tuple[int, ...], axis: str, expected: object, actual: int
    ) -> None:
        with pytest.raises(ac.ShapeMismatch) as caught:
            ac.from_arrays(**{**factors(2, 6), name: np.zeros(shape)})
        assert (caught.value.axis, caught.value.expected, caught.value.actual) == (axis, expected, actual)

    @pytest.mark.parametrize("name", ["q", "k", "v"])
    def test_wrong_shapes_are_refused_with_those_that_would_do(self, name: str) -> None:
        with pytest.raises(ac.UnfitShape) as caught:
            ac.from_arrays(**{**factors(6), name: np.zeros(3)})
        columns = "d_v" if name == "v" else "d_head"
        rows = "query" if name == "q" else "key"
        assert caught.value.accepted[1] == f"(head, {rows}, {columns})"

    def test_weights_given_with_them_are_compared(self) -> None:
        mine = factors(2, 6)
        own = [[ac.from_arrays(**mine).layers[i].weights(h) for h in range(6)] for i in range(2)]
        expected = np.array(own)
        assert ac.from_arrays(**mine, weights=expected).check().passed
        expected[1, 2, 3, 4] += 2e-4
        with pytest.raises(ac.TraceMismatch) as caught:
            ac.from_arrays(**mine, weights=expected)
        assert caught.value.layer == 1
        assert caught.value.error == pytest.approx(2e-4)
