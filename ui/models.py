"""Models by name, wherever they come from: the catalogue ("pronoun"), a training on this server ("run:…", see
ui/learned.py), or a file that a reader has loaded ("file:…"). Trained and loaded ones are there while the server runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import attention_core as ac
from attention_core import loading
from attention_core.cards import card_of
from attention_core.teach.card import trained_card
from attention_core.teach.frames import from_bytes
from attention_core.teach.runs import Frame, RunSpec
from ui import learned, loaded, training

N_KEPT = 64  # Trained models that were opened.


def load(name: str) -> ac.TaughtModel:
    """The model of that name.

    Raises:
        UnknownModel: there is none, or it is no longer kept; UnsupportedModel: its weights are missing or damaged.
    """
    if name.startswith(learned.PREFIX):
        return _trained(name)
    if name.startswith(loaded.PREFIX):
        found = loaded.get(name)
        if found is None:
            raise _unknown(name)
        return found
    return ac.load(name)


def card(name: str) -> ac.ModelCard:
    """The card of that model; weights are not loaded where they are in the catalogue.

    Raises:
        UnknownModel: as `load`.
    """
    return load(name).card if is_passing(name) else card_of(name)


def known(name: str) -> str:
    """The name itself, if there is such a model.

    Raises:
        UnknownModel: there is none.
    """
    card(name)
    return name


def is_passing(name: str) -> bool:
    """Whether a model is kept only while the server runs."""
    return name.startswith((learned.PREFIX, loaded.PREFIX))


def stacks(card: ac.ModelCard) -> tuple[str, ...]:
    """The stacks of attention that the model has: "self", or those of an encoder–decoder."""
    return tuple(card.details.get("stacks", {"self": None}))


def layer_numbers(card: ac.ModelCard, stack: str) -> Sequence[int]:
    """The numbers of a stack's attention layers, as the model counts them."""
    found = card.details.get("stacks")
    return range(card.n_layers) if found is None else tuple(found[stack]["layers"])


def n_heads(card: ac.ModelCard, stack: str, layer: int) -> int:
    """How many query heads that layer has."""
    found = card.details.get("stacks")
    return card.n_heads if found is None else found[stack]["heads"][layer_numbers(card, stack).index(layer)]


def names(chosen: str) -> list[str]:
    """The catalogue, and the chosen model where it is not in there."""
    found = [known.name for known in ac.models() if known.is_available]
    return found if chosen in found else [*found, chosen]


def file_stem(name: str) -> str:
    """The name as a file may be called: "run:pronoun~seed=17" → "pronoun-seed-17"."""
    return loaded.stem(name.removeprefix(learned.PREFIX).removeprefix(loaded.PREFIX).split("~own=")[0])


def last_frame(spec: RunSpec) -> Frame | None:
    """How a run ended; None while it has not, or where it is no longer kept."""
    glimpse = training.POOL.watch(training.run_id(spec.to_json()))
    if glimpse is None or glimpse.state != "finished" or not glimpse.frames:
        return None
    return from_bytes(glimpse.frames[-1])


def file_of(spec: RunSpec) -> bytes:
    """A finished run as one file: its weights with its card.

    Raises:
        UnknownModel: it is no longer kept.
    """
    last = last_frame(spec)
    if last is None or last.tensors is None:
        raise _unknown(learned.name_of(spec))
    return loading.to_bytes(trained_card(spec, last), last.tensors)


@lru_cache(maxsize=N_KEPT)
def _trained(name: str) -> ac.TaughtModel:
    try:
        return loading.from_bytes(file_of(learned.spec_of(name)))
    except (ValueError, ac.UnsupportedModel) as error:  # No such name, or a training that blew up.
        raise _unknown(name) from error


def _unknown(name: str) -> ac.UnknownModel:
    return ac.UnknownModel(name, tuple(known.name for known in ac.models() if known.is_available))
