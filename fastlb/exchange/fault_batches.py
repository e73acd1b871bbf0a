"""Rows of loads through a plan of fault-tolerant DEM: many side by side, or one by one.

Legend: ``B`` networks, ``N`` nodes, ``W`` networks side by side in a tile.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from .fault_passes import plan_passes
from .loads import Survey, all_within
from .result import INT64_MAX, units_dtype
from .scratch import scratch
from .tiling import VECTOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .fault_plans import FaultPlan

# Bytes of the tiles in hand, which stay in cache from layout to layout, and the most networks
# side by side: each pass over a row of lanes has its own start-up.
TILES_BYTES = 2**19
LANES = 512
# The largest cube worked on that way, and the fewest of them.
SIDE_BY_SIDE_UP_TO = 2**14
FEWEST = 8
INT32_MAX = 2**31 - 1


@dataclass(frozen=True)
class Carried:
    """What else is known of rows that a plan has balanced.

    Attributes
    ----------
    moved, local : (B,) int64 or float64
        Units times links, and units that never left; zeros where not wanted.
    largest : int or float
        Largest load after a repair, before it was cast.
    before, after : Survey, optional
        Of the rows, where it was surveyed in passing.
    """

    moved: NDArray[Any]
    local: NDArray[Any]
    largest: Any
    before: Survey | None = None
    after: Survey | None = None


def fit_side_by_side(rows: NDArray[Any]) -> bool:
    """Tell whether rows are many enough, of cubes small enough."""
    return len(rows) >= FEWEST and rows.shape[1] <= SIDE_BY_SIDE_UP_TO


def largest_stuck(plan: FaultPlan) -> int:
    """Return the dimension of the largest stuck subcube."""
    return max((stuck.dimensions for stuck in plan.stuck), default=0)


def times_moved(plan: FaultPlan) -> int:
    """Return how often a pass may move the total of a network: once a dimension or less."""
    return largest_stuck(plan) + 3


def side_by_side(
    plan: FaultPlan,
    rows: NDArray[Any],
    out: NDArray[Any],
    booked: bool,
    before: Survey | None,
    small: bool,
) -> Carried:
    """Leave the final loads in ``out``, which may be the rows, a few tiles at a time.

    ``before`` is needed where donors may end above all loads, unless these are ``small``: then
    int32 holds ``times_moved`` totals of each network.
    """
    B, N = rows.shape
    whole = rows.dtype.kind in "iu"
    reverse, deepest = plan.order == "lowest", largest_stuck(plan)
    place = _places(plan.topology.n, reverse)
    passes = plan_passes(plan, in_positions=True, singly=booked and not whole)
    lanes, tiles, carry_out = kernels("lanes"), kernels("tiles"), kernels("fault_tiles").carry_out
    in_hand = max(1, TILES_BYTES // (N * (4 if small else 8)) // VECTOR)
    W = VECTOR * min(in_hand, LANES // VECTOR, -(-B // VECTOR))
    step = W * (VECTOR * in_hand // W)
    sums: NDArray[Any] = np.zeros((2, B if booked else 0), units_dtype(rows))
    moved, local = sums
    surveyed = np.empty((2, 3, B if booked and whole else 0), np.int64)
    largest = 0
    for first in range(0, B, step):
        part = slice(first, min(first + step, B))
        given = rows[part]
        totals = None if before is None else before.total[part]
        narrow = whole and (small or _narrow(plan, given, booked, totals))
        work = _work(rows.dtype, narrow)
        tile = scratch("tiles", (-(-len(given) // W), N, W), work)
        tiles.load(given, tile, place)
        within = INT64_MAX
        if booked and whole:
            top, _ = lanes.survey(tile, surveyed[0, :, part])
            if work.itemsize == 4:
                within = INT32_MAX // (max(1, top) * times_moved(plan))
        books: tuple[Any, ...] = (None,) * 4
        if booked:
            least, units = scratch("least", (N * W,), work), scratch("units", (W,), work)
            books = least, units, moved[part], local[part]
        found = carry_out(tile, passes, not reverse, deepest, within, *books)
        largest = max(largest, found)
        if booked and whole:
            lanes.survey(tile, surveyed[1, :, part])
        tiles.store(tile, out[part], place)
    if not (booked and whole):
        return Carried(moved, local, largest)
    return Carried(moved, local, largest, *(Survey(*figures) for figures in surveyed))


def one_by_one(
    plan: FaultPlan, rows: NDArray[Any], out: NDArray[Any], booked: bool, narrow: bool
) -> Carried:
    """Leave the final loads in ``out``, which may be the rows.

    ``narrow`` tells that int32 holds the total of each network; int64 and float64 always do.
    """
    B, N = rows.shape
    work = _work(rows.dtype, narrow)
    reverse, deepest = plan.order == "lowest", largest_stuck(plan)
    # The order in which floats are summed up must not depend on the batch.
    rotating = N > SIDE_BY_SIDE_UP_TO or not (booked and work.kind == "f")
    rearrange = kernels("positions").rearrange
    carry_out = kernels("fault_tolerant_dem").carry_out
    kind: NDArray[Any] = np.zeros(1, units_dtype(rows))
    moved, local = np.zeros((2, B), kind.dtype)
    largest = kind[0]
    in_hand = max(1, TILES_BYTES // (N * work.itemsize))
    placed = np.empty((min(in_hand, B), N), work)
    for first in range(0, B, in_hand):
        part = slice(first, min(first + in_hand, B))
        used = placed[: part.stop - first]
        rearrange(rows[part], used, plan.topology.n, reverse)
        moved[part], local[part], load = carry_out(
            used, plan.positions, not reverse, rotating, deepest, booked, kind
        )
        largest = max(largest, load)
        rearrange(used, out[part], plan.topology.n, reverse)
    return Carried(moved, local, largest)


def _work(dtype: np.dtype[Any], narrow: bool) -> np.dtype[Any]:
    """Return the type the exchanges run in: few of them, so that few kernels are compiled."""
    if dtype.kind == "f":
        return np.dtype(np.float64)
    return np.dtype(np.int32) if narrow else np.dtype(np.int64)


def _narrow(plan: FaultPlan, rows: NDArray[Any], booked: bool, totals: NDArray[Any] | None) -> bool:
    """Tell whether int32 holds whatever comes up."""
    if totals is None:
        return all_within(rows, INT32_MAX)
    return int(totals.max()) * (times_moved(plan) if booked else 1) <= INT32_MAX


@lru_cache(maxsize=16)
def _places(n: int, reverse: bool) -> NDArray[np.int64]:
    """Return the position of every node."""
    place: NDArray[np.int64] = kernels("positions").places(n, reverse)
    return place
