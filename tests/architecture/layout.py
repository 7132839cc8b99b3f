"""Who may import whom, as DESIGN.md says: read from the sources, so that nothing has to run."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NEVER_READ = ("import_module", "__import__")  # Imports whose name is only known when they run.


@dataclass(frozen=True)
class Rule:
    """What the files of a pattern may import: packages (with all inside) or modules, and whether all of the stdlib."""

    pattern: str
    allowed: tuple[str, ...]
    stdlib: bool = True
    forbidden: tuple[str, ...] = ()


UI = ("ui", "attention_core", "numpy", "plotly", "streamlit")
TEACH = ("attention_core.teach",)
# What reads real transformers, through torch and transformers; whoever wants one imports it when one is asked for.
REAL = (
    *("attention_core", "numpy", "jaxtyping", "safetensors.SafetensorError"),
    *("torch", "transformers", "huggingface_hub", "PIL"),
)
# What needs torch, which showing must not; the rest of `teach` says what can be trained, and showing may read it.
TRAINS = tuple(f"attention_core.teach.{name}" for name in ("model", "trainer", "ship", "worker", "__main__"))
TRAINING = tuple(f"{module.replace('.', '/')}.py" for module in TRAINS)

# The first rule that fits a file holds for it.
RULES = (
    *(Rule(name, ("attention_core", "numpy", "jaxtyping", "torch", "safetensors")) for name in TRAINING),
    Rule(
        "attention_core/teach/**",
        ("attention_core", "numpy", "jaxtyping", "safetensors.numpy"),
        forbidden=TRAINS,
    ),
    Rule("attention_core/capture/**", REAL, forbidden=TEACH),
    Rule(
        "attention_core/**",
        ("attention_core", "numpy", "jaxtyping", "safetensors.numpy", "safetensors.SafetensorError"),
        forbidden=TEACH,
    ),
    Rule("ui/server.py", (*UI, "starlette"), forbidden=TRAINS),
    Rule("ui/films.py", (*UI, "starlette"), forbidden=TRAINS),
    Rule("ui/qr.py", (*UI, "segno"), forbidden=TRAINS),
    Rule("ui/written.py", (*UI, "starlette"), forbidden=TRAINS),
    Rule("ui/**", UI, forbidden=TRAINS),
    Rule("pages/**", ("ui", "attention_core", "streamlit", "__future__"), stdlib=False),
    Rule("app.py", ("ui", "streamlit", "starlette")),
)

# Names of Streamlit that stand for what outlives a run, and the one file that may use them.
OWNERS = {"session_state": "ui/selection.py", "cache_data": "ui/caches.py", "cache_resource": "ui/caches.py"}


def violations(root: Path) -> list[str]:
    """Every breach of the layout below `root`, as "file:line what"."""
    found = []
    for path, rule in sources(root):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = path.relative_to(root).as_posix()
        breaches = [*_imports(tree, name, rule), *_owned(tree, name), *_unreadable(tree)]
        if name.startswith("pages/"):
            breaches += [*_prose(tree), *_arithmetic(tree)]
        found += [f"{name}:{line} {what}" for line, what in sorted(breaches)]
    return found


def sources(root: Path) -> Iterator[tuple[Path, Rule]]:
    """Every file with the rule that holds for it."""
    for folder in ("attention_core", "ui", "pages"):
        for path in sorted((root / folder).rglob("*.py")):
            yield path, _rule_of(path.relative_to(root).as_posix())
    if (root / "app.py").is_file():
        yield root / "app.py", _rule_of("app.py")


def _rule_of(name: str) -> Rule:
    return next(rule for rule in RULES if name == rule.pattern or name.startswith(rule.pattern.removesuffix("**")))


def _imports(tree: ast.AST, name: str, rule: Rule) -> Iterator[tuple[int, str]]:
    for line, module in _modules(tree, name):
        is_standard = rule.stdlib and module.split(".")[0] in sys.stdlib_module_names
        if not (is_standard or _is_within(module, rule.allowed)) or _is_within(module, rule.forbidden):
            yield line, f"imports {module}"


def _modules(tree: ast.AST, name: str) -> Iterator[tuple[int, str]]:
    """What is imported, by full name: `from a import b` reads as a.b, relative ones from where the file stands."""
    package = name_of(name).split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def name_of(file: str) -> str:
    """ "ui/pictures/steps.py" → "ui.pictures.steps"."""
    return file.removesuffix(".py").replace("/", ".")


def _is_within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, alias.name) for alias in node.names)


def _owned(tree: ast.AST, name: str) -> Iterator[tuple[int, str]]:
    for line, used in _names(tree):
        if OWNERS.get(used, name) != name:
            yield line, f"uses {used}"


def _unreadable(tree: ast.AST) -> Iterator[tuple[int, str]]:
    yield from ((line, f"uses {used}") for line, used in _names(tree) if used in NEVER_READ)


def _prose(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Literals that a reader would read: with a space between words, or with letters outside ASCII."""
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in documentation else None
        if isinstance(text, str) and re.search(r"\w\s|\s\w|[^\W\d_a-zA-Z]", text):
            yield node.lineno, f"says {text!r}"


def _arithmetic(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Sums and products; `folder / "file"` is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.AugAssign) and not isinstance(node.op, ast.BitOr) and not _is_path(node):
            yield node.lineno, f"computes {ast.unparse(node)}"


def _is_path(node: ast.BinOp | ast.AugAssign) -> bool:
    # folder / "file", folder / f"{name}.py"
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return False
    return isinstance(node.right, ast.JoinedStr) or isinstance(getattr(node.right, "value", None), str)
