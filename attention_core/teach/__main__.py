"""`python -m attention_core.teach pronoun`: train a model from nothing, measure it, write it down.

Prints a live progress line, the held-out accuracies of every seed and the headline weights; writes the weights of
`--seed` and their card.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save

from attention_core.teach import measure, pronoun
from attention_core.teach.card import card
from attention_core.teach.model import Shape, TwoHop
from attention_core.teach.trainer import Frame, train

MODELS = Path(__file__).parents[1] / "models"
N_HELD_OUT = 2000
N_FLIPS = 40


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = _options(arguments)
    recipe = pronoun.Recipe() if options.steps is None else pronoun.Recipe(n_steps=options.steps)
    torch.set_num_threads(1)  # bit for bit the same on every machine of a kind, and no slower at this size
    others = [seed for seed in range(options.seeds) if seed != options.seed]
    model, last = _taught(recipe, options.seed)
    reports = [_report(model, options.seed)]
    reports += [_report(_taught(recipe, seed)[0], seed) for seed in others[: options.seeds - 1]]
    figures = {name: value for name, value in reports[0].items() if name != "seed"} | {"seeds": reports}
    _write(
        options.out,
        model,
        card(model, recipe, figures, measure.limits(model), _training(recipe, options.seed, last)),
    )
    print(f"Written to {options.out / 'pronoun.safetensors'} and {options.out / 'pronoun.json'}.")
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m attention_core.teach", description="Train a small model.")
    parser.add_argument("model", choices=["pronoun"])
    parser.add_argument("--seed", type=int, default=0, help="the seed whose weights are written (0)")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds to report on the card (5)")
    parser.add_argument("--steps", type=int, help=f"training steps ({pronoun.Recipe().n_steps})")
    parser.add_argument("--out", type=Path, default=MODELS, help="the folder to write to (attention_core/models)")
    options = parser.parse_args(arguments)
    if options.seeds < 1 or (options.steps is not None and options.steps < 1):
        parser.error("--seeds and --steps must be at least 1")
    return options


def _taught(recipe: pronoun.Recipe, seed: int) -> tuple[TwoHop, Frame]:
    """A model trained from this seed, and the last frame of its training."""
    model = new_model(recipe, seed)
    for frame in train(
        model,
        pronoun.batches(recipe, seed),
        n_steps=recipe.n_steps,
        learning_rate=recipe.learning_rate,
        score_decay=recipe.score_decay,
    ):
        line = f"seed {seed}  step {frame.step:>5}/{frame.n_steps}  loss {frame.loss:.4f}  {frame.seconds:5.1f} s"
        print(f"\r{line}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return model, frame


def new_model(recipe: pronoun.Recipe, seed: int) -> TwoHop:
    """An untrained `pronoun`."""
    shape = Shape(len(pronoun.VOCABULARY))
    return TwoHop(shape, embedding_std=recipe.embedding_std, score_std=recipe.score_std, seed=seed)


def _report(model: TwoHop, seed: int) -> dict[str, Any]:
    """Measure a model, print it, return it."""
    combinations, frames = (
        measure.accuracy(model, pronoun.held_out(kind, N_HELD_OUT)) for kind in ("combinations", "frames")
    )
    report: dict[str, Any] = {
        "seed": seed,
        "held_out_combinations": {"two_way": combinations.two_way, "full": combinations.full},
        "held_out_frames": {"two_way": frames.two_way, "full": frames.full},
        "headline": measure.headline(model),
        "flips_right": measure.flips_right(model, measure.flips(N_FLIPS)),
    }
    print(
        f"seed {seed}  new word combinations {combinations.two_way:.1%} (of all words {combinations.full:.1%})"
        f"  new frames {frames.two_way:.1%} ({frames.full:.1%})  flips {report['flips_right']:.1%}"
    )
    for adjective, weights in report["headline"].items():
        print(f"   … too {adjective}: it → " + "  ".join(f"{word} {weight:.3f}" for word, weight in weights.items()))
    return report


def _training(recipe: pronoun.Recipe, seed: int, last: Frame) -> dict[str, Any]:
    return {
        "seed": seed,
        "steps": recipe.n_steps,
        "optimiser": f"AdamW, learning rate {recipe.learning_rate:g} falling along half a cosine, "
        f"weight decay {recipe.score_decay:g} on W_Q and W_K only",
        "batch": recipe.batch,
        "seconds": round(last.seconds, 1),
        "final_loss": round(last.loss, 4),
    }


def _write(folder: Path, model: TwoHop, described: dict[str, Any]) -> None:
    """Write weights and card, the card with the checksum of the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = save({name: tensor.detach().contiguous() for name, tensor in model.state_dict().items()})
    (folder / "pronoun.safetensors").write_bytes(weights)
    described["sha256"] = hashlib.sha256(weights).hexdigest()
    (folder / "pronoun.json").write_text(json.dumps(described, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
