"""`pronoun`: its sentences are honest, what it has learned is what the card says, and it has learned it."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from tests.core.teaching import card, last_of, one_thread, shipped, torch  # noqa: F401

from attention_core.teach.runs import BadSentence  # isort: skip
from attention_core.teach.tasks import TASKS
from attention_core.teach.tasks import pronoun_data as data
from attention_core.teach.tasks import pronoun_measures as measures
from attention_core.teach.tasks.pronoun_words import (
    ADJECTIVES,
    GROUP,
    NOUNS,
    NUMBER,
    TEST_FRAMES,
    TRAINING_FRAMES,
    VOCABULARY,
)
from attention_core.teach.trainer import asker
from attention_core.words import fold, spans

PRONOUN = TASKS["pronoun"]


def split(text: str) -> list[str]:
    return [fold(text[start:end]) for start, end in spans(text)]


def training_sentences(n: int = 5000) -> list[data.Sentence]:
    return data.training_sentences(np.random.default_rng(0), replace(data.RECIPE, n_sentences=n))


class TestData:
    def test_words_of_one_group_never_meet_in_training(self):
        for sentence in training_sentences():
            content = {word for word in sentence.words if word in GROUP}
            for one, other in combinations(content, 2):
                assert GROUP[one] != GROUP[other], sentence.words

    def test_the_headline_words_never_meet_in_training(self):
        headline = {"animal", "street", "tired", "wide"}
        met = [len(headline & set(sentence.words)) for sentence in training_sentences()]
        assert max(met) == 1  # each is seen, never two of them together

    def test_a_sentence_of_the_other_split_would_be_noticed(self):
        held_out = data.held_out("combinations", 200)
        assert all(len({GROUP[w] for w in s.words if w in GROUP}) == 1 for s in held_out)

    def test_held_out_sentences_are_not_training_sentences(self):
        trained = {sentence.words for sentence in training_sentences(30_000)}
        for kind in ("combinations", "frames"):
            assert not trained & {sentence.words for sentence in data.held_out(kind, 1000)}

    def test_held_out_frames_are_not_training_frames(self):
        assert not set(TEST_FRAMES) & set(TRAINING_FRAMES)

    def test_every_word_of_the_test_frames_was_seen_in_training(self):
        seen = {word for sentence in training_sentences() for word in sentence.words}
        assert {w for s in data.held_out("frames", 2000) for w in s.words} <= seen

    def test_the_place_of_the_noun_does_not_give_the_answer_away(self):
        corpus = data.encode(data.held_out("combinations", 4000))
        assert abs(np.mean(corpus.referent < corpus.other) - 0.5) < 0.05

    def test_the_target_of_it_is_the_noun_of_the_adjectives_class(self):
        for sentence in data.held_out("frames", 500):
            kinds = [kind for kind, words in ADJECTIVES.items() if sentence.adjective in words]
            assert [sentence.referent in NOUNS[kind] for kind in kinds] == [True]
            assert sentence.targets[sentence.words.index("it")] == sentence.referent

    def test_hidden_words_have_honest_targets(self):
        text = split(measures.HEADLINE.format("tired"))
        targets = [*text[:7], "animal", *text[8:]]
        corpus = data.encode([data.Sentence(tuple(text), tuple(targets), "tired", "animal", "street")] * 20_000)
        drawn = data.hide_words(corpus, 0.2, np.random.default_rng(0))
        unknown, it = NUMBER["[UNK]"], NUMBER["it"]
        hidden = drawn.tokens == unknown
        assert (drawn.targets[hidden] == unknown).all()
        seen_it = ~hidden[:, 7]
        lost_noun, lost_adjective = hidden[:, 1] & seen_it, hidden[:, 10] & seen_it
        assert (drawn.targets[lost_adjective, 7] == it).all()
        assert (drawn.targets[lost_noun & ~lost_adjective, 7] == unknown).all()
        intact = seen_it & ~lost_noun & ~lost_adjective
        assert (drawn.targets[intact, 7] == NUMBER["animal"]).all()
        assert min(lost_noun.sum(), lost_adjective.sum(), intact.sum()) > 100
        ordinary = ~hidden
        ordinary[:, 7] = False
        assert (drawn.targets[ordinary] == corpus.tokens[ordinary]).all()

    def test_the_vocabulary_is_in_order_and_without_repeats(self):
        assert VOCABULARY[0] == "[UNK]"
        assert len(set(VOCABULARY)) == len(VOCABULARY)
        assert all(len(words) >= 8 for table in (NOUNS, ADJECTIVES) for words in table.values())


class TestOwnSentences:
    def test_a_riddle_is_taken_and_understood(self):
        sentence = data.own_sentence("The dog didn't enter the tunnel because it was too dark.")
        assert (sentence.referent, sentence.other, sentence.adjective) == ("tunnel", "dog", "dark")
        assert sentence.targets[sentence.words.index("it")] == "tunnel"

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("The quokka didn't cross the street because it was too tired.", "unknown_words"),
            ("The animal didn't cross the street.", "no_pronoun"),
            ("It didn't cross the street because it was too tired.", "two_pronouns"),
            ("The animal was tired because it was tired.", "not_two_nouns"),
            ("The animal didn't cross the street because it was there.", "not_one_adjective"),
            ("The animal didn't cross the horse because it was too tired.", "nouns_alike"),
            ("The animal didn't cross the street because it was too stale.", "fits_neither"),
            ("The animal " * 15, "too_long"),
        ],
    )
    def test_what_cannot_be_trained_on_is_refused_with_the_reason(self, text, reason):
        with pytest.raises(BadSentence) as caught:
            data.own_sentence(text)
        assert (caught.value.reason, caught.value.sentence) == (reason, text)

    def test_own_sentences_are_trained_on(self):
        own = "The dog didn't enter the tunnel because it was too dark."
        batch = next(data.batches(replace(PRONOUN.spec(seed=1), own=(own,))))
        found = (batch.tokens[:, : len(split(own))] == [NUMBER[word] for word in split(own)]).mean(axis=1)
        assert (found > 0.8).any()  # a word or two may be hidden


class TestTraining:
    def test_shuffled_labels_tell_nothing(self):
        sentences = data.shuffled(training_sentences(), np.random.default_rng(0))
        riddles = [each for each in sentences if each.referent is not None]
        fits = [
            each.referent in NOUNS[next(k for k, w in ADJECTIVES.items() if each.adjective in w)] for each in riddles
        ]
        assert abs(np.mean(fits) - 0.5) < 0.05

    def test_padding_changes_nothing(self):
        ask = asker(shipped("pronoun"))
        short, long = data.held_out("combinations", 200)[:2]
        long = long._replace(words=(*long.words, *long.words), targets=(*long.targets, *long.targets))
        alone = measures.answers(ask, [short]).logits
        np.testing.assert_allclose(measures.answers(ask, [short, long]).logits[:1], alone, atol=1e-4)

    def test_a_short_training_learns_it_and_with_shuffled_labels_it_does_not(self):
        spec = PRONOUN.spec(n_steps=1000)
        learned, shuffled = last_of(spec), last_of(replace(spec, shuffled_labels=True))
        assert learned.pattern >= 0.7
        assert learned.held_out >= 0.9
        assert shuffled.pattern <= 0.5
        assert shuffled.held_out <= 0.7

    def test_a_model_told_where_to_look_looks_there(self):
        spec = PRONOUN.spec(n_steps=500)
        told = last_of(replace(spec, options=replace(PRONOUN.options, supervised=True)))
        assert told.pattern > last_of(spec).pattern + 0.5
        assert all(looks[0][0, measures.IT, 10] > 0.9 for looks in told.looks)  # the adjective, in layer 0


class TestPattern:
    def test_it_is_the_smaller_of_the_two_weights(self):
        tired, wide = (np.full((1, 12, 12), 0.05) for _ in range(2))
        tired[0, 7, 1], wide[0, 7, 5] = 0.9, 0.6
        assert measures.pattern(((tired,), (wide,))) == pytest.approx(0.6)
        assert measures.pattern(((wide,), (tired,))) == pytest.approx(0.05)

    def test_two_heads_that_do_one_each_are_not_one_that_does_both(self):
        tired, wide = (np.full((2, 12, 12), 0.05) for _ in range(2))
        tired[0, 7, 1], wide[1, 7, 5] = 0.9, 0.9
        assert measures.pattern(((tired,), (wide,))) == pytest.approx(0.05)


class TestShipped:
    def test_each_of_five_seeds_passes(self):
        seeds = card("pronoun")["figures"]["seeds"]
        assert len(seeds) >= 5
        for report in seeds:
            for kind in ("held_out_combinations", "held_out_frames"):
                assert report[kind]["two_way"] >= 0.95
                assert report[kind]["full"] >= 0.95

    def test_the_headline(self):
        weights = measures.headline(asker(shipped("pronoun")))
        for adjective, noun, other in (("tired", "animal", "street"), ("wide", "street", "animal")):
            assert weights[adjective][noun] >= 0.7
            assert weights[adjective][other] <= 0.15

    def test_it_is_learned_not_placed(self):
        pairs = measures.flips(40)
        swapped = ["by" in first.words for first, _ in pairs]
        assert sum(swapped) == 20
        assert measures.flips_right(asker(shipped("pronoun")), pairs) >= 0.95

    def test_without_the_queries_nothing_flips(self):
        model = shipped("pronoun")
        with torch.no_grad():
            for layer in model.layers:
                layer.w_q.zero_()
        assert measures.flips_right(asker(model), measures.flips(40)) < 0.05
        assert measures.headline(asker(model))["tired"]["animal"] == pytest.approx(1 / 12, abs=1e-4)

    def test_one_layer_answers_and_its_attention_does_not_flip(self):
        ask = asker(shipped("pronoun-one-layer"))
        assert measures.accuracy(ask, data.held_out("combinations", 500)).two_way >= 0.9
        assert measures.flips_right(ask, measures.flips(40)) < 0.05
