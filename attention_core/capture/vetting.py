"""What a model's folder must be before any library reads it: whole, within its bounds, and without code of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attention_core.capture import headers, memory
from attention_core.capture.headers import Claim
from attention_core.errors import UnsupportedModel

CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer_config.json", "model.safetensors"
PICTURES = "preprocessor_config.json"  # How pictures, or sounds, are prepared.
INDEX = f"{WEIGHTS}.index.json"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
CONVERT = 'from safetensors.torch import save_file; save_file(torch.load("{}", weights_only=True), "model.safetensors")'
# What a tokenizer may be made of, besides `TOKENIZER`.
VOCABULARIES = ("tokenizer.json", "vocab*", "merges.txt", "*.model", "*.spm", "tekken.json", "*.tiktoken", "bpe.codes")
BESIDE = ("special_tokens_map.json", "added_tokens.json", "chat_template*", "generation_config.json")
# What the library may read of a folder, apart from weights, and how many bytes of it.
READ = {CONFIG: 4_000_000, PICTURES: 4_000_000, INDEX: 64_000_000, TOKENIZER: 64_000_000, "README.md": 4_000_000}
READ |= dict.fromkeys((*VOCABULARIES, *BESIDE), 128_000_000)
# Numbers of a config that say how often something is built.
COUNT = re.compile(r"layer|block|depth|stage|expert|group|label|head|branch|code?book", re.IGNORECASE)
MOST = 10_000
LICENCE = re.compile(r"^licen[sc]e:\s*[\"']?([\w.+ -]{1,60}?)[\"']?\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Vetted:
    """A folder that may be read.

    Attributes:
        folder: its path, links resolved; licence: as its README.md has it, or "".
        claim: what its weights' headers say.
    """

    folder: Path
    licence: str
    claim: Claim


def vet(folder: Path, bounds: Path) -> Vetted:
    """Look a folder over. Nothing of it is loaded or run.

    Args:
        bounds: the folder that every link in it must stay within.

    Raises:
        UnsupportedModel: it must not be read, or cannot be; why, and what to do.
    """
    if not (folder / CONFIG).exists():
        raise UnsupportedModel(
            f"{str(folder)!r} is no model's folder: it has no {CONFIG}", kind="no_config", folder=str(folder)
        )
    _must_stay(folder, bounds)
    config = read_json(folder / CONFIG)
    settings = read_json(folder / TOKENIZER) if (folder / TOKENIZER).exists() else {}
    must_be_plain(config, settings)
    shards = _shards(folder)
    claim = headers.claim_of(shards)
    memory.must_fit(claim.n_bytes)
    headers.must_hold(claim)
    if not reads_words(folder) and not (folder / PICTURES).exists():
        raise without_tokenizer()
    return Vetted(folder, _licence(folder), claim)


def must_be_plain(config: dict[str, Any], settings: dict[str, Any]) -> None:
    """Refuse a config, or a tokenizer's settings, that want code, packed numbers or endless networks.

    Raises:
        UnsupportedModel: for one of these reasons.
    """
    for file, facts in ((CONFIG, config), (TOKENIZER, settings)):
        if any(key == "auto_map" and value for key, value in _entries(facts)):
            raise UnsupportedModel(
                f"this model wants to run code of its own ({file} has an auto_map), which is never done; look for a "
                "version of it that the transformers library knows",
                kind="remote_code",
                file=file,
            )
    if config.get("quantization_config"):
        raise UnsupportedModel(
            "its weights are quantised, which a forward pass in plain numbers cannot read: take the original model",
            kind="quantised",
        )
    for key, value in _entries(config):
        if COUNT.search(key) and type(value) is int and value > MOST:
            raise UnsupportedModel(
                f"{CONFIG} is damaged: it asks for {key} = {value}", kind="damaged", file=CONFIG, detail=key
            )


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        UnsupportedModel: there is none in it.
    """
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(path.name, str(error)) from error
    if not isinstance(facts, dict):
        raise damaged(path.name, "it holds no object")
    return facts


def damaged(file: str, why: str) -> UnsupportedModel:
    return UnsupportedModel(f"{file} is damaged: {first_line(why)}", kind="damaged", file=file, detail=first_line(why))


def first_line(text: str) -> str:
    """As much of a library's message as fits into a sentence."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{lines[0] if lines else 'no reason given':.240}"


def pickled(names: Iterable[str]) -> UnsupportedModel:
    """What to say where weights are there, but in no form that is safe to read; or not there at all."""
    found = sorted(name for name in names if any(Path(name).match(pattern) for pattern in PICKLES))
    if not found:
        return UnsupportedModel(f"the folder has no weights ({WEIGHTS})", kind="no_weights", file=WEIGHTS)
    convert = CONVERT.format(found[0])
    return UnsupportedModel(
        f"its weights are pickled ({found[0]}), which could run code; convert them once, where you trust them: "
        f"{convert}",
        kind="pickled",
        file=found[0],
        convert=convert,
    )


def shard_names(index: dict[str, Any]) -> tuple[str, ...]:
    """The files that an index of weights names.

    Raises:
        UnsupportedModel: it names none, or one that would lie elsewhere.
    """
    names = index.get("weight_map")
    if not isinstance(names, dict) or not names or not all(isinstance(name, str) for name in names.values()):
        raise damaged(INDEX, "it names no files")
    for name in names.values():
        if Path(name).name != name or "\\" in name:
            raise _outside(name)
        if not name.endswith(".safetensors"):
            raise pickled([name])
    return tuple(sorted(set(names.values())))


def _shards(folder: Path) -> tuple[Path, ...]:
    if (folder / WEIGHTS).is_file():
        return (folder / WEIGHTS,)
    if not (folder / INDEX).is_file():
        raise pickled(path.name for path in folder.iterdir())
    index = read_json(folder / INDEX)
    found = tuple(folder / name for name in shard_names(index))
    missing = [path.name for path in found if not path.is_file()]
    if missing:
        raise UnsupportedModel(
            f"{missing[0]} is missing, which {INDEX} names: fetch it, too", kind="no_weights", file=missing[0]
        )
    _must_fit_by_index(index)
    return found


def _must_fit_by_index(index: dict[str, Any]) -> None:
    about = index.get("metadata")
    total = about.get("total_size") if isinstance(about, dict) else None
    if isinstance(total, int | float) and total == total and total < float("inf"):
        memory.must_fit(int(total))


def _must_stay(folder: Path, bounds: Path) -> None:
    """Nothing that may be read leads elsewhere, is something other than a file, or is endless."""
    for path in folder.iterdir():
        most = next((n for pattern, n in READ.items() if path.match(pattern)), None)
        if most is None and path.suffix != ".safetensors":
            continue
        if not path.resolve().is_relative_to(bounds):
            raise _outside(path.name)
        if path.is_dir():
            continue
        if not path.is_file():
            raise damaged(path.name, "it is no file")
        if most is not None and path.stat().st_size > most:
            raise damaged(path.name, f"it has {memory.size(path.stat().st_size)}, where {memory.size(most)} are enough")
    for template in folder.glob("additional_chat_templates/*"):
        if not template.resolve().is_relative_to(bounds):
            raise _outside(template.name)


def _outside(name: str) -> UnsupportedModel:
    return UnsupportedModel(
        f"{name!r} leads outside of the model's folder, where nothing is read: put the file itself there",
        kind="outside",
        file=name,
    )


def reads_words(folder: Path) -> bool:
    """Whether there is anything of a tokenizer."""
    return any(True for pattern in (*VOCABULARIES, TOKENIZER) for _ in folder.glob(pattern))


def without_tokenizer() -> UnsupportedModel:
    return UnsupportedModel(
        "the folder has no tokenizer (tokenizer.json): save it there, too, with tokenizer.save_pretrained",
        kind="no_tokenizer",
    )


def _licence(folder: Path) -> str:
    path = folder / "README.md"
    if not path.is_file():
        return ""
    parts = path.read_text(encoding="utf-8", errors="replace").split("---", 2)
    found = LICENCE.search(parts[1]) if len(parts) == 3 and not parts[0].strip() else None
    return found[1] if found else ""


def _entries(facts: Any) -> Iterator[tuple[str, Any]]:
    """Every key with its value, those of the objects inside included."""
    left = [facts]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            yield from one.items()
            left += one.values()
        elif isinstance(one, list):
            left += one
