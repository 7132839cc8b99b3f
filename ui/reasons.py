"""Why a run did not reach its pattern: what can be read off its settings. Reasons, not proofs."""

from __future__ import annotations

from dataclasses import replace

from attention_core.teach.card import reached
from attention_core.teach.runs import RunSpec
from attention_core.teach.tasks import TASKS
from ui.translations import Words

MOST = 2  # Reasons given.


def why(spec: RunSpec, words: Words) -> str:
    """One or two sentences on what kept this run from its pattern."""
    if spec.learning_rate == 0:
        return words("lesson.why_still")
    if spec.shuffled_labels:
        return words("lesson.why_shuffled")
    found = [*_options(spec, words)[:1], *_training(spec, words)]
    return " ".join(found[:MOST]) if found else words("lesson.why_seed")


def _options(spec: RunSpec, words: Words) -> list[str]:
    """What the options have to do with it: nothing where most runs with them, trained as in the recipe, get there."""
    task = TASKS[spec.task]
    variants = [variant for variant in task.variants if variant.options == spec.options != task.options]
    n_steps = next((variant.n_steps for variant in variants if variant.n_steps), task.training.n_steps)
    usual = replace(spec, n_steps=n_steps, learning_rate=task.training.learning_rate, own=())
    measured = reached(usual)
    if measured is not None and 2 * measured[0] > measured[1]:
        return []
    return [variant.lesson[words.language] for variant in variants] or _sizes(spec, words)


def _sizes(spec: RunSpec, words: Words) -> list[str]:
    options, recipe = spec.options, TASKS[spec.task].options
    reasons = {
        "layers": options.n_layers < recipe.n_layers,
        "qk": options.share == "qk" != recipe.share,
        "kv": options.share == "kv" != recipe.share,
        "positions": options.positions == "none" != recipe.positions,
        "twins": options.twin_heads and not recipe.twin_heads,
        "heads": options.n_heads < recipe.n_heads,
        "narrow": options.d_head < recipe.d_head,
        "model": options.d_model < recipe.d_model,
        "keys": options.key_reads != recipe.key_reads,
        "mlp": options.mlp > recipe.mlp,
    }
    sizes = {"layers": options.n_layers, "recipe_layers": recipe.n_layers, "d_head": options.d_head}
    sizes |= {"recipe_d_head": recipe.d_head, "d_model": options.d_model, "recipe_d_model": recipe.d_model}
    return [words(f"lesson.why_{name}", **sizes) for name, is_so in reasons.items() if is_so]


def _training(spec: RunSpec, words: Words) -> list[str]:
    recipe = TASKS[spec.task].training
    found = []
    if spec.n_steps < recipe.n_steps:
        found.append(words("lesson.why_steps", steps=spec.n_steps, recipe=recipe.n_steps))
    if spec.learning_rate != recipe.learning_rate:
        found.append(words("lesson.why_rate", rate=spec.learning_rate, recipe=recipe.learning_rate))
    return found
