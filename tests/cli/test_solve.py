"""``fastlb solve`` and the model files it reads."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.cli import solve as solve_module
from fastlb.programs import mps
from fastlb.programs.binary_solution import BinarySolution
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
    best = binary.brute_force(given.c.tolist(), given.A.toarray().tolist(), given.b.tolist())
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


def test_an_interrupt_shows_the_best_solution_so_far(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    c, A, b = lb.random_binary("knapsack", 20, 60, seed=60)
    hard = tmp_path / "hard.mps"
    hard.write_text(_mps(c, A, b))
    solve = lb.solve_binary

    def interrupted(*program: Any, progress: Any, **options: Any) -> Any:
        def interrupt(solution: Any) -> None:
            progress(solution)
            if solution.x is not None:
                raise KeyboardInterrupt

        return solve(*program, progress=interrupt, **options)

    monkeypatch.setattr(lb, "solve_binary", interrupted)
    done = run("solve", hard, "--json")
    assert done.code == 130
    document = json.loads(done.out)
    assert (
        done.err
        == f"fastlb: hard: interrupted; best so far {document['objective']:.0f}, shown above\n"
    )
    assert document["status"] == "limit"
    assert document["bound"] < document["objective"]

    def at_once(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(lb, "solve_binary", at_once)
    assert run("solve", hard) == (130, "", "fastlb: interrupted\n")


def test_a_time_limit_shows_the_best_solution_its_bound_and_gap(run: Run, tmp_path: Path) -> None:
    c, A, b = lb.random_binary("knapsack", 20, 60, seed=60)
    hard = tmp_path / "hard.mps"
    hard.write_text(_mps(c, A, b))
    done = run("solve", hard, "--time-limit", 0.3, "--json")
    assert (done.code, done.err) == (1, "fastlb: hard: stopped at the time limit of 0.3 s\n")
    document = json.loads(done.out)
    x = np.array(list(document["x"].values()))
    assert (A @ x >= b).all()
    assert document["status"] == "limit"
    assert c @ x == document["objective"] == document["bound"] + document["gap"]
    assert document["gap"] > 0
    assert document["relative_gap"] == document["gap"] / document["objective"]
    assert run("solve", hard, "--time-limit", 0).code == 2
    # Beyond 62 variables HiGHS is the one who stops.
    c, A, b = lb.random_binary("knapsack", 20, 70, seed=70)
    hard.write_text(_mps(c, A, b))
    document = json.loads(run("solve", hard, "--time-limit", 0.5, "--json").out)
    assert (document["status"], document["solver"]) == ("limit", "HiGHS")
    assert document["bound"] >= 0
    assert document["x"] is None or document["objective"] == c @ list(document["x"].values())


def test_who_solved_it_is_said(run: Run, tmp_path: Path) -> None:
    c, A, b = lb.random_binary("cover", 20, 70, seed=2)
    path = tmp_path / "cover.mps"
    path.write_text(_mps(c, A, b))
    assert "method     milp, by HiGHS\n" in run("solve", path, "--method", "milp").out
    assert json.loads(run("solve", path, "--json", "--method", "milp").out)["solver"] == "HiGHS"


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_shows_how_far_a_search_is(tmp_path: Path) -> None:
    c, A, b = lb.random_binary("knapsack", 20, 60, seed=60)
    hard = tmp_path / "hard.mps"
    hard.write_text(_mps(c, A, b))
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "fastlb", "solve", str(hard), "--time-limit", "1"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as running:
        os.close(theirs)
        shown = b""
        with suppress(OSError):
            while piece := os.read(ours, 4096):
                shown += piece
        assert running.stdout is not None
        out = running.stdout.read().decode()
    os.close(ours)
    assert re.search(r"solving hard: best \d+, bound \d+, [\d,]+ nodes", shown.decode())
    assert re.search(r"\ngap        \d+ \(\d+\.\d\d %\)\n", out)


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


@pytest.mark.parametrize(
    ("row", "line", "text"),
    [
        ("r: x + y >= 3 >= 5", 4, "got none before '>=': write a row with two ends as two rows"),
        ("r: x + y >= 1\n >= 5", 5, "got none before '>='"),
        ("r: 0 <= x + y <= 1", 4, "got none before '<='"),
        ("r: x + 2 >= 1", 4, "its constant behind the comparison, got 2 before it"),
        ("r: x + 2 - y >= 1", 4, "got 2 before it, which HiGHS drops"),
    ],
)
def test_rows_of_an_lp_file_that_highs_would_read_otherwise_are_refused(
    run: Run, tmp_path: Path, row: str, line: int, text: str
) -> None:
    model = tmp_path / "rows.lp"
    model.write_text(f"min\n obj: x + y + 3\nst\n {row}\nbinary\n x y\nend\n")
    done = run("solve", model)
    assert done.code == 2
    assert done.err.startswith(f"fastlb: {model}:{line}: a row must have ")
    assert text in done.err


def test_rows_of_an_lp_file_in_all_their_forms(tmp_path: Path) -> None:
    model = tmp_path / "rows.lp"
    model.write_text(
        "max\n obj: 2 x + y + 3\nSubject To r: x\n + 2y >=\n - 1\n x >= 1 s1: x + y = 1\n"
        "t: y <= inf\nbounds\n 0 <= x <= 1\nbinary\n x y\nend\n"
    )
    given = mps.read_mps(model)
    assert given.A.toarray().tolist() == [[1, 2], [1, 0], [1, 1], [-1, -1]]
    assert given.b.tolist() == [-1, 1, 1, -1]
    assert given.offset == 3


def test_what_is_no_model_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.mps"
    path.write_text("hello\n")
    done = run("solve", path)
    assert done.code == 2
    assert done.err == f"fastlb: {path}:1: 'hello' stands in no section of a 0-1 program\n"
    model = tmp_path / "bad.lp"
    model.write_text("min\n x\nst\n x >= >=\nend\n")
    done = run("solve", model)
    assert (done.code, done.err) == (2, f"fastlb: {model}: HiGHS cannot read it as a model\n")
    assert run("solve", tmp_path / "missing.mps").err.endswith("No such file or directory\n")


def test_a_file_of_which_entries_would_be_dropped_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "tiny.lp"
    path.write_text("min\n obj: x + y\nst\n r: x + 1e-10 y >= 1\nbinary\n x y\nend\n")
    done = run("solve", path)
    assert done.code == 2
    assert "HiGHS drops tiny, repeated or misplaced entries" in done.err


@pytest.mark.parametrize(
    ("old", "new", "line", "text"),
    [
        ("Y         EQ                1", "Y         EQ            1e-10", 15, "entries must be 0"),
        ("Y         EQ                1", "Y         EQ            1e+15", 15, "entries must be 0"),
        ("EQ                1  ", "EQ              one  ", 15, "'one' is no number"),
        ("EQ                1  ", "EQ              1D1  ", 15, "'1D1' is no number"),
        ("Y         EQ ", "Y         EX ", 15, "there is no row EX"),
        ("Y         EQ ", "Y         COST ", 15, "column Y has row COST twice"),
        ("Y         EQ ", "Y  EQ 1   EQ ", 15, "a column must have one or two rows and numbers"),
        ("    Y         EQ ", "    Z EQ 1\n    Y EQ ", 16, "column Y stands there twice, apart"),
        ("LIM1              2", "LIM1            abc", 19, "'abc' is no number"),
        ("RHS       EQ  ", "RHS       LIM1", 20, "RHS has row LIM1 twice"),
        ("RHS       EQ  ", "RHS2      EQ  ", 20, "RHS must be of one name, got 'RHS' and 'RHS2'"),
        ("R         RNG", "R         RNX", 23, "there is no row RNX"),
        ("BV BND       Y", "BV BND       W", 26, "there is no column W"),
        ("BV BND       Y", "XX BND       Y", 26, "bounds of a 0-1 program are UP, .* got XX"),
        ("BV BND       Y", "UP 1", 26, "a bound must be UP, a set and a column and"),
        ("BV BND       Y", "BV BND       X", 26, "column X has an end of its interval set twice"),
        ("BV BND       Y", "BV BNE       Y", 26, "BOUNDS must be of one name"),
        ("OBJSENSE\n    MAX\n", "OBJSENSE MAXIMIZE\n", 2, "in one line must be MAX or MIN"),
        ("OBJSENSE\n    MAX\n", "OBJSENSE\n    UP\n", 3, "OBJSENSE must be MIN or MAX, got 'UP'"),
        ("OBJSENSE\n    MAX\n", "MAX\n", 2, "'MAX' stands in no section"),
        (" L  LIM1", " X  LIM1", 6, "a row must be N, L, G or E and a name"),
        (" L  LIM1", " L  LIM2", 7, "row LIM2 stands there twice"),
        ("RANGES", "RHS", 22, "section RHS stands there twice"),
        ("RANGES", "RANGES FREE", 22, "RANGES must stand alone in its line"),
        ("ENDATA", "SOS\n S1 S s 1\nENDATA", 28, "sections of a 0-1 program are .*, got SOS"),
        ("ENDATA", "QUADOBJ\n X X 1\nENDATA", 28, "the objective must be linear"),
        ("ENDATA\n", "", 27, "the file ends without ENDATA"),
        ("'INTEND'", "'SOSEND'", 17, "a marker must be 'INTORG' or 'INTEND'"),
        ("    X  ", "    RHS", 12, "RHS names a section and must stand at the start"),
    ],
)
def test_what_highs_would_read_otherwise_is_refused_with_its_line(
    run: Run, small: Path, old: str, new: str, line: int, text: str
) -> None:
    whole = small.read_text()
    assert old in whole
    small.write_text(whole.replace(old, new))
    with pytest.raises(ValueError, match=text) as caught:
        mps.read_mps(small)
    assert str(caught.value).startswith(f"{small}:{line}: ")
    assert "\n" not in str(caught.value)
    assert run("solve", small).code == 2


def test_a_row_that_highs_mistakes_for_a_section_is_refused(small: Path) -> None:
    small.write_text(small.read_text().replace("LIM2", "RHS "))
    with pytest.raises(ValueError, match="HiGHS reads another program than the text says"):
        mps.read_mps(small)


def test_crossed_bounds_are_an_infeasible_program(run: Run, small: Path) -> None:
    text = small.read_text()
    small.write_text(text.replace(" BV BND       Y", " LO BND       Y  1\n UP BND       Y  0"))
    assert run("solve", small).err == "fastlb: small: no solution exists\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n", "\r\n"),
        ("\n    ", "\n"),
        ("\n    ", "\n\t"),
        ("RHS       ", ""),
        (" BND  ", ""),
        ("OBJSENSE\n    MAX", "OBJSENSE MAX"),
        ("OBJSENSE\n    MAX", "OBJSENSE\n    MAXIMIZE"),
        ("ROWS\n", "* a comment\n\nrows\n N  OTHER\n"),
        ("\nRANGES", " $ a comment\nRANGES"),
        (" BV BND       X\n BV BND       Y\n BV BND       Z\n", ""),
        (" BV BND       X\n", " UP BND       X  1\n LO BND       X  0\n"),
        ("BV BND       X", "BV BND       X  1"),
        (" R         RNG               1", " R         RNG              -1"),
    ],
)
def test_other_ways_to_write_the_same(tmp_path: Path, small: Path, old: str, new: str) -> None:
    same = tmp_path / "same.mps"
    text = small.read_text()
    assert old in text
    if "OTHER" in new:
        text = text.replace(" N  COST\n", "").replace(" L  LIM1", " N  COST\n L  LIM1")
        new = new.replace(" N  OTHER", " N  COST\n N  OTHER")
        text = text.replace(" N  COST\n L", " L")
    same.write_bytes(text.replace(old, new).encode())
    given, expected = mps.read_mps(same), mps.read_mps(small)
    assert (given.variables, given.rows) == (expected.variables, expected.rows)
    assert (given.offset, given.maximise) == (expected.offset, expected.maximise)
    assert np.array_equal(given.A.toarray(), expected.A.toarray())
    for name in ("c", "b"):
        assert np.array_equal(getattr(given, name), getattr(expected, name))


def test_names_with_spaces_in_the_fixed_format(tmp_path: Path) -> None:
    path = tmp_path / "fixed.mps"
    path.write_text(
        "NAME          TWO WORDS\n"
        "ROWS\n N  THE COST\n L  LIM 1\n G  LIM 2\n"
        "COLUMNS\n"
        "    M1        'MARKER'                 'INTORG'\n"
        "    X 1       THE COST           1.5   LIM 1              1\n"
        "    X 1       LIM 2                1\n"
        "    Y 1       THE COST             2   LIM 1              1\n"
        "    M2        'MARKER'                 'INTEND'\n"
        "RHS\n"
        "    RHS       LIM 1                2   LIM 2              1\n"
        "BOUNDS\n BV BND       X 1\n BV BND       Y 1\nENDATA\n"
    )
    given = mps.read_mps(path)
    assert given.variables == ["X 1", "Y 1"]
    assert given.c.tolist() == [1.5, 2]
    assert given.A.toarray().tolist() == [[-1, -1], [1, 0]]
    assert given.b.tolist() == [-2, 1]


def test_empty_lines_in_the_fixed_format(tmp_path: Path) -> None:
    """HiGHS's own reader of it never gets past one."""
    path = tmp_path / "gaps.mps"
    path.write_text(
        "\nNAME          T\n\nROWS\n N  obj\n G  a row\n\n"
        "COLUMNS\n    M1        'MARKER'                 'INTORG'\n"
        "    a b0      obj                  5   a row              1\n\n"
        "    M2        'MARKER'                 'INTEND'\n"
        "RHS\n    RHS       a row            1\nBOUNDS\n\n BV B         a b0\n\nENDATA\n\n"
    )
    given = mps.read_mps(path)
    assert (given.name, given.variables) == ("gaps", ["a b0"])
    assert (given.c.tolist(), given.A.toarray().tolist(), given.b.tolist()) == ([5], [[1]], [1])


def test_what_highs_prints_while_reading_is_no_output(tmp_path: Path) -> None:
    path = tmp_path / "indicator.lp"
    path.write_text("Minimize\n x\nSubject To\n c: x = 1 -> x + y >= 1\nBinary\n x y\nEnd\n")
    command = [sys.executable, "-m", "fastlb", "solve", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


def test_files_that_are_packed_badly_or_empty(small: Path, tmp_path: Path, run: Run) -> None:
    packed = gzip.compress(small.read_bytes())
    for name, content, message in (
        ("junk.mps.gz", b"junk", "must be whole and packed by gzip, got Not a gzipped file"),
        ("short.mps.gz", packed[:80], "must be whole and packed by gzip, got Compressed file"),
        ("bits.mps.gz", packed[:40] + bytes(40), "must be whole and packed by gzip, got Error"),
        ("none.mps", b"", "must hold a model, got an empty file"),
        ("none.lp", b"", "must hold a model, got an empty file"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        done = run("solve", path)
        assert done.code == 2
        assert done.err.startswith(f"fastlb: {path}: {message}")
        assert done.err.count("\n") == 1
    loud = tmp_path / "LOUD.MPS.GZ"
    loud.write_bytes(gzip.compress(b"\xef\xbb\xbf" + small.read_bytes()))
    assert mps.read_mps(loud).variables == ["X", "Y", "Z"]


@pytest.mark.parametrize("number", ["0.1000000000000000001", "1e-400", "9007199254740993", "1e400"])
def test_numbers_that_float64_cannot_hold_are_refused(
    run: Run, tmp_path: Path, number: str
) -> None:
    model = tmp_path / "fine.lp"
    model.write_text(
        f"min\n obj: 2 x1 + x2\nst\n r: {number} x1 + 0.1 x2 >= 0.1\nbinary\n x1 x2\nend\n"
    )
    done = run("solve", model)
    assert done.code == 2
    assert done.err.startswith(f"fastlb: {model}:4: {number} is a number that float64 cannot hold")
    path = tmp_path / "fine.mps"
    path.write_text(
        HEAD.format(sense="MIN", least=number) + " BV BND       X\n BV BND       Y\nENDATA\n"
    )
    with pytest.raises(ValueError, match=r"fine\.mps:\d+: .* is a number that float64 cannot hold"):
        mps.read_mps(path)


def test_names_with_digits_are_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "names.lp"
    path.write_text(
        "min\n obj: x1e-400 + _2.50000000000000000001 + 0.50 z1\\ 1e-400\nst\n"
        " r9007199254740993: x1e + z1 >= 1.00\nbinary\n x1e z1 _2.50000000000000000001\nend\n"
    )
    mps.check_lp(path)


def test_a_model_without_variables_is_none(run: Run, tmp_path: Path) -> None:
    model = tmp_path / "nothing.lp"
    model.write_text("min\n obj:\nst\nend\n")
    done = run("solve", model)
    assert (done.code, done.err) == (
        2, f"fastlb: {model}: must have variables, got a model without any\n"
    )  # fmt: skip


def test_large_objectives_are_told_in_full(run: Run, tmp_path: Path) -> None:
    model = tmp_path / "large.lp"
    model.write_text(
        "min\n obj: 9007199254740992 x + 0.1 y\nst\n r: x + y >= 2\nbinary\n x y\nend\n"
    )
    model.write_text(model.read_text().replace(" + 0.1 y", ""))
    assert "objective  9007199254740992\n" in run("solve", model).out


def test_while_highs_runs_no_bound_is_told() -> None:
    given = mps.ProgramFile("p", ["x"], np.ones(1), np.ones((1, 1)), np.ones(1), 1, False, 0.0)
    so_far = BinarySolution(None, None, "limit", 0, "milp", 0)
    assert solve_module._so_far(given, so_far) == "solving p: HiGHS"
    so_far = replace(so_far, x=np.ones(1, np.int8), objective=5, bound=3, nodes=9000)
    assert solve_module._so_far(given, so_far) == "solving p: HiGHS, best 5"
    so_far = replace(so_far, method="search")
    assert solve_module._so_far(given, so_far) == "solving p: best 5, bound 3, 9,000 nodes"


def test_a_gap_in_percent() -> None:
    assert solve_module._relative(41, -820.0) == 0.05
    assert solve_module._relative(0, 0) == 0
    assert solve_module._relative(1, 0) is solve_module._relative(None, None) is None
    assert [solve_module._percent(part) for part in (0.05, 0.0000123, 2.5)] == [
        "5.00 %",
        "0.0012 %",
        "250.00 %",
    ]


def test_the_help_says_what_counts_and_how_it_ends(run: Run) -> None:
    said = " ".join(run("solve", "--help").out.split())
    assert "compiling kernels, in first runs, are not counted" in said
    assert "2 bad input, 130 interrupted" in said


def test_bad_options_are_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "wide.mps"
    path.write_text(_mps(*lb.random_binary("cover", 5, 80, seed=1)))
    done = run("solve", path, "--method", "search")
    assert done.code == 2
    assert "--method search takes at most 62 variables" in " ".join(done.err.split())
    assert "has 80: leave --method away" in done.err
    assert "'--time-limit': '5s' is not a valid number." in run(
        "solve", path, "--time-limit", "5s"
    ).err  # fmt: skip
    assert "'x' is not a valid whole number." in run("solve", path, "--node-limit", "x").err
