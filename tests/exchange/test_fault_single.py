"""One network under a plan: the table's exchanges are the plan's, in vectors as one by one."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numba import njit

import fastlb as lb
from fastlb.accelerate import compiled, kernels
from fastlb.exchange import fault_single
from fastlb.exchange.fault_plans import EXCHANGE
from tests.exchange.test_fault_passes import partners

single = kernels("faults.single")
CUBES = [
    lb.Hypercube(0),
    lb.Hypercube(1),
    lb.Hypercube(3, faults=[(0, 4), (5, 7)]),
    lb.Hypercube(5, faults=[(0, 1), (0, 2), (8, 12), (16, 24)]),
    lb.Hypercube(6, faults=[(0, 1), (0, 2), (0, 4), (37, 53), (41, 57)]),
    lb.Hypercube(7, faults=[(0, 1), (8, 40), (9, 73), (100, 102), (64, 80)]),
]


def exchanges(table: np.ndarray[Any, Any], lanes: int) -> list[tuple[int, int]]:
    """The pairs of a table's steps, each once."""
    steps = int(table[single.STEPS])
    words = steps * lanes // 4
    ways = table[single.HEAD : single.HEAD + words].view(np.uint8).reshape(steps, 2, lanes)
    found = []
    for step, places in enumerate(table[single.HEAD + words :][:steps].tolist()):
        starts = places & 2**32 - 1, places >> 32
        for side in range(2):
            for lane, way in enumerate(ways[step, side].tolist()):
                u = starts[side] + lane
                v = starts[side if way < lanes else 1 - side] + way % lanes
                found += [(u, v)] if u < v else []
    return found


@pytest.mark.parametrize("lanes", [16, 32])
@pytest.mark.parametrize("order", ["lowest", "highest"])
@pytest.mark.parametrize("cube", CUBES, ids=repr)
def test_steps_are_the_exchanges_of_the_plan(cube: lb.Hypercube, order: str, lanes: int) -> None:
    plan = lb.fault_plan(cube, order=order)
    table = fault_single.table(plan, wide=lanes == 16)
    assert table is not None
    expected = [(u, v) for kind, u, v in plan.pairs.tolist() if kind == EXCHANGE]
    found = exchanges(table, lanes)
    assert partners(found, cube.size) == partners(expected, cube.size)


@njit
def compiled_exchange(room: Any, booked: Any, span: int, table: Any, lanes: int) -> Any:
    return single._exchange(room, booked, span, table, lanes)


@pytest.mark.parametrize("lanes", [16, 32])
@pytest.mark.parametrize("booked", [None, True])
def test_vectors_exchange_as_single_lanes_do(booked: bool | None, lanes: int) -> None:
    cube = CUBES[-1]
    table = fault_single.table(lb.fault_plan(cube), wide=lanes == 16)
    span = cube.size + lanes
    dtype = np.int32 if lanes == 16 else np.int16
    # From the start of a cache line on.
    room = single._aligned(3 * span, dtype)
    room[:] = np.random.default_rng(lanes).integers(0, np.iinfo(dtype).max, room.size)
    twin = room.copy()
    moved = compiled_exchange(room, booked, span, table, lanes)
    assert single._exchange(twin, booked, span, table, lanes) == moved or booked is None
    assert np.array_equal(room, twin)


@pytest.mark.parametrize("top", [1000, 2**20, 2**40])
@pytest.mark.parametrize("n", [4, 8, 11, 12])
def test_networks_of_all_sizes(n: int, top: int) -> None:
    """In one go up to 2**11 nodes and 2**31 units, and the same beyond."""
    rng = np.random.default_rng(n)
    faults = {
        (int(u) & ~(1 << b), int(u) | 1 << b) for b, u in enumerate(rng.integers(2**n, size=n))
    }
    cube = lb.Hypercube(n, faults=list(faults)[: n - 1])
    plan = lb.fault_plan(cube)
    assert (plan.table is None) == (n > 11)
    loads = rng.integers(0, top, cube.size)
    expected = plan.apply(loads, record="flows").to_dict()
    found = plan.apply(loads).to_dict()
    assert found == {name: expected[name] for name in found}
    assert plan.apply(loads, record="loads").loads.tolist() == expected["loads"]


def test_an_out_that_does_not_fit_is_refused() -> None:
    cube = CUBES[2]
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


def test_a_frozen_table_is_refused_and_not_read() -> None:
    plan, loads, out = lb.fault_plan(lb.Hypercube(5)), np.arange(32), np.zeros(32, np.int64)
    expected = plan.apply(loads, record="loads").loads
    table = plan.table
    assert table is not None
    final = compiled(single.final, loads, loads, table, flat=True)
    table.flags.writeable = False
    try:
        assert final(loads, out, table) == single.REFUSED
        assert not out.any()
        assert np.array_equal(plan.apply(loads, record="loads").loads, expected)
    finally:
        table.flags.writeable = True


def test_a_view_larger_than_memory_is_refused_for_its_shape() -> None:
    loads = np.broadcast_to(np.zeros(1, np.int64), (2**50,))
    with pytest.raises(ValueError, match="loads must have shape"):
        lb.fault_tolerant_dem(loads, CUBES[2], record="loads")


def test_plans_are_copied_without_their_tables() -> None:
    """The kernel counts on where a table begins in memory, and a copied array begins elsewhere."""
    plan = lb.fault_plan(CUBES[3])
    loads = np.arange(32) % 7
    large = loads + 2**15
    expected = plan.apply(loads).to_dict(), plan.apply(large).to_dict()
    for other in (copy.copy(plan), copy.deepcopy(plan), pickle.loads(pickle.dumps(plan))):
        assert other == plan
        assert not {"table", "wide_table"} & vars(other).keys()
        assert (other.apply(loads).to_dict(), other.apply(large).to_dict()) == expected
        assert other.table is not None and other.wide_table is not None
        assert not other.table.ctypes.data % single.VECTOR
        assert not other.wide_table.ctypes.data % single.VECTOR
