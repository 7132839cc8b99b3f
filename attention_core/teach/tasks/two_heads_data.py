"""What `two-heads` is taught from: texts that may be about a dish, about Buddhism, about both or about neither.

佛跳墙 is a dish from Fuzhou ("the Buddha jumps over the wall"), 佛祖 is the Buddha, 佛经 a sutra; 佛山 and 佛坪 are
places, 佛手 is a fruit, 佛罗伦萨 is Florence. All of them stand in the same frames, so that nothing but the characters
beside 佛 tells them apart. At every 佛 the model says what the text is about. Nothing here says where to look.

跳 and 墙 never meet both 祖 and 经 in training: texts in which 佛 has all four to ask for are new to the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from jaxtyping import Bool, Int

from attention_core.teach.runs import Batch, RunSpec

# "training": never the dish, 祖 and 经 together; "combinations": always all three; "any": as they come.
Split = Literal["training", "combinations", "any"]

UNKNOWN = "[UNK]"
BUDDHA = "佛"
DISH, SUTRA, BUDDHISM = "佛跳墙", "佛经", ("佛祖", "佛经")
ASKED = ("跳", "墙", "祖", "经")
NEUTRAL = ("佛山", "佛手", "佛坪", "佛罗伦萨")
PLAIN = ("茶", "花", "船", "门", "月亮", "天气", "电影", "地图", "苹果", "火车", "小路", "雨")

WHO = ("我", "你", "他", "她", "我们", "他们", "大家", "老师", "朋友", "妈妈", "爸爸", "同学")
WHEN = ("", "今天", "昨天", "明天", "早上", "晚上", "去年", "刚才")
TRAINING_FRAMES = (
    "{who}{when}说{it}",
    "{who}{when}看见{it}",
    "{when}{who}想{it}",
    "{it}在{who}家",
    "{who}放下{it}",
    "书里写{it}",
    "{when}有人问{it}",
    "{it}很有名",
    "{when}来找{it}",
    "这是{it}",
)
TEST_FRAMES = ("{who}和{who}都谈{it}", "{when}听到{it}", "那不是{it}", "{it}也好", "{who}常常提起{it}")

# What a text is about, as a number: 1 for the dish, 2 for Buddhism, added up. Other characters than 佛 aren't asked.
ANSWERS = ("都不是", "佛跳墙", "佛教", "佛跳墙和佛教", "不问")
NOT_ASKED = len(ANSWERS) - 1
MAX_CLAUSES = 5


def _vocabulary() -> tuple[str, ...]:
    """[UNK], 佛 and what it may ask for, then all other characters of the training texts by their number."""
    first = (BUDDHA, *ASKED)
    texts = "".join((*NEUTRAL, *PLAIN, *WHO, *WHEN, "，。", *(_bare(frame) for frame in TRAINING_FRAMES)))
    return (UNKNOWN, *first, *sorted(set(texts) - set(first)))


def _bare(frame: str) -> str:
    return frame.format(who="", when="", it="")


VOCABULARY = _vocabulary()
NUMBER = {character: number for number, character in enumerate(VOCABULARY)}


@dataclass(frozen=True)
class Recipe:
    """The choices that shape the data.

    Attributes:
        n_texts: how many the model is taught from. batch: texts per step.
        hidden_share: characters (never 佛) that are blotted out as [UNK], anew at every step.
        noise: standard deviation of what is added to the heads' output.
    """

    n_texts: int = 20_000
    batch: int = 64
    hidden_share: float = 0.5
    noise: float = 1.0


RECIPE = Recipe()


class Topical(NamedTuple):
    """A text and what it is about: a number of `ANSWERS`."""

    text: str
    about: int


class Corpus(NamedTuple):
    """Texts as numbers of characters, filled up on the right (`real` is False there), and what they are about."""

    tokens: Int[np.ndarray, "text token"]
    real: Bool[np.ndarray, "text token"]
    about: Int[np.ndarray, " text"]


def topical(rng: np.random.Generator, frames: Sequence[str], split: Split) -> Topical:
    """A text of one to five clauses: each subject by a coin, then other things, in any order."""
    while True:
        has_dish, has_buddhism = (split == "combinations" or bool(rng.integers(2)) for _ in range(2))
        buddhism = BUDDHISM if split == "combinations" else _pick(rng, (BUDDHISM, BUDDHISM[:1], BUDDHISM[1:]))
        if not (split == "training" and has_dish and has_buddhism and len(buddhism) == 2):
            break
    subjects = [DISH] * has_dish + list(buddhism) * has_buddhism
    things = subjects or [_pick(rng, NEUTRAL)]
    more = [_pick(rng, (*things, _pick(rng, NEUTRAL), _pick(rng, PLAIN))) for _ in range(int(rng.integers(4)))]
    things = (things + more)[:MAX_CLAUSES]
    clauses = [clause(rng, _pick(rng, frames), things[i]) for i in rng.permutation(len(things))]
    return Topical("，".join(clauses) + "。", has_dish + 2 * has_buddhism)


def clause(rng: np.random.Generator, frame: str, thing: str) -> str:
    """A frame with its gaps filled."""
    while "{who}" in frame:
        frame = frame.replace("{who}", _pick(rng, WHO), 1)
    return frame.format(when=_pick(rng, WHEN), it=thing)


def held_out(kind: Literal["combinations", "frames"], n: int, seed: int = 1) -> list[Topical]:
    """Texts never seen in training: all four characters together, or new frames with any of them."""
    rng = np.random.default_rng(seed)
    if kind == "combinations":
        return [topical(rng, TRAINING_FRAMES, "combinations") for _ in range(n)]
    return [topical(rng, TEST_FRAMES, "any") for _ in range(n)]


def encode(texts: Sequence[Topical]) -> Corpus:
    """Texts as arrays; characters outside the vocabulary as [UNK]."""
    lengths = np.array([len(each.text) for each in texts])
    real = np.arange(lengths.max()) < lengths[:, None]
    tokens = np.full(real.shape, NUMBER[UNKNOWN])
    tokens[real] = [NUMBER.get(character, NUMBER[UNKNOWN]) for each in texts for character in each.text]
    return Corpus(tokens, real, np.array([each.about for each in texts]))


def batches(spec: RunSpec, recipe: Recipe = RECIPE) -> Iterator[Batch]:
    """Endless training batches: texts by chance, characters blotted out by chance.

    Every 佛 is asked, and every other character must know that it isn't; both kinds count the same in sum.
    """
    rng = np.random.default_rng(spec.seed)
    corpus = encode([topical(rng, TRAINING_FRAMES, "training") for _ in range(recipe.n_texts)])
    about = rng.permutation(corpus.about) if spec.shuffled_labels else corpus.about
    while True:
        rows = rng.integers(len(corpus.tokens), size=recipe.batch)
        width = int(corpus.real[rows].sum(axis=1).max())
        tokens, real = corpus.tokens[rows, :width], corpus.real[rows, :width]
        is_asked = tokens == NUMBER[BUDDHA]
        hidden = ~is_asked & (rng.random(tokens.shape) < recipe.hidden_share)
        weight = np.where(is_asked, 1 / is_asked.sum(), real / (real & ~is_asked).sum())
        yield Batch(
            tokens=np.where(hidden, NUMBER[UNKNOWN], tokens),
            real=real,
            offset=np.zeros(recipe.batch, dtype=np.int64),
            targets={"about": np.where(is_asked, about[rows, None], NOT_ASKED)},
            weight={"about": weight.astype(np.float32)},
            noise=recipe.noise * rng.standard_normal((*tokens.shape, spec.options.d_model), dtype=np.float32),
        )


_Item = TypeVar("_Item")


def _pick(rng: np.random.Generator, items: Sequence[_Item]) -> _Item:
    return items[int(rng.integers(len(items)))]
