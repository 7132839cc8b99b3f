"""Train the taught models from nothing, measure them, write them down.

python -m attention_core.teach pronoun                     every seed of it and of its variants
python -m attention_core.teach dish --variant one-layer    of one variant
python -m attention_core.teach all                         every file of the catalogue
python -m attention_core.teach pronoun --d-head 3 --seed 17 --save mine.safetensors
                                                           one run of your own, with its card in the file
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch

from attention_core.cards import FOLDER
from attention_core.errors import AttentionError
from attention_core.loading import to_bytes
from attention_core.teach import ship
from attention_core.teach.card import trained_card
from attention_core.teach.runs import Options, RunSpec
from attention_core.teach.tasks import TASKS, Task
from attention_core.teach.trainer import run

N_SEEDS = 5
SWITCHES = {field.name: field for field in fields(Options) if field.name != "windows"}


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    given = _parser().parse_args(arguments)
    torch.set_num_threads(1)  # Bit for bit the same on every machine of a kind, and no slower at this size.
    try:
        return _save(given) if given.save is not None else _ship(given)
    except AttentionError as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m attention_core.teach", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=[*TASKS, "all"])
    parser.add_argument("--variant", help="one variant of the task, by its name on the card")
    parser.add_argument("--seed", type=_seed, default=0, help="the seed whose weights are written (0)")
    parser.add_argument("--seeds", type=_at_least_one, default=N_SEEDS, help=f"how many seeds to measure ({N_SEEDS})")
    parser.add_argument("--steps", type=_at_least_one, help="training steps, if others than the recipe's")
    parser.add_argument("--out", type=Path, default=FOLDER, help="the folder to write to (attention_core/models)")
    parser.add_argument("--jobs", type=_at_least_one, default=os.cpu_count() or 1, help="runs at a time (one per core)")
    own = parser.add_argument_group("one run of your own")
    own.add_argument("--save", type=Path, metavar="FILE", help="train one run and write it to this safetensors file")
    own.add_argument("--rate", type=float, help="learning rate, if another than the recipe's")
    own.add_argument("--own", action="append", default=[], metavar="SENTENCE", help="a training sentence of your own")
    own.add_argument("--shuffled-labels", action="store_true", help="deal the right answers out by chance")
    for name, field in SWITCHES.items():
        own.add_argument(f"--{name.replace('_', '-')}", dest=name, type=_like(field.default), metavar="VALUE")
    return parser


def _save(given: argparse.Namespace) -> int:
    """One run, as on the page where readers train: the file is the one that they download there."""
    spec = _own_spec(TASKS[given.task], given)
    for frame in run(spec):
        loss = "" if frame.loss is None else f"  loss {frame.loss:.4f}"
        line = f"step {frame.step:>5}/{frame.n_steps}{loss}  held out {frame.held_out:.3f}  pattern {frame.pattern:.3f}"
        print(f"\r{line}  {frame.seconds:5.1f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    given.save.write_bytes(to_bytes(trained_card(spec, frame), frame.tensors or {}))
    print(f"Written to {given.save}.")
    return 0


def _own_spec(task: Task, given: argparse.Namespace) -> RunSpec:
    spec = task.spec(given.variant, given.seed, given.steps)
    switched = {name: getattr(given, name) for name in SWITCHES if getattr(given, name) is not None}
    windows = spec.options.windows if switched.get("n_layers", spec.options.n_layers) == spec.options.n_layers else ()
    return replace(
        spec,
        options=replace(spec.options, **{"windows": windows, **switched}),
        learning_rate=spec.learning_rate if given.rate is None else given.rate,
        own=tuple(given.own),
        shuffled_labels=given.shuffled_labels,
    )


def _ship(given: argparse.Namespace) -> int:
    """Train every seed that the cards report; write weights and cards."""
    tasks = list(TASKS.values()) if given.task == "all" else [TASKS[given.task]]
    jobs = [job for task in tasks for job in ship.jobs(task, given.variant, given.seed, given.seeds, given.steps)]
    done: list[ship.Done] = []
    for result in ship.train_all(jobs, given.jobs):
        done.append(result)
        print(f"[{len(done):>3}/{len(jobs)}] {result.line()}", flush=True)
    for path, moved in ship.write(done, given.out):
        print(f"Written to {path}{moved}.")
    return 0


def _at_least_one(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def _seed(text: str) -> int:
    if (number := int(text)) < 0:
        raise argparse.ArgumentTypeError("not below 0")
    return number


def _like(default: Any) -> Any:
    """From what is typed to a value of the same kind."""
    return (lambda text: text.lower() in ("1", "true", "yes")) if isinstance(default, bool) else type(default)


if __name__ == "__main__":
    sys.exit(main())
