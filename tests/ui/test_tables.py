"""A head that was saved as a table reads back, from any trace."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import attention_core as ac
from attention_core import arrays
from ui.pictures import table


def written(trace: ac.Trace) -> bytes:
    return table.write(trace, 0, 0, next(iter(trace.stacks))).encode("utf-8-sig")


def test_a_head_reads_back_to_the_last_digit() -> None:
    trace = ac.load("pronoun").trace("The animal didn't cross the street.")
    again = ac.from_named(arrays.read(written(trace)))
    np.testing.assert_array_equal(again.layers[0].weights(0), trace.layers[0].weights(0))
    assert [token.text for token in again.tokens] == [token.text for token in trace.tokens]
    assert again.notes == ()


def test_masked_cells_stay_masked_and_texts_stay_texts() -> None:
    tokens = ['a,"b"', "=1+1", "two\nlines", "墙", "<b>"]
    rng = np.random.default_rng(5)
    q, k, v = (rng.normal(size=(5, 3)) for _ in "qkv")
    trace = ac.from_arrays(q=q, k=k, v=v, allowed=ac.causal(5), tokens=tokens)
    again = ac.from_named(arrays.read(written(trace)))
    np.testing.assert_array_equal(again.layers[0].allowed, ac.causal(5))
    np.testing.assert_array_equal(again.layers[0].weights(0), trace.layers[0].weights(0))
    assert [token.text for token in again.tokens] == tokens


def test_a_rectangle_keeps_the_names_of_both_sides() -> None:
    given = np.array([[0.25, 0.5, 0.25], [1.0, 0.0, 0.0]])
    trace = ac.from_weights(given, tokens=list("abc"), query_tokens=list("xy"))
    again = ac.from_named(arrays.read(written(trace)))
    np.testing.assert_array_equal(again.layers[0].weights(0), given)
    assert [token.text for token in again.target_tokens] == ["x", "y"]


@pytest.mark.parametrize("spoil", [lambda lines: lines[:-1], lambda lines: [*lines, lines[-1]]])
def test_a_table_with_a_cell_too_few_or_too_many_is_refused(spoil: Callable) -> None:
    lines = written(ac.from_weights([[0.5, 0.5], [0.25, 0.75]])).decode().splitlines()
    with pytest.raises(ac.UnreadableArrays, match="head"):
        arrays.read("\n".join(spoil(lines)).encode())
