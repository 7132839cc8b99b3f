"""What the users of `pronoun-open` are told, and the variants that show what its parts are for."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from attention_core.cards import FOLDER
from attention_core.teach.runs import Options
from attention_core.teach.tasks.open_data import RECIPE
from attention_core.teach.tasks.open_words import ADJECTIVES, FRAMES, NEW_NOUNS, NOUNS, PLAIN_FRAMES, VOCABULARY
from attention_core.teach.tasks.task import Column, Description, Variant
from attention_core.teach.word_table import FILE, PACKAGE, VERSION

Text = dict[str, str]
Figures = Mapping[str, Any]

N_PAIRS = 40
TITLE = {"en": "What does “it” stand for, with any noun?", "zh": "“it”指的是谁？（名词不限）"}
COLUMNS = (
    Column("held_out_nouns.two_way", {"en": "new nouns", "zh": "没教过的名词"}),
    Column("held_out_frames.two_way", {"en": "new frames", "zh": "新的句式"}),
    Column("forty_pairs.flip", {"en": "forty pairs: both right", "zh": "40 组测试句：两句都对"}),
    Column("headline.tired.animal", {"en": "tired: it → animal", "zh": "tired：it → animal"}, is_share=False),
    Column("headline.wide.street", {"en": "wide: it → street", "zh": "wide：it → street"}, is_share=False),
)


def describe(description: Description) -> dict[str, Any]:
    """The texts of the card, by field, and where the word vectors stand."""
    options, figures = description.spec.options, description.figures
    return {
        "licence": "MIT; word vectors: Apache-2.0",
        "table": {"file": FILE, "sha256": hashlib.sha256((FOLDER / FILE).read_bytes()).hexdigest()},
        **_introduction(),
        **_how_it_is_built(options),
        **_how_it_is_taught(options),
        "failures": _failures(figures, description.seeds, description.limits),
        "not_to_claim": _not_to_claim(figures),
    }


def variants(options: Options) -> tuple[Variant, ...]:
    """What becomes of it with one layer, and with vectors that mean nothing. Measured, not shipped."""
    return (
        Variant(
            "one-layer",
            replace(options, n_layers=1),
            {"en": "one layer", "zh": "只有一层"},
            {
                "en": (
                    "With one layer, “it” asks without knowing the adjective: its attention is divided between the two "
                    "nouns in the same way, whether the animal is tired or the street wide. Some answers flip all the "
                    "same, because the adjective's own value can vote for a noun."
                ),
                "zh": (
                    "只有一层时，it 提问的那一刻还不知道形容词是什么：无论 tired 还是 wide，"
                    "它分给两个名词的注意力之比都一样。有些答案仍会随形容词改变，"
                    "因为形容词的值向量可以直接为某个名词“投票”。"
                ),
            },
            is_shipped=False,
        ),
        Variant(
            "random-vectors",
            replace(options, shuffled_table=True),
            {"en": "vectors dealt out by chance", "zh": "打乱词向量"},
            {
                "en": (
                    "Every word gets another word's vector, by chance, so that being near means nothing any more. Of a "
                    "new noun nothing can be known then, and even with the taught ones the model does worse: what it "
                    "learns of one says nothing about the next."
                ),
                "zh": (
                    "每个词随机换用别的词的向量，向量相近便不再有任何意义。没教过的名词于是无从判断；"
                    "就连教过的名词也学得更差，因为在一个词上学到的东西帮不了另一个词。"
                ),
            },
            is_shipped=False,
        ),
    )


def _introduction() -> dict[str, Text]:
    return {
        "summary": {
            "en": (
                "A small transformer on given word vectors. It has learned which sorts of nouns an adjective can be "
                f"said of, and tries that with any noun of its {len(VOCABULARY):,} words, taught or not."
            ),
            "zh": (
                "一个建立在现成词向量上的小型 Transformer。它学会了判断形容词能用来说哪类名词，"
                f"词表共 {len(VOCABULARY):,} 个词，其中的名词无论教过与否，都可以拿来试。"
            ),
        },
        "source": {
            "en": (
                "Taught on made-up sentences, with the code in attention_core/teach. The word vectors come from "
                "all-MiniLM-L6-v2 (sentence-transformers; Apache License 2.0), out of the package "
                f"{PACKAGE.replace('_', '-')} {VERSION} (MIT License, Copyright (c) 2026 Matt); they were reduced and "
                "rounded, and whoever passes them on passes on that licence, too. The sentence about the animal and "
                "the street comes from Google's article on the Transformer (Uszkoreit, 2017)."
            ),
            "zh": (
                "用 attention_core/teach 里的代码、在自动生成的句子上训练而成。词向量取自 all-MiniLM-L6-v2"
                f"（sentence-transformers，Apache 许可证 2.0），来自软件包 {PACKAGE.replace('_', '-')} {VERSION}"
                "（MIT 许可证，Copyright (c) 2026 Matt），经过降维和取整；再分发时须附上同样的许可证。"
                "动物与街道的例句出自谷歌介绍 Transformer 的文章（Uszkoreit，2017）。"
            ),
        },
    }


def _how_it_is_built(options: Options) -> dict[str, Text]:
    wide, narrow = options.d_model, options.d_head
    return {
        "answers": {
            "en": (
                "Which word this word stands for, out of the whole table. Ordinary words stand for themselves, “it” "
                "for a noun. Words outside the table are read as [UNK]."
            ),
            "zh": "这个词指代词表中的哪个词。普通的词指代自己，it 指代某个名词。词表以外的词一律读作 [UNK]。",
        },
        "architecture": {
            "en": (
                f"Two layers with one head each; {wide} given numbers per word, which training leaves as they are, and "
                f"{narrow} in each of q, k and v. Every word may look at every word. Layer 0 makes a note for each "
                "word; in layer 1 the query is computed from the word and its note, key and value from the word "
                "alone. The output is compared with every word's vector: the largest dot product is the answer. No "
                "biases, no LayerNorm, no MLP."
            ),
            "zh": (
                f"两层，每层一个头；每个词有 {wide} 个给定的数，训练不改动它们；查询、键、值各 {narrow} 维。每个词都能"
                "看到所有词。第 0 层给每个词写一条“笔记”；第 1 层的查询由词和笔记一起算出，键和值只由词本身算出。输出"
                "与每个词的向量做点积，最大者就是答案。没有偏置，没有 LayerNorm，也没有 MLP。"
            ),
        },
        "structural_zeros": {
            "en": (
                "Layer 0 writes its note Δ beside the word X, not onto it, so layer 1 has one input [X | Δ] of "
                f"{2 * wide} numbers per word: W_Q stands twice, one copy above the other, and under W_K and W_V stand "
                "zeros, because the notes are not read there. These copies and zeros were not learned."
            ),
            "zh": (
                f"第 0 层把笔记 Δ 写在词向量 X 的旁边，所以第 1 层的输入是 [X | Δ]，每个词 {2 * wide} 个数："
                "W_Q 上下重复两遍；键和值不读笔记，W_K、W_V 的下半部分补零。这些重复和零是结构规定的，不是学出来的。"
            ),
        },
    }


def _how_it_is_taught(options: Options) -> dict[str, Text]:
    n_nouns, n_new = (sum(map(len, table.values())) for table in (NOUNS, NEW_NOUNS))
    return {
        "data": {
            "en": (
                f"{RECIPE.n_sentences:,} sentences: {len(FRAMES)} frames with “it” and {len(PLAIN_FRAMES)} without, "
                f"filled with {n_nouns} nouns of {len(NOUNS)} categories and {len(ADJECTIVES)} adjectives. By hand it "
                "was written down which categories an adjective fits, and of which others it could be said: a "
                "sentence asks only if its adjective fits one noun and can't be said of the other. Neither “animal” "
                f"nor “street”, nor any noun of the forty test pairs, nor {n_new} others are taught. "
                f"{RECIPE.plain_share:.0%} of the sentences have no “it”; {RECIPE.unknown_share:.0%} of all words are "
                f"hidden as [UNK] and {RECIPE.strange_share:.0%} of those that don't matter replaced by any word of "
                "the table."
            ),
            "zh": (
                f"{RECIPE.n_sentences:,} 个句子：{len(FRAMES)} 种含 it 的句式、{len(PLAIN_FRAMES)} 种不含 it 的句式，填"
                f"入 {len(NOUNS)} 类共 {n_nouns} 个名词和 {len(ADJECTIVES)} 个形容词。每个形容词适合哪些类、还能用来说"
                "哪些类，是人工写定的；只有当形容词适合其中一个名词、又不能用来说另一个时，才拿来提问。animal、"
                f"street、40 组测试句里的名词以及另外 {n_new} 个名词都没有教过。{RECIPE.plain_share:.0%} 的句子没有 "
                f"it；所有词中有 {RECIPE.unknown_share:.0%} 被换成 [UNK]，无关紧要的词中有 {RECIPE.strange_share:.0%} "
                "被换成词表里的任意词。"
            ),
        },
        "objective": {
            "en": (
                "At every word, say which word it stands for (cross-entropy among the words of the batch and "
                f"{RECIPE.n_rivals} drawn by chance); “it” counts {RECIPE.pronoun_weight:g} times as much as another "
                "word. Nothing in the objective mentions attention: where to look was left to the training."
            ),
            "zh": (
                f"在每个词处回答“这个词指代哪个词”（在本批次出现的词和随机抽取的 {RECIPE.n_rivals} 个词之间算交叉熵），"
                f"it 处的权重是其他词的 {RECIPE.pronoun_weight:g} 倍。目标里没有任何关于注意力的要求，"
                "往哪里看是模型自己学会的。"
            ),
        },
        "regularisers": {
            "en": (
                "Choices that shape the attention. Noise is added to every number of every word (standard deviation "
                f"{RECIPE.noise:g}, the numbers' own being 1), so that what holds for a noun holds around it. W_Q and "
                f"W_K start small (standard deviation {options.score_std:g}). {RECIPE.neutral_share:.0%} of the "
                "sentences have an adjective that fits no noun (“strange”): there “it” stands for itself. Keys and "
                "values of layer 1 read words without notes, and its output is not added to the word, so an answer "
                "can only come from where layer 1 looks. In training, sentences begin at a random place from 0 to "
                f"{RECIPE.max_offset}; in use, at 0."
            ),
            "zh": (
                f"以下选择影响了注意力的样子。训练时给每个词的每个数加噪声（标准差 {RECIPE.noise:g}，这些数自身的幅度为"
                f" 1），使一个名词上学到的规律对相近的词也成立。W_Q、W_K 的初值很小（标准差 {options.score_std:g}）。"
                f"{RECIPE.neutral_share:.0%} 的句子用的是不偏向任何名词的形容词（如 strange），这时 it 指代自己。第 1 "
                "层的键和值只读词、不读笔记，输出也不再加回词向量，答案只能来自第 1 层所看的地方。训练时句子从第 0 到"
                f"第 {RECIPE.max_offset} 位中的随机一位开始，使用时从第 0 位开始。"
            ),
        },
    }


def _failures(figures: Figures, seeds: Sequence[Figures], limits: Mapping[str, float]) -> Text:
    pairs, nouns = figures["forty_pairs"], figures["held_out_nouns"]
    adjectives, counts = figures["held_out_adjectives"], [each["forty_pairs"]["pairs"] for each in seeds]
    often = wrong_in_most(seeds)
    spread = f"{min(counts)}–{max(counts)}" if min(counts) < max(counts) else f"{counts[0]}"
    return {
        "en": (
            f"Of the forty test pairs it gets {pairs['pairs']} right in both sentences ({spread} in the {len(seeds)} "
            f"seeds), and {pairs['sentences']} of {2 * N_PAIRS} sentences. Wrong: {', '.join(pairs['wrong'])}. Wrong "
            f"in most seeds: {', '.join(often) or 'none'}. Without any model, the noun whose vector is nearer to the "
            f"adjective's is right in both sentences of {limits['cosine_pairs']:.0f} pairs. The recipe was chosen on "
            "other sentences, but earlier recipes had been measured on the forty pairs, too. Of two nouns that are "
            f"both new it finds the one that is meant in {nouns['two_way']:.1%}, and names it among all "
            f"{len(VOCABULARY):,} words in {nouns['full']:.1%}: the answer may be a neighbour of the noun it looks at. "
            f"With adjectives that were never taught, {adjectives['two_way']:.1%}. With another adjective before each "
            f"noun, {limits['both_described']:.1%}. If both nouns are of one category, it names one of them in "
            f"{limits['one_of_two_alike']:.0%}. When the sentence begins at place 32, {limits['late_start']:.0%} is "
            f"right. If the noun that is meant is outside the table, it says so in {limits['unknown_noun']:.0%}; if "
            f"the adjective is, in {limits['unknown_adjective']:.0%}. With “although” for “because” it answers the "
            f"same in {limits['although']:.0%}."
        ),
        "zh": (
            f"40 组测试句中，两句都答对的有 {pairs['pairs']} 组（{len(seeds)} 个种子：{spread} 组），{2 * N_PAIRS} 个句"
            f"子中答对 {pairs['sentences']} 个。答错的有：{'、'.join(pairs['wrong'])}。多数种子都答错的有："
            f"{'、'.join(often) or '无'}。不用模型，只看哪个名词的词向量离形容词更近，两句都对的有 "
            f"{limits['cosine_pairs']:.0f} 组。训练方案是在别的句子上选定的，不过此前的方案也在这 40 组上测过。两个名词"
            f"都没教过时，二选一答对 {nouns['two_way']:.1%}；在全部 {len(VOCABULARY):,} 个词里作答，答对 "
            f"{nouns['full']:.1%}：它可能说出所看名词的近义词。形容词没教过时，二选一答对 {adjectives['two_way']:.1%}。"
            f"两个名词前另有形容词时，{limits['both_described']:.1%}。两个名词属于同一类时，"
            f"{limits['one_of_two_alike']:.0%} 的回答是其中之一。句子从第 32 位开始时答对 {limits['late_start']:.0%}。"
            f"被指的名词不在词表里时，{limits['unknown_noun']:.0%} 会如实回答 [UNK]；形容词不在词表里时，"
            f"{limits['unknown_adjective']:.0%} 会回答 it。把 because 换成 although，{limits['although']:.0%} 的回答不"
            "变。"
        ),
    }


def wrong_in_most(seeds: Sequence[Figures]) -> list[str]:
    """The sentences of the forty pairs, by noun and adjective, that are wrong in more than half of the seeds."""
    counts = Counter(sentence for each in seeds for sentence in each["forty_pairs"]["wrong"])
    return sorted(sentence for sentence, count in counts.items() if 2 * count > len(seeds))


def _not_to_claim(figures: Figures) -> dict[str, list[str]]:
    tired, adjectives = figures["headline"]["tired"], figures["held_out_adjectives"]
    return {
        "en": [
            "That it understands English: it knows which adjectives go with which sorts of nouns, in a few frames.",
            "That it learned the words' meanings: the vectors were learned by another model, from much more text.",
            f"That it can do so with any adjective: with those never taught, {adjectives['two_way']:.0%} is right, "
            "and half would be by chance.",
            "That attention explains an answer: here it does lead to it, by construction; in general it need not.",
            "That this pattern arises from any training: labels and regularisers were chosen so that it can.",
            f"That its weights are those printed in articles: here “it” gives “animal” {tired['animal']:.2f}.",
        ],
        "zh": [
            "不能说它懂英语：它只知道哪些形容词配哪类名词，而且只在少数几种句式里。",
            "不能说词义是它学会的：词向量出自另一个模型，那个模型读过的文本多得多。",
            f"不能说换任何形容词都行：没教过的形容词，二选一答对 {adjectives['two_way']:.0%}，而瞎猜也有一半。",
            "不能说注意力就是答案的解释：在这里，由于结构的安排，答案确实来自所看之处；一般的模型未必如此。",
            "不能说随便怎样训练都会出现这种图样：标签和约束是为了让它能够出现而选的。",
            f"不能说它的权重就是文章里印的那些数：这里 it 对 animal 的注意力权重是 {tired['animal']:.2f}。",
        ],
    }
