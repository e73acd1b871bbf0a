"""The graph of imports of ``fastlb/`` has no circle, wherever an import stands."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
Graph = dict[str, dict[str, int]]


def modules(root: Path) -> dict[str, Path]:
    """Return the files of the package by module name, kernels left out."""
    found = {}
    for path in sorted((root / "fastlb").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if "kernels" not in parts:
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(name: str, path: Path, known: dict[str, Path]) -> dict[str, int]:
    """Return what a file imports and in which line.

    In functions and for type checkers as well, and what a package loads by name on first use.
    """
    text = path.read_text(encoding="utf-8")
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    lazy = path.name == "__init__.py" and "import_module" in text
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(text)):
        named: list[str] = []
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, *filter(None, [node.module])]) if node.level else node.module
            inside = [f"{base}.{alias.name}" for alias in node.names]
            named = [full if full in known else str(base) for full in inside]
        elif isinstance(node, ast.Constant) and lazy:
            named = [f"{package}.{node.value}"] if isinstance(node.value, str) else []
        for module in named:
            if module in known and module != name:
                found.setdefault(module, node.lineno)
    return found


def circles(graph: Graph) -> list[str]:
    """Return a circle through each import that closes one, as text, by a search in depth."""
    state: dict[str, str] = {}
    found: list[str] = []

    def visit(module: str, path: list[str]) -> None:
        state[module] = "open"
        for other in graph[module]:
            if state.get(other) == "open":
                circle = [*path[path.index(other) :], other]
                pairs = pairwise(circle)
                found.append(" -> ".join(f"{a}:{graph[a][b]}" for a, b in pairs) + f" -> {other}")
            elif other not in state:
                visit(other, [*path, other])
        state[module] = "done"

    for module in graph:
        if module not in state:
            visit(module, [module])
    return found


def graph_of(root: Path) -> Graph:
    known = modules(root)
    return {name: imported(name, path, known) for name, path in known.items()}


def test_imports_have_no_circle() -> None:
    graph = graph_of(ROOT)
    assert len(graph) > 150
    assert not circles(graph)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("from .two import b", "from .one import a"),
        ("def f():\n    from fastlb.part import two", "from . import one"),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .two import b",
            "import fastlb.part.one",
        ),
    ],
)
def test_a_circle_is_seen(tmp_path: Path, first: str, second: str) -> None:
    part = tmp_path / "fastlb" / "part"
    part.mkdir(parents=True)
    for folder in (part.parent, part):
        (folder / "__init__.py").touch()
    (part / "one.py").write_text(first)
    (part / "two.py").write_text(second)
    (told,) = circles(graph_of(tmp_path))
    assert told.count("fastlb.part.one") + told.count("fastlb.part.two") == 3


def test_a_name_that_is_loaded_on_first_use_counts(tmp_path: Path) -> None:
    package = tmp_path / "fastlb"
    package.mkdir()
    (package / "__init__.py").write_text("import importlib\nHOME = {'one': ('a',)}\nimport_module")
    (package / "one.py").write_text("from . import a")
    assert len(circles(graph_of(tmp_path))) == 1


def test_importing_a_name_from_the_package_is_importing_all_of_it(tmp_path: Path) -> None:
    package = tmp_path / "fastlb"
    package.mkdir()
    (package / "__init__.py").write_text("from .one import a")
    (package / "one.py").write_text("def f():\n    from fastlb import a")
    assert circles(graph_of(tmp_path)) == ["fastlb:1 -> fastlb.one:2 -> fastlb"]
