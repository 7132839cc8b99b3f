"""The Learn page without a browser: what can be chosen, what a link brings back, what becomes of a finished run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
from safetensors.numpy import load, load_file

import attention_core as ac
from attention_core import loading
from attention_core.cards import DEFAULT, FOLDER
from attention_core.teach.card import reached
from attention_core.teach.frames import to_bytes
from attention_core.teach.runs import Frame, RunSpec
from attention_core.teach.tasks import TASKS
from tests.running import TIRED
from ui import films, learned, lessons, loaded, models, reasons, training
from ui.frame import unpack
from ui.training import Glimpse, Pool, Run, run_id
from ui.translations import LANGUAGES, words

FAKE = (sys.executable, str(Path(__file__).parent / "fake_worker.py"))
RECIPE = TASKS["pronoun"].spec()
GOOD = "The dog didn't enter the tunnel because it was too sleepy."
BAD = "The zebra didn't enter the tunnel because it was too sleepy."


@pytest.fixture(autouse=True)
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """Nothing is trained here, and nothing is left over from another test."""
    pool = Pool(n_workers=1, command=FAKE)
    monkeypatch.setattr(training, "POOL", pool)
    models._trained.cache_clear()
    yield pool
    pool.close()


def frames(spec: RunSpec, pattern: float = 0.9) -> list[bytes]:
    """A film of two frames that ends with the shipped model's weights."""
    tensors = load_file(FOLDER / "pronoun.safetensors")
    n, matrices = 12, {name: each for name, each in tensors.items() if name.endswith(("w_q", "w_k", "w_v"))}
    looks = tuple(tuple(np.full((1, n, n), 1 / n, dtype=np.float32) for _ in range(2)) for _ in range(2))
    first = Frame(0, spec.n_steps, None, 0.02, 0.1, 0.5, 0.08, looks, matrices)
    return [to_bytes(first), to_bytes(first._replace(step=spec.n_steps, loss=0.1, pattern=pattern, tensors=tensors))]


@pytest.fixture
def finished(pool: Pool) -> Callable[..., str]:
    """Put a run into the pool as if it had been trained there; returns the model's name."""

    def put(spec: RunSpec = RECIPE, pattern: float = 0.9, state: str = "finished") -> str:
        name = run_id(spec.to_json())
        pool.runs[name] = Run(name, spec.to_json(), state=state, frames=frames(spec, pattern))
        return learned.name_of(spec)

    return put


def run(app, k: int = 0) -> dict:
    return app.frame("learn")[0]["runs"][k]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("task", TASKS)
def test_the_page_stands_in_every_language_and_for_every_task(open_app, pool, lang, task):
    app = open_app("learn", lang=lang, task=task, versus="seed")
    header, arrays = app.frame("learn")
    assert header["strings"] == words(lang).section("learn")
    assert len(header["runs"]) == 2
    for scene, sentence in zip(TASKS[task].scenes, header["sentences"], strict=True):
        assert len(sentence["tokens"]) == len(TASKS[task].encode(scene.text))
    options = TASKS[task].options
    assert any(name.startswith("allowed.0") for name in arrays) == (options.causal or any(options.windows))
    assert [each["id"] for each in header["runs"]] == [None, None], "opening a link trains nothing"
    assert not pool.runs


def test_the_address_says_everything_that_is_trained(open_app):
    found = {name: values[0] for name, values in parse_qs(open_app("learn", lang="en").query()).items()}
    assert found == {"lang": "en", "task": "pronoun", "seed": "0", "n_steps": "2000", "learning_rate": "0.02"}


def test_a_link_brings_the_same_training_back(open_app):
    fields = {"lang": "zh", "task": "pronoun", "seed": "17", "n_steps": "300", "learning_rate": "0", "d_head": "3"}
    fields |= {"share": "qk", "shuffled_labels": "1", "versus": "one_layer", "own": f"{GOOD}\n{BAD}", "projector": "1"}
    app = open_app("learn", **fields)
    assert {name: values[0] for name, values in parse_qs(app.query()).items()} == fields
    again = open_app("learn", **fields)
    assert again.frame("learn")[0] == app.frame("learn")[0]


def test_a_bad_address_shows_notes_and_the_recipe(open_app):
    fields = {"seed": "-1", "n_steps": "1e9", "learning_rate": "nan", "d_head": "5", "share": "all", "versus": "love"}
    app = open_app("learn", lang="en", **fields, shuffled_labels="2")
    for value in ("-1", "1e9", "nan", "d_head=5", "share=all", "love", "2"):
        assert f"`{value}`" in app.said()
    assert run(app)["title"] == "seed 0"
    assert "`cake`" in open_app("learn", lang="en", task="cake").said()


def test_another_task_is_its_recipe_with_the_same_seed(open_app):
    app = open_app("learn", lang="en", seed=5, d_head=3, learning_rate=0.01, versus="qk")
    app.test.selectbox(key="task").set_value("induction").run()
    assert not app.test.exception
    header = app.frame("learn")[0]
    assert [each["title"] for each in header["runs"]] == ["seed 5"]
    assert header["steps"] == TASKS["induction"].training.n_steps


def test_an_emptied_box_counts_as_the_recipe(open_app):
    app = open_app("learn", lang="en", seed=5)
    app.test.number_input(key="seed").set_value(None).run()
    assert not app.test.exception
    assert run(app)["title"] == "seed 0"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_own_sentences_are_used_or_refused_with_a_reason_and_stay(open_app, lang):
    app = open_app("learn", lang=lang)
    app.test.text_area(key="own").set_value(f"{GOOD}\n\n {BAD}\nthe <b>dog</b>\n").run()
    (warning,) = app.test.warning
    assert words(lang)("lesson.fault_unknown_words", words="`zebra`") in warning.value
    assert f"`{BAD}`" in warning.value
    assert f"`{GOOD}`" not in warning.value
    assert "`the <b>dog</b>`" in warning.value
    assert run(app)["title"].endswith(words(lang)("lesson.said_own", value=1))
    assert app.test.text_area(key="own").value == f"{GOOD}\n\n {BAD}\nthe <b>dog</b>\n"
    lesson = lessons.lesson_of({**lessons.fields_of(RECIPE), "own": f"{GOOD}\n{BAD}"})
    assert lessons.run(lesson).own == (GOOD,)


def test_more_than_twenty_own_sentences_are_refused():
    nouns = TASKS["pronoun"].vocabulary[1:11]
    many = [
        f"The {one} didn't enter the {two} because it was too sleepy."
        for one in nouns
        for two in ("tunnel", "cave", "road")
    ]
    lesson = lessons.lesson_of({**lessons.fields_of(RECIPE), "own": "\n".join(many)})
    faults = [fault.reason for _, fault in lessons.own_sentences(lesson) if fault is not None]
    assert faults == ["too_many"] * 10
    TASKS["pronoun"].check(lessons.run(lesson))


def test_whatever_can_be_chosen_can_be_trained_named_and_linked():
    for task in TASKS.values():
        offered = learned.choices_of(task)
        for values in list(product(*offered.values()))[::7]:
            fields = {**lessons.fields_of(task.spec(seed=3)), **dict(zip(offered, values, strict=True))}
            spec = lessons.run(lessons.lesson_of(fields))
            assert {name: getattr(spec.options, name) for name in offered} == dict(zip(offered, values, strict=True))
            for each in (spec, *filter(None, lessons.contrasts(spec).values())):
                task.check(each)
                assert learned.spec_of(learned.name_of(each)) == each
            back = lessons.read(lessons.address(lessons.lesson_of(fields)), lambda *refused: pytest.fail(str(refused)))
            assert lessons.run(lessons.lesson_of(back)) == spec


def test_names_of_runs_are_read_strictly():
    assert learned.name_of(RECIPE) == "run:pronoun~seed=0"
    for bad in ("run:cake", "run:pronoun~seed=x", "run:pronoun~d_head=99", "run:pronoun~hat=1", "pronoun"):
        with pytest.raises(ValueError, match=r".*"):
            learned.spec_of(bad)
    sentence = "晚上我们吃佛跳墙~=%"
    name = learned.name_of(RunSpec(**{**vars(TASKS["dish"].spec()), "own": (sentence,)}))
    assert learned.spec_of(name).own == (sentence,)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_run_that_is_still_there_is_shown_and_one_that_failed_its_pattern_says_why(open_app, finished, lang):
    finished()
    assert run(open_app("learn", lang=lang))["state"] == "finished"
    assert run(open_app("learn", lang=lang))["why"] == ""
    finished(pattern=0.2)
    assert run(open_app("learn", lang=lang))["why"] == words(lang)("lesson.why_seed")
    spec = lessons.run(lessons.lesson_of({**lessons.fields_of(RECIPE), "learning_rate": 0.0}))
    finished(spec, pattern=0.08)
    app = open_app("learn", lang=lang, learning_rate=0)
    assert run(app)["why"] == words(lang)("lesson.why_still")
    assert run(open_app("learn", lang=lang, learning_rate=0.001))["id"] is None


def test_reasons_follow_from_what_was_chosen():
    english = words("en")
    few = lessons.run(lessons.lesson_of({**lessons.fields_of(RECIPE), "n_steps": 100, "d_head": 2}))
    assert "2 numbers" in reasons.why(few, english)
    assert "100 instead of 2000" in reasons.why(few, english)
    (one_layer,) = [variant for variant in TASKS["pronoun"].variants if variant.name == "one-layer"]
    assert reasons.why(RunSpec(**{**vars(RECIPE), "options": one_layer.options}), english) == one_layer.lesson["en"]
    assert reasons.why(RECIPE, english) == english("lesson.why_seed")
    measured = reached(RECIPE)
    assert measured is not None
    assert 2 * measured[0] > measured[1]


def test_options_with_which_most_runs_reach_the_pattern_are_not_blamed(monkeypatch):
    spec = RunSpec(**{**vars(RECIPE), "options": learned.with_options(TASKS["pronoun"], {"share": "kv"})})
    for counted, blamed in (((5, 5), False), ((1, 5), True), (None, True)):
        monkeypatch.setattr(reasons, "reached", lambda spec, counted=counted: counted)
        assert (reasons.why(spec, words("en")) != words("en")("lesson.why_seed")) == blamed


def test_a_training_that_blew_up_leaves_no_model_and_the_page_says_so(open_app, finished, pool):
    finished()
    (blown,) = pool.runs.values()
    last = films.decoded(blown.frames[-1])
    broken = {name: np.full_like(each, np.nan) for name, each in last.tensors.items()}
    blown.frames[-1] = to_bytes(last._replace(tensors=broken, pattern=float("nan"), loss=float("nan")))
    app = open_app("learn", lang="en")
    assert words("en")("lesson.broken") in [each.value for each in app.test.caption]
    assert not app.test.get("download_button")


def test_a_trained_model_opens_on_the_other_pages_under_a_name_that_says_what_it_is(open_app, finished):
    spec = RunSpec(**{**vars(RECIPE), "seed": 17})
    name = finished(spec)
    app = open_app("learn", lang="en", seed=17)
    app.test.button(key="open_explore_0").click().run()
    app.go("explore")
    _, arrays = app.frame("explore")
    expected = ac.load("pronoun").trace(TIRED).layers[1].weights(0)
    np.testing.assert_array_equal(arrays["weights"], expected)
    assert parse_qs(app.query())["model"] == [name] == ["run:pronoun~seed=17"]
    assert app.test.selectbox(key="model").value == name
    other = open_app("steps", **{key: values[0] for key, values in parse_qs(app.query()).items()})
    assert other.has("steps")
    assert parse_qs(other.query())["model"] == [name]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_model_that_is_no_longer_kept_leaves_a_note_and_its_settings_on_learn(open_app, lang):
    app = open_app(lang=lang, model="run:pronoun~seed=17~d_head=3")
    assert words(lang)("notes.not_kept", name="`run:pronoun~seed=17~d_head=3`") in app.said()
    assert parse_qs(app.query())["model"] == [DEFAULT]
    assert parse_qs(app.go("learn").query())["seed"] == ["17"]
    assert parse_qs(app.query())["d_head"] == ["3"]
    assert (
        words(lang)("notes.not_kept", name="`file:mine-12345678`")
        in open_app(lang=lang, model="file:mine-12345678").said()
    )


def test_a_model_that_goes_while_it_is_shown_leaves_a_note(open_app, finished, pool):
    app = open_app(model=finished())
    assert app.has("explore")
    pool.runs.clear()
    models._trained.cache_clear()
    app.test.run()
    assert not app.test.exception
    assert "`run:pronoun~seed=0`" in app.said()
    assert parse_qs(app.query())["model"] == [DEFAULT]


def test_a_downloaded_file_is_the_same_model_when_it_is_loaded(finished):
    name = finished()
    name_of_file = loaded.add(models.file_of(RECIPE))
    assert name_of_file.startswith("file:pronoun-seed-0-")
    there, here = (models.load(each).trace(TIRED) for each in (name, name_of_file))
    for one, other in zip(there.layers, here.layers, strict=True):
        np.testing.assert_array_equal(one.weights(0), other.weights(0))
    assert here.predictions[7][0].word == "animal"


def test_a_loaded_model_shows_on_a_page_with_its_card(open_app, finished):
    finished()
    name = loaded.add(models.file_of(RECIPE))
    app = open_app(model=name)
    assert app.has("explore")
    app.test.button(key="open_card").click().run()
    assert not app.test.exception
    assert app.has("explore")


def with_card(data: bytes, **changes: object) -> bytes:
    """The same file with something else on its card."""
    card = json.loads(loading.metadata_of(data)["card"])
    return loading.to_bytes({**card, **changes}, load(data))


def test_files_that_are_no_model_are_refused(finished):
    finished()
    good = models.file_of(RECIPE)
    poisoned = good[:-4] + np.float32(np.nan).tobytes()
    for data, kind in ((b"", "not_ours"), (b"hello" * 99, "not_ours"), (good[:-100], "damaged"), (poisoned, "damaged")):
        with pytest.raises(loaded.UnreadableFile) as refused:
            loaded.add(data)
        assert refused.value.kind == kind
    with pytest.raises(loaded.UnreadableFile) as refused:
        loaded.add(bytes(loaded.LARGEST + 1))
    assert refused.value.kind == "too_large"
    with pytest.raises(loaded.UnreadableFile, match="max_tokens"):
        loaded.add(with_card(good, max_tokens=9_999_999))
    with pytest.raises(loaded.UnreadableFile, match="damaged"):
        loaded.add(with_card(good, layers=[{}, {}]))


def test_nothing_in_a_strangers_card_is_markup(finished):
    finished()
    text = "![x](http://y.z) :red[r] $x$"
    changes = {"source": {"en": text, "zh": text}, "not_to_claim": {"en": [text]}, "title": {"en": text}}
    card = models.card(loaded.add(with_card(models.file_of(RECIPE), name=text, licence=text, **changes)))
    inert = r"\!\[x\]\(http\:\/\/y\.z\) \:red\[r\] \$x\$"
    assert card.source["zh"] == card.title["zh"] == card.licence == inert
    assert card.details["not_to_claim"]["zh"] == [inert]
    assert card.name.startswith("file:x-http-y.z-red-r-x-")


def test_films_come_in_parts_with_facts_weights_and_matrices(finished):
    data = frames(RECIPE)
    header, arrays = unpack(films.answer(Glimpse("running", None, "", tuple(data), 2), first=0))
    assert [frame["step"] for frame in header["frames"]] == [0, RECIPE.n_steps]
    assert header["frames"][0]["loss"] is None
    tensors = load_file(FOLDER / "pronoun.safetensors")
    for m, (layer, part) in enumerate(product(range(2), "qkv")):
        np.testing.assert_array_equal(arrays[f"matrix.1.{m}"], tensors[f"layers.{layer}.w_{part}"][0])
    assert arrays["weights.0.1.1"].shape == (12, 12)
    many = Glimpse("running", None, "", tuple(data[:1] * 100), 100)
    assert len(unpack(films.answer(many, first=0))[0]["frames"]) == films.MOST
    assert unpack(films.answer(many, first=0))[0]["n_frames"] == 100


def test_a_training_that_blew_up_is_still_a_film():
    broken = films.decoded(frames(RECIPE)[0])._replace(
        loss=float("nan"), looks=((np.full((1, 2, 2), np.nan, np.float32),),) * 2
    )
    broken = broken._replace(matrices={f"layers.0.w_{part}": np.zeros((1, 2, 2), np.float32) for part in "qkv"})
    header, arrays = unpack(films.answer(Glimpse("running", None, "", (to_bytes(broken),), 1), first=0))
    assert header["frames"][0]["loss"] is None
    assert not arrays["weights.0.0.0"].any()
