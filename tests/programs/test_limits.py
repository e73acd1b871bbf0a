"""Time limits of solve_binary, what it tells meanwhile, and searches made in stretches."""

from __future__ import annotations

import subprocess
import sys
from time import monotonic
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.aside import aside, left_behind
from fastlb.programs import search as search_module
from fastlb.programs.layout import lay_out
from fastlb.programs.options import Monitor
from fastlb.programs.silence import silent_stdout

HARD = lb.random_binary("knapsack", 20, 60, seed=60)


def check_stopped(c: Any, A: Any, b: Any, s: Any) -> None:
    assert s.status == "limit"
    assert s.bound <= s.objective == c @ s.x
    assert (A @ s.x >= b).all()
    assert s.gap == s.objective - s.bound > 0


@pytest.mark.parametrize("method", ["auto", "search", "milp"])
def test_the_best_solution_within_a_time_limit(method: str) -> None:
    began = monotonic()
    s = lb.solve_binary(*HARD, method=method, time_limit=0.4)
    # On a busy machine HiGHS may have no solution yet.
    if method != "milp" or s.x is not None:
        check_stopped(*HARD, s)
    assert s.status == "limit"
    assert s.method == method or method == "auto"
    # Not a measurement: without the limit it would take hours.
    assert monotonic() - began < 60


def test_a_limit_that_is_over_at_once_still_gives_a_bound() -> None:
    c, A, b = lb.random_binary("knapsack", 5, 30, seed=30)
    best = lb.solve_binary(c, A, b).objective
    for method in ("auto", "search", "milp"):
        s = lb.solve_binary(c, A, b, method=method, time_limit=0)
        assert s.status == "limit"
        assert s.bound <= best
        assert s.objective is None or s.objective >= best
    assert lb.solve_binary([-3, 4], [[1, 1]], [1], time_limit=0).objective == -3


def test_a_batch_has_one_time_limit() -> None:
    c, A, b = (np.stack([part] * 40) for part in HARD)
    c[20:] -= c.max() + 1
    s = lb.solve_binary(c, A, b, time_limit=0.3)
    assert s.status.tolist() == ["limit"] * 40
    assert s.x[0] is not np.ma.masked
    assert s.objective[39] is np.ma.masked
    assert s.bound[39] == c[39].sum()
    assert (s.bound <= s.objective.filled(2**40)).all()


def test_enumeration_stops_between_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    c, A, b = lb.random_binary("planted", 9, 10, seed=3, trials=500)
    whole = lb.solve_binary(c, A, b)
    within_time = lb.solve_binary(c, A, b, time_limit=3600)
    assert within_time.objective.tolist() == whole.objective.tolist()
    monkeypatch.setattr("fastlb.programs.enumeration.STRETCH", 10 * 2**10 * 200)
    parts = lb.solve_binary(c, A, b, time_limit=3600)
    assert parts.objective.tolist() == whole.objective.tolist()
    assert parts.x.tolist() == whole.x.tolist()
    over = lb.solve_binary(c, A, b, time_limit=0)
    assert over.status.tolist() == ["optimal"] * 200 + ["limit"] * 300
    assert over.bound[200:].tolist() == [0] * 300
    assert over.objective[:200].tolist() == whole.objective[:200].tolist()


@pytest.mark.parametrize("limit", [-1, float("nan"), float("inf")])
def test_time_limits_that_are_none(limit: float) -> None:
    with pytest.raises(ValueError, match="time_limit must be finite and not negative"):
        lb.solve_binary([1], [[1]], [1], time_limit=limit)


def test_progress_and_time_limits_of_other_types() -> None:
    with pytest.raises(TypeError, match="time_limit must be a number, got '3 s'"):
        lb.solve_binary([1], [[1]], [1], time_limit="3 s")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"progress must be a function .*, got True"):
        lb.solve_binary([1], [[1]], [1], progress=True)  # type: ignore[arg-type]


def test_progress_tells_solutions_so_far() -> None:
    c, A, b = HARD
    for shift in (0, 45):
        # Costs below 0 are met by complementing variables: what is told is of the program itself.
        told: list[Any] = []
        final = lb.solve_binary(
            c - shift, A, b, method="search", time_limit=0.5, progress=told.append
        )
        assert len(told) > 1
        for s in told:
            check_stopped(c - shift, A, b, s)
        assert [s.nodes for s in told] == sorted({s.nodes for s in told})
        assert [s.objective for s in told] == sorted((s.objective for s in told), reverse=True)
        assert told[-1].nodes <= final.nodes
    told = []
    lb.solve_binary(c, A, b, method="milp", time_limit=0.1, progress=told.append)
    assert [(s.method, s.x, s.objective) for s in told] == [("milp", None, None)]
    # What the search knew is told when HiGHS begins.
    told = []
    lb.solve_binary(c, A, b, node_limit=30_000, time_limit=1, progress=told.append)
    assert (told[-1].method, told[-1].nodes) == ("milp", 30_000)
    check_stopped(c, A, b, told[-1])


def test_a_search_in_stretches_is_the_same_search(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [
        lb.random_binary(family, m, n, seed=m)
        for family, m, n in (("knapsack", 5, 26), ("symmetric", 20, 40))
    ]
    whole = [lb.solve_binary(*program, method="search") for program in programs]
    assert min(s.nodes for s in whole) > 5000
    monkeypatch.setattr(search_module, "FIRST_STRETCH", 700)
    monkeypatch.setattr(search_module, "STRETCH_SECONDS", 1e-4)
    for program, expected in zip(programs, whole, strict=True):
        s = lb.solve_binary(*program, method="search")
        assert (s.objective, s.nodes) == (expected.objective, expected.nodes)
        assert s.x.tolist() == expected.x.tolist()


def test_a_hopeless_search_is_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    c, A, b = lb.random_binary("symmetric", 100, 50, seed=50)
    monkeypatch.setattr(search_module, "CHECKED", 20_000)
    s = lb.solve_binary(c, A, b)
    assert (s.status, s.objective, s.method, s.nodes) == ("optimal", 27, "milp", 25_000)
    # Only method "auto" gives up.
    limited = lb.solve_binary(c, A, b, method="search", node_limit=40_000)
    assert (limited.status, limited.nodes) == ("limit", 40_000)


def test_time_is_over_with_wide_numbers_too() -> None:
    c, A, b = HARD
    wide = A * np.where(np.arange(60) % 7 == 0, 1e-20, 1.0)
    wide_c = np.where(np.arange(60) % 7 == 0, 1e-20, 1.0) * c
    given = lay_out(wide_c, wide, b)
    assert given.wide
    assert given.wide_rows
    for costs, rows in ((c, wide), (wide_c, A), (wide_c, wide)):
        s = lb.solve_binary(costs, rows, b, time_limit=0.3)
        assert s.status == "limit"
        assert s.objective is None or s.bound <= s.objective


def test_a_call_that_does_not_come_back_is_left_behind() -> None:
    import threading

    ended = threading.Event()
    with pytest.raises(TimeoutError):
        aside(ended.wait, seconds=0.01)
    assert len(left_behind()) == 1
    ended.set()
    for thread in left_behind():
        thread.join()
    assert aside(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        aside(lambda: 1 / 0, seconds=5)


def test_a_monitor_without_a_limit_is_never_over() -> None:
    assert (Monitor().is_over, Monitor().is_limited, Monitor(0).is_over) == (False, False, True)
    assert 0 < Monitor(60).seconds_left <= 60
    assert not Monitor(1e300).is_limited


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other names for it")
def test_what_c_prints_is_dropped_and_what_python_prints_is_not() -> None:
    code = (
        "import ctypes\n"
        "from fastlb.programs.silence import silent_stdout\n"
        "library = ctypes.CDLL(None)\n"
        "with silent_stdout():\n"
        "    library.puts(b'noise')\n"
        "    with silent_stdout():\n"
        "        library.printf(b'more noise')\n"
        "    print('Python')\n"
        "library.puts(b'C')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (sorted(done.stdout.split()), done.stderr) == (["C", "Python"], "")
    with silent_stdout():
        pass


@pytest.mark.parametrize("method", ["auto", "search"])
def test_an_interrupt_keeps_the_best_solution_so_far(method: str) -> None:
    told: list[Any] = []

    def interrupt(solution: Any) -> None:
        told.append(solution)
        if solution.x is not None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        lb.solve_binary(*HARD, method=method, progress=interrupt)
    check_stopped(*HARD, raised.value.solution)  # type: ignore[attr-defined]
    assert raised.value.solution is told[-1]  # type: ignore[attr-defined]
