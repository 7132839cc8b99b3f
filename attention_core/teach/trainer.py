"""Teach a model, one batch at a time, to whoever wants to watch.

`train` is a generator: it works while somebody asks for its next frame and stops when closed. The same seed gives the
same numbers, bit for bit, on one thread (`torch.set_num_threads(1)`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy


class Batch(NamedTuple):
    """What one step learns from.

    `targets` is the right answer at each token and `weight` how much it counts (0 on padding), `real` is False on
    padding, `offset` is the place at which the sentence begins.
    """

    tokens: Int[np.ndarray, "batch token"]
    targets: Int[np.ndarray, "batch token"]
    weight: Float[np.ndarray, "batch token"]
    real: Bool[np.ndarray, "batch token"]
    offset: Int[np.ndarray, " batch"]


class Frame(NamedTuple):
    """How far the training is: small enough to send to a page as it goes."""

    step: int
    n_steps: int
    loss: float
    learning_rate: float
    seconds: float


def answer_loss(
    logits: Float[Tensor, "batch token word"],
    targets: Int[Tensor, "batch token"],
    weight: Float[Tensor, "batch token"],
) -> Float[Tensor, ""]:
    """Cross-entropy of the answers, in nats, as a weighted mean. It sees the answers, never the attention."""
    surprise = cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
    return (surprise * weight.flatten()).sum() / weight.sum()


def train(
    model: nn.Module,
    batches: Iterator[Batch],
    *,
    n_steps: int,
    learning_rate: float,
    score_decay: float = 0.0,
    every: int = 25,
) -> Iterator[Frame]:
    """Train `model` in place; yield a frame at the first step, every `every` steps and at the last one.

    AdamW (Loshchilov & Hutter 2019), the learning rate falling along half a cosine. Only W_Q and W_K decay, by
    `score_decay`: scores then grow no larger than they need to, and attention stays readable.
    """
    scoring, others = _scoring_and_others(model)
    groups = [{"params": scoring, "weight_decay": score_decay}, {"params": others, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=learning_rate)
    started = time.perf_counter()
    for step in range(1, n_steps + 1):
        rate = learning_rate * _cosine((step - 1) / n_steps)
        loss = _step(model, optimiser, next(batches), rate)
        if step == 1 or step % every == 0 or step == n_steps:
            yield Frame(step, n_steps, loss.item(), rate, time.perf_counter() - started)


def _step(model: nn.Module, optimiser: torch.optim.Optimizer, batch: Batch, rate: float) -> Float[Tensor, ""]:
    for group in optimiser.param_groups:
        group["lr"] = rate
    tokens, targets, weight, real, offset = (torch.from_numpy(field) for field in batch)
    loss = answer_loss(model(tokens, real, offset).logits, targets, weight)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.detach()


def _scoring_and_others(model: nn.Module) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """The parameters that make the scores (every W_Q and W_K), and all others."""
    scoring = {name for name, _ in model.named_parameters() if name.endswith(("w_q", "w_k"))}
    named = list(model.named_parameters())
    return [p for name, p in named if name in scoring], [p for name, p in named if name not in scoring]


def _cosine(progress: float) -> float:
    """1 at the beginning, 0 at the end."""
    return (1 + math.cos(math.pi * progress)) / 2
