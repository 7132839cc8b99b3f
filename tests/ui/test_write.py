"""The Write page without a browser: what it offers, what a reader's desk does, and what the picture is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

import attention_core as ac
from tests.core.capture_words import saved
from tests.core.capture_zoo import DECODERS, Kind
from ui import models, writers, writing, written
from ui.frame import unpack
from ui.writing import Order, Room

PROMPT = "d b h f a c e d b"
LETTERS = ac.load("induction")
HEAD = (1, 0)
SECONDS = 20


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    made = Room()
    monkeypatch.setattr(written, "DESKS", made)
    monkeypatch.setattr(writing, "PACE", 0.02)
    yield made
    made.close()


class Picture:
    """One who asks, as the picture does: what came stays, what is new is added."""

    def __init__(self, room: Room, reader: str = "reader", **order: Any) -> None:
        self.room, self.reader, self.layer, self.head, self.lang = room, reader, *HEAD, "en"
        self.choices: list[dict] = []
        self.rows: list[np.ndarray] = []
        self.told: dict[str, Any] = {}
        room.seat(reader, self.order(**order), HEAD)

    @staticmethod
    def order(prompt: str = PROMPT, model: str = "induction", temperature: float | None = None, seed: int = 0) -> Order:
        return Order(model, prompt, temperature, seed)

    def ask(self) -> Picture:
        known = {name: str(self.told.get(name, "")) for name in ("version", "edition", "kind")}
        place = {"layer": str(self.layer), "head": str(self.head), "lang": self.lang}
        size = {"choices": str(len(self.choices)), "rows": str(len(self.rows))}
        before = self.told.get("edition")
        self.told, arrays = unpack(written.answer(self.reader, {**known, **place, **size}))
        if self.told["state"] == "gone":
            return self
        kept = self.choices if self.told["edition"] == before else []
        self.choices = [*kept[: self.told["first_choice"]], *self.told["choices"]]
        self.rows = [*self.rows[: self.told["first_row"]], *arrays.get("rows", [])]
        assert len(self.rows) == self.told["n_rows"]
        return self

    def until(self, is_so: Callable[[Picture], bool]) -> Picture:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if is_so(self.ask()):
                return self
            time.sleep(0.005)
        raise AssertionError(self.told)

    def rest(self) -> Picture:
        return self.until(lambda one: one.told["state"] in ("resting", "failed"))

    def press(self, **asked: object) -> Picture:
        written.order(self.reader, {name: str(value) for name, value in asked.items()})
        return self

    @property
    def text(self) -> str:
        return " ".join(token["shown"] for token in self.told["tokens"])

    def triangle(self) -> np.ndarray:
        n = len(self.rows)
        return np.array([np.pad(row, (0, n - len(row))) for row in self.rows])


def test_the_prompt_is_read_and_says_what_could_come(room: Room) -> None:
    page = Picture(room).rest()
    assert (page.text, page.told["n_prompt"], page.choices) == (PROMPT, 9, [])
    trace = LETTERS.trace(PROMPT)
    np.testing.assert_allclose(page.triangle(), trace.layers[1].weights(0), atol=1e-12)
    answers = trace.predictions[-1]
    coming = page.told["next"]["candidates"]
    assert [one["shown"] for one in coming[:5]] == [answer.word for answer in answers]
    assert [one["probability"] for one in coming[:5]] == pytest.approx([answer.probability for answer in answers])
    assert page.told["check"]["passed"]


def test_it_writes_as_the_model_does_and_ends_in_one_full_pass(room: Room) -> None:
    page = Picture(room).rest().press(do="write", n=3)
    page.until(lambda one: len(one.choices) == 3).rest()
    assert page.text == "d b h f a c e d b h f a"
    *_, last = ac.generate(LETTERS, PROMPT, 3)
    weights = LETTERS.trace_written(last.writing).layers[1].weights(0)
    assert weights.shape == (11, 11)
    np.testing.assert_allclose(page.triangle(), weights, atol=1e-12)
    assert [choice["chosen"]["shown"] for choice in page.choices] == ["h", "f", "a"]
    assert page.told["check"]["passed"]
    assert "one full pass" in page.told["check"]["sentence"]


def test_rows_come_while_it_writes_one_for_each_token_that_was_read(room: Room, monkeypatch) -> None:
    monkeypatch.setattr(writing, "PACE", 0.15)
    page = Picture(room).rest().press(do="write", n=4)
    seen: set[tuple[int, int]] = set()
    page.until(lambda one: seen.add((len(one.choices), len(one.rows))) or one.told["state"] == "resting")
    assert {(1, 9), (2, 10), (3, 11), (4, 12)} <= seen
    assert all(rows == 9 + max(n - 1, 0) for n, rows in seen)


def test_stop_comes_within_a_token_and_what_stands_there_stays(room: Room, monkeypatch) -> None:
    monkeypatch.setattr(writing, "PACE", 0.15)
    page = Picture(room).rest().press(do="write", n=6).until(lambda one: len(one.choices) == 2)
    stopped = time.monotonic()
    page.press(do="stop").rest()
    assert time.monotonic() - stopped < 0.15
    time.sleep(0.4)
    assert len(page.ask().choices) == 2
    assert page.press(do="write", n=1).until(lambda one: len(one.choices) == 3).rest().text == f"{PROMPT} h f a"


def test_nobody_watches_nobody_writes(room: Room, monkeypatch) -> None:
    monkeypatch.setattr(writing, "UNWATCHED", 0.1)
    monkeypatch.setattr(writing, "PACE", 0.06)
    page = Picture(room).rest().press(do="write", n=6)
    time.sleep(0.7)
    assert 1 <= len(page.rest().choices) < 6


def test_another_candidate_takes_the_place_and_writing_goes_on_from_it(room: Room) -> None:
    page = Picture(room).rest().press(do="write", n=5).until(lambda one: len(one.choices) == 5).rest()
    other = page.choices[1]["candidates"][3]
    page.press(do="instead", place=1, id=other["id"]).until(lambda one: len(one.choices) == 2).rest()
    assert page.text == f"{PROMPT} h {other['shown']}"
    assert page.choices[1]["chosen"] == {**other, "chance": other["chance"]}
    assert len(page.rows) == 10
    page.press(do="write", n=1).until(lambda one: len(one.choices) == 3).rest()
    assert page.triangle().shape == (11, 11)


def test_the_first_token_can_be_chosen_by_hand(room: Room) -> None:
    page = Picture(room).rest()
    wanted = page.told["next"]["candidates"][6]
    page.press(do="instead", place=0, id=wanted["id"]).until(lambda one: len(one.choices) == 1).rest()
    assert page.text == f"{PROMPT} {wanted['shown']}"
    assert len(page.rows) == 9


@pytest.mark.parametrize("asked", [{"place": 7, "id": 3}, {"place": 1, "id": 999}, {"place": 1}])
def test_what_is_not_there_cannot_be_taken(room: Room, asked: dict[str, int]) -> None:
    page = Picture(room).rest().press(do="write", n=2).until(lambda one: len(one.choices) == 2).rest()
    before = page.text
    page.press(do="instead", **asked)
    assert page.rest().text == before or asked == {"place": 1}  # [UNK], number 0, is a candidate.


def test_start_over_and_another_prompt_begin_anew_other_settings_do_not(room: Room) -> None:
    page = Picture(room).rest().press(do="write", n=2).until(lambda one: len(one.choices) == 2).rest()
    room.seat("reader", page.order(temperature=2.0, seed=5), HEAD)
    assert len(page.rest().choices) == 2
    page.press(do="restart").rest()
    assert (page.choices, page.text) == ([], PROMPT)
    room.seat("reader", page.order(prompt="a b a"), HEAD)
    assert page.rest().text == "a b a"
    assert len(page.rows) == 3


def test_chances_before_the_first_token_follow_the_temperature(room: Room) -> None:
    page = Picture(room).rest()
    assert [one["chance"] for one in page.told["next"]["candidates"][:2]] == [1, 0]
    room.seat("reader", page.order(temperature=2.0), HEAD)
    first, second = page.rest().told["next"]["candidates"][:2]
    assert 1 > first["chance"] > second["chance"] > 0
    ratio = np.sqrt(first["probability"] / second["probability"])
    assert first["chance"] / second["chance"] == pytest.approx(ratio, rel=1e-9)


def test_the_same_seed_draws_what_the_core_draws(room: Room) -> None:
    page = Picture(room, temperature=6.0, seed=11).rest()
    page.press(do="write", n=2).until(lambda one: len(one.choices) == 2).rest()
    page.press(do="write", n=3).until(lambda one: len(one.choices) == 5).rest()
    *_, last = ac.generate(LETTERS, PROMPT, 5, temperature=6.0, seed=11)
    assert page.text == last.writing.text


def test_another_head_has_its_own_rows(room: Room) -> None:
    page = Picture(room).rest().press(do="write", n=3).until(lambda one: len(one.choices) == 3).rest()
    page.layer = 0
    *_, last = ac.generate(LETTERS, PROMPT, 3)
    trace = LETTERS.trace_written(last.writing)
    np.testing.assert_allclose(page.ask().rest().triangle(), trace.layers[0].weights(0), atol=1e-12)
    page.layer = 7
    assert page.ask().rows == []


def test_readers_do_not_see_each_other(room: Room) -> None:
    one, other = Picture(room, "one").rest(), Picture(room, "other", prompt="a b a").rest()
    one.press(do="write", n=2).until(lambda page: len(page.choices) == 2).rest()
    assert other.ask().text == "a b a"
    assert unpack(written.answer("nobody", {}))[0]["state"] == "gone"
    written.order("nobody", {"do": "write", "n": "3"})


@pytest.mark.parametrize(
    "asked",
    [{"layer": "-1", "head": "x"}, {"rows": "99999999999"}, {"choices": "7" * 9}, {"lang": "<b>"}, {"kind": "0"}],
)
def test_a_strange_question_gets_an_answer(room: Room, asked: Mapping[str, str]) -> None:
    Picture(room).rest()
    header, _ = unpack(written.answer("reader", asked))
    assert header["state"] == "resting"


def test_many_readers_are_forgotten_oldest_first(room: Room, monkeypatch) -> None:
    monkeypatch.setattr(writing, "N_KEPT", 3)
    for name in "abcde":
        Picture(room, name, prompt="a b").rest()
    assert list(room.desks) == ["c", "d", "e"]


@pytest.fixture
def real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a tiny Llama that is on the shelf."""
    from attention_core.capture import load_folder

    kind = Kind("LlamaConfig", DECODERS["llama"].facts, "LlamaForCausalLM")
    model, name = load_folder(saved(kind, tmp_path / "tiny")), f"dir:{tmp_path}/tiny"
    monkeypatch.setattr(writing.shelf, "ready", lambda asked: model if asked == name else None)
    monkeypatch.setattr(writing.shelf, "has", lambda asked: asked == name)
    return name


def test_a_real_model_writes_too(room: Room, real: str) -> None:
    page = Picture(room, model=real, prompt="the cat sat on").rest()
    page.press(do="write", n=4).until(lambda one: len(one.choices) == 4).rest()
    model = models.shelf.ready(real)
    *_, last = ac.generate(model, "the cat sat on", 4)
    assert [token["shown"] for token in page.told["tokens"]] == [token.shown for token in last.writing.tokens]
    np.testing.assert_allclose(page.triangle(), model.trace_written(last.writing).layers[1].weights(0), atol=1e-6)
    assert page.told["check"]["passed"]


def test_a_model_that_left_the_shelf_fails_with_a_sentence(room: Room, real: str, monkeypatch) -> None:
    page = Picture(room, model=real, prompt="the cat").rest()
    monkeypatch.setattr(writing.shelf, "ready", lambda asked: None)
    page.press(do="write", n=2).rest()
    assert page.told["state"] == "failed"
    assert page.told["error"]


# The page


def test_the_page_shows_a_model_that_writes_and_leaves_the_others_alone(open_app) -> None:
    app = open_app(model="pronoun", text="The cat ran because it was afraid.").go("write")
    header, _ = app.frame("write")
    assert (header["model"], header["prompt"], header["layer"], header["head"]) == ("induction", PROMPT, 1, 0)
    assert "`pronoun` sees" in app.test.caption[0].value
    app.go("explore")
    assert app.frame("explore")[0]["model"] == "pronoun"
    assert parse_qs(app.query())["text"] == ["The cat ran because it was afraid."]


def test_it_follows_a_model_that_writes(open_app) -> None:
    app = open_app(model="induction-kv", text="a b a b").go("write")
    assert app.frame("write")[0]["model"] == "induction-kv"
    assert not app.test.caption


def test_only_models_that_write_are_offered() -> None:
    assert set(writers.names()) == {card.name for card in ac.models() if card.name.startswith("induction")}
    assert all(models.card(name).causal for name in writers.names())


def test_a_link_brings_it_back(open_app) -> None:
    fields = {"model": "induction-one-layer", "prompt": "a b c a", "how": "sampled", "temperature": 2.5}
    app = open_app("explore", **fields, write_seed=7, layer=0, head=0, lang="zh").go("write")
    query = {name: values[0] for name, values in parse_qs(app.query()).items()}
    assert query == {
        **{name: str(value) for name, value in fields.items()},
        "write_seed": "7",
        "layer": "0",
        "head": "0",
        "lang": "zh",
    }
    header, _ = app.frame("write")
    assert (header["temperature"], header["seed"], header["prompt"]) == (2.5, 7, "a b c a")


@pytest.mark.parametrize(("name", "value"), [("how", "best"), ("temperature", "0"), ("write_seed", "-4")])
def test_what_an_address_cannot_ask_for_is_said(open_app, name: str, value: str) -> None:
    app = open_app(model="induction", **{name: value})
    assert f"{name}={value}" in app.said()


@pytest.mark.parametrize(("prompt", "said"), [("", "nothing yet to look at"), ("a " * 15, "15 characters")])
def test_a_prompt_that_does_not_fit_is_answered(open_app, prompt: str, said: str) -> None:
    app = open_app(model="induction").go("write").type(prompt, key="prompt")
    assert said in app.said()
    assert not app.has("write")
    app.type("a b a", key="prompt")
    assert app.frame("write")[0]["prompt"] == "a b a"


def test_settings_stay_over_a_visit_elsewhere(open_app) -> None:
    app = open_app(model="induction").go("write").type("c a f c", key="prompt")
    app.test.segmented_control(key="how").set_value("sampled").run()
    app.test.number_input(key="temperature").set_value(1.7).run()
    app.go("explore").go("write")
    header, _ = app.frame("write")
    assert (header["prompt"], header["temperature"]) == ("c a f c", 1.7)


def test_another_model_keeps_a_prompt_of_ones_own(open_app) -> None:
    app = open_app(model="induction").go("write").type("c a f c", key="prompt")
    app.test.selectbox(key="writer").set_value("induction-one-layer").run()
    header, _ = app.frame("write")
    assert (header["model"], header["prompt"], header["layer"]) == ("induction-one-layer", "c a f c", 0)
