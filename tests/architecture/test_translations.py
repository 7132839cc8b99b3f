"""English and Chinese are complete and say the same: no key is missing or left over, no placeholder differs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.architecture.translations import LANGUAGES, addresses, problems, read, text_at


def test_the_translations_are_complete_and_used(root: Path) -> None:
    assert problems(root) == []


def test_and_there_are_many(root: Path) -> None:
    assert len(addresses(read(root, "en"))) > 150


def test_chinese_is_chinese(root: Path) -> None:
    sections = read(root, "zh")
    texts = {key: re.sub(r"\{\w+\}", "", text_at(sections, key)) for key in addresses(sections)}
    english = [key for key, text in texts.items() if text.isascii() and len(re.findall(r"[A-Za-z]{3,}", text)) > 1]
    assert english == []


# A small app with every way of asking for a sentence.
TOML = """
[nav]
explore = "Explore"
steps = "Steps"

[notes]
field_lang = "language {name}"
field_text = "sentence"
second = "second"

[explore]
walk = "walk"
cell_masked = "masked"
cell_nokeys = "no keys"
rest_asks_one = "one"
ribbon_name = "words"
corner = "{asks} and {answers}"
no_rows = "no rows"
legend = "legend"
"""
PYTHON = """
def page(words, name, note, label="notes.second"):
    words(f"nav.{name}"), words(f"notes.field_{note}"), words(label)
    words("notes.field_lang", name=name)
    return words.section("explore"), PAGES / "steps.py"
"""
SCRIPT = """
import { other } from "../shared/other.js";
// strings.of_old is no more
const name = (strings, state) => strings[`cell_${state}`];
const key = `rest_${direction}${rest.length === 1 ? "_one" : ""}`;
node.textContent = frame.strings.walk;
node.title = model.strings[this.side === "askers" ? "ribbon_name" : "corner"];
"""
SHARED = """
const { legend } = model.strings;
const kind = (i, j) => (open ? "value" : "no_rows");
export const other = (spec) => spec.strings[spec.kind(1, 2)];
"""
FILES = {
    "ui/page.py": PYTHON,
    "ui/main.py": 'PAGE_NAMES = ("explore", "steps")',
    "assets/components/explore/explore.js": SCRIPT,
    "assets/components/shared/other.js": SHARED,
    **{f"assets/i18n/{language}.toml": TOML for language in LANGUAGES},
}


@pytest.fixture
def app(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_every_way_of_asking_is_understood(app: Path) -> None:
    assert problems(app) == []


EN, ZH = (f"assets/i18n/{language}.toml" for language in LANGUAGES)
PAGE, EXPLORE, OTHER = "ui/page.py", "assets/components/explore/explore.js", "assets/components/shared/other.js"


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (ZH, 'walk = "walk"', "", "zh lacks explore.walk"),
        (EN, 'walk = "walk"', "", "zh alone has explore.walk"),
        (ZH, '"walk"', '" "', "zh: explore.walk is empty"),
        (ZH, "{answers}", "{answer}", "zh: explore.corner has the placeholders ['answer', 'asks'], not"),
        (EN, "[explore]", '[explore]\nleft_over = "x"', "explore.left_over is never used"),
        (EN, "[nav]", '[nav]\nbrand = "x"', "nav.brand is never used"),
        (EN, "[notes]", '[notes]\nthird = "x"', "notes.third is never used"),
        (PAGE, "notes.field_lang", "notes.field_long", f"{PAGE} asks for notes.field_long, which is not there"),
        (PAGE, "notes.second", "notes.third", f"{PAGE} asks for notes.third, which is not there"),
        (PAGE, "notes.field_{note}", "notes.fields_{note}", f"{PAGE} asks for notes.fields_*, which is not there"),
        (PAGE, "notes.field_{note}", "notes.{note}", f"{PAGE} asks for notes.*, which is not there"),
        (PAGE, 'words(f"nav.{name}")', 'words("nav.explore")', "nav.steps is never used"),
        ("ui/main.py", '"steps"', '"step"', "ui/page.py asks for nav.step, which is not there"),
        (PAGE, ", name=name", "", f"{PAGE} leaves ['name'] of notes.field_lang unfilled"),
        (EXPLORE, "frame.strings.walk", "frame.strings.run", "explore.walk is never used"),
        (EXPLORE, "frame.strings.walk", "frame.strings.run", f"{EXPLORE} asks for run, which is not there"),
        (EXPLORE, "cell_$", "cells_$", f"{EXPLORE} asks for cells_*, which is not there"),
        (EXPLORE, '"ribbon_name"', '"ribbon"', f"{EXPLORE} asks for ribbon, which is not there"),
        (EXPLORE, "rest_$", "left_$", "explore.rest_asks_one is never used"),
        (EXPLORE, "is no more", "is\nstrings.of_old", f"{EXPLORE} asks for of_old, which is not there"),
        (EXPLORE, "shared/other.js", "shared/another.js", "explore.legend is never used"),
        (OTHER, "{ legend }", "{ legends }", f"{OTHER} asks for legends, which is not there"),
        (OTHER, '"no_rows"', '"rows"', "explore.no_rows is never used"),
    ],
)
def test_and_what_is_planted_is_found(app: Path, file: str, old: str, new: str, expected: str) -> None:
    assert old in FILES[file]
    (app / file).write_text(FILES[file].replace(old, new), encoding="utf-8")
    assert any(problem.startswith(expected) for problem in problems(app)), problems(app)


def test_a_key_planted_in_the_real_app_is_found(root: Path, tmp_path: Path) -> None:
    for folder in ("ui", "pages", "assets"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    before = set(problems(tmp_path))
    for language in LANGUAGES:
        path = tmp_path / "assets" / "i18n" / f"{language}.toml"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("[explore]\n", '[explore]\nnobody_asks = "…"\n'), encoding="utf-8")
    assert set(problems(tmp_path)) - before == {"explore.nobody_asks is never used"}
