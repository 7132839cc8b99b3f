"""Our pictures as Streamlit components: thin wrappers over assets/components/<name>/<name>.js.

A component's code is a stub that imports the real module by its address, so that a browser fetches it once and a rerun
carries data alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from ui import addresses, selection
from ui.addresses import MAX_ADDRESS, STACKS, Selection
from ui.frame import pack
from ui.paths import COMPONENTS_ROUTE
from ui.translations import Words

_STUB = """
const loaded = import(new URL("{route}/{name}/{name}.js", document.baseURI).href);
const cleanups = new WeakMap();
export default function (component) {{
  const root = component.parentElement;
  cleanups.set(root, null);
  loaded.then((module) => {{
    if (cleanups.has(root)) cleanups.set(root, module.default(component));
  }});
  return () => {{
    cleanups.get(root)?.();
    cleanups.delete(root);
  }};
}}
"""


def _component(name: str) -> Callable:
    stub = _STUB.format(route=COMPONENTS_ROUTE.lstrip("/"), name=name)
    return st.components.v2.component(name, js=stub)


_explore, _compare, _heads, _steps, _learn, _link = map(
    _component, ("explore", "compare", "heads", "steps", "learn", "link")
)
_whatif = _component("whatif")
_write = _component("write")
_bench, _exercise = _component("bench"), _component("exercise")
_scene, _turn = _component("scene"), _component("turn")
_vision = _component("vision")


def explore(frame: bytes) -> bool:
    """The Explore picture. Returns whether the reader asked to walk through the chosen cell step by step."""

    def on_choice() -> None:
        chosen = selection.event("explore", "choice")
        selection.choose(_position(chosen["token"]), _position(chosen["key"]))

    result = _explore(
        key="explore",
        data=frame,
        on_choice_change=on_choice,
        on_walk_change=lambda: None,
        on_open_change=lambda: _open("explore"),
    )
    return bool(result.walk)


def vision(frame: bytes) -> None:
    """A head's row over a picture."""

    def on_choice() -> None:
        selection.choose(_position(selection.event("vision", "choice")["token"]), None)

    _vision(key="vision", data=frame, on_choice_change=on_choice)


def compare(frame: bytes) -> None:
    """Two sentences' rows for the same asker, and their difference."""
    _compare(key="compare", data=frame)


def heads(frame: bytes) -> bool:
    """Every head as a small picture. Returns whether the reader opened one; it is chosen by then."""

    def on_open() -> None:
        opened = selection.event("heads", "opened")
        if opened["stack"] in STACKS:
            selection.mark("stack", opened["stack"])
        for name in ("layer", "head"):
            number = _position(opened[name])
            if number is not None:
                selection.mark(name, number)

    return bool(_heads(key="heads", data=frame, on_opened_change=on_open).opened)


def steps(frame: bytes) -> None:
    """The walk through the four steps."""

    def on_moved() -> None:
        moved = selection.event("steps", "moved")
        selection.move(moved["step"], _position(moved["query"]), _position(moved["key"]))

    _steps(key="steps", data=frame, on_moved_change=on_moved, on_open_change=lambda: _open("steps"))


def whatif(frame: bytes, asked: Mapping[str, Callable[[], None]]) -> None:
    """Two runs side by side. `asked` does what the reader asks for: silence, cut, order, ask, drop."""
    _whatif(key="whatif", data=frame, **{f"on_{name}_change": act for name, act in asked.items()})


def learn(frame: bytes, train: Callable[[], None], stop: Callable[[object], None]) -> None:
    """Trainings as they happen. `train` and `stop` (with the number of a run) do what the reader asks for."""
    _learn(
        key="learn",
        data=frame,
        on_train_change=train,
        on_stop_change=lambda: stop(selection.event("learn", "stop")),
        on_ended_change=lambda: None,
    )


def write(frame: bytes) -> None:
    """A text that grows token by token. The picture itself asks the server for what is new (ui/written.py)."""
    _write(key="write", data=frame)


def bench(frame: bytes, changed: Callable[[object], None]) -> None:
    """The bench. `changed` takes what the reader laid on it."""
    _bench(key="bench", data=frame, on_changed_change=lambda: changed(selection.event("bench", "changed")))


def exercise(frame: bytes, check: Callable[[object], None]) -> None:
    """An exercise to fill in. `check` takes what is to be judged."""
    _exercise(key="exercise", data=frame, on_check_change=lambda: check(selection.event("exercise", "check")))


def bench_link(query: str, selected: Selection, strings: Mapping[str, str]) -> None:
    """The same as `link` on the Bench page, whose link carries the numbers themselves."""
    _copy_link(query, True, selected, strings)


def link(selected: Selection, words: Words) -> None:
    """The control that copies the link, and keeps the address bar equal to it."""
    query = addresses.address(selected)
    _copy_link(query, "text=" in query and len(query) <= MAX_ADDRESS, selected, words.section("link"))


def lesson_link(selected: Selection, words: Words) -> None:
    """The same on the Learn page, whose link carries what is trained."""
    query, is_whole = addresses.lesson_address(selected, selection.lesson())
    said = {name: words(f"link.lesson_{name}") for name in ("copied", "carries_text", "too_long")}
    _copy_link(query, is_whole, selected, {**words.section("link"), **said})


def write_link(selected: Selection, words: Words) -> None:
    """The same on the Write page, whose link carries the prompt and how it is gone on from."""
    query, is_whole = addresses.write_address(selected, selection.writer())
    said = {name: words(f"write.link_{name}") for name in ("copied", "carries_text", "too_long")}
    _copy_link(query, is_whole, selected, {**words.section("link"), **said})


def scene_link(query: str, is_whole: bool, selected: Selection, words: Words) -> None:
    """The same for a scene of a story, whose link carries what its controls say."""
    said = {name: words(f"link.lesson_{name}") for name in ("copied", "carries_text", "too_long")}
    _copy_link(query, is_whole, selected, {**words.section("link"), **said})


def scene(frame: bytes, key: str = "scene") -> None:
    """The pictures of a scene of a story; a key of its own for each where several stand on a page."""
    _scene(key=key, data=frame)


def turn(place: str, homes: Sequence[str]) -> None:
    """Draws nothing: the top of another `place` comes into sight, PageUp and PageDown press the buttons `turn_…` from
    within a box or slider, too, and where what had the keyboard is gone, the first of the widgets `homes` gets it."""
    _turn(key="turn", data=pack({"place": place, "homes": list(homes)}, {}))


def _copy_link(query: str, is_whole: bool, selected: Selection, strings: Mapping[str, str]) -> None:
    header = {
        "strings": strings,
        "language": selected.lang,
        "projector": selected.is_projected,
        "query": query,
        "is_whole": is_whole,
    }
    _link(key="link", data=pack(header, {}), width="content")


def _open(component: str) -> None:
    wanted = selection.event(component, "open")
    selection.open_instead(wanted.get("model"), wanted.get("example"))


def _position(value: object) -> int | None:
    # What a browser sends is checked like any input: a whole number, or nothing.
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
