"""What the Learn page trains: the reader's choice, the runs that follow from it, and what they are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from attention_core.teach.runs import BadSentence, RunSpec
from attention_core.teach.tasks import TASKS, Task
from attention_core.teach.tasks.task import MAX_OWN, MAX_STEPS
from ui import learned
from ui.translations import Words

FIRST = next(iter(TASKS))
OPTIONS = tuple(name for name in learned.option_names() if any(name in task.choices for task in TASKS.values()))
FIELDS = ("task", "seed", "n_steps", "learning_rate", "shuffled_labels", "versus")
NOTHING = "nothing"  # The choice to compare with nothing.
MAX_OWN_CHARACTERS = 4000
MAX_SEED = 2**31 - 1
MAX_RATE = 0.1

# The options whose values have words of their own, and the switches that do when they are on.
WORDED = ("share", "positions", "key_reads")
SWITCHES = ("causal", "twin_heads", "supervised", "shuffled_table", "shuffled_labels")
SAID = ("n_layers", "n_heads", "d_model", "d_head", "mlp", "windows", "n_steps", "learning_rate", *WORDED)


@dataclass(frozen=True)
class Lesson:
    """What a reader has chosen to train.

    Attributes:
        task, seed, n_steps, learning_rate, shuffled_labels: as in `RunSpec`. options: by name, those on offer.
        own: sentences as they were typed, one a line. versus: what the second run changes, see `contrasts`.
    """

    task: str
    seed: int
    n_steps: int
    learning_rate: float
    shuffled_labels: bool
    own: str
    versus: str
    options: Mapping[str, Any]


def fields_of(spec: RunSpec) -> dict[str, Any]:
    """The choice that makes this run, by field."""
    return {
        "task": spec.task,
        "seed": spec.seed,
        "n_steps": spec.n_steps,
        "learning_rate": spec.learning_rate,
        "shuffled_labels": spec.shuffled_labels,
        "own": "\n".join(spec.own),
        "versus": NOTHING,
        **{name: getattr(spec.options, name) for name in OPTIONS},
    }


def lesson_of(state: Mapping[Any, Any]) -> Lesson:
    """The choice that stands in these fields; what the task does not offer is as in its recipe."""
    task = TASKS[state["task"]]
    chosen = {name: state[name] for name, values in learned.choices_of(task).items() if state[name] in values}
    names = ("task", "seed", "n_steps", "learning_rate", "shuffled_labels", "own", "versus")
    recipe = fields_of(task.spec())  # Stands in where a box was left empty.
    return Lesson(**{name: recipe[name] if state[name] is None else state[name] for name in names}, options=chosen)


def read(query: Mapping[str, str], refuse: Callable[[str, str], None]) -> dict[str, Any]:
    """The fields in an address; what cannot be used is refused, and stays as in the task's recipe."""
    if query.get("task", FIRST) not in TASKS:
        refuse("task", query["task"])
    task = TASKS.get(query.get("task", FIRST), TASKS[FIRST])
    fields = fields_of(task.spec())
    offered = learned.choices_of(task)
    for name in ("seed", "n_steps", "learning_rate", "shuffled_labels", "versus", *OPTIONS):
        if name not in query:
            continue
        try:
            fields[name] = _value(name, query[name], offered)
        except (ValueError, KeyError):
            refuse(name if name in FIELDS else "option", query[name] if name in FIELDS else f"{name}={query[name]}")
    fields["own"] = query.get("own", "")[:MAX_OWN_CHARACTERS]
    if fields["versus"] not in contrasts(run(lesson_of(fields))):
        refuse("versus", fields["versus"])
        fields["versus"] = NOTHING
    return fields


def _value(name: str, text: str, offered: Mapping[str, tuple[Any, ...]]) -> Any:
    match name:
        case "seed":
            return _within(int(text), 0, MAX_SEED)
        case "n_steps":
            return _within(int(text), 1, MAX_STEPS)
        case "learning_rate":
            return _within(float(text), 0.0, MAX_RATE)
        case "shuffled_labels":
            return {"0": False, "1": True}[text]
        case "versus":
            return text
    return {learned.written(value): value for value in offered[name]}[text]


def _within(value: Any, low: Any, high: Any) -> Any:
    if not low <= value <= high:
        raise ValueError(value)
    return value


def address(lesson: Lesson) -> dict[str, str]:
    """The fields of an address that `read` gives back: the usual ones always, options where they differ."""
    spec = run(lesson)
    usual = {"task": spec.task, "seed": spec.seed, "n_steps": spec.n_steps, "learning_rate": spec.learning_rate}
    others = {name: value for name, value in learned.changed(spec).items() if name not in usual}
    found = {name: learned.written(value) for name, value in {**usual, **others}.items()}
    if lesson.versus != NOTHING:
        found["versus"] = lesson.versus
    return found | ({"own": lesson.own} if lesson.own.strip() else {})


def run(lesson: Lesson) -> RunSpec:
    """The run that is chosen, with those of the reader's own sentences that can be trained on."""
    task = TASKS[lesson.task]
    return RunSpec(
        task=task.name,
        options=learned.with_options(task, lesson.options),
        seed=lesson.seed,
        n_steps=lesson.n_steps,
        learning_rate=lesson.learning_rate,
        own=tuple(sentence for sentence, fault in own_sentences(lesson) if fault is None),
        shuffled_labels=lesson.shuffled_labels,
    )


def runs(lesson: Lesson) -> tuple[RunSpec, ...]:
    """The run that is chosen, and the one beside it if there is to be one."""
    first = run(lesson)
    second = contrasts(first).get(lesson.versus)
    return (first,) if second is None else (first, second)


def own_sentences(lesson: Lesson) -> list[tuple[str, BadSentence | None]]:
    """The reader's own sentences, each with what is wrong with it, if anything is."""
    check = TASKS[lesson.task].check_own
    if check is None:
        return []
    found: list[tuple[str, BadSentence | None]] = []
    for sentence in dict.fromkeys(line.strip() for line in lesson.own.splitlines() if line.strip()):
        try:
            check(sentence)
        except BadSentence as fault:
            found.append((sentence, fault))
            continue
        n_taken = sum(fault is None for _, fault in found)
        found.append((sentence, None if n_taken < MAX_OWN else BadSentence(sentence, "too_many")))
    return found


def contrasts(spec: RunSpec) -> dict[str, RunSpec | None]:
    """What a run can be compared with, by name: nothing, the run with one thing changed, or a variant of its task."""
    task = TASKS[spec.task]
    changes: dict[str, dict[str, Any]] = {
        "separate": {"share": "none"},
        "qk": {"share": "qk"},
        "kv": {"share": "kv"},
        "one_layer": {"n_layers": 1},
        "two_layers": {"n_layers": 2},
        "one_head": {"n_heads": 1},
        "two_heads": {"n_heads": 2},
        "no_positions": {"positions": "none"},
        "twins": {"twin_heads": True},
    }
    found: dict[str, RunSpec | None] = {NOTHING: None}
    as_chosen = learned.changed_options(task, spec.options)
    for name, change in changes.items():
        ((option, value),) = change.items()
        if value in learned.choices_of(task).get(option, ()) and value != getattr(spec.options, option):
            found[name] = replace(spec, options=learned.with_options(task, {**as_chosen, **change}))
    found["seed"] = replace(spec, seed=spec.seed + 1 if spec.seed < MAX_SEED else 0)
    if not spec.shuffled_labels:
        found["shuffled"] = replace(spec, shuffled_labels=True)
    if spec.learning_rate:
        found["still"] = replace(spec, learning_rate=0.0)
    return found | _variants(task, spec, [each.options for each in found.values() if each is not None])


def _variants(task: Task, spec: RunSpec, known: Iterable[Any]) -> dict[str, RunSpec | None]:
    others = [variant for variant in task.variants if variant.options not in (spec.options, *known)]
    return {
        variant.name: replace(spec, options=variant.options, n_steps=variant.n_steps or spec.n_steps)
        for variant in others
    }


def contrast_label(name: str, spec: RunSpec, words: Words) -> str:
    """What a reader chooses to compare with."""
    variants = {variant.name: variant.title for variant in TASKS[spec.task].variants}
    return variants[name][words.language] if name in variants else words(f"lesson.versus_{name}")


def task_label(name: str, words: Words) -> str:
    return words("lesson.task_label", name=name, title=TASKS[name].title.get(words.language, name))


def title(spec: RunSpec, words: Words) -> str:
    """What a run is called: its seed, and everything in which it differs from the task's recipe."""
    parts = [words("lesson.said_seed", value=spec.seed)]
    parts += [said(name, value, words) for name, value in learned.changed(spec).items()]
    if spec.own:
        parts.append(words("lesson.said_own", value=len(spec.own)))
    return " · ".join(parts)


def model_label(name: str, words: Words) -> str:
    """What a trained model is called in a menu."""
    spec = learned.spec_of(name)
    return words("controls.label_trained", task=spec.task, title=title(spec, words))


def said(name: str, value: Any, words: Words) -> str:
    """An option and its value in a few words."""
    if name in SWITCHES and value is True:
        return words(f"lesson.switched_{name}")
    if name in SAID:
        return words(f"lesson.said_{name}", value=value_label(name, value, words))
    return f"{name} {learned.written(value)}"


def value_label(name: str, value: Any, words: Words) -> str:
    """What a reader chooses as the value of an option."""
    if name in WORDED:
        return words(f"lesson.value_{name}_{value}")
    return words("lesson.value_none") if value in (0, ()) and name in ("mlp", "windows") else learned.written(value)
