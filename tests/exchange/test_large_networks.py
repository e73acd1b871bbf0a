"""Networks past every tile, block and unrolled length, against the plain twins."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests.oracles import dde, dem, gde

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def drawn(shape: tuple[int, ...], dtype: str, top: int) -> Any:
    rng = np.random.default_rng(math.prod(shape))
    return rng.integers(0, min(top, np.iinfo(dtype).max), shape, endpoint=True).astype(dtype)


@pytest.mark.parametrize("n", [7, 10, 11, 13, 15])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_dem(n: int, dtype: str) -> None:
    loads = drawn((2**n,), dtype, 2**40)
    r = dem.dem(loads.tolist(), n) if n < 12 else None
    final = lb.dem(loads, lb.Hypercube(n), record="loads").loads
    b = lb.dem(loads, lb.Hypercube(n))
    assert final.tolist() == b.loads.tolist()
    assert b.difference <= n
    assert final.sum() == loads.sum()
    if r is not None:
        assert final.tolist() == r.loads
        assert (b.moved, b.local) == (r.moved, r.local)


def test_dem_of_many_bits_in_every_dtype_is_the_same() -> None:
    loads = drawn((2**14,), "int8", 127)
    wanted = dem.dem(loads.tolist(), 14).loads
    for dtype in [*INTEGERS, "float64"]:
        final = lb.dem(loads.astype(dtype), lb.Hypercube(14), record="loads").loads
        if dtype == "float64":
            assert final == pytest.approx(np.full(2**14, loads.mean()))
        else:
            assert final.tolist() == wanted


def test_dem_of_real_loads() -> None:
    loads = np.random.default_rng(3).random((3, 2**12))
    for dtype, precision in (("float32", 1e-6), ("float64", 1e-12)):
        b = lb.dem(loads.astype(dtype), lb.Hypercube(12), record="loads")
        means = loads.mean(axis=1, keepdims=True)
        assert b.loads == pytest.approx(np.broadcast_to(means, loads.shape), rel=precision)


DDE_SHAPES = [
    ((16, 16, 5), (True, True, False)),
    ((7, 9, 19), (True, False, True)),
    ((33, 32), (False, True)),
    ((1, 1100), (True, True)),
    ((1030,), (True,)),
    ((1030,), (False,)),
    ((65,), (True,)),
    ((64,), (True,)),
    ((63,), (True,)),
    ((130, 9), (True, True)),
    ((2, 2, 2, 3, 2, 2, 2, 2, 2, 2), (True,) * 10),
]


@pytest.mark.parametrize(("shape", "wrap"), DDE_SHAPES)
@pytest.mark.parametrize("mode", ["rbs", "sbr"])
def test_dde(shape: tuple[int, ...], wrap: tuple[bool, ...], mode: str) -> None:
    grid = lb.Grid(shape, wrap=wrap)
    for dtype, top, batch in (("int32", 200, 1), ("int64", 2**45, 2), ("uint8", 255, 3)):
        loads = drawn((batch, *shape), dtype, top)
        b = lb.dde(loads, grid, exchange=mode, record="flows")
        assert lb.dde(loads, grid, record="loads").loads.tolist() == b.loads.tolist()
        for i, row in enumerate(loads):
            r = dde.dde(row.ravel().tolist(), shape, wrap, None, mode)
            assert b.loads[i].ravel().tolist() == r.loads
            assert b.flows[i].reshape(len(shape), -1).tolist() == r.flows
            assert (b.moved[i], b.local[i]) == (r.moved, r.local)
            assert b.rounds_per_stage[:, i].tolist() == r.rounds_per_axis


GDE_SHAPES = [
    ((40, 30), (True, False)),
    ((1025,), (True,)),
    ((3, 5, 7, 11), (True, True, False, True)),
    ((70, 16), (False, True)),
]


@pytest.mark.parametrize(("shape", "wrap"), GDE_SHAPES)
@pytest.mark.parametrize("order", ["dimension", "interleaved"])
def test_gde(shape: tuple[int, ...], wrap: tuple[bool, ...], order: str) -> None:
    grid, lam = lb.Grid(shape, wrap=wrap), Fraction(723, 1000)
    for dtype, top, batch in (("int32", 2000, 2), ("int64", 2**45, 1)):
        loads = drawn((batch, *shape), dtype, top)
        b = lb.gde(loads, grid, order=order, lam=lam, max_sweeps=3, record="flows")
        for i, row in enumerate(loads):
            r = gde.gde(row.ravel().tolist(), shape, wrap, lam, order, max_sweeps=3)
            assert b.loads[i].ravel().tolist() == r.loads
            assert (b.moved[i], b.local[i]) == (r.moved, r.local)
            assert b.flows[i].reshape(len(shape), -1).tolist() == gde.grid_flows(r, shape, wrap)
