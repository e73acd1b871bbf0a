"""Every dtype at every batch size and level of record, up to the limit of what fits.

Loads of one total are put where conversions lose units: all of the largest total on one node, just
above the 53 bits of float64 and the 24 bits of float32, at the dtype's own limit, and at random.
Expected values come from the plain twins, which count with Python's integers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import fastlb as lb
from tests.oracles import dde, dem, fault_tolerant_dem, gde, hexa_cell

INT64_MAX = 2**63 - 1
DTYPES = [f"{sign}int{bits}" for bits in (64, 32, 16, 8) for sign in ("u", "")]
# One network, less than a group of lanes, a whole one and one more, a whole tile and one more.
BATCHES = [None, 1, 4, 17, 65]
CUBE_FAULTS = ((0, 1), (2, 6))


class Method(NamedTuple):
    """A method on a small network, and its plain twin."""

    run: Callable[..., Any]
    size: int
    twin: Callable[[tuple[int, ...]], Any]


METHODS = {
    "dem": Method(
        lambda loads, **options: lb.dem(loads, lb.Hypercube(2), **options),
        4,
        lambda loads: dem.dem(loads, 2),
    ),
    "dem of 6 bits": Method(
        lambda loads, **options: lb.dem(loads, lb.Hypercube(6), **options),
        64,
        lambda loads: dem.dem(loads, 6),
    ),
    "dde on a mesh": Method(
        lambda loads, **options: lb.dde(loads, lb.Mesh(2, 2), **options),
        4,
        lambda loads: dde.dde(loads, (2, 2), (False, False)),
    ),
    "dde on a ring": Method(
        lambda loads, **options: lb.dde(loads, lb.Ring(5), **options),
        5,
        lambda loads: dde.dde(loads, (5,), (True,)),
    ),
    "gde": Method(
        lambda loads, **options: lb.gde(loads, lb.Mesh(2, 3), lam="1/2", **options),
        6,
        lambda loads: gde.gde(loads, (2, 3), (False, False), Fraction(1, 2)),
    ),
    "faults": Method(
        lambda loads, **options: lb.fault_tolerant_dem(
            loads, lb.Hypercube(3, faults=CUBE_FAULTS), **options
        ),
        8,
        lambda loads: fault_tolerant_dem.fault_tolerant_dem(loads, CUBE_FAULTS),
    ),
    "hexa_cell": Method(
        lambda loads, **options: lb.hexa_cell(loads, lb.HyperHexaCell(2), **options),
        12,
        lambda loads: hexa_cell.hexa_cell(loads, 2),
    ),
}


@cache
def expected(name: str, loads: tuple[int, ...]) -> Any:
    return METHODS[name].twin(loads)


def rows_of(dtype: str, size: int, count: int, seed: int) -> np.ndarray[Any, Any]:
    """Return loads (count, size) whose totals fit int64, many of them at a limit."""
    top = int(np.iinfo(dtype).max)
    # ``moved`` is a few times the total, and has to fit as well.
    total = min(top, INT64_MAX // 8)
    rng = np.random.default_rng(seed)
    rows = np.zeros((count, size), dtype)
    for i, row in enumerate(rows):
        if i % 4 == 0:
            row[i // 4 % size] = total
        elif i % 4 == 1:
            row[i % size] = min(total, 2**53 + 1 + i)
            row[(i + 1) % size] = min(total, 2**24 + 1)
        elif i % 4 == 2:
            row[:] = rng.integers(0, total // size, size, dtype, endpoint=True)
        else:
            row[:] = rng.integers(0, min(total, 100), size, dtype, endpoint=True)
    return rows


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", METHODS)
def test_no_unit_is_lost(name: str, dtype: str) -> None:
    run, size, _ = METHODS[name]
    for number, batch in enumerate(BATCHES):
        rows = rows_of(dtype, size, batch or 1, number)
        loads = rows if batch else rows[0]
        results = [expected(name, tuple(row)) for row in rows.tolist()]
        for record in ("loads", "metrics", "flows"):
            before = loads.copy()
            b = run(loads, record=record)
            assert np.array_equal(before, loads)
            assert b.loads.dtype == loads.dtype
            final = b.loads.reshape(-1, size)
            assert final.tolist() == [result.loads for result in results], (batch, record)
            if record != "loads":
                assert np.ravel(b.moved).tolist() == [result.moved for result in results]
                assert np.ravel(b.local).tolist() == [
                    np.sum(result.local, dtype=object) for result in results
                ]
            out = np.empty_like(loads)
            assert run(loads, record=record, out=out).loads is out
            assert np.array_equal(out, b.loads)
            run(loads, record=record, out=loads)
            assert np.array_equal(loads, b.loads)
            loads[...] = before


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("name", METHODS)
def test_what_does_not_fit_is_refused(name: str, dtype: str) -> None:
    """A total beyond int64, or more moved units, is an error at any batch size."""
    run, size, _ = METHODS[name]
    for batch in BATCHES:
        rows = np.zeros((batch or 1, size), dtype)
        rows[-1, 0] = rows[-1, -1] = 2**62
        before = rows.copy()
        with pytest.raises(OverflowError, match="must"):
            run(rows if batch else rows[0], record="metrics")
        out = np.full_like(rows, 7)
        with pytest.raises(OverflowError, match="must"):
            run(rows if batch else rows[0], record="flows", out=out if batch else out[0])
        assert (rows == before).all()
        assert (out == 7).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", METHODS)
def test_real_loads_keep_their_dtype_and_total(name: str, dtype: str) -> None:
    run, size, _ = METHODS[name]
    rng = np.random.default_rng(5)
    for batch in BATCHES:
        rows = rng.integers(0, 2**10, (batch or 1, size)).astype(dtype)
        loads = rows if batch else rows[0]
        # Where nothing but halves are taken, sums of so few bits are exact.
        tolerance = 1e-3 if dtype == "float32" else 1e-10
        finals = [run(loads, record=record).loads for record in ("loads", "metrics", "flows")]
        for final in finals:
            assert final.dtype == loads.dtype
            assert np.allclose(final.sum(-1, dtype=float), loads.sum(-1), rtol=tolerance)
            assert np.array_equal(final, finals[0])
