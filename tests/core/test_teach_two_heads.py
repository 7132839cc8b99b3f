"""`two-heads`: its texts are honest, its pattern is what the label says, twins stay twins, the shipped heads divide."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from tests.core.teaching import card, last_of, one_thread, same, shipped, torch  # noqa: F401

import attention_core as ac  # isort: skip
from attention_core.teach.tasks import TASKS
from attention_core.teach.tasks import two_heads_data as data
from attention_core.teach.tasks import two_heads_measures as measures
from attention_core.teach.trainer import asker

TWO_HEADS = TASKS["two-heads"]
AT = measures.HEADLINE.index(data.BUDDHA)


def training_texts(n: int = 5000) -> list[data.Topical]:
    rng = np.random.default_rng(0)
    return [data.topical(rng, data.TRAINING_FRAMES, "training") for _ in range(n)]


def about(text: str) -> int:
    """What a text is about, read off it."""
    return int(data.DISH in text) + 2 * int(any(word in text for word in data.BUDDHISM))


class TestData:
    @pytest.mark.parametrize("kind", ["combinations", "frames"])
    def test_a_text_is_about_what_it_names(self, kind):
        for each in (*training_texts(1000), *data.held_out(kind, 1000)):
            assert about(each.text) == each.about, each.text

    def test_all_four_characters_never_meet_in_training(self):
        assert not any(set(data.ASKED) <= set(each.text) for each in training_texts())
        assert all(set(data.ASKED) <= set(each.text) for each in data.held_out("combinations", 500))

    def test_the_headline_is_a_new_combination_in_a_known_language(self):
        assert set(data.ASKED) <= set(measures.HEADLINE)
        assert measures.HEADLINE not in {each.text for each in training_texts(20_000)}

    def test_held_out_texts_are_not_training_texts(self):
        trained = {each.text for each in training_texts(20_000)}
        for kind in ("combinations", "frames"):
            assert not trained & {each.text for each in data.held_out(kind, 1000)}

    def test_the_frames_are_apart(self):
        assert not set(data.TEST_FRAMES) & set(data.TRAINING_FRAMES)

    def test_frames_tell_nothing(self):
        for word in ("说", "看见", "很有名", "这是"):
            shares = [np.mean([word in each.text for each in training_texts() if each.about == n]) for n in (1, 2)]
            assert abs(shares[0] - shares[1]) < 0.06, word

    def test_the_characters_asked_for_stand_in_no_other_word(self):
        others = "".join((*data.NEUTRAL, *data.PLAIN, *data.WHO, *data.WHEN, *map(data._bare, data.TRAINING_FRAMES)))
        assert not set(data.ASKED) & set(others)

    def test_only_buddha_is_asked_and_never_blotted_out(self):
        buddha, unknown = data.NUMBER[data.BUDDHA], data.NUMBER[data.UNKNOWN]
        hidden = []
        for batch in islice(data.batches(TWO_HEADS.spec()), 5):
            is_asked = batch.tokens == buddha
            targets, weight = batch.targets["about"], batch.weight["about"]
            assert is_asked.any(axis=1).mean() > 0.8
            assert (targets[is_asked] != data.NOT_ASKED).all()
            assert (targets[~is_asked] == data.NOT_ASKED).all()
            assert (weight[~batch.real] == 0).all()
            assert weight[is_asked].sum() == pytest.approx(weight[~is_asked].sum(), abs=1e-4)
            hidden.append((batch.tokens == unknown)[batch.real & ~is_asked].mean())
        assert np.mean(hidden) == pytest.approx(data.RECIPE.hidden_share, abs=0.03)

    def test_sentences_by_hand_are_about_what_they_name(self):
        for number, texts in measures.BY_HAND.items():
            for text in texts:
                assert about(text) == number, text
        for text in measures.BORROWED:
            assert about(text) == 0
            assert set(text) & set(data.ASKED)


class TestTraining:
    def test_a_seed_draws_its_own_texts(self):
        one, again, other = (next(data.batches(TWO_HEADS.spec(seed=seed))).tokens for seed in (3, 3, 4))
        assert np.array_equal(one, again)
        assert not np.array_equal(one, other)

    def test_a_seed_is_a_run(self):
        short = TWO_HEADS.spec(seed=3, n_steps=4)
        assert same(last_of(short), last_of(short))
        assert not same(last_of(short), last_of(replace(short, seed=4)))

    def test_twins_stay_twins_and_others_do_not(self):
        twins, others = (last_of(TWO_HEADS.spec(variant, n_steps=50)).tensors for variant in ("twins", None))
        for name in ("w_q", "w_k", "w_v", "w_o"):
            heads = twins[f"layers.0.{name}"]
            np.testing.assert_allclose(heads[0], heads[1], atol=1e-6)
            assert np.abs(np.subtract(*others[f"layers.0.{name}"])).max() > 0.1

    def test_shuffled_labels_tell_nothing(self):
        agree = {shuffled: self.agreement(shuffled) for shuffled in (False, True)}
        assert agree[False] == 1
        assert agree[True] < 0.5

    def agreement(self, shuffled: bool) -> float:
        """In how many texts of a batch the right answer is what the text names."""
        recipe = replace(data.RECIPE, hidden_share=0.0)
        batch = next(data.batches(replace(TWO_HEADS.spec(), shuffled_labels=shuffled), recipe))
        agrees = []
        for row, target in zip(batch.tokens, batch.targets["about"], strict=True):
            asked = target[row == data.NUMBER[data.BUDDHA]]
            agrees += [asked[0] == about("".join(data.VOCABULARY[i] for i in row))] if len(asked) else []
        return float(np.mean(agrees))

    def test_the_scenes_ask_at_buddha(self):
        for scene in TWO_HEADS.scenes:
            assert scene.text[scene.asker] == data.BUDDHA
            assert {scene.text[i] for i in scene.wanted} <= set(data.ASKED)


class TestPattern:
    def looks(self, *heads: dict[str, float]):
        """Attention by hand: by head, what the first 佛 of the headline gives to the characters named."""
        n = len(measures.HEADLINE)
        layer = np.zeros((len(heads), n, n))
        for head, weights in enumerate(heads):
            for character, weight in weights.items():
                layer[head, AT, measures.HEADLINE.index(character)] = weight
        return ((layer,), (np.zeros((len(heads), 3, 3)),))

    def test_it_is_twice_the_smallest_of_the_four_weights(self):
        divided = self.looks({"跳": 0.5, "墙": 0.4}, {"祖": 0.35, "经": 0.6})
        assert TWO_HEADS.pattern(divided) == pytest.approx(0.7)

    def test_which_head_does_which_does_not_matter(self):
        one, other = {"跳": 0.5, "墙": 0.4}, {"祖": 0.35, "经": 0.6}
        assert TWO_HEADS.pattern(self.looks(one, other)) == TWO_HEADS.pattern(self.looks(other, one))

    def test_heads_that_ask_for_all_four_do_not_pass(self):
        every = dict.fromkeys(data.ASKED, 0.25)
        assert TWO_HEADS.pattern(self.looks(every)) == 0.5
        assert TWO_HEADS.pattern(self.looks(every, every)) == 0.5

    def test_a_character_left_out_is_missed(self):
        assert TWO_HEADS.pattern(self.looks({"跳": 0.9}, {"祖": 0.5, "经": 0.5})) == 0

    def test_divide_names_the_heads(self):
        weights = np.array([[0.0, 0.1, 0.45, 0.45], [0.5, 0.4, 0.05, 0.0]])
        division = measures.divide(weights)
        assert (division.dish, division.buddhism) == (1, 0)
        assert division.pattern == pytest.approx(0.8)


class TestShipped:
    def heads(self, name: str) -> np.ndarray:
        """By head, what the first 佛 of the headline gives to 跳, 墙, 祖 and 经 in the NumPy model."""
        layer = ac.load(name).trace(measures.HEADLINE).layers[0]
        rows = np.array([layer.weights(head)[AT] for head in range(layer.n_heads)])
        return measures.weights_of(rows, measures.HEADLINE)

    def test_each_head_asks_for_its_own(self):
        weights = self.heads("two-heads")
        division = measures.divide(weights)
        assert division.dish != division.buddhism
        assert weights[division.dish, :2].min() >= 0.3
        assert weights[division.buddhism, 2:].min() >= 0.3
        assert max(weights[division.dish, 2:].sum(), weights[division.buddhism, :2].sum()) <= 0.15

    def test_reseeded_the_heads_have_changed_places(self):
        first, second = (measures.divide(self.heads(name)) for name in ("two-heads", "two-heads-reseeded"))
        assert min(first.pattern, second.pattern) > 0.5
        assert (first.dish, first.buddhism) == (second.buddhism, second.dish)

    def test_twins_do_the_same(self):
        weights = self.heads("two-heads-twins")
        np.testing.assert_allclose(weights[0], weights[1], atol=1e-4)
        assert measures.divide(weights).pattern <= 0.5

    def test_with_one_matrix_for_queries_and_keys_buddha_answers_itself(self):
        layer = ac.load("two-heads-qk").trace(measures.HEADLINE).layers[0]
        itself = [
            sum(layer.weights(head)[AT][[character == data.BUDDHA for character in measures.HEADLINE]])
            for head in range(layer.n_heads)
        ]
        weights = self.heads("two-heads-qk")
        assert max(itself) > 0.5
        assert weights[int(np.argmin(itself))].min() > 0.1
        assert measures.divide(weights).pattern <= 0.5

    def test_one_head_asks_for_all_four(self):
        (weights,) = self.heads("two-heads-one-head")
        assert weights.min() > 0.1
        assert card("two-heads-one-head")["figures"]["seeds"][0]["held_out_frames"] >= 0.98

    def test_the_seeds_are_those_of_the_card(self):
        seeds = card("two-heads")["figures"]["seeds"]
        assert len(seeds) == 5
        assert all(figures["held_out_frames"] >= 0.98 for figures in seeds)
        assert sum(figures["pattern"] > 0.5 for figures in seeds) >= 4

    def test_it_answers_new_texts(self):
        model = ac.load("two-heads")
        texts = data.held_out("frames", 200, seed=5)
        asked = [each for each in texts if data.BUDDHA in each.text and len(each.text) <= model.card.max_tokens]
        said = [model.trace(each.text).predictions[each.text.index(data.BUDDHA)][0].word for each in asked]
        assert np.mean([word == data.ANSWERS[each.about] for word, each in zip(said, asked, strict=True)]) >= 0.98

    def test_each_head_carries_its_own_answer(self):
        whole, model = asker(shipped("two-heads")), shipped("two-heads")
        division = measures.divide(self.heads("two-heads"))
        with torch.no_grad():
            model.layers[0].w_o[division.dish].zero_()
        without = asker(model)
        dishes = [each for each in data.held_out("frames", 300) if each.about == 1]
        sutras = [each for each in data.held_out("frames", 300) if each.about == 2]
        assert measures.right(whole, dishes) >= 0.98
        assert measures.right(without, dishes) < measures.right(without, sutras)
