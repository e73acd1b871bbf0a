"""``fastlb solve``: what it prints, its limits, and how it ends."""

from __future__ import annotations

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

from .conftest import Run
from .models import BINARY, HEAD


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
    assert solve_module._progress(given, so_far) == "solving p: HiGHS"
    so_far = replace(so_far, x=np.ones(1, np.int8), objective=5, bound=3, nodes=9000)
    assert solve_module._progress(given, so_far) == "solving p: HiGHS, best 5"
    so_far = replace(so_far, method="search")
    assert solve_module._progress(given, so_far) == "solving p: best 5, bound 3, 9,000 nodes"


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
