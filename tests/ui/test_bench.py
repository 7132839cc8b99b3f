"""The bench as a value: its link, its file, its seeds, its ready-made numbers; and what the page makes of addresses."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from urllib.parse import parse_qs

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attention_core as ac
from attention_core import slips
from attention_core.exercises import MAX_SEED, exercise
from ui import bench, bench_codes, exercises
from ui.exercises import Choice
from ui.translations import LANGUAGES, words

PRESETS = bench.presets()
FIRST = PRESETS["first"]


@st.composite
def benches(draw: st.DrawFn) -> bench.Bench:
    n, d = draw(st.integers(*bench.TOKENS)), draw(st.integers(*bench.DIMS))
    axes = draw(st.permutations(range(d)))[:2]

    def matrix(name: str) -> bench.Rows:
        limit = bench.limit_of(name)
        number = st.floats(-limit, limit).map(lambda value: round(value, bench.DIGITS) + 0.0)
        size = d if name.startswith("w_") else n
        return tuple(tuple(draw(number) for _ in range(d)) for _ in range(size))

    return bench.Bench(
        mode=draw(st.sampled_from(bench.MODES)),
        **{name: matrix(name) for name in bench.MATRICES},
        is_causal=draw(st.booleans()),
        axes=(axes[0], axes[1]),
        query=draw(st.integers(0, n - 1)),
        key=draw(st.integers(0, n - 1)),
        seed=draw(st.integers(0, bench.MAX_SEED)),
    )


@settings(max_examples=150)
@given(benches())
def test_a_link_and_a_file_carry_everything_and_a_link_is_short(lying: bench.Bench) -> None:
    code = bench_codes.encode(lying)
    assert len(code) <= bench_codes.MAX_CODE
    assert bench_codes.decode(code) == lying
    assert bench_codes.from_file(bench_codes.to_file(lying)) == lying
    assert bench.parse(json.loads(json.dumps(bench.as_data(lying)))) == lying


def test_the_longest_link() -> None:
    worst = bench.from_inputs(np.full((6, 4), -29.9999), *np.random.default_rng(1).uniform(-30, 30, (3, 4, 4)))
    noise = np.random.default_rng(2).uniform(-9999, 9999, (3, 6, 4))
    worst = replace(worst, **dict(zip("qkv", map(bench.rows, noise), strict=True)), x=bench.rows(noise[0] % 30))
    assert 500 < len(bench_codes.encode(worst)) <= 1000
    assert bench_codes.decode(bench_codes.encode(worst)) == worst


@given(st.text(max_size=60) | st.binary(max_size=80).map(lambda data: base64.urlsafe_b64encode(data).decode()))
def test_no_other_text_is_a_bench_or_breaks_anything(text: str) -> None:
    with pytest.raises(ValueError, match="no bench"):
        bench_codes.decode(text)


def test_a_code_that_unpacks_to_much_is_refused() -> None:
    bomb = base64.urlsafe_b64encode(zlib.compress(bytes(10**6))).decode()
    assert len(bomb) < bench_codes.MAX_CODE
    with pytest.raises(ValueError, match="no bench"):
        bench_codes.decode(bomb)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"mode": "both"}, "format"),
        ({"x": None}, "format"),
        ({"x": [1, 2]}, "format"),
        ({"axes": [0, 0]}, "format"),
        ({"axes": [0, 2]}, "format"),
        ({"axes": "01"}, "format"),
        ({"query": 3}, "format"),
        ({"key": -1}, "format"),
        ({"query": True}, "format"),
        ({"seed": 1.5}, "format"),
        ({"is_causal": "yes"}, "format"),
        ({"q": [[1, 2], [3, 4]]}, "shape"),
        ({"q": [[1, 2], [3, 4], [5]]}, "shape"),
        ({"w_v": [[1, 2, 3]] * 3}, "shape"),
        ({"x": [[1, 2]] * 7}, "shape"),
        ({"x": [[1, 2]]}, "shape"),
        ({"x": [["1", 2]] * 3}, "number"),
        ({"x": [[31, 2]] * 3}, "number"),
        ({"k": [[float("nan"), 2]] * 3}, "number"),
        ({"k": [[float("inf"), 2]] * 3}, "number"),
        ({"k": [[False, 2]] * 3}, "number"),
        ({"k": [[10**400, 2]] * 3}, "number"),
    ],
)
def test_what_is_no_bench_is_refused_with_its_kind(change: dict, kind: str) -> None:
    with pytest.raises(bench.Unfit) as fault:
        bench.parse({**bench.as_data(FIRST), **change})
    assert fault.value.kind == kind


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe", b"[]", b"{}", b"[" * 10_000, b'{"format": "attention-bench", "version": 2}', b"x" * 30_000],
)
def test_no_other_file_is_a_bench(data: bytes) -> None:
    with pytest.raises(bench.Unfit) as fault:
        bench_codes.from_file(data)
    assert fault.value.kind == "format"


def test_a_seed_gives_the_same_numbers_always() -> None:
    for like in (FIRST, PRESETS["tied"]):
        one = bench.drawn(41, like=like)
        assert one == bench.drawn(41, like=like)
        assert bench.drawn(42, like=like) != one
        assert (one.n, one.d, one.mode) == (like.n, like.d, like.mode)
        assert max(abs(value) for name in bench.MATRICES for row in getattr(one, name) for value in row) <= 20
    assert bench.drawn(41, like=FIRST).q[0] == (-2.0, -1.2)


def test_the_ready_made_numbers_show_what_is_said_of_them() -> None:
    hand = PRESETS["hand"].steps()
    assert hand.scores[0].tolist() == [4, 2, 0]
    assert hand.scaled[0].tolist() == [2, 1, 0]
    long = PRESETS["long_key"]
    np.testing.assert_allclose(np.array(long.k[1]), 3 * np.array(long.k[0]))
    np.testing.assert_allclose(long.steps().scores[:, 1], 3 * long.steps().scores[:, 0])
    assert (long.steps().weights[:2].argmax(axis=1) == 1).all()
    apart = PRESETS["orthogonal"].steps()
    assert (apart.scores[~np.eye(3, dtype=bool)] == 0).all()
    assert (apart.weights > 0).all()
    tied = PRESETS["tied"]
    assert tied.w_q == tied.w_k
    steps = tied.steps()
    np.testing.assert_array_equal(steps.scores, steps.scores.T)
    assert steps.weights[0].argmax() == 2
    np.testing.assert_allclose(steps.k[2], 2 * steps.k[0])
    assert not np.allclose(steps.weights, steps.weights.T)


@given(benches())
def test_made_from_x_or_held_the_vectors_are_the_same(lying: bench.Bench) -> None:
    x = np.array(lying.x)
    made = replace(lying, mode="matrices").vectors()
    for vector, w in zip(made, (lying.w_q, lying.w_k, lying.w_v), strict=True):
        np.testing.assert_allclose(vector, x @ np.array(w), rtol=1e-12, atol=1e-9)
    held = replace(lying, mode="vectors").vectors()
    for vector, name in zip(held, "qkv", strict=True):
        np.testing.assert_array_equal(vector, getattr(lying, name))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("part", bench.PARTS)
def test_the_page_draws_in_every_language(open_app, part, lang):
    app = open_app("bench", lang=lang, part=part)
    header, arrays = app.frame(part)
    assert header["strings"] == words(lang).section(part)
    if part == "bench":
        assert bench.parse(header["state"]) == FIRST
        assert header["origin"] is None
    else:
        steps = exercise(1).steps
        np.testing.assert_array_equal(arrays["q"], steps.q)
        np.testing.assert_array_equal(arrays["v"], steps.v)
        assert header["verdict"] is None


@pytest.mark.parametrize(
    "fields",
    [
        {"part": "bench", "bench": bench_codes.encode(bench.drawn(9, like=PRESETS["hand"]))},
        {"part": "exercise", "exercise": "2024017-row-2-mask"},
    ],
)
def test_an_address_is_reproduced(open_app, fields):
    app = open_app("bench", model=None, lang="zh", projector=1, **fields)
    found = {name: values[0] for name, values in parse_qs(app.query()).items()}
    assert found == {"lang": "zh", "projector": "1", **fields}
    assert open_app("bench", **found).query() == app.query()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_bad_address_shows_notes_and_the_usual_bench(open_app, lang):
    app = open_app("bench", lang=lang, part="kitchen", bench="nonsense", exercise="1-none-4")
    for value in ("kitchen", "nonsense", "1-none-4"):
        assert f"`{value}`" in app.said()
    assert bench.parse(app.frame("bench")[0]["state"]) == FIRST


def test_the_bench_is_kept_from_page_to_page(open_app):
    lying = bench.drawn(3, like=FIRST)
    app = open_app("bench", bench=bench_codes.encode(lying))
    query = app.query()
    assert app.go("explore").has("explore")
    assert app.go("bench").query() == query
    assert bench.parse(app.frame("bench")[0]["state"]) == lying


def test_another_number_is_another_exercise(open_app):
    app = open_app("bench", part="exercise", exercise="5-all-4")
    app.test.button(key="exercise_next").click().run()
    assert "exercise=6-all-4" in app.query()
    app.test.number_input(key="exercise_seed").set_value(77).run()
    app.test.toggle(key="exercise_is_masked").set_value(True).run()
    header, arrays = app.frame("exercise")
    assert header["exercise"] == "77-all-4-mask"
    np.testing.assert_array_equal(arrays["k"], exercise(77, masked=True).steps.k)


def sent(choice: Choice, stage: str, values: np.ndarray) -> dict:
    answer = [[f"{value:.3f}" for value in row] for row in values]
    return {"token": "t-1", "exercise": choice.code, "stage": stage, "answers": {stage: answer}}


def test_what_a_browser_sends_is_judged_or_left_alone() -> None:
    choice = Choice(seed=12)
    steps = exercise(12).steps
    right = sent(choice, "scores", steps.scores)
    verdict = exercises.judged(right, choice)
    assert verdict == {
        "token": "t-1", "exercise": "12-all-4", "stage": "scores", "kind": "right", "cells": (), "also": (),
    }  # fmt: skip
    wrong = exercises.judged(sent(choice, "scores", steps.scores.T), choice)
    assert wrong is not None
    assert wrong["kind"] == "transposed"
    for bad in (
        None, [], {}, {**right, "exercise": "13-all-4"}, {**right, "stage": "masked"}, {**right, "stage": ["scores"]},
        {**right, "answers": {"scores": [["1"]]}}, {**right, "answers": {"scores": [[1, 2, 3]] * 3}},
        {**right, "answers": {"scores": [["1" * 500] * 3] * 3}}, {**right, "answers": None},
    ):  # fmt: skip
        assert exercises.judged(bad, choice) is None, bad


@pytest.mark.parametrize(
    "code", ["", "1", "-1-all-4", "1-all-3", "1-all-4-x", "1-all-4-mask-x", f"{MAX_SEED + 1}-all-4", "²-all-4"]
)
def test_no_other_code_is_an_exercise(code: str) -> None:
    with pytest.raises(ValueError, match="no exercise"):
        exercises.decode(code)


@given(
    st.builds(Choice, st.integers(0, MAX_SEED), st.sampled_from(["row", "all"]), st.booleans(), st.sampled_from([4, 2]))
)
def test_a_code_brings_the_choice_back(choice: Choice) -> None:
    assert exercises.decode(choice.code) == choice


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_verdict_has_its_sentence(lang: str) -> None:
    said = words(lang).section("exercise")
    kinds = {"right", "incomplete", "unreadable", "differs", "follows", *slips.NAMES}
    assert {name.removeprefix("kind_") for name in said if name.startswith("kind_")} == kinds
    for stage in ("scores", "scaled", "masked", "weights", "output"):
        assert {f"hint_{stage}_1", f"hint_{stage}_2", f"worked_{stage}"} <= set(said)


def test_a_causal_bench_is_masked() -> None:
    lying = replace(PRESETS["tied"], is_causal=True)
    q, k, v = lying.vectors()
    np.testing.assert_array_equal(lying.steps().weights, ac.attention(q, k, v, allowed=ac.causal(4)).weights)
