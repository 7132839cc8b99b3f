"""`attention_core` computes, `ui` draws, `pages` arrange: enforced, with a planted breach of every rule to prove it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.layout import sources, violations


def test_the_layout_is_kept(root: Path) -> None:
    assert violations(root) == []


def test_and_every_file_was_looked_at(root: Path) -> None:
    names = {path.relative_to(root).as_posix() for path, _ in sources(root)}
    assert names >= {"app.py", "ui/main.py", "ui/pictures/explore.py", "pages/explore.py", "attention_core/steps.py"}
    assert "attention_core/teach/model.py" in names


def spoilt(root: Path, folder: Path, file: str, line: str) -> list[str]:
    """The breaches that a copy of `file` has once `line` has been added, beyond those it had before."""
    path = folder / file
    path.parent.mkdir(parents=True)
    path.write_text((root / file).read_text(encoding="utf-8") if (root / file).exists() else "", encoding="utf-8")
    before = violations(folder)
    path.write_text(path.read_text(encoding="utf-8") + f"\n\n{line}\n", encoding="utf-8")
    return [each for each in violations(folder) if each not in before]


@pytest.mark.parametrize(
    ("file", "line", "breach"),
    [
        ("pages/x.py", "import numpy as np", "imports numpy"),
        ("pages/x.py", "from numpy import exp", "imports numpy.exp"),
        ("pages/x.py", "def f():\n    import math", "imports math"),
        ("pages/x.py", "import explore", "imports explore"),
        ("pages/x.py", "from pages import steps", "imports pages.steps"),
        ("pages/x.py", "from pages.steps import words", "imports pages.steps.words"),
        ("pages/x.py", "from . import steps", "imports pages.steps"),
        ("pages/x.py", "import plotly.express", "imports plotly.express"),
        ("pages/x.py", "import streamlit as st\nst.session_state.layer = 0", "uses session_state"),
        ("pages/x.py", "from streamlit import session_state", "uses session_state"),
        ("pages/x.py", "@st.cache_data\ndef f(): ...", "uses cache_data"),
        ("pages/x.py", "st.write('Type a sentence.')", "says 'Type a sentence.'"),
        ("pages/x.py", "st.write(f'Layer {layer} of {n}')", "says 'Layer '"),
        ("pages/x.py", "st.write('输入一句话')", "says '输入一句话'"),
        ("pages/x.py", "width = 3 * n", "computes 3 * n"),
        ("pages/x.py", "half = n / 2", "computes n / 2"),
        ("pages/x.py", "n += 1", "computes n += 1"),
        ("pages/x.py", "np = __import__('numpy')", "uses __import__"),
        ("attention_core/steps.py", "import streamlit", "imports streamlit"),
        ("attention_core/steps.py", "import torch", "imports torch"),
        ("attention_core/steps.py", "def f():\n    from torch import nn", "imports torch.nn"),
        ("attention_core/steps.py", "from safetensors.torch import load", "imports safetensors.torch.load"),
        ("attention_core/trace.py", "import ui.selection", "imports ui.selection"),
        ("attention_core/cards.py", "from attention_core.teach import card", "imports attention_core.teach.card"),
        ("attention_core/cards.py", "from .teach.model import Taught", "imports attention_core.teach.model.Taught"),
        ("attention_core/capture/layers.py", "import streamlit", "imports streamlit"),
        ("attention_core/capture/real.py", "import attention_core.teach.card", "imports attention_core.teach.card"),
        ("attention_core/trace.py", "import transformers", "imports transformers"),
        ("attention_core/teach/model.py", "import plotly", "imports plotly"),
        ("attention_core/teach/runs.py", "import torch", "imports torch"),
        ("attention_core/teach/tasks/dish.py", "from torch import nn", "imports torch.nn"),
        (
            "attention_core/teach/card.py",
            "from attention_core.teach import trainer",
            "imports attention_core.teach.trainer",
        ),
        ("attention_core/taught.py", "import importlib\nimportlib.import_module('torch')", "uses import_module"),
        ("ui/card.py", "import torch", "imports torch"),
        ("ui/card.py", "import starlette.routing", "imports starlette.routing"),
        ("ui/card.py", "import pandas as pd", "imports pandas"),
        ("ui/card.py", "from pages import explore", "imports pages.explore"),
        ("ui/card.py", "st.session_state['lang'] = 'en'", "uses session_state"),
        ("ui/card.py", "f = st.cache_resource(f)", "uses cache_resource"),
        ("ui/pictures/parts.py", "from attention_core.teach import model", "imports attention_core.teach.model"),
        ("ui/films.py", "from attention_core.teach.worker import main", "imports attention_core.teach.worker.main"),
        ("app.py", "import attention_core", "imports attention_core"),
        ("app.py", "import numpy", "imports numpy"),
    ],
)
def test_and_a_breach_of_it_is_found(root: Path, tmp_path: Path, file: str, line: str, breach: str) -> None:
    found = spoilt(root, tmp_path / "copy", file, line)
    assert any(each.startswith(f"{file}:") and each.endswith(f" {breach}") for each in found), found


@pytest.mark.parametrize(
    "line",
    [
        '"""What this page is for: words in a docstring."""',
        "st.switch_page(PAGES / 'steps.py')",
        "words('controls.sentence')",
        "from attention_core import Trace",
        "def f(trace: Trace | None) -> None: ...",
    ],
)
def test_and_what_is_allowed_is_no_breach(root: Path, tmp_path: Path, line: str) -> None:
    assert spoilt(root, tmp_path / "copy", "pages/x.py", line) == []
