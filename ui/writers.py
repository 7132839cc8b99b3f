"""What the Write page writes with: a causal model, a prompt, how the next token is taken, and which head is looked at.

The page follows the model of the other pages where that one can write; where it cannot, it shows one that can and
leaves the other pages alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import attention_core as ac
from ui import examples, models, own

DEFAULT_WRITER = "induction"
HOWS = ("greedy", "sampled")
PROMPTS = {"characters": "d b h f a c e d b"}  # By what a text is counted in; for words, the first sentence's start.
OPENING_WORDS = 7
COLDEST, HOTTEST = 0.1, 5.0
MAX_SEED = 2**31 - 1
COUNTED = "words"  # What a text is counted in, where the model is gone.
USUAL: Mapping[str, Any] = {"how": HOWS[0], "temperature": 1.0, "write_seed": 0}


@dataclass(frozen=True)
class Choice:
    """What is written with.

    Attributes:
        model, prompt, layer, head: names and numbers as in the model.
        how: "greedy" or "sampled"; temperature, seed: for what is sampled.
        instead_of: the model of the other pages, where it cannot write; "" elsewhere.
    """

    model: str
    prompt: str
    layer: int
    head: int
    how: str
    temperature: float
    seed: int
    instead_of: str


def can_write(name: str) -> bool:
    """Whether the model sees backwards alone, and says what comes next. One that is not loaded yet may."""
    if name.startswith(own.PREFIX):
        return False
    card = models.card(name)
    if models.is_pending(card):
        return True
    return card.causal and any(_says_words(readout) for readout in card.details.get("readouts", ({},)))


def _says_words(readout: Mapping[str, Any]) -> bool:
    return readout.get("answers") is None and readout.get("at") != "prefix"


def names(*opened: str) -> list[str]:
    """The models that can write: those of the catalogue, and what was opened."""
    return [name for name in models.names(*opened) if can_write(name)]


def prompt_for(name: str) -> str:
    """A text to go on from."""
    card = models.card(name)
    known = PROMPTS.get(card.details["tokenizer"])
    return " ".join(examples.first().text.split()[:OPENING_WORDS]) if known is None else known


def fit(state: MutableMapping[Any, Any]) -> None:
    """Follow the other pages' model; keep to a model, a layer and a head that there are, and to a prompt that fits."""
    if state["writer_follows"] != state["model"]:
        state["writer_follows"] = state["model"]
        if can_write(state["model"]):
            use(state, state["model"])
    try:
        is_writer = can_write(state["writer"])
    except ac.UnknownModel:
        is_writer = False
    if not is_writer:
        use(state, DEFAULT_WRITER)
    card = models.card(state["writer"])
    layers = models.layer_numbers(card, models.stacks(card)[0])
    if state["write_layer"] not in layers:
        state["write_layer"], state["write_head"] = _first_head(state["writer"])
    if not state["write_head"] < models.n_heads(card, models.stacks(card)[0], state["write_layer"]):
        state["write_head"] = 0


def use(state: MutableMapping[Any, Any], name: str) -> None:
    """Write with this model from now on; a prompt of the reader's own stays."""
    was = prompt_for(state["writer"]) if state["writer"] else ""
    state["writer"] = name
    state["write_layer"], state["write_head"] = _first_head(name)
    if state["prompt"] in ("", was):
        state["prompt"] = prompt_for(name)


def _first_head(name: str) -> tuple[int, int]:
    card = models.card(name)
    layers = models.layer_numbers(card, models.stacks(card)[0])
    layer, head = card.reading_head or (layers[0], 0)
    return (layer, head) if layer in layers else (layers[0], 0)


def choice_of(state: Mapping[Any, Any]) -> Choice:
    """The choice that stands in these fields; an emptied box means what is usual."""
    temperature, seed = (USUAL[name] if state[name] is None else state[name] for name in ("temperature", "write_seed"))
    is_other = state["writer"] != state["model"] and not can_write(state["model"])
    return Choice(
        model=state["writer"],
        prompt=state["prompt"],
        layer=state["write_layer"],
        head=state["write_head"],
        how=state["how"],
        temperature=temperature,
        seed=seed,
        instead_of=state["model"] if is_other else "",
    )


def read(query: Mapping[str, str], fields: Mapping[str, Any], refuse: Callable[[str, str], None]) -> dict[str, Any]:
    """The fields in an address, beside those that all pages share; what cannot be used is refused, and is as usual."""
    found: dict[str, Any] = {"writer": "", "write_layer": 0, "write_head": 0, "writer_follows": fields["model"]}
    found["prompt"] = query.get("prompt", "")
    use(found, fields["model"] if can_write(fields["model"]) else DEFAULT_WRITER)
    if found["writer"] == fields["model"]:
        found |= {"write_layer": fields["layer"], "write_head": fields["head"]}
    for name, convert in (("how", _how), ("temperature", _temperature), ("write_seed", _seed)):
        found[name] = USUAL[name]
        try:
            found[name] = convert(query[name]) if name in query else USUAL[name]
        except ValueError:
            refuse("option", f"{name}={query[name]}")
    return found


def address(choice: Choice) -> dict[str, Any]:
    """The fields of an address that `read` gives back."""
    drawn = {"temperature": choice.temperature, "write_seed": choice.seed} if choice.how == "sampled" else {}
    place = {"model": choice.model, "layer": choice.layer, "head": choice.head}
    return {**place, "prompt": choice.prompt, "how": choice.how, **drawn}


def _how(text: str) -> str:
    if text not in HOWS:
        raise ValueError(text)
    return text


def _temperature(text: str) -> float:
    number = float(text)
    if not COLDEST <= number <= HOTTEST:
        raise ValueError(text)
    return number


def _seed(text: str) -> int:
    number = int(text)
    if not 0 <= number <= MAX_SEED:
        raise ValueError(text)
    return number
