"""One network under a plan: in registers, link by link, and whatever is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.accelerate import kernels
from fastlb.exchange.fault_batches import largest_stuck, positions_of_nodes
from fastlb.exchange.fault_single import LINK_BY_LINK, PREPARED, prepare_call, steps_of

CUBES = [
    lb.Hypercube(4),
    lb.Hypercube(5, faults=[(0, 1), (0, 2), (8, 12), (16, 24)]),
    lb.Hypercube(6, faults=[(0, 1), (0, 2), (0, 4), (37, 53), (41, 57)]),
    lb.Hypercube(7, faults=[(0, 1), (8, 40), (9, 73), (100, 102), (64, 80)]),
]


@pytest.mark.parametrize("order", ["lowest", "highest"])
@pytest.mark.parametrize("cube", CUBES, ids=repr)
def test_registers_do_as_links_do(cube: lb.Hypercube, order: str) -> None:
    """The same final loads, units, least loads and figures, in lanes of 32 bits and of 64."""
    plan = lb.fault_plan(cube, order=order)
    lowest = order == "lowest"
    place = positions_of_nodes(cube.n, lowest)
    loads = np.random.default_rng(cube.n).integers(0, 1000, cube.size)
    expected = loads.copy()
    figures = kernels("faults.single").balance_small(
        loads, expected, plan.program, lowest, 2**20 - 1
    )
    assert figures[0] == 0
    settings = not lowest, largest_stuck(plan), 2**20 - 1
    for measured in (None, True):
        out = np.empty_like(loads)
        result = kernels("faults.steps").balance_one(
            loads,
            out,
            place.astype(np.uint32),
            steps_of(plan),
            plan.positions,
            settings,
            measured,
        )
        assert np.array_equal(out, expected)
        assert result == figures or measured is None
    rows = np.empty((2, cube.size), np.int64)
    rows[:, place] = loads
    moved, local = np.zeros((2, 2), np.int64)
    notes = np.empty(4 << largest_stuck(plan), np.int64)
    counted = np.empty(cube.size, np.int64), moved, local
    kernels("faults.stretches").balance(rows, plan.positions, not lowest, notes, *counted)
    assert np.array_equal(rows[:, place], [expected] * 2)
    assert moved.tolist() == [figures[3]] * 2
    assert local.tolist() == [figures[4]] * 2


@pytest.mark.parametrize("top", [1000, 2**20, 2**40])
@pytest.mark.parametrize("n", [4, 6, 7, 11, 12])
def test_networks_of_all_sizes(n: int, top: int) -> None:
    """By a prepared kernel up to 2**11 nodes and some 2**29 units, and the same beyond."""
    rng = np.random.default_rng(n)
    faults = {
        (int(u) & ~(1 << b), int(u) | 1 << b) for b, u in enumerate(rng.integers(2**n, size=n))
    }
    cube = lb.Hypercube(n, faults=list(faults)[: n - 1])
    plan = lb.fault_plan(cube)
    loads = rng.integers(0, top, cube.size)
    expected = plan.apply(loads, record="flows").to_dict()
    result = plan.apply(loads).to_dict()
    assert result == {name: expected[name] for name in result}
    assert plan.apply(loads, record="loads").loads.tolist() == expected["loads"]


def test_what_is_prepared() -> None:
    cube, dtype, choices = CUBES[-1], np.dtype(np.int32), ("lowest", "latest")
    assert LINK_BY_LINK < cube.size < PREPARED
    call = prepare_call(cube, dtype, cube.shape, "loads", *choices)
    assert call is not None
    assert call.kernel is kernels("faults.steps").balance_one
    assert prepare_call(cube, dtype, (cube.size,), "metrics", *choices) is not None
    for refused in (
        (cube, dtype, (2, cube.size), "loads", *choices),
        (cube, dtype, cube.shape, "flows", *choices),
        (cube, dtype, cube.shape, "load", *choices),
        (cube, dtype, cube.shape, "loads", "low", "latest"),
        (cube, np.dtype(np.float64), cube.shape, "loads", *choices),
        (cube, np.dtype(">i4"), cube.shape, "loads", *choices),
        (lb.Chain(8), dtype, (8,), "loads", *choices),
        (lb.Hypercube(12), dtype, (2**12,), "loads", *choices),
        (lb.Hypercube(1, faults=[(0, 1)]), dtype, (2,), "loads", *choices),
    ):
        assert prepare_call(*refused) is None


def test_an_out_that_does_not_fit_is_refused() -> None:
    cube = lb.Hypercube(3, faults=[(0, 4), (5, 7)])
    loads = np.arange(8)
    for out in (
        np.zeros(7, int),
        np.zeros(16, int),
        np.zeros((2, 2, 2), int),
        np.zeros(8, np.int32),
    ):
        with pytest.raises(ValueError, match="out must have the loads' shape"):
            lb.fault_tolerant_dem(loads, cube, out=out)
        assert not out.any()
    with pytest.raises(ValueError, match="loads must have shape"):
        lb.fault_tolerant_dem(np.arange(16), cube)


def test_a_view_larger_than_memory_is_refused_for_its_shape() -> None:
    loads = np.broadcast_to(np.zeros(1, np.int64), (2**50,))
    with pytest.raises(ValueError, match="loads must have shape"):
        lb.fault_tolerant_dem(loads, CUBES[2], record="loads")


def test_plans_are_copied_and_pickled() -> None:
    plan = lb.fault_plan(CUBES[1])
    loads = np.arange(32) % 7
    large = loads + 2**15
    expected = plan.apply(loads).to_dict(), plan.apply(large).to_dict()
    copies: list[Any] = [copy.copy(plan), copy.deepcopy(plan), pickle.loads(pickle.dumps(plan))]
    for other in copies:
        assert other == plan
        assert (other.apply(loads).to_dict(), other.apply(large).to_dict()) == expected
