"""The app as a user runs it, and Chromium as a user looks at it: for browser tests, pictures and benchmarks."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 30_000  # Milliseconds that a busy machine may take before a wait counts as failed.

PICTURES = dict.fromkeys(("dish", "it", "lessons"), "scene")  # What a page draws, where it has another name.

TIRED = "The animal didn't cross the street because it was too tired."
WIDE = "The animal didn't cross the street because it was too wide."


@contextmanager
def server(script: Path = ROOT / "app.py") -> Iterator[str]:
    """The app on a free port of this machine; yields its address. Ended by its own process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    options = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    address = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryFile() as said:  # Not a pipe: nobody reads it while the app runs.
        process = subprocess.Popen(command + options, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT)
        try:
            wait_until_up(address, process, said)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=20)


def wait_until_up(address: str, process: subprocess.Popen, said: IO[bytes]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            said.seek(0)
            raise RuntimeError(said.read().decode())
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError("the server did not come up within 30 s")


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def open_page(page: Page, address: str, path: str = "", fields: Mapping[str, object] | None = None) -> None:
    """Open a page of the app and wait until its picture is drawn."""
    page.goto(f"{address}/{path}" + (f"?{urlencode(fields)}" if fields else ""))
    wait_drawn(page, PICTURES.get(path, path) or "explore")


def wait_drawn(page: Page, picture: str = "explore") -> None:
    """Until Streamlit is at rest and the picture has drawn a frame."""
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=PATIENCE)
    page.wait_for_selector(f".st-key-{picture} .view[data-revision]", timeout=PATIENCE)
