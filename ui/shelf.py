"""Real models on this server: one bounded shelf for all readers, filled in the background.

Loading takes seconds to minutes and goes on in a thread of its own, one model at a time. Whoever asks for a model while
it is being loaded waits for the same loading; it ends when it is done, when it fails, or when nobody waits any more.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from threading import Lock, Thread
from typing import TYPE_CHECKING

import attention_core as ac
from ui import allowed
from ui.bounded import Bounded

if TYPE_CHECKING:
    from attention_core.capture import ImageModel, RealModel

PATIENCE = 20.0  # Seconds after which somebody who has not asked again is gone.
N_TOLD = 32  # Failed loadings whose reasons are kept.
KEPT = float(os.environ.get("ATTENTION_CACHE_GB", "0")) * 2**30


@dataclass(eq=False)
class Loading:
    """A model on its way.

    Attributes:
        name: the model's; stage, done, total: how far it is ("waiting" before its turn), in bytes where it downloads.
        error: why it did not come; waiting: who waits, and when they last asked.
    """

    name: str
    stage: str = "waiting"
    done: int = 0
    total: int = 0
    error: ac.AttentionError | None = None
    started: float = field(default_factory=time.monotonic)
    waiting: dict[str, float] = field(default_factory=dict)

    def is_wanted(self) -> bool:
        now = time.monotonic()
        return any(now - asked < PATIENCE for asked in list(self.waiting.values()))


def _room() -> int:
    """Bytes that loaded models may take together: half of the machine's memory, unless the server's owner says so."""
    return int(KEPT) or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


_shelf: Bounded[str, RealModel | ImageModel] = Bounded(_room(), lambda model: model.n_bytes)
_loadings: dict[str, Loading] = {}
_lock, _turn = Lock(), Lock()


def ready(name: str) -> RealModel | ImageModel | None:
    """The model of that name, if it is loaded."""
    return _shelf.peek(name)


def has(name: str) -> bool:
    """Whether the model of that name is loaded; asking does not count as use."""
    return name in _shelf


def ask(name: str, visitor: str) -> Loading | None:
    """Wait for that model as `visitor`; None once it is loaded. A failed loading is told until it is tried again."""
    if ready(name) is not None:
        return None
    with _lock:
        found = _loadings.get(name)
        if found is None or isinstance(found.error, ac.Cancelled):
            _forget_old()
            found = _loadings[name] = Loading(name, waiting={visitor: time.monotonic()})
            Thread(target=_load, args=(found,), name=f"load {name}", daemon=True).start()
        found.waiting[visitor] = time.monotonic()
        if found.stage == "starting":
            # Streamlit collects garbage after each run, also after each look at a loading. While torch is being
            # imported that would walk all of it again and again, and keep the import waiting.
            gc.freeze()
        return found


def leave(name: str, visitor: str) -> None:
    """Wait no longer; a loading that nobody waits for stops at its next sign of life."""
    with _lock:
        found = _loadings.get(name)
        if found is not None:
            found.waiting.pop(visitor, None)


def forget(name: str) -> None:
    """Put a failed loading away, so that the next one who asks tries again."""
    with _lock:
        if name in _loadings and _loadings[name].error is not None:
            del _loadings[name]


def _forget_old() -> None:
    failed = [name for name, loading in _loadings.items() if loading.error is not None]
    for name in failed[:-N_TOLD]:
        del _loadings[name]


def _load(loading: Loading) -> None:
    def heard(progress: ac.Progress) -> None:
        if progress.stage != "starting":
            _settle()
        loading.stage, loading.done, loading.total = progress.stage, progress.done, progress.total
        if not loading.is_wanted():
            raise ac.Cancelled()

    try:
        with _turn:
            model = _opened(loading.name, heard)
        _shelf.put(loading.name, model)
        with _lock:
            _loadings.pop(loading.name, None)
    except ac.AttentionError as error:
        loading.error = error
    except Exception as error:  # Whatever a stranger's files make a library do, the readers get a sentence.
        loading.error = ac.UnsupportedModel(f"it does not load: {type(error).__name__}: {error}")


@cache
def _settle() -> None:
    """Once torch has come: its objects are never walked again by the garbage collection that follows every run.

    Before any model is there: a frozen model would stay for ever.
    """
    gc.collect()
    gc.freeze()


def _opened(name: str, heard: Callable[[ac.Progress], None]) -> RealModel | ImageModel:
    if name.startswith(allowed.LOCAL):
        return ac.load_folder(name.removeprefix(allowed.LOCAL), within=allowed.folders(), progress=heard)
    if name.startswith(allowed.HUB):
        return ac.load_hub(name.removeprefix(allowed.HUB), progress=heard)
    found = ac.load(name, progress=heard)
    if isinstance(found, ac.TaughtModel):
        raise ac.UnknownModel(name, ())
    return found
