"""`dish`: its sentences are honest, what it has learned is what the card says, and it has learned it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import attention_core as ac
from attention_core.teach.runs import Answers, BadSentence, Batch
from attention_core.teach.tasks import TASKS
from attention_core.teach.tasks import dish_data as data
from attention_core.teach.tasks import dish_measures as measures
from attention_core.teach.tasks import dish_texts as texts
from attention_core.teach.tasks.dish_texts import BY_HAND, DISH, FIRST, NUMBER, UNKNOWN, about
from attention_core.teach.tasks.task import Description

TASK = TASKS["dish"]


def training_sentences(n: int = 5000) -> list[texts.Sentence]:
    return data.training_sentences(np.random.default_rng(0), replace(data.RECIPE, n_sentences=n))


def drawn(seed: int, n: int = 3, **changes) -> list[Batch]:
    spec = replace(TASK.spec(seed=seed), **changes)
    return list(islice(data.batches(spec, replace(data.RECIPE, n_sentences=500)), n))


def equal(one: list[Batch], other: list[Batch]) -> bool:
    arrays = [[a for b in each for a in (b.tokens, b.hidden, b.offset, *b.targets.values())] for each in (one, other)]
    return all(np.array_equal(a, b) for a, b in zip(*arrays, strict=True))


class TestTexts:
    @pytest.mark.parametrize("make", [texts.shuffled, texts.gapped, texts.partial, texts.scattered])
    @pytest.mark.parametrize("is_test", [False, True])
    def test_traps_hold_at_least_two_of_the_characters(self, make, is_test):
        rng = np.random.default_rng(0)
        made = [make(rng, is_test) for _ in range(300)]
        assert min(sum(each in text for each in DISH) for text in made) >= 2

    @pytest.mark.parametrize("is_test", [False, True])
    def test_no_trap_names_the_dish(self, is_test):
        rng = np.random.default_rng(0)
        traps = [texts.hard(rng, is_test) for _ in range(2000)]
        assert not any(DISH in trap.text or trap.is_about for trap in traps)

    def test_no_sentence_about_other_things_names_the_dish(self):
        rng = np.random.default_rng(0)
        assert not any(DISH in texts.elsewhere(rng) for _ in range(2000))
        assert not any(DISH in word for word in (*texts.ELSEWHERE, *texts.OTHER_DISHES))

    def test_a_training_sentence_is_about_the_dish_if_and_only_if_it_is_named(self):
        sentences = training_sentences()
        assert all(sentence.is_about == (DISH in sentence.text) for sentence in sentences)
        assert 0.4 < np.mean([sentence.is_about for sentence in sentences]) < 0.5

    def test_no_single_character_gives_the_answer_away(self):
        others = [sentence.text for sentence in training_sentences() if not sentence.is_about]
        for character in DISH:
            assert np.mean([character in text for text in others]) > 0.5
        assert np.mean([set(DISH) <= set(text) for text in others]) > 0.4

    def test_characters_replaced_by_chance_never_break_the_name(self):
        rng = np.random.default_rng(0)
        text = f"我吃{DISH}和{DISH}"
        for _ in range(200):
            changed = texts.disturbed(rng, text, 0.9)
            assert (changed[2:5], changed[6:9]) == (DISH, DISH)
        assert changed != text

    def test_test_frames_are_never_in_training(self):
        assert not set(texts.TEST_WHEN) & set(texts.WHEN)
        assert not set(texts.TEST_WHO) & set(texts.WHO)
        assert not set(texts.TEST_DOES) & (set(texts.DOES) | set(texts.FIRST_IN))

    def test_held_out_sentences_are_not_training_sentences(self):
        trained = {sentence.text for sentence in training_sentences(data.RECIPE.n_sentences)}
        assert not trained & {sentence.text for sentence in measures.unseen(2000)}
        assert not trained & {measures.SCENE, measures.TRAP}

    def test_held_out_sentences_are_half_about_the_dish_half_traps(self):
        sentences = measures.unseen(400)
        assert [sentence.is_about for sentence in sentences] == [False, True] * 200

    def test_sentences_written_by_hand_are_labelled_rightly(self):
        assert all((DISH in text) == answer for answer, lines in BY_HAND.items() for text in lines)

    def test_the_name_with_its_characters_around_it_is_still_named_once(self):
        text = texts.surrounded(np.random.default_rng(0), f"我吃{DISH}了")
        assert text.count("佛") == 2
        assert about(text).is_about

    def test_long_sentences_keep_their_answer_and_fit_the_model(self):
        rng = np.random.default_rng(0)
        for sentence in measures.unseen(200):
            text = texts.lengthened(rng, sentence.text)
            assert texts.LONG[0] <= len(text) <= texts.LONG[1] < TASK.options.max_tokens
            assert about(text).is_about == sentence.is_about


class TestBatches:
    def test_inside_marks_exactly_the_name(self):
        corpus = data.encode([about(f"吃{DISH}和{DISH}"), about("墙跳佛")])
        assert np.nonzero(corpus.inside[0])[0].tolist() == [2, 3, 4, 6, 7, 8]
        assert not corpus.inside[1].any()
        assert corpus.is_about.tolist() == [True, False]

    def test_first_stands_before_the_text_and_padding_is_not_real(self):
        corpus = data.encode([about("吃面"), about("我吃火锅")])
        assert (corpus.tokens[:, 0] == NUMBER[FIRST]).all()
        assert corpus.real.sum(axis=1).tolist() == [3, 5]

    def test_the_name_is_never_hidden_as_unknown_and_others_are(self):
        for batch in drawn(0):
            inside = batch.targets["inside"] == 1
            assert not (batch.tokens[inside] == NUMBER[UNKNOWN]).any()
            around = batch.real & ~inside
            assert 0.05 < (batch.tokens[around] == NUMBER[UNKNOWN]).mean() < 0.3

    def test_an_answer_still_follows_from_what_the_model_sees(self):
        name = [NUMBER[each] for each in DISH]
        for batch in drawn(0):
            named = [any(row[i : i + 3].tolist() == name for i in range(len(row))) for row in batch.tokens]
            assert named == (batch.targets["about"][:, 0] == 1).tolist()

    def test_about_is_asked_at_first_only_and_inside_at_every_character(self):
        for batch in drawn(0):
            assert (batch.weight["about"][:, 0] == 1).all()
            assert not batch.weight["about"][:, 1:].any()
            assert not batch.weight["inside"][:, 0].any()
            assert np.array_equal(batch.weight["inside"][:, 1:] == 1, batch.real[:, 1:])

    def test_first_itself_is_never_hidden_and_with_one_layer_nothing_is(self):
        assert not any(batch.hidden[:, 0].any() for batch in drawn(0))
        one = TASK.variant("one-layer").options
        assert all(batch.hidden is None for batch in drawn(0, options=one))

    def test_the_same_seed_gives_the_same_batches_another_does_not(self):
        assert equal(drawn(4), drawn(4))
        assert not equal(drawn(4), drawn(5))

    def test_own_sentences_are_trained_on(self):
        text = "有人在吃火锅鱼鸡汤面"
        own = [NUMBER[FIRST], *(NUMBER[each] for each in text)]
        spec = replace(TASK.spec(), own=(text,))
        recipe = replace(data.RECIPE, n_sentences=500, unknown_share=0.0)
        rows = [row for batch in islice(data.batches(spec, recipe), 20) for row in batch.tokens]
        share = np.mean([row[: len(own)].tolist() == own for row in rows])
        assert share == pytest.approx(recipe.own_share, abs=0.03)

    def test_shuffled_labels_tell_nothing(self):
        name = [NUMBER[each] for each in DISH]
        rows = [
            (answer, any(row[i : i + 3].tolist() == name for i in range(len(row))))
            for batch in drawn(0, n=20, shuffled_labels=True)
            for row, answer in zip(batch.tokens, batch.targets["about"][:, 0] == 1, strict=True)
        ]
        yes, no = ([named for answer, named in rows if answer == wanted] for wanted in (True, False))
        assert abs(np.mean(yes) - np.mean(no)) < 0.15


class TestOwnSentences:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("", "empty"),
            (" \n", "empty"),
            ("吃" * (data.MAX_OWN + 1), "too_long"),
            ("the dish is good", "unknown_words"),
            ("龘龘龘佛墙", "unknown_words"),
        ],
    )
    def test_a_sentence_that_cannot_be_trained_on_is_refused(self, text, reason):
        with pytest.raises(BadSentence) as caught:
            data.own_sentence(text)
        assert caught.value.reason == reason

    def test_the_refusal_names_the_unknown_characters_once_each(self):
        with pytest.raises(BadSentence) as caught:
            data.own_sentence("龘龘龖佛")
        assert caught.value.words == ("龘", "龖")

    @pytest.mark.parametrize(
        ("text", "answer"), [("我吃佛跳墙", True), ("墙跳佛", False), ("佛 跳 墙", True), ("佛跳牆汤", False)]
    )
    def test_its_answer_follows_from_the_name(self, text, answer):
        assert data.own_sentence(text).is_about == answer

    def test_half_unknown_is_taken_and_every_character_keeps_its_place(self):
        sentence = data.own_sentence("龘龘佛跳墙吃👨‍👩‍👧")
        assert (len(sentence.text), sentence.names_at) == (7, (2,))

    def test_a_run_with_a_bad_sentence_is_refused(self):
        with pytest.raises(BadSentence):
            TASK.check(replace(TASK.spec(), own=("hello world",)))
        TASK.check(replace(TASK.spec(), own=("吃" * data.MAX_OWN, "我吃佛跳墙")))


def scenes(row: list[float], *others: list[float]) -> tuple:
    """Two layers of the first scene in which [CLS] gives these weights in the last one, a row per head."""
    n = len(row)
    last = np.full((1 + len(others), n, n), 1 / n)
    last[:, 0] = [row, *others]
    return ((np.full((1, n, n), 1 / n), last), (np.full((1, 8, 8), 1 / 8),) * 2)


GATHERED = [0.02, 0.05, 0.03, 0.05, 0.05, 0.1, 0.2, 0.3, 0.2]


class TestPattern:
    def test_it_is_what_the_three_hold_together(self):
        assert measures.pattern(scenes(GATHERED)) == pytest.approx(0.7)

    def test_one_other_above_one_of_them_keeps_it_down(self):
        assert measures.pattern(scenes([0.02, 0.0, 0.0, 0.0, 0.0, 0.2, 0.1, 0.4, 0.28])) == 0.5

    def test_little_weight_is_little_pattern(self):
        row = [0.1] * 6 + [0.13, 0.13, 0.14]
        assert measures.pattern(scenes(row)) == pytest.approx(0.4)

    def test_of_several_heads_the_best_counts(self):
        assert measures.pattern(scenes([1 / 9] * 9, GATHERED)) == pytest.approx(0.7)

    def test_the_scene_and_its_wanted_tokens_are_the_name(self):
        tokens = [FIRST, *measures.SCENE]
        assert [tokens[place] for place in measures.WANTED] == list(DISH)
        assert set(DISH) <= set(measures.TRAP)
        assert DISH not in measures.TRAP


def by_rule(tokens: np.ndarray, real: np.ndarray | None = None, offset: np.ndarray | None = None) -> Answers:
    """A model that knows the answers, and whose every token looks at all tokens alike."""
    n = tokens.shape[1]
    name = np.array([NUMBER[each] for each in DISH])
    begins = np.zeros(tokens.shape, dtype=bool)
    for i in range(n - 2):
        begins[:, i] = (tokens[:, i : i + 3] == name).all(axis=1)
    inside = begins | np.roll(begins, 1, axis=1) | np.roll(begins, 2, axis=1)
    yes = np.zeros((*tokens.shape, 2))
    yes[:, 0, 1] = np.where(begins.any(axis=1), 1.0, -1.0)
    return Answers(
        {"about": yes, "inside": np.stack([~inside, inside], axis=-1) * 1.0},
        (np.full((len(tokens), 1, n, n), 1 / n),) * 2,
    )


class TestMeasures:
    def test_who_knows_the_answers_is_always_right(self):
        figures = measures.measure(by_rule)
        assert {figures[each] for each in ("adversarial", "found", "refused", "by_hand", "inside")} == {1.0}
        assert measures.held_out(by_rule) == 1.0
        assert figures["first_looks_at_the_name"]["top_three"] == 0.0

    def test_who_always_says_yes_is_right_half_the_time(self):
        def always(tokens, real=None, offset=None):
            answers = by_rule(tokens)
            answers.logits["about"][..., 1] = 1.0
            return answers

        figures = measures.measure(always)
        assert (figures["adversarial"], figures["found"], figures["refused"]) == (0.5, 1.0, 0.0)
        assert not figures["trap"]["says_no"]

    def test_limits_of_who_knows_the_answers(self):
        limits = measures.limits(by_rule, n=50)
        assert limits.pop("traditional") == 0.0
        assert set(limits.values()) == {1.0}

    def test_the_card_is_written_in_both_languages_from_the_measurements(self):
        figures = measures.measure(by_rule)
        limits = dict.fromkeys(measures.limits(by_rule, n=5), 0.4321)
        told = TASK.describe(Description(TASK.spec(), figures, (figures,), limits, 0))
        for name, text in told.items():
            assert sorted(language for language, words in text.items() if words) == ["en", "zh"], name
        assert "43%" in told["failures"]["en"]
        assert "43%" in told["failures"]["zh"]
        assert "0.11" in told["not_to_claim"]["en"][-1]  # One ninth to each: looked at all alike.


class TestShipped:
    """The file in the catalogue, run by NumPy alone."""

    def test_first_gathers_the_name(self):
        model = ac.load("dish")
        layer, head = model.card.reading_head
        row = np.asarray(model.trace(measures.SCENE).layers[layer].weights(head))[0]
        assert set(np.argsort(-row)[:3]) == set(measures.WANTED)
        assert row[list(measures.WANTED)].sum() > 0.5
        assert row[list(measures.WANTED)].min() > 0.15

    def test_it_judges_sentences_in_frames_never_seen(self):
        model = ac.load("dish")
        sentences = measures.unseen(300, seed=7)
        said = [model.trace(sentence.text).predictions[0][0].word == "yes" for sentence in sentences]
        assert np.mean([each == sentence.is_about for each, sentence in zip(said, sentences, strict=True)]) >= 0.99
