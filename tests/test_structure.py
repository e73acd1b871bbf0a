"""The contracts of the layout: what may import what, and what an import costs."""

import ast
import configparser
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

from tests.conftest import FIRST, HERE

ROOT = Path(__file__).resolve().parents[1]
EVERY_KERNEL_FILE = sorted((ROOT / "kernels").rglob("*.py"))
KERNELS = [path for path in EVERY_KERNEL_FILE if path.parent.name != "shared"]
PACKAGE = sorted(path for path in (ROOT / "fastlb").rglob("*.py") if "kernels" not in path.parts)
# What compiles kernels and makes vectors stands in kernels/shared/; nothing of it elsewhere.
SHARED_ALONE = {"njit", "jit", "vectorize", "guvectorize", "intrinsic", "overload", "builder", "ir"}
BESIDE_SHARED = {"numpy", "numba", "math", "typing"}
DECORATORS = {"kernel", "long_kernel", "inlined", "traced"}
LINES_OF_A_FILE = 400
# Lines, and lines of code, of the families that balance, route, search and draw, with all that is
# shared; and of those that place tasks, experts and messages, weigh nodes, and part graphs.
FIRST_FAMILIES = {
    *("dde", "dem", "faults", "flows", "gde", "hexa_cells", "layout", "programs", "random"),
    *("shared", "statistics"),
}
LATER_FAMILIES = {"connectivity", "experts", "rounds", "tasks", "weighted"}
LIMITS = {"first": (10_700, 7_500), "later": (3_750, 2_700)}


def name_of(path):
    return str(path.relative_to(ROOT))


def at_run_time(tree):
    """Yield the nodes of a file, without what stands there for type checkers alone."""
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            nodes += node.orelse
        else:
            nodes += ast.iter_child_nodes(node)


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


@pytest.mark.parametrize("path", KERNELS, ids=name_of)
def test_kernels_import_the_shared_layer_alone(path):
    """numba's cache watches a kernel's own file, and ``kernel`` has it watch that layer as well."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= BESIDE_SHARED
        elif isinstance(node, ast.ImportFrom) and node.level:
            assert node.level == 2
            assert (node.module or "").partition(".")[0] == "shared"
        elif isinstance(node, ast.ImportFrom):
            assert node.module in BESIDE_SHARED


@pytest.mark.parametrize("path", KERNELS, ids=name_of)
def test_kernels_are_cached_and_release_the_lock(path):
    functions = [n for n in ast.walk(ast.parse(path.read_text())) if hasattr(n, "decorator_list")]
    decorators = [decorator for function in functions for decorator in function.decorator_list]
    called = [getattr(decorator, "func", decorator) for decorator in decorators]
    assert {ast.unparse(decorator) for decorator in called} <= DECORATORS
    assert {"kernel", "long_kernel"} & {ast.unparse(decorator) for decorator in decorators}


@pytest.mark.parametrize("path", KERNELS, ids=name_of)
def test_what_makes_vectors_stands_in_the_shared_layer(path):
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = {
        getattr(node, field, None) for node in nodes for field in ("id", "attr", "arg", "name")
    }
    assert not names & SHARED_ALONE


@pytest.mark.parametrize("folder", ["kernels", "fastlb", "tests", "bench"])
def test_a_file_is_read_in_one_sitting(folder):
    lines = {name_of(p): len(p.read_text().splitlines()) for p in (ROOT / folder).rglob("*.py")}
    assert {name: n for name, n in lines.items() if n > LINES_OF_A_FILE} == {}


def test_every_kernel_is_of_a_family():
    assert {path.parent.name for path in EVERY_KERNEL_FILE} == FIRST_FAMILIES | LATER_FAMILIES


@pytest.mark.parametrize("which, families", [("first", FIRST_FAMILIES), ("later", LATER_FAMILIES)])
def test_all_kernels_can_be_read(which, families):
    texts = [path.read_text() for path in EVERY_KERNEL_FILE if path.parent.name in families]
    lines, of_code = LIMITS[which]
    assert sum(len(text.splitlines()) for text in texts) <= lines
    assert sum(map(lines_of_code, texts)) <= of_code


def lines_of_code(text):
    """Return how many lines hold more than comments and docstrings."""
    docstrings, code = set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings |= set(range(node.lineno, node.end_lineno + 1))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.string.strip() and token.type != tokenize.COMMENT:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings)


@pytest.mark.parametrize("path", PACKAGE, ids=name_of)
def test_the_package_imports_nothing_heavy_until_it_is_used(path):
    heavy = {"numba", "scipy", "matplotlib", "pandas", "pyarrow", "networkx", "kernels"}
    if path.parent.name == "networkx_backend":
        # NetworkX itself loads these modules, all but two of them when it calls a function.
        at_once = path.stem in ("__init__", "information", "interface")
        heavy = heavy | {"numpy"} if at_once else heavy - {"networkx"}
    assert not heavy & set(at_import_time(path))


def test_every_package_is_installed():
    packages = {path.parent for path in PACKAGE} | {path.parent for path in EVERY_KERNEL_FILE}
    names = {".".join(path.relative_to(ROOT).parts) for path in packages}
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = config["options"]["packages"].split()
    assert len(set(listed)) == len(listed)
    assert {re.sub("^kernels", "fastlb.kernels", name) for name in names} == set(listed) - {
        "fastlb.kernels"
    }


@pytest.mark.parametrize("path", PACKAGE, ids=name_of)
def test_kernels_are_reached_through_one_place(path):
    named = []
    for node in at_run_time(ast.parse(path.read_text())):
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
        "    assert is_module == (name in ('experts', 'studies')), name\n"
    )
    run_python(code)


def installed_copy(folder):
    """Return a folder with a copy of the package, and the variables that have it imported."""
    copy = folder / "site"
    shutil.copytree(ROOT / "fastlb", copy / "fastlb", ignore=shutil.ignore_patterns("__pycache__"))
    return copy, {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(folder / "cache")}


def edit(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_an_edited_helper_is_compiled_again(tmp_path):
    copy, where = installed_copy(tmp_path)
    code = "import fastlb as lb; print(lb.exchange_rounds([3, 0, 0], [2, 1, 0])[0])"
    assert run_python(code, **where) == "2\n"
    edit(copy / "fastlb" / "kernels" / "dde" / "rounds.py", "rounds += 1", "rounds += 100")
    assert run_python(code, **where) == "200\n"


def test_kernels_see_an_edited_file_of_the_shared_layer(tmp_path):
    copy, where = installed_copy(tmp_path)
    code = (
        "import fastlb as lb\n"
        "from fastlb.accelerate import watching_compilation\n"
        "compiled = []\n"
        "with watching_compilation(lambda name, begins: compiled.append(name)):\n"
        "    print(lb.count_tests([2, 2], [[1, 1]], [1]).rows, bool(compiled))\n"
    )
    assert [run_python(code, **where) for _ in range(2)] == ["2 True\n", "2 False\n"]
    edit(copy / "fastlb" / "kernels" / "shared" / "sums.py", "r, 0] = 0", "r, 0] = 1")
    assert [run_python(code, **where) for _ in range(2)] == ["1 True\n", "1 False\n"]
