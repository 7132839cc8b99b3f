"""The story of it, animal and tired: the numbers of every scene, computed a second time with torch."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from attention_core.stories import it, it_further
from tests.core.taught_torch import Model

TIRED = "The animal didn't cross the street because it was too tired."
WIDE = TIRED.replace("tired", "wide")
IT, ANIMAL, STREET, ADJECTIVE = 7, 1, 5, 10
BOTH = [("tired", TIRED, ANIMAL), ("wide", WIDE, STREET)]


@pytest.fixture(scope="module")
def model() -> Callable[[str], Model]:
    known: dict[str, Model] = {}
    return lambda name: known.setdefault(name, Model(name))


def near(found: object, wanted: object, within: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(found, dtype=float), np.asarray(wanted, dtype=float), atol=within, rtol=0)


@pytest.mark.parametrize(("adjective", "text", "noun"), BOTH)
@pytest.mark.parametrize("like", ["library", "search"])
def test_advert(model: Callable, adjective: str, text: str, noun: int, like: str) -> None:
    found = it.advert(like, adjective)
    run = model("pronoun-open").run(text)
    row = run.reading["weights"][IT]
    near(found["weights"], row)
    near((found["best_weight"], found["rest"]), (row.max(), 1 - row.max()))
    assert found["best"] == run.model.words(text)[int(row.argmax())] == run.model.words(text)[noun]
    assert (found["asker"], found["n"], found["d_k"], found["d_v"]) == (IT, 12, 32, 32)
    words, chances = run.said(IT)
    assert found["answer"] == words[0]
    near(found["probability"], chances[0])
    assert (found["weights"] > 0).all()  # "None gives nothing", says the scene.


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("word", [0, 1, 3, 7, 11])
def test_three(model: Callable, word: int, at: int) -> None:
    found, head = it.three(word, at), model("pronoun").run(TIRED).layers[at][0]
    near(found["vectors"], torch.stack([head["q"][word], head["k"][word], head["v"][word]]))
    row, column = head["weights"][word], head["weights"][:, word]
    near(found["asks"], row)
    near(found["asked"], column)
    near((found["finds_weight"], found["asked_weight"], found["total"]), (row.max(), column.max(), column.sum()))
    texts = found["tokens"]
    assert (found["finds"], found["asked_most"]) == (texts[int(row.argmax())], texts[int(column.argmax())])
    assert found["is_self"] == (int(row.argmax()) == word)


@pytest.mark.parametrize(("adjective", "text", "noun"), BOTH)
@pytest.mark.parametrize(("which", "name"), it.MODELS.items())
def test_note(model: Callable, which: str, name: str, adjective: str, text: str, noun: int) -> None:
    found, taught = it.note(adjective, which), model(name)
    run = taught.run(text)
    near(found["brings"], run.layers[0][0]["weights"][IT])
    near(found["brought"], run.layers[0][0]["weights"][IT, ADJECTIVE])
    cut = taught.run(text, hide=lambda query, key: (query, key) == (IT, ADJECTIVE))
    w_q, keys = taught.tensors["layers.1.w_q"][0], run.reading["k"]
    word, brought = run.streams[1]["word"][IT] @ w_q, run.streams[1]["note"][IT] @ w_q
    alone = torch.softmax(keys @ word / math.sqrt(len(word)), dim=0)
    for key, row in (("whole", run.reading["weights"][IT]), ("cut", cut.reading["weights"][IT]), ("alone", alone)):
        near(found[key], row)
        near(found[f"{key}_told"], row[noun])
    near(found["lengths"], (word.norm(), brought.norm()))
    near(word + brought, run.reading["q"][IT])
    assert found["apart"] == 0
    assert found["brought"] > 0.85


@pytest.mark.parametrize(("adjective", "text", "noun"), BOTH)
def test_note_of_one_layer(model: Callable, adjective: str, text: str, noun: int) -> None:
    found, taught = it.note(adjective, "single"), model("pronoun-one-layer")
    rows = [taught.run(one).reading["weights"][IT] for one in (text, WIDE if text == TIRED else TIRED)]
    near(found["whole"], rows[0])
    near(found["other"], rows[1])
    near(found["whole_told"], rows[0][noun])
    assert found["answer"] == taught.run(text).said(IT)[0][0]
    seeds = taught.facts["figures"]["seeds"]
    assert [row["seed"] for row in seeds] == list(range(len(seeds)))
    near(found["flips"], [row["flips_right"] for row in seeds])
    near(found["two_way"], [row["held_out_combinations"]["two_way"] for row in seeds])
    near(found["named"], [row["held_out_combinations"]["full"] for row in seeds])
    near(found["two_layers"], [row["flips_right"] for row in model("pronoun").facts["figures"]["seeds"]])


@pytest.mark.parametrize("view", ["principal", "asked"])
@pytest.mark.parametrize(("which", "name"), it.MODELS.items())
def test_plane(model: Callable, which: str, name: str, view: str) -> None:
    found, taught = it.plane(which, view), model(name)
    q = torch.stack([taught.run(text).reading["q"][IT] for text in (TIRED, WIDE)])
    pairs = list(zip(it.LIVING, it.PLACES, strict=True))
    runs = [taught.run(TIRED.replace("animal", a).replace("street", b)).reading["k"] for a, b in pairs]
    k = torch.stack([run[ANIMAL] for run in runs] + [run[STREET] for run in runs])
    # The keys do not change with the adjective, says the scene.
    near(taught.run(TIRED).reading["k"][[ANIMAL, STREET]], taught.run(WIDE).reading["k"][[ANIMAL, STREET]])
    near(found["scores"], q @ k.T)
    seen = torch.cat([k, q]) if view == "principal" else q
    basis = torch.linalg.eigh(seen.T @ seen)[1].flip(1)[:, :2]
    basis = basis * torch.where((basis.T @ seen.sum(dim=0)) < 0, -1.0, 1.0)
    near(found["arrows"], q @ basis, 1e-7)
    near(found["points"], k @ basis, 1e-7)
    shown = ((q @ basis) ** 2).sum() + ((k @ basis) ** 2).sum()
    near(found["kept"], shown / ((q**2).sum() + (k**2).sum()))
    off = ((q @ basis) @ (k @ basis).T - q @ k.T).abs().max()
    near(found["off"], off, 1e-7)
    assert (found["off"] < 1e-9) == (view == "asked")
    n = len(pairs)
    fits = [(q[0] @ k[:n].T, q[0] @ k[n:].T), (q[1] @ k[n:].T, q[1] @ k[:n].T)]
    near(found["margins"], [one.min() - other.max() for one, other in fits])
    assert found["favourites"] == tuple(found["nouns"][int(row.argmax())] for row in q @ k.T)


@pytest.mark.parametrize(("adjective", "text", "noun"), BOTH)
@pytest.mark.parametrize(("which", "name"), it.MODELS.items())
def test_stages(model: Callable, which: str, name: str, adjective: str, text: str, noun: int) -> None:
    found, head = it.stages(adjective, which), model(name).run(text).reading
    for stage in ("scores", "scaled", "weights", "output"):
        near(found[stage], head[stage][IT])
    weights, d = head["weights"][IT], head["k"].shape[1]
    assert (found["d"], found["best"]) == (d, found["tokens"][noun])
    near(found["root"], math.sqrt(d))
    near((found["best_score"], found["best_scaled"]), (head["scores"][IT, noun], head["scaled"][IT, noun]))
    near(found["best_weight"], weights[noun])
    near(found["ours"], weights[[ANIMAL, STREET, IT]])
    near(found["theirs"], (0.80, 0.05, 0.15))
    others = [i for i in range(12) if i not in (ANIMAL, STREET, IT)]
    near(found["elsewhere"], weights[others].sum())
    assert found["next_word"] == found["tokens"][max(others, key=lambda i: weights[i])]
    handed = weights[:, None] * head["v"]
    near(found["parts"], torch.cat([handed[[ANIMAL, STREET, IT]], handed[others].sum(dim=0, keepdim=True)]))
    assert found["gap"] < 1e-12
    near(found["row_sum"], 1)


@pytest.mark.parametrize(
    "typed",
    [("horse", "river", "tired", "deep"), ("robot", "tunnel", "broken", "narrow"), ("它", "  ", "tired ones", "wide")],
)
def test_words(model: Callable, typed: tuple[str, str, str, str]) -> None:
    found, taught = it_further.words(*typed), model("pronoun-open")
    first, second, *adjectives = ((one.split() or ["…"])[0] for one in typed)
    for i, adjective in enumerate(adjectives):
        text = f"The {first} didn't cross the {second} because it was too {adjective}."
        run = taught.run(text)
        row = run.reading["weights"][IT]
        near(found["weights"][i], row)
        assert found["looks"][i] == found["tokens"][i][int(row.argmax())]
        near(found["looks_weight"][i], row.max())
        words, chances = run.said(IT)
        assert found["answers"][i] == words[:5]
        near(found["probabilities"][i], chances[:5])
    assert found["unknown"] == sorted({one for one in (first, second, *adjectives) if one not in taught.known})
    assert found["n_known"] == len(taught.known)
    pairs = [row["forty_pairs"] for row in taught.facts["figures"]["seeds"]]
    near(found["pairs"], [row["pairs"] for row in pairs])
    near(found["pairs"] / found["n_pairs"], [row["flip"] for row in pairs])


@pytest.mark.parametrize("places", [True, False])
@pytest.mark.parametrize("adjective", it.ADJECTIVES)
@pytest.mark.parametrize("frame", it_further.FRAMES)
@pytest.mark.parametrize(("which", "name"), it.MODELS.items())
def test_moved(model: Callable, which: str, name: str, frame: str, adjective: str, places: bool) -> None:
    found, taught = it_further.moved(frame, adjective, places, which), model(name)
    texts = {key: text.format(adjective) for key, text in it_further.FRAMES.items()}
    run, words = taught.run(texts[frame], places=places), taught.words(texts[frame])
    at, noun = words.index("it"), words.index(found["noun"])
    row = run.reading["weights"][at]
    near(found["weights"], row)
    near(found["told"], row[noun])
    near(found["other"], row[words.index("street" if found["noun"] == "animal" else "animal")])
    near(found["brought"], run.layers[0][0]["weights"][at, words.index(adjective)])
    assert (found["asker"], found["distance"]) == (at, noun - at)
    assert (found["distance"] > 0) == (frame in ("behind", "so"))
    for key, weights in zip(found["frames"], found["by_frame"], strict=True):
        these, one = taught.run(texts[key], places=places), taught.words(texts[key])
        near(weights, [these.reading["weights"][one.index("it"), one.index(word)] for word in ("animal", "street")])
    usual = taught.run(texts["before"]).reading["weights"][IT, ANIMAL if adjective == "tired" else STREET]
    near(found["change"], row[noun] - usual)
    said, chances = run.said(at)
    assert found["answer"] == said[0]
    near(found["probability"], chances[0])


@pytest.mark.parametrize("scenery", it_further.SCENERY)
@pytest.mark.parametrize("adjective", it.ADJECTIVES)
@pytest.mark.parametrize("kind", ["self", "cross"])
def test_inputs(model: Callable, kind: str, adjective: str, scenery: str) -> None:
    found, taught = it_further.inputs(kind, adjective, scenery), model("pronoun")
    first, second = it_further.SCENERY[scenery]
    asking, answering = f"it was too {adjective}", f"The {first} didn't cross the {second}"
    if kind == "self":
        asking = answering = f"{answering} because {asking}"
    one, other = taught.run(asking), taught.run(answering)
    m, n = len(taught.words(asking)), len(taught.words(answering))
    weights = torch.softmax(one.reading["q"] @ other.reading["k"].T / math.sqrt(8), dim=1)
    near(found["weights"], weights)
    assert (found["x"], found["x_key"]) == ((m, 32), (n, 32))
    assert (found["q"], found["k"], found["v"]) == ((m, 8), (n, 8), (n, 8))
    at = taught.words(asking).index("it")
    row = weights[at]
    assert found["asker"] == at
    assert found["looks"].lower() == taught.words(answering)[int(row.argmax())]
    near(found["looks_weight"], row.max())
    logits = row @ other.reading["v"] @ taught.tensors["layers.1.w_o"][0] @ taught.matrix()
    assert found["answer"] == taught.answers()[int(logits.argmax())]
    if kind == "self":
        near(found["weights"], one.reading["weights"])


@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize("case", it_further.CASES)
def test_causal(model: Callable, case: str, mask: bool) -> None:
    found, taught = it_further.causal(case, mask), model("induction" if case == "letters" else "pronoun")
    asks, texts = it_further.CASES[case]
    runs, words = [taught.run(text, causal=mask) for text in texts], [taught.words(text) for text in texts]
    first, last = words[0].index(asks), len(words[0]) - 1 - words[0][::-1].index(asks)
    assert (found["first"], found["last"]) == (first, last)
    assert [one != other for one, other in zip(*words, strict=True)].index(True) == found["differs"] > first
    written = [run.layers[-1][0]["after"] for run in runs]
    apart = (written[0] - written[1]).abs().max(dim=1).values
    near(found["apart"], apart)
    near(found["weights"], torch.stack([run.reading["weights"][last] for run in runs]))
    for i, run in enumerate(runs):
        for j, place in enumerate((first, last)):
            answers, chances = run.said(place)
            assert found["answers"][i][j] == answers[0]
            near(found["probabilities"][i, j], chances[0])
        assert found["end"][i] == run.said(len(words[i]) - 1)[0][0]
    assert found["sees"] is not mask
    if mask:
        # Exactly: before the word that differs there is nothing that could differ.
        assert (found["apart"][: found["differs"]] == 0).all()
        assert found["earliest"] == found["differs"]
    else:
        assert found["apart"][first] > 0.1


def test_a_later_word_finds_out_what_the_first_cannot_know() -> None:
    words, letters = (it_further.causal(case, mask=True) for case in ("twice", "letters"))
    assert words["answers"] == [["it", "animal"], ["it", "street"]]
    assert [row[1] for row in letters["answers"]] == ["b", "g"]


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("where", it_further.PLACES)
def test_final(model: Callable, where: str, rank: int) -> None:
    found = it_further.final(where, rank)
    name, text, word = it_further.PLACES[where]
    taught = model(name)
    run, words = taught.run(text), taught.words(text)
    at = len(words) - 1 - words[::-1].index(word)
    answer = run.said(at)[0][rank - 1]
    column = taught.answers().index(answer)
    direction, reads = taught.matrix()[:, column], taught.facts["readouts"][0]["reads"]
    heads = [
        (facts["writes"], head)
        for facts, layer in zip(taught.facts["layers"], run.layers, strict=True)
        for head in layer
    ]
    vectors = [run.streams[0]["word"][at], *(head["after"][at] for _, head in heads)]
    is_read = ["word" in reads, *(writes in reads for writes, _ in heads)]
    logits = [float(vector @ direction) * read for vector, read in zip(vectors, is_read, strict=True)]
    bias = taught.tensors.get("readout_bias")
    if bias is not None:
        logits.append(float(bias[column]))
        is_read.append(True)
    whole = taught.logits(run.streams[-1])[at]
    near(found["lengths"], [vector.norm() for vector in vectors])
    near(found["logits"], logits)
    near(found["logit"], whole[column])
    near(sum(found["logits"]), found["logit"])
    near(found["probability"], torch.softmax(whole, dim=0)[column])
    near(found["sums"], [head["output"][at].norm() for _, head in heads])
    near(found["after"], [head["after"][at].norm() for _, head in heads])
    assert (found["word"], found["is_read"].tolist()) == (answer, is_read)
    assert found["gap"] < 1e-9
    assert found["largest"] == found["parts"][int(np.argmax(logits))]
    near(found["largest_logit"], max(logits))
