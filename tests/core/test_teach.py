"""Training: the same run gives the same bits, the loss sees answers only, files and cards belong together."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from tests.core.teaching import MODELS, card, cards, last_of, one_thread, same, shipped, spec_of, torch  # noqa: F401

from safetensors.numpy import load_file  # isort: skip

import attention_core as ac
from attention_core import loading
from attention_core.teach import frames
from attention_core.teach.__main__ import main
from attention_core.teach.card import n_parameters, reached, settings_of, trained_card
from attention_core.teach.model import positions
from attention_core.teach.runs import BadSpec, Options, RunSpec
from attention_core.teach.tasks import TASKS
from attention_core.teach.trainer import answer_loss, asker, new_model, run

HEADLINE = "The animal didn't cross the street because it was too tired."
SHORT = 7
NAMES = [described["name"] for described in cards()]


@pytest.fixture(params=sorted(TASKS))
def task(request):
    return TASKS[request.param]


class TestRuns:
    def test_the_same_specification_gives_the_same_bits(self, task):
        one, again = (list(run(task.spec(seed=3, n_steps=SHORT))) for _ in range(2))
        assert all(same(a, b) for a, b in zip(one, again, strict=True))

    def test_another_seed_gives_others(self, task):
        assert not same(last_of(task.spec(seed=3, n_steps=SHORT)), last_of(task.spec(seed=4, n_steps=SHORT)))

    def test_a_run_sent_to_another_process_is_the_same_run(self, task):
        spec = replace(task.spec(seed=3), shuffled_labels=True)
        assert RunSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec

    def test_with_learning_rate_0_nothing_moves(self, task):
        start, *_, end = run(replace(task.spec(seed=3, n_steps=SHORT), learning_rate=0.0))
        assert all(np.array_equal(start.matrices[name], end.matrices[name]) for name in start.matrices)
        assert start.pattern == end.pattern
        assert start.held_out == end.held_out

    def test_with_any_other_it_does(self, task):
        start, *_, end = run(task.spec(seed=3, n_steps=SHORT))
        assert not any(np.array_equal(start.matrices[name], end.matrices[name]) for name in start.matrices)

    def test_closing_it_stops_it(self, task):
        training = run(task.spec(n_steps=5000))
        assert next(training).step == 0
        training.close()
        assert list(training) == []

    def test_saying_stop_stops_it_before_the_next_step(self, task):
        asked = iter([False, False, True])
        steps = [frame.step for frame in run(task.spec(n_steps=task.training.every * 4), lambda: next(asked))]
        assert steps == [0]

    def test_frames_come_at_the_beginning_regularly_and_at_the_end(self):
        spec = TASKS["pronoun"].spec(n_steps=60)
        every = TASKS["pronoun"].training.every
        told = list(run(spec))
        assert [frame.step for frame in told] == [0, every, 2 * every, 60]
        assert [frame.is_last for frame in told] == [False, False, False, True]
        assert told[0].learning_rate == spec.learning_rate
        assert 0 < told[-1].learning_rate < told[1].learning_rate
        assert told[-1].loss < told[1].loss

    def test_looking_changes_nothing(self):
        spec = TASKS["pronoun"].spec(n_steps=60)
        often = replace(TASKS["pronoun"], training=replace(TASKS["pronoun"].training, every=7))
        seldom = last_of(spec)
        TASKS["pronoun"], kept = often, TASKS["pronoun"]
        try:
            assert same(last_of(spec), seldom)
        finally:
            TASKS["pronoun"] = kept

    def test_the_loss_is_given_answers_and_targets_only(self):
        logits = torch.log(torch.tensor([[[0.5, 0.25, 0.25], [0.2, 0.2, 0.6], [0.1, 0.1, 0.8]]]))
        loss = answer_loss(logits, torch.tensor([[0, 2, 0]]), torch.tensor([[1.0, 3.0, 0.0]]))
        assert loss.item() == pytest.approx(-(np.log(0.5) + 3 * np.log(0.6)) / 4, abs=1e-6)


class TestOptions:
    @pytest.mark.parametrize(
        "wrong",
        [
            {"n_layers": 0},
            {"windows": (2,)},
            {"key_reads": "word", "writes_beside": False},
        ],
    )
    def test_what_does_not_fit_together_is_refused(self, wrong):
        with pytest.raises(BadSpec):
            Options(**wrong)

    @pytest.mark.parametrize(
        ("field", "value"),
        [("n_steps", 0), ("n_steps", 5001), ("learning_rate", -1.0), ("learning_rate", float("nan")), ("seed", -1)],
    )
    def test_what_is_out_of_range_is_refused(self, task, field, value):
        with pytest.raises(BadSpec) as caught:
            task.check(replace(task.spec(), **{field: value}))
        assert caught.value.field == field

    def test_a_size_that_nobody_offers_is_refused(self, task):
        with pytest.raises(BadSpec):
            task.check(replace(task.spec(), options=replace(task.options, d_model=4096)))

    def test_an_unknown_field_is_refused(self):
        with pytest.raises(BadSpec):
            RunSpec.from_json({**TASKS["pronoun"].spec().to_json(), "surprise": 1})

    @pytest.mark.parametrize("share", ["qk", "kv"])
    def test_what_is_shared_stays_shared(self, share):
        spec = replace(TASKS["induction"].spec(n_steps=SHORT), options=replace(TASKS["induction"].options, share=share))
        tensors = last_of(spec).tensors
        pair = {"qk": ("w_q", "w_k"), "kv": ("w_k", "w_v")}[share]
        assert np.array_equal(*(tensors[f"layers.0.{name}"] for name in pair))
        assert n_parameters(spec.options, tensors) == sum(
            parameter.numel() for parameter in new_model(spec).parameters()
        )

    def test_unshared_they_differ(self):
        tensors = last_of(TASKS["induction"].spec(n_steps=SHORT)).tensors
        assert not np.array_equal(tensors["layers.0.w_q"], tensors["layers.0.w_k"])

    def test_positions_are_the_formula_of_the_paper(self):
        expected = [
            np.sin(5 / 10000 ** (2 * (i // 2) / 16)) if i % 2 == 0 else np.cos(5 / 10000 ** (2 * (i // 2) / 16))
            for i in range(16)
        ]
        np.testing.assert_allclose(positions(torch.tensor([3, 5]), 16)[1].numpy(), expected, atol=1e-6)


class TestFrames:
    def test_bytes_and_back(self, task):
        for frame in run(task.spec(n_steps=SHORT)):
            back = frames.from_bytes(frames.to_bytes(frame))
            assert same(frame, back)
            assert [[layer.shape for layer in looks] for looks in back.looks] == [
                [layer.shape for layer in looks] for looks in frame.looks
            ]

    def test_a_worker_sends_the_frames_of_the_run_and_does_the_next(self):
        spec = TASKS["pronoun"].spec(seed=5, n_steps=30)
        bad = {**spec.to_json(), "n_steps": 0}
        with _worker() as worker:
            for facts in (bad, spec.to_json()):
                _tell(worker, train=facts)
            assert "n_steps" in _hear(worker)[0]["failed"]
            sent = [frames.from_bytes(data) for _, data in iter(lambda: _hear(worker), ({"done": True}, b""))]
        assert all(same(a, b) for a, b in zip(sent, run(spec), strict=True))

    def test_a_worker_stops_when_told_and_when_nobody_is_left(self):
        endless = TASKS["pronoun"].spec(n_steps=5000).to_json()
        with _worker() as worker:
            _tell(worker, train=endless)
            assert "frame" in _hear(worker)[0]
            _tell(worker, stop=True)
            heard = list(iter(lambda: _hear(worker)[0], {"done": True}))
            assert len(heard) < 20
            _tell(worker, train=endless)
            assert "frame" in _hear(worker)[0]
        assert worker.returncode == 0  # Its input was closed in the middle of a run.


@contextmanager
def _worker():
    command = [sys.executable, "-m", "attention_core.teach.worker"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=MODELS.parents[1])
    yield process
    process.communicate(timeout=30)


def _tell(worker, **command):
    worker.stdin.write(json.dumps(command).encode() + b"\n")
    worker.stdin.flush()


def _hear(worker):
    header = json.loads(worker.stdout.readline())
    return header, worker.stdout.read(header.get("frame", 0))


class TestFiles:
    def test_a_trained_model_is_one_file_that_computes_the_same(self, task):
        spec = replace(task.spec(seed=2, n_steps=SHORT))
        last = last_of(spec)
        model = loading.from_bytes(loading.to_bytes(trained_card(spec, last), last.tensors))
        text = task.scenes[0].text
        trace = model.trace(text)
        assert trace.check(full=True).passed
        for layer, looks in enumerate(last.looks[0]):
            for head in range(spec.options.n_heads):
                np.testing.assert_allclose(trace.layers[layer].weights(head), looks[head], atol=1e-6)

    @pytest.mark.parametrize("data", [b"", b"12345678", b"\xff" * 100, b"PK\x03\x04" + bytes(200)])
    def test_what_is_no_model_is_refused(self, data):
        with pytest.raises(ac.UnsupportedModel):
            loading.from_bytes(data)

    def test_weights_without_their_card_are_refused(self):
        with pytest.raises(ac.UnsupportedModel):
            loading.from_bytes((MODELS / "pronoun.safetensors").read_bytes())

    @pytest.mark.parametrize(
        "damage",
        [
            lambda facts, tensors: facts.pop("layers"),
            lambda facts, tensors: facts.update(d_model=17),
            lambda facts, tensors: facts.update(n_layers=3),
            lambda facts, tensors: facts.update(title=None),
            lambda facts, tensors: facts.update(max_tokens=10**9),
            lambda facts, tensors: facts.update(vocabulary=facts["vocabulary"][:-1]),
            lambda facts, tensors: tensors.pop("layers.1.w_o"),
            lambda facts, tensors: tensors.update(embedding=tensors["embedding"] * np.float32("nan")),
        ],
    )
    def test_a_card_that_does_not_fit_its_weights_is_refused(self, damage):
        spec = TASKS["pronoun"].spec(n_steps=1)
        last = last_of(spec)
        facts, tensors = trained_card(spec, last), dict(last.tensors)
        damage(facts, tensors)
        with pytest.raises(ac.UnsupportedModel):
            loading.from_bytes(loading.to_bytes(facts, tensors))


class TestCommand:
    def test_it_writes_weights_and_a_card_that_belong_together(self, tmp_path, capsys):
        command = [
            "induction",
            "--variant",
            "qk",
            "--steps",
            "3",
            "--seed",
            "4",
            "--seeds",
            "2",
            "--out",
            str(tmp_path),
        ]
        assert main(command) == 0
        assert "[  2/2]" in capsys.readouterr().out
        written = json.loads((tmp_path / "induction-qk.json").read_text(encoding="utf-8"))
        weights = (tmp_path / "induction-qk.safetensors").read_bytes()
        assert written["sha256"] == hashlib.sha256(weights).hexdigest()
        assert [figures["seed"] for figures in written["figures"]["seeds"]] == [4, 0]
        assert written["training"]["steps"] == 3
        assert written["variant_of"] == "induction"

    def test_one_run_of_your_own(self, tmp_path, capsys):
        path = tmp_path / "mine.safetensors"
        own = "The dog didn't enter the tunnel because it was too dark."
        command = ["pronoun", "--d-head", "3", "--seed", "17", "--steps", "9", "--own", own, "--save", str(path)]
        assert main(command) == 0
        spec = replace(
            TASKS["pronoun"].spec(seed=17, n_steps=9), options=replace(TASKS["pronoun"].options, d_head=3), own=(own,)
        )
        last = last_of(spec)
        assert path.read_bytes() == loading.to_bytes(trained_card(spec, last), last.tensors)
        assert settings_of(spec) == {"seed": 17, "d_head": 3, "n_steps": 9, "own_sentences": 1}

    def test_what_cannot_be_trained_on_is_a_sentence(self, tmp_path, capsys):
        command = ["pronoun", "--own", "Colourless green ideas.", "--save", str(tmp_path / "x")]
        assert main(command) == 2
        assert "unknown words" in capsys.readouterr().err

    @pytest.mark.parametrize("wrong", [["--steps", "0"], ["--seeds", "0"], ["--seed", "x"], ["--seed", "-1"]])
    def test_it_refuses_what_it_cannot_do(self, wrong, capsys):
        with pytest.raises(SystemExit):
            main(["pronoun", *wrong])
        assert "error" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
class TestShipped:
    def test_the_file_is_small_and_the_one_of_its_card(self, name):
        data = (MODELS / f"{name}.safetensors").read_bytes()
        assert len(data) < 1_000_000
        assert card(name)["sha256"] == hashlib.sha256(data).hexdigest()

    def test_the_card_speaks_both_languages(self, name):
        texts = [value for value in card(name).values() if isinstance(value, dict) and ("en" in value or "zh" in value)]
        assert len(texts) >= 5
        assert all(text["zh"] and text["en"] for text in texts)

    def test_five_seeds_are_reported(self, name):
        figures = card(name)["figures"]
        assert len({seed["seed"] for seed in figures["seeds"]}) >= 5
        assert figures["n_reached"] == sum(seed["pattern"] > 0.5 for seed in figures["seeds"])
        assert reached(RunSpec.from_json(card(name)["training"]["spec"])) == (
            figures["n_reached"],
            len(figures["seeds"]),
        )

    def test_the_tensors_are_those_of_the_run_that_the_card_names(self, name):
        expected = {key: tuple(tensor.shape) for key, tensor in shipped(name).state_dict().items()}
        stored = load_file(MODELS / f"{name}.safetensors")
        if "table" in card(name):
            expected.pop("embedding")
        assert {key: array.shape for key, array in stored.items()} == expected
        assert {str(array.dtype) for array in stored.values()} == {"float32"}

    def test_numpy_and_torch_agree(self, name):
        described = card(name)
        task, model = TASKS[described["task"]], ac.load(name)
        ask = asker(shipped(name))
        for scene in task.scenes:
            trace = model.trace(scene.text)
            told = ask(task.encode(scene.text)[None])
            for layer, looks in enumerate(told.weights):
                for head in range(described["n_heads"]):
                    np.testing.assert_allclose(trace.layers[layer].weights(head), looks[0, head], atol=1e-6)
            for readout in model.readouts:
                tensor = next(
                    r["tensor"] for r, own in zip(described["readouts"], model.readouts, strict=True) if own is readout
                )
                for i, token in enumerate(trace.tokens):
                    if readout.answers_at(token):
                        for answer in trace.predictions[i]:
                            logit = told.logits[tensor][0, i, readout.column[answer.word]]
                            assert answer.logit == pytest.approx(float(logit), abs=2e-5 * max(1, abs(answer.logit)))

    def test_the_figures_are_those_of_the_weights(self, name):
        described = card(name)
        measured = TASKS[described["task"]].measure(asker(shipped(name)))
        told = described["figures"]["seeds"][0]
        _close(told, json.loads(json.dumps(measured)))

    def test_every_column_of_the_table_is_measured(self, name):
        described = card(name)
        assert len(described["columns"]) >= 2
        for column in described["columns"]:
            for seed in described["figures"]["seeds"]:
                value = seed
                for part in column["path"].split("."):
                    value = value[part]
                assert isinstance(value, (int, float))


def _close(told, measured):
    for key, value in measured.items():
        if isinstance(value, dict):
            _close(told[key], value)
        elif isinstance(value, float):
            assert told[key] == pytest.approx(value, abs=2e-3), key
        else:
            assert told[key] == value, key
