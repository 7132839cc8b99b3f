"""The sentences of `dish`: about the dish 佛跳墙 ("Buddha jumps over the wall"), or made of its characters otherwise.

A character is a token. What makes a sentence be about the dish is that 佛, 跳, 墙 stand side by side in this order; no
single character gives it away, because most negatives hold all three.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

UNKNOWN, FIRST = "[UNK]", "[CLS]"
DISH = "佛跳墙"
MAX_LENGTH = 16  # Characters of a sentence in training, before any are put in.
LONG = (20, 30)  # Characters of a long one, in tests only.

# A sentence is when, who, does what, and an ending; 〇 is where the dish stands, or what is eaten instead.
WHEN = ("", "", "今天", "晚上", "中午", "过年", "今天中午", "今天晚上", "听说", "听说今天", "每年过年", "有一天晚上")
WHO = ("", "我", "他", "我们", "他们", "妈妈", "老人", "有人", "我妈妈", "店里的人", "山上的老人", "家里人")
DOES = (
    "吃〇",
    "爱吃〇",
    "想吃〇",
    "做〇",
    "学做〇",
    "点了〇",
    "说〇好吃",
    "不吃〇",
    "吃了一点〇",
    "做的〇不好吃",
    "去店里点〇",
    "把〇做好了",
    "看见〇就高兴",
    "和我说〇是名菜",
)
THEN = ("", "", "就走了", "和汤", "和米饭", "不吃面", "就去跳舞了", "还去看佛祖", "很高兴", "还有火锅")
# The dish comes first in these.
FIRST_IN = (
    "〇是一道名菜",
    "〇很好吃",
    "〇和汤都有",
    "〇不好做",
    "〇做好了",
    "〇是我点的",
    "〇比火锅好吃",
    "〇里有鱼和鸡",
)

# Never in training: other words around the dish, and other orders of them.
TEST_WHEN = ("昨天", "今年过年", "昨天中午", "我听说昨天")
TEST_WHO = ("老师", "他妈妈", "老人家", "店里的老人", "我家里人")
TEST_DOES = ("在家吃〇", "点的是〇", "都说〇好", "想学做〇", "带〇上山", "去山上吃〇和面", "见〇还有就点了")
TEST_THEN = ("", "还不想走", "就不去了", "和一点汤")
OTHER_DISHES = ("火锅", "面", "米饭", "菜", "汤", "鱼", "鸡", "面和汤", "墙", "佛", "佛经")

# Sentences in which the characters mean what they mean elsewhere.
ELSEWHERE = (
    "念佛经",
    "去山上看佛祖",
    "和佛祖说了什么",
    "学佛经不吃鸡",
    "说佛经好看",
    "爱跳高",
    "去跳舞",
    "跳上山",
    "看店的围墙",
    "翻墙走了",
    "跳过围墙",
    "跳墙走了",
    "看见鸡跳过高墙",
    "和佛祖看人跳过墙",
    "在墙上看见佛祖",
    "在墙边念佛经",
    "在墙边念佛",
    "跳舞念佛都在墙边",
    "说佛祖高跳不上墙",
    "跳过这道墙去看佛祖",
    "在墙边跳舞不念佛",
)
FILLERS = "我他们的了在吃好人高上过看汤菜面鱼鸡火"

BY_HAND = {
    True: (
        "我想吃佛跳墙",
        "佛跳墙好吃",
        "这道佛跳墙是妈妈做的",
        "今天店里有佛跳墙和面",
        "他不爱吃佛跳墙",
        "听说佛跳墙是名菜",
        "老人说佛跳墙好吃",
        "晚上我们做佛跳墙",
        "中午吃了鱼和佛跳墙",
        "念佛经的老人也吃佛跳墙",
        "他跳过围墙去吃佛跳墙",
        "佛跳墙",
    ),
    False: (
        "我想吃火锅",
        "墙跳佛好吃",
        "佛祖跳过墙",
        "老人在墙边念佛",
        "他跳墙去看佛祖",
        "佛经上说不跳墙",
        "围墙边有人跳舞念佛",
        "今天店里有鱼和面",
        "佛爱跳高墙",
        "妈妈跳过墙去念佛经",
        "跳佛墙是什么菜",
        "佛墙跳",
    ),
}


def _vocabulary() -> tuple[str, ...]:
    """[UNK], [CLS], the dish's characters, then all others that training sentences hold, in the order of the lists."""
    lists = ((DISH,), WHEN, WHO, DOES, THEN, FIRST_IN, OTHER_DISHES, ELSEWHERE, (FILLERS,))
    everything = "".join("".join(each) for each in lists)
    return (UNKNOWN, FIRST, *dict.fromkeys(everything.replace("〇", "")))


VOCABULARY = _vocabulary()
NUMBER = {word: number for number, word in enumerate(VOCABULARY)}


class Sentence(NamedTuple):
    """Characters, and where in them the dish's name begins (nowhere: it is not about the dish)."""

    text: str
    names_at: tuple[int, ...]

    @property
    def is_about(self) -> bool:
        return bool(self.names_at)


def about(text: str) -> Sentence:
    """A sentence with its answer: it is about the dish if the three characters stand there next to each other."""
    return Sentence(text, tuple(place for place in range(len(text)) if text.startswith(DISH, place)))


def framed(rng: np.random.Generator, what: str, is_test: bool = False) -> str:
    """A sentence with this in its gap, of at most MAX_LENGTH characters."""
    while len(text := _frame(rng, is_test).replace("〇", what)) > MAX_LENGTH:
        pass
    return text


def _frame(rng: np.random.Generator, is_test: bool) -> str:
    if is_test:
        return _joined(rng, (TEST_WHEN, TEST_WHO, TEST_DOES, TEST_THEN))
    draw = rng.random()
    if draw < 0.3:
        return _joined(rng, (WHEN, FIRST_IN))
    if draw < 0.5:  # The other words with these characters stand beside the dish, too.
        return _joined(rng, (WHO, ELSEWHERE, DOES))
    return _joined(rng, (WHEN, WHO, DOES, THEN))


def _joined(rng: np.random.Generator, lists: tuple[tuple[str, ...], ...]) -> str:
    return "".join(pick(rng, each) for each in lists)


def disturbed(rng: np.random.Generator, text: str, share: float) -> str:
    """Some characters replaced by any others, so that words around the name tell nothing certain; the name stays."""
    kept = {place + i for place in about(text).names_at for i in range(len(DISH))}
    any_other = VOCABULARY[2:]
    drawn = [i not in kept and rng.random() < share for i in range(len(text))]
    return "".join(pick(rng, any_other) if is_drawn else each for is_drawn, each in zip(drawn, text, strict=True))


def shuffled(rng: np.random.Generator, is_test: bool = False) -> str:
    """The three characters next to each other, in another order."""
    orders = ("佛墙跳", "跳佛墙", "跳墙佛", "墙佛跳", "墙跳佛")
    return framed(rng, pick(rng, orders), is_test)


def gapped(rng: np.random.Generator, is_test: bool = False) -> str:
    """The three characters in order, something in between."""
    first, second = ("", pick(rng, FILLERS)) if rng.random() < 0.5 else (pick(rng, FILLERS), "")
    if rng.random() < 0.2:
        first, second = pick(rng, FILLERS), pick(rng, FILLERS)
    return framed(rng, f"佛{first}跳{second}墙", is_test)


def partial(rng: np.random.Generator, is_test: bool = False) -> str:
    """Two of the characters next to each other, the third elsewhere or nowhere."""
    pair, third = pick(rng, (("佛跳", "墙"), ("跳墙", "佛")))
    text = framed(rng, pair, is_test)
    if rng.random() < 0.3:
        return text
    return inserted(rng, text, third)


def scattered(rng: np.random.Generator, is_test: bool = False) -> str:
    """The three characters here and there."""
    text = framed(rng, pick(rng, OTHER_DISHES), is_test)
    for character in rng.permutation(list(DISH)):
        text = inserted(rng, text, str(character))
    return text


def inserted(rng: np.random.Generator, text: str, character: str) -> str:
    """The text with one character more, somewhere."""
    place = int(rng.integers(len(text) + 1))
    return text[:place] + character + text[place:]


def surrounded(rng: np.random.Generator, text: str) -> str:
    """A sentence with the dish's characters put before or after its name, too, one by one."""
    before, after = text.split(DISH)
    for character in DISH:
        if rng.random() < 0.5:
            before = inserted(rng, before, character)
        else:
            after = inserted(rng, after, character)
    return f"{before}{DISH}{after}"


def lengthened(rng: np.random.Generator, text: str) -> str:
    """More about other food before or after, until the sentence is as long as `LONG` says."""
    while True:
        found = text
        while len(found) < LONG[0]:
            other = framed(rng, pick(rng, OTHER_DISHES), is_test=True)
            found = other + found if rng.random() < 0.5 else found + other
        if len(found) <= LONG[1]:
            return found


def elsewhere(rng: np.random.Generator) -> str:
    """A sentence in which the characters mean something else."""
    return _joined(rng, (WHEN, WHO, ELSEWHERE))


def hard(rng: np.random.Generator, is_test: bool = False) -> Sentence:
    """A negative that holds the dish's characters, but not its name."""
    makers = (shuffled, shuffled, gapped, partial, scattered)  # The nearest misses more often.
    while True:
        sentence = about(pick(rng, makers)(rng, is_test))
        if not sentence.is_about:
            return sentence


_Item = TypeVar("_Item")


def pick(rng: np.random.Generator, items: tuple[_Item, ...] | str) -> _Item:
    return items[int(rng.integers(len(items)))]  # type: ignore[return-value]
