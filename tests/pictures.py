"""Screenshots from the running app: the README's pictures, or every page in both languages, themes and two widths.

python -m tests.pictures                the README's pictures, to docs/
python -m tests.pictures --all FOLDER   every page × language × theme × width, whole pages, to FOLDER
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.running import ROOT, TIRED, WIDE, chromium, open_page, server
from ui.scenes.books import BOOKS, scenes

WIDTHS = {1400: 950, 390: 844}
SETTLED = 900  # Milliseconds after which nothing moves any more.
TRAINED = 180_000  # Milliseconds that a training may take.
TEXTS = {  # What other models than the default are shown with.
    "dish": "晚上我们吃佛跳墙",
    "two-heads": "佛祖放下佛经，来找佛跳墙。",
    "induction": "d b h f a c e d b h f a c e",
}
CUT = {"layer": 3, "head": 1, "token": 10, "edits": "c3-1-10-2"}  # "it" may no longer see "animal".
README = {
    "explore": ("explore", {"text": TIRED, "lang": "en"}, "light"),
    "explore-zh-dark": ("explore", {"text": WIDE, "lang": "zh"}, "dark"),
    "steps": ("steps", {"text": TIRED, "model": "pronoun", "lang": "en", "step": "score"}, "light"),
    "compare": ("explore", {"text": TIRED, "second": WIDE, "compare": 1, "lang": "en"}, "light"),
    "real": ("explore", {"text": TIRED, "model": "minilm", "lang": "en"}, "light"),
    "heads": ("heads", {"text": TIRED, "model": "minilm", "lang": "en"}, "light"),
    "whatif": ("whatif", {"text": TIRED, "model": "minilm", **CUT, "lang": "en"}, "light"),
    "bench": ("bench", {"lang": "en"}, "light"),
    "story": ("dish", {"scene": "asking", "lang": "zh"}, "light"),
    "learn": ("learn", {"task": "pronoun", "seed": 0, "lang": "en"}, "light"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", type=Path, metavar="FOLDER")
    folder = parser.parse_args().all
    with server() as address, chromium() as browser:
        if folder is None:
            readme(browser, address, ROOT / "docs")
        else:
            everything(browser, address, folder)


def readme(browser: Browser, address: str, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, (page, fields, theme) in README.items():
        shoot(browser, address, page, fields, theme, 1400, folder / f"{name}.png", whole=False)


def everything(browser: Browser, address: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pages = [("explore", "explore", {}), ("compare", "explore", {"compare": 1})]
    pages += [(f"steps-{step}", "steps", {"step": step}) for step in ("project", "score", "softmax", "sum")]
    pages += [(f"explore-{model}", "explore", {"model": model, "text": text}) for model, text in TEXTS.items()]
    pages += [("heads", "heads", {}), ("heads-two", "heads", {"model": "two-heads", "text": TEXTS["two-heads"]})]
    pages += [("real", "explore", {"model": "minilm"}), ("real-heads", "heads", {"model": "minilm"})]
    pages += [("whatif", "whatif", {}), ("real-whatif", "whatif", {"model": "minilm", **CUT})]
    pages += [("write", "write", {}), ("bench", "bench", {})]
    pages += [(f"{book}-{scene.id}", book, {"scene": scene.id}) for book in BOOKS for scene in scenes(book)]
    pages += [("learn", "learn", {}), ("learn-versus", "learn", {"task": "dish", "versus": "one_layer"})]
    for (name, page, fields), theme, lang, width in product(pages, ("light", "dark"), ("en", "zh"), WIDTHS):
        path = folder / f"{name}-{lang}-{theme}-{width}.png"
        shoot(browser, address, page, {"text": TIRED, "lang": lang, **fields}, theme, width, path, whole=True)


def shoot(
    browser: Browser, address: str, page: str, fields: dict, theme: str, width: int, path: Path, *, whole: bool
) -> None:
    tab = browser.new_page(viewport={"width": width, "height": WIDTHS[width]}, color_scheme=theme)
    open_page(tab, address, page, fields)
    if page == "learn":
        tab.locator(".st-key-learn .train").click()
        for run in tab.locator(".st-key-learn .run").all():
            expect(run).to_have_attribute("data-state", "finished", timeout=TRAINED)
    tab.wait_for_timeout(SETTLED)
    if whole:  # Streamlit scrolls inside the page, so the window must be as high as what it holds.
        height = tab.evaluate("document.querySelector('.stMainBlockContainer').scrollHeight")
        tab.set_viewport_size({"width": width, "height": max(WIDTHS[width], height + 20)})
        tab.wait_for_timeout(300)
    tab.screenshot(path=path)
    tab.close()
    print(path)


if __name__ == "__main__":
    main()
