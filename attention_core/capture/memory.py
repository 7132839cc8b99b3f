"""Whether what a model needs fits into the memory that is left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from attention_core.errors import UnsupportedModel

MEMINFO = Path("/proc/meminfo")
# Where Linux tells the limits of the group of processes that this one is in: version 2, then version 1.
GROUPS = (
    (Path("/sys/fs/cgroup"), "memory.max", "memory.current", "inactive_file"),
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
SPARE = 64_000_000  # What reading a model takes beside its weights.


def available() -> int:
    """The bytes that this process may still take."""
    return min([*_of_the_machine(), *_of_the_group()])


def must_fit(needed: int) -> None:
    """Refuse what does not fit.

    Raises:
        UnsupportedModel: more than `available()` bytes are needed.
    """
    left = available()
    if needed + SPARE > left:
        raise UnsupportedModel(
            f"the model needs {size(needed + SPARE)} of memory and {size(left)} are available: choose a smaller one, "
            "or a machine with more memory",
            kind="too_large",
            needed=needed + SPARE,
            available=left,
        )


def size(n_bytes: int) -> str:
    """A number of bytes as a person reads it: "1.5 GB"."""
    for unit, power in (("GB", 9), ("MB", 6)):
        if n_bytes >= 10**power:
            return f"{n_bytes / 10**power:,.1f} {unit}"
    return f"{n_bytes / 1000:,.1f} kB"


def _of_the_machine() -> Iterator[int]:
    try:
        facts = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        yield int(facts["MemAvailable"].split()[0]) * 1024
    except (OSError, LookupError, ValueError):  # Not Linux.
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _of_the_group() -> Iterator[int]:
    for folder, limit, used, inactive in GROUPS:
        try:
            most, taken = int((folder / limit).read_text()), int((folder / used).read_text())
            facts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            # Pages of files that nobody has looked at lately are given back on demand.
            yield max(0, most - taken + int(facts.get(inactive, 0)))
        except (OSError, ValueError):  # No such group, or "max": no limit.
            continue
