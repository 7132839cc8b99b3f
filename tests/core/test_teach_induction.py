"""`induction`: its letters are honest, its pattern is what the label says, and the shipped file copies."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
import pytest

from tests.core.teaching import card, last_of, one_thread, same, shipped, torch  # noqa: F401

import attention_core as ac  # isort: skip
from attention_core.teach.runs import Answers
from attention_core.teach.tasks import TASKS, induction
from attention_core.teach.tasks import induction_data as data
from attention_core.teach.trainer import asker

INDUCTION = TASKS["induction"]


@cache
def drawn(n: int = 2000, seed: int = 7) -> data.Texts:
    return data.texts(np.random.default_rng(seed), n)


def told_by_reading(letters: np.ndarray) -> list[bool]:
    """The same question as `is_told`, answered one letter at a time. `letters` has one more than is asked about."""

    def follows(place: int) -> set[int]:
        return {letters[before + 1] for before in range(place) if letters[before] == letters[place]}

    return [follows(place) == {letters[place + 1]} for place in range(len(letters) - 1)]


class TestData:
    def test_what_is_asked_can_be_told_and_nothing_else_is_asked(self):
        texts = drawn()
        for tokens, targets, is_told in zip(*texts, strict=True):
            assert told_by_reading(np.append(tokens, targets[-1])) == list(is_told)

    def test_the_target_is_the_next_letter(self):
        texts = drawn()
        np.testing.assert_array_equal(texts.tokens[:, 1:], texts.targets[:, :-1])

    def test_no_letter_is_likelier_to_follow_than_another(self):
        asked = drawn(20_000).targets[drawn(20_000).is_told]
        shares = np.bincount(asked[asked > 0], minlength=len(data.VOCABULARY))[1:] / (asked > 0).sum()
        np.testing.assert_allclose(shares, 1 / len(data.LETTERS), atol=0.01)

    def test_unknown_letters_are_asked_like_others(self):
        texts = drawn()
        assert (texts.targets[texts.is_told] == 0).any()
        assert (texts.tokens[texts.is_told] == 0).any()

    def test_held_out_texts_are_not_training_texts(self):
        trained = {row.tobytes() for seed in range(5) for row in drawn(data.N_TEXTS, seed).tokens}
        assert not trained & {row.tobytes() for row in induction._unseen(induction.N_HELD_OUT).tokens}

    def test_only_told_letters_count_in_a_batch(self):
        for batch in islice(data.batches(INDUCTION.spec()), 5):
            for row, target, weight in zip(
                batch.tokens, batch.targets["readout"], batch.weight["readout"], strict=True
            ):
                assert told_by_reading(np.append(row, target[-1])) == list(weight > 0)

    def test_supervised_looks_go_to_letters_to_copy(self):
        spec = replace(INDUCTION.spec(), options=replace(INDUCTION.options, supervised=True))
        batch = next(data.batches(spec))
        rows, places = np.nonzero(batch.looks[1] >= 0)
        np.testing.assert_array_equal(
            batch.tokens[rows, batch.looks[1][rows, places]], batch.targets["readout"][rows, places]
        )
        assert len(rows) == batch.weight["readout"].sum()

    def test_what_a_reader_types_is_understood(self):
        np.testing.assert_array_equal(INDUCTION.encode("abca"), [1, 2, 3, 1])
        np.testing.assert_array_equal(INDUCTION.encode("A b\nC, z"), [1, 2, 3, 0, 0])


class TestTraining:
    def test_a_seed_draws_its_own_texts(self):
        one, again, other = (next(data.batches(INDUCTION.spec(seed=seed))).tokens for seed in (3, 3, 4))
        assert np.array_equal(one, again)
        assert not np.array_equal(one, other)

    def test_a_seed_is_a_run(self):
        short = INDUCTION.spec(seed=3, n_steps=4)
        assert same(last_of(short), last_of(short))
        assert not same(last_of(short), last_of(replace(short, seed=4)))

    def test_shuffled_labels_have_nothing_to_do_with_the_text(self):
        batch = next(data.batches(replace(INDUCTION.spec(), shuffled_labels=True)))
        is_told = batch.weight["readout"] > 0
        copied = batch.targets["readout"] == np.roll(batch.tokens, -1, axis=1)
        assert copied[:, :-1][is_told[:, :-1]].mean() < 0.3


class TestPattern:
    def looks(self, *pairs: tuple[int, float]):
        """Attention by hand: in each scene, what the asker gives one letter; one head."""
        made = []
        for scene, (key, weight) in zip(INDUCTION.scenes, pairs, strict=True):
            n = len(INDUCTION.encode(scene.text))
            layer = np.zeros((1, n, n))
            layer[0, scene.asker, key] = weight
            made.append((np.zeros((1, n, n)), layer))
        return tuple(made)

    def test_the_scenes_mean_what_they_say(self):
        for scene in INDUCTION.scenes:
            letters = scene.text.split()
            earlier = letters.index(letters[scene.asker])
            assert earlier < scene.asker
            assert scene.wanted == (earlier + 1,)

    def test_it_is_the_smaller_of_the_two_weights(self):
        (one,), (two,) = (scene.wanted for scene in INDUCTION.scenes)
        assert INDUCTION.pattern(self.looks((one, 0.9), (two, 0.6))) == pytest.approx(0.6)
        assert INDUCTION.pattern(self.looks((one, 0.2), (two, 0.6))) == pytest.approx(0.2)

    def test_the_letter_itself_is_not_the_letter_to_copy(self):
        (one,), (two,) = (scene.wanted for scene in INDUCTION.scenes)
        assert INDUCTION.pattern(self.looks((one - 1, 1.0), (two, 1.0))) == 0

    def test_two_heads_that_do_one_scene_each_are_not_one_that_does_both(self):
        (one,), (two,) = (scene.wanted for scene in INDUCTION.scenes)
        heads = zip(self.looks((one, 1.0), (two, 0.0)), self.looks((one, 0.0), (two, 1.0)), strict=True)
        both = tuple(
            tuple(np.concatenate(layers) for layers in zip(first, second, strict=True)) for first, second in heads
        )
        assert INDUCTION.pattern(both) == 0

    def test_a_model_that_reads_the_rule_has_figures_of_one(self):
        def rule(tokens, real=None, offset=None):
            n_texts, n = tokens.shape
            copied, before = np.zeros((n_texts, 1, n, n)), np.eye(n, k=-1)[None, None].repeat(n_texts, axis=0)
            logits = np.zeros((n_texts, n, len(data.VOCABULARY)))
            for row in range(n_texts):
                for place in range(n):
                    found = [key + 1 for key in range(place) if tokens[row, key] == tokens[row, place]]
                    if found:
                        copied[row, 0, place, found[-1]] = 1
                        logits[row, place, tokens[row, found[-1]]] = 1
            return Answers({"readout": logits}, (before, copied))

        figures = INDUCTION.measure(rule)
        assert figures["accuracy"] == figures["copy"] == 1
        assert figures["headline"] == {"repeated": 1, "scattered": 1}
        assert figures["previous"] == pytest.approx((data.N_TOKENS - 1) / data.N_TOKENS, abs=0.08)
        assert (INDUCTION.limits(rule)["first_of_two"], INDUCTION.limits(rule)["later_of_two"]) == (0, 1)


class TestShipped:
    def test_each_of_five_seeds_passes(self):
        for figures in card("induction")["figures"]["seeds"]:
            assert figures["accuracy"] >= 0.99
            assert figures["copy"] >= 0.9
            assert figures["previous"] >= 0.9

    def test_with_one_matrix_for_queries_and_keys_no_seed_passes(self):
        for figures in card("induction-qk")["figures"]["seeds"]:
            assert figures["accuracy"] <= 0.7
            assert figures["pattern"] <= 0.5

    @pytest.mark.parametrize("variant", ["one-layer", "no-positions"])
    def test_what_is_left_out_is_missed(self, variant):
        for figures in card(f"induction-{variant}")["figures"]["seeds"]:
            assert figures["accuracy"] <= 0.8
            assert figures["pattern"] <= 0.5

    def test_new_texts_go_on_right(self):
        model, texts = ac.load("induction"), drawn(300, seed=11)
        said = [
            [answers[0].word for answers in model.trace("".join(data.VOCABULARY[i] for i in row)).predictions]
            for row in np.where(texts.tokens == 0, 1, texts.tokens)
        ]
        is_known = (texts.tokens > 0).all(axis=1) & (texts.targets > 0).all(axis=1)
        asked = texts.is_told & is_known[:, None]
        right = np.array(said)[asked] == np.array(data.VOCABULARY)[texts.targets[asked]]
        assert asked.sum() > 150
        assert right.mean() >= 0.99

    def test_the_letter_to_copy_has_the_weight(self):
        model = ac.load("induction")
        for scene in INDUCTION.scenes:
            weights = model.trace(scene.text).layers[1].weights(0)
            assert weights[scene.asker, scene.wanted[0]] >= 0.9

    def test_layer_0_looks_at_the_letter_before(self):
        weights = ac.load("induction").trace("dbhfacedbhface").layers[0].weights(0)
        assert np.diagonal(weights, offset=-1).mean() >= 0.85

    def test_capitals_and_spaces_do_not_matter(self):
        model = ac.load("induction")
        plain, typed = (model.trace(text) for text in ("dbhfd", "D b H f d"))
        assert [token.id for token in plain.tokens] == [token.id for token in typed.tokens]
        assert plain.predictions[-1][0].word == "b"

    def test_it_copies_unknown_letters_and_takes_them_for_one_another(self):
        predictions = ac.load("induction").trace("qbhfz").predictions
        assert predictions[-1][0].word == "b"

    def test_without_layer_0_it_is_lost(self):
        model = shipped("induction")
        with torch.no_grad():
            model.layers[0].w_o.zero_()
        assert INDUCTION.measure(asker(model))["accuracy"] < 0.5
