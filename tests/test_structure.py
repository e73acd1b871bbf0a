"""The contracts of the layout: what may import what, and what an import costs."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import FIRST, HERE

ROOT = Path(__file__).resolve().parents[1]
KERNELS = sorted(path for path in (ROOT / "kernels").rglob("*.py") if path.parent.name != "shared")
FACE = sorted(path for path in (ROOT / "fastlb").rglob("*.py") if "kernels" not in path.parts)
# How arrays reach kernels: imported with numba, when the first kernel is that takes them so.
BESIDE_KERNELS = ROOT / "fastlb" / "lending.py"
LIGHT = {"numpy", "llvmlite", "math", "numba", "operator"}


def imported(path):
    """Return the roots of everything a file imports; relative imports as a leading dot."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." if node.level else str(node.module).partition(".")[0]


def at_import_time(path):
    """Return the roots of what importing a file imports, type checking left out."""
    statements = list(ast.parse(path.read_text()).body)
    while statements:
        node = statements.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            statements += node.orelse
        elif isinstance(node, ast.If | ast.Try):
            statements += node.body + node.orelse


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_a_cached_kernel_file_is_self_contained(path):
    assert set(imported(path)) <= LIGHT


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_kernels_are_cached_and_release_the_lock(path):
    decorators = [
        ast.unparse(decorator)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if "njit" in ast.unparse(decorator)
    ]
    assert decorators
    assert set(decorators) <= {"njit(cache=True, nogil=True)"}


@pytest.mark.parametrize(
    "path",
    [path for path in FACE if path != BESIDE_KERNELS],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_face_imports_nothing_heavy_until_it_is_used(path):
    heavy = {"numba", "scipy", "matplotlib", "pandas", "pyarrow", "networkx", "kernels"}
    assert not heavy & set(at_import_time(path))


@pytest.mark.parametrize("path", FACE, ids=lambda path: str(path.relative_to(ROOT)))
def test_kernels_are_reached_through_one_place(path):
    named = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module != "accelerate":
            named += [f"{node.module or ''}.{alias.name}" for alias in node.names]
    assert not [name for name in named if "kernels" in name.split(".")]


def test_the_files_that_workers_take_first_are_there():
    assert not [name for name in FIRST if not (HERE / name).is_file()]
    assert len(set(FIRST)) == len(FIRST)


def run_python(code, **environment):
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_neither_numba_nor_scipy():
    code = "import sys, fastlb, json; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(run_python(code)))
    assert not loaded & {"numba", "scipy", "matplotlib", "pandas", "pyarrow", "rich", "click"}


def test_every_public_name_is_there_and_no_module_hides_one():
    code = (
        "import fastlb as lb, importlib, pkgutil\n"
        "for module in pkgutil.walk_packages(lb.__path__, 'fastlb.'):\n"
        "    if module.name.split('.')[1] not in ('cli', '__main__'):\n"
        "        importlib.import_module(module.name)\n"
        "for name in lb.__all__:\n"
        "    assert getattr(lb, name) is not None, name\n"
        "    is_module = type(getattr(lb, name)).__name__ == 'module'\n"
        "    assert is_module == (name == 'studies'), name\n"
    )
    run_python(code)


def test_an_edited_helper_is_compiled_again(tmp_path):
    copy = tmp_path / "site"
    shutil.copytree(ROOT / "fastlb", copy / "fastlb", ignore=shutil.ignore_patterns("__pycache__"))
    kernel = copy / "fastlb" / "kernels" / "dde" / "rounds.py"
    code = "import fastlb as lb; print(lb.exchange_rounds([3, 0, 0], [2, 1, 0])[0])"
    where = {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run_python(code, **where) == "2\n"
    text = kernel.read_text()
    assert text.count("rounds += 1") == 1
    kernel.write_text(text.replace("rounds += 1", "rounds += 100"))
    assert run_python(code, **where) == "200\n"


def test_a_kernel_meets_the_arrays_of_an_edited_file(tmp_path):
    copy = tmp_path / "site"
    shutil.copytree(ROOT / "fastlb", copy / "fastlb", ignore=shutil.ignore_patterns("__pycache__"))
    lending = copy / "fastlb" / "lending.py"
    code = (
        "import fastlb as lb, numpy as np\n"
        "from fastlb.accelerate import kernels\n"
        "lb.dem(np.array([3, 0]), lb.Hypercube(1), record='loads')\n"
        "print(sum(kernels('dem.small').balance.stats.cache_misses.values()))"
    )
    where = {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert [run_python(code, **where) for _ in range(2)] == ["1\n", "0\n"]
    lending.write_text(lending.read_text() + "# edited\n")
    assert [run_python(code, **where) for _ in range(2)] == ["1\n", "0\n"]
