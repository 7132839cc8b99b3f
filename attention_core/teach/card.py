"""What the users of a taught model are told: its card, in English and Chinese, every number from a measurement.

The facts come from the specification and from the measurements, the texts from the task. No torch in here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache
from typing import Any

import numpy as np

from attention_core.cards import models
from attention_core.teach.runs import Frame, Options, RunSpec
from attention_core.teach.tasks import TASKS
from attention_core.teach.tasks.task import Description, Task, Variant

Figures = Mapping[str, Any]  # Of one seed: "seed", "pattern", "pattern_at", and what the task measures.
Tensors = Mapping[str, np.ndarray]

# Of a variant's texts those that speak of the task; what its own model is and does stands in its lesson and figures.
OF_THE_TASK = ("source", "answers", "data", "objective", "regularisers", "licence", "table")
REACHED = 0.5  # Above it the pattern is there.


def shipped_card(
    task: Task,
    spec: RunSpec,
    variant: Variant | None,
    seeds: Sequence[Figures],
    limits: Mapping[str, float],
    last: Frame,
) -> dict[str, Any]:
    """The card of a model of the catalogue, without the checksum of its weights.

    Args:
        spec: the run that is shipped; seeds: the figures of every seed, the shipped one's among them.
        limits: failures, measured; last: the last frame of the run.
    """
    own = next(figures for figures in seeds if figures["seed"] == spec.seed)
    n_reached = sum(figures["pattern"] > REACHED for figures in seeds)
    texts = task.describe(Description(spec, own, tuple(seeds), limits, n_reached))
    if variant is not None:
        texts = {name: texts[name] for name in OF_THE_TASK if name in texts}
        texts |= {"title": _joined(task.title, variant.title), "summary": variant.lesson, "not_to_claim": NOT_TO_CLAIM}
    name = task.name if variant is None else f"{task.name}-{variant.name}"
    return {
        "name": name,
        **({} if variant is None else {"variant_of": task.name, "variant": described(variant)}),
        "title": task.title,
        "licence": "MIT",
        **texts,
        **structure(task, spec, last.tensors or {}),
        "training": training(task, spec, last),
        "columns": [asdict(column) for column in task.columns],
        "figures": {"seeds": list(seeds), "n_reached": n_reached},
        "limits": dict(limits),
    }


def trained_card(spec: RunSpec, last: Frame) -> dict[str, Any]:
    """The card of a model that somebody trained by themselves: what it is, not how well it does beyond its own run."""
    task = TASKS[spec.task]
    figures = {"seed": spec.seed, "held_out": last.held_out, "pattern": last.pattern}
    settings = ", ".join(f"{name} {value}" for name, value in settings_of(spec).items())
    return {
        "name": f"{task.name} ({settings})",
        "trained_of": task.name,
        "title": {language: f"{title} ({settings})" for language, title in task.title.items()},
        "summary": task.title,
        "source": SOURCE_OF_TRAINED,
        "licence": "MIT",
        **structure(task, spec, last.tensors or {}),
        "training": training(task, spec, last),
        "columns": COLUMNS_OF_TRAINED,
        "figures": {"seeds": [figures], "n_reached": int(last.pattern > REACHED)},
        "not_to_claim": NOT_TO_CLAIM,
    }


def structure(task: Task, spec: RunSpec, tensors: Tensors) -> dict[str, Any]:
    """What a reader of the file needs to know to compute with it."""
    options, layer = spec.options, task.reading_head[0]
    return {
        "kind": "taught",
        "task": task.name,
        "n_layers": options.n_layers,
        "n_heads": options.n_heads,
        "d_model": options.d_model,
        "d_head": options.d_head,
        "causal": options.causal,
        "max_tokens": options.max_tokens,
        "reading_head": [min(layer, options.n_layers - 1), min(task.reading_head[1], options.n_heads - 1)],
        "n_parameters": n_parameters(options, tensors),
        "layers": [
            {
                "query_reads": list(place.query_reads),
                "key_reads": list(place.key_reads),
                "writes": place.writes,
                "window": place.window,
                "mlp": bool(options.mlp),
            }
            for place in options.layers()
        ],
        "positions": options.positions,
        "share": options.share,
        "tokenizer": task.tokenizer,
        "prefix": list(task.prefix),
        "readouts": [
            {
                "tensor": readout.tensor,
                "reads": list(readout.reads),
                "after": readout.after,
                "answers": None if readout.answers is None else list(readout.answers),
                "at": readout.at,
            }
            for readout in task.readouts(options)
        ],
        "ask": {"token": task.ask},
        "vocabulary": list(task.vocabulary),
        "unknown": task.unknown,
        "pronouns": list(task.pronouns),
    }


def n_parameters(options: Options, tensors: Tensors) -> int:
    """How many numbers the model has; one that serves as two counts once."""
    twice = {"none": (), "qk": ("w_k",), "kv": ("w_v",)}[options.share]
    return int(sum(tensor.size for name, tensor in tensors.items() if not name.endswith(twice or ("no such",))))


def training(task: Task, spec: RunSpec, last: Frame) -> dict[str, Any]:
    """How the run was made; with it anybody can make it again."""
    recipe = task.training
    decay = f", weight decay {recipe.score_decay:g} on W_Q and W_K only" if recipe.score_decay else ", no weight decay"
    return {
        "seed": spec.seed,
        "steps": spec.n_steps,
        "learning_rate": spec.learning_rate,
        "optimiser": f"AdamW, learning rate {spec.learning_rate:g} falling along half a cosine{decay}",
        "batch": recipe.batch,
        "final_loss": None if last.loss is None else round(last.loss, 4),
        "spec": spec.to_json(),
    }


def measured_variant(task: Task, variant: Variant, spec: RunSpec, seeds: Sequence[Figures]) -> dict[str, Any]:
    """What a card says of a variant that is measured but not shipped."""
    n_reached = sum(figures["pattern"] > REACHED for figures in seeds)
    return {**described(variant), "spec": spec.to_json(), "figures": {"seeds": list(seeds), "n_reached": n_reached}}


def described(variant: Variant) -> dict[str, Any]:
    return {"name": variant.name, "title": dict(variant.title), "lesson": dict(variant.lesson)}


def reached(spec: RunSpec) -> tuple[int, int] | None:
    """In how many of how many seeds such runs reached the pattern, by the cards; None if that was not measured."""
    return _reached().get(_settings(spec))


def settings_of(spec: RunSpec) -> dict[str, Any]:
    """The seed, and everything in which the run differs from its task's recipe."""
    task = TASKS[spec.task]
    changed = {
        field.name: getattr(spec.options, field.name)
        for field in fields(Options)
        if getattr(spec.options, field.name) != getattr(task.options, field.name)
    }
    if spec.n_steps != task.training.n_steps:
        changed["n_steps"] = spec.n_steps
    if spec.learning_rate != task.training.learning_rate:
        changed["learning_rate"] = spec.learning_rate
    if spec.shuffled_labels:
        changed["shuffled_labels"] = True
    if spec.own:
        changed["own_sentences"] = len(spec.own)
    return {"seed": spec.seed, **changed}


@cache
def _reached() -> dict[RunSpec, tuple[int, int]]:
    found: dict[RunSpec, tuple[int, int]] = {}
    for card in models():
        if card.details.get("kind") != "taught" or "spec" not in card.details["training"]:
            continue
        told = [(card.details["training"]["spec"], card.details["figures"])]
        told += [(each["spec"], each["figures"]) for each in card.details.get("measured", ())]
        for facts, figures in told:
            found[_settings(RunSpec.from_json(facts))] = (figures["n_reached"], len(figures["seeds"]))
    return found


def _settings(spec: RunSpec) -> RunSpec:
    """The same run with seed 0: what all seeds have in common."""
    return RunSpec.from_json({**spec.to_json(), "seed": 0})


def _joined(title: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    return {"en": f"{title['en']} ({more['en']})", "zh": f"{title['zh']}（{more['zh']}）"}


SOURCE_OF_TRAINED = {
    "en": "Trained by a reader, from nothing, on the sentences of its task.",
    "zh": "由读者从零训练而成，训练句子来自该任务。",
}
COLUMNS_OF_TRAINED = [
    {"path": "held_out", "label": {"en": "held out, right", "zh": "未见过的句子，答对"}, "is_share": True},
    {"path": "pattern", "label": {"en": "pattern", "zh": "图样指标"}, "is_share": False},
]
NOT_TO_CLAIM = {
    "en": [
        "That one run tells what such a model does: other seeds may end otherwise.",
        "That attention explains an answer.",
        "That large models do the same.",
    ],
    "zh": [
        "不能由一次训练断定这类模型会怎样：换一个种子，结果可能不同。",
        "不能说注意力就是答案的解释。",
        "不能说大模型也是这样。",
    ],
}
