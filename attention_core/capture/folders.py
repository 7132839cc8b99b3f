"""Imports transformers. From a folder on this machine to a model: safetensors only, and no code but the library's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import transformers
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedModel

from attention_core.capture.reading import Reader
from attention_core.capture.real import RealModel, make
from attention_core.errors import UnsupportedModel

PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
# Checkpoints whose head answers at each token are loaded with it; others without.
ANSWERING = ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration", "MTModel")
CONVERT = 'from safetensors.torch import save_file; save_file(torch.load("{}", weights_only=True), "model.safetensors")'
LOCAL = {"local_files_only": True, "trust_remote_code": False}


def load_folder(path: str | Path) -> RealModel:
    """The model in a folder, as `save_pretrained` leaves it, held against its own eager attention.

    Raises:
        UnsupportedModel: the folder is incomplete or damaged, or the model cannot be shown; with the reason.
        TraceMismatch: what would be shown is not what the model computes.
    """
    folder = Path(path)
    _check(folder)
    try:
        reader = Reader(AutoTokenizer.from_pretrained(str(folder), **LOCAL))
        net = _network(folder)
    except (OSError, ValueError, KeyError, TypeError, ImportError, SafetensorError, RuntimeError) as error:
        raise UnsupportedModel(f"the folder {folder.name!r} does not load: {error}") from error
    return make(net, reader, folder.name, str(folder))


def _check(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise UnsupportedModel(f"{str(folder)!r} is no model's folder: it has no config.json")
    try:
        facts = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnsupportedModel(f"config.json is damaged: {error}") from error
    if not isinstance(facts, dict):
        raise UnsupportedModel("config.json holds no object")
    if "auto_map" in facts:
        raise UnsupportedModel("this model wants to run code of its own, which is never done")
    if not any(folder.glob("*.safetensors")):
        pickles = sorted(one.name for pattern in PICKLES for one in folder.glob(pattern))
        if pickles:
            raise UnsupportedModel(
                f"its weights are pickled ({pickles[0]}), which could run code; convert them once, where you trust "
                f"them: {CONVERT.format(pickles[0])}"
            )
        raise UnsupportedModel("the folder has no weights (*.safetensors)")


def _network(folder: Path) -> PreTrainedModel:
    transformers.logging.disable_progress_bar()
    config = AutoConfig.from_pretrained(str(folder), **LOCAL)
    net, report = _class_of(config).from_pretrained(
        str(folder),
        config=config,
        dtype="auto",
        attn_implementation="eager",
        use_safetensors=True,
        output_loading_info=True,
        **LOCAL,
    )
    # A pooler or a task's head reads what attention made; nothing of what is shown depends on it.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing or report["mismatched_keys"]:
        wrong = missing or sorted(str(key) for key in report["mismatched_keys"])
        raise UnsupportedModel(f"its weights are incomplete: {wrong[0]} and {len(wrong) - 1} more do not fit")
    return net


def _class_of(config: Any) -> type[Any]:
    for name in config.architectures or ():
        found = getattr(transformers, name, None)
        if name.endswith(ANSWERING) and isinstance(found, type) and issubclass(found, PreTrainedModel):
            return found
    return AutoModel
