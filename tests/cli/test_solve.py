"""``fastlb solve`` and the model files it reads."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fastlb as lb
from fastlb import mps
from tests.oracles import binary

from .conftest import Run

HEAD = """NAME          SMALL
OBJSENSE
    {sense}
ROWS
 N  COST
 L  LIM1
 G  LIM2
 E  EQ
 G  RNG
COLUMNS
    M1        'MARKER'                 'INTORG'
    X         COST              1.5   LIM1             1
    X         LIM2              1     RNG              1
    Y         COST              2     LIM1             1
    Y         EQ                1     RNG              1
    Z         COST             -1     EQ               1
    M2        'MARKER'                 'INTEND'
RHS
    RHS       LIM1              2     LIM2             {least}
    RHS       EQ                1     COST            -10
    RHS       RNG               1
RANGES
    R         RNG               1
BOUNDS
"""
BINARY = " BV BND       X\n BV BND       Y\n BV BND       Z\nENDATA\n"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.mps"
    path.write_text(HEAD.format(sense="MAX", least=1) + BINARY)
    return path


def test_the_optimum_is_printed(run: Run, small: Path) -> None:
    done = run("solve", small)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "problem    small, 3 variables, 4 rows, max",
        "status     optimal",
        "objective  13.5",
        "bound      13.5",
        "gap        0",
        "method     enumeration, 0 nodes",
        "at 1       X Y",
    ]


def test_the_document(run: Run, small: Path) -> None:
    document = json.loads(run("solve", small, "--json", "--method", "search").out)
    assert document["schema"] == "fastlb.solve"
    assert (document["status"], document["objective"], document["gap"]) == ("optimal", 13.5, 0)
    assert document["x"] == {"X": 1, "Y": 1, "Z": 0}
    assert document["method"] == "search"


def test_rows_of_every_kind_and_fixed_variables(tmp_path: Path) -> None:
    path = tmp_path / "fixed.mps.gz"
    text = (
        HEAD.format(sense="MIN", least=0) + " FX BND       X  1\n BV BND       Y\n BV BND       Z\n"
    )
    path.write_bytes(gzip.compress((text + "ENDATA\n").encode()))
    given = mps.read_mps(path)
    assert (given.variables, given.rows, given.maximise, given.offset) == (
        ["X", "Y", "Z"],
        4,
        False,
        10.0,
    )
    best = binary.brute_force(given.c.tolist(), given.A.tolist(), given.b.tolist())
    s = lb.solve_binary(given.c, given.A, given.b)
    assert s.objective == float(best[0]) == 0.5
    assert s.x.tolist() == [1, 0, 1]
    assert given.value(s.objective) == 10.5


def test_infeasible_and_stopped_end_with_1(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "none.mps"
    path.write_text(HEAD.format(sense="MAX", least=3) + BINARY)
    done = run("solve", path)
    assert (done.code, done.err) == (1, "fastlb: none: no solution exists\n")
    assert "objective" not in done.out
    assert json.loads(run("solve", path, "--json").out)["x"] is None
    c, A, b = lb.random_binary("knapsack", 5, 24, seed=8)
    hard = tmp_path / "hard.mps"
    hard.write_text(_mps(c, A, b))
    done = run("solve", hard, "--method", "search", "--node-limit", 1)
    assert done.code == 1
    assert done.err == "fastlb: hard: stopped at the node limit\n"
    document = json.loads(run("solve", hard, "--json").out)
    assert document["objective"] == lb.solve_binary(c, A, b).objective


def test_what_highs_prints_unasked_leaves_the_document_alone(tmp_path: Path) -> None:
    code = (
        "import ctypes\n"
        "from fastlb.cli.terminal import native_output_to_stderr\n"
        "with native_output_to_stderr():\n"
        "    ctypes.CDLL(None).puts(b'noise')\n"
        "print('result')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("result\n", "noise\n")


def _mps(c: np.ndarray, A: np.ndarray, b: np.ndarray) -> str:
    rows = [f" G  R{i}" for i in range(len(b))]
    columns = [
        f"    X{j} {name} {value}"
        for j in range(len(c))
        for name, value in [("COST", c[j]), *((f"R{i}", A[i, j]) for i in range(len(b)))]
    ]
    right = [f"    RHS R{i} {value}" for i, value in enumerate(b)]
    bounds = [f" BV BND X{j}" for j in range(len(c))]
    lines = ["NAME HARD", "ROWS", " N  COST", *rows, "COLUMNS", *columns, "RHS", *right]
    return "\n".join([*lines, "BOUNDS", *bounds, "ENDATA", ""])


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        (" UP BND       X  4\n BV BND       Y\n BV BND       Z\n", r"got integer X in \[0, 4\]"),
        (" BV BND       Y\n FR BND       Z\n BV BND       X\n", r"got integer Z in \[-inf, inf\]"),
    ],
)
def test_integers_beyond_0_and_1_are_named(
    run: Run, tmp_path: Path, bounds: str, text: str
) -> None:
    path = tmp_path / "wide.mps"
    path.write_text(HEAD.format(sense="MAX", least=1) + bounds + "ENDATA\n")
    with pytest.raises(ValueError, match=text):
        mps.read_mps(path)
    assert run("solve", path).code == 2


def test_continuous_variables_are_named(tmp_path: Path, small: Path) -> None:
    path = tmp_path / "continuous.mps"
    text = "".join(line for line in small.read_text().splitlines(True) if "MARKER" not in line)
    path.write_text(text.replace(" BV BND       X\n", "").replace(" BV BND       Y\n", ""))
    with pytest.raises(ValueError, match="variables must be binary, got continuous X, Y"):
        mps.read_mps(path)


def test_what_is_no_model_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.mps"
    path.write_text("hello\n")
    done = run("solve", path)
    assert (done.code, done.err) == (2, f"fastlb: {path}: HiGHS cannot read it as a model\n")
    assert run("solve", tmp_path / "missing.mps").err.endswith("No such file or directory\n")


def test_a_file_of_which_entries_would_be_dropped_is_refused(run: Run, small: Path) -> None:
    text = small.read_text().replace("LIM1             1\n    X ", "LIM1             1e-10\n    X ")
    small.write_text(text)
    done = run("solve", small)
    assert done.code == 2
    assert "HiGHS drops tiny, repeated or misplaced entries" in done.err
