"""How fast the app answers: cold start to the first picture, last key press to the redrawn arcs.

    python -m benchmarks.interaction

Prints milliseconds and their budgets (headless Chromium, this machine). Exits with 1 where a budget is missed.
"""

from __future__ import annotations

import statistics
import sys
import time

from playwright.sync_api import Page

from tests.running import chromium, open_page, server

ROUNDS = 10
SETTLED = 600  # Milliseconds after which the half-typed word has been drawn.
BUDGETS = {"cold start to first picture": 4000, "last key press to redrawn arcs": 250}

# From the next key that goes down to the first frame in which the sentence under the picture names the noun (it is set
# together with the arcs); measured by the browser's own clock.
WATCH = """noun => {
  const statement = () => [...document.querySelectorAll('.st-key-explore *')]
    .map((element) => element.shadowRoot?.querySelector('.statement')).find(Boolean);
  window.answered = new Promise((done) => {
    window.addEventListener('keydown', () => {
      const start = performance.now();
      const look = () => {
        if (statement()?.textContent.includes(noun)) done(performance.now() - start);
        else requestAnimationFrame(look);
      };
      look();
    }, { once: true, capture: true });
  });
}"""


def main() -> int:
    figures = {}
    with chromium() as browser:
        start = time.perf_counter()
        with server() as address:
            page = browser.new_page(viewport={"width": 1400, "height": 950})
            open_page(page, address)
            figures["cold start to first picture"] = [1000 * (time.perf_counter() - start)]
            figures["last key press to redrawn arcs"] = [typed(page, turn) for turn in range(ROUNDS)]
            page.close()
    missed = False
    for name, times in figures.items():
        middle, budget = statistics.median(times), BUDGETS[name]
        missed |= middle > budget
        print(f"{name}: median of {len(times)} {middle:.0f} ms ({min(times):.0f}–{max(times):.0f})", end=", ")
        print(f"budget {budget} ms, ratio {middle / budget:.2f}")
    return int(missed)


def typed(page: Page, turn: int) -> float:
    """Milliseconds from the last key of the changed word to a picture that points at the other noun."""
    old, new, noun = ("tired", "wide", "street") if turn % 2 == 0 else ("wide", "tired", "animal")
    page.locator(".st-key-text input").press("End")
    page.keyboard.press("ArrowLeft")
    for _ in old:
        page.keyboard.press("Backspace")
    page.keyboard.type(new[:-1])
    page.wait_for_timeout(SETTLED)
    page.evaluate(WATCH, noun)
    page.keyboard.press(new[-1])
    return page.evaluate("window.answered")


if __name__ == "__main__":
    sys.exit(main())
