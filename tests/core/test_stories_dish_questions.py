"""The questions about the story of 佛跳墙: the numbers of their scenes, computed a second time with torch."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import attention_core as ac
from attention_core.stories import dish_questions, dish_tied
from tests.core.dish_plain import SENTENCE, SENTENCES, Plain, near, seeds_of

TALK = "今天吃佛跳墙，明天看佛经。"


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("asker", [0, 1, 2])
@pytest.mark.parametrize("places", [True, False])
def test_a_score_is_the_sum_of_its_four_terms(sentence: str, asker: int, places: bool) -> None:
    found, plain = dish_questions.neighbours(sentence, asker, places), Plain("dish")
    head = plain.heads(sentence, places)[0][0]
    tokens = ["[CLS]", *sentence]
    i = tokens.index(found["asker"], sentence.find("佛跳墙") + 1 if "佛跳墙" in sentence else 0)
    if "佛跳墙" in sentence:
        assert found["asker"] == "佛跳墙"[asker]
    seen = (~head["hidden"][i]).nonzero()[:, 0].tolist()
    assert found["keys"] == [tokens[j] for j in seen]
    near(found["keys_at"], [j - i for j in seen])
    near(found["terms"][:, 4], head["scores"][i, seen])
    near(found["weights"], head["weights"][i, seen])
    content, waves = plain.parts(sentence)
    parts, w_q, w_k = (content, waves * places), plain.get(0, "w_q")[0], plain.get(0, "w_k")[0]
    pairs = [(a[i] @ w_q) @ (b[seen] @ w_k).T for a in parts for b in parts]
    near(found["terms"][:, :4], torch.stack(pairs).T)
    near(found["by_term"].sum(), found["lead"])
    assert found["best"] == tokens[seen[int(head["scores"][i, seen].argmax())]]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_layer_0_is_told_as_the_card_measured_it(sentence: str) -> None:
    rows = seeds_of("dish")
    for run in range(5):
        found = dish_questions.ends(sentence, run)
        near(found["looks"], [[rows[run]["layer_0"][a][b] for b in ("佛", "跳", "墙", "elsewhere")] for a in "佛跳墙"])
        assert found["largest"] == [max("佛跳墙", key=rows[run]["layer_0"][a].__getitem__) for a in "佛跳墙"]
    near(found["weights"], Plain("dish").heads(sentence)[0][0]["weights"])
    away = [
        abs("佛跳墙".index(max("佛跳墙", key=row["layer_0"][a].get)) - i)
        for row in rows
        for i, a in enumerate("佛跳墙")
    ]
    assert (found["beside_all"], found["across_all"], found["n_all"]) == (away.count(1), away.count(2), 15)


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("shuffle", [0, 1, 18])
def test_one_layer_or_two(shuffle: int, sentence: str) -> None:
    found = dish_questions.depth(sentence, shuffle)
    assert sorted(found["text"]) == sorted(sentence)
    assert (found["text"] == sentence) == (shuffle == 0)
    for i, key in enumerate(found["models"]):
        name = dish_questions.DEPTHS[key]
        near(found["yes"][i], Plain(name).yes(found["text"]))
        right = [row["adversarial"] for row in seeds_of(name)]
        near([found["right"][i], found["worst"][i], found["best"][i]], [sum(right) / 5, min(right), max(right)])
    assert found["n_right"] == sum((yes > 0.5) == ("佛跳墙" in found["text"]) for yes in found["yes"])


def test_one_layer_can_with_four_heads_and_an_mlp() -> None:
    found = dish_questions.depth(SENTENCE, 0)
    right = dict(zip(found["models"], found["right"], strict=True))
    assert right["one"] < 0.7 < 0.95 < right["both"] < right["two"]


@pytest.mark.parametrize("first", list(dish_questions.TWINS))
@pytest.mark.parametrize("sentence", [TALK, "佛祖放下佛经，来找佛山。", "晚上我们吃火锅"])
def test_two_heads_ask_two_questions(first: str, sentence: str) -> None:
    found, name = dish_questions.several(sentence, first), dish_questions.TWINS[first]
    (heads,) = Plain(name).heads(sentence)
    at = max(sentence.find("佛"), 0)
    weights = torch.stack([head["weights"][at] for head in heads])
    near(found["weights"], weights)
    near(found["queries"], torch.stack([head["q"][at] for head in heads]))
    for column, wanted in enumerate(("跳墙", "祖经")):
        near(found["pairs"][:, column], weights[:, [j for j, c in enumerate(sentence) if c in wanted]].sum(dim=1))
    assert (found["gap"] == 0) == (first == "twins")
    near(found["dish_heads"], [row["head_0_dish"] for row in seeds_of(name)])
    assert found["divided"] == sum(row["divided"] for row in seeds_of(name))
    assert found["is_there"] == ("佛" in sentence)


def test_another_seed_swaps_the_heads() -> None:
    heads = {first: dish_questions.several(TALK, first)["pairs"].argmax(axis=0) for first in ("seed", "reseeded")}
    assert heads["seed"].tolist() == heads["reseeded"][::-1].tolist() == [1, 0]


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("shared", [True, False])
def test_tied_scores_are_symmetric_and_weights_are_not(sentence: str, at: int, shared: bool) -> None:
    found, head = dish_tied.tied(sentence, shared, at), Plain("dish-qk" if shared else "dish").heads(sentence)[at][0]
    near(found["scores"], head["scores"])
    near(found["weights"], head["weights"])
    near(found["lengths"], head["k"].norm(dim=1))
    near(found["uneven"], (head["scores"] - head["scores"].T).abs().max())
    assert (found["uneven"] == 0) == shared
    near(found["uneven_weights"], (head["weights"] - head["weights"].T)[~head["hidden"]].abs().max())
    assert found["uneven_weights"] > 0.1
    assert found["elsewhere"] == int((head["weights"].argmax(dim=1) != torch.arange(len(sentence) + 1)).sum())


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("shared", [True, False])
def test_who_asks_whom(sentence: str, shared: bool) -> None:
    found, head = dish_tied.graph(sentence, shared), Plain("dish-qk" if shared else "dish").heads(sentence)[0][0]
    scores, seen, n = head["scores"], ~head["hidden"], len(sentence) + 1
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if seen[i, j]]
    mutual = [(i, j) for i, j in pairs if scores[i, j] > scores[i, i] + 1e-9 and scores[j, i] > scores[j, j] + 1e-9]
    assert found["mutual"] == mutual
    assert found["looks"] == head["weights"].argmax(dim=1).tolist()
    near(found["weights"], head["weights"])
    lengths = head["k"].norm(dim=1)
    away = [i for i, j in enumerate(found["looks"]) if i != j]
    assert (found["away"], found["longer"]) == (len(away), sum(lengths[found["looks"][i]] > lengths[i] for i in away))
    i, j = found["pair"]
    near([found["there"], found["back"], *found["itself"]], [scores[i, j], scores[j, i], scores[i, i], scores[j, j]])
    if shared:  # What the scene says no single vector can do.
        assert not mutual
        assert found["longer"] == found["away"]
        near(found["left"], 0)
    else:
        assert found["left"] > 0


def test_in_the_dish_its_ends_prefer_each_other() -> None:
    found = dish_tied.graph(SENTENCE, shared=False)
    assert [found["tokens"][i] for i in found["pair"]] == ["佛", "墙"]
    assert found["pair"] in found["mutual"]


def test_what_stays_uneven_is_the_least_that_any_shift_leaves() -> None:
    rng = np.random.default_rng(0)
    scores, seen = rng.normal(size=(7, 7)), np.abs(np.subtract.outer(np.arange(7), np.arange(7))) <= 2

    def uneven(shift: torch.Tensor) -> torch.Tensor:
        whole = torch.tensor(scores) + shift[:, None]
        return (((whole - whole.T) / 2)[torch.tensor(seen)] ** 2).sum()

    shift = torch.zeros(7, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([shift], max_iter=200, tolerance_grad=1e-12, tolerance_change=1e-14)

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        loss = uneven(shift)
        loss.backward()
        return loss

    optimiser.step(closure)
    best = shift.detach() - shift.detach().mean()
    whole = torch.tensor(scores) + best[:, None]
    near(dish_tied.left_uneven(scores, seen), uneven(best) / (whole[torch.tensor(seen)] ** 2).sum(), 1e-6)
    even = scores + scores.T + rng.normal(size=(7, 1))  # Symmetric but for shifts of its rows.
    near(dish_tied.left_uneven(even, seen), 0)


@pytest.mark.parametrize(("ab", "bc"), [(0.9, 0.9), (0.7, 0.7), (0.0, 0.3), (1.0, 0.5), (0.95, 0.8)])
def test_two_cosines_bound_the_third(ab: float, bc: float) -> None:
    found = dish_tied.chain(ab, bc, 0)
    torch.manual_seed(0)
    around = torch.nn.functional.normalize(torch.randn(2, 20_000, 2, dtype=torch.float64), dim=2)
    sides = [math.sqrt(1 - cosine**2) * each for cosine, each in zip((ab, bc), around, strict=True)]
    cosines = ab * bc + (sides[0] * sides[1]).sum(dim=1)
    near([found["lowest"], found["highest"]], [cosines.min(), cosines.max()], 1e-3)
    turned, one, close, far = (torch.tensor(arrow) for arrow in found["arrows"])
    near([turned @ one, turned @ close, turned @ far], [ab, bc, bc])
    near([one @ far, one @ close], [found["lowest"], found["highest"]])


def test_nine_tenths_twice_force_and_seven_tenths_twice_do_not() -> None:
    near(dish_tied.chain(0.9, 0.9, 0)["lowest"], 0.62)
    assert dish_tied.chain(0.7, 0.7, 0)["lowest"] < 0


@pytest.mark.parametrize("of", [0, 1])
def test_a_measured_chain_stays_within_its_bounds(of: int) -> None:
    found, plain = dish_tied.chain(0.5, 0.5, of), Plain("two-heads-qk")
    k = plain.heads("跳佛祖")[0][of]["k"]
    cosines = torch.nn.functional.cosine_similarity(k[:, None], k[None], dim=2)
    near(found["measured"], [cosines[0, 1], cosines[1, 2], cosines[0, 2]])
    assert found["measured_lowest"] <= found["measured"][2] <= found["measured_highest"]


@pytest.mark.parametrize("what", list(dish_tied.COSTS))
def test_the_cost_of_one_vector_is_from_the_cards(what: str) -> None:
    found, name, measure = dish_tied.cost(what), dish_tied.COSTS[what], dish_tied.MEASURES[what]
    apart, tied = ([row[measure] for row in seeds_of(each)] for each in (name, f"{name}-qk"))
    near(found["apart"], apart)
    near(found["tied"], tied)
    near(found["means"], [sum(apart) / 5, sum(tied) / 5])
    assert found["worse"] == sum(b < a for a, b in zip(apart, tied, strict=True))
    assert (found["means"][0] - found["means"][1] > found["spread"]) == (what != "heads")
    assert (found["longer"] is None) == (what != "letters")


def test_more_steps_help_and_do_not_close_the_gap() -> None:
    found = dish_tied.cost("letters")
    measured = ac.load("induction").card.details["measured"]
    (longer,) = [each for each in measured if each["name"] == "qk-long"]
    near(found["longer_mean"], np.mean([row["accuracy"] for row in longer["figures"]["seeds"]]))
    assert found["means"][1] < found["longer_mean"] < found["means"][0]
    assert found["longer_steps"] == 2 * found["steps"]
