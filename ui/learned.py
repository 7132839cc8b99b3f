"""Names for trained models that say all that the training depends on: "run:pronoun~seed=17~d_head=3".

What the name leaves out is as in the task's recipe. So a name, in a link or on a screen, says what the model is, and
whoever reads it can train the same one again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any
from urllib.parse import unquote

from attention_core import AttentionError
from attention_core.teach.runs import Options, RunSpec
from attention_core.teach.tasks import TASKS, Task

PREFIX = "run:"
EVERYWHERE = "all"  # A layer without a window.
DEFAULTS = Options()
READABLE = " ,.'!?。，！？"  # Written as they are in sentences.


def name_of(spec: RunSpec) -> str:
    """The name of the model that this run trains."""
    task = TASKS[spec.task]
    parts = [task.name, f"seed={spec.seed}"]
    parts += [f"{name}={written(value)}" for name, value in changed(spec).items()]
    parts += [f"own={_quoted(sentence)}" for sentence in spec.own]
    return PREFIX + "~".join(parts)


def spec_of(name: str) -> RunSpec:
    """The run that a name speaks of.

    Raises:
        ValueError: it is no such name, or no such run can be made.
    """
    task_name, *parts = name.removeprefix(PREFIX).split("~")
    if not name.startswith(PREFIX) or task_name not in TASKS:
        raise ValueError(name)
    task, pairs = TASKS[task_name], [part.partition("=")[::2] for part in parts]
    given = {key: text for key, text in pairs if key != "own"}
    own = tuple(unquote(text) for key, text in pairs if key == "own")
    try:
        options = {key: read(key, given.pop(key)) for key in option_names() if key in given}
        spec = replace(task.spec(), options=with_options(task, options), own=own)
        spec = replace(spec, **{key: _RUN[key](text) for key, text in given.items()})
        task.check(spec)
    except (AttentionError, KeyError, TypeError) as error:
        raise ValueError(name) from error
    return spec


def changed(spec: RunSpec) -> dict[str, Any]:
    """By name, everything in which the run differs from its task's recipe; seed and own sentences apart."""
    task = TASKS[spec.task]
    found = changed_options(task, spec.options)
    if spec.n_steps != task.training.n_steps:
        found["n_steps"] = spec.n_steps
    if spec.learning_rate != task.training.learning_rate:
        found["learning_rate"] = spec.learning_rate
    if spec.shuffled_labels:
        found["shuffled_labels"] = True
    return found


def changed_options(task: Task, options: Options) -> dict[str, Any]:
    """By name, the options that are not as in the task's recipe."""
    found = {name: getattr(options, name) for name in option_names()}
    found = {name: value for name, value in found.items() if value != getattr(task.options, name)}
    if options.windows == with_options(task, {"n_layers": options.n_layers}).windows:
        found.pop("windows", None)  # It follows from the number of layers.
    return found


def with_options(task: Task, changes: Mapping[str, Any]) -> Options:
    """The recipe's options with these changes; with another number of layers its windows fall away.

    Raises:
        BadSpec: they do not go together.
    """
    n_layers = changes.get("n_layers", task.options.n_layers)
    windows = task.options.windows if n_layers == task.options.n_layers else ()
    return replace(task.options, **{"windows": windows, **changes})


def option_names() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Options))


def written(value: Any) -> str:
    """An option's value as a name or an address has it."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return ",".join(EVERYWHERE if each is None else str(each) for each in value)
    if isinstance(value, float):
        return short if float(short := f"{value:.10g}") == value else repr(value)
    return str(value)


def read(option: str, text: str) -> Any:
    """An option's value from what `written` gave.

    Raises:
        ValueError: no such value.
    """
    kind = type(getattr(DEFAULTS, option))
    if kind is tuple:
        return tuple(None if each == EVERYWHERE else int(each) for each in text.split(",") if each)
    return _switch(text) if kind is bool else kind(text)


def choices_of(task: Task) -> dict[str, tuple[Any, ...]]:
    """What a reader may choose, by option; the recipe's own value is always among it."""
    found = {}
    for name, values in task.choices.items():
        own = getattr(task.options, name)
        found[name] = values if own in values else (own, *values)
    return found


def _switch(text: str) -> bool:
    return {"0": False, "1": True}[text]


def _quoted(sentence: str) -> str:
    """Letters of every language stay as they are; what a name is made of does not ("~" → "%7E")."""

    def hidden(mark: str) -> str:
        return "".join(f"%{byte:02X}" for byte in mark.encode(errors="replace"))

    return "".join(each if each.isalnum() or each in READABLE else hidden(each) for each in sentence)


_RUN: dict[str, Callable[[str], Any]] = {
    "seed": int,
    "n_steps": int,
    "learning_rate": float,
    "shuffled_labels": _switch,
}
