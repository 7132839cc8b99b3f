"""From tasks to the files of the catalogue: every seed and variant trained and measured, weights and cards written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save

from attention_core.teach.card import REACHED, measured_variant, shipped_card
from attention_core.teach.runs import Frame, RunSpec
from attention_core.teach.tasks import TASKS, Task, Variant
from attention_core.teach.trainer import asker, new_model, run


@dataclass(frozen=True)
class Job:
    """One run of the catalogue. is_shipped: its weights are written."""

    spec: RunSpec
    variant: str | None
    is_shipped: bool


@dataclass(frozen=True)
class Done:
    """A job, its figures, its last frame, and where it is shipped the failures that were measured on it."""

    job: Job
    figures: dict[str, Any]
    last: Frame
    limits: dict[str, float]

    def line(self) -> str:
        """One line for whoever waits."""
        spec, figures = self.job.spec, self.figures
        name = spec.task if self.job.variant is None else f"{spec.task} {self.job.variant}"
        at = "not reached" if figures["pattern_at"] is None else f"from step {figures['pattern_at']}"
        told = f"held out {self.last.held_out:.3f}  pattern {figures['pattern']:.3f} ({at})  {self.last.seconds:.1f} s"
        return f"{name} seed {spec.seed}: {told}"


def jobs(task: Task, variant: str | None, seed: int, n_seeds: int, n_steps: int | None) -> list[Job]:
    """The runs behind a task's cards: the recipe's and each variant's, or one variant's alone."""
    chosen = [None, *task.variants] if variant is None else [task.variant(variant)]
    return [job for each in chosen for job in _jobs(task, each, seed, n_seeds, n_steps)]


def _jobs(task: Task, variant: Variant | None, seed: int, n_seeds: int, n_steps: int | None) -> list[Job]:
    name = None if variant is None else variant.name
    first = seed if variant is None or variant.seed is None else variant.seed
    others = [other for other in range(n_seeds) if other != first][: n_seeds - 1]
    is_shipped = variant is None or variant.is_shipped
    return [Job(task.spec(name, each, n_steps), name, is_shipped and each == first) for each in (first, *others)]


def train_all(jobs: Sequence[Job], n_at_a_time: int) -> Iterator[Done]:
    """Every job, as it is done, several at a time in processes of one thread each."""
    with ProcessPoolExecutor(n_at_a_time, get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        for future in as_completed([pool.submit(train, job) for job in jobs]):
            yield future.result()


def train(job: Job) -> Done:
    """Train one run and measure it."""
    task, pattern_at = TASKS[job.spec.task], None
    for frame in run(job.spec):
        if frame.pattern > REACHED and pattern_at is None:
            pattern_at = frame.step
    ask = _asking(job.spec, frame)
    told = {"seed": job.spec.seed, "pattern": round(frame.pattern, 4), "pattern_at": pattern_at}
    limits = task.limits(ask) if job.is_shipped else {}
    return Done(job, told | task.measure(ask), frame, limits)


def _asking(spec: RunSpec, last: Frame) -> Any:
    model = new_model(spec)
    model.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in (last.tensors or {}).items()})
    return asker(model)


def write(done: Iterable[Done], folder: Path) -> Iterator[tuple[Path, str]]:
    """Weights and cards of what is shipped; yields each card's path and how far its figures moved."""
    folder.mkdir(parents=True, exist_ok=True)
    runs: dict[tuple[str, str | None], list[Done]] = {}
    for each in done:
        runs.setdefault((each.job.spec.task, each.job.variant), []).append(each)
    for (task_name, variant_name), group in runs.items():
        task = TASKS[task_name]
        variant = None if variant_name is None else task.variant(variant_name)
        shipped = next((each for each in group if each.job.is_shipped), None)
        if shipped is not None:
            card = _card(task, variant, shipped, group)
            if variant is None:
                card["measured"] = [
                    measured_variant(task, task.variant(name), others[0].job.spec, _figures(others))
                    for (other, name), others in runs.items()
                    if other == task_name and name is not None and not task.variant(name).is_shipped
                ]
            yield _write(folder, card, _stored(task, shipped.last))


def _card(task: Task, variant: Variant | None, shipped: Done, group: Sequence[Done]) -> dict[str, Any]:
    return shipped_card(task, shipped.job.spec, variant, _figures(group), shipped.limits, shipped.last)


def _figures(group: Sequence[Done]) -> list[dict[str, Any]]:
    """The shipped seed first, then in order."""
    return [each.figures for each in sorted(group, key=lambda each: (not each.job.is_shipped, each.job.spec.seed))]


def _stored(task: Task, last: Frame) -> dict[str, np.ndarray]:
    """What goes into the file: word vectors that were given stand in a file of their own."""
    return {name: tensor for name, tensor in (last.tensors or {}).items() if task.table is None or name != "embedding"}


def _write(folder: Path, card: dict[str, Any], tensors: dict[str, np.ndarray]) -> tuple[Path, str]:
    weights = save({name: np.ascontiguousarray(tensor) for name, tensor in sorted(tensors.items())})
    path = folder / f"{card['name']}.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    path.with_suffix(".safetensors").write_bytes(weights)
    card["sha256"] = hashlib.sha256(weights).hexdigest()
    path.write_text(json.dumps(card, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if before is None:
        return path, ""
    if before.get("sha256") == card["sha256"]:
        return path, ", the weights as before"
    return path, f", its figures at most {_moved(before['figures'], card['figures']):.3f} from those before"


def _moved(before: Any, now: Any) -> float:
    """The largest difference between two sets of figures, the seeds in the same order; shares and weights only."""
    if isinstance(before, dict) and isinstance(now, dict):
        skipped = ("seed", "pattern_at", "n_reached")
        return max((_moved(before[key], now[key]) for key in before if key in now and key not in skipped), default=0.0)
    if isinstance(before, list) and isinstance(now, list):
        return max(map(_moved, before, now), default=0.0)
    return abs(before - now) if isinstance(before, float) and isinstance(now, float) else 0.0
