"""How well a model of `two-heads` does: the figures on its card, and the curves of its film."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from attention_core.teach.runs import Ask, Looks
from attention_core.teach.tasks.two_heads_data import (
    ASKED,
    BUDDHA,
    NOT_ASKED,
    NUMBER,
    UNKNOWN,
    Topical,
    encode,
    held_out,
)

HEADLINE = "佛祖放下佛经，来找佛跳墙。"  # The Buddha lays down the sutra and comes for the soup.
N_HELD_OUT = 2000
N_FILM = 60  # Texts that the film's curve is measured on, again and again.

# Sentences as people write them, most of their characters unknown to the model, by what they are about.
BY_HAND = {
    0: ("我家在佛山。", "他买了两个佛手瓜。", "佛罗伦萨的冬天很冷。", "天上仿佛要下雨了。", "佛山的早茶很好吃。"),
    1: (
        "妈妈做的佛跳墙很香。",
        "这家饭店的佛跳墙最贵。",
        "佛跳墙要炖两天。",
        "福州人过年吃佛跳墙。",
        "你吃过佛跳墙吗？",
    ),
    2: ("奶奶每天念佛经。", "佛祖坐在莲花上。", "和尚抄写佛经。", "他跪在佛祖面前。", "玄奘取回了佛经。"),
    3: (
        "庙里念佛经，门外卖佛跳墙。",
        "佛祖闻到佛跳墙也会动心。",
        "读完佛经去吃佛跳墙。",
        "佛跳墙和佛祖有什么关系？",
        "听说佛经里没有佛跳墙。",
    ),
}
# 跳, 墙, 祖 and 经 in words that have nothing to do with 佛: about neither, and the model has never seen such a text.
BORROWED = (
    "佛山的围墙很高。",
    "他在佛山跳舞。",
    "佛山的经济很好。",
    "佛手是祖父种的。",
    "我经过佛罗伦萨。",
    "佛坪人爱跳绳。",
    "祖国的佛山。",
    "佛手放在墙角。",
)


class Division(NamedTuple):
    """Which head asks for the dish, which one for Buddhism (the same, if one does both), and how clearly.

    Attributes:
        pattern: twice the smallest of the weights of 跳, 墙 in the one and 祖, 经 in the other: 1 if each is a half.
            One head that asks for all four cannot pass .5.
    """

    dish: int
    buddhism: int
    pattern: float


def weights_of(row: Float[np.ndarray, "head key"], text: str) -> Float[np.ndarray, "head asked"]:
    """How much of each head's attention 跳, 墙, 祖 and 经 get in all."""
    at = np.array([[character == asked for character in text] for asked in ASKED])
    return row @ at.T


def divide(weights: Float[np.ndarray, "head asked"]) -> Division:
    """The best way to say which head does what."""
    dish, buddhism = weights[:, :2].min(axis=1), weights[:, 2:].min(axis=1)
    pairs = np.minimum(dish[:, None], buddhism)
    one, other = np.unravel_index(int(pairs.argmax()), pairs.shape)
    return Division(int(one), int(other), 2 * float(pairs.max()))


def pattern(scenes: tuple[Looks, ...]) -> float:
    """How clearly two heads have divided the work in the headline (see `Division`)."""
    return divide(weights_of(scenes[0][0][:, HEADLINE.index(BUDDHA)], HEADLINE)).pattern


def said(ask: Ask, texts: Sequence[Topical]) -> list[int]:
    """What the model says at the first 佛 of each text."""
    corpus = encode(texts)
    first = (corpus.tokens == NUMBER[BUDDHA]).argmax(axis=1)
    logits = ask(corpus.tokens, corpus.real).logits["about"]
    return list(logits[np.arange(len(texts)), first].argmax(-1))


def right(ask: Ask, texts: Sequence[Topical]) -> float:
    """The share of texts that it is right about, at their first 佛."""
    return float(np.mean([answer == each.about for answer, each in zip(said(ask, texts), texts, strict=True)]))


@cache
def _film_texts() -> tuple[Topical, ...]:
    return tuple(held_out("frames", N_FILM))


def held_out_share(ask: Ask) -> float:
    """Right about texts in frames never seen."""
    return right(ask, _film_texts())


def measure(ask: Ask) -> dict[str, Any]:
    """The figures of the card; `head_0_dish` is what head 0 gives to 跳 and 墙 in the headline."""
    frames = held_out("frames", N_HELD_OUT)
    by_hand = [Topical(text, about) for about, texts in BY_HAND.items() for text in texts]
    return {
        "held_out_combinations": right(ask, held_out("combinations", N_HELD_OUT)),
        "held_out_frames": right(ask, frames),
        "other_characters": _others(ask, frames[:500]),
        "by_hand": right(ask, by_hand),
        "headline": headline(ask),
        "head_0_dish": round(float(weights_of(_headline_row(ask), HEADLINE)[0, :2].sum()), 4),
        "divided": _is_divided(headline(ask)),
    }


def headline(ask: Ask) -> dict[str, dict[str, float]]:
    """By subject: the head that asks for it, and its weights from 佛 in the headline, 佛 itself included."""
    row = _headline_row(ask)
    weights = weights_of(row, HEADLINE)
    division = divide(weights)
    itself = row[:, [character == BUDDHA for character in HEADLINE]].sum(axis=1)

    def told(head: int) -> dict[str, float]:
        named = {asked: round(float(weight), 4) for asked, weight in zip(ASKED, weights[head], strict=True)}
        return {"head": head, **named, BUDDHA: round(float(itself[head]), 4)}

    return {"dish": told(division.dish), "buddhism": told(division.buddhism)}


def _headline_row(ask: Ask) -> Float[np.ndarray, "head key"]:
    tokens = np.array([[NUMBER.get(character, NUMBER[UNKNOWN]) for character in HEADLINE]])
    return ask(tokens).weights[0][0][:, HEADLINE.index(BUDDHA)]


def _is_divided(told: dict[str, dict[str, float]]) -> bool:
    """Two different heads; each gives its own two at least .3 each and .7 in sum, the other two at most .15."""

    def is_clear(weights: dict[str, float], own: Sequence[str], others: Sequence[str]) -> bool:
        mine = [weights[each] for each in own]
        return min(mine) >= 0.3 and sum(mine) >= 0.7 and sum(weights[each] for each in others) <= 0.15

    dish, buddhism = told["dish"], told["buddhism"]
    is_apart = dish["head"] != buddhism["head"]
    return is_apart and is_clear(dish, ASKED[:2], ASKED[2:]) and is_clear(buddhism, ASKED[2:], ASKED[:2])


def _others(ask: Ask, texts: Sequence[Topical]) -> float:
    """The share of the other characters that know that they aren't asked."""
    corpus = encode(texts)
    is_other = corpus.real & (corpus.tokens != NUMBER[BUDDHA])
    said_there = ask(corpus.tokens, corpus.real).logits["about"].argmax(-1)[is_other]
    return float((said_there == NOT_ASKED).mean())


def limits(ask: Ask, n: int = 500) -> dict[str, float]:
    """Shares of answers to texts that the model was not made for.

    Returns:
        borrowed: right where the four characters stand in other words. one_left: the dish still found when 墙 is
        blotted out. scrambled: the answer stays the same when all characters change places.
    """
    rng = np.random.default_rng(3)
    texts = held_out("frames", n)
    dishes = [each for each in texts if each.about % 2]
    scrambled = [each._replace(text="".join(rng.permutation(list(each.text)))) for each in texts]
    return {
        "borrowed": right(ask, [Topical(text, 0) for text in BORROWED]),
        "one_left": right(ask, [each._replace(text=each.text.replace("墙", "□")) for each in dishes]),
        "scrambled": float(np.mean(np.array(said(ask, texts)) == said(ask, scrambled))),
    }
