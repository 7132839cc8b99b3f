"""The taught model: its data are honest, its training is repeatable, its weights do what the card says."""

import hashlib
import inspect
import json
from itertools import combinations, islice
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from safetensors.numpy import load_file  # noqa: E402

from attention_core.teach import measure, pronoun  # noqa: E402
from attention_core.teach.__main__ import main, new_model  # noqa: E402
from attention_core.teach.model import TwoHop, positions  # noqa: E402
from attention_core.teach.trainer import answer_loss, train  # noqa: E402

MODELS = Path(__file__).parents[2] / "attention_core" / "models"
RECIPE = pronoun.Recipe(n_sentences=2000)


@pytest.fixture(autouse=True)
def one_thread():
    """Repeatable bit for bit, and the other tests keep their threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def shipped() -> TwoHop:
    model = new_model(RECIPE, seed=99)
    weights = load_file(MODELS / "pronoun.safetensors")
    model.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return model


def card() -> dict:
    return json.loads((MODELS / "pronoun.json").read_text(encoding="utf-8"))


def training_sentences(n: int = 5000) -> list[pronoun.Sentence]:
    recipe = pronoun.Recipe(n_sentences=n)
    return pronoun.training_sentences(np.random.default_rng(0), recipe)


def taught(n_steps: int, seed: int = 0, stop_at: int | None = None) -> TwoHop:
    model = new_model(RECIPE, seed)
    frames = train(
        model,
        pronoun.batches(RECIPE, seed),
        n_steps=n_steps,
        learning_rate=RECIPE.learning_rate,
        score_decay=RECIPE.score_decay,
        every=1,
    )
    for frame in frames:
        if frame.step == stop_at:
            frames.close()
    return model


class TestData:
    def test_words_of_one_group_never_meet_in_training(self):
        for sentence in training_sentences():
            content = {word for word in sentence.words if word in pronoun.GROUP}
            for one, other in combinations(content, 2):
                assert pronoun.GROUP[one] != pronoun.GROUP[other], sentence.words

    def test_the_headline_words_never_meet_in_training(self):
        headline = {"animal", "street", "tired", "wide"}
        met = [len(headline & set(sentence.words)) for sentence in training_sentences()]
        assert max(met) == 1  # each is seen, never two of them together

    def test_a_sentence_of_the_other_split_would_be_noticed(self):
        held_out = pronoun.held_out("combinations", 200)
        assert all(len({pronoun.GROUP[w] for w in s.words if w in pronoun.GROUP}) == 1 for s in held_out)

    def test_held_out_sentences_are_not_training_sentences(self):
        trained = {sentence.words for sentence in training_sentences(30_000)}
        for kind in ("combinations", "frames"):
            assert not trained & {sentence.words for sentence in pronoun.held_out(kind, 1000)}

    def test_held_out_frames_are_not_training_frames(self):
        assert not set(pronoun.TEST_FRAMES) & set(pronoun.TRAINING_FRAMES)

    def test_every_word_of_the_test_frames_was_seen_in_training(self):
        seen = {word for sentence in training_sentences() for word in sentence.words}
        assert {w for s in pronoun.held_out("frames", 2000) for w in s.words} <= seen

    def test_the_place_of_the_noun_does_not_give_the_answer_away(self):
        corpus = pronoun.encode(pronoun.held_out("combinations", 4000))
        assert abs(np.mean(corpus.referent < corpus.other) - 0.5) < 0.05

    def test_the_target_of_it_is_the_noun_of_the_adjectives_class(self):
        for sentence in pronoun.held_out("frames", 500):
            kinds = [kind for kind in pronoun.CLASSES if sentence.adjective in pronoun.ADJECTIVES[kind]]
            assert [sentence.referent in pronoun.NOUNS[kind] for kind in kinds] == [True]
            assert sentence.targets[sentence.words.index("it")] == sentence.referent

    def test_hidden_words_have_honest_targets(self):
        text = pronoun.split_words(measure.HEADLINE.format("tired"))
        targets = [*text[:7], "animal", *text[8:]]
        corpus = pronoun.encode([pronoun.Sentence(tuple(text), tuple(targets), "tired", "animal", "street")] * 20_000)
        drawn = pronoun.hide_words(corpus, 0.2, np.random.default_rng(0))
        unknown, it = pronoun.NUMBER["[UNK]"], pronoun.NUMBER["it"]
        hidden = drawn.tokens == unknown
        assert (drawn.targets[hidden] == unknown).all()
        seen_it = ~hidden[:, 7]
        lost_noun, lost_adjective = hidden[:, 1] & seen_it, hidden[:, 10] & seen_it
        assert (drawn.targets[lost_adjective, 7] == it).all()
        assert (drawn.targets[lost_noun & ~lost_adjective, 7] == unknown).all()
        intact = seen_it & ~lost_noun & ~lost_adjective
        assert (drawn.targets[intact, 7] == pronoun.NUMBER["animal"]).all()
        assert min(lost_noun.sum(), lost_adjective.sum(), intact.sum()) > 100
        ordinary = ~hidden
        ordinary[:, 7] = False
        assert (drawn.targets[ordinary] == corpus.tokens[ordinary]).all()

    def test_the_vocabulary_is_in_order_and_without_repeats(self):
        assert pronoun.VOCABULARY[0] == "[UNK]"
        assert len(set(pronoun.VOCABULARY)) == len(pronoun.VOCABULARY)
        assert all(len(words) >= 8 for table in (pronoun.NOUNS, pronoun.ADJECTIVES) for words in table.values())


class TestTraining:
    def test_the_loss_is_given_answers_and_targets_only(self):
        assert list(inspect.signature(answer_loss).parameters) == ["logits", "targets", "weight"]

    def test_a_model_that_keeps_its_attention_to_itself_trains_to_the_same_bits(self):
        class AnswersOnly(torch.nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def forward(self, *batch):
                return SimpleNamespace(logits=self.inner(*batch).logits)

        model = AnswersOnly(new_model(RECIPE, 0))
        recipe = {"learning_rate": RECIPE.learning_rate, "score_decay": RECIPE.score_decay}
        assert len(list(train(model, pronoun.batches(RECIPE, 0), n_steps=3, every=1, **recipe))) == 3
        for name, tensor in taught(3).state_dict().items():
            assert torch.equal(tensor, model.inner.state_dict()[name])

    def test_the_loss_is_the_weighted_mean_surprise(self):
        logits = torch.log(torch.tensor([[[0.5, 0.25, 0.25], [0.2, 0.2, 0.6], [0.1, 0.1, 0.8]]]))
        loss = answer_loss(logits, torch.tensor([[0, 2, 0]]), torch.tensor([[1.0, 3.0, 0.0]]))
        assert loss.item() == pytest.approx(-(np.log(0.5) + 3 * np.log(0.6)) / 4, abs=1e-6)

    def test_the_same_seed_gives_the_same_bits(self):
        one, same, other = taught(5), taught(5), taught(5, seed=1)
        for name, tensor in one.state_dict().items():
            assert torch.equal(tensor, same.state_dict()[name])
            assert not torch.equal(tensor, other.state_dict()[name])

    def test_closing_the_trainer_stops_it(self):
        stopped, two_of_forty = taught(40, stop_at=2), new_model(RECIPE, 0)
        frames = train(
            two_of_forty,
            pronoun.batches(RECIPE, 0),
            n_steps=40,
            learning_rate=RECIPE.learning_rate,
            score_decay=RECIPE.score_decay,
            every=1,
        )
        assert [frame.step for frame in islice(frames, 2)] == [1, 2]
        for name, tensor in stopped.state_dict().items():
            assert torch.equal(tensor, two_of_forty.state_dict()[name])

    def test_frames_tell_how_far_it_is(self):
        model = new_model(RECIPE, 0)
        frames = list(train(model, pronoun.batches(RECIPE, 0), n_steps=7, learning_rate=0.02, every=3))
        assert [frame.step for frame in frames] == [1, 3, 6, 7]
        assert frames[-1].loss < frames[0].loss
        assert frames[0].learning_rate == 0.02
        assert 0 < frames[-1].learning_rate < frames[1].learning_rate

    def test_padding_changes_nothing(self):
        model = shipped()
        short, long = pronoun.held_out("combinations", 200)[:2]
        long = long._replace(words=(*long.words, *long.words), targets=(*long.targets, *long.targets))
        alone = measure.answers(model, [short]).logits
        np.testing.assert_allclose(measure.answers(model, [short, long]).logits[:1], alone, atol=1e-4)

    def test_positions_are_the_formula_of_the_paper(self):
        expected = [
            np.sin(5 / 10000 ** (2 * (i // 2) / 16)) if i % 2 == 0 else np.cos(5 / 10000 ** (2 * (i // 2) / 16))
            for i in range(16)
        ]
        np.testing.assert_allclose(positions(torch.tensor([3, 5]), 16)[1].numpy(), expected, atol=1e-6)

    def test_a_short_training_learns_it(self, tmp_path, capsys):
        assert main(["pronoun", "--steps", "1000", "--seeds", "1", "--out", str(tmp_path)]) == 0
        figures = json.loads((tmp_path / "pronoun.json").read_text(encoding="utf-8"))["figures"]
        assert figures["held_out_combinations"]["two_way"] >= 0.9
        assert figures["held_out_frames"]["two_way"] >= 0.9
        tired, wide = figures["headline"]["tired"], figures["headline"]["wide"]
        assert tired["animal"] >= 0.7
        assert tired["street"] <= 0.15
        assert wide["street"] >= 0.7
        assert wide["animal"] <= 0.15


class TestCommand:
    def test_it_writes_weights_and_a_card_that_belong_together(self, tmp_path, capsys):
        assert main(["pronoun", "--steps", "3", "--seed", "4", "--seeds", "2", "--out", str(tmp_path)]) == 0
        printed = capsys.readouterr()
        assert "new word combinations" in printed.out
        assert "it → animal" in printed.out
        assert "3/3" in printed.err
        card = json.loads((tmp_path / "pronoun.json").read_text(encoding="utf-8"))
        weights = (tmp_path / "pronoun.safetensors").read_bytes()
        assert card["sha256"] == hashlib.sha256(weights).hexdigest()
        assert [report["seed"] for report in card["figures"]["seeds"]] == [4, 0]
        assert card["training"]["steps"] == 3

    @pytest.mark.parametrize("wrong", [["--steps", "0"], ["--seeds", "0"], ["--seed", "x"]])
    def test_it_refuses_what_it_cannot_do(self, wrong, capsys):
        with pytest.raises(SystemExit):
            main(["pronoun", *wrong])
        assert "error" in capsys.readouterr().err


class TestShipped:
    def test_the_file_has_the_tensors_that_the_card_describes(self):
        described, weights = card(), load_file(MODELS / "pronoun.safetensors")
        n_words = len(described["vocabulary"])
        wide, narrow, heads = described["d_model"], described["d_head"], described["n_heads"]
        shapes = {"embedding": (n_words, wide), "readout": (wide, n_words)}
        for layer in range(described["n_layers"]):
            shapes |= {f"layers.{layer}.{name}": (heads, wide, narrow) for name in ("w_q", "w_k", "w_v")}
            shapes[f"layers.{layer}.w_o"] = (heads, narrow, wide)
        assert {name: array.shape for name, array in weights.items()} == shapes
        assert {str(array.dtype) for array in weights.values()} == {"float32"}
        assert described["n_parameters"] == sum(array.size for array in weights.values())
        assert described["vocabulary"] == list(pronoun.VOCABULARY)
        assert described["sha256"] == hashlib.sha256((MODELS / "pronoun.safetensors").read_bytes()).hexdigest()

    def test_the_card_speaks_both_languages(self):
        texts = [value for value in card().values() if isinstance(value, dict) and "en" in value]
        assert len(texts) >= 10
        assert all(text["zh"] and text["en"] for text in texts)

    def test_five_seeds_are_reported_and_each_passes(self):
        seeds = card()["figures"]["seeds"]
        assert len(seeds) >= 5
        for report in seeds:
            assert report["held_out_combinations"]["two_way"] >= 0.97
            assert report["held_out_combinations"]["full"] >= 0.97
            assert report["held_out_frames"]["two_way"] >= 0.95
            assert report["held_out_frames"]["full"] >= 0.95

    @pytest.mark.parametrize("kind", ["combinations", "frames"])
    def test_the_figures_on_the_card_are_those_of_the_weights(self, kind):
        accuracy = measure.accuracy(shipped(), pronoun.held_out(kind, 2000))
        told = card()["figures"][f"held_out_{kind}"]
        assert told["two_way"] == pytest.approx(accuracy.two_way, abs=1e-3)
        assert told["full"] == pytest.approx(accuracy.full, abs=1e-3)

    def test_the_headline(self):
        weights = measure.headline(shipped())
        told = card()["figures"]["headline"]
        for adjective, noun, other in (("tired", "animal", "street"), ("wide", "street", "animal")):
            assert weights[adjective][noun] >= 0.7
            assert weights[adjective][other] <= 0.15
            assert told[adjective] == pytest.approx(weights[adjective], abs=1e-3)

    def test_it_is_learned_not_placed(self):
        pairs = measure.flips(40)
        swapped = ["by" in first.words for first, _ in pairs]
        assert sum(swapped) == 20
        assert measure.flips_right(shipped(), pairs) >= 0.95

    def test_without_the_queries_nothing_flips(self):
        model = shipped()
        with torch.no_grad():
            for layer in model.layers:
                layer.w_q.zero_()
        assert measure.flips_right(model, measure.flips(40)) < 0.05
        assert measure.headline(model)["tired"]["animal"] == pytest.approx(1 / 12, abs=1e-4)
