"""Link-fault-tolerant dimension exchange on hypercubes (More-Wu section 2.2)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ..aside import aside_if_large
from ..errors import FaultError
from ..pages import copied, copy_into, empty_like
from ..topologies.kinds import topology_for
from .casting import INT32_MAX, INT64_MAX, units_dtype
from .fault_batches import (
    PlanResult,
    dtype_max,
    fit_side_by_side,
    one_by_one,
    side_by_side,
    side_by_side_int16,
    times_moved,
)
from .fault_links import LinkByLink, link_by_link
from .fault_planning import fault_schedule
from .fault_schedule import FaultSchedule
from .fault_single import prepare_call
from .fault_tree import FaultTree, fault_tree
from .figures import figures, per_batch
from .loads import Survey, all_within, check_record, check_values, read_loads, survey, survey_after
from .outputs import finished, output_rows
from .prepared import run_prepared
from .result import Balance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..topologies.hypercube import Hypercube

FLOAT64_MAX = float(np.finfo(np.float64).max)
METHOD: Final = "fault_tolerant_dem"
# Nodes of networks that are balanced link by link where they are few.
LINK_BY_LINK = 2**6


def fault_tolerant_dem(
    loads: ArrayLike,
    topology: Hypercube | str,
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
    topology : Hypercube or str
        With its faulty links; or its spelling, ``"hypercube:3:faults=0-4,5-7"``.
    order : {"lowest", "highest"}
        Which fault-free dimension of a subcube is split first.
    donor : {"latest", "earliest"}
        Which donor a stuck subcube takes first, by when the two were split.
    fallback : {None, "tree"}
        What to do when there is no plan: raise, or send exact quotas along a breadth-first tree
        of each connected component (difference at most 1 within each).
    finish : {None, "tree"}
        ``"tree"`` does the same after the plan.
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

    Calls are safe from several threads on different arrays, as the kernels release Python's
    lock. Batches gain from threads, small calls nothing. Two threads must not write one ``out``.

    Examples
    --------
    >>> from fastlb import Hypercube
    >>> cube = Hypercube(3, faults=[(0, 4), (5, 7)])
    >>> fault_tolerant_dem([3, 9, 2, 8, 1, 7, 0, 30], cube).loads
    array([7, 7, 7, 8, 8, 7, 8, 8])
    """
    if fallback is None and finish is None:
        balance = run_prepared(METHOD, prepare_call, loads, topology, record, out, order, donor)
        if balance is not None:
            return balance
    check_tree("fallback", fallback)
    topology = topology_for(METHOD, topology)
    try:
        plan = fault_schedule(topology, order=order, donor=donor)
    except FaultError:
        if fallback is None:
            raise
        check_tree("finish", finish)
        return _balance(None, fault_tree(topology), topology, loads, record, out)
    return _with_finish(plan, loads, finish, record, out)


def apply_schedule(
    plan: FaultSchedule,
    loads: ArrayLike,
    *,
    finish: str | None = None,
    record: str = "metrics",
    out: NDArray[Any] | None = None,
) -> Balance:
    """Carry out a schedule on any batch of loads; arguments as for :func:`fault_tolerant_dem`."""
    if finish is None:
        choices = plan.order, plan.donor
        balance = run_prepared(METHOD, prepare_call, loads, plan.topology, record, out, *choices)
        if balance is not None:
            return balance
    return _with_finish(plan, loads, finish, record, out)


def _with_finish(
    plan: FaultSchedule,
    loads: ArrayLike,
    finish: str | None,
    record: str,
    out: NDArray[Any] | None,
) -> Balance:
    check_tree("finish", finish)
    tree = fault_tree(plan.topology) if finish == "tree" else None
    return _balance(plan, tree, plan.topology, loads, record, out)


def _balance(
    plan: FaultSchedule | None,
    tree: FaultTree | None,
    topology: Hypercube,
    loads: ArrayLike,
    record: str,
    out: NDArray[Any] | None,
) -> Balance:
    check_record(record)
    inputs = read_loads(loads, topology)
    result, rows = output_rows(out, loads, inputs)
    exact = record != "loads" or tree is not None or (plan is not None and bool(plan.repairs))
    measured = record != "loads"
    fields: dict[str, Any]
    plan_only = plan if tree is None and record != "flows" else None
    side_by_side_fit = fit_side_by_side(inputs.rows)
    if plan_only is not None and side_by_side_fit:
        plan_result = side_by_side_int16(plan_only, inputs.rows, rows, measured)
        if plan_result is not None:
            fields = {"loads": finished(result, rows)}
            if plan_result.figures is not None:
                fields |= _with_steps(plan_result.figures, plan_only.steps, inputs.batch)
            return Balance(METHOD, topology, record, fields)
    # Few large networks are surveyed directly.
    small = (not measured or side_by_side_fit) and _all_small(plan_only, inputs.rows)
    before = survey(inputs.rows) if exact and not small else None
    if not (exact or small):
        check_values(inputs.rows)
    steps = (plan.steps if plan else 0) + (tree.steps if tree else 0)
    # A unit is sent at most once a step; beyond this limit every addition is checked.
    whole = rows.dtype.kind in "iu"
    largest_total = 0 if before is None else before.total.max(initial=0)
    limit = INT64_MAX // max(1, steps) if whole else FLOAT64_MAX / max(1, steps)
    checked_sums = measured and largest_total > limit
    # If something may be too large, ``out`` is written last.
    if out is not None and (checked_sums or _may_overflow(plan, before, rows.dtype)):
        rows = empty_like(rows)
    linkwise: LinkByLink | None = None
    plan_result = None
    if plan_only is None or checked_sums or _few_links(plan_only, inputs.rows, measured):
        dtype = np.dtype(units_dtype(rows))
        # Unsigned loads without a survey may exceed int64. Narrow dtypes are cast to save kernels.
        wide = copied(inputs.rows, rows.dtype if _beyond_int64(rows, before, small) else dtype)
        balancing = partial(link_by_link, plan, tree, wide, dtype, recorded=record == "flows")
        linkwise = cast(LinkByLink, aside_if_large(wide.size, balancing))
        moved, local, largest = linkwise.moved.T, linkwise.local, linkwise.largest
        if checked_sums and not (np.isfinite(moved).all() and (moved >= 0).all()):
            raise OverflowError(f"moved must fit {dtype}, got more units times links")
        copy_into(rows, wide)
    else:
        plan_result = _by_plan(plan_only, inputs.rows, rows, measured, before, small)
        moved, local, largest = plan_result.moved, plan_result.local, plan_result.largest
    if largest > dtype_max(rows.dtype):
        raise OverflowError(
            f"loads must leave room in {rows.dtype} for what a donor holds, which is {largest}"
        )
    shared = None if plan_result is None else plan_result.figures
    if shared is None and before is not None and measured:
        shared = figures(before, survey_after(before, rows), topology.size, moved, local)
    fields = {"loads": finished(result, rows)}
    if shared is not None:
        fields |= _with_steps(shared, steps, inputs.batch)
    if linkwise is not None and linkwise.flows is not None and linkwise.stages is not None:
        flows = linkwise.flows
        stages = linkwise.stages.astype(rows.dtype, copy=False)
        fields["flows"] = flows.reshape(*inputs.batch, topology.ndim, *topology.shape)
        fields["stages"] = stages.reshape(len(stages), *inputs.shape)
        fields["moved_per_stage"] = linkwise.moved.reshape(len(stages), *inputs.batch)
    return Balance(METHOD, topology, record, fields)


def _with_steps(computed: dict[str, Any], steps: int, batch: tuple[int, ...]) -> dict[str, Any]:
    """Return the figures with sweeps and steps, in the batch's shape."""
    B = int(np.prod(batch, dtype=np.int64))
    same = {"sweeps": np.ones(B, np.int64), "steps": np.full(B, steps)}
    return per_batch(computed | same, batch)


def _few_links(plan: FaultSchedule, rows: NDArray[Any], measured: bool) -> bool:
    """Return whether networks are so few and small that they are balanced link by link.

    Measured float loads are not, because other kernels add up units in another order.
    """
    real = measured and rows.dtype.kind == "f"
    return plan.topology.size <= LINK_BY_LINK and not real and not fit_side_by_side(rows)


def _beyond_int64(rows: NDArray[Any], before: Survey | None, small: bool) -> bool:
    """Return whether loads may exceed int64: uint64 loads that were not surveyed."""
    return rows.dtype == np.uint64 and before is None and not small


def _by_plan(
    plan: FaultSchedule,
    rows: NDArray[Any],
    out: NDArray[Any],
    measured: bool,
    before: Survey | None,
    small: bool,
) -> PlanResult:
    """Leave the final loads in ``out``, which may be the rows."""
    if _beyond_int64(rows, before, small):
        return one_by_one(plan, rows, out, measured, rows.dtype)
    if fit_side_by_side(rows):
        return side_by_side(plan, rows, out, measured, before, small)
    if rows.dtype.kind == "f":
        return one_by_one(plan, rows, out, measured, np.dtype(np.float64))
    fits = rows.dtype.itemsize < 4 or rows.dtype == np.int32
    if measured and fits and before is not None:
        # A lane counts twelve halves of loads.
        fits = int(before.largest.max(initial=0)) <= 2**32 // 6
    narrow = fits or small or (before is not None and before.total.max(initial=0) <= INT32_MAX)
    return one_by_one(plan, rows, out, measured, np.dtype(np.int32 if narrow else np.int64))


def _all_small(plan: FaultSchedule | None, rows: NDArray[Any]) -> bool:
    """Tell in one fast pass whether loads are legal and so small that nothing can overflow."""
    if plan is None or rows.dtype.kind == "f":
        return False
    fits = int(np.iinfo(rows.dtype).max) >> len(plan.repairs)
    return all_within(rows, min(fits, INT32_MAX // (rows.shape[1] * times_moved(plan))))


def _may_overflow(plan: FaultSchedule | None, before: Survey | None, dtype: np.dtype[Any]) -> bool:
    """Tell whether a donor might hold more than the dtype takes."""
    if plan is None or before is None or not plan.repairs or dtype.kind == "f":
        return False
    return int(before.largest.max(initial=0)) << len(plan.repairs) > np.iinfo(dtype).max


def check_tree(name: str, value: Any) -> None:
    """Raise ``ValueError`` unless an argument is None or asks for the tree."""
    if not (value is None or (isinstance(value, str) and value == "tree")):
        raise ValueError(f"{name} must be None or 'tree', got {value!r}")
