"""Lessons 1–9: the numbers of each, computed a second time with torch from the models' files or from the formula."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from attention_core.cards import FOLDER
from attention_core.stories import lessons_1, lessons_1_softmax

SENTENCE = "The {noun} didn't cross the street because it was too {adjective}."
DISH, OTHER = "晚上我们吃佛跳墙", "晚上我们吃火锅"
LETTERS = "acfbdhacgebda"
IT = 7
Head = dict[str, torch.Tensor]


class Plain:
    """A taught model of one head per layer straight from its file, in torch; `beside`: layer 0 writes a note."""

    def __init__(self, name: str) -> None:
        self.facts = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        self.tensors = {key: value.double() for key, value in load_file(FOLDER / f"{name}.safetensors").items()}
        if self.facts.get("table"):
            table = load_file(FOLDER / self.facts["table"]["file"])
            self.tensors["embedding"] = table["embedding_q8"].double() * table["embedding_scale"].double()
        self.beside = self.facts["layers"][0]["writes"] == "note"

    def content(self, words: list[str]) -> torch.Tensor:
        known = {word: i for i, word in enumerate(self.facts["vocabulary"])}
        return self.tensors["embedding"][[known[word] for word in [*self.facts["prefix"], *words]]]

    def places(self, n: int, d: int) -> torch.Tensor:
        if self.facts["positions"] == "learned":
            return self.tensors["positions"][:n]
        at = torch.arange(n, dtype=torch.float64)[:, None] / 10000 ** (torch.arange(0, d, 2, dtype=torch.float64) / d)
        return torch.stack([at.sin(), at.cos()], dim=2).reshape(n, d)

    def heads(self, words: list[str], only_last: bool = False) -> list[Head]:
        """Every layer's q, k, v, scores, scaled, weights; the last stream under "stream" of the last one."""
        x = self.content(words)
        x = x + self.places(*x.shape)
        first = self.head(0, x, x, only_last)
        written = first["output"] @ self.tensors["layers.0.w_o"][0]
        asks, answers = x + written, x if self.beside else x + written
        second = self.head(1, asks, answers, only_last)
        second["stream"] = asks + second["output"] @ self.tensors["layers.1.w_o"][0]
        return [first, second]

    def head(self, at: int, x: torch.Tensor, source: torch.Tensor, only_last: bool) -> Head:
        w_q, w_k, w_v = (self.tensors[f"layers.{at}.{name}"][0] for name in ("w_q", "w_k", "w_v"))
        q, k, v = x @ w_q, source @ w_k, source @ w_v
        scores = q @ k.T
        away = torch.arange(len(x))[:, None] - torch.arange(len(x))
        window = self.facts["layers"][at]["window"]
        hidden = away.abs() > (len(x) if window is None else window)
        if self.facts["causal"]:
            hidden |= away < 0
        if only_last:
            hidden[:-1] = True
        weights = torch.softmax((scores / math.sqrt(q.shape[1])).masked_fill(hidden, -math.inf), dim=1)
        weights = torch.nan_to_num(weights)  # A row without keys gets nothing.
        return {
            "q": q, "k": k, "v": v, "scores": scores, "scaled": scores / math.sqrt(q.shape[1]),
            "weights": weights, "output": weights @ v, "hidden": hidden,
        }  # fmt: skip


def words_of(noun: str = "animal", adjective: str = "tired") -> list[str]:
    return [*SENTENCE.format(noun=noun, adjective=adjective).lower().rstrip(".").split(), "."]


def near(found: object, wanted: object, within: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(found, dtype=float), np.asarray(wanted, dtype=float), atol=within, rtol=0)


def seeds_of(name: str, measure: str) -> list[float]:
    facts = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return [row[measure] for row in sorted(facts["figures"]["seeds"], key=lambda row: row["seed"])]


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("made", ["q", "k", "v"])
@pytest.mark.parametrize("word", ["dog", "river", "truck"])
def test_a_new_word_changes_what_is_computed_and_not_what_is_stored(word: str, made: str, at: int) -> None:
    found, model = lessons_1.stored(word, made, at), Plain("pronoun")
    before, after = (model.heads(words_of(noun))[at][made] for noun in ("animal", word))
    near(found["vectors"], after)
    near(found["change"], after - before)
    assert found["n_rows"] == int(((after - before).abs().amax(dim=1) > 1e-9).sum()) >= 1
    assert found["n_numbers"] == int(((after - before).abs() > 1e-9).sum())
    assert found["stored_numbers"] == 0
    if at == 0 or made != "q":
        assert found["n_rows"] == 1


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize(
    ("what", "name", "words", "measure"),
    [("dish", "dish", list(DISH), "adversarial"), ("letters", "induction", list(LETTERS), "accuracy")],
)
def test_one_matrix_makes_scores_symmetric_and_rows_look_elsewhere(
    what: str, name: str, words: list[str], measure: str, at: int
) -> None:
    found, head = lessons_1.tied(what, at), Plain(f"{name}-qk").heads(words)[at]
    near(found["scores"], head["scores"])
    near(found["weights"], head["weights"])
    near(found["own"], head["weights"].diagonal())
    near(found["uneven"], (head["scores"] - head["scores"].T).abs().max())
    near(found["uneven_weights"], (head["weights"] - head["weights"].T).abs().max())
    assert found["n_elsewhere"] == int((head["weights"].argmax(dim=1) != torch.arange(len(head["q"]))).sum()) > 0
    apart, shared = seeds_of(name, measure), seeds_of(f"{name}-qk", measure)
    near(found["apart"], apart)
    near(found["shared"], shared)
    near(found["means"], [sum(apart) / 5, sum(shared) / 5])
    assert found["worse"] == sum(b < a for a, b in zip(apart, shared, strict=True))


@pytest.mark.parametrize("place", [0, 5, 8])
@pytest.mark.parametrize("part", ["v", "k"])
def test_a_key_weighs_and_a_value_is_handed_over(part: str, place: int) -> None:
    found, head = lessons_1.two_jobs(part, place, "narrow"), Plain("dish").heads(list(DISH))[1]
    k, v = head["k"].clone(), head["v"].clone()
    (k if part == "k" else v)[place] = 0
    weights = torch.softmax(head["q"][0] @ k.T / math.sqrt(8), dim=0)
    near(found["weights"], head["weights"][0])
    near(found["weights_after"], weights)
    near([found["key"], found["value"]], torch.stack([head["k"][place], head["v"][place]]))
    near(found["output"], head["output"][0])
    near(found["output_after"], weights @ v)
    near(found["moved"], (weights - head["weights"][0]).abs().max())
    near(found["moved_output"], (weights @ v - head["output"][0]).norm())
    assert (found["moved"] < 1e-12) == (part == "v")
    assert found["moved_output"] > 0.01
    assert found["value_moves"] == 0


@pytest.mark.parametrize(
    ("room", "name", "measure"),
    [("narrow", "dish-narrow", "adversarial"), ("dish", "dish", "adversarial"), ("letters", "induction", "accuracy")],
)
def test_the_cost_of_one_matrix_for_k_and_v_is_counted_from_the_cards(room: str, name: str, measure: str) -> None:
    found = lessons_1.two_jobs("v", 8, room)
    apart, shared = seeds_of(name, measure), seeds_of(f"{name}-kv", measure)
    near(found["apart"], apart)
    near(found["shared"], shared)
    near(found["means"], [sum(apart) / 5, sum(shared) / 5])
    near(found["spread"], max(apart) - min(apart))
    assert found["worse"] == sum(b < a for a, b in zip(apart, shared, strict=True))


@pytest.mark.parametrize("adjective", ["tired", "wide"])
@pytest.mark.parametrize(("table", "name"), [("taught", "pronoun"), ("given", "pronoun-open")])
def test_scores_are_no_similarities(table: str, name: str, adjective: str) -> None:
    found, model = lessons_1.similarity(adjective, table), Plain(name)
    words = words_of(adjective=adjective)
    content, head = model.content(words), model.heads(words)[1]
    cosines = torch.nn.functional.cosine_similarity(content, content[IT : IT + 1], dim=1)
    near(found["cosines"], cosines)
    near(found["scaled"], head["scaled"][IT])
    near(found["weights"], head["weights"][IT])
    others = [i for i in range(len(words)) if i != IT]
    assert found["nearest"].lower() == words[max(others, key=lambda i: float(cosines[i]))]
    assert (
        found["strongest"]
        == words[int(head["weights"][IT].argmax())]
        == {"tired": "animal", "wide": "street"}[adjective]
    )
    near(found["there"], head["scaled"][IT, 1])
    near(found["back"], head["scaled"][1, IT])
    scores = [model.heads(words_of(adjective=each))[1]["scaled"][IT, 1] for each in ("tired", "wide")]
    near(found["both_scores"], scores)
    near(found["score_change"], abs(scores[0] - scores[1]))
    assert found["cosine_change"] < 1e-12
    assert found["score_change"] > 1


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("at", [0, 5, 12])
def test_every_letter_asks_in_every_layer_and_the_answer_needs_it(quiet: bool, at: int) -> None:
    found, model = lessons_1.all_ask(at, quiet), Plain("induction")
    chances = []
    for only_last in (False, True):
        logits = model.heads(list(LETTERS), only_last)[1]["stream"] @ model.tensors["readout"]
        chances.append(torch.softmax(logits[-1] + model.tensors["readout_bias"], dim=0))
    wanted = model.facts["vocabulary"].index("c")
    first, second = model.heads(list(LETTERS), quiet)
    near(found["first"], first["weights"])
    near(found["weights"], second["weights"])
    near(found["row"], second["weights"][at])
    near([found["loud"], found["muted"]], [chance[wanted] for chance in chances])
    near(found["probability"], chances[quiet][wanted])
    assert found["answer"] == model.facts["vocabulary"][int(chances[quiet].argmax())]
    assert found["wanted"] == "c"
    assert found["n_queries"] == 2 * len(LETTERS)
    assert found["n_asking"] == (2 if quiet else 2 * len(LETTERS))
    assert found["drift"] < 1e-12
    assert found["muted"] < 0.1 < 0.9 < found["loud"]


@pytest.mark.parametrize("asker", [0, 7])
@pytest.mark.parametrize(("along", "dim"), [("rows", 1), ("columns", 0)])
def test_softmax_along_rows_or_columns(along: str, dim: int, asker: int) -> None:
    found, words = lessons_1_softmax.axes(along, asker), words_of()
    scaled = Plain("pronoun").heads(words)[1]["scaled"]
    weights = torch.softmax(scaled, dim=dim)
    near(found["weights"], weights)
    near(found["row_sums"], weights.sum(dim=1))
    near(found["column_sums"], weights.sum(dim=0))
    near(found["total"], weights[asker].sum())
    near(found["noun"], torch.softmax(scaled, dim=1)[:, 1].sum())
    assert found["strongest"].lower() == words[int(weights[asker].argmax())]
    near([found["most"][1], found["least"][1]], [weights.sum(dim=0).max(), weights.sum(dim=0).min()])


@pytest.mark.parametrize("copies", [1, 2, 3, 8])
@pytest.mark.parametrize("of", ["one", "three", "none"])
def test_copies_share(of: str, copies: int) -> None:
    found = lessons_1_softmax.shares(of, copies)
    if of == "one":
        scaled = Plain("pronoun").heads(words_of())[1]["scaled"][IT]
    else:
        scaled = Plain("dish").heads(list(DISH if of == "three" else OTHER))[1]["scaled"][0]
    top = int(scaled.argmax())
    weights = torch.softmax(torch.cat([scaled, scaled[top].repeat(copies - 1)]), dim=0)
    near(found["weights"], weights)
    near(found["alone"], torch.softmax(scaled, dim=0))
    near([found["each"], found["together"]], [weights[top], copies * weights[top]])
    near([found["single"], found["score"]], [torch.softmax(scaled, dim=0)[top], scaled[top]])
    near(found["total"], 1)
    assert abs(found["halved"] - 0.5) < 0.02
    assert (found["of_name"] is not None) == (of == "three")
    if of == "three":
        near(found["of_name"], weights[6:9])


@pytest.mark.parametrize("draw", [0, 1, 17])
def test_the_largest_of_eleven_weights_is_much_larger_without_the_division(draw: int) -> None:
    found = lessons_1_softmax.scaling(64, draw)
    at = list(found["widths"]).index(64)
    assert lessons_1_softmax.N_DRAWS >= 1000
    assert abs(found["tops"][0, at] - 0.86) <= 0.02
    assert abs(found["tops"][1, at] - 0.30) <= 0.02
    assert found["at_64"] == found["tops"][0, at]
    assert found["jacobians"][0, at] < found["jacobians"][1, at] / 2
    assert found["saturated"][0, at] > 0.25 > 0.01 > found["saturated"][1, at]


@pytest.mark.parametrize(("d", "draw"), [(64, 0), (64, 1), (64, 17), (2, 5), (16, 5), (128, 0), (256, 0)])
def test_scaling_on_the_same_draws(d: int, draw: int) -> None:
    found, chance = lessons_1_softmax.scaling(d, draw), np.random.default_rng([draw, d])
    q, k = torch.tensor(chance.standard_normal((1000, d))), torch.tensor(chance.standard_normal((1000, 11, d)))
    scores, place = torch.bmm(k, q[:, :, None])[:, :, 0], found["place"]
    for way, logits in enumerate((scores, scores / math.sqrt(d))):
        p = torch.softmax(logits, dim=1)
        slopes = torch.func.vmap(torch.func.jacrev(lambda row: torch.softmax(row, dim=0)))(logits)
        near(found["tops"][way, place], p.amax(dim=1).mean())
        near(found["jacobians"][way, place], torch.quantile(slopes.flatten(1).norm(dim=1), 0.5))
        near(found["saturated"][way, place], (p.amax(dim=1) > 0.99).double().mean())
        near(found["spreads"][way, place], logits.std(unbiased=False))
    near(found["example"], torch.softmax(scores[0], dim=0))
    near(found["example_scaled"], torch.softmax(scores[0] / math.sqrt(d), dim=0))


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("way", ["infinity", "zero", "after", "again"])
def test_only_minus_infinity_hides(way: str, at: int) -> None:
    found, head = lessons_1_softmax.masking(way, at), Plain("induction").heads(list(LETTERS))[at]
    scaled, hidden = head["scaled"], head["hidden"]
    after = torch.softmax(scaled, dim=1) * ~hidden
    weights = {
        "infinity": torch.softmax(scaled.masked_fill(hidden, -math.inf), dim=1),
        "zero": torch.softmax(scaled.masked_fill(hidden, 0.0), dim=1),
        "after": after,
        "again": after / after.sum(dim=1, keepdim=True),
    }[way]
    near(found["weights"], weights)
    near(found["row_sums"], weights.sum(dim=1))
    near(found["leaked"], (weights * hidden).sum(dim=1))
    near([found["worst_leak"], found["mean_leak"]], [found["leaked"].max(), found["leaked"].mean()])
    near(found["gap"], (weights - head["weights"]).abs().max())
    near(found["lowest"], weights.sum(dim=1).min())
    assert (found["worst_leak"] > 0.5) == (way == "zero")
    assert (found["gap"] < 1e-12) == (way in ("infinity", "again"))
    assert found["zero_leak"] > 0.5
