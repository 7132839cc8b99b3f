"""The Learn page as a reader uses it: attention is learned on screen, watched, stopped, left, opened elsewhere."""

from __future__ import annotations

import re
import time
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import reading
from tests.browser.test_access import in_theme, violations
from tests.running import PATIENCE, wait_drawn
from ui.frame import unpack

LEARN = ".st-key-learn"
LONG = {"n_steps": 5000, "lang": "en"}  # Nobody waits for these to end.
SOON = 15  # Seconds from Train to the pattern.


def train(page: Page) -> str:
    """Press Train and wait for the first frame; returns the run's address on the server."""
    with page.expect_response(re.compile("/films/")) as answer:
        page.locator(f"{LEARN} .train").click()
    expect(run(page)).to_have_attribute("data-frames", re.compile("[1-9]"), timeout=PATIENCE)
    return answer.value.url.split("?")[0]


def run(page: Page) -> Locator:
    return page.locator(f"{LEARN} .run")


def number_of(run: Locator, name: str) -> int:
    return int(run.get_attribute(f"data-{name}"))


def asked(film: str) -> dict:
    """What the server says about a run; asking counts as watching."""
    with urllib.request.urlopen(f"{film}?from=0", timeout=10) as answer:
        return unpack(answer.read())[0]


def seconds_of_work(address: str) -> float:
    """The processor time of all training processes of this server so far."""
    port, total = str(urlsplit(address).port), 0.0
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and b"attention_core.teach.worker" in read(process / "cmdline"):
            fields = read(process / "stat").rsplit(b")", 1)[-1].split()
            if port.encode() in read(Path("/proc") / fields[1].decode() / "cmdline"):
                total += (int(fields[11]) + int(fields[12])) / 100
    return total


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # It has ended meanwhile.
        return b""


def given(page: Page, sentence: int, layer: int, word: str) -> float:
    """The share that a sentence's asker gives to a word in the frame shown, as the table for screen readers says."""
    table = run(page).locator("table").nth(sentence)
    column = reading.texts(page, f"{LEARN} table >> nth={sentence} >> thead th").index(word)
    return float(table.locator("tbody tr").nth(layer).locator("td").nth(column).inner_text().rstrip("%")) / 100


def test_attention_is_learned_on_screen_and_the_film_needs_no_server(visit):
    page = visit("learn", lang="en")
    before, pressed = seconds_of_work(visit.address), time.monotonic()
    train(page)
    expect(page.locator(f"{LEARN} .moment")).to_be_visible(timeout=2 * PATIENCE)
    # On a machine that others use too, what counts is the work that was done for it.
    assert min(time.monotonic() - pressed, seconds_of_work(visit.address) - before) <= SOON
    page.locator(f"{LEARN} .stop").click()
    expect(run(page)).to_have_attribute("data-state", "stopped")
    page.locator(f"{LEARN} .moment").click()
    page.wait_for_timeout(500)  # The table is written when the film rests.
    assert given(page, 0, 1, "animal") > 0.5
    assert given(page, 1, 1, "street") > 0.5

    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    n_sent = len(visit.frames)
    page.locator(f"{LEARN} [data-action=rewind]").click()
    expect(run(page)).to_have_attribute("data-step", "0")
    page.wait_for_timeout(500)
    assert given(page, 0, 1, "animal") < 0.2
    page.locator(f"{LEARN} [data-action=on_ten]").click()
    expect(run(page)).to_have_attribute("data-step", "250")
    page.locator(f"{LEARN} [data-action=scrub]").fill("3")
    expect(run(page)).to_have_attribute("data-step", "75")
    page.locator(f"{LEARN} [data-action=play]").click()
    expect(run(page)).to_have_attribute("data-step", str(25 * (number_of(run(page), "frames") - 1)))
    assert (requests, len(visit.frames) - n_sent) == ([], 0)


def test_leaving_the_page_ends_the_training_within_two_seconds(visit):
    page = visit("learn", seed=1, **LONG)
    film = train(page)
    page.get_by_role("link", name="Explore").click()
    page.wait_for_selector(f"{LEARN} .run", state="detached")
    time.sleep(2)
    left = asked(film)
    assert left["state"] == "stopped"
    assert asked(film)["n_frames"] == left["n_frames"]
    page.get_by_role("link", name="Learn").click()
    expect(run(page)).to_have_attribute("data-state", "stopped", timeout=PATIENCE)
    expect(run(page).locator(".state")).to_contain_text("nobody was watching")


def test_a_reload_in_the_middle_comes_back_and_says_what_happened(visit):
    page = visit("learn", seed=2, d_head=3, **LONG)
    train(page)
    n_frames, address = number_of(run(page), "frames"), page.url
    page.reload()
    wait_drawn(page, "learn")
    assert page.url == address
    expect(run(page)).to_have_attribute("data-state", re.compile("running|stopped"), timeout=PATIENCE)
    page.wait_for_function(
        """n => [...document.querySelectorAll('.st-key-learn *')].some((host) =>
        Number(host.shadowRoot?.querySelector('.run')?.dataset.frames) >= n)""",
        arg=n_frames,
        timeout=PATIENCE,
    )
    expect(run(page).locator(".state")).to_contain_text(re.compile(r"step \d+"))


@pytest.fixture
def finished(visit) -> Page:
    page = visit("learn", lang="en", seed=17, d_head=3, n_steps=50)
    train(page)
    expect(run(page)).to_have_attribute("data-state", "finished", timeout=PATIENCE)
    return page


def test_a_finished_run_says_why_it_fell_short_and_opens_elsewhere(visit, finished, tmp_path):
    page = finished
    expect(run(page).locator(".why")).to_contain_text("50 instead of 2000")
    for theme in ("dark", "light"):
        in_theme(page, theme, "learn")
        assert violations(page) == [], theme
    page.locator(".st-key-use_0 button").first.click()
    with page.expect_download() as download:
        page.get_by_text("Download (.safetensors)").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name == "pronoun-seed-17-d_head-3-n_steps-50.safetensors"
    page.get_by_text("Open in Explore").click()
    wait_drawn(page)
    reading.wait_address(page, model="run:pronoun~seed=17~d_head=3~n_steps=50")
    trained = reading.titles(page, ".st-key-explore .heat-grid .cell")
    page.get_by_role("link", name="Learn").click()
    wait_drawn(page, "learn")
    page.locator(".st-key-load_box button").first.click()
    page.locator("input[type=file]").set_input_files(file)
    page.wait_for_selector(".st-key-explore .view[data-revision]", timeout=PATIENCE)
    page.wait_for_function("() => new URLSearchParams(location.search).get('model').startsWith('file:')")
    assert parse_qs(urlsplit(page.url).query)["model"][0].startswith("file:pronoun-seed-17-d_head-3")
    assert reading.titles(page, ".st-key-explore .heat-grid .cell") == trained
    other = visit.follow(page.url)
    expect(other.locator(".st-key-open_card")).to_be_visible()
