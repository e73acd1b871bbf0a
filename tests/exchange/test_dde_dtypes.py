"""DDE at every dtype, batch size and record level, up to the limit of what fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests import strategies as ours
from tests.oracles import dde

BATCHES = (1, 3, 4, 5, 16, 17, 64, 65)
INT64_MAX = 2**63 - 1
# The least and the largest network of each: a whole register of lines is balanced differently.
GRID = lb.Grid((4, 2, 8), wrap=(True, False, True))
GRIDS = GRID, lb.Mesh(3, 5), lb.Torus(16, 3)


def largest_load(grid: lb.Grid, dtype: Any) -> int:
    """Return a load that all nodes may have: totals times the longest axis fit 63 bits."""
    if dtype.kind == "f":
        # Means of multiples of the size are exact in float32 up to 2**24.
        return 2**24 // grid.size
    return int(min(np.iinfo(dtype).max, INT64_MAX // (grid.size * sum(grid.shape))))


def rows_of(grid: lb.Grid, dtype: Any, batch: int) -> Any:
    """Return rows of random loads, of loads at the limit, and of all load at one node."""
    chance = np.random.default_rng(batch)
    top = largest_load(grid, dtype)
    rows = chance.integers(0, top, (batch, grid.size), endpoint=True)
    rows[-1] = top
    if batch > 1:
        rows[1] = 0
        rows[1, chance.integers(grid.size)] = top
    if dtype.kind == "f":
        rows = rows // grid.size * grid.size
    return rows.astype(dtype)


def check(grid: lb.Grid, rows: Any, exchange: str) -> None:
    real = rows.dtype.kind == "f"
    b = lb.dde(rows, grid, exchange=exchange, record="flows")
    for record in ("loads", "metrics"):
        other = lb.dde(rows, grid, exchange=exchange, record=record)
        assert other.loads.dtype == rows.dtype
        assert other.loads.tobytes() == b.loads.tobytes()
        if record == "metrics":
            for name in ("moved", "local", "rounds", "cost", "locality", "imbalance"):
                assert np.array_equal(getattr(other, name), getattr(b, name)), name
    for i, row in enumerate(rows.tolist()):
        twin = dde.dde(row, grid.shape, grid.wrap, mode=exchange, real=real)
        assert b.loads[i].tolist() == twin.loads
        assert b.flows[i].reshape(grid.ndim, -1).tolist() == twin.flows
        assert b.stages[:, i].tolist() == twin.stages
        assert (b.moved[i], b.local[i]) == (twin.moved, twin.local)
        assert b.moved_per_stage[:, i].tolist() == twin.moved_per_axis
        assert b.rounds_per_stage[:, i].tolist() == twin.rounds_per_axis


@pytest.mark.parametrize("dtype", [*ours.INTEGERS, *ours.FLOATS], ids=str)
def test_every_dtype_batch_size_and_record(dtype: Any, full: bool) -> None:
    for batch in BATCHES:
        for grid in GRIDS if dtype.kind != "f" else GRIDS[:1]:
            if full or grid is GRID or batch in (1, 5, 17):
                check(grid, rows_of(grid, dtype, batch), "rbs")
    check(GRID, rows_of(GRID, dtype, 5), "sbr")


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("batch", BATCHES)
def test_totals_up_to_the_largest_int64(dtype: str, batch: int) -> None:
    """Above 2**53 no float64 holds every load; the mesh moves the total at the most."""
    mesh = lb.Mesh(2, 2)
    rows = np.zeros((batch, 4), dtype)
    for b in range(batch):
        rows[b, b % 4] = (2**53 + 1, INT64_MAX, INT64_MAX - b, 2**62 - 1)[b % 4]
    check(mesh, rows, "rbs")
    assert lb.dde(rows, mesh).loads.sum(axis=1).tolist() == rows.sum(axis=1).tolist()


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("batch", BATCHES)
def test_what_does_not_fit_is_refused(dtype: str, batch: int) -> None:
    chain = lb.Chain(4)
    rows = np.zeros((batch, 4), dtype)
    # All of it at one end moves 1.5 times the total over the links.
    rows[-1, 0] = INT64_MAX // 3 * 2
    check(chain, rows, "rbs")
    rows[-1, 0] += 6
    lb.dde(rows, chain, record="loads")
    with pytest.raises(OverflowError, match=f"moved must fit int64, got .* in row {batch - 1}"):
        lb.dde(rows, chain)
    rows[-1, :2] = INT64_MAX, 1
    for record in ("loads", "metrics", "flows"):
        with pytest.raises(OverflowError, match="total that fits int64"):
            lb.dde(rows, chain, record=record)
