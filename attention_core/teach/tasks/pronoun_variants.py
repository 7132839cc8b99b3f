"""The variants of `pronoun`: what becomes of it with a part left out, shared, or told where to look."""

from __future__ import annotations

from dataclasses import replace

from attention_core.teach.runs import Options
from attention_core.teach.tasks.task import Variant


def variants(options: Options) -> tuple[Variant, ...]:
    """What becomes of it with a part left out, shared, or told where to look."""
    return (
        Variant(
            "one-layer",
            replace(options, n_layers=1),
            {"en": "one layer", "zh": "只有一层"},
            {
                "en": (
                    "With one layer, “it” has to ask before it knows whether it is tired or wide: its query is the "
                    "same in both sentences, and so are the keys it compares. The answers may still be right, "
                    "because the adjective's own value can vote for a noun. A map that does not flip, under an "
                    "answer that does: attention is not the explanation."
                ),
                "zh": (
                    "只有一层时，it 在提问的那一刻还不知道是 tired 还是 wide：两句话里它的查询完全相同，"
                    "对名词的打分也相同。答案却仍可能正确，因为形容词的值向量可以直接为某个名词“投票”。"
                    "答案变了，注意力图没变：注意力并不等于解释。"
                ),
            },
        ),
        Variant(
            "supervised",
            replace(options, supervised=True),
            {"en": "told where to look", "zh": "注意力受监督"},
            {
                "en": (
                    "Here the objective also says where to look: “it” at the adjective in layer 0, at the noun that is "
                    "meant in layer 1. Such attention was prescribed, not found."
                ),
                "zh": (
                    "这里的训练目标还规定了往哪里看：第 0 层 it 看形容词，第 1 层 it 看被指的名词。"
                    "这样的注意力是规定出来的，不是自己学会的。"
                ),
            },
        ),
        Variant(
            "qk",
            replace(options, share="qk"),
            {"en": "Q = K", "zh": "Q = K"},
            {
                "en": "One matrix serves as W_Q and W_K: a word is found by what it looks for itself.",
                "zh": "W_Q 与 W_K 用同一个矩阵：一个词拿什么去找别人，也就拿什么被别人找到。",
            },
            is_shipped=False,
        ),
        Variant(
            "kv",
            replace(options, share="kv"),
            {"en": "K = V", "zh": "K = V"},
            {
                "en": "One matrix serves as W_K and W_V: what a word is found by is also what it hands over.",
                "zh": "W_K 与 W_V 用同一个矩阵：一个词靠什么被找到，交出去的也就是什么。",
            },
            is_shipped=False,
        ),
        Variant(
            "keys-from-notes",
            replace(options, key_reads="stream"),
            {"en": "keys and values read the notes, too", "zh": "键和值也读笔记"},
            {
                "en": (
                    "Keys and values of layer 1 may read the notes of layer 0. Then other circuits could answer, "
                    "too; the figures tell in how many seeds this pattern appears all the same."
                ),
                "zh": (
                    "第 1 层的键和值也可以读第 0 层的笔记。这样模型还能用别的办法作答；"
                    "图样仍会在几个种子里出现，见下面的数据。"
                ),
            },
            is_shipped=False,
        ),
        Variant(
            "no-positions",
            replace(options, positions="none"),
            {"en": "no positions", "zh": "没有位置"},
            {
                "en": "Without positions the order of the words is lost. The figures tell how much this matters here.",
                "zh": "没有位置，词序就丢了；这个任务有多需要词序，看数据便知。",
            },
            is_shipped=False,
        ),
    )
