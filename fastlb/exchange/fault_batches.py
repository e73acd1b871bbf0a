"""A plan of fault-tolerant DEM applied to rows of loads, many side by side or one by one.

Legend: ``B`` networks, ``N`` nodes, ``W`` networks side by side in a tile.
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
from .figures import empty_figures, figures_in
from .loads import Survey, all_within
from .scratch import scratch, with_own_scratch
from .tiling import VECTOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .fault_schedule import FaultSchedule

# Bytes of the tiles that stay in cache together, and the most networks side by side: long rows of
# lanes save start-up time of passes.
TILES_BYTES = 2**20
LANES = 512
# The largest cubes balanced side by side, the fewest of them, and the largest cubes whose nodes
# keep their order: the order of positions costs 0.1 to 0.2 ns a node, and pays where a tile is
# larger than the cache.
SIDE_BY_SIDE_UP_TO = 2**14
FEWEST = 4
NODES_UP_TO = 2**8
# The same in 16-bit lanes, which a vector has twice as many of. A tile of 10-cubes then stays in
# the L2 cache, and takes 0.9 of the time of one with 512 networks in the order of positions.
NARROW_VECTOR = 32
NARROW_LANES = 256
NARROW_TILE = 2**20
INTEGERS = tuple(np.dtype(f"{kind}{width}") for kind in "iu" for width in (1, 2, 4, 8))
# Networks whose figures are computed together, while their surveys are in cache.
SURVEYED = 2**15
# Most nodes of a batch whose tiles are all laid out before any is balanced: they stay in the L3
# cache, and a batch of int64 is read once instead of twice.
NARROW_NODES = 2**21


@dataclass(frozen=True)
class PlanResult:
    """Units and figures of rows that a plan has balanced.

    Attributes
    ----------
    largest : int or float
        Largest load after a repair, before it was cast.
    moved, local : (B,) int64 or float64
        Units times links, and units that never left, if they are measured.
    figures : dict, optional
        All figures, if they were computed with the loads.
    """

    largest: Any
    moved: NDArray[Any]
    local: NDArray[Any]
    figures: dict[str, NDArray[Any]] | None = None


def dtype_max(dtype: np.dtype[Any]) -> float:
    """Return the largest load that a dtype holds."""
    return int(np.iinfo(dtype).max) if dtype.kind in "iu" else np.inf


def fit_side_by_side(rows: NDArray[Any]) -> bool:
    """Return whether rows are many enough, and cubes small enough, to be balanced side by side.

    Two 12-cubes take as long side by side as one by one; so do four 14-cubes.
    """
    B, N = rows.shape
    return bool(N <= SIDE_BY_SIDE_UP_TO and max(2, N * FEWEST // SIDE_BY_SIDE_UP_TO) <= B)


def largest_stuck(plan: FaultSchedule) -> int:
    """Return the dimension of the largest stuck subcube."""
    return max((stuck.dimensions for stuck in plan.stuck), default=0)


def times_moved(plan: FaultSchedule) -> int:
    """Return how often a pass may move the total of a network: once a dimension or less."""
    return largest_stuck(plan) + 3


@with_own_scratch
def side_by_side(
    plan: FaultSchedule,
    rows: NDArray[Any],
    out: NDArray[Any],
    measured: bool,
    before: Survey | None,
    small: bool,
) -> PlanResult:
    """Leave the final loads in ``out``, which may be the rows, unless some are beyond the dtype.

    ``before`` is needed where donors may end above all loads, unless these are ``small``: then
    int32 holds ``times_moved`` totals of each network.
    """
    B, N = rows.shape
    whole = rows.dtype.kind in "iu"
    singly = measured and not whole
    reverse = plan.order == "lowest" and (N > NODES_UP_TO or singly)
    positions = positions_of_nodes(plan.topology.n, reverse)
    passes = plan_passes(plan, in_positions=reverse, singly=singly)
    lanes, tiles = kernels("layout.figures"), kernels("layout.tiles")
    tiles_in_cache = max(2, TILES_BYTES // (N * (4 if small else 8)) // VECTOR)
    W = VECTOR * min(tiles_in_cache, LANES // VECTOR, -(-B // VECTOR))
    step = W * (VECTOR * tiles_in_cache // W)
    with_figures = measured and whole
    real_units: NDArray[Any] = np.empty((2, B if singly else 0), np.float64)
    columns = empty_figures(B if with_figures else 0)
    largest = 0
    for first in range(0, B, step):
        part = slice(first, min(first + step, B))
        networks = rows[part]
        totals = None if before is None else before.total[part]
        largest_sum = 0 if small or not whole else _largest(plan, networks, measured, totals)
        work = least_dtype(rows.dtype, largest_sum)
        tile = scratch("tiles", (-(-len(networks) // W), N, W), work)
        tiles.load(source_for(networks, tile), tile, positions)
        surveys = scratch("surveyed", (2, 3, len(networks)), np.int64)
        top = lanes.survey(tile, surveys[0])[0] if with_figures else 0
        units = columns[0][2:] if with_figures else real_units
        moved, local = units[:, part] if measured else (None, None)
        largest = max(largest, carry_out(plan, passes, tile, not reverse, top, moved, local))
        if with_figures:
            lanes.survey(tile, surveys[1])
            lanes.figures(surveys[0], surveys[1, 1:], moved, local, N, first, *columns)
        if largest <= dtype_max(rows.dtype):
            tiles.store(tile, signed(out[part]), positions)
    return PlanResult(
        largest, real_units[0], real_units[1], figures_in(columns) if with_figures else None
    )


@dataclass(frozen=True)
class Prepared:
    """Data of a plan for ``side_by_side_int16``.

    Attributes
    ----------
    passes : (P, 6) int64
    place : (N,) int64
        The row of each node in a tile.
    narrow_tops : dict of int
        By dtype of integer loads, the largest load, with all bits set, up to which every value
        that the plan computes for final loads fits both that dtype and int16.
    """

    passes: NDArray[np.int64]
    positions: NDArray[np.int64]
    narrow_tops: dict[np.dtype[Any], int]


@lru_cache(maxsize=64)
def prepared(plan: FaultSchedule) -> Prepared:
    """Return the data of a plan that do not depend on loads, with nodes in their own order."""
    passes = plan_passes(plan, in_positions=False)
    times = growth(plan)
    narrow_tops = {
        dtype: all_bits_set(min(INT16_MAX, int(np.iinfo(dtype).max)) // times) for dtype in INTEGERS
    }
    return Prepared(passes, positions_of_nodes(plan.topology.n, False), narrow_tops)


def growth(plan: FaultSchedule) -> int:
    """Return the largest value that a plan may compute, as a multiple of the largest load.

    Exchanges lower the largest load. A repair leaves the stuck subcube what its donor had, and
    the donor at most both together, to which the holes, as many as the donor had, are added.
    """
    most, bounds = 1, [(0, plan.topology.size - 1, 1)]
    for repair in plan.repairs:
        own, donor_bound = (
            max(
                bound for base, free, bound in bounds if not (base ^ part.base) & ~free & ~part.free
            )
            for part in (repair.stuck, repair.donor)
        )
        bounds += [
            (repair.stuck.base, repair.stuck.free, donor_bound),
            (repair.donor.base, repair.donor.free, own + donor_bound),
        ]
        most = max(most, own + 2 * donor_bound)
    return most


@with_own_scratch
def side_by_side_int16(
    plan: FaultSchedule, rows: NDArray[Any], out: NDArray[Any], measured: bool
) -> PlanResult | None:
    """Do as ``side_by_side`` in 16-bit lanes, or return None and leave ``out`` unchanged.

    None is returned for floats, for too many rows, and for loads so large that computed values
    may not fit 15 bits and the loads' own dtype, which is checked while they are laid out. Loads
    up to 1000 that are in no cache take 0.55 to 0.75 of the time of 32-bit lanes.
    """
    B, N = rows.shape
    if rows.dtype.kind == "f" or rows.size > NARROW_NODES:
        return None
    plan_data = prepared(plan)
    top = plan_data.narrow_tops[rows.dtype]
    if measured:
        # A pass moves twelve halves of loads.
        top = min(top, all_bits_set(INT16_MAX // 6))
    tiles_in_cache = max(1, NARROW_TILE // (N * 2 * NARROW_VECTOR))
    W = NARROW_VECTOR * min(tiles_in_cache, NARROW_LANES // NARROW_VECTOR, -(-B // NARROW_VECTOR))
    tile = scratch("tiles", (-(-B // W), N, W), np.int16)
    lanes, tiles = kernels("layout.figures"), kernels("layout.tiles")
    # Viewed as signed, unsigned loads beyond ``top`` may be negative, which is refused as well.
    if not tiles.load_within(source_for(rows, tile), tile, plan_data.positions, top):
        return None
    if not measured:
        carry_out(plan, plan_data.passes, tile, True, 0, None, None)
        tiles.store(tile, signed(out), plan_data.positions)
        return PlanResult(0, np.empty(0), np.empty(0))
    columns = empty_figures(B)
    step = max(1, SURVEYED // W)
    for k in range(0, len(tile), step):
        part, networks = tile[k : k + step], slice(k * W, min((k + step) * W, B))
        moved, local = columns[0][2:, networks]
        surveys = scratch("surveyed", (2, 3, len(moved)), np.int64)
        total, _ = lanes.survey(part, surveys[0])
        carry_out(plan, plan_data.passes, part, True, total, moved, local)
        lanes.survey(part, surveys[1])
        lanes.figures(surveys[0], surveys[1, 1:], moved, local, N, k * W, *columns)
        tiles.store(part, signed(out[networks]), plan_data.positions)
    return PlanResult(0, columns[0][2], columns[0][3], figures_in(columns))


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
    """Balance tiles (K, N, W) by the passes of a plan; return the largest load after a repair.

    ``ascending`` says whether bits are in the order of those of nodes. ``moved`` and ``local`` (B,)
    receive units, or both are None. ``total`` is the largest of any network; only int32 needs it.
    """
    _, N, W = tiles.shape
    between, resident_min, units = INT64_MAX, None, None
    if moved is not None:
        units_dtype = np.dtype(np.int32) if tiles.dtype == np.int16 else tiles.dtype
        resident_min = scratch("resident_min", (N * W,), tiles.dtype)
        units = scratch("units", (W,), units_dtype)
        if units_dtype == np.int32:
            between = INT32_MAX // (max(1, total) * times_moved(plan))
    return kernels("faults.tiles").balance(
        tiles, passes, ascending, largest_stuck(plan), between, resident_min, units, moved, local
    )


def one_by_one(
    plan: FaultSchedule,
    rows: NDArray[Any],
    out: NDArray[Any],
    measured: bool,
    work: np.dtype[Any],
) -> PlanResult:
    """Leave the final loads in ``out``, which may be the rows, unless some are beyond the dtype.

    ``work`` is the dtype of the exchanges.
    """
    B, N = rows.shape
    units_dtype = np.dtype(np.float64 if work.kind == "f" else np.int64)
    reverse = plan.order == "lowest"
    moved, local = np.zeros((2, B), units_dtype)
    workspace = np.empty(4 << largest_stuck(plan), units_dtype)
    largest = units_dtype.type(0)
    kernel = kernels("faults.stretches")
    tiles_in_cache = max(1, min(B, TILES_BYTES // (N * work.itemsize)))
    work_rows, least = empty((tiles_in_cache, N), work), empty(N if measured else 0, work)
    for first in range(0, B, tiles_in_cache):
        part = slice(first, min(first + tiles_in_cache, B))
        part_rows = work_rows[: part.stop - first]
        to_positions(rows[part], part_rows, reverse)
        if measured and work.kind == "f":
            # The order in which floats are summed up must not depend on the batch.
            rotated = N > SIDE_BY_SIDE_UP_TO
            load = kernels("faults.single").balance_real(
                part_rows, plan.positions, not reverse, rotated, moved[part], local[part]
            )
        else:
            totals = (least, moved[part], local[part]) if measured else (None, None, None)
            load = kernel.balance(part_rows, plan.positions, not reverse, workspace, *totals)
        largest = max(largest, load)
        if largest <= dtype_max(rows.dtype):
            to_positions(part_rows, out[part], reverse)
    return PlanResult(largest, moved, local)


def to_positions(rows: NDArray[Any], out: NDArray[Any], reverse: bool) -> None:
    """Copy rows (B, N) from the order of nodes to that of positions, or back."""
    if reverse and rows.shape[1] > 1:
        source, target = source_for(rows, out), signed(out)
        narrower = source if source.itemsize < target.itemsize else target
        kernels("faults.positions").reverse(source, target, np.empty(4096, narrower.dtype))
    else:
        copy_into(out, rows)


def _largest(
    plan: FaultSchedule, rows: NDArray[Any], measured: bool, totals: NDArray[Any] | None
) -> int:
    """Return a bound, not always tight, of all values computed for integers."""
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
