"""Addresses: the state of a session as a query string, and the state that a query string describes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import attention_core as ac
from attention_core.cards import DEFAULT
from ui import bench_codes, edit_texts, examples, exercises, learned, lessons, models, writers
from ui.translations import LANGUAGES

LOOKS = ("asks", "answers")
STEPS = ("project", "score", "softmax", "sum")
STACKS = ("self", "encoder", "decoder", "cross")
BLOCKS = ("all", "AA", "AB", "BA", "BB")
MAX_CHARACTERS = 100_000  # Far beyond what a model takes: its own limit answers first, with the text kept.
MAX_ADDRESS = 8_000  # Servers and proxies refuse longer ones.

UNSET = -1  # No token was named: the one that the model's card names is chosen.


@dataclass(frozen=True)
class Selection:
    """Everything that a link reproduces.

    Attributes:
        lang, model, text: language, model name, sentence.
        pair: the second segment, for models that read two; "" for none. target: what an encoder–decoder's decoder
            reads; "" lets the model write it.
        second: the sentence to compare with; is_compared: whether it is shown.
        stack: which attention of the model; layer, head: numbers from 0, as the model counts.
        token: the position that asks (or, looking the other way, is looked at); None when none is locked.
        key: the position of the chosen answer; None means the strongest.
        look: "asks" (who does it look at) or "answers" (who looks at it).
        step: where the walk stands; is_projected: sizes for a projector.
        is_whole: pieces of words read as one; block: which part of a pair's matrix ("all", "AA", "AB", "BA", "BB").
        is_sink_left_out: without the token that takes most of the attention, the rest made 1 again.
        edits: what is different in the second run of What if, as ui/edit_texts.py writes it.
    """

    lang: str
    model: str
    text: str
    pair: str
    target: str
    second: str
    is_compared: bool
    stack: str
    layer: int
    head: int
    token: int | None
    key: int | None
    look: str
    step: str
    is_projected: bool
    is_whole: bool
    block: str
    is_sink_left_out: bool
    edits: str = ""


@dataclass(frozen=True)
class Note:
    """Something in the address that could not be used: which field, what it said."""

    field: str
    value: str


def read_address(query: Mapping[str, str], language: str) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """The state that an address describes, and what in it could not be used."""
    found: list[Note] = []

    def read(name: str, default: Any, convert: Callable[[str], Any]) -> Any:
        if name not in query:
            return default
        try:
            return convert(query[name])
        except (ValueError, KeyError, ac.UnknownModel):
            refuse(name, query[name])
            return default

    def refuse(name: str, value: str) -> None:
        found.append(Note(name, value))

    def switch(name: str) -> bool:
        return read(name, "0", _one_of(("0", "1"))) == "1"

    model = read("model", DEFAULT, models.known)
    card = models.card(model)
    first_layer, head = card.reading_head or (0, 0)
    stack = read("stack", models.stacks(card)[0], _one_of(models.stacks(card)))
    layers = models.layer_numbers(card, stack)
    layer = read("layer", first_layer if first_layer in layers else layers[0], _among(layers))
    heads = range(models.n_heads(card, stack, layer))
    text = query.get("text", examples.first(examples.family_of(card)).text)[:MAX_CHARACTERS]
    flip = examples.flip_of(text)
    fields = {
        "lang": read("lang", language, _one_of(LANGUAGES)),
        "model": model,
        "text": text,
        "pair": query.get("pair", "")[:MAX_CHARACTERS],
        "target": query.get("target", "")[:MAX_CHARACTERS],
        "second": query.get("second", text if flip is None else flip.text)[:MAX_CHARACTERS],
        "is_compared": switch("compare"),
        "stack": stack,
        "layer": layer,
        "head": read("head", head, _among(heads)),
        "token": read("token", UNSET, _position),
        "key": read("key", None, _position),
        "look": read("look", LOOKS[0], _one_of(LOOKS)),
        "step": read("step", STEPS[0], _one_of(STEPS)),
        "is_projected": switch("projector"),
        "is_whole": switch("whole"),
        "block": read("block", BLOCKS[0], _one_of(BLOCKS)),
        "is_sink_left_out": switch("nosink"),
        "edits": _edits(query.get("edits", ""), refuse),
    }
    taught = lessons.read(query, refuse)
    if any(note.field == "model" for note in found) and query["model"].startswith(learned.PREFIX):
        taught |= lesson_behind(query["model"])
    benches = bench_codes.read(query, refuse) | exercises.read(query, refuse)
    return fields | taught | benches | writers.read(query, fields, refuse), tuple(found)


def lesson_behind(name: str) -> dict[str, Any]:
    """What to train to have the model of that name again; nothing where the name says nothing."""
    try:
        return lessons.fields_of(learned.spec_of(name))
    except ValueError:
        return {}


def address(selection: Selection) -> str:
    """The query string that reproduces `selection`, defaults included; without the texts where it would be too long."""
    fields = {
        "lang": selection.lang,
        "model": selection.model,
        **({} if selection.stack == STACKS[0] else {"stack": selection.stack}),
        "layer": selection.layer,
        "head": selection.head,
        **({} if selection.token == UNSET else {"token": "none" if selection.token is None else selection.token}),
        **({} if selection.key is None else {"key": selection.key}),
        "look": selection.look,
        "step": selection.step,
        **_raised(projector=selection.is_projected, whole=selection.is_whole, nosink=selection.is_sink_left_out),
        **({} if selection.block == BLOCKS[0] else {"block": selection.block}),
        **({"edits": selection.edits} if selection.edits else {}),
    }
    texts = {
        "text": selection.text,
        **({"pair": selection.pair} if selection.pair else {}),
        **({"target": selection.target} if selection.target else {}),
        **({"compare": 1, "second": selection.second} if selection.is_compared else {}),
    }
    whole = urlencode({**texts, **fields}, errors="replace")
    return whole if len(whole) <= MAX_ADDRESS else urlencode(fields)


def lesson_address(selection: Selection, lesson: lessons.Lesson) -> tuple[str, bool]:
    """The query string that reproduces the Learn page, and whether all of it: too long, it lacks own sentences."""
    projector = {"projector": 1} if selection.is_projected else {}
    fields = {"lang": selection.lang, **lessons.address(lesson), **projector}
    whole = urlencode(fields, errors="replace")
    is_whole = len(whole) <= MAX_ADDRESS
    return whole if is_whole else urlencode({**fields, "own": ""}), is_whole


def _edits(text: str, refuse: Callable[[str, str], None]) -> str:
    edits, bad = edit_texts.read(text[:MAX_ADDRESS])
    for piece in bad:
        refuse("edits", piece)
    return edit_texts.write(edits)


def write_address(selection: Selection, choice: writers.Choice) -> tuple[str, bool]:
    """The query string that reproduces the Write page, and whether all of it: too long, it lacks the prompt."""
    projector = {"projector": 1} if selection.is_projected else {}
    fields = {"lang": selection.lang, **writers.address(choice), **projector}
    whole = urlencode(fields, errors="replace")
    is_whole = len(whole) <= MAX_ADDRESS
    return whole if is_whole else urlencode({**fields, "prompt": ""}), is_whole


def _one_of(options: Any) -> Callable[[str], str]:
    def convert(value: str) -> str:
        if value not in options:
            raise ValueError(value)
        return value

    return convert


def _among(numbers: Collection[int]) -> Callable[[str], int]:
    def convert(value: str) -> int:
        number = int(value)
        if number not in numbers:
            raise ValueError(value)
        return number

    return convert


def _raised(**flags: bool) -> dict[str, int]:
    return {name: 1 for name, is_up in flags.items() if is_up}


def _below(limit: int) -> Callable[[str], int]:
    def convert(value: str) -> int:
        number = int(value)
        if not 0 <= number < limit:
            raise ValueError(value)
        return number

    return convert


def _position(value: str) -> int | None:
    return None if value == "none" else _below(MAX_CHARACTERS)(value)
