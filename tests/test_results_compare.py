"""What public functions return can be compared, copied and printed; nothing raises."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import fastlb as lb

CUBE = lb.Hypercube(3, faults=[(0, 1)])
PROGRAM = ([1, 2, 3, 4], [[1, 1, 1, 1]], [2])
STUDY = lb.Study("s", ["ring:4"], ["dde"], "uniform:3", trials=3)

MAKERS: dict[str, Callable[[], Any]] = {
    "balance": lambda: lb.dem([1, 2], lb.Hypercube(1), record="flows"),
    "fault plan": lambda: lb.fault_plan(CUBE),
    "line": lambda: lb.dde_line([3, 1]),
    "doubling": lambda: lb.recursive_doubling([3, 1]),
    "minimax plan": lambda: lb.minimax_flow(lb.Network([(0, 1)]), [1, -1]),
    "minimax batch": lambda: lb.minimax_flow(lb.Network([(0, 1)]), [[1, -1], [2, -2]]),
    "maximum flow": lambda: lb.maximum_flow(lb.Network([(0, 1)], capacity=[3]), 0, 1),
    "minimum-cost flow": lambda: lb.minimum_cost_flow(lb.Network([(0, 1)]), [-1, 1]),
    "routes": lambda: lb.route_entities(lb.Network([(0, 1)]), [(0, 2)], [0, 3]),
    "program": lambda: lb.solve_binary(*PROGRAM),
    "counters": lambda: lb.count_tests(*PROGRAM),
    "search": lambda: lb.simulate_search(*PROGRAM, lb.Hypercube(1)),
    "speed-up": lambda: lb.search_speedup(*PROGRAM, lb.Hypercube(1)),
    "results": lambda: lb.run(STUDY),
    "statistic": lambda: next(iter(lb.run(STUDY).summary().values()))["cost"],
    "study": lambda: STUDY,
    "law": lambda: lb.Resampled([1, 2, 3]),
    "network": lambda: lb.Network([(0, 1)], capacity=[3]),
    "cube": lambda: CUBE,
    "erratum": lambda: lb.hexa_cell_errata()[0],
}


@pytest.mark.parametrize("name", MAKERS)
def test_results_compare_copy_and_print(name: str) -> None:
    first, second = MAKERS[name](), MAKERS[name]()
    assert isinstance(first == second, bool)
    assert isinstance(first != second, bool)
    assert first == first
    assert first != 3
    assert repr(first) == repr(second)
    for made in (copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert isinstance(first == made, bool)
        assert repr(made) == repr(first)


def test_dir_shows_public_names_alone() -> None:
    assert {name for name in dir(lb) if not name.startswith("__")} == {
        name for name in lb.__all__ if not name.startswith("__")
    }
