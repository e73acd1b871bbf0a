"""0-1 programs against every More-Wu case, by the twins and by the public names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fastlb as lb
from tests.oracles import binary, search

CASES = json.loads((Path(__file__).parent / "cases" / "s000_ilp.json").read_text())["cases"]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
PRUNINGS = {"sequential": ">=", "sequential_gt": ">"}


def counted(found: Any) -> dict[str, Any]:
    return {
        "optimum": found.optimum,
        "argmin": found.argmin,
        "abandoned": found.abandoned,
        "violated": found.violated,
        "feasible_tested": found.feasible,
        "rows_tested": found.rows,
    }


@each_case
def test_counters(case: dict[str, Any]) -> None:
    program = case["c"], case["A"], case["b"]
    for name, prune in PRUNINGS.items():
        assert counted(lb.count_tests(*program, prune=prune)) == case["out"][name]
        assert counted(binary.count_tests(*program, prune)) == case["out"][name]


@each_case
def test_simulated_search(case: dict[str, Any]) -> None:
    program = case["c"], case["A"], case["b"]
    run = lb.simulate_search(*program, lb.Hypercube(case["dim"]), balance=False)
    twin = search.simulate(*program, case["dim"])
    assert case["out"]["parallel"] == {
        "optimum": run.objective,
        "argmin": run.argmin,
        "work": run.work.tolist(),
        "makespan": run.time,
    }
    assert case["out"]["parallel"] == {
        "optimum": twin.optimum,
        "argmin": twin.argmin,
        "work": twin.work,
        "makespan": twin.time,
    }


@each_case
@pytest.mark.parametrize("method", ["auto", "enumeration", "search", "milp"])
def test_solutions(case: dict[str, Any], method: str) -> None:
    solution = lb.solve_binary(case["c"], case["A"], case["b"], method=method)
    best = binary.brute_force(case["c"], case["A"], case["b"])
    if best is None:
        assert solution.status == "infeasible"
        assert solution.x is solution.objective is solution.bound is None
        return
    assert solution.status == "optimal"
    assert solution.objective == solution.bound == best[0]
    assert binary.is_feasible(case["A"], case["b"], solution.x.tolist())
    assert binary.dot(case["c"], solution.x.tolist()) == best[0]
