"""A head's stages are values: nobody changes them afterwards, and arrays that do not fit are refused with the facts."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import attention_core as ac

ROOT = Path(__file__).resolve().parents[2]
Shape = tuple[int, ...]
GIVEN: dict[str, Shape] = {"q": (3, 5), "k": (7, 5), "v": (7, 2), "allowed": (3, 7), "bias": (3, 7)}


def given(**other: Shape) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    made = {name: rng.standard_normal(shape) for name, shape in {**GIVEN, **other}.items()}
    return {**made, "allowed": made["allowed"] > -1}


def arrays(value: object) -> dict[str, np.ndarray]:
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: array for name, array in found.items() if isinstance(array, np.ndarray)}


def test_every_array_is_read_only() -> None:
    steps = ac.attention(**given())
    handed_out = {**arrays(steps), **arrays(steps.explain(1, 2))}
    assert len(handed_out) == 13
    assert [name for name, array in handed_out.items() if array.flags.writeable] == []
    with pytest.raises(ValueError, match="read-only"):
        steps.weights[0, 0] = 1


def test_later_writes_to_the_callers_arrays_change_nothing() -> None:
    mine = given()
    steps = ac.attention(**mine)
    before = {name: array.copy() for name, array in arrays(steps).items()}
    for array in mine.values():
        assert array.flags.writeable
        array[...] = 0
    for name, array in arrays(steps).items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)


@pytest.mark.parametrize("name", GIVEN)
def test_a_read_only_view_of_a_writable_array_is_not_trusted(name: str) -> None:
    mine = given()
    view = mine[name].view()
    view.flags.writeable = False
    steps = ac.attention(**{**mine, name: view})
    before = getattr(steps, name).copy()
    mine[name][...] = 0
    np.testing.assert_array_equal(getattr(steps, name), before)


@pytest.mark.parametrize(
    ("wrong", "axis", "expected", "actual"),
    [
        ({"k": (7, 11)}, "d_head", 5, 11),
        ({"v": (11, 2)}, "key", 7, 11),
        ({"allowed": (7, 3)}, "(query, key) of allowed", (3, 7), (7, 3)),
        ({"allowed": (3, 1)}, "(query, key) of allowed", (3, 7), (3, 1)),
        ({"bias": (7,)}, "(query, key) of bias", (3, 7), (7,)),
        ({"bias": (1, 7)}, "(query, key) of bias", (3, 7), (1, 7)),
        ({"q": (5,)}, "dimensions of q", 2, 1),
        ({"k": (1, 7, 5)}, "dimensions of k", 2, 3),
        ({"v": (7,)}, "dimensions of v", 2, 1),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    wrong: dict[str, Shape], axis: str, expected: object, actual: object
) -> None:
    with pytest.raises(ac.ShapeMismatch) as caught:
        ac.attention(**given(**wrong))
    assert (caught.value.axis, caught.value.expected, caught.value.actual) == (axis, expected, actual)
    assert isinstance(caught.value, ac.AttentionError)


@pytest.mark.parametrize(
    ("x", "w", "b", "axis", "expected", "actual"),
    [
        ((3, 5), (7, 2), None, "d_model", 5, 7),
        ((3, 5), (5, 2), (7,), "d_head", 2, (7,)),
        ((3, 5), (5, 2), (1, 2), "d_head", 2, (1, 2)),
    ],
)
def test_projections_that_do_not_fit_are_refused(
    x: Shape, w: Shape, b: Shape | None, axis: str, expected: object, actual: object
) -> None:
    with pytest.raises(ac.ShapeMismatch) as caught:
        ac.project(np.ones(x), np.ones(w), None if b is None else np.ones(b))
    assert (caught.value.axis, caught.value.expected, caught.value.actual) == (axis, expected, actual)


# What the annotations promise, checked while everything runs: the package is imported through jaxtyping's hook.
CHECKED = """
from jaxtyping import install_import_hook
with install_import_hook("attention_core", "beartype.beartype"):
    import attention_core as ac
    from attention_core import cards, plain, steps, taught, trace, words
import numpy as np
rng = np.random.default_rng(0)
q, k, v = (rng.standard_normal(shape) for shape in ((3, 5), (7, 5), (7, 2)))
"""
RIGHT = """
ac.attention(q, k, v)
allowed = np.arange(21).reshape(3, 7) > 6  # Query 0 sees nothing.
whole = ac.attention(q, k, v, scale=0.5, allowed=allowed, bias=rng.standard_normal((3, 7)))
whole.explain(0, 0), whole.explain(1, 2)
single = ac.attention(*(each.astype(np.float32) for each in (q, k, v)))
assert single.output.dtype == np.float32
ac.attention(np.eye(3, dtype=int), np.eye(3, dtype=int), np.eye(3, dtype=int), allowed=ac.causal(3))
ac.project(rng.standard_normal((3, 5)), rng.standard_normal((5, 2)), np.ones(2))
grouped = ac.LayerTrace(
    index=0, kind="self", q=rng.standard_normal((8, 3, 5)), k=rng.standard_normal((2, 3, 5)),
    v=rng.standard_normal((2, 3, 7)), scale=0.3, allowed=ac.causal(3), bias=rng.standard_normal((8, 3, 3)),
)
grouped.head(5).explain(2, 1), grouped.weights(7)
assert ac.models()[0].name == "pronoun-open"
model = ac.load("pronoun")
seen = model.trace("The animal didn't cross the street because it was too tired.")
assert seen.check(full=True).passed
for layer in seen.layers:
    layer.head(0).explain(7, 1), layer.weights(0)
for token in range(len(seen.tokens)):
    seen.explain_answer(token), seen.explain_answer(token, "street")
print("checked", sorted(seen.stacks))
"""


WRONG = (
    "ac.attention(q, k[:, :4], v)",  # d_head differs
    "ac.attention(q, k, v[:5])",  # key differs
    "ac.attention(q, k, v, allowed=np.ones((3, 7)))",  # numbers where truths are due
    "ac.attention(q[0], k, v)",  # one axis too few
    "ac.attention(q.tolist(), k, v)",  # no array
    "ac.causal('3')",
    "steps.softmax(np.ones((3, 7), dtype=int))",
    "taught.sinusoids(3, '16')",
    "words.fold(3)",
    "ac.load('pronoun').trace(b'it')",
    "ac.LayerTrace(0, 'self', q[None], k[None], v[None], 0.3, np.ones((7, 3), bool))",  # queries and keys swapped
)
REPORT = """
for call in CALLS:
    try:
        eval(call)
    except Exception as error:
        print(type(error).__name__)
    else:
        print("accepted")
"""


def run_checked(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CHECKED + code]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_annotations_hold_while_everything_runs() -> None:
    done = run_checked(RIGHT)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "checked ['self']\n"


def test_and_wrong_calls_are_caught_by_them() -> None:
    done = run_checked(f"CALLS = {WRONG!r}{REPORT}")
    assert done.returncode == 0, done.stderr[-3000:]
    answers = dict(zip(WRONG, done.stdout.split(), strict=True))
    assert answers == dict.fromkeys(WRONG, "TypeCheckError")
