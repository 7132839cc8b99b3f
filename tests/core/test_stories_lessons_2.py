"""Lessons 10 to 18: their numbers, computed a second time with torch straight from the models' files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from attention_core.cards import FOLDER
from attention_core.stories import lessons_2, lessons_2_maps
from attention_core.words import SPLITTERS, fold

BOTH = "今天吃佛跳墙，明天看佛经。"
DISH = "晚上我们吃佛跳墙"
IT = 7
SENTENCES = {one: f"The animal didn't cross the street because it was too {one}." for one in ("tired", "wide")}
Mask = Callable[[int, int, torch.Tensor], torch.Tensor]


class Plain:
    """A taught model from its file: the stream's parts, one layer after another; edits come as a mask, an order."""

    def __init__(self, name: str) -> None:
        self.facts = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        self.tensors = {key: value.double() for key, value in load_file(FOLDER / f"{name}.safetensors").items()}

    def words(self, text: str) -> list[str]:
        return [*self.facts["prefix"], *(text[a:b] for a, b in SPLITTERS[self.facts["tokenizer"]](text))]

    def word_part(self, words: list[str]) -> torch.Tensor:
        known = {word: i for i, word in enumerate(self.facts["vocabulary"])}
        ids = [known.get(word, known.get(fold(word), known[self.facts["unknown"]])) for word in words]
        content = self.tensors["embedding"][ids]
        if self.facts["positions"] == "learned":
            return content + self.tensors["positions"][: len(ids)]
        if self.facts["positions"] == "none":
            return content
        n, d = content.shape
        at = torch.arange(n, dtype=torch.float64)[:, None] / 10000 ** (torch.arange(0, d, 2, dtype=torch.float64) / d)
        return content + torch.stack([at.sin(), at.cos()], dim=2).reshape(n, d)

    def run(self, words: list[str], mask: Mask | None = None, causal: bool = False) -> Plain:
        """Fill `stream`, `before` (the stream that each layer reads), `weights`, `values` (v W_O) and `written`."""
        self.stream = {"word": self.word_part(words)}
        self.before, self.weights, self.v, self.values, self.written = [], [], [], [], []
        n = len(words)
        for i, facts in enumerate(self.facts["layers"]):
            self.before.append(dict(self.stream))
            asks, answers = (sum(self.stream[part] for part in facts[f"{who}_reads"]) for who in ("query", "key"))
            part = {name: self.tensors[f"layers.{i}.{name}"] for name in ("w_q", "w_k", "w_v", "w_o")}
            q, k, v = asks @ part["w_q"], answers @ part["w_k"], answers @ part["w_v"]
            away = torch.arange(n)[:, None] - torch.arange(n)
            seen = away.abs() <= (n if facts["window"] is None else facts["window"])
            seen = seen & (away >= 0) if causal or self.facts["causal"] else seen
            heads = torch.stack([seen if mask is None else mask(i, h, seen.clone()) for h in range(len(q))])
            scaled = (q @ k.transpose(1, 2) / math.sqrt(q.shape[2])).masked_fill(~heads, -math.inf)
            weights = torch.softmax(scaled, dim=2).nan_to_num(0.0)
            written = (weights @ v @ part["w_o"]).sum(dim=0)
            self.stream[facts["writes"]] = self.stream.get(facts["writes"], 0) + written
            for kept, value in ((self.weights, weights), (self.v, v), (self.values, v @ part["w_o"])):
                kept.append(value)
            self.written.append(written)
        return self

    def logits(self) -> torch.Tensor:
        """What the first read-out says at every token."""
        facts = self.facts["readouts"][0]
        read = sum(self.stream[part] for part in facts["reads"])
        if facts["tensor"] == "embedding":
            return read @ self.tensors["embedding"].T
        return read @ self.tensors[facts["tensor"]] + self.tensors.get(f"{facts['tensor']}_bias", torch.zeros(1))

    def answers(self) -> list[str]:
        return self.facts["readouts"][0]["answers"] or self.facts["vocabulary"]

    def answer(self, at: int) -> tuple[str, float]:
        p = torch.softmax(self.logits()[at], dim=0)
        return self.answers()[int(p.argmax())], float(p.max())


def cut(layer: int, query: int, key: int) -> Mask:
    def hide(i: int, _: int, seen: torch.Tensor) -> torch.Tensor:
        if i == layer:
            seen[query, key] = False
        return seen

    return hide


def near(found: object, wanted: object, within: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(found, dtype=float), np.asarray(wanted, dtype=float), atol=within, rtol=0)


@pytest.mark.parametrize(("mask", "model"), [(False, "without"), (True, "without"), (False, "with"), (True, "with")])
@pytest.mark.parametrize("shuffle", [1, 18])
@pytest.mark.parametrize("sentence", [BOTH, "他跳过围墙去吃佛跳墙", "晚上我们吃火锅"])
def test_outputs_only_permute_without_mask_and_positions(mask: bool, model: str, shuffle: int, sentence: str) -> None:
    found = lessons_2.order(sentence, shuffle, mask, model)
    plain = Plain({"without": "two-heads", "with": "dish-no-window"}[model])
    words = plain.words(sentence)
    kept = len(plain.facts["prefix"])
    drawn = [*range(kept), *(np.random.default_rng(shuffle).permutation(len(words) - kept) + kept)]
    first = plain.run(words, causal=mask).written[-1]
    second = plain.run([words[i] for i in drawn], causal=mask).written[-1]
    near(found["before"], first)
    near(found["after"], second[np.argsort(drawn)])
    near(found["apart"], (second[np.argsort(drawn)] - first).abs().amax(dim=1))
    assert found["fed"] == [words[i] for i in drawn]
    assert found["moved"] == sum(i != j for i, j in enumerate(drawn))
    assert found["plain_gap"] <= 1e-12
    assert (found["gap"] <= 1e-12) == (not mask and model == "without")
    assert found["gap"] <= 1e-12 or found["gap"] > (1 if sentence == BOTH else 0.1)


def test_an_order_that_moves_nothing_changes_nothing() -> None:
    found = lessons_2.order(BOTH, 0, True, "with")
    assert (found["moved"], found["gap"]) == (0, 0)


@pytest.mark.parametrize(("without", "hidden"), [("none", None), ("first", 0), ("second", 1)])
@pytest.mark.parametrize("sentence", [BOTH, "他看佛经", "今天吃佛跳墙"])
def test_two_heads_that_change_places(sentence: str, without: str, hidden: int | None) -> None:
    found = lessons_2.heads(sentence, without)
    for i, name in enumerate(("two-heads", "two-heads-reseeded")):
        plain = Plain(name)
        words = plain.words(sentence)
        at = words.index("佛")
        weights = plain.run(words).weights[0][:, at]
        topics = [[j for j, word in enumerate(words) if word in pair] for pair in ("跳墙", "祖经")]
        near(found["pairs"][i], torch.stack([weights[:, topic].sum(dim=1) for topic in topics], dim=1))
        assert (found["answers"][i], found["probabilities"][i]) == pytest.approx(plain.answer(at))

        def hide(_: int, h: int, seen: torch.Tensor, row: int = at) -> torch.Tensor:
            if h == hidden:
                seen[row] = False
            return seen

        plain.run(words, hide)
        assert (found["left_answers"][i], found["left_probabilities"][i]) == pytest.approx(plain.answer(at))
    of_topic = found["pairs"][:, :, int(sentence == "他看佛经")]
    assert found["finders"] == list(of_topic.argmax(axis=1))
    assert found["exchanged"].max() <= 1e-12


def test_the_default_pair_of_models_is_swapped_and_seeds_differ() -> None:
    found = lessons_2.heads(BOTH, "none")
    card = json.loads((FOLDER / "two-heads.json").read_text(encoding="utf-8"))["figures"]["seeds"]
    assert found["finders"] == [1, 0]
    assert found["n_first"] == sum(row["head_0_dish"] > 0.5 for row in card)
    assert 0 < found["n_first"] < found["n_seeds"] == len(card)


@pytest.mark.parametrize(("d", "h", "n"), [(768, 64, 12), (64, 32, 1), (64, 128, 2), (256, 8, 16)])
def test_shapes_ranks_and_counts(d: int, h: int, n: int) -> None:
    found = lessons_2.shapes(d, h, n, 5)
    generator = torch.Generator().manual_seed(11)
    w_q, w_k = (torch.randn(d, h, generator=generator, dtype=torch.float64) for _ in range(2))
    assert found["two"] == w_q.numel() + w_k.numel()
    assert found["product"] == (w_q @ w_k.T).numel()
    assert (found["all_two"], found["all_product"]) == (n * found["two"], n * found["product"])
    assert found["rank"] == int(torch.linalg.matrix_rank(w_q @ w_k.T))


def test_every_head_reads_every_number_of_its_input() -> None:
    plain = Plain("two-heads").run(list(BOTH))
    w_q = plain.tensors["layers.0.w_q"]
    x = plain.before[0]["word"][0].clone()
    for number in (0, 7, 15):
        found = lessons_2.shapes(64, 8, 1, number)
        nudged = x.clone()
        nudged[number] += 1
        near(found["change"], (nudged @ w_q - x @ w_q).norm(dim=1))
        near(found["reads"], w_q.norm(dim=2))
    assert list(found["n_read"]) == [16, 16]


@pytest.mark.parametrize("adjective", ["tired", "wide"])
@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize("word", [0, IT, 10, 11])
def test_under_a_causal_mask_nothing_is_known_of_what_follows(word: int, mask: bool, adjective: str) -> None:
    found = lessons_2.future(word, mask, adjective)
    plain = Plain("pronoun")
    written = {}
    for one in ("wide", "tired") if adjective == "tired" else ("tired", "wide"):
        written[one] = torch.stack(plain.run(plain.words(SENTENCES[one]), causal=mask).written)
    near(found["apart"], (written["tired"] - written["wide"]).abs().amax(dim=(0, 2)))
    near(found["weights"], plain.weights[1][0, word])
    assert (found["answer"], found["probability"]) == pytest.approx(plain.answer(word))
    assert found["n_seen"] == (word + 1 if mask else 12)
    assert found["it_seen"] == IT + 1
    assert found["differs"] == 10
    assert found["knows"] == (not mask or word >= 10)


@pytest.mark.parametrize(("which", "mark"), [("all", False), ("all", True), ("one", False), ("one", True)])
@pytest.mark.parametrize("times", [1, 3, 8])
@pytest.mark.parametrize("text", ["今天吃佛跳墙", "他跳过围墙去吃佛跳墙", "晚上我们吃火锅"])
def test_a_mean_does_not_count(text: str, times: int, which: str, mark: bool) -> None:
    found = lessons_2.count(text, times, which, mark)
    plain = Plain("two-heads").run(list(text))
    x = plain.before[0]["word"]
    q, k, v = (x @ plain.tensors[f"layers.0.{name}"][1] for name in ("w_q", "w_k", "w_v"))
    scaled = q[max(text.find("佛"), 0)] @ k.T / math.sqrt(8)
    best = int(scaled.argmax())
    copies = torch.tensor([times if which == "all" or j == best else 1 for j in range(len(text))]).double()
    exps = copies * scaled.exp()
    start = scaled[best].exp() * mark
    near(found["output"], exps @ v / (exps.sum() + start))
    near(found["share"], exps[best] / (exps.sum() + start))
    near(found["mark_share"], start / (exps.sum() + start))
    near(found["sums"][times - 1], (exps @ v).norm() / (scaled.exp() @ v).norm())
    near(found["lengths"][times - 1], (exps @ v).norm() / (exps.sum() + start) / np.linalg.norm(found["once"]))
    near(found["shares"][times - 1], found["share"])
    assert found["word"] == text[best]
    if which == "all" and not mark:
        assert found["gap"] <= 1e-12
    if mark:
        near(found["counted"], exps.sum() / scaled.exp().sum())
    near(found["three"], found["single"], within=1e-12)


@pytest.mark.parametrize("case", list(lessons_2_maps.EDGES))
@pytest.mark.parametrize("rank", [1, 2, 5])
def test_edges_cut_one_by_one(case: str, rank: int) -> None:
    found = lessons_2_maps.explanation(case, rank)
    name, text, layer, word = lessons_2_maps.EDGES[case]
    plain = Plain(name)
    words = plain.words(text)
    at = len(words) - 1 if word is None else [fold(one) for one in words].index(word)
    weights = plain.run(words).weights[layer][0, at]
    answer, p = plain.answer(at)
    column = plain.answers().index(answer)
    near(found["weights"], weights)
    assert (found["answer"], found["probability"]) == pytest.approx((answer, p))
    for key in range(len(words)):
        cut_off = plain.run(words, cut(layer, at, key))
        near(found["kept"][key], torch.softmax(cut_off.logits()[at], dim=0)[column])
        assert found["turned"][key] == (cut_off.answer(at)[0] != answer)
    wanted = int(weights.argsort(descending=True)[rank - 1])
    then = plain.run(words, cut(layer, at, wanted))
    assert (found["cut"], found["then"]) == (words[wanted], then.answer(at)[0])
    near(found["then_probability"], then.answer(at)[1])
    row = then.weights[layer][0, at]
    near(found["takes_weight"], row.max())
    assert (found["takes_at"], found["takes"]) == (int(row.argmax()), words[int(row.argmax())])


def test_the_largest_edge_matters_in_some_maps_only() -> None:
    found = lessons_2_maps.explanation("noun", 1)
    turned = [lessons_2_maps.explanation(case, 1) for case in lessons_2_maps.EDGES]
    assert found["changed_cases"] == sum(one["then"] != one["answer"] for one in turned)
    assert 0 < found["changed_cases"] < found["n_cases"] == len(turned)


@pytest.mark.parametrize("case", list(lessons_2_maps.ROWS))
@pytest.mark.parametrize("measure", ["value", "written", "answer"])
def test_what_a_weight_puts_in(case: str, measure: str) -> None:
    found = lessons_2_maps.contribution(case, measure)
    name, text, layer, word = lessons_2_maps.ROWS[case]
    plain = Plain(name)
    words = plain.words(text)
    at = len(words) - 1 if word is None else [fold(one) for one in words].index(word)
    plain.run(words)
    weights, values = plain.weights[layer][0, at], plain.values[layer][0]
    if measure == "answer":
        facts = plain.facts["readouts"][0]
        columns = plain.tensors["embedding"].T if facts["tensor"] == "embedding" else plain.tensors[facts["tensor"]]
        each = values @ columns[:, plain.answers().index(plain.answer(at)[0])]
    else:
        each = (plain.v[layer][0] if measure == "value" else values).norm(dim=1)
    parts = weights * each
    near(found["weights"], weights)
    near(found["parts"], parts)
    near(found["per_weight"], each)
    assert found["answer"] == plain.answer(at)[0]
    near(found["shares"], parts / parts.abs().sum())
    assert (found["first"], found["most"]) == (words[int(weights.argmax())], words[int(parts.argmax())])
    assert found["same"] == (int(weights.argmax()) == int(parts.argmax()))


def test_the_largest_weight_is_not_the_longest_vector() -> None:
    found = lessons_2_maps.contribution("single", "written")
    assert (found["first"], found["most"], found["same"]) == ("street", "wide", False)


@pytest.mark.parametrize(("model", "name"), [("one", "pronoun-one-layer"), ("two", "pronoun")])
@pytest.mark.parametrize("nouns", list(lessons_2_maps.PAIRS))
def test_same_answers_by_other_ways(model: str, name: str, nouns: str) -> None:
    found = lessons_2_maps.mechanism(model, nouns)
    pair, plain = lessons_2_maps.PAIRS[nouns], Plain(name)
    for i, sentence in enumerate(SENTENCES.values()):
        words = plain.words(sentence.replace("animal", pair[0]).replace("street", pair[1]))
        plain.run(words)
        near(found["weights"][i], plain.weights[-1][0, IT, [words.index(noun) for noun in pair]])
        logits = plain.logits()[IT, [plain.answers().index(noun) for noun in pair]]
        near(found["choices"][i], torch.softmax(logits, dim=0))
        assert found["words"][i] == plain.answer(IT)[0]
    assert found["answer_flips"]
    assert found["map_flips"] == (model == "two")
    rows = sorted(plain.facts["figures"]["seeds"], key=lambda row: row["seed"])
    near(found[f"two_way_{model}"], [row["held_out_combinations"]["two_way"] for row in rows])
    near(found[f"frames_{model}"], [row["held_out_frames"]["two_way"] for row in rows])
    near(found[f"full_{model}"], [row["held_out_combinations"]["full"] for row in rows])
    near(found[f"maps_{model}"], [row["flips_right"] for row in rows])


@pytest.mark.parametrize(("asker", "at"), [("cls", 0), ("first", 1), ("last", -1)])
@pytest.mark.parametrize("typed", [DISH, "他跳过围墙去吃佛跳墙", "晚上我们吃火锅"])
def test_what_is_read_at_cls_and_elsewhere(typed: str, asker: str, at: int) -> None:
    found = lessons_2_maps.cls(typed, asker, 0)
    plain = Plain("dish")
    right = dict.fromkeys((0, at), 0)
    for sentence in (*lessons_2_maps.ABOUT, *lessons_2_maps.NOT_ABOUT):
        logits = plain.run(plain.words(sentence)).logits()
        for place in right:
            right[place] += bool(logits[place, 1] > logits[place, 0]) == ("佛跳墙" in sentence)
    plain.run(plain.words(typed))
    near(found["yes"], torch.softmax(plain.logits()[at], dim=0)[plain.answers().index("yes")])
    near(found["trained"], plain.weights[1][0, at])
    assert (found["cls_right"], found["asker_right"], found["n"]) == (right[0], right[at], 8)
    assert found["apart"] == 0


def test_untrained_models_are_drawn_as_the_recipe_says() -> None:
    drawn = lessons_2_maps._blank_models(3)
    options = Plain("dish").facts["training"]["spec"]["options"]
    for name, wanted in (("w_q", options["score_std"]), ("w_k", options["score_std"]), ("w_v", 24**-0.5)):
        every = np.concatenate([getattr(layer, name).ravel() for model in drawn for layer in model.layers])
        assert every.std() == pytest.approx(wanted, rel=0.05)
    found = lessons_2_maps.cls(DISH, "cls", 3)
    assert len(found["blank_right"]) == len(drawn)
    assert 2 < found["blank_right"].mean() < 6
    near(found["blank"].sum(), 1)


@pytest.mark.parametrize("start", [0, 1, 17])
def test_one_untrained_model_in_torch(start: int) -> None:
    found, model = lessons_2_maps.cls(DISH, "last", start), lessons_2_maps._blank_models(start)[0]
    plain = Plain("dish")
    plain.tensors["embedding"] = torch.tensor(model.embedding)
    for i, layer in enumerate(model.layers):
        for name in ("w_q", "w_k", "w_v", "w_o"):
            plain.tensors[f"layers.{i}.{name}"] = torch.tensor(getattr(layer, name))
    plain.tensors |= {"about": torch.tensor(model.readouts[0].matrix), "about_bias": torch.zeros(2).double()}
    plain.run(plain.words(DISH))
    near(found["blank"], plain.weights[1][0, -1])
    near(found["blank_yes"], torch.softmax(plain.logits()[-1], dim=0)[1])
    right = 0
    for sentence in (*lessons_2_maps.ABOUT, *lessons_2_maps.NOT_ABOUT):
        logits = plain.run(plain.words(sentence)).logits()[0]
        right += bool(logits[1] > logits[0]) == ("佛跳墙" in sentence)
    assert found["blank_right"][0] == right
