"""The variants of `dish`: with a layer less, more heads, a matrix shared, no window, no positions, narrow heads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attention_core.teach.runs import Options
from attention_core.teach.tasks.task import Variant

N_HEADS = 4
N_HIDDEN = 32  # Units of the MLP.
NARROW = 2  # Dimensions of a narrow head.


def variants(options: Options) -> tuple[Variant, ...]:
    """Every variant, by what it changes."""
    return (*_depths(options), *_shared(options), *_places(options), *_narrow(options))


def _depths(options: Options) -> tuple[Variant, ...]:
    one = replace(options, n_layers=1, windows=())
    four, mlp = replace(one, n_heads=N_HEADS), replace(one, mlp=N_HIDDEN)
    return (
        _variant(
            "one-layer",
            one,
            ("one layer", "只有一层"),
            "With one layer, [CLS] reads characters that know nothing of each other yet: it sees that 佛, 跳 and 墙 "
            "are there, hardly whether they stand side by side. Look at the trap: the map can be as clear there as "
            "for the dish, and the answer no better than a guess.",
            "只有一层时，[CLS] 读到的每个字还不知道旁边是谁：它看得出佛、跳、墙都在，却很难看出三个字是否相连。"
            "看看陷阱句：注意力图可以和有菜名时一样清楚，回答却比瞎猜好不了多少。",
        ),
        _variant(
            "one-layer-mlp",
            mlp,
            ("one layer and an MLP", "一层加 MLP"),
            "An MLP can combine what the one head has gathered, characters with their places. That tells more than a "
            "sum: one layer gets farther, with some seeds more than with others. Nothing of it shows in the map.",
            "MLP 能把这个头收集来的东西（字和位置）再组合起来，比单纯相加能看出更多：一层因此能做得好一些，"
            "好多少要看种子。这一切在注意力图上看不出来。",
        ),
        _variant(
            "one-layer-four-heads",
            four,
            ("one layer with four heads", "一层四个头"),
            "Several heads can look at several characters, each for itself, and what they bring is added up. That "
            "tells a little more than one head can; the work is shared out, so that no single map shows the three "
            "together.",
            "多个头可以各看各的字，带回的内容再相加，比一个头看出的略多；活儿分给了几个头，"
            "所以哪张图上都看不到三个字聚在一起。",
        ),
        _variant(
            "one-layer-four-heads-mlp",
            replace(four, mlp=N_HIDDEN),
            ("one layer with four heads and an MLP", "一层四个头加 MLP"),
            "With both, one layer answers nearly as well as two, mostly without the pattern. That one layer cannot "
            "know what stands side by side is true only of few heads without an MLP; and right answers need no "
            "readable map.",
            "两样都有，一层答得就跟两层差不多了，多数种子却没有那种图样。“一层判断不了相邻”，只在头少又没有 MLP "
            "时成立；答案正确，也不一定要有看得懂的注意力图。",
        ),
    )


def _shared(options: Options) -> tuple[Variant, ...]:
    return (
        _variant(
            "qk",
            replace(options, share="qk"),
            ("Q = K", "Q = K"),
            "One matrix serves as W_Q and W_K, so scores are symmetric: i asks for j as much as j asks for i. [CLS] "
            "still gathers the three characters, but they can hardly note in which order they stand, and shuffled "
            "ones are often taken for the dish. The map is as clear as before; the answers are not.",
            "W_Q 与 W_K 用同一个矩阵，分数就成了对称的：i 对 j 打多少分，j 对 i 也打多少分。[CLS] "
            "照样把三个字聚在一起，但各字很难记下谁先谁后，次序打乱的常被当成菜名。注意力图和原来一样清楚，"
            "答案却差了。",
        ),
        _variant(
            "kv",
            replace(options, share="kv"),
            ("K = V", "K = V"),
            "One matrix serves as W_K and W_V: what a character is found by is also what it hands over. Here both fit "
            "into the same numbers.",
            "W_K 与 W_V 用同一个矩阵：一个字靠什么被找到，交出去的也就是什么。在这里，两件事可以共用同一组数。",
        ),
    )


def _places(options: Options) -> tuple[Variant, ...]:
    return (
        _variant(
            "no-window",
            replace(options, windows=()),
            ("no window", "没有窗口"),
            "Here layer 0 sees the whole sentence. What stands side by side has to be learned from the positions "
            "alone, through q and k. It can be, but not from every seed as cleanly.",
            "这里第 0 层能看到全句，“相邻”只能靠位置向量、通过查询和键自己学出来。学得会，但不是每个种子都学得一样好。",
        ),
        _variant(
            "no-positions",
            replace(options, positions="none"),
            ("no positions", "没有位置"),
            "Without positions the order is lost: in layer 0 a character sees which others are near, not on which "
            "side. What is left is what the window tells.",
            "没有位置向量，次序就丢了：第 0 层里每个字只知道附近有哪些字，不知道在哪一边。剩下的线索都来自窗口。",
        ),
    )


def _narrow(options: Options) -> tuple[Variant, ...]:
    narrow = replace(options, d_head=NARROW)
    return (
        _variant(
            "narrow",
            narrow,
            ("narrow heads", "窄头"),
            f"Each of q, k and v has {NARROW} numbers only. That is enough for this task, and every step can be "
            "followed with the eye.",
            f"查询、键、值各只有 {NARROW} 维。对这个任务来说够用了，而且每一步都能用眼睛跟下来。",
        ),
        _variant(
            "narrow-qk",
            replace(narrow, share="qk"),
            ("narrow heads, Q = K", "窄头，Q = K"),
            "Narrow heads whose W_Q and W_K are one: compare them with the wide ones that share, and with the "
            "narrow ones that share nothing, to see which of the two changes matters.",
            "窄头，而且 W_Q 与 W_K 用同一个矩阵：与共用的宽头、不共用的窄头分别比较，看哪一项改动影响大。",
        ),
        _variant(
            "narrow-kv",
            replace(narrow, share="kv"),
            ("narrow heads, K = V", "窄头，K = V"),
            "Narrow heads whose W_K and W_V are one: with little room, what a character is found by and what it hands "
            "over begin to get in each other's way.",
            "窄头，而且 W_K 与 W_V 用同一个矩阵：地方一挤，“靠什么被找到”和“交出去什么”就开始互相妨碍了。",
        ),
    )


def _variant(name: str, options: Options, title: tuple[str, str], en: str, zh: str, **more: Any) -> Variant:
    return Variant(name, options, {"en": title[0], "zh": title[1]}, {"en": en, "zh": zh}, **more)
