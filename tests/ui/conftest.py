"""Runs the app's script without a browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from streamlit.testing.v1 import AppTest

from tests.running import ROOT
from ui.frame import unpack

SECONDS = 30  # A first run imports everything; a busy machine may need this long.


class App:
    """One reader's session: open an address, act, read what a picture was sent."""

    def __init__(self, path: str, fields: Mapping[str, object]) -> None:
        self.test = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=SECONDS)
        for name, value in fields.items():
            self.test.query_params[name] = str(value)
        self.test.switch_page(f"../pages/{path}.py").run()

    def go(self, path: str) -> App:
        self.test.switch_page(f"../pages/{path}.py").run()
        return self

    def frame(self, picture: str) -> tuple[dict, dict]:
        """Header and arrays that the picture of that name was sent in the last run."""
        (found,) = self.frames(picture)
        return found

    def frames(self, picture: str) -> list[tuple[dict, dict]]:
        """Of every picture of that name on the page, in their order."""
        protos = (e.proto for e in self.test.get("bidi_component"))
        return [unpack(proto.bytes) for proto in protos if proto.component_name == picture]

    def has(self, picture: str) -> bool:
        return any(e.proto.component_name == picture for e in self.test.get("bidi_component"))

    def said(self) -> str:
        """Every note and warning on the page."""
        return "\n".join(e.value for kind in ("warning", "info", "markdown") for e in self.test.get(kind))

    def type(self, text: str, key: str = "text") -> App:
        self.test.text_input(key=key).set_value(text).run()
        return self

    def query(self) -> str:
        """The address that the page asks the browser to show."""
        return self.frame("link")[0]["query"]


@pytest.fixture
def open_app() -> Callable[..., App]:
    def opened(path: str = "explore", **fields: object) -> App:
        """The model is `pronoun` unless the fields name another, or None: then the address names none."""
        if path != "learn":
            fields = {name: value for name, value in {"model": "pronoun", **fields}.items() if value is not None}
        app = App(path, fields)
        assert not app.test.exception
        return app

    return opened
