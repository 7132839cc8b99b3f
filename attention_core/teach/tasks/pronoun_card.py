"""What the users of `pronoun` are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attention_core.teach.runs import Options, Training
from attention_core.teach.tasks.pronoun_data import RECIPE
from attention_core.teach.tasks.pronoun_words import (
    ADJECTIVES,
    N_GROUPS,
    NOUNS,
    PLAIN_FRAMES,
    TRAINING_FRAMES,
    VOCABULARY,
)
from attention_core.teach.tasks.task import Column, Description

Text = dict[str, str]

TITLE = {"en": "What does “it” stand for?", "zh": "“it”指的是谁？"}
COLUMNS = (
    Column("held_out_combinations.two_way", {"en": "new word combinations", "zh": "新的词语搭配"}),
    Column("held_out_frames.two_way", {"en": "new frames", "zh": "新的句式"}),
    Column("headline.tired.animal", {"en": "tired: it → animal", "zh": "tired：it → animal"}, is_share=False),
    Column("headline.wide.street", {"en": "wide: it → street", "zh": "wide：it → street"}, is_share=False),
)


LOOKS_LEFT = {
    "en": "Nothing in the objective mentions attention: where to look was left to the training.",
    "zh": "目标里没有任何关于注意力的要求，往哪里看是模型自己学会的。",
}
LOOKS_TOLD = {
    "en": (
        "And where to look: −log of the weight from “it” to the adjective in layer 0 and to the noun that is meant in "
        "layer 1 is added. This attention was prescribed."
    ),
    "zh": (
        "此外还规定往哪里看：it 在第 0 层对形容词、在第 1 层对被指名词的注意力权重取 −log，加进损失。"
        "这样的注意力是规定出来的。"
    ),
}
LAST_OF_TWO = {
    "en": (
        "Keys and values of layer 1 read words without notes, and its output is not added to the word, so an answer "
        "can only come from where layer 1 looks."
    ),
    "zh": "第 1 层的键和值只读词、不读笔记，输出也不再加回词向量，答案只能来自第 1 层所看的地方。",
}
ONLY_ONE = {
    "en": "The output of the layer is not added to the word, so an answer can only come from what the layer looks at.",
    "zh": "这一层的输出不再加回词向量，答案只能来自它所看的词。",
}


def describe(description: Description, training: Training) -> dict[str, Any]:
    """The texts of the card, by field."""
    options, figures = description.spec.options, description.figures
    return {
        **_introduction(),
        **_how_it_is_built(options),
        **_how_it_is_taught(options, training),
        "failures": _failures(figures, description.limits),
        **_not_to_claim(figures),
    }


def _introduction() -> dict[str, Text]:
    return {
        "summary": {
            "en": (
                "A very small transformer that has learned to work out what “it” stands for. If it was too tired, "
                "it was the animal; if it was too wide, it was the street."
            ),
            "zh": "一个很小的 Transformer，学会了判断 it 指代谁：太累（tired）的是动物，太宽（wide）的是街道。",
        },
        "source": {
            "en": (
                "Taught from nothing on made-up sentences, with the code in attention_core/teach. The sentence about "
                "the animal and the street comes from Google's article on the Transformer (Uszkoreit, 2017)."
            ),
            "zh": (
                "用 attention_core/teach 里的代码、在自动生成的句子上从零训练而成。动物与街道的例句出自谷歌介绍 "
                "Transformer 的文章（Uszkoreit，2017）。"
            ),
        },
    }


def _how_it_is_built(options: Options) -> dict[str, Text]:
    wide, narrow = options.d_model, options.d_head
    return {
        "answers": {
            "en": "Which word this word stands for. Ordinary words stand for themselves, “it” for a noun.",
            "zh": "这个词指代哪个词。普通的词指代自己，it 指代某个名词。",
        },
        "architecture": {
            "en": (
                f"Two layers with one head each; {wide} numbers per word, {narrow} in each of q, k and v. Every word "
                "may look at every word. Layer 0 makes a note for each word; in layer 1 the query is computed from the "
                "word and its note, key and value from the word alone; the output goes straight to the read-out. "
                "No biases, no LayerNorm, no MLP."
            ),
            "zh": (
                f"两层，每层一个头；每个词用 {wide} 个数表示，查询、键、值各 {narrow} 维。每个词都能看到所有词。"
                "第 0 层给每个词写一条“笔记”；第 1 层的查询由词和笔记一起算出，键和值只由词本身算出，"
                "输出直接送去读出答案。没有偏置，没有 LayerNorm，也没有 MLP。"
            ),
        },
        "structural_zeros": {
            "en": (
                "Layer 0 writes its note Δ beside the word X, not onto it, so layer 1 has one input [X | Δ] of "
                f"{2 * wide} numbers per word. W_Q stands twice, one copy above the other, because word and note are "
                "read alike: [X | Δ]·[W_Q; W_Q] = (X + Δ)·W_Q. Under W_K and W_V stand zeros, because the notes are "
                "not read there. These copies and zeros are part of the construction; they were not learned."
            ),
            "zh": (
                f"第 0 层把笔记 Δ 写在词向量 X 的旁边，而不是加到上面，所以第 1 层只有一个输入 [X | Δ]，"
                f"每个词 {2 * wide} 个数。词和笔记用同一个 W_Q 读取，因此 W_Q 上下重复两遍："
                "[X | Δ]·[W_Q; W_Q] = (X + Δ)·W_Q；"
                "键和值不读笔记，因此 W_K、W_V 的下半部分补零。这些重复和零是结构规定的，不是学出来的。"
            ),
        },
    }


def _how_it_is_taught(options: Options, training: Training) -> dict[str, Text]:
    n_nouns, n_adjectives = (sum(map(len, table.values())) for table in (NOUNS, ADJECTIVES))
    n_frames, n_plain = len(TRAINING_FRAMES), len(PLAIN_FRAMES)
    where = LOOKS_TOLD if options.supervised else LOOKS_LEFT
    last = LAST_OF_TWO if options.n_layers > 1 else ONLY_ONE
    return {
        "data": {
            "en": (
                f"{RECIPE.n_sentences:,} sentences: {n_frames} frames with “it” and {n_plain} without, filled with "
                f"{n_nouns} nouns and {n_adjectives} adjectives of four classes (living things, places, food, "
                "objects); either noun may come first, and either may be meant. The words of each class are dealt into "
                f"{N_GROUPS} groups, and words of one group never meet in training: “animal”, “street”, "
                f"“tired” and “wide” are all of one group. {RECIPE.plain_share:.0%} of the sentences have no “it”. "
                f"{RECIPE.unknown_share:.0%} of all words, important ones too, are hidden as [UNK]: if the noun "
                "that is meant is hidden, the right answer is [UNK]; if the adjective is, nobody can tell, and the "
                "right answer is “it”."
            ),
            "zh": (
                f"{RECIPE.n_sentences:,} 个句子：{n_frames} 种含 it 的句式、{n_plain} 种不含 it 的句式，填入四类"
                f"（动物、地点、食物、器物）共 {n_nouns} 个名词和 {n_adjectives} 个形容词；两个名词谁先谁后、it 指谁都"
                f"有可能。每类词分成 {N_GROUPS} 组，同组的词在训练中从不同句出现：animal、street、tired、wide "
                f"就在同一组。{RECIPE.plain_share:.0%} 的句子没有 it。所有词（包括关键词）中有 "
                f"{RECIPE.unknown_share:.0%} 被换成 [UNK]：被指的名词被换掉时，正确答案是 [UNK]；形容词被换掉时谁也"
                "说不准，正确答案就是 it 自己。"
            ),
        },
        "objective": {
            "en": (
                "At every word, say which word it stands for (cross-entropy); “it” counts "
                f"{RECIPE.pronoun_weight:g} times as much as another word. {where['en']}"
            ),
            "zh": (
                f"在每个词处回答“这个词指代哪个词”（交叉熵），it 处的权重是其他词的 {RECIPE.pronoun_weight:g} 倍。"
                f"{where['zh']}"
            ),
        },
        "regularisers": {
            "en": (
                "Choices that shape the attention. "
                f"W_Q and W_K start small (standard deviation {options.score_std:g}) and decay a little "
                f"({training.score_decay:g}), so that scores grow only as far as they help. "
                f"{RECIPE.neutral_share:.0%} of the sentences have an adjective that fits no noun (“strange”): there "
                f"“it” stands for itself. {last['en']} In training, sentences begin at a random place from 0 to "
                f"{RECIPE.max_offset}; in use, at 0."
            ),
            "zh": (
                f"以下选择影响了注意力的样子。W_Q、W_K 的初值很小（标准差 {options.score_std:g}），并带有轻微的权重衰减"
                f"（{training.score_decay:g}），分数够用就不再变大，注意力权重因此不至于非 0 即 1。"
                f"{RECIPE.neutral_share:.0%} 的句子用的是不偏向任何名词的形容词（如 strange），"
                "这时 it 指代自己。"
                f"{last['zh']}"
                f"训练时句子从第 0 到第 {RECIPE.max_offset} 位中的随机一位开始，使用时从第 0 位开始。"
            ),
        },
    }


def _failures(figures: Mapping[str, Any], limits: Mapping[str, float]) -> Text:
    combinations, frames = figures["held_out_combinations"], figures["held_out_frames"]
    return {
        "en": (
            f"Asked for one word out of all {len(VOCABULARY)}, it is wrong in "
            f"{1 - combinations['full']:.1%} of new word combinations and {1 - frames['full']:.1%} of new frames. "
            "If both nouns are of one class, it cannot tell them apart, divides its attention, and names one of the "
            f"two in {limits['one_of_two_alike']:.0%}. If the adjective fits neither noun, it answers [UNK] in "
            f"{limits['none_fits']:.0%} and else some word. Two riddles in one sentence mix it up: the first "
            f"“it” is right in {limits['first_of_two']:.0%}. When the sentence begins at place 32, "
            f"{limits['late_start']:.0%} is right. If the noun that is meant is unknown, "
            f"it says so in {limits['unknown_noun']:.0%}; if the adjective is, in {limits['unknown_adjective']:.0%}. "
            f"Conjunctions do not matter to it: with “although” for “because” it "
            f"answers the same in {limits['although']:.0%}."
        ),
        "zh": (
            f"在全部 {len(VOCABULARY)} 个词里选一个作答时，没见过的词语搭配错 "
            f"{1 - combinations['full']:.1%}，没见过的句式错 {1 - frames['full']:.1%}。两个名词属于同一类时它分不清，"
            f"注意力一分为二，只有 {limits['one_of_two_alike']:.0%} 的回答是其中之一。形容词跟两个名词都不搭时，"
            f"{limits['none_fits']:.0%} 回答 [UNK]，其余就乱答。一句里有两处谜题时它会混淆，第一个 it 只答对 "
            f"{limits['first_of_two']:.0%}。句子从第 32 位开始时答对 {limits['late_start']:.0%}。被指的名词不认识时，"
            f"{limits['unknown_noun']:.0%} 会如实回答 [UNK]；形容词不认识时，"
            f"{limits['unknown_adjective']:.0%} 会回答 it。"
            f"它不理会连词：把 because 换成 although，{limits['although']:.0%} 的回答不变。"
        ),
    }


def _not_to_claim(figures: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    tired = figures["headline"]["tired"]
    return {
        "not_to_claim": {
            "en": [
                "That it understands English: it knows a handful of words in a handful of frames.",
                "That attention explains an answer: here it does lead to it, by construction; in general it need not.",
                "That this pattern arises from any training: labels and regularisers were chosen so that it can.",
                "That large models do the same, in the same place or in the same way.",
                f"That its weights are those printed in articles: here “it” gives “animal” {tired['animal']:.2f}.",
            ],
            "zh": [
                "不能说它懂英语：它只认识有限的词和句式。",
                "不能说注意力就是答案的解释：在这里，由于结构的安排，答案确实来自所看之处；一般的模型未必如此。",
                "不能说随便怎样训练都会出现这种图样：标签和约束是为了让它能够出现而选的。",
                "不能说大模型也在同样的位置、以同样的方式做这件事。",
                f"不能说它的权重就是文章里印的那些数：这里 it 对 animal 的注意力权重是 {tired['animal']:.2f}。",
            ],
        }
    }
