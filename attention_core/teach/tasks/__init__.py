"""The tasks that small models are taught, by name. Importing this imports no torch; `trainer` alone needs that."""

from __future__ import annotations

from attention_core.teach.tasks import dish, induction, pronoun, two_heads
from attention_core.teach.tasks import open as pronoun_open
from attention_core.teach.tasks.task import Scene, Task, Variant

__all__ = ["TASKS", "Scene", "Task", "Variant"]

TASKS: dict[str, Task] = {
    module.TASK.name: module.TASK for module in (pronoun, pronoun_open, dish, induction, two_heads)
}
