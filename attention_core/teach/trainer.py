"""Teach a model, one batch at a time, to whoever wants to watch.

`run` is a generator: it works while somebody asks for its next frame and stops when closed. The same specification
gives the same frames, bit for bit, on one thread (`torch.set_num_threads(1)`, which the caller sets).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attention_core.teach.model import Forward, Taught
from attention_core.teach.runs import Answers, Ask, Batch, Frame, Readout, RunSpec, Training
from attention_core.teach.tasks import TASKS, Task


def run(spec: RunSpec, is_stopped: Callable[[], bool] = lambda: False) -> Iterator[Frame]:
    """Train what the specification says; yield a frame before the first step, at regular steps and after the last one.

    AdamW (Loshchilov & Hutter 2019), the learning rate falling along half a cosine. It ends without a last frame when
    `is_stopped`, which is asked before every step, says so.

    Raises:
        BadSpec, BadSentence: it cannot be run; raised when the first frame is asked for.
    """
    task = TASKS[spec.task]
    task.check(spec)
    model, started = new_model(spec), time.perf_counter()
    optimiser = new_optimiser(model, task.training)
    batches = task.batches(spec)
    rate, loss = spec.learning_rate, None
    yield film(task, spec, model, 0, loss, rate, time.perf_counter() - started)
    for step in range(1, spec.n_steps + 1):
        if is_stopped():
            return
        rate = spec.learning_rate * _cosine((step - 1) / spec.n_steps)
        loss = train_step(model, optimiser, next(batches), rate, task.training)
        if step % task.training.every == 0 or step == spec.n_steps:
            yield film(task, spec, model, step, loss.item(), rate, time.perf_counter() - started)


def new_model(spec: RunSpec) -> Taught:
    """The model before training."""
    task = TASKS[spec.task]
    return Taught(spec.options, len(task.vocabulary), task.readouts(spec.options), spec.seed, _table(task, spec))


def _table(task: Task, spec: RunSpec) -> Float[Tensor, "word d_model"] | None:
    """The word vectors that the task gives, if it gives any."""
    if task.table is None:
        return None
    table = task.table().astype(np.float32)
    order = np.random.default_rng(spec.seed).permutation(len(table)) if spec.options.shuffled_table else slice(None)
    return torch.from_numpy(table[order].copy())


def new_optimiser(model: nn.Module, training: Training) -> torch.optim.Optimizer:
    """Only W_Q and W_K decay: scores then grow no larger than they need to, and attention stays readable."""
    named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    scoring = [parameter for name, parameter in named if name.endswith(("w_q", "w_k"))]
    others = [parameter for name, parameter in named if not name.endswith(("w_q", "w_k"))]
    groups = [{"params": scoring, "weight_decay": training.score_decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, foreach=True)


def train_step(
    model: Taught, optimiser: torch.optim.Optimizer, batch: Batch, rate: float, training: Training
) -> Float[Tensor, ""]:
    """One step down the gradient of one batch's loss."""
    for group in optimiser.param_groups:
        group["lr"] = rate
    more = (batch.hidden, batch.noise, batch.word_noise, batch.candidates)
    forward = model(*(None if field is None else torch.from_numpy(field) for field in (*batch[:3], *more)))
    loss = objective(forward, batch, model.readouts, training)
    if model.options.supervised:
        loss = loss + training.look_weight * look_loss(forward, batch)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.detach()


def objective(forward: Forward, batch: Batch, readouts: tuple[Readout, ...], training: Training) -> Float[Tensor, ""]:
    """The answers' surprise by read-out, and where the task asks for it a penalty on large scores."""
    loss = torch.zeros(())
    for readout in readouts:
        targets, weight = (torch.from_numpy(each[readout.tensor]) for each in (batch.targets, batch.weight))
        if readout.tensor == "embedding" and batch.candidates is not None:
            targets = torch.from_numpy(np.searchsorted(batch.candidates, batch.targets[readout.tensor]))
        loss = loss + readout.weight * answer_loss(forward.logits[readout.tensor], targets, weight)
    if training.score_penalty:
        loss = loss + training.score_penalty * _mean_square(forward, torch.from_numpy(batch.real), training.penalised)
    return loss


def _mean_square(forward: Forward, real: Bool[Tensor, "batch token"], penalised: str) -> Float[Tensor, ""]:
    """Σ scaled² over the heads and keys of the last layer, as a mean over the queries."""
    squares = forward.scaled[-1] ** 2 * real[:, None, None, :]
    if penalised == "first":
        return squares[:, :, 0].sum(dim=(1, 2)).mean()
    return (squares * real[:, None, :, None]).sum() / real.sum()


def answer_loss(
    logits: Float[Tensor, "batch token answer"],
    targets: Int[Tensor, "batch token"],
    weight: Float[Tensor, "batch token"],
) -> Float[Tensor, ""]:
    """Cross-entropy of the answers, in nats, as a weighted mean. It sees the answers, never the attention."""
    surprise = cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
    return (surprise * weight.flatten()).sum() / weight.sum()


def look_loss(forward: Forward, batch: Batch) -> Float[Tensor, ""]:
    """For models taught where to look, and labelled so: the surprise at each look, −log A[query, wanted], as a mean."""
    loss = torch.zeros(())
    for layer, wanted in (batch.looks or {}).items():
        rows, queries = np.nonzero(wanted >= 0)
        if layer < len(forward.weights) and len(rows):
            looked = forward.weights[layer][rows, :, queries, wanted[rows, queries]]  # (look, head)
            loss = loss - looked.clamp_min(1e-9).log().mean()
    return loss


def film(task: Task, spec: RunSpec, model: Taught, step: int, loss: float | None, rate: float, seconds: float) -> Frame:
    """What the model looks like now. Looking changes nothing in it."""
    ask = asker(model)
    looks = tuple(tuple(layer[0] for layer in ask(task.encode(scene.text)[None]).weights) for scene in task.scenes)
    tensors = tensors_of(model)
    return Frame(
        step=step,
        n_steps=spec.n_steps,
        loss=loss,
        learning_rate=rate,
        seconds=seconds,
        held_out=task.held_out(ask),
        pattern=task.pattern(looks),
        looks=looks,
        matrices={name: tensor for name, tensor in tensors.items() if name.endswith(("w_q", "w_k", "w_v"))},
        tensors=tensors if step == spec.n_steps else None,
    )


def tensors_of(model: nn.Module) -> dict[str, np.ndarray]:
    """Copies of all tensors by their names; one that serves twice stands under both names."""
    return {name: tensor.detach().numpy().copy() for name, tensor in model.state_dict().items()}


def asker(model: Taught) -> Ask:
    """The model as a function of NumPy arrays, so that tasks can measure it without torch."""

    def ask(
        tokens: np.ndarray,
        real: np.ndarray | None = None,
        offset: np.ndarray | None = None,
        candidates: np.ndarray | None = None,
    ) -> Answers:
        tokens_, *others = (
            None if array is None else torch.from_numpy(array) for array in (tokens, real, offset, candidates)
        )
        with torch.no_grad():
            forward = model(tokens_, *others[:2], candidates=others[2])
        logits: Mapping[str, np.ndarray] = {name: values.numpy() for name, values in forward.logits.items()}
        return Answers(logits, tuple(weights.numpy() for weights in forward.weights))

    return ask


def _cosine(progress: float) -> float:
    """1 at the beginning, 0 at the end."""
    return (1 + math.cos(math.pi * progress)) / 2
