"""The plain twin of fault-tolerant DEM against every case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.dem import dem
from tests.oracles.fault_tolerant_dem import NoPlan, fault_tolerant_dem, plan, tree

CASES = json.loads((Path(__file__).parent / "cases" / "s000_ft.json").read_text())["cases"]
ORDERS = {"low": "lowest", "high": "highest"}
DONORS = {"last": "latest", "first": "earliest"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_cases(case: dict[str, Any]) -> None:
    loads, faults, out = case["loads"], case["faults"], case["out"]
    skipping = dem(loads, len(loads).bit_length() - 1, faults=faults)
    assert skipping.loads == out["dem_skip_faulty"]
    for order, full_order in ORDERS.items():
        for donor, full_donor in DONORS.items():
            run = fault_tolerant_dem(loads, faults, full_order, full_donor)
            assert out[f"{order}_{donor}"] == {
                "loads": run.loads,
                "moved": run.moved,
                "load_difference": max(run.loads) - min(run.loads),
            }


def test_figure_1_of_the_paper() -> None:
    made = plan(3, [(0, 4), (5, 7)])
    assert next((s.base, s.free, bit) for s, bit in made.splits) == (0, (0, 1, 2), 0)
    assert [s.nodes for s in made.stuck] == [[0, 4], [5, 7]]


def test_a_cube_that_cannot_be_split_has_no_plan() -> None:
    with pytest.raises(NoPlan):
        plan(2, [(0, 1), (0, 2)])


def test_tree_is_exact_in_every_component() -> None:
    assert tree([9, 0, 0, 1], [(0, 1), (0, 2)]).loads == [9, 0, 0, 1]
    assert tree([9, 0, 0, 2], [(0, 1)]).loads == [3, 3, 2, 3]
