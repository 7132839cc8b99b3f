"""Models by name, wherever they come from: the catalogue ("pronoun"), a training on this server ("run:…", see
ui/learned.py), a file that a reader has loaded ("file:…" a model of ours, "arrays:…" numbers), a folder ("dir:…") or a
Hugging Face id ("hub:…"). Trained and loaded ones are there while the server runs; real ones are loaded when asked for
(ui/shelf.py), and their cards are known only then.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

import attention_core as ac
from attention_core import loading
from attention_core.cards import card_of
from attention_core.teach.card import trained_card
from attention_core.teach.frames import from_bytes
from attention_core.teach.runs import Frame, RunSpec
from ui import allowed, learned, loaded, own, shelf, training
from ui.translations import LANGUAGES

N_KEPT = 64  # Trained models that were opened.
MOST = 10_000  # Layers, and heads, that an address may name before the model is known.


def load(name: str) -> ac.TaughtModel:
    """The taught model of that name.

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
    taught = ac.load(name)
    if not isinstance(taught, ac.TaughtModel):
        raise _unknown(name)
    return taught


def card(name: str) -> ac.ModelCard:
    """The card of that model; weights are not loaded where they are in the catalogue.

    Raises:
        UnknownModel: as `load`.
    """
    if name.startswith(own.PREFIX):
        return own_trace(name).card
    if is_real(name):
        found = shelf.ready(name)
        if found is not None:
            return found.card
        return _pending(name) if allowed.is_real(name) else card_of(name)
    return load(name).card if is_passing(name) else card_of(name)


def own_trace(name: str) -> ac.Trace:
    """A reader's own arrays.

    Raises:
        UnknownModel: they are no longer kept.
    """
    found = own.get(name)
    if found is None:
        raise _unknown(name)
    return found


def is_real(name: str) -> bool:
    """Whether torch and transformers are needed for the model of that name."""
    return allowed.is_real(name) or name in _real_names()


def is_pending(card: ac.ModelCard) -> bool:
    """Whether nothing but its name is known of the model: it is not loaded yet."""
    return bool(card.details.get("is_pending"))


def known(name: str) -> str:
    """The name itself, if there is such a model.

    Raises:
        UnknownModel: there is none.
    """
    if allowed.is_real(name) and not allowed.is_allowed(name):
        raise _unknown(name)
    card(name)
    return name


def is_there(name: str) -> bool:
    """Whether there is such a model, or still is."""
    try:
        card(name)
    except ac.UnknownModel:
        return False
    return True


def is_passing(name: str) -> bool:
    """Whether a model is kept only while the server runs."""
    return name.startswith((learned.PREFIX, loaded.PREFIX, own.PREFIX))


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


def names(*others: str) -> list[str]:
    """The catalogue, and others that are not in there."""
    found = [known.name for known in ac.models() if known.is_available]
    return list(dict.fromkeys([*found, *others]))


def file_stem(name: str) -> str:
    """The name as a file may be called: "run:pronoun~seed=17" → "pronoun-seed-17"."""
    for prefix in (learned.PREFIX, loaded.PREFIX, own.PREFIX, allowed.LOCAL, allowed.HUB):
        name = name.removeprefix(prefix)
    return loaded.stem(name.split("~own=")[0])


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


@cache
def _real_names() -> frozenset[str]:
    return frozenset(known.name for known in ac.models() if known.details.get("kind") == "real")


def _pending(name: str) -> ac.ModelCard:
    """What stands for a model that is not loaded yet: whatever an address says of its layers may be so."""
    title = dict.fromkeys(LANGUAGES, name)
    anything = {"layers": range(MOST), "heads": (MOST,) * MOST}
    details = {"name": name, "kind": "real", "is_pending": True, "tokenizer": "tokens"}
    details |= {"stacks": dict.fromkeys(("self", "encoder", "decoder", "cross"), anything)}
    return ac.ModelCard(
        name=name,
        title=title,
        source=title,
        n_layers=MOST,
        n_heads=MOST,
        d_model=0,
        d_head=0,
        n_parameters=0,
        causal=False,
        max_tokens=0,
        reading_head=None,
        licence="",
        is_available=True,
        details=details,
    )


@lru_cache(maxsize=N_KEPT)
def _trained(name: str) -> ac.TaughtModel:
    try:
        return loading.from_bytes(file_of(learned.spec_of(name)))
    except (ValueError, ac.UnsupportedModel) as error:  # No such name, or a training that blew up.
        raise _unknown(name) from error


def _unknown(name: str) -> ac.UnknownModel:
    return ac.UnknownModel(name, tuple(known.name for known in ac.models() if known.is_available))
