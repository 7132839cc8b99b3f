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
            "With one layer, [CLS] reads characters that know nothing of each other yet: it can see that 佛, 跳 and "
            "墙 are there, hardly whether they stand side by side. Look at the trap: its map may be as clear as "
            "that of the dish.",
            "只有一层时，[CLS] 读到的每个字还不知道旁边是谁：它看得出佛、跳、墙都在，却很难看出三个字是否相连。"
            "看看陷阱句：注意力图可能和有菜名时一样清楚。",
        ),
        _variant(
            "one-layer-mlp",
            mlp,
            ("one layer and an MLP", "一层加 MLP"),
            "An MLP can combine what the one head has gathered: characters with their places. That tells more than "
            "a sum, and so one layer gets farther. Nothing of it shows in the attention map.",
            "MLP 能把这个头收集来的东西（字和位置）再组合起来，比单纯相加能看出更多，所以一层也能做得更好。"
            "这一切在注意力图上看不出来。",
        ),
        _variant(
            "one-layer-four-heads",
            four,
            ("one layer with four heads", "一层四个头"),
            "Several heads can look at several characters, each for itself, and compare their places through the "
            "sum of what they bring. Four heads beside each other do part of what two layers above each other do.",
            "多个头可以各看各的字，再通过各自带回的内容之和来比较位置。四个头并排，能完成两层叠起来的一部分工作。",
        ),
        _variant(
            "one-layer-four-heads-mlp",
            replace(four, mlp=N_HIDDEN),
            ("one layer with four heads and an MLP", "一层四个头加 MLP"),
            "With both, one layer comes near to two. That one layer cannot know what stands side by side is true of "
            "few heads without an MLP only.",
            "两样都有，一层就接近两层了。“一层判断不了相邻”这句话，只在头少、又没有 MLP 时才成立。",
        ),
    )


def _shared(options: Options) -> tuple[Variant, ...]:
    return (
        _variant(
            "qk",
            replace(options, share="qk"),
            ("Q = K", "Q = K"),
            "One matrix serves as W_Q and W_K, so a head scores symmetrically: i asks for j as much as j asks for "
            "i. Compare the figures with the model's own before saying that this costs something.",
            "W_Q 与 W_K 用同一个矩阵，打分就成了对称的：i 对 j 打多少分，j 对 i 也打多少分。"
            "先和原模型的数字比一比，再说这样有没有代价。",
        ),
        _variant(
            "kv",
            replace(options, share="kv"),
            ("K = V", "K = V"),
            "One matrix serves as W_K and W_V: what a character is found by is also what it hands over. Compare the "
            "figures with the model's own before saying that this costs something.",
            "W_K 与 W_V 用同一个矩阵：一个字靠什么被找到，交出去的也就是什么。先和原模型的数字比一比，"
            "再说这样有没有代价。",
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
            f"Each of q, k and v has {NARROW} numbers only: little room for asking who stands there and where at once.",
            f"查询、键、值各只有 {NARROW} 维：既要问“是谁”，又要问“在哪”，地方很挤。",
        ),
        _variant(
            "narrow-qk",
            replace(narrow, share="qk"),
            ("narrow heads, Q = K", "窄头，Q = K"),
            "With little room, a shared matrix may be felt: compare it with the narrow heads that share nothing.",
            "地方本来就挤，再共用矩阵，影响就可能显出来：请与不共用的窄头比较。",
        ),
        _variant(
            "narrow-kv",
            replace(narrow, share="kv"),
            ("narrow heads, K = V", "窄头，K = V"),
            "With little room, a shared matrix may be felt: compare it with the narrow heads that share nothing.",
            "地方本来就挤，再共用矩阵，影响就可能显出来：请与不共用的窄头比较。",
        ),
    )


def _variant(name: str, options: Options, title: tuple[str, str], en: str, zh: str, **more: Any) -> Variant:
    return Variant(name, options, {"en": title[0], "zh": title[1]}, {"en": en, "zh": zh}, **more)
