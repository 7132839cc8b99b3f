"""The model's card as a reader sees it: what it is, what it learned from, how well it does, what may not be claimed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

import attention_core as ac
from ui import models
from ui.translations import LANGUAGES, Words

# Texts with a heading of ours, in this order; any other text of a card follows under its own name.
TEXTS = ("answers", "architecture", "structural_zeros", "data", "objective", "regularisers", "layer_0", "failures")
ELSEWHERE = ("title", "summary", "source", "not_to_claim")


def show(card: ac.ModelCard, words: Words) -> None:
    """Open the card over the page."""

    @st.dialog(words("card.title", name=card.name), width="large")
    def opened() -> None:
        _body(card, words)

    opened()


def _body(card: ac.ModelCard, words: Words) -> None:
    lang, facts = words.language, card.details
    summary = facts.get("summary", card.source)[lang]
    st.markdown(f"**{card.title[lang]}**  \n{summary}")
    st.markdown(_sizes(card, words))
    if "method" in facts:
        st.markdown(_captured(card, words))
    for heading, text in texts(facts, words):
        st.markdown(f"**{heading}**  \n{text}")
    if "training" in facts:
        st.markdown(f"**{words('card.training')}**  \n{training(facts['training'], words)}")
    if "figures" in facts:
        st.markdown(f"**{words('card.figures', n=len(facts['figures']['seeds']))}**")
        st.table(figures(facts, words))
    if "n_reached" in facts.get("figures", ()):
        st.markdown(_reached(facts["figures"], words))
    if facts.get("measured"):
        st.markdown(f"**{words('card.measured')}**\n{_bullets(_measured(facts['measured'], words))}")
    if "not_to_claim" in facts:
        st.markdown(f"**{words('card.not_to_claim')}**\n{_bullets(facts['not_to_claim'][lang])}")
    licence = f" · {words('card.licence', licence=card.licence)}" if card.licence else ""
    st.markdown(f"**{words('card.source')}**  \n{card.source[lang]}{licence}")


def texts(facts: Mapping[str, Any], words: Words) -> Iterator[tuple[str, str]]:
    """Every text of the card with its heading, in the reader's language."""
    others = [name for name, value in facts.items() if _is_text(value) and name not in (*TEXTS, *ELSEWHERE)]
    for name in (*TEXTS, *others):
        if name in facts:
            text = facts[name][words.language]
            heading = words(f"card.{name}") if name in TEXTS else name.replace("_", " ")
            yield heading, text if isinstance(text, str) else _bullets(text)


def training(facts: Mapping[str, Any], words: Words) -> str:
    """How the weights came about, in one line."""
    return words("card.trained", seed=facts["seed"], steps=f"{facts['steps']:,}", batch=facts["batch"])


def figures(facts: Mapping[str, Any], words: Words) -> list[dict[str, str]]:
    """One line per figure, one column per training run: those that the card lists, else all that are there."""
    runs = facts["figures"]["seeds"]
    listed = facts.get("columns") or [{"path": path, "is_share": False} for path in _paths(runs[0])]
    return [
        {
            words("card.figure"): column["label"][words.language] if "label" in column else column["path"],
            **{
                words("card.run", seed=run["seed"]): _written(_at(run, column["path"]), column["is_share"])
                for run in runs
            },
        }
        for column in listed
    ]


def _reached(figures: Mapping[str, Any], words: Words) -> str:
    return words("card.reached", k=figures["n_reached"], n=len(figures["seeds"]))


def _measured(variants: Sequence[Mapping[str, Any]], words: Words) -> list[str]:
    """Variants of the task that were measured but have no file: what was changed, what it teaches, how it went."""
    lang = words.language
    return [
        f"{each['title'][lang]}{words('card.colon')}{each['lesson'][lang]} {_reached(each['figures'], words)}"
        for each in variants
    ]


def _sizes(card: ac.ModelCard, words: Words) -> str:
    sizes = words(
        "card.sizes",
        layers=_numbered(card),
        heads=card.n_heads,
        d_model=card.d_model,
        d_head=card.d_head,
        parameters=f"{card.n_parameters:,}",
        max_tokens=card.max_tokens,
        unit=words(f"units.{card.details['tokenizer']}_one"),
        units=words(f"units.{card.details['tokenizer']}_many"),
    )
    if card.reading_head is None:
        return sizes
    layer, head = card.reading_head
    return f"{sizes} {words('card.begins', layer=layer, head=head)}"


def _numbered(card: ac.ModelCard) -> str:
    """How many layers have attention; which ones, where the model has others between them."""
    numbers = models.layer_numbers(card, models.stacks(card)[0])
    if list(numbers) == list(range(len(numbers))):
        return str(len(numbers))
    return f"{len(numbers)} ({', '.join(map(str, numbers))})"


def _captured(card: ac.ModelCard, words: Words) -> str:
    """How the numbers of a real model were had, and what was held against what when it was loaded."""
    facts = card.details
    how = words(f"card.method_{facts['method']}")
    away = facts.get("largest_difference")
    if away is None:
        return how
    return f"{how} {words('card.proven', n=facts['probed'], difference=f'{away:.1e}', dtype=facts['dtype'])}"


def _is_text(value: object) -> bool:
    return isinstance(value, Mapping) and set(value) == set(LANGUAGES)


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _paths(run: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Where the numbers of a run stand: names joined by dots."""
    for name, value in run.items():
        if isinstance(value, Mapping):
            yield from _paths(value, f"{above}{name}.")
        elif name != "seed":
            yield f"{above}{name}"


def _at(run: Mapping[str, Any], path: str) -> Any:
    value: Any = run
    for name in path.split("."):
        value = value[name]
    return value


def _written(value: Any, is_share: bool) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "✓" if value else "✗"
    if isinstance(value, float):
        return f"{value:.1%}" if is_share else f"{value:.3f}"
    return str(value)
