"""The model's card as a reader sees it: what it is, what it learned from, how well it does, what may not be claimed."""

from __future__ import annotations

from typing import Any

import streamlit as st

import attention_core as ac
from ui.translations import Words

TEXTS = ("answers", "architecture", "data", "objective", "regularisers", "structural_zeros", "failures")


def show(card: ac.ModelCard, words: Words) -> None:
    """Open the card over the page."""

    @st.dialog(words("card.title", name=card.name), width="large")
    def opened() -> None:
        _body(card, words)

    opened()


def _body(card: ac.ModelCard, words: Words) -> None:
    lang, facts = words.language, card.details
    st.markdown(f"**{card.title[lang]}**  \n{facts['summary'][lang]}")
    st.markdown(_sizes(card, words))
    for name in TEXTS:
        if name in facts:
            st.markdown(f"**{words(f'card.{name}')}**  \n{facts[name][lang]}")
    st.markdown(f"**{words('card.figures')}**")
    st.table(_figures(facts["figures"], words))
    st.markdown(f"**{words('card.not_to_claim')}**")
    st.markdown("\n".join(f"- {claim}" for claim in facts["not_to_claim"][lang]))
    st.markdown(f"**{words('card.source')}**  \n{card.source[lang]} · {words('card.licence', licence=card.licence)}")


def _sizes(card: ac.ModelCard, words: Words) -> str:
    layer, head = card.reading_head or (None, None)
    return words(
        "card.sizes",
        layers=card.n_layers,
        heads=card.n_heads,
        d_model=card.d_model,
        d_head=card.d_head,
        parameters=f"{card.n_parameters:,}",
        max_tokens=card.max_tokens,
        layer=layer,
        head=head,
    )


def _figures(figures: dict[str, Any], words: Words) -> list[dict[str, str]]:
    """One line per seed: held-out accuracies and the headline weights."""
    return [
        {
            words("card.seed"): str(run["seed"]),
            words("card.combinations"): f"{run['held_out_combinations']['two_way']:.1%}",
            words("card.frames"): f"{run['held_out_frames']['two_way']:.1%}",
            words("card.tired"): f"{run['headline']['tired']['animal']:.3f}",
            words("card.wide"): f"{run['headline']['wide']['street']:.3f}",
        }
        for run in figures["seeds"]
    ]
