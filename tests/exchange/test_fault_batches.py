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
# Donors that repair one stuck subcube after the other: loads may grow more than twofold.
CHAINED = lb.Hypercube(
    5, faults=[(0, 4), (0, 16), (1, 17), (2, 3), (3, 7), (3, 19), (5, 21), (28, 30)]
)
EDGES = [1, 2, 15, 16, 17, 63, 64, 65, 200]
INT16_MAX = 2**15 - 1
INT32_MAX = 2**31 - 1
ROWS_AND_TILES = [(8, 40, 16), (8, 70, 32), (8, 9, 96), (13, 33, 48), (16, 17, 32), (64, 100, 64)]


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


@pytest.mark.parametrize("cube", [*CUBES, CHAINED], ids=repr)
def test_loads_around_the_limits_of_int16(cube: lb.Hypercube) -> None:
    """Nothing that comes up is beyond 15 bits where rows are balanced in such lanes."""
    narrow = fault_batches.narrow_plan(lb.fault_plan(cube))
    rng = np.random.default_rng(8)
    for dtype in ("int16", "uint16", "int64", "uint64"):
        limit = narrow.tops[np.dtype(dtype)]
        for top in (limit, min(limit + 1, INT16_MAX), 4095, 4096):
            # Nodes empty and full: pegs and holes are as large as can be.
            loads = (rng.integers(0, 2, (70, cube.size)) * top).astype(dtype)
            loads[3:] -= (loads[3:] > 5) * rng.integers(0, 3, (67, cube.size)).astype(dtype)
            assert_same(cube, loads)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
@pytest.mark.parametrize("cube", [*CUBES, CHAINED], ids=repr)
def test_one_network(cube: lb.Hypercube, dtype: str) -> None:
    """The short way gives what a batch of one does, up to its limit and beyond."""
    plan = lb.fault_plan(cube)
    limit, times = int(np.iinfo(dtype).max), fault_batches.growth(plan)
    rng = np.random.default_rng(5)
    # The largest loads with which all that comes up fits 16 bits, 32 bits or the dtype.
    tops = [min(within, limit) // times for within in (INT16_MAX, INT32_MAX)]
    tops += [min(top + 1, limit // cube.size) for top in tops]
    for most in (0, 1, *tops, *(1 << (top.bit_length() - 1) for top in tops)):
        loads = (rng.integers(0, 2, cube.size) * most).astype(dtype)
        expected = plan.apply(loads[None], record="flows")
        for shape in (loads.shape, cube.shape):
            b = plan.apply(loads.reshape(shape))
            for name in FIGURES:
                assert np.array_equal(np.ravel(getattr(b, name)), np.ravel(getattr(expected, name)))
            assert type(b.moved) is type(b.steps) is int
            assert type(b.cost) is float
            assert b.loads.shape == shape
        given = loads.copy()
        b = plan.apply(given, record="loads", out=given)
        assert b.loads is given
        assert np.array_equal(given, expected.loads[0])


def test_one_network_into_memory_it_shares() -> None:
    cube = CUBES[1]
    memory = np.arange(12)
    expected = lb.fault_tolerant_dem(memory[:8].copy(), cube).loads
    out = lb.fault_tolerant_dem(memory[:8], cube, out=memory[3:11]).loads
    assert np.array_equal(out, expected)
    assert memory.tolist() == [0, 1, 2, *expected.tolist(), 11]


@pytest.mark.parametrize("batch", [(), (3,), (70,)])
def test_a_negative_load_leaves_out_as_it_was(batch: tuple[int, ...]) -> None:
    loads = np.ones((*batch, 8), np.int64)
    loads[..., 5] = -1
    out = np.full_like(loads, 7)
    for record in ("loads", "metrics"):
        with pytest.raises(ValueError, match="got -1 at node 5"):
            lb.fault_tolerant_dem(loads, CUBES[1], record=record, out=out)
        assert (out == 7).all()


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
    cube = CHAINED
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


# Types that batches meet, so that nothing is compiled for this alone.
@pytest.mark.parametrize(
    "dtype", [("int32", "int32"), ("int64", "int32"), ("uint8", "int32"), ("int32", "int64")]
)
@pytest.mark.parametrize(("N", "B", "W"), ROWS_AND_TILES)
def test_rows_go_to_tiles_and_back(N: int, B: int, W: int, dtype: tuple[str, str]) -> None:
    tiles = kernels("layout.tiles")
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
    within = np.full(tile.shape, 7, np.int16)
    assert tiles.load_within(rows, within, place, 255)
    assert np.array_equal(within, tile)
    rows[-1, -1] = 256 if rows.dtype != np.uint8 else 128
    assert not tiles.load_within(rows, within, place, 127)


@pytest.mark.parametrize("record", ["metrics", "flows"])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_units_that_do_not_fit_leave_the_loads_as_they_are(record: str, dtype: Any) -> None:
    cube = lb.Hypercube(3, faults=[(2, 6), (4, 6)])
    loads = np.zeros((3, 8), dtype)
    # What moves fits in each of the stages, not in all of them together.
    loads[:, 0] = 2**62 if dtype is np.int64 else np.finfo(dtype).max / 2
    before = loads.copy()
    with pytest.raises(OverflowError, match="moved must fit"):
        lb.fault_tolerant_dem(loads, cube, record=record, out=loads)
    assert np.array_equal(loads, before)


@pytest.mark.parametrize("dtype", ["int16", "int64"])
@pytest.mark.parametrize("measured", [False, True])
def test_repairs_in_registers_do_as_those_in_memory(measured: bool, dtype: str) -> None:
    """Levelled from the highest dimension on, with the bits of nodes swapped: notes in memory."""
    balance = kernels("faults.tiles").balance
    drawn = np.random.default_rng(7).integers(0, 1000, (1, 16, 64)).astype(dtype)
    nodes = np.arange(16)
    swapped = nodes & 0b1010 | (nodes & 1) << 2 | nodes >> 2 & 1
    for free in (0b0100, 0b0101):
        results = []
        for ascending, order, mask in ((True, nodes, free), (False, swapped, (free & 1) << 2 | 1)):
            tile = np.ascontiguousarray(drawn[:, order])
            passes = np.array([[1, 0, mask, 1, -1, -1], [1, 8, mask, 1, -1, -1]])
            counted = np.int32 if dtype == "int16" else np.int64
            resident_min, units = np.empty(16 * 64, dtype), np.empty(64, counted)
            moved, local = np.empty((2, 60), np.int64)
            record = (resident_min, units, moved, local) if measured else (None,) * 4
            largest = balance(tile, passes, ascending, 2, 1, *record)
            results.append((tile[:, order].tolist(), largest))
            if measured:
                results[-1] += (moved.tolist(), local.tolist())
        assert results[0] == results[1]
        assert results[0][0] != drawn.tolist()
