"""Direct dimension exchange (DDE) on grids and hypercubes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..arguments import one_of
from ..pages import copied, copy_into, empty_like
from ..topologies.grids import Grid
from ..topologies.kinds import topology_for
from ..topologies.topology import Topology
from .casting import INT32, INT32_MAX, INT64, INT64_MAX
from .dde_run import (
    AXES,
    BEFORE,
    LEAST,
    LOCAL,
    MOST,
    DdeCall,
    DdePlan,
    Recorded,
    balance_rows,
    choose_kernel,
    plan_of,
    run_kernel,
)
from .figures import empty_figures, figures, figures_of_one, per_batch, sum_moved
from .loads import (
    RECORDS,
    LoadRows,
    Survey,
    all_within,
    batch_shape,
    check_order,
    check_record,
    check_values,
    read_loads,
    survey,
)
from .outputs import finished, output_rows
from .prepared import PreparedCall, run_prepared
from .result import Balance
from .weighted_figures import evenness, weighted_fields, with_equal_weights
from .weighted_run import run_lines
from .weights import read_weights

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from ..quantities import MixedNumbers

EXCHANGES = ("rbs", "sbr")
# Dtypes of integer loads that kernels read without conversion.
KERNEL_DTYPES = INT64, INT32
# Figures of integer loads: rows of int64, the first four as ``layout.figures`` has them, and of
# float64.
WHOLE_FIGURES = (
    "initial_difference", "difference", "moved", "local",
    "sweeps", "steps", "rounds", "simulated_steps",
)  # fmt: skip
REAL_FIGURES = "initial_imbalance", "imbalance", "cost", "locality"


def dde(
    loads: ArrayLike,
    topology: Topology | str,
    *,
    axes: Iterable[int] | None = None,
    exchange: str = "rbs",
    weights: MixedNumbers | None = None,
    record: str = "metrics",
    out: NDArray[Any] | None = None,
) -> Balance:
    """Balance loads by direct dimension exchange, one axis after the other (Wu-Shu Figs 3-10).

    Every line of an axis is balanced at once: node i's quota is ``T // k``, and one more for
    the first ``T % k`` nodes, so even balanced loads may move. On wrapped axes the flows are
    those of least units moved. Afterwards ``max - min`` is at most the number of axes. On a
    2-ary cube this is not DEM, which has another rule for odd units.

    Parameters
    ----------
    loads : array_like, shape (*batch, *topology.shape) or (*batch, topology.size)
        Tasks per node, not negative: integers, float32 or float64 (quota: the exact mean).
    topology : Grid, Mesh, Torus, Chain, Ring, Hypercube without faults, or str
        Or its spelling, ``"mesh:8x8"``. Other networks are refused.
    axes : order of the array axes, optional
        Default 0, 1, ..
    exchange : {"rbs", "sbr"}
        Receive-before-send, or send-before-receive (Figs 5 and 6): decides ``rounds`` and
        ``local``, not the final loads.
    weights : array_like, shape topology.shape or (topology.size,), optional
        Speeds of the nodes: each gets a share of the load in proportion, one of weight 0 none.
        Integers, floats (each its shortest decimal), Fractions or strings, taken exactly. A line's
        quotas are those of :func:`quotas` by the weights summed over the axes still to come, which
        leaves whole units at most one an axis from the node's share, real loads none. Figures are
        then of load / weight.
    record : {"metrics", "loads", "flows"}
        ``"loads"`` computes final loads alone, ``"flows"`` also the flows and stages.
    out : array, optional
        Receives the final loads; may be the input. Same shape and dtype.

    Returns
    -------
    Balance
        ``steps`` is by formula: ``2 k`` a mesh axis, ``k + k // 2`` a torus axis.
        ``simulated_steps`` is ``k`` an axis plus the simulated ``rounds``.

    Raises
    ------
    TypeError, ValueError
        On arguments that do not fit.
    OverflowError
        If a total, or the units moved, do not fit int64; or the weights' sum is 2**61 or more,
        in the largest unit of which all are multiples.

    Notes
    -----
    Calls are safe from several threads on different arrays, as the kernels release Python's
    lock. Batches gain from threads, small calls nothing. Two threads must not write one ``out``.

    Examples
    --------
    >>> import fastlb as lb
    >>> b = lb.dde([9, 7, 4, 1, 4, 6, 1, 5], lb.Ring(8))
    >>> b.loads, b.moved
    (array([5, 5, 5, 5, 5, 4, 4, 4]), 17)
    >>> lb.dde([9, 7, 4, 1], lb.Mesh(2, 2), weights=[1, 0.5, 2, 0]).loads
    array([ 6,  3, 12,  0])
    """
    if axes is None and weights is None:
        prepared = run_prepared("dde", _prepare, loads, topology, record, out, exchange)
        if prepared is not None:
            return prepared
    topology = topology_for("dde", topology)
    exact = None if weights is None else read_weights(weights, topology)
    if exact is not None and exact.are_equal:
        balance = dde(loads, topology, axes=axes, exchange=exchange, record=record, out=out)
        return with_equal_weights(balance, exact)
    wrap = topology.wrap if isinstance(topology, Grid) else (False,) * topology.ndim
    check_record(record)
    one_of("exchange", exchange, EXCHANGES)
    order = None if axes is None else check_order("axes", axes, topology.ndim)
    inputs = read_loads(loads, topology)
    plan = plan_of(topology.shape, wrap, order)
    if exact is not None:
        before = survey(inputs.rows)
        result, rows = output_rows(out, loads, inputs)
        final, recorded = run_lines(inputs.rows, plan, exact.integers, record, exchange)
        final = copied(final, rows.dtype)
        fields = {"weights": exact.numbers.reshape(inputs.node_shape)}
        if record != "loads":
            even = (evenness(loads, exact, before.total) for loads in (inputs.rows, final))
            fields |= _fields(plan, inputs, before, recorded)
            fields |= per_batch(weighted_fields(*even), inputs.batch)
        copy_into(rows, final)
        return Balance("dde", topology, record, {"loads": finished(result, rows), **fields})
    if record == "loads":
        small = inputs.rows.dtype.kind != "f" and all_within(inputs.rows, INT32_MAX // plan.longest)
        if not small:
            check_values(inputs.rows, limit=INT64_MAX // topology.size)
        result, rows = output_rows(out, loads, inputs)
        balance_rows(inputs.rows, rows, plan, record, exchange, 0 if small else math.inf)
        return Balance("dde", topology, record, {"loads": finished(result, rows)})
    before = survey(inputs.rows)
    result, rows = output_rows(out, loads, inputs)
    # The units that move on a line are at most its length times its total.
    total = before.total.max(initial=0).item()
    # If the units of all axes may not fit, balance into another array: ``out`` must stay unchanged
    # when OverflowError is raised.
    limit = INT64_MAX if rows.dtype.kind != "f" else np.finfo(np.float64).max
    balanced = rows if total <= limit // (topology.size + 1) else empty_like(rows)
    largest = total * plan.longest
    recorded = balance_rows(inputs.rows, balanced, plan, record, exchange, largest)
    fields = _fields(plan, inputs, before, recorded)
    if balanced is not rows:
        copy_into(rows, balanced)
    return Balance("dde", topology, record, {"loads": finished(result, rows), **fields})


def _fields(plan: DdePlan, inputs: LoadRows, before: Survey, recorded: Recorded) -> dict[str, Any]:
    """Return the figures and, if recorded, the flows and stages, in the loads' shape."""
    B, counted = len(before.total), recorded.figures
    if counted.dtype.kind == "f":
        # Final loads are rounded to the dtype of the loads, and so are their extremes.
        extremes = counted[LEAST : MOST + 1, :B].astype(inputs.rows.dtype).astype(counted.dtype)
        # In C order: NumPy's order of addition, and with it the bits of sums, depends on strides.
        units = sum_moved(np.ascontiguousarray(recorded.moved.T))
        after = Survey(before.total, *extremes)
        shared = figures(before, after, plan.N, units, counted[LOCAL, :B])
        rounds = recorded.rounds.sum(axis=0).astype(np.int64)
        shared["steps"] = np.full(B, plan.steps)
        shared["rounds"], shared["simulated_steps"] = rounds, rounds + plan.information
        fields = per_batch(shared, inputs.batch)
    else:
        counted[BEFORE:AXES, :B] = before.total, before.smallest, before.largest
        fields = _integer_fields(plan, inputs.batch, B, counted)
    if recorded.flows is not None:
        fields |= _flows(plan, inputs.batch, inputs.shape, recorded)
    return fields


def _flows(
    plan: DdePlan, batch: tuple[int, ...], shape: tuple[int, ...], recorded: Any
) -> dict[str, Any]:
    """Return flows, stages, and the units and rounds of each axis, in the loads' shape."""
    S = len(plan.axes)
    return {
        "stages": recorded.stages.reshape(S, *shape),
        "moved_per_stage": recorded.moved.reshape(S, *batch),
        "rounds_per_stage": recorded.rounds.reshape(S, *batch).astype(np.int64, copy=False),
        "flows": recorded.flows.reshape(*batch, S, *plan.shape),
    }


def _integer_fields(
    plan: DdePlan, batch: tuple[int, ...], B: int, counted: NDArray[np.int64]
) -> dict[str, Any]:
    """Return the figures of B networks of integers; without a batch, numbers.

    ``counted`` : (6 + 2 S, B or more), see :class:`Recorded`.
    """
    S = len(plan.axes)
    if B == 1:
        local, least, most, total, least_before, most_before, *of_axes = counted[:, 0].tolist()
        moved, rounds = sum(of_axes[:S]), sum(of_axes[S:])
        if moved > INT64_MAX:
            sum_moved(counted[AXES : AXES + S, :1].T)  # raises OverflowError
        fields = figures_of_one(
            total, (least_before, most_before), (least, most), plan.N, moved, local
        )
        fields["steps"], fields["rounds"] = plan.steps, rounds
        fields["simulated_steps"] = rounds + plan.information
        return per_batch(fields, batch) if batch else fields
    whole, real = empty_figures(B, len(WHOLE_FIGURES))
    units, rounds = counted[AXES : AXES + S, :B], counted[AXES + S :, :B]
    if units.max(initial=0) > INT64_MAX // max(1, S):
        sum_moved(np.ascontiguousarray(units.T))  # raises OverflowError
    work_out = kernels("layout.figures").figures
    local = counted[LOCAL]
    work_out(counted[BEFORE:], counted[LEAST:], units.sum(axis=0), local, plan.N, 0, whole, real)
    whole[4], whole[5], whole[6] = 1, plan.steps, rounds.sum(axis=0)
    whole[7] = whole[6] + plan.information
    values = *whole.reshape(len(whole), *batch), *real.reshape(len(real), *batch)
    return dict(zip(WHOLE_FIGURES + REAL_FIGURES, values, strict=True))


@lru_cache(maxsize=256)
def _prepare(
    topology: Topology, dtype: np.dtype[Any], shape: tuple[int, ...], record: str, exchange: str
) -> PreparedCall | None:
    """Return the prepared call for integers whose sums fit the kernel's workspace, or None."""
    if (
        not isinstance(topology, Grid)
        or dtype not in KERNEL_DTYPES
        or record not in RECORDS
        or exchange not in EXCHANGES
    ):
        return None
    try:
        batch = batch_shape(shape, topology)
    except ValueError:
        return None
    B = math.prod(batch)
    if B == 0:
        return None
    plan = plan_of(topology.shape, topology.wrap, None)
    kernel = choose_kernel(plan, B, record)
    workspace_dtype: Any = np.int64 if kernel.for_few_nodes else np.int32
    # Totals of lines and, if recorded, units of an axis fit it; the units of all axes fit int64.
    multiple = plan.longest * (1 if record == "loads" else plan.N)
    limit = min(int(np.iinfo(workspace_dtype).max), INT64_MAX // max(1, topology.ndim))
    top = min(limit // multiple, int(np.iinfo(dtype).max))
    call = DdeCall(kernel, plan, workspace_dtype, record, exchange, top)
    if record == "loads":
        return PreparedCall(_balance_loads, (call,))

    def fields(recorded: Recorded) -> dict[str, Any]:
        values = _integer_fields(plan, batch, B, recorded.figures)
        if recorded.flows is not None:
            values |= _flows(plan, batch, shape, recorded)
        return values

    return PreparedCall(run_kernel, (call,), fields)


def _balance_loads(source: NDArray[Any], target: NDArray[Any], call: DdeCall) -> int:
    """Balance networks and return the kernel's status, as :class:`PreparedCall` needs it."""
    return run_kernel(source, target, call)[0]
