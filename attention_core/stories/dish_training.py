"""Where W_Q, W_K and W_V come from: gradient descent on the smallest attention that has something to look for.

Sentences of six words out of eight; in half of them stands exactly one of 佛, 跳, 墙. [CLS] asks, and a logistic
read-out of the weighted sum says whether one of them is there. Nothing says where to look.

    q = x[CLS] W_Q    k, v = x W_K, x W_V    a = softmax(k q / √d)    p = σ(Σ a v · w + b)    loss = −mean log p(right)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from attention_core.stories.dish import NAME, softmax

WORDS = (*NAME, "我", "吃", "面", "看", "人")
N_WORDS, N_SENTENCES, D_MODEL, D_HEAD, RATE, N_STEPS = 6, 64, 8, 2, 0.3, 300

Parameters = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Task:
    """What is learned from: embeddings (words and, last, [CLS]; drawn once and kept), sentences, right answers."""

    embedding: Float[np.ndarray, "word d_model"]
    sentences: Int[np.ndarray, "sentence place"]
    is_there: Float[np.ndarray, " sentence"]


def origin(done: int, start: int) -> Mapping[str, Any]:
    """Gradient descent from random matrices, and where it stands after so many steps.

    Args:
        done: steps; start: the seed of the sentences, the embeddings and the first matrices.

    Returns:
        words: (8,); steps: (N_STEPS + 1,); wanted: (N_STEPS + 1,) [CLS]'s mean weight on the wanted word, where one
        stands; losses, right: (N_STEPS + 1,) loss, and the share of sentences answered rightly; asker: (1, 2) q; keys:
        (8, 2) after `done` steps; shares: (8,) of the words, if each stood there once; first, now: `wanted` at first
        and after `done` steps; uniform: 1/6; now_right: `right` then; w_q, w_k, w_v: then.
    """
    task, history = _learned(start)
    found = [_forward(parameters, task) for parameters in history]
    one, run = history[done], found[done]
    keys = task.embedding[:-1] @ one["w_k"]
    return {
        "words": list(WORDS),
        "done": done,
        "steps": np.arange(len(history), dtype=float),
        **{name: np.array([each[name] for each in found]) for name in ("wanted", "losses", "right")},
        "asker": run["q"][None],
        "keys": keys,
        "shares": softmax(keys @ run["q"] / math.sqrt(D_HEAD)),
        "first": found[0]["wanted"],
        "now": run["wanted"],
        "now_right": run["right"],
        "uniform": 1 / N_WORDS,
        **{name: one[name] for name in ("w_q", "w_k", "w_v")},
    }


def task_of(seed: int) -> tuple[Task, Parameters]:
    """The sentences and the first, random matrices of a seed."""
    rng = np.random.default_rng(seed)
    embedding = rng.normal(size=(len(WORDS) + 1, D_MODEL))
    sizes = {"w_q": (D_MODEL, D_HEAD), "w_k": (D_MODEL, D_HEAD), "w_v": (D_MODEL, D_HEAD), "w": (D_HEAD,), "b": ()}
    spreads = {"w_q": 0.1, "w_k": 0.1, "w_v": 0.5, "w": 0.5, "b": 0.0}
    first = {name: rng.normal(0, spreads[name], size) for name, size in sizes.items()}
    is_there = np.arange(N_SENTENCES) % 2
    sentences = rng.integers(len(NAME), len(WORDS), (N_SENTENCES, N_WORDS))
    sentences[is_there == 1, 0] = rng.integers(len(NAME), size=int(is_there.sum()))
    return Task(embedding, rng.permuted(sentences, axis=1), is_there.astype(float)), first


@lru_cache(maxsize=8)  # A step back or forth in the same run need not train again.
def _learned(seed: int) -> tuple[Task, tuple[Parameters, ...]]:
    task, parameters = task_of(seed)
    history = [parameters]
    for _ in range(N_STEPS):
        slopes = gradients(parameters, task)
        parameters = {name: value - RATE * slopes[name] for name, value in parameters.items()}
        history.append(parameters)
    return task, tuple(history)


def _forward(parameters: Parameters, task: Task) -> dict[str, Any]:
    q = task.embedding[-1] @ parameters["w_q"]
    k, v = ((task.embedding[:-1] @ parameters[name])[task.sentences] for name in ("w_k", "w_v"))
    exps = np.exp(k @ q / math.sqrt(D_HEAD))
    weights = exps / exps.sum(axis=1, keepdims=True)
    output = (weights[:, None] @ v)[:, 0]
    logits = output @ parameters["w"] + parameters["b"]
    signs = 2 * task.is_there - 1
    is_wanted = task.sentences < len(NAME)
    return {
        "q": q,
        "k": k,
        "v": v,
        "weights": weights,
        "output": output,
        "p": 1 / (1 + np.exp(-logits)),
        "losses": float(np.logaddexp(0, -signs * logits).mean()),
        "right": float((signs * logits > 0).mean()),
        "wanted": float((weights * is_wanted).sum(axis=1)[task.is_there == 1].mean()),
    }


def gradients(parameters: Parameters, task: Task) -> Parameters:
    """What the loss changes by with each parameter, from the last formula back to the first."""
    run = _forward(parameters, task)
    words, n, root = task.embedding[:-1], len(task.sentences), math.sqrt(D_HEAD)
    d_logit = (run["p"] - task.is_there) / n
    d_output = d_logit[:, None] * parameters["w"]
    d_weights = (run["v"] @ d_output[:, :, None])[:, :, 0]
    mean = (run["weights"] * d_weights).sum(axis=1, keepdims=True)
    d_scaled = run["weights"] * (d_weights - mean) / root
    d_k, d_v = d_scaled[:, :, None] * run["q"], run["weights"][:, :, None] * d_output[:, None]
    return {
        "w_q": np.outer(task.embedding[-1], (d_scaled[:, :, None] * run["k"]).sum(axis=(0, 1))),
        "w_k": words.T @ _by_word(d_k, task),
        "w_v": words.T @ _by_word(d_v, task),
        "w": run["output"].T @ d_logit,
        "b": d_logit.sum(),
    }


def _by_word(slopes: Float[np.ndarray, "sentence place d"], task: Task) -> Float[np.ndarray, "word d"]:
    """The same word's slopes, over all its places, together."""
    is_word = np.arange(len(WORDS))[:, None] == task.sentences.ravel()
    return is_word @ slopes.reshape(-1, slopes.shape[-1])
