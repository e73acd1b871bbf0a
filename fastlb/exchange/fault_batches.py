"""Rows of loads through a plan of fault-tolerant DEM: many side by side, or one by one.

Legend: ``B`` networks, ``N`` nodes, ``W`` networks side by side in a tile.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from .casting import INT16_MAX, INT32_MAX, INT64_MAX, least_dtype, signed, source_for
from .fault_passes import plan_passes
from .figures import figures_in, room_for_figures
from .loads import Survey, all_within
from .scratch import scratch, with_own_scratch
from .tiling import VECTOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .fault_schedule import FaultSchedule

# Bytes of the tiles in hand, which stay in cache from layout to layout, and the most networks
# side by side: each pass over a row of lanes has its own start-up.
TILES_BYTES = 2**20
LANES = 512
# The largest cube worked on that way, the fewest of such, and the largest of which nodes keep their
# order: positions are worth their layout, 0.1 to 0.2 ns a node, where a tile leaves the cache.
SIDE_BY_SIDE_UP_TO = 2**14
FEWEST = 4
NODES_UP_TO = 2**8
# The same in 16-bit lanes, which a vector has twice as many of. A tile of 10-cubes then stays in
# the L2 cache, and takes 0.9 of the time of one with 512 networks in the order of positions.
NARROW_VECTOR = 32
NARROW_LANES = 256
NARROW_TILE = 2**20
INTEGERS = tuple(np.dtype(f"{kind}{width}") for kind in "iu" for width in (1, 2, 4, 8))
# Networks whose figures are worked out together, while the surveys they take are in cache.
SURVEYED = 2**15
# Most nodes of a batch whose tiles are all laid out before any is balanced: they stay in the L3
# cache, and a batch of int64 is read once instead of twice.
NARROW_NODES = 2**21


@dataclass(frozen=True)
class Carried:
    """What else is known of rows that a plan has balanced.

    Attributes
    ----------
    largest : int or float
        Largest load after a repair, before it was cast.
    moved, local : (B,) int64 or float64
        Units times links, and units that never left, where they are wanted.
    figures : dict, optional
        All figures instead, where they were worked out in passing.
    """

    largest: Any
    moved: NDArray[Any]
    local: NDArray[Any]
    figures: dict[str, NDArray[Any]] | None = None


def most_of(dtype: np.dtype[Any]) -> float:
    """Return the largest load that a dtype takes."""
    return int(np.iinfo(dtype).max) if dtype.kind in "iu" else np.inf


def fit_side_by_side(rows: NDArray[Any]) -> bool:
    """Tell whether rows are many enough, of cubes small enough.

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
) -> Carried:
    """Leave the final loads in ``out``, which may be the rows, unless some are beyond the dtype.

    ``before`` is needed where donors may end above all loads, unless these are ``small``: then
    int32 holds ``times_moved`` totals of each network.
    """
    B, N = rows.shape
    whole = rows.dtype.kind in "iu"
    singly = measured and not whole
    reverse = plan.order == "lowest" and (N > NODES_UP_TO or singly)
    place = positions_of_nodes(plan.topology.n, reverse)
    passes = plan_passes(plan, in_positions=reverse, singly=singly)
    lanes, tiles = kernels("layout.figures"), kernels("layout.tiles")
    in_hand = max(2, TILES_BYTES // (N * (4 if small else 8)) // VECTOR)
    W = VECTOR * min(in_hand, LANES // VECTOR, -(-B // VECTOR))
    step = W * (VECTOR * in_hand // W)
    figured = measured and whole
    summed: NDArray[Any] = np.empty((2, B if singly else 0), np.float64)
    columns = room_for_figures(B if figured else 0)
    largest = 0
    for first in range(0, B, step):
        part = slice(first, min(first + step, B))
        networks = rows[part]
        totals = None if before is None else before.total[part]
        largest_sum = 0 if small or not whole else _largest(plan, networks, measured, totals)
        work = least_dtype(rows.dtype, largest_sum)
        tile = scratch("tiles", (-(-len(networks) // W), N, W), work)
        tiles.load(source_for(networks, tile), tile, place)
        surveyed = scratch("surveyed", (2, 3, len(networks)), np.int64)
        top = lanes.survey(tile, surveyed[0])[0] if figured else 0
        units = columns[0][2:] if figured else summed
        moved, local = units[:, part] if measured else (None, None)
        largest = max(largest, carry_out(plan, passes, tile, not reverse, top, moved, local))
        if figured:
            lanes.survey(tile, surveyed[1])
            lanes.figures(surveyed[0], surveyed[1, 1:], moved, local, N, first, *columns)
        if largest <= most_of(rows.dtype):
            tiles.store(tile, signed(out[part]), place)
    return Carried(largest, summed[0], summed[1], figures_in(columns) if figured else None)


@dataclass(frozen=True)
class Prepared:
    """What of a plan the short ways need.

    Attributes
    ----------
    passes : (P, 6) int64
    place : (N,) int64
        The row of each node in a tile.
    narrow_tops : dict of int
        By the dtype of integer loads the largest, with all bits set, for which neither that dtype
        nor int16 is too narrow for anything that comes up, if the final loads alone are wanted.
    """

    passes: NDArray[np.int64]
    place: NDArray[np.int64]
    narrow_tops: dict[np.dtype[Any], int]


@lru_cache(maxsize=64)
def prepared(plan: FaultSchedule) -> Prepared:
    """Return what of a plan is the same for all loads, nodes in their own order."""
    passes = plan_passes(plan, in_positions=False)
    times = growth(plan)
    narrow_tops = {
        dtype: all_bits_set(min(INT16_MAX, int(np.iinfo(dtype).max)) // times) for dtype in INTEGERS
    }
    return Prepared(passes, positions_of_nodes(plan.topology.n, False), narrow_tops)


def growth(plan: FaultSchedule) -> int:
    """Return how many times the largest load anything may become that a plan works out.

    Exchanges lower the largest load. A repair leaves the stuck subcube what its donor had, and
    the donor at most both together, to which the holes, as many as the donor had, are added.
    """
    most, known = 1, [(0, plan.topology.size - 1, 1)]
    for repair in plan.repairs:
        own, donor_bound = (
            max(bound for base, free, bound in known if not (base ^ part.base) & ~free & ~part.free)
            for part in (repair.stuck, repair.donor)
        )
        known += [
            (repair.stuck.base, repair.stuck.free, donor_bound),
            (repair.donor.base, repair.donor.free, own + donor_bound),
        ]
        most = max(most, own + 2 * donor_bound)
    return most


@with_own_scratch
def narrowly(
    plan: FaultSchedule, rows: NDArray[Any], out: NDArray[Any], measured: bool
) -> Carried | None:
    """Do as ``side_by_side`` in 16-bit lanes, or return None and leave ``out`` as it was.

    That is where rows are too many, or loads no integers so small that whatever comes up fits 15
    bits and the loads' own dtype. They are looked at while they are laid out. Measured on loads up
    to 1000 in no cache, against 32-bit lanes: 3- to 14-cubes 1.3 to 1.8 times as fast.
    """
    B, N = rows.shape
    if rows.dtype.kind == "f" or rows.size > NARROW_NODES:
        return None
    ready = prepared(plan)
    top = ready.narrow_tops[rows.dtype]
    if measured:
        # A pass moves twelve halves of loads.
        top = min(top, all_bits_set(INT16_MAX // 6))
    in_hand = max(1, NARROW_TILE // (N * 2 * NARROW_VECTOR))
    W = NARROW_VECTOR * min(in_hand, NARROW_LANES // NARROW_VECTOR, -(-B // NARROW_VECTOR))
    tile = scratch("tiles", (-(-B // W), N, W), np.int16)
    lanes, tiles = kernels("layout.figures"), kernels("layout.tiles")
    # An unsigned load that is negative as a signed one is beyond ``top`` anyhow.
    if not tiles.load_within(source_for(rows, tile), tile, ready.place, top):
        return None
    if not measured:
        carry_out(plan, ready.passes, tile, True, 0, None, None)
        tiles.store(tile, signed(out), ready.place)
        return Carried(0, np.empty(0), np.empty(0))
    columns = room_for_figures(B)
    step = max(1, SURVEYED // W)
    for k in range(0, len(tile), step):
        part, networks = tile[k : k + step], slice(k * W, min((k + step) * W, B))
        moved, local = columns[0][2:, networks]
        surveyed = scratch("surveyed", (2, 3, len(moved)), np.int64)
        total, _ = lanes.survey(part, surveyed[0])
        carry_out(plan, ready.passes, part, True, total, moved, local)
        lanes.survey(part, surveyed[1])
        lanes.figures(surveyed[0], surveyed[1, 1:], moved, local, N, k * W, *columns)
        tiles.store(part, signed(out[networks]), ready.place)
    return Carried(0, columns[0][2], columns[0][3], figures_in(columns))


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

    ``ascending`` tells whether bits ascend as those of nodes do. ``moved`` and ``local`` (B,)
    receive units, or both are None; ``total`` is that of any network, and of use for int32 alone.
    """
    _, N, W = tiles.shape
    between, resident_min, units = INT64_MAX, None, None
    if moved is not None:
        counted = np.dtype(np.int32) if tiles.dtype == np.int16 else tiles.dtype
        resident_min = scratch("resident_min", (N * W,), tiles.dtype)
        units = scratch("units", (W,), counted)
        if counted == np.int32:
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
) -> Carried:
    """Leave the final loads in ``out``, which may be the rows, unless some are beyond the dtype.

    ``work`` is the dtype of the exchanges.
    """
    B, N = rows.shape
    counted = np.dtype(np.float64 if work.kind == "f" else np.int64)
    reverse = plan.order == "lowest"
    moved, local = np.zeros((2, B), counted)
    notes = np.empty(4 << largest_stuck(plan), counted)
    largest = counted.type(0)
    kernel = kernels("faults.stretches")
    in_hand = max(1, min(B, TILES_BYTES // (N * work.itemsize)))
    placed = np.empty((in_hand, N), work)
    for first in range(0, B, in_hand):
        part = slice(first, min(first + in_hand, B))
        used = placed[: part.stop - first]
        to_positions(rows[part], used, reverse)
        if measured and work.kind == "f":
            # The order in which floats are summed up must not depend on the batch.
            rotated = N > SIDE_BY_SIDE_UP_TO
            load = kernels("faults.single").balance_real(
                used, plan.positions, not reverse, rotated, moved[part], local[part]
            )
        else:
            totals = (moved[part], local[part]) if measured else (None, None)
            load = kernel.balance(used, plan.positions, not reverse, notes, *totals)
        largest = max(largest, load)
        if largest <= most_of(rows.dtype):
            to_positions(used, out[part], reverse)
    return Carried(largest, moved, local)


def to_positions(rows: NDArray[Any], out: NDArray[Any], reverse: bool) -> None:
    """Copy rows of nodes (B, N) to rows of positions, of a dtype that the loads fit, or back."""
    if reverse and rows.shape[1] > 1:
        source, target = source_for(rows, out), signed(out)
        narrower = source if source.itemsize < target.itemsize else target
        kernels("faults.positions").reverse(source, target, np.empty(4096, narrower.dtype))
    else:
        np.copyto(out, rows, casting="unsafe")


def _largest(
    plan: FaultSchedule, rows: NDArray[Any], measured: bool, totals: NDArray[Any] | None
) -> int:
    """Return a bound of whatever comes up of integers, which need not be tight."""
    if totals is None:
        return INT32_MAX if all_within(rows, INT32_MAX) else INT64_MAX
    return int(totals.max()) * (times_moved(plan) if measured else 1)


@lru_cache(maxsize=16)
def positions_of_nodes(n: int, reverse: bool) -> NDArray[np.int64]:
    """Return the position of every node: its number, or that with the bits in ``reverse`` order."""
    nodes = np.arange(1 << n)
    place = np.zeros_like(nodes) if reverse else nodes
    for bit in range(n if reverse else 0):
        place |= (nodes >> bit & 1) << (n - 1 - bit)
    return place
