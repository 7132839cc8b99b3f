"""Folders that are broken, or made to do harm: each gets its sentence, nothing of theirs runs, the process lives on."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import attention_core as ac
from attention_core.capture import memory
from tests.core.capture_words import saved
from tests.core.capture_zoo import GROUPED, text

CAUSAL = text("LlamaConfig", "LlamaForCausalLM", **GROUPED)
ROOT = Path(__file__).resolve().parents[2]
N_200_GB = 200_000_000_000
Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing wrong in it."""
    return saved(CAUSAL, tmp_path_factory.mktemp("models") / "whole")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "model")


def changed(name: str, **facts: Any) -> Damage:
    """The JSON file with these entries; None takes one out."""

    def change(folder: Path) -> None:
        before = json.loads((folder / name).read_text())
        after = {key: value for key, value in {**before, **facts}.items() if value is not None}
        (folder / name).write_text(json.dumps(after))

    return change


def written(name: str, content: str | bytes) -> Damage:
    data = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / name).write_bytes(data)


def cut(name: str, n: int) -> Damage:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:n])


def moved_out(name: str) -> Damage:
    """The file lies beside the folder, and a link leads to it."""

    def move(folder: Path) -> None:
        (folder / name).rename(folder.parent / name)
        (folder / name).symlink_to(folder.parent / name)

    return move


def sharded(shard: str = "model-00001-of-00001.safetensors", **about: Any) -> Damage:
    """The weights under another name, and an index that says `shard`."""

    def divide(folder: Path) -> None:
        names = load_file(folder / "model.safetensors")
        (folder / "model.safetensors").rename(folder / "model-00001-of-00001.safetensors")
        index = {"metadata": about, "weight_map": dict.fromkeys(names, shard)}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    return divide


def header(shape: list[Any], n_bytes: int, **more: Any) -> bytes:
    facts = {"model.embed_tokens.weight": {"dtype": "F32", "shape": shape, "data_offsets": [0, n_bytes], **more}}
    said = json.dumps(facts).encode()
    return struct.pack("<Q", len(said)) + said


def not_finite(value: float) -> Damage:
    def spoil(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        tensors["model.layers.1.self_attn.q_proj.weight"][3, 5] = value
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})

    return spoil


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save(CAUSAL.make().state_dict(), folder / "pytorch_model.bin")


def without(*patterns: str) -> Damage:
    return lambda folder: [path.unlink() for pattern in patterns for path in folder.glob(pattern)]


def several(*damages: Damage) -> Damage:
    return lambda folder: [damage(folder) for damage in damages]


HOSTILE: dict[str, tuple[Damage, str, str]] = {
    "config: broken": (written("config.json", '{"model_type": '), "damaged", "config.json is damaged"),
    "config: a list": (written("config.json", "[1, 2]"), "damaged", "holds no object"),
    "config: no text": (written("config.json", b"\xff\xfe\x00"), "damaged", "config.json is damaged"),
    "config: missing": (without("config.json"), "no_config", "no config.json"),
    "config: a folder": (several(without("config.json"), lambda f: (f / "config.json").mkdir()), "damaged", "damaged"),
    "config: a pipe": (several(without("config.json"), lambda f: os.mkfifo(f / "config.json")), "damaged", "no file"),
    "config: nested": (written("config.json", '{"a":' * 100_000), "damaged", "config.json is damaged"),
    "config: huge": (written("config.json", '{"a":"' + "x" * 5_000_000 + '"}'), "damaged", "5.0 MB, where 4.0 MB"),
    "config: a number without end": (written("config.json", "9" * 100_000), "damaged", "config.json is damaged"),
    "config: unknown": (changed("config.json", model_type="no-such-thing"), "damaged", "no-such-thing"),
    "config: wide": (changed("config.json", hidden_size=10**12), "damaged", "does not describe these weights"),
    "config: wider": (changed("config.json", hidden_size=10**18), "damaged", "does not load"),
    "config: too wide": (changed("config.json", intermediate_size=10**9), "damaged", "does not describe these weights"),
    "config: wide words": (changed("config.json", vocab_size=10**9), "damaged", "does not describe these weights"),
    "config: deep": (changed("config.json", num_hidden_layers=10**12), "damaged", "num_hidden_layers"),
    "config: labels": (changed("config.json", num_labels=10**12), "damaged", "num_labels"),
    "config: no heads": (changed("config.json", num_attention_heads=0, head_dim=None), "damaged", "does not load"),
    "config: a word for a number": (changed("config.json", hidden_size="x"), "damaged", "does not load"),
    "config: another type": (changed("config.json", dtype="system"), "damaged", "does not load"),
    "config: quantised": (
        changed("config.json", quantization_config={"quant_method": "bitsandbytes"}),
        "quantised",
        "quantised",
    ),
    "config: other weights": (changed("config.json", transformers_weights="../x.safetensors"), "damaged", "weights"),
    "code: config": (changed("config.json", auto_map={"AutoModel": "evil.Model"}), "remote_code", "code of its own"),
    "code: inside": (
        changed("config.json", text_config={"auto_map": {"AutoConfig": "evil.C"}}),
        "remote_code",
        "config.json has an auto_map",
    ),
    "code: tokenizer": (
        changed("tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Words", None]}),
        "remote_code",
        "tokenizer_config.json has an auto_map",
    ),
    "weights: missing": (without("*.safetensors"), "no_weights", "no weights"),
    "weights: pickled": (pickled, "pickled", r"pickled \(pytorch_model.bin\).*save_file"),
    "weights: cut in the header": (cut("model.safetensors", 100), "damaged", "cut off"),
    "weights: cut": (cut("model.safetensors", 9_000), "damaged", "describes .* and the file has"),
    "weights: empty": (written("model.safetensors", b""), "damaged", "safetensors"),
    "weights: zeros": (written("model.safetensors", bytes(64)), "damaged", "safetensors"),
    "weights: no header": (written("model.safetensors", struct.pack("<Q", 2) + b"[]"), "damaged", "safetensors"),
    "weights: a shape below 0": (written("model.safetensors", header([-1, 4], 16) + bytes(16)), "damaged", "shape"),
    "weights: an unknown kind": (
        written("model.safetensors", header([4], 16, dtype="X9") + bytes(16)),
        "damaged",
        "safetensors",
    ),
    "weights: others": (written("model.safetensors", header([4], 16) + bytes(16)), "damaged", "files hold 4"),
    "weights: NaN": (not_finite(float("nan")), "damaged", "layers.1.self_attn.q_proj.weight holds a number"),
    "weights: infinite": (not_finite(float("inf")), "damaged", "not finite"),
    "weights: 200 GB claimed": (
        written("model.safetensors", header([N_200_GB // 4], N_200_GB)),
        "too_large",
        "needs 200.1 GB of memory and .* GB are available",
    ),
    "weights: 200 GB by the index": (sharded(total_size=N_200_GB), "too_large", "needs 200.1 GB"),
    "link: weights": (moved_out("model.safetensors"), "outside", "'model.safetensors' leads outside"),
    "link: config": (moved_out("config.json"), "outside", "'config.json' leads outside"),
    "link: words": (moved_out("tokenizer.json"), "outside", "'tokenizer.json' leads outside"),
    "shard: above": (sharded("../model.safetensors"), "outside", "'../model.safetensors' leads outside"),
    "shard: anywhere": (sharded("/etc/passwd"), "outside", "'/etc/passwd' leads outside"),
    "shard: below": (sharded("a/b.safetensors"), "outside", "leads outside"),
    "shard: pickled": (sharded("evil.bin"), "pickled", "pickled"),
    "shard: missing": (sharded("model-00002-of-00002.safetensors"), "no_weights", "00002-of-00002.* is missing"),
    "index: a list": (several(sharded(), written("model.safetensors.index.json", "[]")), "damaged", "index.json"),
    "index: empty": (several(sharded(), written("model.safetensors.index.json", "{}")), "damaged", "names no files"),
    "tokenizer: missing": (without("tokenizer*"), "no_tokenizer", "no tokenizer"),
    "tokenizer: settings only": (without("tokenizer.json"), "no_tokenizer", "no tokenizer"),
    "tokenizer: made up": (
        several(without("tokenizer.json"), changed("tokenizer_config.json", tokenizer_class="BertTokenizer")),
        "no_tokenizer",
        "no tokenizer",
    ),
    "tokenizer: nonsense": (written("tokenizer.json", '{"model": {"type": "evil"}}'), "damaged", "tokenizer"),
    "tokenizer: broken": (written("tokenizer.json", "{"), "damaged", "tokenizer"),
    "tokenizer: no settings": (written("tokenizer_config.json", "7"), "damaged", "holds no object"),
    "tokenizer: huge": (
        lambda f: os.truncate(f / "tokenizer.json", 200_000_000),
        "damaged",
        "200.0 MB, where 128.0 MB are enough",
    ),
    "tokenizer: another model's": (
        lambda f: saved(text("LlamaConfig", "LlamaForCausalLM", **{**GROUPED, "vocab_size": 17}), f),
        "other_vocabulary",
        "up to 98.*knows 17",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_each_is_refused_in_a_sentence(folder: Path, name: str) -> None:
    damage, kind, said = HOSTILE[name]
    damage(folder)
    with pytest.raises(ac.UnsupportedModel, match=said) as caught:
        ac.load(folder)
    assert caught.value.kind == kind
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)


def test_what_is_refused_is_not_refused_for_another_reason(folder: Path) -> None:
    assert ac.load(folder).trace("the cat").check(full=True).passed
    sharded()(folder)
    assert ac.load(folder).trace("the cat").check(full=True).passed


HARM = """
import json, os, sys
from pathlib import Path
import attention_core as ac
for folder in map(Path, sys.argv[1:]):
    try:
        ac.load(folder).trace("the cat")
        print("loaded", folder.name)
    except ac.UnsupportedModel as error:
        print(error.kind, folder.name)
print("alive")
"""


class Bomb:
    """What a pickle can do to who reads it."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.file),)


def test_nothing_of_theirs_is_run(whole: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    code = f"import os\nos.mkdir({str(ran)!r})\nclass Config: ...\nclass Model: ...\nclass Words: ...\n"
    template = "{{ ''.__class__.__mro__[1].__subclasses__() }}{% include '/etc/passwd' %}{% for"
    harms: dict[str, Damage] = {
        "config": several(
            changed("config.json", model_type="evil", auto_map={"AutoConfig": "evil.Config", "AutoModel": "evil.Model"})
        ),
        "known": changed("config.json", auto_map={"AutoModelForCausalLM": "evil.Model"}, trust_remote_code=True),
        "words": changed(
            "tokenizer_config.json", tokenizer_class="Words", auto_map={"AutoTokenizer": ["evil.Words", "evil.Words"]}
        ),
        "pickle": several(without("*.safetensors"), lambda f: torch.save({"a": Bomb(ran)}, f / "pytorch_model.bin")),
        "named": several(
            changed("config.json", transformers_weights="evil.bin"),
            lambda f: torch.save({"a": Bomb(ran)}, f / "evil.bin"),
        ),
        "template": several(
            written("chat_template.jinja", template), changed("tokenizer_config.json", chat_template=template)
        ),
    }
    for name, harm in harms.items():
        folder = shutil.copytree(whole, tmp_path / name)
        (folder / "evil.py").write_text(code)
        harm(folder)
    done = subprocess.run(
        [sys.executable, "-c", HARM, *(str(tmp_path / name) for name in harms)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.stdout.split("\n")[:-1] == [
        *("remote_code config", "remote_code known", "remote_code words", "pickled pickle", "damaged named"),
        *("loaded template", "alive"),
    ], done.stderr
    assert not ran.exists()


def test_and_what_was_planted_would_have_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    torch.save({"a": Bomb(ran)}, tmp_path / "evil.bin")
    torch.load(tmp_path / "evil.bin", weights_only=False)
    assert ran.exists()


def test_a_folder_must_lie_where_folders_may(whole: Path, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    inside = shutil.copytree(whole, allowed / "model")
    assert ac.load_folder(inside, within=(tmp_path / "other", allowed)).card.name == "model"
    (allowed / "link").symlink_to(whole)
    for path in (whole, allowed / "link", allowed / ".." / "elsewhere", "/"):
        with pytest.raises(ac.UnsupportedModel, match="outside of the folders") as caught:
            ac.load_folder(path, within=[allowed])
        assert caught.value.kind == "outside"
    with pytest.raises(ac.UnsupportedModel) as caught:
        ac.load_folder(inside, within=())
    assert caught.value.kind == "outside"


def test_a_link_to_the_folder_itself_is_none_to_outside(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "here").symlink_to(whole)
    assert ac.load(tmp_path / "here").trace("the cat").card.name == "whole"


class TestMemory:
    def test_a_model_larger_than_what_is_left_is_refused_with_both_numbers(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(memory, "available", lambda: 64_010_000)
        n_bytes = sum(tensor.nbytes for tensor in load_file(folder / "model.safetensors").values())
        with pytest.raises(ac.UnsupportedModel, match=r"needs 64\.1 MB .* 64\.0 MB are available") as caught:
            ac.load(folder)
        assert caught.value.kind == "too_large"
        assert caught.value.facts == {"needed": n_bytes + memory.SPARE, "available": 64_010_000}
        monkeypatch.setattr(memory, "available", lambda: 2 * n_bytes + memory.SPARE)
        assert ac.load(folder).n_bytes >= n_bytes

    def test_the_smaller_of_machine_and_group_counts(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        meminfo = tmp_path / "meminfo"
        meminfo.write_text("MemTotal:  9000 kB\nMemAvailable:    7000 kB\n")
        monkeypatch.setattr(memory, "MEMINFO", meminfo)
        monkeypatch.setattr(memory, "GROUPS", ((tmp_path, "memory.max", "memory.current", "inactive_file"),))
        assert memory.available() == 7000 * 1024
        (tmp_path / "memory.max").write_text("max\n")
        (tmp_path / "memory.current").write_text("400\n")
        (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 30\n")
        assert memory.available() == 7000 * 1024
        (tmp_path / "memory.max").write_text("1000\n")
        assert memory.available() == 1000 - 400 + 30

    def test_without_linux_the_whole_memory_counts(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
        monkeypatch.setattr(memory, "GROUPS", ())
        assert memory.available() > 10**8

    @pytest.mark.parametrize(("n", "said"), [(1500, "1.5 kB"), (64_000_000, "64.0 MB"), (2 * 10**12, "2,000.0 GB")])
    def test_sizes_are_said_as_people_read_them(self, n: int, said: str) -> None:
        assert memory.size(n) == said
