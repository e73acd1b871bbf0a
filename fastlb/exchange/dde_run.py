"""The use of DDE's kernels: the plan of a topology, and the kernel that balances rows.

======================================  ========================================================
rows                                    kernel
======================================  ========================================================
few nodes in all                        ``networks.balance``, a line at a time
many trials of a small network          ``trials.balance``, a trial in each lane
larger networks, and those whose lines  ``networks.balance_wide``, lines of a network side by
fill registers                          side
======================================  ========================================================

All of them give the same results. Kernels are compiled for int32, int64 and float64; other dtypes
are converted, so that a new dtype compiles nothing.

Legend: ``B`` networks, ``N`` nodes, ``S`` axes in the order balanced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..accelerate import kernels
from ..pages import copied, copy_into, empty, empty_like
from .casting import INT64_MAX, least_dtype, units_dtype
from .scratch import result_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Nodes that are balanced between two looks for an interrupt, in lines, a multiple of all lanes.
NODES_AT_ONCE, MOST_LANES = 2**22, 64
# Lanes of the widest registers.
LANES = 16
# Rows of figures, as in ``kernels/dde/networks.py``: units that never left, least and largest load;
# three rows for total, least and largest load before; from AXES on those of the axes.
LOCAL, LEAST, MOST, BEFORE, AXES = 0, 1, 2, 3, 6
# Up to this many nodes in all, one line after the other is about as fast as registers of lines,
# and the kernel compiles in a third of the time.
FEW_NODES = 2**9
# A trial in each lane is fastest for at least so many networks of at most so many nodes: a register
# of them, with least loads and flows, about fits the L2 cache. It is no faster if lines fill
# registers.
FEWEST_TRIALS, MOST_TRIAL_NODES = 4, 2**13
# The allocator itself reuses smaller blocks of memory.
SMALL_RESULT_BYTES = 2**18
# Larger flows and stages are written past the caches, which saves reading the cache lines that they
# overwrite.
STREAMED_BYTES = 2**22


@dataclass(frozen=True)
class DdePlan:
    """A topology as the kernels take it.

    Attributes
    ----------
    shape : of the topology
    axes, comparators : see ``kernels/dde/networks.py``
    N, longest : nodes, and nodes of the longest line
    fills_registers : whether the lines of every axis come in whole registers
    steps : communication steps by the paper's formula
    information : steps that exchange load information, k an axis
    """

    shape: tuple[int, ...]
    axes: NDArray[np.int64]
    comparators: NDArray[np.int64] | None
    N: int
    longest: int
    fills_registers: bool
    steps: int
    information: int


class KernelChoice(NamedTuple):
    """The kernel for B networks: see the table above.

    Attributes
    ----------
    balance : callable
        The kernel.
    for_few_nodes : whether it is the one for few nodes, which computes integers in int64
    columns : columns of its figures, B or B rounded up to whole registers
    workspace_size : number of elements of its workspace
    """

    balance: Any
    for_few_nodes: bool
    columns: int
    workspace_size: int


class DdeCall(NamedTuple):
    """The arguments of a kernel, other than the loads.

    Attributes
    ----------
    kernel : KernelChoice
    plan : DdePlan
    dtype : dtype of the workspace
    record, exchange : as in :func:`dde`
    top : the largest load that the kernel accepts, None if loads have been checked
    """

    kernel: KernelChoice
    plan: DdePlan
    dtype: Any
    record: str
    exchange: str
    top: int | None


class Recorded(NamedTuple):
    """Figures and flows of B networks; all None if only loads are recorded.

    Attributes
    ----------
    figures : (6 + 2 S, B or more), a network in each column, rows as named above
    moved, rounds : (S, B), views of its rows for the axes
    flows, stages : (B, S, N), (S, B, N), or None unless recorded
    """

    figures: NDArray[Any]
    moved: NDArray[Any]
    rounds: NDArray[Any]
    flows: NDArray[Any] | None
    stages: NDArray[Any] | None


@lru_cache(maxsize=64)
def plan_of(
    shape: tuple[int, ...], wrap: tuple[bool, ...], order: tuple[int, ...] | None
) -> DdePlan:
    """Return the plan of a grid whose axes are balanced in this order; None stands for 0, 1, .."""
    N, last = math.prod(shape), shape[-1] if shape else 1
    axes, comparators = plan_axes(shape, wrap, tuple(range(len(shape))) if order is None else order)
    fills_registers = last % LANES == 0 and N // last % LANES == 0
    steps, longest = steps_of(shape, wrap), max(shape, default=1)
    return DdePlan(shape, axes, comparators, N, longest, fills_registers, steps, sum(shape))


def plan_axes(
    shape: tuple[int, ...], wrap: tuple[bool, ...], order: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Return axes and comparators as the kernels take them."""
    medians = kernels("shared.medians")
    pairs: list[tuple[int, int]] = []
    rows = []
    for axis in order:
        k = shape[axis]
        ring = wrap[axis] and k > 2
        first = len(pairs)
        if ring and k <= medians.LONGEST_SORTED:
            pairs += medians.median_comparators(k)
        stride = math.prod(shape[axis + 1 :])
        lines = max(1, NODES_AT_ONCE // k // MOST_LANES) * MOST_LANES
        rows.append((axis, k, stride, ring, first, len(pairs), lines, max(1, lines // stride)))
    columns = kernels("dde.networks").COLUMNS
    axes = np.array(rows, dtype=np.int64).reshape(-1, columns)
    any_ring = any(row[3] for row in rows)
    return axes, np.array(pairs, dtype=np.int64).reshape(-1, 2) if any_ring else None


def steps_of(shape: tuple[int, ...], wrap: tuple[bool, ...]) -> int:
    """Return the communication steps by the paper's formula: 2 k an axis, k + k // 2 a torus'."""
    lines = zip(shape, wrap, strict=True)
    return sum(k + k // 2 if wrapped else 2 * k for k, wrapped in lines)


def choose_kernel(plan: DdePlan, B: int, record: str) -> KernelChoice:
    """Return the kernel for B networks."""
    # Final loads need only the totals of lines; for one axis these are sums along each line.
    networks = kernels("dde.networks")
    if B * plan.N <= FEW_NODES or (record == "loads" and len(plan.axes) <= 1):
        size = int(networks.room(plan.N, plan.longest, 1))
        return KernelChoice(networks.balance, True, B, size)
    columns = -(-B // LANES) * LANES
    if FEWEST_TRIALS <= B and 1 < plan.N <= MOST_TRIAL_NODES and not plan.fills_registers:
        trials = kernels("dde.trials")
        size = int(trials.room(plan.N, plan.longest, LANES))
        return KernelChoice(trials.balance, False, columns, size)
    size = int(networks.room(plan.N, plan.longest, LANES))
    return KernelChoice(networks.balance_wide, False, columns, size)


def run_kernel(source: NDArray[Any], target: NDArray[Any], call: DdeCall) -> tuple[int, Recorded]:
    """Balance networks; return the kernel's status, and the figures and flows."""
    kernel, plan, dtype, record, exchange, top = call
    B, S = source.size // plan.N, len(plan.axes)
    workspace: NDArray[Any] = empty(kernel.workspace_size, dtype)
    figures: Any = None
    moved: Any = None
    rounds: Any = None
    flow_arrays = flows = stages = sbr_workspace = None
    if record != "loads":
        unit = units_dtype(source)
        figures = np.empty((AXES + 2 * S, kernel.columns), unit)
        moved, rounds = figures[AXES : AXES + S, :B], figures[AXES + S :, :B]
        if exchange == "sbr":
            sbr_workspace = np.empty(3 * plan.longest, np.int64)
        if record == "flows":
            flows, stages, streamed = _empty_stages(B, S, plan.N, unit, source.dtype)
            flow_arrays = (
                flows.reshape(-1), stages.reshape(-1), streamed and plan.fills_registers
            )  # fmt: skip
    status = kernel.balance(
        source.reshape(-1), target.reshape(-1), figures, flow_arrays, workspace, plan.axes,
        plan.comparators, top, sbr_workspace,
    )  # fmt: skip
    return status, Recorded(figures, moved, rounds, flows, stages)


def balance_rows(
    rows: NDArray[Any], out: NDArray[Any], plan: DdePlan, record: str, exchange: str,
    largest: float,
) -> Recorded:  # fmt: skip
    """Balance loads that have been checked, rows (B, N), into ``out``, which may be the same array.

    ``largest`` is a bound on the totals of lines and, unless only loads are recorded, on the units
    that move on an axis.

    Raises
    ------
    OverflowError
        If the units that move on an axis do not fit int64; then nothing is written.
    """
    B, S = len(rows), len(plan.axes)
    kernel = choose_kernel(plan, B, record)
    exact = rows.dtype.kind != "f"
    dtype: Any = np.int64 if kernel.for_few_nodes and exact else least_dtype(rows.dtype, largest)
    # Kernels read int64 loads into an int32 workspace themselves.
    is_read_directly = rows.dtype == dtype or (rows.dtype == np.int64 and dtype == np.int32)
    source = rows if is_read_directly else copied(rows, dtype)
    # If units may not fit, ``out`` must stay unchanged when OverflowError is raised.
    fits = record == "loads" or largest * max(1, S) <= INT64_MAX
    is_written_directly = source.dtype == out.dtype and fits
    target = out if is_written_directly else empty_like(source)
    call = DdeCall(kernel, plan, dtype, record, exchange, None)
    _, recorded = run_kernel(source, target, call)
    if record != "loads":
        _check_units(recorded.moved)
    if recorded.stages is not None and recorded.stages.dtype != rows.dtype:
        recorded = recorded._replace(stages=recorded.stages.astype(rows.dtype))
    if target is not out:
        copy_into(out, target)
    return recorded


def _check_units(moved: NDArray[Any]) -> None:
    """Raise ``OverflowError`` if the units (S, B) of a row are -1, that is beyond int64."""
    if moved.min(initial=0) < 0:
        row = int(np.flatnonzero((moved < 0).any(axis=0))[0])
        raise OverflowError(f"moved must fit int64, got more units in row {row}")


def _empty_stages(
    B: int, S: int, N: int, units: np.dtype[Any], dtype: np.dtype[Any]
) -> tuple[NDArray[Any], NDArray[Any], bool]:
    """Return arrays for flows (B, S, N) and stages (S, B, N), and whether to stream to them.

    Large ones share one block of memory that is aligned to pages.
    """
    split = B * S * N * np.dtype(units).itemsize
    nbytes = split + B * S * N * dtype.itemsize
    if nbytes <= SMALL_RESULT_BYTES:
        return np.empty((B, S, N), units), np.empty((S, B, N), dtype), False
    block = result_bytes(nbytes)
    flows: NDArray[Any] = block[:split].view(units).reshape(B, S, N)
    stages: NDArray[Any] = block[split:].view(dtype).reshape(S, B, N)
    return flows, stages, nbytes > STREAMED_BYTES
