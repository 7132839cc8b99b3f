"""What is known about a model before it is run: its card, and the catalogue of cards that come with the package."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attention_core.errors import UnknownModel

FOLDER = Path(__file__).parent / "models"
DEFAULT = "pronoun-open"

Words = Mapping[str, str]  # A text by language: {"en": …, "zh": …}.


@dataclass(frozen=True)
class ModelCard:
    """A model's name, sizes, origin and limits.

    Attributes:
        name: what `load` takes; title, source: what a reader sees, by language ("en", "zh").
        n_layers, n_heads, d_model, d_head: its sizes; n_parameters: how many numbers it has.
        causal: whether a token sees only itself and what came before.
        max_tokens: the longest text it takes, in tokens.
        reading_head: (layer, head) that finds a pronoun's noun, or None.
        licence: of the weights.
        is_available: whether its weights are on this machine.
        details: the rest of the card as it stands in the file (data, objective, figures, what may not be claimed …).
    """

    name: str
    title: Words
    source: Words
    n_layers: int
    n_heads: int
    d_model: int
    d_head: int
    n_parameters: int
    causal: bool
    max_tokens: int
    reading_head: tuple[int, int] | None
    licence: str
    is_available: bool
    details: Mapping[str, Any] = field(repr=False)


@cache
def models() -> tuple[ModelCard, ...]:
    """The cards of the catalogue, the default model first."""
    cards = [read_card(path) for path in sorted(FOLDER.glob("*.json"))]
    return tuple(sorted(cards, key=lambda card: card.name != DEFAULT))


def card_of(name: str) -> ModelCard:
    """The card of that name.

    Raises:
        UnknownModel: the catalogue has no such name.
    """
    known = {card.name: card for card in models()}
    if name not in known:
        raise UnknownModel(name, tuple(known))
    return known[name]


def read_card(path: Path) -> ModelCard:
    """The card in a JSON file; its weights stand beside it under the same name, or in the package that it names."""
    facts = json.loads(path.read_text(encoding="utf-8"))
    if "package" not in facts:
        return card_from(facts, path.with_suffix(".safetensors").is_file())
    folder = packaged(facts)
    facts["stacks"] = stacks_of(facts["stacks"])
    return card_from(facts, folder is not None and (folder / "model.safetensors").is_file())


def packaged(facts: Mapping[str, Any]) -> Path | None:
    """The folder with the weights in the Python package that a card names; None where it isn't installed.

    Looking a top-level package up runs none of its code.
    """
    spec = find_spec(facts["package"])
    places = None if spec is None else spec.submodule_search_locations
    return Path(places[0]) / facts["folder"] if places else None


def is_real(card: ModelCard) -> bool:
    """Whether it is a transformer from elsewhere, for which torch and transformers are needed."""
    return card.details.get("kind") == "real"


def stacks_of(facts: Mapping[str, Mapping[str, Sequence[int]]]) -> Mapping[str, Mapping[str, tuple[int, ...]]]:
    """By stack ("self" …), the numbers of its attention layers and how many heads each of them has."""
    return MappingProxyType(
        {
            kind: MappingProxyType({name: tuple(one[name]) for name in ("layers", "heads")})
            for kind, one in facts.items()
        }
    )


def card_from(facts: Mapping[str, Any], is_available: bool = True) -> ModelCard:
    """The card in these facts, as they stand in a file.

    Raises:
        KeyError, TypeError: one is missing or of another kind.
    """
    reading_head = facts["reading_head"]
    return ModelCard(
        **{key: facts[key] for key in ("name", "n_layers", "n_heads", "d_model", "d_head", "n_parameters")},
        **{key: facts[key] for key in ("causal", "max_tokens", "licence")},
        title=MappingProxyType(facts["title"]),
        source=MappingProxyType(facts["source"]),
        reading_head=None if reading_head is None else (reading_head[0], reading_head[1]),
        is_available=is_available,
        details=MappingProxyType(dict(facts)),
    )
