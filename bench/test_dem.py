"""Dimension exchange on hypercubes."""

import numpy as np
import pytest

import fastlb as lb
from bench import native, numpy_peers
from bench.native import number, pointer

# Unsigned loads are computed as signed ones of their width.
DTYPES = ["int16", "int32", "int64", "float32", "float64"]
# Batches of small cubes are about 4 MiB, so that they come from the L3 cache at best.
BATCHES = {6: 2**14, 10: 2**10, 14: 2**6}


def programs(loads, n):
    """Return fastlb and its peers, each balancing ``loads`` (B, 2**n) into an array of its own."""
    cube, ours, theirs = lb.Hypercube(n), np.empty_like(loads), np.empty_like(loads)

    def fastlb():
        return lb.dem(loads, cube, record="loads", out=ours).loads

    def c():
        compiled.dem(pointer(loads), pointer(theirs), number(len(loads)), number(n))
        return theirs

    compiled = native.library("dem", loads.dtype.name)
    peers = {"C": c if compiled else None, "NumPy": lambda: numpy_peers.dem(loads, n)}
    return fastlb, peers


def random_loads(shape, dtype, top=2000):
    return np.random.default_rng(1995).integers(0, top, shape, endpoint=True).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", BATCHES)
def test_batch(race, quick, n, dtype):
    loads = random_loads((4 if quick else BATCHES[n], 2**n), dtype)
    race(
        f"DEM {n}-cube, batch of {len(loads)}, {dtype}",
        *programs(loads, n),
        nodes=loads.size,
        copied=loads.nbytes,
        targets={"C": 4, "NumPy": 10} | ({"copies": 1.5} if n == 10 else {}),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [6, 10, 14, 17, 20, 24])
def test_single(race, quick, n, dtype):
    if quick:
        n = min(n, 19)
    loads = random_loads((1, 2**n), dtype)
    race(
        f"DEM {n}-cube, single, {dtype}",
        *programs(loads, n),
        nodes=loads.size,
        copied=loads.nbytes if n >= 17 else 0,
        targets={"C": 4, "NumPy": 10} | ({"copies": 3} if n == 24 and dtype == "int32" else {}),
    )


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [("int32", 20), ("int32", 30), ("int64", 20), ("int64", 30), ("int64", 50), ("int64", 60)],
)
@pytest.mark.parametrize("n", [10, 17, 20, 24])
def test_larger_loads(race, quick, n, dtype, bits):
    """Loads beyond 15 bits: those below 2**23, of int64 below 2**52, are computed as floats."""
    if quick:
        n = min(n, 19)
    loads = random_loads((BATCHES.get(n, 1), 2**n), dtype, 2**bits)
    race(
        f"DEM {n}-cube, batch of {len(loads)}, loads of {bits} bits, {dtype}",
        *programs(loads, n),
        nodes=loads.size,
        copied=loads.nbytes,
        targets={"C": 4, "NumPy": 10},
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_call_in_every_step(race, dtype):
    """What one call at the public door costs a host program."""
    loads = random_loads(2**10, dtype)
    cube, other = lb.Hypercube(10), np.ones_like(loads)
    race(
        f"DEM 10-cube, one call of a host program, {dtype}",
        lambda: lb.dem(loads, cube, record="loads").loads,
        {"NumPy": lambda: numpy_peers.dem(loads, 10)},
        nodes=loads.size,
        yardsticks={"np.add": lambda: np.add(loads, other)},
        targets={"np.add": 6},
    )
