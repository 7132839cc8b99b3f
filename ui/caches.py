"""What is kept between runs: traces by what they were asked for. Values, so that readers may share them."""

from __future__ import annotations

from threading import BoundedSemaphore

import attention_core as ac
from attention_core.edits import EMPTY
from ui import images, models, own, shelf
from ui.bounded import Bounded

ROOM = 768 * 2**20  # Bytes. A taught model's trace takes some 100 kB, one of 512 tokens through BERT some 70 MB.
AT_ONCE = 2  # Real models that compute at the same time: light readers must not wait for heavy ones.

Asked = tuple[str, str, str, str, ac.Edits]
_traces: Bounded[Asked, ac.Trace] = Bounded(ROOM, lambda trace: trace.n_bytes)
_computing = BoundedSemaphore(AT_ONCE)


class NotLoaded(ac.AttentionError):
    """The model has yet to be loaded, or is no longer on the shelf."""


def trace_of(
    model: str, text: str, pair: str = "", target: str = "", image: str = "", edits: ac.Edits = EMPTY
) -> ac.Trace:
    """The trace of `text` through the model of that name.

    Args:
        pair: a second segment, or ""; target: what a decoder reads, or "" where the model writes it.
        image: a picture by its name (ui/images.py) for a model that looks at pictures, which reads no text.
        edits: what is different in this run.

    Raises:
        NotLoaded: a real model that is not loaded; AttentionError: as `load` and `trace` do.
    """
    if model.startswith(own.PREFIX):
        return models.own_trace(model)
    asked = (model, "", "", image, edits) if image else (model, text, pair, target, edits)
    if not models.is_real(model):
        return _traces.get(asked, lambda: models.load(model).trace(text, edits=edits))
    loaded = shelf.ready(model)
    if loaded is None:
        raise NotLoaded(model)

    def trace() -> ac.Trace:
        # A trace's check holds its model in memory: those of models that have left the shelf go with them.
        _traces.drop(lambda kept: models.is_real(kept[0]) and not shelf.has(kept[0]))
        with _computing:
            if image:
                return loaded.trace_image(images.of(image))
            return loaded.trace(text, pair=pair or None, target=target or None, edits=edits)

    return _traces.get(asked, trace)
