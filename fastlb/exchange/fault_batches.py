"""A plan of fault-tolerant DEM applied to rows of loads, many side by side or one by one.

Legend: ``B`` networks, ``N`` nodes, ``W`` networks side by side in a tile.

============================================  ==================================================
rows                                          function
============================================  ==================================================
many integers that fit 16 bits                ``side_by_side_int16``, in tiles
many rows of small networks                   ``side_by_side``, in tiles of 32 or 64 bits
few rows, or large networks                   ``one_by_one``
============================================  ==================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..pages import copy_into, empty
from .casting import INT16_MAX, INT32_MAX, INT64_MAX, least_dtype, signed, source_for
from .fault_passes import plan_passes
from .fault_rows import Checks, Result
from .figures import empty_figures, figures_in
from .loads import all_within
from .scratch import scratch, with_own_scratch
from .tiling import VECTOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .fault_schedule import FaultSchedule

# Bytes of the tiles that stay in cache together, and the most networks side by side: long rows of
# lanes save start-up time of passes.
TILES_BYTES = 2**20
LANES = 512
# Nodes of the largest cubes balanced side by side, and the fewest of these.
LARGEST_SIDE_BY_SIDE = 2**14
FEWEST_LARGEST = 4
# Nodes of the largest cubes whose nodes keep their order: the order of positions costs 0.1 to
# 0.2 ns a node, and pays where a tile is larger than the cache.
LARGEST_IN_NODE_ORDER = 2**8
# The same for 16-bit lanes, of which a vector has twice as many. A tile of 10-cubes then stays in
# the L2 cache, and takes 0.9 of the time of one with 512 networks in the order of positions.
NARROW_VECTOR = 32
NARROW_LANES = 256
NARROW_TILE_BYTES = 2**20
# Most loads of a batch in 16-bit lanes: its tiles are all laid out before any is balanced. They
# stay in the L3 cache, and a batch of int64 is read once instead of twice.
MOST_NARROW_LOADS = 2**21
# Networks whose figures are computed together, while their surveys are in cache.
SURVEYED_TOGETHER = 2**15
INTEGERS = tuple(np.dtype(f"{kind}{width}") for kind in "iu" for width in (1, 2, 4, 8))


def dtype_max(dtype: np.dtype[Any]) -> float:
    """Return the largest load that a dtype holds."""
    return int(np.iinfo(dtype).max) if dtype.kind in "iu" else np.inf


def fit_side_by_side(rows: NDArray[Any]) -> bool:
    """Return whether rows are many enough, and cubes small enough, to be balanced side by side.

    Two 12-cubes take as long side by side as one by one; so do four 14-cubes.
    """
    B, N = rows.shape
    least = max(2, N * FEWEST_LARGEST // LARGEST_SIDE_BY_SIDE)
    return bool(N <= LARGEST_SIDE_BY_SIDE and least <= B)


def largest_stuck(plan: FaultSchedule) -> int:
    """Return the dimension of the largest stuck subcube."""
    return max((stuck.dimensions for stuck in plan.stuck), default=0)


def times_moved(plan: FaultSchedule) -> int:
    """Return a bound on how many times the total of a network moves in one pass."""
    return largest_stuck(plan) + 3


@with_own_scratch
def side_by_side(
    plan: FaultSchedule,
    rows: NDArray[Any],
    out: NDArray[Any],
    checks: Checks,
    *,
    measured: bool,
) -> Result:
    """Balance rows of many networks; write the final loads to ``out`` if all fit its dtype.

    ``out`` may be the rows. ``measured`` tells whether units and figures are counted.
    """
    B, N = rows.shape
    whole = rows.dtype.kind in "iu"
    singly = measured and not whole
    reverse = plan.order == "lowest" and (N > LARGEST_IN_NODE_ORDER or singly)
    positions = positions_of_nodes(plan.topology.n, reverse)
    passes = plan_passes(plan, in_positions=reverse, singly=singly)
    lanes, tiles = kernels("layout.figures"), kernels("layout.tiles")
    itemsize = 4 if checks.are_small else 8
    tiles_in_cache = max(2, TILES_BYTES // (N * itemsize) // VECTOR)
    W = VECTOR * min(tiles_in_cache, LANES // VECTOR, -(-B // VECTOR))
    step = W * (VECTOR * tiles_in_cache // W)
    with_figures = measured and whole
    real_units: NDArray[Any] = np.empty((2, B if singly else 0), np.float64)
    columns = empty_figures(B if with_figures else 0)
    largest = 0
    for first in range(0, B, step):
        part = slice(first, min(first + step, B))
        networks = rows[part]
        largest_sum = 0
        if whole and not checks.are_small:
            totals = None if checks.survey is None else checks.survey.total[part]
            largest_sum = _largest_sum(plan, networks, totals, measured=measured)
        work = least_dtype(rows.dtype, largest_sum)
        tile = scratch("tiles", (-(-len(networks) // W), N, W), work)
        tiles.load(source_for(networks, tile), tile, positions)
        surveys = scratch("surveyed", (2, 3, len(tile) * W), np.int64)
        top = lanes.survey(tile, surveys[0])[0] if with_figures else 0
        units = columns[0][2:] if with_figures else real_units
        moved, local = units[:, part] if measured else (None, None)
        largest = max(largest, carry_out(plan, passes, tile, not reverse, top, moved, local))
        if with_figures:
            lanes.survey(tile, surveys[1])
            lanes.figures(surveys[0], surveys[1, 1:], moved, local, N, first, *columns)
        if largest <= dtype_max(rows.dtype):
            tiles.store(tile, signed(out[part]), positions)
    all_figures = figures_in(columns) if with_figures else None
    return Result(largest, real_units[0], real_units[1], all_figures)


@dataclass(frozen=True)
class NarrowPlan:
    """A plan for 16-bit lanes, with nodes in their own order.

    Attributes
    ----------
    passes : (P, 6) int64
    positions : (N,) int64
        The row of each node in a tile.
    tops : dict of int
        By dtype of integer loads, the largest load, with all bits set, up to which every value
        that the plan computes for final loads fits both that dtype and int16.
    """

    passes: NDArray[np.int64]
    positions: NDArray[np.int64]
    tops: dict[np.dtype[Any], int]


@lru_cache(maxsize=64)
def narrow_plan(plan: FaultSchedule) -> NarrowPlan:
    """Return what ``side_by_side_int16`` needs of a plan, whatever the loads."""
    passes = plan_passes(plan, in_positions=False)
    times = growth(plan)
    tops = {
        dtype: all_bits_set(min(INT16_MAX, int(np.iinfo(dtype).max)) // times) for dtype in INTEGERS
    }
    return NarrowPlan(passes, positions_of_nodes(plan.topology.n, False), tops)


def growth(plan: FaultSchedule) -> int:
    """Return the largest value that a plan may compute, as a multiple of the largest load.

    Exchanges lower the largest load. After a repair the stuck subcube has at most what its donor
    had, and the donor at most what both had. During the repair, the donor's holes are added to
    this, which are at most what the donor had.
    """
    # Bounds (base, free, multiple) of the loads in subcubes, all nodes first.
    most, bounds = 1, [(0, plan.topology.size - 1, 1)]
    for repair in plan.repairs:
        stuck_bound, donor_bound = (
            max(
                bound for base, free, bound in bounds if not (base ^ part.base) & ~free & ~part.free
            )
            for part in (repair.stuck, repair.donor)
        )
        bounds += [
            (repair.stuck.base, repair.stuck.free, donor_bound),
            (repair.donor.base, repair.donor.free, stuck_bound + donor_bound),
        ]
        most = max(most, stuck_bound + 2 * donor_bound)
    return most


@with_own_scratch
def side_by_side_int16(
    plan: FaultSchedule, rows: NDArray[Any], out: NDArray[Any], *, measured: bool
) -> Result | None:
    """Balance as ``side_by_side`` does, in 16-bit lanes, or return None and write nothing.

    The loads need no checks before. None is returned for floats, for too many loads, for illegal
    ones, and for loads so large that computed values may not fit 15 bits and the loads' own dtype.
    Loads up to 1000 that are in no cache take 0.55 to 0.75 of the time of 32-bit lanes.
    """
    B, N = rows.shape
    if rows.dtype.kind == "f" or rows.size > MOST_NARROW_LOADS:
        return None
    narrow = narrow_plan(plan)
    top = narrow.tops[rows.dtype]
    if measured:
        # A pass moves at most twelve halves of loads.
        top = min(top, all_bits_set(INT16_MAX // 6))
    tiles_in_cache = max(1, NARROW_TILE_BYTES // (N * 2 * NARROW_VECTOR))
    W = NARROW_VECTOR * min(tiles_in_cache, NARROW_LANES // NARROW_VECTOR, -(-B // NARROW_VECTOR))
    tile = scratch("tiles", (-(-B // W), N, W), np.int16)
    lanes, tiles = kernels("layout.figures"), kernels("layout.tiles")
    # Viewed as signed, unsigned loads beyond ``top`` may be negative, which is refused as well.
    if not tiles.load_within(source_for(rows, tile), tile, narrow.positions, top):
        return None
    if not measured:
        carry_out(plan, narrow.passes, tile, True, 0, None, None)
        tiles.store(tile, signed(out), narrow.positions)
        return Result(0, np.empty(0), np.empty(0))
    columns = empty_figures(B)
    step = max(1, SURVEYED_TOGETHER // W)
    for k in range(0, len(tile), step):
        part, networks = tile[k : k + step], slice(k * W, min((k + step) * W, B))
        moved, local = columns[0][2:, networks]
        surveys = scratch("surveyed", (2, 3, len(part) * W), np.int64)
        total, _ = lanes.survey(part, surveys[0])
        carry_out(plan, narrow.passes, part, True, total, moved, local)
        lanes.survey(part, surveys[1])
        lanes.figures(surveys[0], surveys[1, 1:], moved, local, N, k * W, *columns)
        tiles.store(part, signed(out[networks]), narrow.positions)
    return Result(0, columns[0][2], columns[0][3], figures_in(columns))


def all_bits_set(most: int) -> int:
    """Return the largest number up to ``most`` of which all bits are set."""
    return (1 << (most + 1).bit_length() - 1) - 1


def carry_out(
    plan: FaultSchedule,
    passes: NDArray[np.int64],
    tiles: NDArray[Any],
    ascending: bool,
    total: int,
    moved: NDArray[Any] | None,
    local: NDArray[Any] | None,
) -> Any:
    """Run the passes of a plan on tiles in place; return the largest load that a repair has left.

    Only repairs raise a load above the largest one there was, so that callers compare this number
    with what their dtype holds.

    Parameters
    ----------
    passes : (P, 6) int64
        As ``plan_passes`` returns them.
    tiles : (K, N, W) int16, int32, int64 or float64
        Row i of a tile holds node i, or the node at position i, of W networks.
    ascending : bool
        Whether rows are nodes in the order of their numbers; False if they are positions, whose
        bits are in reverse order.
    total : int
        The largest total of a network. Units in int32 are added to ``moved`` after as many passes
        as cannot overflow with such totals; other dtypes do not need it.
    moved, local : (B,), or both None
        Receive the units that move and those that never leave. With None only loads are computed.
    """
    _, N, W = tiles.shape
    passes_between, resident_min, units = INT64_MAX, None, None
    if moved is not None:
        units_dtype = np.dtype(np.int32) if tiles.dtype == np.int16 else tiles.dtype
        resident_min = scratch("resident_min", (N * W,), tiles.dtype)
        units = scratch("units", (W,), units_dtype)
        if units_dtype == np.int32:
            passes_between = INT32_MAX // (max(1, total) * times_moved(plan))
    return kernels("faults.tiles").balance(
        tiles, passes, ascending, largest_stuck(plan), passes_between, resident_min, units, moved,
        local,
    )  # fmt: skip


def one_by_one(
    plan: FaultSchedule,
    rows: NDArray[Any],
    out: NDArray[Any],
    dtype: np.dtype[Any],
    *,
    measured: bool,
) -> Result:
    """Balance rows one after the other, computing in a dtype; see ``side_by_side`` for the rest."""
    B, N = rows.shape
    units_dtype = np.dtype(np.float64 if dtype.kind == "f" else np.int64)
    reverse = plan.order == "lowest"
    moved, local = np.zeros((2, B), units_dtype)
    workspace = np.empty(4 << largest_stuck(plan), units_dtype)
    largest = units_dtype.type(0)
    kernel = kernels("faults.stretches")
    rows_in_cache = max(1, min(B, TILES_BYTES // (N * dtype.itemsize)))
    work_rows, least = empty((rows_in_cache, N), dtype), empty(N if measured else 0, dtype)
    for first in range(0, B, rows_in_cache):
        part = slice(first, min(first + rows_in_cache, B))
        part_rows = work_rows[: part.stop - first]
        to_positions(rows[part], part_rows, reverse)
        if measured and dtype.kind == "f":
            # The order in which floats are added must not depend on the batch.
            rotated = N > LARGEST_SIDE_BY_SIDE
            load = kernels("faults.single").balance_real(
                part_rows, plan.positions, not reverse, rotated, moved[part], local[part]
            )
        else:
            units = (least, moved[part], local[part]) if measured else (None, None, None)
            load = kernel.balance(part_rows, plan.positions, not reverse, workspace, *units)
        largest = max(largest, load)
        if largest <= dtype_max(rows.dtype):
            to_positions(part_rows, out[part], reverse)
    return Result(largest, moved, local)


def to_positions(rows: NDArray[Any], out: NDArray[Any], reverse: bool) -> None:
    """Copy rows (B, N) from the order of nodes to that of positions, or back."""
    if reverse and rows.shape[1] > 1:
        source, target = source_for(rows, out), signed(out)
        narrower = source if source.itemsize < target.itemsize else target
        kernels("faults.positions").reverse(source, target, np.empty(4096, narrower.dtype))
    else:
        copy_into(out, rows)


def _largest_sum(
    plan: FaultSchedule, rows: NDArray[Any], totals: NDArray[Any] | None, *, measured: bool
) -> int:
    """Return a bound on all values computed for rows of integers, from their totals if known."""
    if totals is None:
        return INT32_MAX if all_within(rows, INT32_MAX) else INT64_MAX
    return int(totals.max()) * (times_moved(plan) if measured else 1)


@lru_cache(maxsize=16)
def positions_of_nodes(n: int, reverse: bool) -> NDArray[np.int64]:
    """Return the position of every node: its number, or that with the bits in ``reverse`` order."""
    nodes = np.arange(1 << n)
    positions = np.zeros_like(nodes) if reverse else nodes
    for bit in range(n if reverse else 0):
        positions |= (nodes >> bit & 1) << (n - 1 - bit)
    return positions
