"""Fault-tolerant DEM; the peers are handed the same plan and carry it out."""

from __future__ import annotations

import numpy as np
import pytest

import fastlb as lb
from bench import native
from bench.native import number, pointer

# Cubes with n - 1 random faults. Batches are about 4 MiB of int32 or one large cube.
SIZES = {3: 2**17, 6: 2**14, 10: 2**10, 14: 2**6, 17: 8, 20: 1}


def faulty_cube(n):
    rng = np.random.default_rng(n)
    links = set()
    while len(links) < n - 1:
        bit = int(rng.integers(n))
        node = int(rng.integers(2**n)) & ~(1 << bit)
        links.add((node, node | 1 << bit))
    return lb.Hypercube(n, faults=sorted(links))


def subcube(cube, n, base, free, bit=None, side=0):
    """A view of (B, 2, .., 2): the nodes of a subcube, or one side of a bit of it."""
    where = [slice(None) if free >> b & 1 else base >> b & 1 for b in range(n)]
    if bit is not None:
        where[bit] = side
    return cube[(slice(None), *where[::-1])]


def share(difference):
    """Half of a difference, towards zero."""
    return (difference + (difference < 0)) >> 1


def numpy_peer(loads, n, program):
    """Carry out the plan with views of whole subcubes."""
    cube = loads.reshape(-1, *(2,) * n).copy()

    def level(base, free, bit):
        low, high = (subcube(cube, n, base, free, bit, side) for side in (0, 1))
        sent = share(low - high)
        low -= sent
        high += sent

    for kind, base, free, bit in program.tolist():
        bits = [b for b in range(n) if free >> b & 1]
        if kind == 0:
            level(base, free, bit)
        elif kind == 1:
            for b in bits:
                level(base, free, b)
        else:
            # The donor ends as DEM of the stuck subcube's loads above its own; the stuck
            # subcube with what the donor had.
            stuck = subcube(cube, n, base, free)
            donor = subcube(cube, n, base ^ 1 << bit, free)
            held, load = donor.copy(), stuck.copy()
            axes = range(len(bits), 0, -1)
            for axis in axes:
                u, v = (
                    tuple(slice(None) if i != axis else side for i in range(load.ndim))
                    for side in (0, 1)
                )
                pegs = load - held
                sent = np.clip(share(pegs[u] - pegs[v]), -load[v], load[u])
                load[u] -= sent
                load[v] += sent
            stuck[...] = held
            donor[...] = load
    return cube.reshape(loads.shape)


def programs(plan, loads, booked):
    """Return fastlb and C, carrying out a plan on ``loads`` (B, 2**n) or (2**n,)."""
    ours, theirs = np.empty_like(loads), np.empty_like(loads)
    n = plan.topology.n
    count = loads.size >> n
    moved, local = (np.empty(count, np.int64) if booked else None for _ in range(2))
    compiled = native.library("fault_tolerant_dem", loads.dtype.name)

    def fastlb():
        b = plan.apply(loads, record="metrics" if booked else "loads", out=ours)
        return (b.loads, b.moved, b.local) if booked else b.loads

    def c():
        compiled.fault_tolerant_dem(
            pointer(loads),
            pointer(theirs),
            number(count),
            number(n),
            pointer(plan.program),
            number(len(plan.program)),
            pointer(moved),
            pointer(local),
        )
        return (theirs, moved, local) if booked else theirs

    return fastlb, c if compiled else None


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("record", ["loads", "metrics"])
@pytest.mark.parametrize("n", SIZES)
def test_plan(race, quick, n, record, dtype):
    if quick:
        n = min(n, 14)
    count = 3 if quick else SIZES[n]
    loads = np.random.default_rng(1993).integers(0, 1001, (count, 2**n)).astype(dtype)
    plan = lb.fault_plan(faulty_cube(n))
    booked = record == "metrics"
    fastlb, c = programs(plan, loads, booked)
    race(
        f"fault-tolerant DEM {n}-cube, {n - 1} faults, batch of {count}, {record}, {dtype}",
        fastlb,
        {"C": c, "NumPy": None if booked else lambda: numpy_peer(loads, n, plan.program)},
        nodes=loads.size,
        copied=loads.nbytes,
        targets={"C": 4} | ({} if booked else {"NumPy": 10}),
    )


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("record", ["loads", "metrics"])
@pytest.mark.parametrize("n", [6, 10])
def test_one_network(race, n, record, dtype):
    """One small network a call, as from a host program's own loop."""
    loads = np.random.default_rng(1993).integers(0, 1001, 2**n).astype(dtype)
    fastlb, c = programs(lb.fault_plan(faulty_cube(n)), loads, record == "metrics")
    race(
        f"fault-tolerant DEM {n}-cube, {n - 1} faults, one, {record}, {dtype}",
        fastlb,
        {"C": c},
        nodes=loads.size,
        targets={"C": 4},
    )


@pytest.mark.parametrize("n", [10, 20, 62])
def test_planning(race, n):
    """Making a plan, against balancing one 10-cube by it: it grows with the faults alone."""
    from fastlb.exchange.fault_planning import _cached_schedule
    from fastlb.exchange.fault_plans import _plan_of

    cube = faulty_cube(n)
    ten = lb.fault_plan(faulty_cube(10))
    loads = np.arange(1024)

    def fastlb():
        _cached_schedule.cache_clear()
        _plan_of.cache_clear()
        return lb.fault_plan(cube).program

    race(
        f"plan of a {n}-cube with {n - 1} faults",
        fastlb,
        {},
        nodes=1,
        yardsticks={"one balance of a 10-cube": lambda: ten.apply(loads)},
    )
