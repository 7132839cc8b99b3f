"""Imports huggingface_hub. A model of the Hub: its config, its safetensors and its tokenizer are fetched, nothing else.

What was fetched stays in the library's own cache, where the next call finds it, with network or without.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from huggingface_hub import HfApi, constants, hf_hub_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)
from huggingface_hub.file_download import repo_folder_name

from attention_core.capture import memory, vetting
from attention_core.capture.folders import opened
from attention_core.capture.real import RealModel
from attention_core.capture.vetting import CONFIG, INDEX, TOKENIZER, WEIGHTS
from attention_core.capture.vision import ImageModel
from attention_core.errors import AttentionError, Cancelled, UnsupportedModel
from attention_core.progress import Listener, Progress, unheard

# Only a plain download asks between two pieces whether to go on.
constants.HF_HUB_DISABLE_XET = True
REFUSED = (401, 403)


def load_hub(name: str, progress: Listener = unheard) -> RealModel | ImageModel:
    """The model of a Hub id, "owner/name": fetched where it isn't here yet, then read like any folder.

    Args:
        progress: told how far it is; may raise `Cancelled`: what was fetched of a new model is then removed.

    Raises:
        UnsupportedModel: there is none, it may not be had, it holds what is not read, or as `load_folder`.
        TraceMismatch: what would be shown is not what the model computes.
    """
    folder = fetched(name, progress)
    source = {
        "en": f"Hugging Face Hub: {name}, version {folder.name[:12]}",
        "zh": f"Hugging Face Hub：{name}，版本 {folder.name[:12]}",
    }
    return opened(folder, _store(name).resolve(), name, source, progress)


def fetched(name: str, progress: Listener = unheard) -> Path:
    """The folder with the model's newest files; without network, with those that were fetched before.

    Raises:
        As `load_hub`.
    """
    progress(Progress("downloading", 0, 0))
    with _explained(name):
        try:
            about = HfApi().model_info(name, files_metadata=True)
        except Exception as error:  # No network, or none wanted: each transport has errors of its own.
            before = _before(name)
            if before is None or (_status(error) or 500) < 500:
                raise
            return before
    sizes = {file.rfilename: file.size or 0 for file in about.siblings or ()}
    with _explained(name), _nothing_left(name):
        return Download(name, str(about.sha), sizes, progress).run()


class Download:
    """The files of one version of a model, on their way.

    Attributes:
        sizes: bytes of each file on the Hub.
    """

    def __init__(self, name: str, version: str, sizes: dict[str, int], progress: Listener) -> None:
        self.sizes = sizes
        self._name, self._version, self._progress = name, version, progress
        self._done, self._total = 0, 0

    def run(self) -> Path:
        """Fetch what is read of a model: small files first, so that what is refused by them costs nothing."""
        self._must_have(CONFIG)
        beside = [file for file in self.sizes if is_read(file) and file not in (CONFIG, TOKENIZER, INDEX)]
        if WEIGHTS not in self.sizes and INDEX not in self.sizes:
            raise vetting.pickled(self.sizes)
        self._total = sum(self.sizes[file] for file in (CONFIG, *beside, *self._there(TOKENIZER)))
        config, *settings = (vetting.read_json(self._get(file)) for file in (CONFIG, *self._there(TOKENIZER)))
        vetting.must_be_plain(config, settings[0] if settings else {})
        weights = self._weights()
        memory.must_fit(sum(self.sizes[file] for file in weights))
        self._total += sum(self.sizes[file] for file in weights)
        for file in (*beside, *weights):
            self._get(file)
        return self._get(CONFIG, is_counted=False).parent

    def _weights(self) -> tuple[str, ...]:
        if WEIGHTS in self.sizes:
            return (WEIGHTS,)
        self._total += self.sizes[INDEX]
        shards = vetting.shard_names(vetting.read_json(self._get(INDEX)))
        for file in shards:
            self._must_have(file)
        return shards

    def _there(self, *files: str) -> tuple[str, ...]:
        return tuple(file for file in files if file in self.sizes)

    def _must_have(self, file: str) -> None:
        if file not in self.sizes:
            kind = "no_config" if file == CONFIG else "no_weights"
            raise UnsupportedModel(f"{self._name} has no {file} on the Hub: choose another model", kind=kind, file=file)

    def _get(self, file: str, is_counted: bool = True) -> Path:
        begun = self._done
        path = hf_hub_download(self._name, file, revision=self._version, tqdm_class=self._bar() if is_counted else None)
        if is_counted:  # A file that was here already tells nothing while it comes.
            self._done = begun
            self._tell(self.sizes[file])
        return Path(path)

    def _tell(self, n_bytes: int) -> None:
        self._done += n_bytes
        self._progress(Progress("downloading", self._done, self._total))

    def _bar(self) -> Any:
        """What the library takes for a progress bar: it hears of every piece of the file that comes."""
        tell = self._tell

        class Bar:
            def __init__(self, *_: Any, initial: int = 0, **__: Any) -> None:
                self.n = initial

            def update(self, n: int = 1) -> None:
                self.n += n
                tell(n)

            def close(self) -> None:
                """Nothing is drawn."""

            def __enter__(self) -> Bar:
                return self

            def __exit__(self, *_: object) -> None:
                self.close()

        return Bar


def is_read(file: str) -> bool:
    """Whether a file of the Hub is one that is read, apart from weights."""
    path = PurePosixPath(file)
    return path.name == file and any(path.match(pattern) for pattern in vetting.READ)


def _store(name: str) -> Path:
    """Where the library keeps what it fetches of a model."""
    return Path(constants.HF_HUB_CACHE).expanduser() / repo_folder_name(repo_id=name, repo_type="model")


def _before(name: str) -> Path | None:
    """The version fetched last; None where there is none."""
    store = _store(name)
    main = store / "refs" / constants.DEFAULT_REVISION
    if main.is_file() and (store / "snapshots" / main.read_text().strip() / CONFIG).is_file():
        return store / "snapshots" / main.read_text().strip()
    found = [folder for folder in store.glob("snapshots/*") if (folder / CONFIG).is_file()]
    return max(found, key=lambda folder: folder.stat().st_mtime, default=None)


@contextmanager
def _nothing_left(name: str) -> Iterator[None]:
    """Of a model that was not here before, nothing stays when the download is stopped."""
    store = _store(name)
    is_new = not store.exists()
    try:
        yield
    except Cancelled:
        if is_new:
            shutil.rmtree(store, ignore_errors=True)
            shutil.rmtree(store.parent / ".locks" / store.name, ignore_errors=True)
        raise


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Whatever stands between here and the Hub becomes one error."""
    try:
        yield
    except AttentionError:
        raise
    except Exception as error:
        raise _refusal(name, error) from error


def _status(error: Exception) -> int | None:
    """The number of the Hub's answer; None where it gave none."""
    return error.response.status_code if isinstance(error, HfHubHTTPError) else None


def _refusal(name: str, error: Exception) -> UnsupportedModel:
    page, status = f"{constants.ENDPOINT}/{name}", _status(error)
    is_absent = isinstance(error, RepositoryNotFoundError) or status == 404
    if isinstance(error, GatedRepoError) or (status in REFUSED and not is_absent):
        reason = (
            f"{name} is given only to those who accept its terms: accept them at {page}, set HF_TOKEN to a token of "
            "yours where this program runs, and start it again"
        )
        return UnsupportedModel(reason, kind="gated", name=name, page=page)
    if is_absent:
        reason = f"there is no model {name} on the Hub, or it is private: look for the spelling at {page}"
        return UnsupportedModel(reason, kind="absent", name=name, page=page)
    said = vetting.first_line(f"{type(error).__name__}: {error}")
    if isinstance(error, OfflineModeIsEnabled):
        said = "HF_HUB_OFFLINE is set"
    reason = (
        f"{name} could not be fetched ({said}), and it was not fetched before: connect to the network, or give the "
        "path of a folder that holds it"
    )
    return UnsupportedModel(reason, kind="offline", name=name, detail=said)
