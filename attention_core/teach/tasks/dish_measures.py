"""How well a model of `dish` does: the figures on its card, and the curves of its film."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from attention_core.teach.runs import Answers, Ask, Looks
from attention_core.teach.tasks import dish_texts as texts
from attention_core.teach.tasks.dish_data import Corpus, encode
from attention_core.teach.tasks.dish_texts import BY_HAND, DISH, FIRST, NUMBER, Sentence, about

SCENE = "晚上我们吃佛跳墙"
TRAP = "佛祖看他跳过墙"  # The same three characters, and no dish.
AT = 1 + SCENE.index(DISH)  # [CLS] stands before the text.
WANTED = (AT, AT + 1, AT + 2)
N_HELD_OUT = 2000
N_FILM = 100  # Sentences that the film's curve is measured on, again and again.
N_LIMIT = 500


def unseen(n: int, seed: int = 1) -> list[Sentence]:
    """In frames never seen in training: by turns a trap, which holds the dish's characters, and one about the dish."""
    rng = np.random.default_rng(seed)
    return [about(texts.framed(rng, DISH, is_test=True)) if i % 2 else texts.hard(rng, is_test=True) for i in range(n)]


@cache
def _film_corpus() -> Corpus:
    return encode(unseen(N_FILM))


def says_yes(answers: Answers) -> np.ndarray:
    """Which sentences it holds to be about the dish."""
    logits = answers.logits["about"][:, 0]
    return np.asarray(logits[:, 1] > logits[:, 0])


def held_out(ask: Ask) -> float:
    """Right about sentences in frames never seen, half of them traps."""
    return _right(ask, _film_corpus())


def right(ask: Ask, sentences: Sequence[Sentence]) -> float:
    """Share of sentences that it judges rightly."""
    return _right(ask, encode(list(sentences)))


def _right(ask: Ask, corpus: Corpus) -> float:
    return float((says_yes(ask(corpus.tokens, corpus.real)) == corpus.is_about).mean())


def pattern(scenes: tuple[Looks, ...]) -> float:
    """What [CLS] gives to 佛, 跳 and 墙 together in the last layer; at most .5 unless they are its top three.

    Of several heads, the one that does it best.
    """
    return max(_gathered(row) for row in scenes[0][-1][:, 0])


def _gathered(row: Float[np.ndarray, " key"]) -> float:
    wanted = list(WANTED)
    together = float(row[wanted].sum())
    return together if row[wanted].min() > np.delete(row, wanted).max() else min(0.5, together)


def measure(ask: Ask) -> dict[str, Any]:
    """The figures of the card."""
    corpus = encode(unseen(N_HELD_OUT))
    answers = ask(corpus.tokens, corpus.real)
    yes = says_yes(answers)
    is_text = corpus.real.copy()
    is_text[:, 0] = False
    said = answers.logits["inside"].argmax(-1) == 1
    return {
        "adversarial": float((yes == corpus.is_about).mean()),
        "found": float(yes[corpus.is_about].mean()),
        "refused": float(1 - yes[~corpus.is_about].mean()),
        "by_hand": right(ask, [about(text) for each in BY_HAND.values() for text in each]),
        "inside": float((said == corpus.inside)[is_text].mean()),
        **_looks(ask, corpus, answers),
    }


def _looks(ask: Ask, corpus: Corpus, answers: Answers) -> dict[str, Any]:
    """Where [CLS] looks in the last layer (the head that gathers best), and the name's characters in layer 0."""
    scene, trap = (ask(np.array([[NUMBER[each] for each in (FIRST, *text)]])) for text in (SCENE, TRAP))
    rows = scene.weights[-1][0, :, 0]  # (head, key)
    head = int(np.argmax([_gathered(row) for row in rows]))
    trapped = trap.weights[-1][0, head, 0]
    return {
        "headline": _by_character(rows[head], SCENE),
        "trap": {**_by_character(trapped, TRAP), "says_no": bool(not says_yes(trap)[0])},
        "first_looks_at_the_name": _name_weights(answers.weights[-1][:, head, 0], corpus),
        "layer_0": _inner_looks(answers.weights[0].mean(axis=1), corpus),
    }


def _by_character(row: Float[np.ndarray, " key"], text: str) -> dict[str, float]:
    at = [1 + text.index(each) for each in DISH]
    weights = {each: round(float(row[place]), 4) for each, place in zip(DISH, at, strict=True)}
    return weights | {"largest_other": round(float(np.delete(row, at).max()), 4)}


def _name_weights(first: Float[np.ndarray, "sentence key"], corpus: Corpus) -> dict[str, float]:
    """Over sentences about the dish: [CLS]'s weight on the name; how often its three characters are the top three."""
    looked, places = first[corpus.is_about], _places(corpus)
    top = np.sort(np.argsort(-looked, axis=1)[:, :3], axis=1)
    return {
        "weight": round(float(np.take_along_axis(looked, places, axis=1).sum(axis=1).mean()), 4),
        "top_three": float((top == places).all(axis=1).mean()),
    }


def _inner_looks(looks: Float[np.ndarray, "sentence query key"], corpus: Corpus) -> dict[str, dict[str, float]]:
    """Over sentences about the dish: what each character of the name gives to the others and itself, and elsewhere."""
    inner, places = looks[corpus.is_about], _places(corpus)
    rows = np.arange(len(inner))
    given = {}
    for i, asker in enumerate(DISH):
        each = [float(inner[rows, places[:, i], places[:, j]].mean()) for j in range(len(DISH))]
        named = {wanted: round(weight, 4) for wanted, weight in zip(DISH, each, strict=True)}
        given[asker] = named | {"elsewhere": round(1 - sum(each), 4)}
    return given


def _places(corpus: Corpus) -> Int[np.ndarray, "sentence 3"]:
    """Where the name's characters stand in the sentences about the dish; each names it once."""
    return np.nonzero(corpus.inside[corpus.is_about])[1].reshape(-1, len(DISH))


def limits(ask: Ask, n: int = N_LIMIT, seed: int = 3) -> dict[str, float]:
    """Shares of sentences that it was not made for.

    Returns:
        twice: named twice: it says yes. surrounded: the three characters stand elsewhere, too: yes. long: about the
        dish, as long as `LONG` says: yes; long_trap: as long, a trap: no. strange_between: a character that it does
        not know stands in the name: no. only_strangers: all other characters are unknown: yes; strangers_trap:
        likewise, and the name's characters in another order: no. traditional: 佛跳牆: yes, though it was never
        taught 牆.
    """
    rng = np.random.default_rng(seed)

    def share(make: Callable[[], str]) -> float:
        corpus = encode([about(make()) for _ in range(n)])
        return float(says_yes(ask(corpus.tokens, corpus.real)).mean())

    def named() -> str:
        return texts.framed(rng, DISH, is_test=True)

    def between() -> str:
        return named().replace(DISH, texts.pick(rng, ("佛?跳墙", "佛跳?墙")))

    return {
        "twice": share(lambda: texts.framed(rng, f"{DISH}和{DISH}", is_test=True)),
        "surrounded": share(lambda: texts.surrounded(rng, named())),
        "long": share(lambda: texts.lengthened(rng, named())),
        "long_trap": 1 - share(lambda: texts.lengthened(rng, texts.hard(rng, is_test=True).text)),
        "strange_between": 1 - share(between),
        "only_strangers": share(lambda: _strange(named())),
        "strangers_trap": 1 - share(lambda: _strange(texts.shuffled(rng, is_test=True))),
        "traditional": share(lambda: named().replace("墙", "牆")),
    }


def _strange(text: str) -> str:
    return "".join(each if each in DISH else "?" for each in text)
