"""Link-fault-tolerant dimension exchange on hypercubes (More-Wu section 2.2)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ..aside import aside_if_large
from ..errors import FaultError
from ..pages import copied, copy_into, empty_like
from ..topologies.kinds import topology_for
from .casting import FLOAT64, INT32, INT32_MAX, INT64, INT64_MAX, units_dtype
from .fault_batches import (
    dtype_max,
    fit_side_by_side,
    one_by_one,
    side_by_side,
    side_by_side_int16,
    times_moved,
)
from .fault_links import link_by_link
from .fault_planning import fault_schedule
from .fault_rows import Checks, Result
from .fault_schedule import FaultSchedule
from .fault_single import LINK_BY_LINK, prepare_call
from .fault_tree import FaultTree, fault_tree
from .figures import figures, per_batch
from .loads import all_within, check_record, check_values, read_loads, survey, survey_after
from .outputs import finished, output_rows
from .prepared import run_prepared
from .result import Balance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..topologies.hypercube import Hypercube

FLOAT64_MAX = float(np.finfo(np.float64).max)
METHOD: Final = "fault_tolerant_dem"


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

    Every subcube is balanced along a fault-free dimension and halved there. A subcube with a
    fault in each of its dimensions is stuck: it sends its pegs (load above its neighbour's) and
    registers its holes (load below) with a fault-free neighbour, its donor, which levels them.
    Load is conserved, never negative, and uses no faulty link. With at most ``n - 1`` faults float
    loads end equal; with more they need not, even where a plan exists. Integer loads do not always
    end within 1, and may differ by more than ``n``.

    Parameters
    ----------
    loads : array_like, shape (*batch, *topology.shape) or (*batch, topology.size)
        Tasks of each node: integers, float32 or float64, not negative.
    topology : Hypercube or str
        With its faulty links; or its spelling, ``"hypercube:3:faults=0-4,5-7"``.
    order : {"lowest", "highest"}
        Which fault-free dimension of a subcube is split first.
    donor : {"latest", "earliest"}
        Which donor of a stuck subcube comes first, by when the two were split.
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
        If a total does not fit int64, or the load of a node its dtype.

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
    """Balance loads by a plan, by a tree, or first by the plan and then by the tree."""
    check_record(record)
    inputs = read_loads(loads, topology)
    target, rows = output_rows(out, loads, inputs)
    measured = record != "loads"
    steps = (plan.steps if plan else 0) + (tree.steps if tree else 0)
    # Trees and flows are computed link by link.
    plan_alone = plan if tree is None and record != "flows" else None
    result = None
    if plan_alone is not None and fit_side_by_side(inputs.rows):
        result = side_by_side_int16(plan_alone, inputs.rows, rows, measured=measured)
    if result is None:
        checks = _check(plan, tree, inputs.rows, record)
        check_units = measured and _units_may_overflow(checks, steps, rows.dtype)
        # ``out`` must stay unchanged when OverflowError is raised.
        if out is not None and (check_units or _loads_may_overflow(plan, checks, rows.dtype)):
            rows = empty_like(rows)
        if plan_alone is None or check_units or _few_links(plan_alone, inputs.rows, measured):
            result = _run_links(plan, tree, inputs.rows, rows, checks, with_flows=record == "flows")
        else:
            result = _run_plan(plan_alone, inputs.rows, rows, checks, measured=measured)
        if check_units and not (np.isfinite(result.moved) & (result.moved >= 0)).all():
            dtype = units_dtype(rows)
            raise OverflowError(f"moved must fit {dtype}, got more units times links")
        if result.largest > dtype_max(rows.dtype):
            raise OverflowError(
                f"loads must leave room in {rows.dtype} for what a donor holds, which is "
                f"{result.largest}"
            )
        if measured and result.figures is None and checks.survey is not None:
            before, after = checks.survey, survey_after(checks.survey, rows)
            computed = figures(before, after, topology.size, result.moved, result.local)
            result = replace(result, figures=computed)
    fields: dict[str, Any] = {"loads": finished(target, rows)}
    if result.figures is not None:
        same_for_all = {"sweeps": np.ones(len(rows), np.int64), "steps": np.full(len(rows), steps)}
        fields |= per_batch(result.figures | same_for_all, inputs.batch)
    if result.flows is not None and result.stages is not None:
        stages = result.stages.astype(rows.dtype, copy=False)
        fields["flows"] = result.flows.reshape(*inputs.batch, topology.ndim, *topology.shape)
        fields["stages"] = stages.reshape(len(stages), *inputs.shape)
        fields["moved_per_stage"] = result.moved.T.reshape(len(stages), *inputs.batch)
    return Balance(METHOD, topology, record, fields)


def _check(
    plan: FaultSchedule | None, tree: FaultTree | None, rows: NDArray[Any], record: str
) -> Checks:
    """Check the values of the rows as far as the computation needs it, and raise as ``survey``."""
    plan_alone = plan if tree is None and record != "flows" else None
    # The figures of few large networks need a survey anyway.
    needs_no_survey = record == "loads" or fit_side_by_side(rows)
    if plan_alone is not None and needs_no_survey and _are_small(plan_alone, rows):
        return Checks(None, are_small=True)
    if record != "loads" or tree is not None or (plan is not None and plan.repairs):
        return Checks(survey(rows), are_small=False)
    check_values(rows)
    return Checks(None, are_small=False)


def _are_small(plan: FaultSchedule, rows: NDArray[Any]) -> bool:
    """Return whether integer loads are legal and so small that nothing overflows, in one pass."""
    if rows.dtype.kind == "f":
        return False
    fits_dtype = int(np.iinfo(rows.dtype).max) >> len(plan.repairs)
    return all_within(rows, min(fits_dtype, INT32_MAX // (rows.shape[1] * times_moved(plan))))


def _units_may_overflow(checks: Checks, steps: int, dtype: np.dtype[Any]) -> bool:
    """Return whether the units moved may not fit: each is sent at most once a step."""
    steps = max(1, steps)
    limit = INT64_MAX // steps if dtype.kind in "iu" else FLOAT64_MAX / steps
    return bool(checks.largest_total > limit)


def _loads_may_overflow(plan: FaultSchedule | None, checks: Checks, dtype: np.dtype[Any]) -> bool:
    """Return whether a donor may hold more than the dtype does."""
    largest = checks.largest_load
    if plan is None or largest is None or not plan.repairs or dtype.kind == "f":
        return False
    return largest << len(plan.repairs) > np.iinfo(dtype).max


def _few_links(plan: FaultSchedule, rows: NDArray[Any], measured: bool) -> bool:
    """Return whether networks are so few and small that they are balanced link by link.

    Measured float loads are not, because other kernels add units in another order.
    """
    real = measured and rows.dtype.kind == "f"
    return plan.topology.size <= LINK_BY_LINK and not real and not fit_side_by_side(rows)


def _run_links(
    plan: FaultSchedule | None,
    tree: FaultTree | None,
    rows: NDArray[Any],
    out: NDArray[Any],
    checks: Checks,
    *,
    with_flows: bool,
) -> Result:
    """Balance rows link by link into ``out``."""
    # Other dtypes than uint64 loads beyond int64 are cast, so that fewer kernels are compiled.
    units = units_dtype(rows)
    work = copied(rows, rows.dtype if checks.may_exceed_int64(rows) else units)
    balance_work = partial(link_by_link, plan, tree, work, units, with_flows=with_flows)
    result = cast(Result, aside_if_large(work.size, balance_work))
    copy_into(out, work)
    return result


def _run_plan(
    plan: FaultSchedule,
    rows: NDArray[Any],
    out: NDArray[Any],
    checks: Checks,
    *,
    measured: bool,
) -> Result:
    """Balance rows by a plan alone into ``out``, which may be the rows."""
    if checks.may_exceed_int64(rows):
        return one_by_one(plan, rows, out, rows.dtype, measured=measured)
    if fit_side_by_side(rows):
        return side_by_side(plan, rows, out, checks, measured=measured)
    if rows.dtype.kind == "f":
        return one_by_one(plan, rows, out, FLOAT64, measured=measured)
    fits_int32 = rows.dtype.itemsize < 4 or rows.dtype == np.int32
    if measured and fits_int32 and checks.largest_load is not None:
        # A lane counts twelve halves of loads.
        fits_int32 = checks.largest_load <= 2**32 // 6
    if checks.are_small or (checks.survey is not None and checks.largest_total <= INT32_MAX):
        fits_int32 = True
    return one_by_one(plan, rows, out, INT32 if fits_int32 else INT64, measured=measured)


def check_tree(name: str, value: Any) -> None:
    """Raise ``ValueError`` unless an argument is None or asks for the tree."""
    if not (value is None or (isinstance(value, str) and value == "tree")):
        raise ValueError(f"{name} must be None or 'tree', got {value!r}")
