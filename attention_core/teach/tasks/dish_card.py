"""What the users of `dish` are told: its card, in English and Chinese, every number from a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attention_core.teach.runs import Options, Training
from attention_core.teach.tasks.dish_data import RECIPE
from attention_core.teach.tasks.dish_measures import SCENE, TRAP
from attention_core.teach.tasks.dish_texts import BY_HAND, DISH, LONG, MAX_LENGTH, VOCABULARY
from attention_core.teach.tasks.task import Column, Description

Text = dict[str, str]

N_BY_HAND = sum(map(len, BY_HAND.values()))
TITLE = {"en": "Is this about 佛跳墙?", "zh": "这句话说的是不是“佛跳墙”这道菜？"}
COLUMNS = (
    Column("adversarial", {"en": "new frames, half of them traps", "zh": "新句式（一半是陷阱句）"}),
    Column("by_hand", {"en": f"{N_BY_HAND} sentences written by hand", "zh": f"{N_BY_HAND} 个手写句子"}),
    Column("headline.佛", {"en": "[CLS] → 佛", "zh": "[CLS] → 佛"}, is_share=False),
    Column("headline.跳", {"en": "[CLS] → 跳", "zh": "[CLS] → 跳"}, is_share=False),
    Column("headline.墙", {"en": "[CLS] → 墙", "zh": "[CLS] → 墙"}, is_share=False),
    Column("headline.largest_other", {"en": "[CLS] → largest other", "zh": "[CLS] → 其余最大"}, is_share=False),
    Column(
        "first_looks_at_the_name.top_three",
        {"en": "in new frames: 佛, 跳, 墙 are [CLS]'s top three", "zh": "新句式：[CLS] 的前三名正是佛、跳、墙"},
    ),
)


def describe(description: Description, training: Training) -> dict[str, Any]:
    """The texts of the card, by field."""
    options, figures = description.spec.options, description.figures
    return {
        **_introduction(),
        **_how_it_is_built(options),
        **_how_it_is_taught(options, training),
        "layer_0": _layer_0(figures["layer_0"]),
        "failures": _failures(description),
        **_not_to_claim(figures),
    }


def _introduction() -> dict[str, Text]:
    return {
        "summary": {
            "en": (
                "A very small transformer that tells whether a sentence is about the dish 佛跳墙 (literally “Buddha "
                "jumps over the wall”). 佛, 跳 and 墙 each mean something else in other sentences; only side by "
                f"side are they a dish. “{SCENE}” is about it; “{TRAP}”, the Buddha watches him jump over a wall, "
                "is not."
            ),
            "zh": (
                "一个很小的 Transformer，判断一句话说的是不是“佛跳墙”这道菜。佛、跳、墙三个字在别处各有各的意思，"
                f"连在一起才是菜名：“{SCENE}”是，“{TRAP}”不是。"
            ),
        },
        "source": {
            "en": "Taught from nothing on made-up sentences, with the code in attention_core/teach.",
            "zh": "用 attention_core/teach 里的代码、在自动生成的句子上从零训练而成。",
        },
    }


def _how_it_is_built(options: Options) -> dict[str, Text]:
    wide, narrow, window = options.d_model, options.d_head, options.window(0)
    return {
        "answers": {
            "en": (
                "At [CLS], which stands before the text: is the sentence about the dish, yes or no. At every "
                "character: does it stand inside the dish's name, yes or no."
            ),
            "zh": "在句首的 [CLS] 处回答：这句话说的是不是这道菜。在每个字处回答：这个字是不是菜名的一部分。",
        },
        "architecture": {
            "en": (
                f"Two layers with one head each; a character is a token of {wide} numbers, {narrow} in each of q, k "
                f"and v. {_window_en(window)} Each layer adds what it writes onto the character. “Inside the name?” "
                "is read after layer 0, “about the dish?” at [CLS] after layer 1. No LayerNorm, no MLP; only the "
                "read-outs have biases."
            ),
            "zh": (
                f"两层，每层一个头；一个字是一个 token，用 {wide} 个数表示，查询、键、值各 {narrow} 维。"
                f"{_window_zh(window)}每层把输出加回字向量。“是不是菜名的一部分”在第 0 层之后读出，"
                "“说的是不是这道菜”在第 1 层之后从 [CLS] 读出。没有 LayerNorm，没有 MLP，只有读出处有偏置。"
            ),
        },
    }


def _window_en(window: int | None) -> str:
    if window is None:
        return "Every token sees every token in both layers."
    return (
        f"In layer 0 a token sees itself and {window} to either side: that was built in, not learned. In layer 1 every "
        "token sees every token."
    )


def _window_zh(window: int | None) -> str:
    if window is None:
        return "两层中每个 token 都能看到所有 token。"
    return (
        f"在第 0 层，每个 token 只看得到自己和左右各 {window} 个 token，这是结构规定的，不是学出来的；"
        "在第 1 层看得到全句。"
    )


def _how_it_is_taught(options: Options, training: Training) -> dict[str, Text]:
    recipe = RECIPE
    return {
        "data": {
            "en": (
                f"{recipe.n_sentences:,} made-up sentences. {recipe.positive_share:.0%} name the dish. "
                f"{recipe.hard_share:.0%} are traps: its characters in another order, with something in between, "
                f"only two of them side by side, or here and there. {recipe.elsewhere_share:.0%} use them in other "
                "words (佛祖, 佛经, 跳舞, 跳高, 围墙, 翻墙), the rest are about other food; such words stand beside "
                f"the dish's name, too, so they settle nothing. Sentences have up to {MAX_LENGTH} characters, traps a "
                f"few more. {recipe.disturbed_share:.0%} of the characters outside the name are replaced by any "
                f"others, and {recipe.unknown_share:.0%} are hidden as [UNK]. Which characters belong to the "
                "name follows from the text alone."
            ),
            "zh": (
                f"{recipe.n_sentences:,} 个自动生成的句子。{recipe.positive_share:.0%} 提到这道菜。"
                f"{recipe.hard_share:.0%} 是陷阱句：三个字换了次序、中间隔着别的字、只有两个相连，或散落各处。"
                f"{recipe.elsewhere_share:.0%} 把这些字用在别的词里（佛祖、佛经、跳舞、跳高、围墙、翻墙），"
                "其余说的是别的吃食；含菜名的句子里同样会出现这些词，所以光看词判断不了。句子不超过 "
                f"{MAX_LENGTH} 个字，陷阱句可能多几个字。"
                f"菜名以外的字有 {recipe.disturbed_share:.0%} 被随机换成别的字，{recipe.unknown_share:.0%} 被换成 "
                "[UNK]。哪些字属于菜名，只由文本本身决定。"
            ),
        },
        "objective": {
            "en": (
                "Two questions (cross-entropy): at [CLS], “about the dish?”; at every character, “inside its name?”, "
                f"which counts {recipe.inside_weight:g} times as much and asks for a step on the way. Neither "
                "mentions attention: where to look was left to the training."
            ),
            "zh": (
                "两个问题（交叉熵）：在 [CLS] 处问“说的是不是这道菜”；在每个字处问“是不是菜名的一部分”，权重是前者的 "
                f"{recipe.inside_weight:g} 倍，等于把中间步骤也考了。"
                "两个问题都不涉及注意力，往哪里看是模型自己学会的。"
            ),
        },
        "regularisers": _regularisers(options, training),
    }


def _regularisers(options: Options, training: Training) -> Text:
    window, hides = options.window(0), options.n_layers > 1
    en = [
        "Choices that shape the attention.",
        f"W_Q and W_K start small (standard deviation {options.score_std:g}), so that every head begins by looking "
        "everywhere alike.",
        f"The objective adds {training.score_penalty:g} times the sum of [CLS]'s squared scores in the last layer, so "
        "that they grow only as far as they help.",
    ]
    zh = [
        "以下选择影响了注意力的样子。",
        f"W_Q、W_K 的初值很小（标准差 {options.score_std:g}），一开始每个头都均匀地看各处。",
        f"目标里加上 [CLS] 在最后一层的分数平方和的 {training.score_penalty:g} 倍，分数够用就不再变大。",
    ]
    if hides:
        en.append(
            f"In training, {RECIPE.hidden_share:.0%} of the characters are hidden from [CLS] in layer 1, others at "
            "every step: it cannot rely on one character and has to gather all three. In use nothing is hidden."
        )
        zh.append(
            f"训练时每一步随机遮住 {RECIPE.hidden_share:.0%} 的字，不让 [CLS] 在第 1 层看到：只盯一个字靠不住，"
            "必须三个字都看。使用时不遮。"
        )
    if window is not None:
        en.append(f"Layer 0 sees no farther than {window} places, so that nearness need not be learned.")
        zh.append(f"第 0 层最远只看 {window} 个位置，“相邻”因此不必从头学起。")
    if RECIPE.max_offset:
        en.append(f"In training, sentences begin at a random place from 0 to {RECIPE.max_offset}; in use, at 0.")
        zh.append(f"训练时句子从第 0 到第 {RECIPE.max_offset} 位中的随机一位开始，使用时从第 0 位开始。")
    return {"en": " ".join(en), "zh": "".join(zh)}


def _layer_0(looks: Mapping[str, Mapping[str, float]]) -> Text:
    """What each character of the name looks at, and how far away that is."""
    largest = {asker: max(DISH, key=lambda wanted: row[wanted]) for asker, row in looks.items()}
    away = {asker: abs(DISH.index(asker) - DISH.index(wanted)) for asker, wanted in largest.items()}
    where_en = ("itself", "{}, next to it", "{}, two places away")
    where_zh = ("自己", "紧挨着的{}", "隔着一个字的{}")
    numbers = {asker: " · ".join(f"{each} {row[each]:.2f}" for each in DISH) for asker, row in looks.items()}
    en = [f"{each} looks most at {where_en[away[each]].format(to)} ({numbers[each]})" for each, to in largest.items()]
    zh = [f"{each}看得最多的是{where_zh[away[each]].format(to)}（{numbers[each]}）" for each, to in largest.items()]
    is_chain = set(away.values()) == {1}
    told_en = "So each looks at a neighbour." if is_chain else "So it is not true that each just looks at a neighbour."
    told_zh = "也就是说，每个字都看相邻的字。" if is_chain else "也就是说，并不是“每个字都看相邻的字”。"
    return {
        "en": f"On average over sentences about the dish in new frames, {'; '.join(en)}. {told_en}",
        "zh": f"在没见过的句式里，对提到这道菜的句子取平均：{'；'.join(zh)}。{told_zh}",
    }


def _failures(description: Description) -> Text:
    figures, limits, seeds = description.figures, description.limits, description.seeds
    worst = min(each["adversarial"] for each in seeds)
    n_right = round(figures["by_hand"] * N_BY_HAND)
    return {
        "en": (
            f"In frames never seen it overlooks the dish in {1 - figures['found']:.2%} of the sentences about it "
            f"and sees one in {1 - figures['refused']:.2%} of the traps; all together it is wrong in "
            f"{1 - figures['adversarial']:.2%} (in the worst of {len(seeds)} seeds {1 - worst:.2%}). Of {N_BY_HAND} "
            f"sentences written by hand it judges {n_right} rightly. Of long sentences, {LONG[0]} to "
            f"{LONG[1]} characters, {limits['long']:.0%} of those about the dish and {limits['long_trap']:.0%} of "
            "the traps are right. If 佛, 跳 and 墙 stand elsewhere in the sentence, too, it finds the dish in "
            f"{limits['surrounded']:.0%}; if the dish is named twice, in {limits['twice']:.0%}; if all other "
            f"characters are unknown, in {limits['only_strangers']:.0%} (and it refuses "
            f"{limits['strangers_trap']:.0%} of the wrong orders there). With one unknown character inside the name "
            f"it says no in {limits['strange_between']:.0%}. The traditional 佛跳牆 it takes for the dish in "
            f"{limits['traditional']:.0%}: 牆 is not in its vocabulary of {len(VOCABULARY)}. It was taught to look for "
            "the name only: whether the dish is eaten or refused is all the same to its labels."
        ),
        "zh": (
            f"没见过的句式里，提到这道菜的句子漏掉 {1 - figures['found']:.2%}，陷阱句误判 "
            f"{1 - figures['refused']:.2%}，合计错 {1 - figures['adversarial']:.2%}（{len(seeds)} "
            f"个种子中最差的一个为 {1 - worst:.2%}）。{N_BY_HAND} 个手写句子判对 {n_right} 个。{LONG[0]} "
            f"到 {LONG[1]} 个字的长句，提到这道菜的判对 {limits['long']:.0%}，陷阱句判对 {limits['long_trap']:.0%}。"
            f"句中别处也有佛、跳、墙三个字时，{limits['surrounded']:.0%} 能认出菜名；菜名出现两次时，"
            f"{limits['twice']:.0%} 能认出；其他字全不认识时，{limits['only_strangers']:.0%} "
            f"能认出（这时次序不对的也有 {limits['strangers_trap']:.0%} 不上当）。菜名中间夹一个不认识的字，"
            f"有 {limits['strange_between']:.0%} 会回答“不是”。繁体的“佛跳牆”有 {limits['traditional']:.0%} "
            f"被当成这道菜：它的 {len(VOCABULARY)} 项词表里没有“牆”。训练只教它找菜名："
            "吃还是不吃这道菜，标签都是“是”。"
        ),
    }


def _not_to_claim(figures: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    scene, trap = ([f"{each} {figures[where][each]:.2f}" for each in DISH] for where in ("headline", "trap"))
    says_no = figures["trap"]["says_no"]
    return {
        "not_to_claim": {
            "en": [
                "That it understands Chinese: it knows a few frames and one name.",
                f"That attention explains an answer: in “{TRAP}”, too, [CLS] looks at them ({', '.join(trap)}), and "
                f"the answer is {'no' if says_no else 'yes'}.",
                "That this pattern arises from any training: the second question, the hidden characters and the "
                "penalty were chosen so that it can.",
                "That one layer can never tell what stands side by side: with more heads and an MLP it gets far (see "
                "the variants).",
                "That sharing a matrix always hurts, or never does: compare the variants.",
                "That large models do the same, in the same place or in the same way.",
                f"That its weights are those of another model: here [CLS] gives {', '.join(scene)}.",
            ],
            "zh": [
                "不能说它懂中文：它只认识几种句式和一个菜名。",
                f"不能说注意力就是答案的解释：在“{TRAP}”里，[CLS] 也看这几个字（{'、'.join(trap)}），"
                f"回答是“{'不是' if says_no else '是'}”。",
                "不能说随便怎样训练都会出现这种图样：中间问题、遮字和惩罚项都是为了让它能够出现而选的。",
                "不能说一层绝对判断不了“相邻”：多几个头再加上 MLP，一层也能做得很好（见各个变体）。",
                "不能说共用矩阵总有害处，或总没有害处：请比较各个变体。",
                "不能说大模型也在同样的位置、以同样的方式做这件事。",
                f"不能说它的权重就是别的模型里的数：这里 [CLS] 的注意力权重是 {'、'.join(scene)}。",
            ],
        }
    }
