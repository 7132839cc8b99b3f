"""Imports transformers. From a folder on this machine to a model: safetensors only, and no code but the library's."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedModel

from attention_core.capture import memory
from attention_core.capture.headers import Claim
from attention_core.capture.pictures import Eye
from attention_core.capture.reading import Reader
from attention_core.capture.real import RealModel, make, n_known
from attention_core.capture.vetting import (
    PICTURES,
    VOCABULARIES,
    first_line,
    read_json,
    reads_words,
    vet,
    without_tokenizer,
)
from attention_core.capture.vision import ImageModel, make_seeing
from attention_core.cards import Words
from attention_core.errors import AttentionError, UnsupportedModel
from attention_core.progress import Listener, Progress, unheard

# Checkpoints whose head answers at each token are loaded with it; others without.
ANSWERING = ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration", "MTModel")
LOCAL = {"local_files_only": True, "trust_remote_code": False}
SNAPSHOTS = "snapshots"  # In the Hub's cache a model's files are links from here to the folder beside it.


def load_folder(
    path: str | Path, within: Sequence[str | Path] | None = None, progress: Listener = unheard
) -> RealModel | ImageModel:
    """The model in a folder, as `save_pretrained` leaves it, held against its own eager attention.

    Args:
        within: folders below which it must lie, links followed; None for anywhere.
        progress: told how far it is; may raise `Cancelled`.

    Raises:
        UnsupportedModel: the folder is incomplete or damaged, or the model cannot be shown; with the reason.
        TraceMismatch: what would be shown is not what the model computes.
    """
    folder = Path(path).expanduser()
    real = folder.resolve()
    if within is not None and not any(real.is_relative_to(Path(one).resolve()) for one in within):
        raise UnsupportedModel(
            f"{str(folder)!r} lies outside of the folders that models may be read from: put it into one of them",
            kind="outside",
            folder=str(folder),
        )
    bounds = real
    if real.parent.name == SNAPSHOTS and real.parent.parent.name.startswith("models--"):
        bounds = real.parent.parent
    source = {"en": f"The folder {folder}", "zh": f"文件夹 {folder}"}
    return opened(real, bounds, real.name, source, progress)


def opened(
    folder: Path, bounds: Path, name: str, source: Words, progress: Listener = unheard
) -> RealModel | ImageModel:
    """The model in a folder whose links stay within `bounds`; its name and where it is from, for its card.

    Raises:
        As `load_folder`.
    """
    vetted = vet(folder, bounds)
    total = vetted.claim.n_bytes
    progress(Progress("reading", 0, total))
    with _in_a_sentence(folder, f"its {PICTURES} does not load"):
        eye = None if reads_words(folder) else Eye(read_json(folder / PICTURES))
    tokenizer = _tokenizer(folder) if eye is None else None
    with _in_a_sentence(folder, "its network does not load"):
        net = _network(folder, vetted.claim)
        _must_be_numbers(net)
        if eye is None:
            _must_fit_together(net, tokenizer)
    progress(Progress("reading", total, total))
    progress(Progress("checking", 0, 1))
    with _in_a_sentence(folder, "its network does not run"):
        about = (name, source, vetted.licence)
        model = make(net, Reader(tokenizer), *about) if eye is None else make_seeing(net, eye, *about)
    progress(Progress("checking", 1, 1))
    return model


@contextmanager
def _in_a_sentence(folder: Path, what: str) -> Iterator[None]:
    """Whatever a stranger's files make a library raise becomes one error."""
    try:
        yield
    except (AttentionError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # A panic inside the tokenizers library is no `Exception`.
        said = first_line(f"{type(error).__name__}: {error}")
        raise UnsupportedModel(
            f"the folder {folder.name!r} is damaged, or of a kind that is not known: {what} ({said})",
            kind="damaged",
            file=folder.name,
            detail=said,
        ) from error


def _tokenizer(folder: Path) -> Any:
    is_whole = any(True for pattern in VOCABULARIES for _ in folder.glob(pattern))
    try:
        with _in_a_sentence(folder, "its tokenizer does not load"):
            tokenizer = AutoTokenizer.from_pretrained(str(folder), **LOCAL)
    except UnsupportedModel as error:
        raise error if is_whole else without_tokenizer() from error
    # The library makes up an empty tokenizer where files are missing; one of plain bytes needs none.
    if tokenizer.vocab_files_names and not is_whole:
        raise without_tokenizer()
    return tokenizer


def _network(folder: Path, claim: Claim) -> PreTrainedModel:
    transformers.logging.disable_progress_bar()
    config = AutoConfig.from_pretrained(str(folder), **LOCAL)
    loader = _class_of(config)
    _must_match(loader, config, claim)
    net, report = loader.from_pretrained(
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
        raise UnsupportedModel(
            f"its weights are incomplete: {wrong[0]} and {len(wrong) - 1} more do not fit",
            kind="damaged",
            detail=wrong[0],
        )
    return net


def _must_match(loader: type[Any], config: Any, claim: Claim) -> None:
    """Hold the network that the config describes, built without memory, against the weights that are there."""
    with torch.device("meta"):
        make_it = loader.from_config if loader is AutoModel else loader._from_config
        shape: nn.Module = make_it(copy.deepcopy(config), attn_implementation="eager")
    n = sum(one.numel() for one in shape.parameters())
    memory.must_fit(claim.n_bytes + sum(one.nbytes for one in shape.buffers()))
    if n > 2 * claim.n_numbers:
        raise UnsupportedModel(
            f"config.json does not describe these weights: its network has {n:,} numbers, the files hold "
            f"{claim.n_numbers:,}",
            kind="damaged",
            file="config.json",
        )


def _class_of(config: Any) -> type[Any]:
    for name in config.architectures or ():
        found = getattr(transformers, str(name), None)
        if str(name).endswith(ANSWERING) and isinstance(found, type) and issubclass(found, PreTrainedModel):
            return found
    return AutoModel


def _must_be_numbers(net: PreTrainedModel) -> None:
    for name, tensor in net.named_parameters():
        if tensor.is_floating_point() and tensor.numel():
            least, most = torch.aminmax(tensor.detach())
            if not (torch.isfinite(least) and torch.isfinite(most)):
                raise UnsupportedModel(
                    f"its weights are damaged: {name} holds a number that is not finite", kind="damaged", detail=name
                )


def _must_fit_together(net: PreTrainedModel, tokenizer: Any) -> None:
    """The tokenizer's own vocabulary has its vectors in the network; what was added to it later may go unused."""
    added, rows = tokenizer.get_added_vocab(), n_known(net)
    last = max((number for word, number in tokenizer.get_vocab().items() if word not in added), default=-1)
    if last >= rows > 0:
        raise UnsupportedModel(
            f"the tokenizer is not this model's: it gives numbers up to {last}, and the model knows {rows} numbers",
            kind="other_vocabulary",
            needed=last + 1,
            available=rows,
        )
