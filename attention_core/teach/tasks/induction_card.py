"""What the users of `induction` are told, and the variants that show what its parts are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from attention_core.teach.runs import Options
from attention_core.teach.tasks.induction_data import (
    COPY_SHARE,
    LETTERS,
    N_TEXTS,
    N_TOKENS,
    UNKNOWN_SHARE,
)
from attention_core.teach.tasks.task import Column, Description, Variant

Text = dict[str, str]

TITLE = {"en": "What came after this letter last time?", "zh": "上次这个字母后面跟的是什么？"}
COLUMNS = (
    Column("accuracy", {"en": "next letter right", "zh": "下一个字母答对"}),
    Column("copy", {"en": "layer 1 → letter to copy", "zh": "第 1 层 → 要抄的字母"}, is_share=False),
    Column("previous", {"en": "layer 0 → letter before", "zh": "第 0 层 → 前一个字母"}, is_share=False),
    Column("headline.repeated", {"en": "in the repeated text", "zh": "重复的例串"}, is_share=False),
    Column("headline.scattered", {"en": "in the scattered text", "zh": "零散的例串"}, is_share=False),
)


def describe(description: Description) -> dict[str, Any]:
    """The texts of the card, by field."""
    options, figures = description.spec.options, description.figures
    return {
        **_introduction(figures),
        **_how_it_is_built(options),
        **_how_it_is_taught(options),
        "failures": _failures(figures, description.limits, description.seeds),
        **_not_to_claim(),
    }


def variants(options: Options) -> tuple[Variant, ...]:
    """What becomes of it with a layer less, a matrix shared or no positions."""
    qk, kv = replace(options, share="qk"), replace(options, share="kv")
    return (
        Variant(
            "one-layer",
            replace(options, n_layers=1),
            {"en": "one layer", "zh": "只有一层"},
            {
                "en": (
                    "To copy the letter that followed, a place has to know what stood before it. That is a note "
                    "which some layer must have written already. With one layer nobody has: keys know their own "
                    "letter and place, and no query can ask for “the one after an a”."
                ),
                "zh": (
                    "要抄“上次跟在后面的字母”，那个位置得先知道自己前面是谁。这要靠更早的一层把它记下来；只有一层时没"
                    "有谁来记：键只含自己的字母和位置，查询再怎么问，也问不出“a 后面的那一个”。"
                ),
            },
        ),
        Variant(
            "qk",
            qk,
            {"en": "Q = K", "zh": "Q = K"},
            {
                "en": (
                    "One matrix serves as W_Q and W_K, so a token's key is its own query. For a token to look at the "
                    "one before it rather than at itself, that one's vector must be the longer, the one before that "
                    "longer still, and so on through all places. Layer 0 learns to look back only in part, and layer "
                    "1 is left without its notes."
                ),
                "zh": (
                    "W_Q 与 W_K 用同一个矩阵，每个字母的键就等于自己的查询。要让它看前一个而不看自己，前一个的向量就"
                    "得更长，再前一个还要更长，一路加长下去。第 0 层只能学到一部分“看前一个”，第 1 层也就得不到可用的"
                    "笔记。"
                ),
            },
        ),
        Variant(
            "kv",
            kv,
            {"en": "K = V", "zh": "K = V"},
            {
                "en": (
                    "One matrix serves as W_K and W_V: what a letter is found by is also what it hands over. Both "
                    "can be fitted into the same numbers here, only later: look at the step at which the pattern "
                    "appears."
                ),
                "zh": (
                    "W_K 与 W_V 用同一个矩阵：靠什么被找到，交出去的也就是什么。在这里两件事可以共用同一组数，只是学"
                    "得慢一些：请看图样出现在第几步。"
                ),
            },
        ),
        Variant(
            "no-positions",
            replace(options, positions="none"),
            {"en": "no positions", "zh": "没有位置"},
            {
                "en": (
                    "Without positions a token sees which letters came before it, but not in what order: “the one "
                    "before” means nothing, so layer 0 cannot note it. (As no token sees what comes later, how many "
                    "there are still differs from place to place.) What it gets right it gets in another way: look "
                    "at how little weight the letter to copy receives."
                ),
                "zh": (
                    "没有位置向量，每个字母只知道前面出现过哪些字母，不知道先后，“前一个”也就无从谈起，第 0 层记不下"
                    "来。（不过每处都看不到后文，能看到的字母个数仍随位置变化。）答对的那些靠的是别的办法：要抄的字母"
                    "得到的注意力权重很小。"
                ),
            },
        ),
        Variant(
            "qk-long",
            qk,
            {"en": "Q = K, twice the steps", "zh": "Q = K，步数加倍"},
            {"en": "Whether Q = K only needs more time.", "zh": "看看 Q = K 是不是只差训练时间。"},
            n_steps=3000,
            is_shipped=False,
        ),
        Variant(
            "kv-long",
            kv,
            {"en": "K = V, twice the steps", "zh": "K = V，步数加倍"},
            {"en": "Whether K = V catches up with more time.", "zh": "看看 K = V 再多训练一会儿能不能赶上。"},
            n_steps=3000,
            is_shipped=False,
        ),
    )


def _introduction(figures: Mapping[str, Any]) -> dict[str, Text]:
    return {
        "summary": {
            "en": (
                "A very small transformer that continues a text of letters: at each letter it looks for the place "
                "where the same letter stood before and copies what followed. “d b h … d” goes on with “b”."
            ),
            "zh": (
                "一个很小的 Transformer，会接着写字母串：在每个字母处，找到同一个字母上次出现的地方，把它后面的字母抄"
                "过来。例如 d b h … d 之后接 b。"
            ),
        },
        "source": {
            "en": (
                "Taught from nothing on letters drawn by chance, with the code in attention_core/teach. The circuit, "
                "a previous-token head below an induction head, was described by Elhage et al. (2021) and Olsson et "
                "al. (2022)."
            ),
            "zh": (
                "用 attention_core/teach 里的代码、在随机字母串上从零训练而成。下层“看前一个”、上层“归纳头”的这种回"
                "路，见 Elhage 等（2021）与 Olsson 等（2022）。"
            ),
        },
    }


def _how_it_is_built(options: Options) -> dict[str, Text]:
    wide, narrow = options.d_model, options.d_head
    return {
        "answers": {
            "en": (
                "Which letter comes next. It is asked only where this can be told: the letter stood in the text "
                "before, and always went on in the same way."
            ),
            "zh": "下一个字母是什么。只在能推断的地方提问：这个字母前面出现过，而且每次后面跟的都一样。",
        },
        "architecture": {
            "en": (
                f"Two layers with one head each; {wide} numbers per letter, {narrow} in each of q, k and v. A letter "
                f"sees itself and what came before, nothing later. A learned vector for each of {options.max_tokens} "
                "places is added to the letter's. Each layer adds what it writes onto the letter, so that layer 1 "
                "reads the notes of layer 0. No LayerNorm, no MLP; only the read-out has a bias."
            ),
            "zh": (
                f"两层，每层一个头；每个字母用 {wide} 个数表示，查询、键、值各 {narrow} 维。每个字母只能看到自己和前面"
                f"的，看不到后面的。{options.max_tokens} 个位置各有一个学出来的向量，加在字母向量上。每层把输出加回字"
                "母向量，所以第 1 层能读到第 0 层写下的内容。没有 LayerNorm，没有 MLP，只有读出处有偏置。"
            ),
        },
    }


def _how_it_is_taught(options: Options) -> dict[str, Text]:
    return {
        "data": {
            "en": (
                f"{N_TEXTS:,} texts of {N_TOKENS} letters out of {len(LETTERS)} ({LETTERS[0]} to {LETTERS[-1]}), "
                f"drawn by chance; a letter that stood there before goes on as it did then in {COPY_SHARE:.0%}, else "
                f"with any letter. In {UNKNOWN_SHARE:.0%} of the texts one letter is unknown: it reads as [UNK] and "
                "is copied like the others. Which letter follows which is drawn anew for each text, so nothing can "
                "be learned by heart."
            ),
            "zh": (
                f"{N_TEXTS:,} 个随机字母串，每串 {N_TOKENS} 个，取自 {len(LETTERS)} 个字母（{LETTERS[0]} 到 "
                f"{LETTERS[-1]}）。字母再次出现时，有 {COPY_SHARE:.0%} 照上次那样接下去，其余随机。"
                f"{UNKNOWN_SHARE:.0%} 的字母串里有一个字母不认识，记作 [UNK]，同样要抄。谁跟在谁后面，每串都重新抽取，"
                "死记硬背没有用。"
            ),
        },
        "objective": {
            "en": (
                "Say the next letter (cross-entropy), only where it can be told. Nothing in the objective mentions "
                "attention, and nothing says that there should be two stages."
            ),
            "zh": (
                "说出下一个字母（交叉熵），只算能推断之处。目标里没有任何关于注意力的要求，也没有规定要分两步来做。"
            ),
        },
        "regularisers": {
            "en": (
                "Choices that shape the attention. W_Q and W_K start small (standard deviation "
                f"{options.score_std:g}), so that every head begins by looking everywhere alike; no weight decay and "
                "no penalty. The loss leaves out all letters that cannot be told, so that chance has no part in it. "
                "There is no MLP that could do the work in another way."
            ),
            "zh": (
                f"以下选择影响了注意力的样子。W_Q、W_K 的初值很小（标准差 {options.score_std:g}），一开始每个头都均匀"
                "地看各处；没有权重衰减，也没有别的惩罚项。损失不算无法推断的字母，纯属随机的部分不参与学习。没有 "
                "MLP，也就没有别的途径可以代劳。"
            ),
        },
    }


def _failures(figures: Mapping[str, Any], limits: Mapping[str, float], seeds: Sequence[Mapping[str, Any]]) -> Text:
    right, worst, n = figures["accuracy"], min(each["accuracy"] for each in seeds), figures["n_told"]
    return {
        "en": (
            f"Of {n:,} letters in new texts that can be told it gets {right:.2%} right (the worst of {len(seeds)} "
            f"seeds {worst:.2%}). If a letter went on in two different ways, it follows the earlier one in "
            f"{limits['first_of_two']:.0%} and the later one in {limits['later_of_two']:.0%}: it was never told "
            "which. At a letter that is new in the text there is nothing to copy, and it was never asked; it answers "
            f"all the same, giving its likeliest letter {limits['untold']:.2f} on average. All unknown letters look "
            f"alike to it: at one it says what followed another in {limits['unknown']:.0%}. It takes {N_TOKENS} "
            "letters at most, and knows nothing of words."
        ),
        "zh": (
            f"没见过的字母串里共有 {n:,} 处能够推断，答对 {right:.2%}（{len(seeds)} 个种子中最差的一个为 "
            f"{worst:.2%}）。同一个字母前两次后面跟的不一样时，{limits['first_of_two']:.0%} 照较早的一次、"
            f"{limits['later_of_two']:.0%} 照较晚的一次：训练时没教过该听谁的。字母第一次出现时没有可抄的，训练时也没"
            f"问过，它却照样作答，最可能的那个字母平均给到 {limits['untold']:.2f} 的概率。不认识的字母在它看来都一样："
            f"把一个当成另一个，说出后者后面跟过的字母，这样的情况占 {limits['unknown']:.0%}。最多只能读 {N_TOKENS} 个"
            "字母，也完全不懂单词。"
        ),
    }


def _not_to_claim() -> dict[str, dict[str, list[str]]]:
    return {
        "not_to_claim": {
            "en": [
                "That it understands a language: its letters are drawn by chance.",
                "That attention explains an answer: here copying leads to it; in general it need not.",
                "That this pattern arises from any training: the data are made of what it is good for.",
                "That sharing always hurts: here K = V costs time, Q = K the pattern; another task may pay less.",
                "That large models learn in context with this circuit alone.",
            ],
            "zh": [
                "不能说它懂语言：它的字母是随机抽取的。",
                "不能说注意力就是答案的解释：在这里答案确实靠抄写得来，一般的模型未必如此。",
                "不能说随便怎样训练都会出现这种图样：训练数据正是为它而设的。",
                "不能说共用矩阵总有害处：这里 K = V 只是慢一些，Q = K 则学不到图样；换个任务，代价可能小得多。",
                "不能说大模型的上下文学习全靠这一种回路。",
            ],
        }
    }
