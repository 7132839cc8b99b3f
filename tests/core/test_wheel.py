"""The wheel by itself: installed away from the repository, beside nothing but what it says it needs, it runs."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SOURCES = ("pyproject.toml", "README.md", "LICENSE")
TRACE = """
import sys
from pathlib import Path
import attention_core as ac
assert Path(ac.__file__).is_relative_to(sys.argv[1]), ac.__file__
trace = ac.load("pronoun").trace("The animal didn't cross the street because it was too tired.")
it = [token.text for token in trace.tokens].index("it")
layer, head = trace.card.reading_head
print(trace.tokens[int(trace.layers[layer].weights(head)[it].argmax())].text, trace.check(full=True).passed)
"""


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done


def pip(*arguments: object) -> None:
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--no-cache-dir", *arguments)


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built offline from a copy (building writes beside the sources)."""
    folder = tmp_path_factory.mktemp("build")
    source = shutil.copytree(
        root / "attention_core", folder / "source" / "attention_core", ignore=shutil.ignore_patterns("__pycache__")
    ).parent
    for name in SOURCES:
        shutil.copy(root / name, source)
    pip("wheel", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, source)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def target(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder into which the wheel has been installed."""
    folder = tmp_path_factory.mktemp("target")
    pip("install", "--no-index", "--no-deps", "--target", folder, wheel)
    return folder


def needed(requirements: list[str] | None) -> set[str]:
    """The distributions that these requirements stand for, with all that they need in turn (without extras)."""
    plain = [each for each in requirements or [] if "extra ==" not in each]
    names = {re.match(r"[\w.-]+", each).group() for each in plain}
    return names.union(*(needed(importlib.metadata.requires(name)) for name in names))


@pytest.fixture(scope="module")
def dependencies(target: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of links to exactly the packages that the wheel says it needs."""
    folder = tmp_path_factory.mktemp("dependencies")
    (installed,) = importlib.metadata.distributions(path=[str(target)])
    for name in needed(installed.requires):
        distribution = importlib.metadata.distribution(name)
        for top in {path.parts[0] for path in distribution.files if path.parts[0] != ".."}:
            (folder / top).symlink_to(distribution.locate_file(top))
    return folder


def test_the_installed_wheel_traces_the_headline(target: Path, dependencies: Path, tmp_path: Path) -> None:
    paths = os.pathsep.join(map(str, (target, dependencies)))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    # -S: no site-packages, so nothing is there that the wheel does not name.
    done = run(sys.executable, "-S", "-c", TRACE, target, cwd=tmp_path, env=environment)
    assert done.stdout == "animal True\n"


def test_and_without_its_dependencies_it_would_not(target: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(target), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-S", "-c", TRACE, str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert "ModuleNotFoundError: No module named 'numpy'" in done.stderr


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path, root: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    package = root / "attention_core"
    wanted = [path for pattern in ("*.py", "*.typed", "*.json", "*.safetensors") for path in package.rglob(pattern)]
    assert {path.relative_to(root).as_posix() for path in wanted} <= names
    assert {name.split("/")[0] for name in names} == {"attention_core", f"{wheel.name.rsplit('-', 3)[0]}.dist-info"}
