"""Where the app's sentences are used: every key of assets/i18n must be asked for, every one asked for must be there.

Python asks with words("section.key"), words(f"section.{part}") or a default like label="section.key". A picture gets a
whole section, words.section("explore"), and its JavaScript asks with strings.key, strings["key"], strings[`k_${part}`].
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

LANGUAGES = ("en", "zh")
Sections = Mapping[str, Mapping[str, str]]

# A template whose fixed part is the section alone would fit all of its keys: here is which tuple fills its gap.
# Those with a longer fixed part ("notes.field_…") fit the keys that begin so.
VALUES = {
    "nav.*": ("ui/main.py", "PAGE_NAMES"),
    "controls.*": ("ui/addresses.py", "LOOKS"),
    "card.*": ("ui/card.py", "TEXTS"),
}
KNOWN_VALUES = {"check.*": ("plain_forward",)}  # The references of attention_core, with _ for -.
FILES = (".py", ".js", ".css", ".toml", ".html", ".json")  # "steps.py" is a file, not a key.


def problems(root: Path) -> list[str]:
    """Everything that is wrong with the translations of the app below `root`."""
    root = root.resolve()
    sections = {lang: read(root, lang) for lang in LANGUAGES}
    first = sections[LANGUAGES[0]]
    found = [problem for lang in LANGUAGES for problem in empty(lang, sections[lang])]
    found += [problem for lang in LANGUAGES[1:] for problem in unequal(first, sections[lang], lang)]
    asked = [*asked_by_python(root, first), *asked_by_pictures(root, first)]
    found += [f"{where} asks for {pattern}, which is not there" for where, pattern, keys in asked if not keys]
    used = {key for _, _, keys in asked for key in keys}
    return found + [f"{key} is never used" for key in addresses(first) if key not in used] + partless(root, first)


def read(root: Path, language: str) -> Sections:
    return tomllib.loads((root / "assets" / "i18n" / f"{language}.toml").read_text(encoding="utf-8"))


def addresses(sections: Sections) -> list[str]:
    return [f"{section}.{key}" for section, texts in sections.items() for key in texts]


def text_at(sections: Sections, address: str) -> str:
    section, key = address.split(".")
    return sections[section][key]


def empty(language: str, sections: Sections) -> Iterator[str]:
    yield from (f"{language}: {key} is empty" for key in addresses(sections) if not text_at(sections, key).strip())


def unequal(first: Sections, other: Sections, language: str) -> Iterator[str]:
    """Keys that stand in one language only, and placeholders that differ."""
    here, there = set(addresses(first)), set(addresses(other))
    yield from (f"{language} lacks {key}" for key in sorted(here - there))
    yield from (f"{language} alone has {key}" for key in sorted(there - here))
    for key in sorted(here & there):
        one, two = placeholders(text_at(first, key)), placeholders(text_at(other, key))
        if one != two:
            yield f"{language}: {key} has the placeholders {sorted(two)}, not {sorted(one)}"


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


Asked = tuple[str, str, list[str]]  # Where, what pattern, which keys it fits.


def asked_by_python(root: Path, sections: Sections) -> Iterator[Asked]:
    known = addresses(sections)
    looks_like_a_key = re.compile(rf"({'|'.join(sections)})\.[a-z]\w*")
    for name, node in nodes(root):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and looks_like_a_key.fullmatch(node.value):
            if not node.value.endswith(FILES):
                yield name, node.value, fitting(node.value, known)
        elif is_call_of_words(node) and isinstance(node.args[0], ast.JoinedStr):
            pieces = node.args[0].values
            pattern = "".join(piece.value if isinstance(piece, ast.Constant) else "*" for piece in pieces)
            for each in [pattern.replace("*", value) for value in values(root, pattern)]:
                is_open = each.split(".")[1] == "*"  # Not in VALUES: it would use up the whole section.
                yield name, each, [] if is_open else fitting(each, known)


def values(root: Path, pattern: str) -> tuple[str, ...]:
    """What stands in the gap of a pattern; * for anything."""
    if pattern not in VALUES:
        return KNOWN_VALUES.get(pattern, ("*",))
    file, name = VALUES[pattern]
    tree = ast.parse((root / file).read_text(encoding="utf-8"))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name]
    return ast.literal_eval(assigned[0].value)


def partless(root: Path, sections: Sections) -> list[str]:
    """Calls that leave a placeholder of their sentence unfilled."""
    found = []
    for name, node in nodes(root):
        if (
            is_call_of_words(node)
            and isinstance(node.args[0], ast.Constant)
            and node.args[0].value in addresses(sections)
        ):
            given = {keyword.arg for keyword in node.keywords}
            left = placeholders(text_at(sections, node.args[0].value)) - given
            if left and None not in given:
                found.append(f"{name} leaves {sorted(left)} of {node.args[0].value} unfilled")
    return found


def nodes(root: Path) -> Iterator[tuple[str, ast.AST]]:
    for folder in ("ui", "pages"):
        for path in sorted((root / folder).rglob("*.py")):
            name, tree = path.relative_to(root).as_posix(), ast.parse(path.read_text(encoding="utf-8"))
            pieces = {id(piece) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for piece in node.values}
            yield from ((name, node) for node in ast.walk(tree) if id(node) not in pieces)


def is_call_of_words(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "words" and bool(node.args)
    )


def asked_by_pictures(root: Path, sections: Sections) -> Iterator[Asked]:
    """What each component's modules ask for; a shared module's key must stand in a section of those that load it."""
    components = root / "assets" / "components"
    loaded_by: dict[Path, list[str]] = {}
    for section in handed_over(root):
        for module in modules(components / section / f"{section}.js"):
            loaded_by.setdefault(module, []).append(section)
    for module, owners in loaded_by.items():
        known = [f"{section}.{key}" for section in owners for key in sections.get(section, ())]
        for pattern, is_sure in asked_by_script(module.read_text(encoding="utf-8")):
            keys = fitting(f"*.{pattern}", known)
            if keys or is_sure:
                yield module.relative_to(root).as_posix(), pattern, keys


def handed_over(root: Path) -> list[str]:
    """The sections that go to a component whole; the component has the section's name."""
    calls = [node for _, node in nodes(root) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return sorted({call.args[0].value for call in calls if call.func.attr == "section" and call.args})


def modules(entry: Path, seen: frozenset[Path] = frozenset()) -> frozenset[Path]:
    """A script and every script that it loads."""
    if entry in seen or not entry.is_file():
        return seen
    seen |= {entry}
    for target in re.findall(r"""(?:from|import)\s*\(?\s*["'](\.[^"']+)["']""", entry.read_text(encoding="utf-8")):
        seen = modules((entry.parent / target).resolve(), seen)
    return seen


def asked_by_script(code: str) -> Iterator[tuple[str, bool]]:
    """Patterns of keys, and whether they are keys for sure (behind `strings`) or perhaps (a short literal)."""
    code = re.sub(r"/\*.*?\*/|(?<![:\"'`])//[^\n]*", "", code, flags=re.DOTALL)
    yield from ((key, True) for key in re.findall(r"\bstrings\??\.([a-z]\w*)", code))
    for inside in re.findall(r"\bstrings(?:\?\.)?\[((?:[^\[\]]|\[[^\]]*\])*)\]", code):
        yield from ((pattern, True) for pattern in _literals(_without_conditions(inside)))
    for names in re.findall(r"\{([^{}]*)\}\s*=\s*[\w.]*\bstrings\b(?![.\[])", code):
        yield from ((key, True) for key in re.findall(r"(\w+)\s*(?::\s*\w+)?\s*(?:,|$)", names.strip()))
    yield from ((pattern, False) for pattern in _literals(code))


def _without_conditions(code: str) -> str:
    # In `strings[side === "askers" ? "ribbon_name" : …]` the first literal is no key.
    return re.sub(r"[!=]==?\s*[\"'][^\"']*[\"']", "", code)


def _literals(code: str) -> Iterable[str]:
    """Names in quotes; in `…_${part}` the gap reads as *, and something else must be left."""
    names = re.findall(r"[\"'`]([a-z]\w*)[\"'`]", code)
    templates = (re.sub(r"\$\{[^{}]*\}", "*", each) for each in re.findall(r"`([^`]*\$\{[^`]*)`", code))
    return [*names, *(each for each in templates if re.fullmatch(r"[\w*]*[a-z]{2}[\w*]*", each))]


def fitting(pattern: str, known: list[str]) -> list[str]:
    """The keys that a pattern with * for its gaps fits."""
    wanted = re.compile(re.escape(pattern).replace(r"\*", r"\w*"))
    return [key for key in known if wanted.fullmatch(key)]
