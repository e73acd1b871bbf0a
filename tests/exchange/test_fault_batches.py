"""Batches under fault-tolerant DEM: side by side, one by one and link by link the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.accelerate import kernels
from fastlb.exchange import fault_batches
from tests.oracles import fault_tolerant_dem as twin

FIGURES = (
    "loads", "moved", "local", "difference", "initial_difference", "imbalance",
    "initial_imbalance", "cost", "locality", "sweeps", "steps",
)  # fmt: skip
# A stuck subcube of one dimension, of two, and one of three beside small ones; one without faults.
CUBES = [
    lb.Hypercube(2),
    lb.Hypercube(3, faults=[(0, 4), (5, 7)]),
    lb.Hypercube(3, faults=[(0, 1), (0, 4)]),
    lb.Hypercube(5, faults=[(0, 1), (0, 2), (8, 12), (16, 24)]),
]
EDGES = [1, 2, 15, 16, 17, 63, 64, 65, 200]
INT32_MAX = 2**31 - 1


def assert_same(cube: lb.Hypercube, loads: Any, **options: Any) -> None:
    """Both records of a batch are those of the flows' kernel, which knows no tiles."""
    expected = lb.fault_tolerant_dem(loads, cube, record="flows", **options)
    found = lb.fault_tolerant_dem(loads, cube, **options)
    for name in FIGURES:
        a, b = getattr(found, name), getattr(expected, name)
        assert a.dtype == b.dtype, name
        assert np.array_equal(a, b), name
    plain = lb.fault_tolerant_dem(loads, cube, record="loads", **options)
    assert np.array_equal(plain.loads, expected.loads)
    assert plain.loads.dtype == loads.dtype


@pytest.mark.parametrize("batch", EDGES)
@pytest.mark.parametrize("cube", CUBES, ids=repr)
def test_batches_around_the_edges_of_tiles(cube: lb.Hypercube, batch: int) -> None:
    rng = np.random.default_rng(batch)
    order = ("lowest", "highest")[batch % 2]
    for dtype in ("int32", "int64", "uint8"):
        loads = rng.integers(0, 30, (batch, cube.size)).astype(dtype)
        assert_same(cube, loads, order=order)
        last = lb.fault_tolerant_dem(loads[-1], cube, order=order)
        run = twin.fault_tolerant_dem(loads[-1].tolist(), cube.faults, order)
        assert (last.loads.tolist(), last.moved, last.local) == (run.loads, run.moved, run.local)


@pytest.mark.parametrize("cube", CUBES, ids=repr)
def test_tiles_of_narrow_and_of_wide_totals(monkeypatch: Any, cube: lb.Hypercube) -> None:
    """Every part of a batch is balanced in the dtype that its own totals take."""
    monkeypatch.setattr(fault_batches, "TILES_BYTES", 2**11)
    rng = np.random.default_rng(4)
    loads = rng.integers(0, 1000, (200, cube.size))
    loads[70:90] <<= 30
    loads[150] <<= 40
    assert_same(cube, loads)
    assert_same(cube, loads.astype(np.uint64))


@pytest.mark.parametrize("batch", [3, 40])
def test_totals_up_to_the_limits_of_int32(batch: int) -> None:
    """What a whole plan moves is more than int32 takes, what a pass moves is not."""
    cube = lb.Hypercube(5, faults=[(0, 1), (0, 2), (8, 12), (16, 24)])
    for times in (1, fault_batches.times_moved(lb.fault_plan(cube)), 40):
        loads = np.zeros((batch, cube.size), np.int64)
        loads[np.arange(batch), np.arange(batch) % 32] = INT32_MAX // times
        for dtype in (np.int32, np.int64):
            assert_same(cube, loads.astype(dtype))
            assert_same(cube, (loads // 32 + 1).astype(dtype))
        assert_same(cube, loads + times)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("cube", CUBES, ids=repr)
def test_loads_near_the_limits_of_the_dtype(cube: lb.Hypercube, dtype: str) -> None:
    top = min(int(np.iinfo(dtype).max), 2**63 - 1)
    rng = np.random.default_rng(9)
    loads = np.full((20, cube.size), top // cube.size, dtype)
    loads -= rng.integers(0, 3, loads.shape).astype(dtype)
    plan = lb.fault_plan(cube)
    runs = [twin.fault_tolerant_dem(row, cube.faults) for row in loads.tolist()]
    assert plan.apply(loads, record="loads").loads.tolist() == [run.loads for run in runs]
    if max(run.moved for run in runs) <= 2**63 - 1:
        b = plan.apply(loads)
        assert b.moved.tolist() == [run.moved for run in runs]
        assert b.local.tolist() == [run.local for run in runs]


@pytest.mark.parametrize("batch", [5, 70])
def test_a_load_beyond_the_dtype_leaves_the_batch_as_it_was(batch: int) -> None:
    cube = lb.Hypercube(
        5, faults=[(0, 4), (0, 16), (1, 17), (2, 3), (3, 7), (3, 19), (5, 21), (28, 30)]
    )
    below = [0, 0, 0, 2, 0, 1, 2, 1, 0, 0, 0, 2, 1, 1, 2, 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1]
    loads = np.full((batch, 32), 3, np.int8)
    loads[-1] = 127 - np.array([*below, 0, 2, 1, 0])
    kept = loads.copy()
    for record in ("loads", "metrics", "flows"):
        with pytest.raises(OverflowError, match="which is 128"):
            lb.fault_tolerant_dem(loads, cube, record=record, out=loads)
        assert np.array_equal(loads, kept)
    wide = loads.astype(np.int16)
    assert lb.fault_tolerant_dem(wide, cube, out=wide).loads is wide
    assert wide.max() == 128


@pytest.mark.parametrize("record", ["loads", "metrics"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 3, 6])
def test_floats_are_the_same_bits_in_every_batch(n: int, dtype: str, record: str) -> None:
    rng = np.random.default_rng(n)
    cube = lb.Hypercube(n, faults=[(0, 1 << bit) for bit in range(n - 1)])
    loads = (rng.random((66, cube.size)) * 10.0 ** rng.integers(-5, 6)).astype(dtype)
    names = ("loads",) if record == "loads" else FIGURES
    whole = lb.fault_tolerant_dem(loads, cube, record=record)
    for batch in (1, 2, 17):
        part = lb.fault_tolerant_dem(loads[:batch], cube, record=record)
        for name in names:
            assert getattr(part, name).tobytes() == getattr(whole, name)[:batch].tobytes(), name


def test_views_and_batches_of_several_axes() -> None:
    cube = CUBES[1]
    loads = np.random.default_rng(2).integers(0, 99, (4, 6, 2, 2, 2))
    expected = lb.fault_tolerant_dem(loads.reshape(24, 8), cube)
    for given in (np.asfortranarray(loads), np.repeat(loads, 2, axis=1)[:, ::2]):
        b = lb.fault_tolerant_dem(given, cube, out=given)
        assert b.loads is given
        assert np.array_equal(given.reshape(24, 8), expected.loads)
        assert np.array_equal(b.moved, expected.moved.reshape(4, 6))


@pytest.mark.parametrize("dtype", [("int32", "int32"), ("int64", "int32"), ("uint8", "int64")])
@pytest.mark.parametrize(("N", "B", "W"), [(8, 40, 16), (13, 33, 48), (16, 17, 32), (64, 100, 64)])
def test_rows_go_to_tiles_and_back(N: int, B: int, W: int, dtype: tuple[str, str]) -> None:
    tiles = kernels("tiles")
    rng = np.random.default_rng(N)
    rows, place = rng.integers(0, 200, (B, N)).astype(dtype[0]), rng.permutation(N)
    tile = np.full((-(-B // W), N, W), 7, dtype[1])
    tiles.load(rows, tile, place)
    expected = np.zeros((len(tile) * W, N), dtype[1])
    expected[:B] = rows
    assert np.array_equal(tile[:, place].transpose(0, 2, 1).reshape(-1, N), expected)
    back = np.empty_like(rows)
    tiles.store(tile, back, place)
    assert np.array_equal(back, rows)
