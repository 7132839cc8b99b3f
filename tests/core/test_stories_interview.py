"""Interview questions and refreshers: every number a second time, with torch or by counting, and what is said of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import attention_core as ac
from attention_core.stories import interview, refreshers
from tests.core.taught_torch import Model

TIRED = "The animal didn't cross the street because it was too tired."
IT, ANIMAL, ADJECTIVE = 7, 1, 10
SEEDS = (0, 1, 2, 17, 101)


def near(found: object, wanted: object, within: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(found, dtype=float), np.asarray(wanted, dtype=float), atol=within, rtol=0)


def mean_of(name: str, *path: str) -> float:
    """A figure of a card, averaged over its seeds."""
    found = []
    for row in ac.load(name).card.details["figures"]["seeds"]:
        for key in path:
            row = row[key]
        found.append(float(row))
    return sum(found) / len(found)


@pytest.fixture(scope="module")
def run() -> Any:
    return Model("pronoun-open").run(TIRED)


def test_roles_and_steps(run: Any) -> None:
    roles, steps, head = interview.roles(), interview.steps(), run.reading
    row = head["weights"][IT]
    assert roles["best"] == steps["best"] == roles["answer"] == "animal"
    near((roles["weight"], steps["weight"]), (row.max(), row[ANIMAL]))
    near(roles["probability"], run.said(IT)[1][0])
    assert (roles["n"], roles["d_k"], roles["d_v"]) == (12, head["k"].shape[1], head["v"].shape[1])
    near(steps["score"], head["scores"][IT, ANIMAL])
    near((steps["root"], steps["scaled"]), (math.sqrt(32), head["scores"][IT, ANIMAL] / math.sqrt(32)))
    near(steps["row_sum"], 1)
    assert steps["gap"] < 1e-12


def test_scale() -> None:
    found = interview.scale()
    near(found["top"], 0.86, within=0.02)
    near(found["top_scaled"], 0.30, within=0.02)
    assert found["slope"] < found["slope_scaled"]
    assert found["draws"] >= 1000


def test_sharing_costs_what_the_cards_say() -> None:
    found = interview.values()
    for room, name in [("narrow", "dish-narrow"), ("wide", "dish")]:
        near(found[f"{room}_d"], ac.load(name).card.d_head)
    assert found["narrow_shared"] > found["narrow_apart"]
    assert found["narrow_shared"] - found["narrow_apart"] > abs(found["wide_shared"] - found["wide_apart"])
    tied = interview.tied()
    near((tied["letters_apart"], tied["letters_tied"]), [mean_of(n, "accuracy") for n in ("induction", "induction-qk")])
    heads = [mean_of(name, "held_out_combinations") for name in ("two-heads", "two-heads-qk")]
    near((tied["heads_apart"], tied["heads_tied"]), heads)
    assert tied["letters_tied"] < tied["dish_tied"] < tied["dish_apart"]
    assert tied["n"] == found["n"] == len(ac.load("dish").card.details["figures"]["seeds"]) == 5
    assert tied["uneven"] < 1e-12 < tied["uneven_weights"]


def test_rows() -> None:
    found, weights = interview.rows(), Model("pronoun").run(TIRED).layers[1][0]["weights"]
    near((found["gets_most"], found["gets_least"]), (weights.sum(dim=0).max(), weights.sum(dim=0).min()))
    assert found["row_gap"] < 1e-12
    assert found["most"] == "animal"


def test_inputs() -> None:
    found = interview.inputs()
    assert found["self"][0] == found["self"][1]
    assert found["cross"][0] != found["cross"][1]
    assert found["looks"] == "animal"
    assert found["looks_weight"] > 0.9


def test_context(run: Any) -> None:
    found = interview.context()
    cut = Model("pronoun-open").run(TIRED, hide=lambda i, j: (i, j) == (IT, ADJECTIVE))
    near(found["brought"], run.layers[0][0]["weights"][IT, ADJECTIVE])
    near(found["whole"], run.reading["weights"][IT, ANIMAL])
    near(found["cut"], cut.reading["weights"][IT, ANIMAL])
    assert found["cut"] < found["whole"] / 2


def test_stored() -> None:
    found = interview.stored()
    one, other = (Model("pronoun").run(TIRED.replace("animal", noun)).layers[1][0]["q"] for noun in ("animal", "dog"))
    assert found["rows"] == int(((one - other).abs().amax(dim=1) > 1e-9).sum())
    assert (found["n"], found["numbers"]) == (12, 0)
    assert found["shape"] == ac.load("pronoun").trace(TIRED).layers[1].head(0).w_q.shape


def test_several() -> None:
    found, tokens = interview.several(), list(interview.TOPICS)
    heads = Model("two-heads").run(interview.TOPICS).layers[0]
    rows = torch.stack([head["weights"][tokens.index("佛")] for head in heads])
    for name, head, wanted in [("on_dish", "dish", "跳墙"), ("on_buddhism", "buddhism", "祖经")]:
        on = rows[:, [i for i, token in enumerate(tokens) if token in wanted]].sum(dim=1)
        near(found[name], on.max())
        assert found[head] == int(on.argmax())
    assert found["dish"] != found["buddhism"]
    seeds = ac.load("two-heads").card.details["figures"]["seeds"]
    assert (found["divided"], found["n"]) == (sum(row["divided"] for row in seeds), len(seeds))


def test_order() -> None:
    found = interview.order()
    assert found["plain"] < 1e-12
    assert min(found["placed"], found["masked"]) > 0.1


def test_mask() -> None:
    found = interview.mask()
    assert found["right"] == 0
    assert 0 < found["lowest"] < 0.5 < found["leak"] < 1


def test_growth_is_what_is_multiplied() -> None:
    found = interview.growth()
    for length, name in [("short", "pairs"), ("long", "pairs_long")]:
        n, d = found[length], found["width"]
        assert found[name] == n * n * d + n * d * n  # Q Kᵀ, then weights · V.
        assert found[name.replace("pairs", "projections")] == 4 * n * d * d
    even, d = found["even"], found["width"]
    assert 2 * even**2 * d == 4 * even * d**2


def test_explains() -> None:
    found = interview.explains()
    assert 0 < found["changed"] < found["n"]
    seeds = ac.load("pronoun-one-layer").card.details["figures"]["seeds"]
    flips = [row["flips_right"] for row in seeds]
    right = [row["held_out_combinations"]["two_way"] for row in seeds]
    assert found["flips"] == (min(flips), max(flips))
    assert found["right"] == (min(right), max(right))
    assert max(flips) < min(right)


@pytest.mark.parametrize("seed", SEEDS)
def test_dot(seed: int) -> None:
    found = refreshers.dot(seed)
    a, b = torch.tensor(found["a"]), torch.tensor(found["b"])
    assert found["total"] == int(torch.dot(a, b)) == found["terms"].sum()
    near(found["cosine"], torch.cosine_similarity(a.double(), b.double(), dim=0))
    near(found["lengths"], (a.double().norm(), b.double().norm()))


@pytest.mark.parametrize("seed", SEEDS)
def test_product(seed: int) -> None:
    found = refreshers.product(seed)
    near(found["result"], torch.tensor(found["x"]) @ torch.tensor(found["w"]))
    assert found["cell"] == found["result"][found["row"], found["column"]] == found["terms"].sum()


@pytest.mark.parametrize("seed", SEEDS)
def test_softmax(seed: int) -> None:
    found = refreshers.softmax(seed)
    near(found["shares"], torch.softmax(torch.tensor(found["scores"]).double(), dim=0))
    near(found["powers"] / found["total"], found["shares"])
    near(found["row_sum"], 1)
    assert found["apart"] < 1e-12


@pytest.mark.parametrize("seed", range(40))
def test_gradient(seed: int) -> None:
    found = refreshers.gradient(seed)
    w = torch.tensor(float(found["w"]), dtype=torch.float64, requires_grad=True)
    loss = (w * found["x"] - found["y"]) ** 2
    loss.backward()
    near(found["loss"], loss.item())
    near(found["slope"], w.grad)
    near(found["measured"], w.grad, within=1e-5)
    near(found["next_w"], found["w"] - found["rate"] * found["slope"])
    near(found["next_loss"], (found["next_w"] * found["x"] - found["y"]) ** 2)
    assert found["next_loss"] < found["loss"]
