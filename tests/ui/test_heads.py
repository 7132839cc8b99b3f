"""The Heads page without a browser: what its picture is sent, and what it costs."""

from __future__ import annotations

import zlib
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

import attention_core as ac
from attention_core.overview import MEASURES
from tests.browser.overviews import OVERVIEWS
from ui.addresses import Selection, read_address
from ui.frame import unpack
from ui.pictures import heads
from ui.translations import LANGUAGES, words

MOST_BYTES = 600_000


def selection_of(trace: ac.Trace) -> Selection:
    state, _ = read_address({}, "en")
    first = next(iter(trace.stacks))
    return Selection(**{field.name: state[field.name] for field in fields(Selection)} | {"stack": first})


def drawn(trace: ac.Trace) -> tuple[int, dict, dict]:
    """Bytes, header and arrays of the trace's picture, its levels unpacked."""
    frame = heads.frame(trace, selection_of(trace), words("en"))
    header, arrays = unpack(frame)
    levels = np.frombuffer(zlib.decompress(arrays["pictures"].tobytes()), dtype=np.uint8)
    arrays["levels"] = levels.reshape(-1, header["rows"], header["columns"])
    return len(frame), header, arrays


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_page_draws_every_head_of_the_model_in_every_language(open_app, lang):
    app = open_app("heads", model="two-heads", text=None, lang=lang)
    header, _ = app.frame("heads")
    assert set(header["strings"]) == set(words(lang).section("heads"))
    assert header["layers"] == [{"number": 0, "n_heads": 2, "n_kv_heads": 2}]
    assert {"en": "character", "zh": "字符"}[lang] in header["strings"]["measure_next"]


@pytest.mark.parametrize("name", OVERVIEWS)
def test_the_frame_holds_the_pictures_and_measures_of_every_head(name):
    trace = OVERVIEWS[name]()
    n_bytes, header, arrays = drawn(trace)
    assert n_bytes <= MOST_BYTES
    layers = next(iter(trace.stacks.values()))
    assert [(one["number"], one["n_heads"], one["n_kv_heads"]) for one in header["layers"]] == [
        (layer.index, layer.n_heads, layer.n_kv_heads) for layer in layers
    ]
    seen = ac.overview(trace, side=max(header["rows"], header["columns"]))
    np.testing.assert_array_equal(arrays["levels"], np.stack([view.levels for view in seen.heads]))
    assert tuple(header["block"]) == seen.block
    for k, view in enumerate(seen.heads):
        for j, measure in enumerate(header["measures"]):
            value = arrays["means"][k, j]
            mean = view.measures[measure]
            assert np.isnan(value) if mean.value is None else value == np.float32(mean.value)
            assert arrays["counted"][k, j] == mean.n_rows
    assert header["measures"] == [m for m in MEASURES if m in seen.heads[0].measures]


def test_pictures_that_deflate_badly_are_made_smaller_until_they_fit(monkeypatch):
    trace = OVERVIEWS["12x12"]()
    whole = drawn(trace)[1]["rows"]
    monkeypatch.setattr(heads, "LARGEST", 100_000)
    n_bytes, header, _ = drawn(OVERVIEWS["12x12"]())
    assert header["rows"] < whole
    assert n_bytes < 110_000


def test_short_texts_name_their_tokens_and_long_ones_do_not():
    assert drawn(OVERVIEWS["cross"]())[1]["answering"] == [f"w{j}" for j in range(7)]
    assert drawn(OVERVIEWS["cross"]())[1]["asking"] == [f"q{i}" for i in range(5)]
    assert drawn(OVERVIEWS["12x12"]())[1]["asking"] is None


def test_a_trace_is_looked_at_once():
    trace, told = OVERVIEWS["one"](), []
    for _ in range(2):
        heads.frame(trace, selection_of(trace), words("en"), lambda *counts: told.append(counts))
    assert told == [(1, 1)]


class Place:
    """Stands for an empty element of the page."""

    def __init__(self) -> None:
        self.shown: list[str | None] = []

    def progress(self, share: float, text: str) -> None:
        self.shown.append(text)

    def empty(self) -> None:
        self.shown.append(None)


def test_long_work_shows_how_far_it_is_and_short_work_shows_nothing(monkeypatch):
    clock = iter([0.0, 0.1, 0.6, 0.7, 0.9, 1.0])
    # The picture's own clock: other threads go on reading theirs.
    monkeypatch.setattr(heads, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    place = Place()
    progress = heads.sign_of_work(place, words("en"))
    for done in range(1, 6):
        progress(done, 5)
    assert place.shown == [words("en")("heads.looking", done=done, total=5) for done in (2, 4)] + [None]


@pytest.mark.parametrize("n_heads", [1, 7, 144, 384, 2_000_000])
def test_the_side_fits_what_may_be_unpacked(n_heads):
    side = heads.side_for(n_heads)
    assert 1 <= side <= heads.FINEST
    assert side == 1 or n_heads * side * side <= heads.UNPACKED
