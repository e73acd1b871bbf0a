"""Link-fault-tolerant dimension exchange on hypercubes (More-Wu section 2.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..errors import FaultError
from ..memory import require_memory
from .fault_plans import FaultPlan, fault_plan
from .fault_tree import FaultTree, fault_tree
from .loads import (
    Survey,
    check_record,
    check_values,
    finished,
    output_rows,
    read_loads,
    survey,
    survey_after,
)
from .result import INT64_MAX, Balance, figures, per_batch, units_dtype

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..topologies.topology import Hypercube

# Trials side by side in a tile, loads in a tile, the largest cube that is worked on that way,
# and the bytes of tiles in hand: they stay in cache between layout and exchange. Narrower tiles
# cost up to 4 times as much, as every stretch of a row of lanes has its own start-up.
LANES = 512
TILE_LOADS = 2**19
LANES_UP_TO = 2**14
TILES_BYTES = 2**19
INT32_MAX = 2**31 - 1
FLOAT64_MAX = float(np.finfo(np.float64).max)
SIGN = np.uint64(2**63)


def fault_tolerant_dem(
    loads: ArrayLike,
    topology: Hypercube,
    *,
    order: str = "lowest",
    donor: str = "latest",
    fallback: str | None = None,
    finish: str | None = None,
    record: str = "metrics",
    out: NDArray[Any] | None = None,
) -> Balance:
    """Balance a hypercube with faulty links by dimension exchange (More-Wu section 2.2).

    Every subcube is balanced along a fault-free dimension and halved there; a subcube with a
    fault in each of its dimensions hands its pegs (load above its neighbour's) and holes (load
    below) to a fault-free neighbour, which levels them. Load is conserved, never negative, and
    uses no faulty link. With at most ``n - 1`` faults loads of floats end equal; with more they
    need not, even where a plan exists. Integer loads do not always end within 1, and may differ
    by more than ``n``.

    Parameters
    ----------
    loads : array_like, shape (*batch, *topology.shape) or (*batch, topology.size)
        Tasks of each node: integers, float32 or float64, not negative.
    topology : Hypercube
        With its faulty links.
    order : {"lowest", "highest"}
        Which fault-free dimension of a subcube is split first.
    donor : {"latest", "earliest"}
        Which donor a stuck subcube takes first, by when the two were split.
    fallback : {None, "tree"}
        What to do when there is no plan: raise, or send exact quotas along a breadth-first tree
        of each connected component (difference at most 1 within each).
    finish : {None, "tree"}
        ``"tree"`` does the same after the plan, as a last polish.
    record : {"loads", "metrics", "flows"}
        How much to record. The stages are the splits, the repairs and the tree. Steps are 3 an
        exchange; a repair of a k-cube takes ``3k + 4``, a tree of height h ``4h``.
    out : ndarray, optional
        Where the final loads go; may be the input.

    Returns
    -------
    Balance

    Raises
    ------
    FaultError
        If the faults leave no plan and there is no fallback.
    TypeError
        If the topology is no :class:`Hypercube`, or the loads are of a refused dtype.
    ValueError
        If an argument is none of those named, or loads are negative, NaN or infinite.
    OverflowError
        If a total does not fit int64, or a node would hold more than the dtype takes.

    Notes
    -----
    Differs from the paper: a sender inside the donor keeps the holes registered with it; without
    this cap loads can fall below 0.

    Examples
    --------
    >>> from fastlb import Hypercube
    >>> cube = Hypercube(3, faults=[(0, 4), (5, 7)])
    >>> fault_tolerant_dem([3, 9, 2, 8, 1, 7, 0, 30], cube).loads
    array([7, 7, 7, 8, 8, 7, 8, 8])
    """
    _check_tree("fallback", fallback)
    try:
        plan = fault_plan(topology, order=order, donor=donor)
    except FaultError:
        if fallback is None:
            raise
        _check_tree("finish", finish)
        return _carried_out(None, fault_tree(topology), topology, loads, record, out)
    return apply_plan(plan, loads, finish=finish, record=record, out=out)


def apply_plan(
    plan: FaultPlan,
    loads: ArrayLike,
    *,
    finish: str | None = None,
    record: str = "metrics",
    out: NDArray[Any] | None = None,
) -> Balance:
    """Carry out a plan on any batch of loads; arguments as for :func:`fault_tolerant_dem`."""
    _check_tree("finish", finish)
    tree = fault_tree(plan.topology) if finish == "tree" else None
    return _carried_out(plan, tree, plan.topology, loads, record, out)


def _carried_out(
    plan: FaultPlan | None,
    tree: FaultTree | None,
    topology: Hypercube,
    loads: ArrayLike,
    record: str,
    out: NDArray[Any] | None,
) -> Balance:
    check_record(record)
    given = read_loads(loads, topology)
    result, rows = output_rows(out, loads, given)
    exact = record != "loads" or tree is not None or (plan is not None and bool(plan.repairs))
    small = record == "loads" and tree is None and _all_small(plan, given.rows)
    before = survey(given.rows) if exact and not small else None
    if not exact:
        check_values(given.rows)
    if out is not None and _may_overflow(plan, before, rows.dtype):
        rows = np.empty_like(rows)
    counted = np.dtype(units_dtype(rows))
    steps = (plan.steps if plan else 0) + (tree.steps if tree else 0)
    # A unit is sent at most once a step: beyond this every addition is watched.
    whole = rows.dtype.kind in "iu"
    most = 0 if before is None else before.total.max(initial=0)
    limit = INT64_MAX // max(1, steps) if whole else FLOAT64_MAX / max(1, steps)
    watched = record != "loads" and most > limit
    linkwise: dict[str, Any] = {}
    if plan is None or tree is not None or record == "flows" or watched:
        # Narrow types are not worth kernels of their own here.
        wide = given.rows.astype(counted)
        local, largest, linkwise = _link_by_link(plan, tree, wide, topology.n, record, counted)
        linkwise["stages"] = linkwise["stages"].astype(rows.dtype, copy=False)
        moved = linkwise["moved_per_stage"].T
        if watched and not (np.isfinite(moved).all() and (moved >= 0).all()):
            raise OverflowError(f"moved must fit {counted}, got more units times links")
        rows[...] = wide
    else:
        beyond = rows.dtype == np.uint64 and not (exact or small)
        # Pairs average the same below zero: there unsigned loads of any size fit int64.
        source = (given.rows ^ SIGN).view(np.int64) if beyond else given.rows
        target = source if beyond else rows
        work = _tile_dtype(source.dtype, small or (exact and most <= INT32_MAX))
        moved, local, largest = _in_tiles(plan, source, target, record, work, counted)
        if beyond:
            rows[...] = source.view(np.uint64) ^ SIGN
    if whole and largest > np.iinfo(rows.dtype).max:
        raise OverflowError(
            f"loads must leave room in {rows.dtype} for what a donor holds, which is {largest}"
        )
    fields: dict[str, Any] = {"loads": finished(result, rows)}
    if before is not None and record != "loads":
        shared = figures(before, survey_after(before, rows), topology.size, moved, local)
        shared["steps"] = np.full(len(rows), steps)
        fields |= per_batch(shared, given.batch)
    if record == "flows":
        flows, stages = linkwise["flows"], linkwise["stages"]
        fields["flows"] = flows.reshape(*given.batch, topology.ndim, *topology.shape)
        fields["stages"] = stages.reshape(len(stages), *given.shape)
        fields["moved_per_stage"] = moved.T.reshape(len(stages), *given.batch)
    return Balance("fault_tolerant_dem", topology, record, fields)


def _in_tiles(
    plan: FaultPlan,
    rows: NDArray[Any],
    out: NDArray[Any],
    record: str,
    work: np.dtype[Any],
    counted: np.dtype[Any],
) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Leave the final loads in ``out``; return (moved, local, largest load after a repair)."""
    B, N = rows.shape
    booked = record != "loads"
    reverse = plan.order == "lowest"
    # The order in which floats are summed up must not depend on the batch.
    few = B < 8 and not (booked and rows.dtype.kind == "f")
    rotating = few or N > LANES_UP_TO
    L = 1 if rotating else max(1, min(LANES, TILE_LOADS // N, B))
    deepest = max((stuck.dimensions for stuck in plan.stuck), default=0)
    layout = kernels("positions")
    carry_out = kernels("fault_tolerant_dem").carry_out
    kind = np.zeros(1, counted)
    moved, local = np.zeros(B, counted), np.zeros(B, counted)
    largest = kind[0]
    in_hand = max(1, TILES_BYTES // (N * L * work.itemsize))
    tiles = np.empty((min(in_hand, -(-B // L)), N * L), work)
    for first in range(0, B, in_hand * L):
        part = slice(first, min(first + in_hand * L, B))
        count = part.stop - part.start
        used = tiles[: -(-count // L)]
        layout.to_tiles(rows[part], used, plan.topology.n, L, reverse)
        moved[part], local[part], load = carry_out(
            used, plan.positions, count, L, not reverse, rotating, deepest, booked, kind
        )
        largest = max(largest, load)
        layout.from_tiles(used, out[part], plan.topology.n, L, reverse)
    return moved, local, largest


def _link_by_link(
    plan: FaultPlan | None,
    tree: FaultTree | None,
    rows: NDArray[Any],
    n: int,
    record: str,
    counted: np.dtype[Any],
) -> tuple[NDArray[Any], Any, dict[str, Any]]:
    """Balance the rows in place; return (local, largest load after a repair, what was recorded)."""
    B, N = rows.shape
    stages = 2 * (plan is not None) + (tree is not None)
    recorded = record == "flows"
    require_memory(recorded * B * N * (8 * n + stages * rows.itemsize), "the flows")
    flows = np.zeros((B if recorded else 0, n, N), counted)
    after = np.empty((stages if recorded else 0, B, N), rows.dtype)
    moved = np.zeros((stages, B), counted)
    none = np.empty(0, np.int64)
    branches = (
        (none, none, none, none)
        if tree is None
        else (tree.order, tree.parent, tree.component, tree.starts)
    )
    program = none.reshape(0, 4) if plan is None else plan.program
    lowest = plan is None or plan.order == "lowest"
    local, largest = kernels("fault_flows").carry_out(
        rows, program, lowest, *branches, flows, after, moved
    )
    return local, largest, {"flows": flows, "stages": after, "moved_per_stage": moved}


def _tile_dtype(dtype: np.dtype[Any], narrow: bool) -> np.dtype[Any]:
    """Return the type the exchanges run in: few of them, so that few kernels are compiled.

    Where a trial's total fits int32, so does everything that happens to it.
    """
    if dtype.kind == "f":
        return np.dtype(np.float64)
    return np.dtype(np.int32 if narrow or dtype.itemsize < 4 or dtype == np.int32 else np.int64)


def _all_small(plan: FaultPlan | None, rows: NDArray[Any]) -> bool:
    """Tell in one fast pass whether loads are legal and so small that nothing can overflow."""
    if plan is None or rows.dtype.kind == "f":
        return False
    fits = np.iinfo(rows.dtype).max >> len(plan.repairs)
    top = rows.dtype.type(min(fits, INT32_MAX // rows.shape[1]))
    return int(kernels("survey").count_outside(rows.reshape(-1), top)) == 0


def _may_overflow(plan: FaultPlan | None, before: Survey | None, dtype: np.dtype[Any]) -> bool:
    """Tell whether a donor might hold more than the dtype takes: then ``out`` is written last."""
    if plan is None or before is None or not plan.repairs or dtype.kind == "f":
        return False
    return int(before.largest.max(initial=0)) << len(plan.repairs) > np.iinfo(dtype).max


def _check_tree(name: str, value: Any) -> None:
    if not (value is None or (isinstance(value, str) and value == "tree")):
        raise ValueError(f"{name} must be None or 'tree', got {value!r}")
