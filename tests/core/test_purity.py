"""The default model runs on numpy alone: loading and tracing it imports no framework."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "transformers", "streamlit", "plotly", "pandas", "matplotlib", "scipy")
USE = """
import attention_core as ac
trace = ac.load("pronoun").trace("The animal didn't cross the street because it was too tired.")
trace.check(full=True), trace.explain_answer(7), trace.layers[1].head(0).explain(7, 1)
"""


def heavy_imports(code: str) -> set[str]:
    """Which of the heavy packages a fresh interpreter has imported after running `code`."""
    report = "\nimport sys\nprint(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = set(done.stdout.split())
    assert {"sys", "json"} <= loaded
    return loaded & set(HEAVY)


def test_loading_and_tracing_imports_no_framework() -> None:
    assert heavy_imports(USE) == set()


def test_and_an_import_of_one_would_be_seen() -> None:
    assert heavy_imports(f"{USE}\nimport pandas") == {"pandas"}
    assert heavy_imports(f"{USE}\nimport attention_core.teach.model") >= {"torch"}


def test_what_can_be_trained_is_read_without_torch() -> None:
    reading = "from attention_core.teach import card, frames\nfrom attention_core.teach.tasks import TASKS"
    assert heavy_imports(f"{reading}\nfor task in TASKS.values(): task.check(task.spec(seed=3))") == set()


def test_the_server_imports_no_torch() -> None:
    # The trainings run in processes of their own.
    assert "torch" not in heavy_imports("import ui.warm\nui.warm.warm_up()\nfrom ui import films, learned, training")


def test_tokens_and_own_arrays_need_no_framework() -> None:
    use = "from attention_core import encoding, tokens\ntokens.read('the', [1], ['the'])\nac.from_weights([[1.0]])"
    assert heavy_imports(f"import attention_core as ac\n{use}") == set()
