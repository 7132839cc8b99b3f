"""One server and one browser for all tests, a fresh reader for each, and a watch over everything that a page does.

After each test the watch asserts: no error on any page, no message in the console, no request to another machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from tests.running import PATIENCE, chromium, server, wait_drawn

HERE = Path(__file__).parent
LOCAL = {"blob", "data", "about"}
SIZE = {"width": 1400, "height": 950}
N_IDLE = 4

# Opened at /steps or /learn, Streamlit first asks for its own files beside that page, then at the root.
PROBED = tuple(
    f"/{page}/_stcore/{file}"
    for page in (
        *("heads", "steps", "whatif", "write", "learn", "bench"),
        *("dish", "it", "lessons", "classroom", "interview"),
    )
    for file in ("health", "host-config")
)

# Counts what the page sends, inside the page: so that "drawn before anything was sent" is about order, not about time.
COUNT_SENT = """
window.sent = 0;
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (...data) { window.sent += 1; return send.apply(this, data); };
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


class Room:
    """Browsers that readers have left, by their options, emptied for the next reader.

    What the app's scripts compile to is kept as long as a page of the same browser is open: with one left open, the
    next page takes half of the time.
    """

    def __init__(self) -> None:
        self.idle: list[tuple[str, BrowserContext]] = []

    def take(self, browser: Browser, options: dict) -> BrowserContext:
        found = next((one for one in self.idle if one[0] == repr(options)), None)
        if found is not None:
            self.idle.remove(found)
            return found[1]
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        context.add_init_script(COUNT_SENT)
        return context

    def give(self, context: BrowserContext, options: dict, address: str) -> None:
        for page in context.pages[1:]:
            page.close()
        left = context.pages[0] if context.pages else context.new_page()
        left.goto(f"{address}/_stcore/health")
        left.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        context.clear_cookies()
        context.clear_permissions()
        context.unroute_all()
        self.idle.append((repr(options), context))
        if len(self.idle) > N_IDLE:
            self.idle.pop(0)[1].close()


ROOM = Room()


class Visits:
    """A reader's visits to the app: opens pages and notes whatever should not happen there."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser = browser
        self.address = address
        self.readers: list[tuple[BrowserContext, dict]] = []
        self.troubles: list[str] = []
        self.frames: list[object] = []
        self.hosts = {urlsplit(address).netloc}

    def reader(self, **options: object) -> BrowserContext:
        """Somebody with an empty browser."""
        # Motion is looked at in test_access.py; elsewhere it only takes time.
        options = {"viewport": SIZE, "reduced_motion": "reduce", **options}
        context = ROOM.take(self.browser, options)
        context.on("page", self.watch)
        context.on("request", self.ask)
        self.readers.append((context, options))
        return context

    def ask(self, request: Request) -> None:
        self.judge(request.url)

    def watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.troubles.append(f"error on the page: {error}"))
        page.on("console", self.hear)
        page.on("dialog", lambda dialog: (self.troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("websocket", self.listen)

    def listen(self, socket) -> None:
        self.judge(socket.url)
        socket.on("framesent", lambda frame: self.frames.append(frame))

    def judge(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in LOCAL and parts.netloc not in self.hosts:
            self.troubles.append(f"request to another machine: {url}")

    def hear(self, message: ConsoleMessage) -> None:
        probed = urlsplit(message.location["url"]).path in PROBED and "404" in message.text
        if message.type == "error" and not probed:
            self.troubles.append(f"console: {message.text} ({message.location['url']})")

    def __call__(self, path: str = "", *, reader: BrowserContext | None = None, **fields: object) -> Page:
        """Open a page of the app with these fields in its address and wait until its picture is drawn.

        The model is `pronoun` unless the fields name another, or None: then the address names none.
        """
        if path != "learn":
            fields = {name: value for name, value in {"model": "pronoun", **fields}.items() if value is not None}
        page = (self.reader() if reader is None else reader).new_page()
        page.goto(f"{self.address}/{path}" + (f"?{urlencode(fields)}" if fields else ""))
        wait_drawn(page, path or "explore")
        return page

    def follow(self, url: str, picture: str = "explore", **options: object) -> Page:
        """Somebody else opens an address that was handed on."""
        page = self.reader(**options).new_page()
        page.goto(url)
        wait_drawn(page, picture)
        return page

    def close(self) -> None:
        for context, options in self.readers:
            context.remove_listener("page", self.watch)
            context.remove_listener("request", self.ask)
            ROOM.give(context, options, self.address)
        assert self.troubles == []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def app_address() -> Iterator[str]:
    with server() as address:
        yield address


@pytest.fixture(scope="session")
def planted_address() -> Iterator[str]:
    with server(HERE / "planted.py") as address:
        yield address


@pytest.fixture
def visit(browser: Browser, app_address: str) -> Iterator[Visits]:
    visits = Visits(browser, app_address)
    yield visits
    visits.close()


@pytest.fixture
def planted(browser: Browser, planted_address: str) -> Iterator[Visits]:
    """Visits to pictures of heads that are known beforehand (heads.py)."""
    visits = Visits(browser, planted_address)
    yield visits
    visits.close()
