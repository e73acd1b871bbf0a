"""Algorithms A, B and C on the Hyper Hexa-Cell network."""

import numpy as np
import pytest

import fastlb as lb
from bench import hexa_cell_peers, native
from bench.native import number, pointer

# Batches are about 4 MiB, so that they come from the L3 cache at best.
BATCHES = {3: 2**14, 5: 2**12, 8: 2**9}


def programs(loads, d, algorithm):
    """Return fastlb and its peers, each balancing ``loads`` (B, N) into an array of its own."""
    topology, ours, theirs = lb.HyperHexaCell(d), np.empty_like(loads), np.empty_like(loads)

    def fastlb():
        return lb.hexa_cell(loads, topology, algorithm, record="loads", out=ours).loads

    def c():
        compiled.hexa_cell(
            pointer(loads), pointer(theirs), number(len(loads)), number(d), number(ord(algorithm))
        )
        return theirs

    compiled = native.library("hexa_cell", loads.dtype.name)
    peers = {
        "C": c if compiled else None,
        "NumPy": lambda: hexa_cell_peers.with_numpy(loads, d, algorithm),
        "numba loops": lambda: hexa_cell_peers.with_numba(loads, d, algorithm),
    }
    return fastlb, peers


def random_loads(shape, dtype, top=2001):
    return np.random.default_rng(2014).integers(0, top, shape).astype(dtype)


def targets(cells):
    return {"numba loops": 4, "NumPy": 14} if cells >= 128 else {}


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("algorithm", ["A", "B", "C"])
@pytest.mark.parametrize("d", BATCHES)
def test_batch(race, quick, d, algorithm, dtype):
    loads = random_loads((4 if quick else BATCHES[d], 6 << (d - 1)), dtype)
    race(
        f"HHC {algorithm} d={d}, batch of {len(loads)}, {dtype}",
        *programs(loads, d, algorithm),
        nodes=loads.size,
        targets=targets(loads.size // 6),
    )


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("algorithm", ["A", "B", "C"])
@pytest.mark.parametrize("d", [8, 12, 16, 20])
def test_single(race, quick, d, algorithm, dtype):
    if quick:
        d = min(d, 13)
    loads = random_loads((1, 6 << (d - 1)), dtype)
    race(
        f"HHC {algorithm} d={d}, single, {dtype}",
        *programs(loads, d, algorithm),
        nodes=loads.size,
        targets=targets(1 << (d - 1)),
    )


@pytest.mark.parametrize("d", [8, 16])
def test_large_loads(race, d):
    """Loads that need 64 bits in a tile."""
    loads = random_loads((2**9 if d == 8 else 1, 6 << (d - 1)), "int64", 2**40)
    race(
        f"HHC B d={d}, loads to 2**40, int64",
        *programs(loads, d, "B"),
        nodes=loads.size,
        targets=targets(1 << (d - 1)),
    )


@pytest.mark.parametrize("d", [5, 12])
def test_counters(race, quick, d):
    """What the counters cost: no peer, only the loads alone."""
    loads = random_loads((4 if quick else 2**12 if d == 5 else 8, 6 << (d - 1)), "int64")
    topology, ours = lb.HyperHexaCell(d), np.empty_like(loads)
    race(
        f"HHC B d={d}, all counters, int64",
        lambda: lb.hexa_cell(loads, topology, out=ours).loads,
        {},
        nodes=loads.size,
        yardsticks={"loads alone": lambda: lb.hexa_cell(loads, topology, record="loads", out=ours)},
    )
