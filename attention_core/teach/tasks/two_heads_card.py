"""What the users of `two-heads` are told, and the variants that show what its parts are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from attention_core.teach.runs import Options, Training
from attention_core.teach.tasks.task import Column, Description, Variant
from attention_core.teach.tasks.two_heads_data import ANSWERS, NEUTRAL, PLAIN, RECIPE, TEST_FRAMES, TRAINING_FRAMES
from attention_core.teach.tasks.two_heads_measures import BORROWED, BY_HAND

Text = dict[str, str]
SWAPPED_SEED = 1  # The first seed in which the heads have changed places.

TITLE = {"en": "Two heads, two questions: the dish or the Buddha?", "zh": "两个头，两个问题：是菜还是佛？"}
COLUMNS = (
    Column("held_out_combinations", {"en": "new combinations", "zh": "新的搭配"}),
    Column("held_out_frames", {"en": "new frames", "zh": "新的句式"}),
    Column("by_hand", {"en": "written by hand", "zh": "手写的句子"}),
    Column("headline.dish.跳", {"en": "dish head: 佛 → 跳", "zh": "菜的头：佛 → 跳"}, is_share=False),
    Column("headline.dish.墙", {"en": "dish head: 佛 → 墙", "zh": "菜的头：佛 → 墙"}, is_share=False),
    Column("headline.buddhism.祖", {"en": "Buddhism head: 佛 → 祖", "zh": "佛教的头：佛 → 祖"}, is_share=False),
    Column("headline.buddhism.经", {"en": "Buddhism head: 佛 → 经", "zh": "佛教的头：佛 → 经"}, is_share=False),
    Column("head_0_dish", {"en": "head 0: weight on 跳 and 墙", "zh": "头 0 给跳、墙的权重"}, is_share=False),
)


def describe(description: Description, training: Training) -> dict[str, Any]:
    """The texts of the card, by field."""
    figures = description.figures
    return {
        **_introduction(),
        **_how_it_is_built(description.spec.options),
        **_how_it_is_taught(description.spec.options, training),
        "failures": _failures(figures, description.limits, description.seeds, description.n_reached),
        **_not_to_claim(),
    }


def variants(options: Options) -> tuple[Variant, ...]:
    """What becomes of it with twins for heads, with another seed, with one head, with a matrix shared."""
    return (
        Variant(
            "twins",
            replace(options, twin_heads=True),
            {"en": "twin heads", "zh": "双胞胎头"},
            {
                "en": (
                    "Both heads start with the same numbers, W_O included. Then they compute the same, receive the "
                    "same gradient, and take the same step, for ever: two heads that do the work of one. What sets "
                    "heads apart is nothing but the chance of their first numbers."
                ),
                "zh": (
                    "两个头从完全相同的数开始，W_O 也不例外。于是它们算出的结果相同，得到的梯度相同，每一步的更新也相"
                    "同，永远分不开：有两个头，却只干一个头的活。头与头之所以不同，全凭初始值里的那点随机。"
                ),
            },
        ),
        Variant(
            "reseeded",
            options,
            {"en": "another seed", "zh": "换一个种子"},
            {
                "en": (
                    "The same recipe from other first numbers: the heads have changed places. “Head 0 looks for the "
                    "dish” is true of one file, not of the task; the numbers of heads mean nothing."
                ),
                "zh": (
                    "配方不变，只换初始值，两个头的分工就对调了。“头 0 找的是菜”只对某一份权重成立，与任务本身无关；"
                    "头的编号没有含义。"
                ),
            },
            seed=SWAPPED_SEED,
        ),
        Variant(
            "one-head",
            replace(options, n_heads=1),
            {"en": "one head", "zh": "只有一个头"},
            {
                "en": (
                    "One head has to ask for all four characters at once, and shares its weights out among them. The "
                    "answers may still be right: two heads are easier to read here, not necessary."
                ),
                "zh": (
                    "只有一个头时，四个字要一起找，注意力权重只好在它们之间分。答案仍可能全对：在这个任务里，两个头是"
                    "为了看得清楚，并非缺一不可。"
                ),
            },
        ),
        Variant(
            "qk",
            replace(options, share="qk"),
            {"en": "Q = K", "zh": "Q = K"},
            {
                "en": (
                    "One matrix serves as W_Q and W_K, so the query of 佛 is its own key, and the more it asks, the "
                    "more it answers itself. In every seed measured, 佛 looks mostly at itself in one head, and the "
                    "other asks for all four characters: the work is not divided, and the answers are right all the "
                    "same."
                ),
                "zh": (
                    "W_Q 与 W_K 用同一个矩阵，佛的查询就等于它自己的键，问得越起劲，自己应得也越响。测过的每个种子"
                    "里，都有一个头的佛主要看着自己，另一个头则四个字一起找：没有分工，答案却照样正确。"
                ),
            },
        ),
    )


def _introduction() -> dict[str, Text]:
    return {
        "summary": {
            "en": (
                "A very small transformer with two heads in one layer. It says whether a Chinese text is about the "
                "dish 佛跳墙 (“the Buddha jumps over the wall”), about Buddhism (佛祖, the Buddha; 佛经, a sutra), "
                "about both or neither. From 佛, one head looks for 跳 and 墙, the other for 祖 and 经."
            ),
            "zh": (
                "一个很小的 Transformer，只有一层、两个头，判断一段话说的是佛跳墙这道菜，是佛教（佛祖、佛经），两样都"
                "说，还是都没说。在“佛”字处，一个头去找跳、墙，另一个头去找祖、经。"
            ),
        },
        "source": {
            "en": "Taught from nothing on made-up texts, with the code in attention_core/teach.",
            "zh": "用 attention_core/teach 里的代码、在自动生成的句子上从零训练而成。",
        },
    }


def _how_it_is_built(options: Options) -> dict[str, Text]:
    wide, narrow = options.d_model, options.d_head
    neither, dish, buddhism, both, not_asked = ANSWERS
    return {
        "answers": {
            "en": (
                f"What the whole text is about, said at each 佛: {dish} (the dish), {buddhism} (Buddhism), {both} "
                f"(both) or {neither} (neither). At every other character: {not_asked} (not asked)."
            ),
            "zh": (
                f"整段话说的是什么，在每个“佛”字处回答：{dish}、{buddhism}、{both}，或者{neither}。其他字处一律回答"
                f"“{not_asked}”。"
            ),
        },
        "architecture": {
            "en": (
                f"One layer with two heads; {wide} numbers per character, {narrow} in each of q, k and v of each "
                "head. No positions: the order of the characters is not seen. Both heads' outputs are added up onto "
                "the character, and one read-out answers from the sum: nothing says which head should do what. No "
                "biases, no LayerNorm, no MLP."
            ),
            "zh": (
                f"一层，两个头；每个字用 {wide} 个数表示，每个头的查询、键、值各 {narrow} 维。没有位置，看不到字的先"
                "后。两个头的输出一起加回字向量，由同一个读出矩阵作答，没有规定哪个头该做什么。没有偏置，没有 "
                "LayerNorm，也没有 MLP。"
            ),
        },
    }


def _how_it_is_taught(options: Options, training: Training) -> dict[str, Text]:
    others = "、".join(NEUTRAL)
    return {
        "data": {
            "en": (
                f"{RECIPE.n_texts:,} texts of one to five clauses in {len(TRAINING_FRAMES)} frames. Each subject is "
                f"there or not by a coin; in the same frames stand {others}, in which 佛 means neither, and "
                f"{len(PLAIN)} things without 佛. 跳 and 墙 never meet both 祖 and 经 in training. At every step "
                f"{RECIPE.hidden_share:.0%} of all characters but 佛 are blotted out as [UNK]; the right answer stays "
                "what the whole text is about."
            ),
            "zh": (
                f"{RECIPE.n_texts:,} 段话，每段一到五个分句，共 {len(TRAINING_FRAMES)} 种句式。菜和佛教各由抛硬币决定"
                f"是否出现；同样的句式里还有{others}（这里的佛两样都不是），以及 {len(PLAIN)} 种不带佛字的事物。训练"
                f"中，跳、墙从不与祖、经两者同时出现。每一步都有 {RECIPE.hidden_share:.0%} 的字（佛字除外）被涂成 "
                "[UNK]，正确答案仍以整段话为准。"
            ),
        },
        "objective": {
            "en": (
                "At every 佛, say what the text is about, and at every other character that it is not asked "
                "(cross-entropy; both kinds count the same in sum). Nothing in the objective mentions which head "
                "looks where, or that they should differ."
            ),
            "zh": (
                "在每个“佛”字处说出这段话讲的是什么，在其他字处回答“不问”（交叉熵，两类的总权重相等）。目标里没有规定"
                "哪个头看哪里，也没有要求两个头必须不同。"
            ),
        },
        "regularisers": {
            "en": (
                f"Choices that shape the attention. {training.score_penalty:g} times the sum of the squared scores "
                "that a character gives is added to the loss: a head that asks for two characters costs less than "
                "one that asks for four. So many characters are blotted out that no single one can be relied on: it "
                f"pays to look at both 跳 and 墙, and at both 祖 and 经. Noise (standard deviation {RECIPE.noise:g}) "
                "is added to what the heads write in training, so that a faint answer does not do. W_Q and W_K start "
                f"small (standard deviation {options.score_std:g})."
            ),
            "zh": (
                f"以下选择影响了注意力的样子。损失里加上每个字所打分数的平方和的 {training.score_penalty:g} 倍：一个头"
                "只找两个字，比找四个字便宜。被涂掉的字很多，哪一个字都不能单独依靠，跳和墙都看、祖和经都看才划算。训"
                f"练时在两个头的输出上加了噪声（标准差 {RECIPE.noise:g}），回答含糊就容易出错。W_Q、W_K 的初值很小（标"
                f"准差 {options.score_std:g}）。"
            ),
        },
    }


def _failures(
    figures: Mapping[str, Any], limits: Mapping[str, float], seeds: Sequence[Mapping[str, Any]], n_reached: int
) -> Text:
    n_hand, n_clear = sum(map(len, BY_HAND.values())), sum(each["divided"] for each in seeds)
    return {
        "en": (
            f"It is right about {figures['held_out_combinations']:.1%} of new combinations, "
            f"{figures['held_out_frames']:.1%} of texts in {len(TEST_FRAMES)} new frames and {figures['by_hand']:.0%} "
            f"of {n_hand} sentences written by hand. The heads divide the work in {n_reached} of {len(seeds)} seeds, "
            "and clearly (at least .3 on each of one's own two characters and .7 on both, at most .15 on the "
            f"other's) in {n_clear}. It does not read words, only which characters there are: where 跳, 墙, 祖 or 经 "
            f"stand in other words (围墙, 祖父, 经济 …) it is right about {limits['borrowed']:.0%} of {len(BORROWED)} "
            f"sentences, and with all characters shuffled it gives the same answer in {limits['scrambled']:.0%}. With "
            f"墙 blotted out it is right about the dish in {limits['one_left']:.0%}. A text without 佛 is not asked "
            "about, whatever it says."
        ),
        "zh": (
            f"没见过的搭配答对 {figures['held_out_combinations']:.1%}，{len(TEST_FRAMES)} 种没见过的句式答对 "
            f"{figures['held_out_frames']:.1%}，{n_hand} 句手写的句子答对 {figures['by_hand']:.0%}。{len(seeds)} 个种"
            f"子中有 {n_reached} 个出现分工，其中 {n_clear} 个分得清楚（自己的两个字各得 0.3 以上、合计 0.7 以上，另一"
            "方的两个字合计不超过 0.15）。它不认词，只看有哪些字：跳、墙、祖、经出现在别的词里（围墙、祖父、经济……）"
            f"时，{len(BORROWED)} 句只答对 {limits['borrowed']:.0%}；把所有字打乱，{limits['scrambled']:.0%} 的回答不"
            f"变。把墙涂掉后，说到这道菜的句子答对 {limits['one_left']:.0%}。没有佛字的话，无论讲什么，它都不会作答。"
        ),
    }


def _not_to_claim() -> dict[str, dict[str, list[str]]]:
    return {
        "not_to_claim": {
            "en": [
                "That it understands Chinese: it counts on a handful of characters.",
                "That heads divide the work by themselves: penalty, noise and blotting were chosen to favour it.",
                "That a given head has a given job: another seed may deal them out the other way round.",
                "That two heads are needed: one head answers this, too.",
                "That attention explains an answer, or that the heads of large models are so easily read.",
            ],
            "zh": [
                "不能说它懂中文：它依靠的只是几个字。",
                "不能说多个头自然就会分工：惩罚项、噪声和涂字都是为了促成分工而选的。",
                "不能说某个头天生负责某件事：换个种子，分工可能对调。",
                "不能说非要两个头不可：一个头也能答对。",
                "不能说注意力就是答案的解释，也不能说大模型的头都这样一目了然。",
            ],
        }
    }
