"""The frame of a head's row over a picture."""

from __future__ import annotations

import numpy as np

import attention_core as ac
from ui.frame import pack
from ui.pictures import parts
from ui.selection import Selection
from ui.translations import Words


def frame(trace: ac.Trace, selection: Selection, words: Words) -> bytes:
    """The picture as the model saw it, its patches, and the weights of the chosen head."""
    head = parts.head_of(trace, selection)
    if trace.image is None or trace.grid is None:
        raise ValueError("this trace is not of a picture")
    first = next(i for i, token in enumerate(trace.tokens) if not token.is_special)
    header = {
        **parts.place(trace, selection),
        "strings": words.section("vision"),
        "names": [_name(token, words) for token in trace.tokens],
        "token": selection.token,
        "direction": selection.look,
        "first": first,
        "grid": list(trace.grid),
        "size": list(trace.image.shape[:2]),
        "check": parts.check_sentence(trace, words),
    }
    return pack(header, {"weights": head.weights, "image": np.ascontiguousarray(trace.image).reshape(-1)})


def _name(token: ac.Token, words: Words) -> str:
    if token.is_special:
        return token.shown
    row, column = token.text.removeprefix("r").split("c")
    return words("vision.patch", row=row, column=column)
