"""Which models a reader may name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ui import allowed


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("owner/model", "hub:owner/model"),
        (" openai-community/gpt2 ", "hub:openai-community/gpt2"),
        ("https://huggingface.co/owner/model/tree/main", "hub:owner/model"),
        ("hf.co/owner/model", "hub:owner/model"),
        ("/no/such/folder", "dir:/no/such/folder"),
        ("/a/../b", "dir:/b"),
        ('"/a b/c"', "dir:/a b/c"),
    ],
)
def test_what_is_typed_becomes_a_name(typed: str, name: str) -> None:
    assert allowed.name_of(typed) == name


def test_a_path_from_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert allowed.name_of("~/bert") == f"dir:{tmp_path}/bert"


@pytest.mark.parametrize("typed", ["", "   ", "bert", "a/b/c", "own er/model", "中文/模型", "owner/../model", "owner/"])
def test_anything_else_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match=r"^"):
        allowed.name_of(typed)


@pytest.mark.parametrize(
    ("given", "local", "hub"),
    [
        ("local,hub", True, True),
        ("hub", False, True),
        (" Local ", True, False),
        ("", False, False),
        ("x", False, False),
    ],
)
def test_the_server_is_started_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str, local: bool, hub: bool
) -> None:
    monkeypatch.setenv("ATTENTION_MODELS", given)
    monkeypatch.setenv("ATTENTION_MODEL_DIRS", str(tmp_path))
    assert allowed.is_allowed(f"dir:{tmp_path}/model") is local
    assert allowed.is_allowed("hub:owner/model") is hub


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        (None, False),
        ("0.0.0.0", False),
        ("example.org", False),
    ],
)
def test_without_a_word_folders_are_for_a_loopback_address(
    monkeypatch: pytest.MonkeyPatch, address: str | None, local: bool
) -> None:
    monkeypatch.delenv("ATTENTION_MODELS", raising=False)
    monkeypatch.setattr(allowed.st, "get_option", {"server.address": address}.__getitem__)
    assert allowed.prefixes() == (("dir:",) if local else ())


def test_never_outside_of_the_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        (folder / "model").mkdir(parents=True)
    (inside / "link").symlink_to(outside / "model")
    monkeypatch.setenv("ATTENTION_MODELS", "local")
    monkeypatch.setenv("ATTENTION_MODEL_DIRS", str(inside))
    assert allowed.is_allowed(f"dir:{inside}/model")
    assert not allowed.is_allowed(f"dir:{outside}/model")
    assert not allowed.is_allowed(f"dir:{inside}/../outside/model")
    assert not allowed.is_allowed(f"dir:{inside}/link")
    assert not allowed.is_allowed(f"dir:{tmp_path}/inside-not/model")
