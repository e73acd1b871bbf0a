"""Direct dimension exchange (DDE) on meshes, tori and everything between."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..accelerate import kernels
from ..arguments import one_of
from ..topologies.hypercube import Hypercube
from ..topologies.topology import Grid, Topology
from .loads import (
    RECORDS,
    Survey,
    all_within,
    check_order,
    check_record,
    check_values,
    computing_dtype,
    read_loads,
    survey,
)
from .outputs import finished, output_rows, plain_result
from .result import (
    INT32_MAX,
    INT64_MAX,
    Balance,
    balance_of,
    figures,
    loads_alone,
    per_batch,
    sum_moved,
    units_dtype,
)
from .scratch import handed_out

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

EXCHANGES = ("rbs", "sbr")
# Loads that are balanced as they are.
PLAIN = np.dtype(np.int64), np.dtype(np.int32)
# Figures of integer loads, in the order of ``dde_figures``.
WHOLE = (
    "difference", "initial_difference", "moved", "local",
    "sweeps", "steps", "rounds", "simulated_steps",
)  # fmt: skip
REAL = "imbalance", "initial_imbalance", "cost", "locality"
# Trials lie side by side in networks small enough that a tile of them, what they keep and their
# flows stay about in the L2 cache, unless the lines of every axis fill the lanes of a vector
# anyway. With fewer trials, one network after the other is as fast: 6.5 ns a node of a 5x7x9
# mesh against 1.2 a lane.
LANES = 16
LARGE_NETWORK = 2**13
FEWEST_TRIALS = 4
# Up to this length the two middle flows of a ring are found by a sorting network, which takes as
# long as halving their range does for 40 small numbers, and not longer for large ones.
LONGEST_SORTED = 64
# The allocator hands out less than this again by itself.
SMALL_RESULT = 2**18


def dde(
    loads: ArrayLike,
    topology: Topology,
    *,
    axes: Iterable[int] | None = None,
    exchange: str = "rbs",
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
    topology : Grid, Mesh, Torus, Chain, Ring or Hypercube without faults
    axes : order of the array axes, optional
        Default 0, 1, ..
    exchange : {"rbs", "sbr"}
        Receive-before-send, or send-before-receive (Figs 5 and 6): decides ``rounds`` and
        ``local``, not the final loads.
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
        If a total, or what is moved, does not fit int64.

    Examples
    --------
    >>> import fastlb as lb
    >>> b = lb.dde([9, 7, 4, 1, 4, 6, 1, 5], lb.Ring(8))
    >>> b.loads, b.moved
    (array([5, 5, 5, 5, 5, 4, 4, 4]), 17)
    """
    # An array would be compared word by word.
    if type(record) is str and axes is None and isinstance(topology, Grid):
        balanced = _in_one_go(loads, topology, exchange, record, out)
        if balanced is not None:
            return balanced
    if isinstance(topology, Hypercube):
        if topology.faults:
            raise ValueError(f"topology must have no faulty links for dde, got {topology!r}")
        wrap: tuple[bool, ...] = (False,) * topology.n
    elif isinstance(topology, Grid):
        wrap = topology.wrap
    else:
        raise TypeError(f"topology must be a Grid or Hypercube for dde, got {topology!r}")
    check_record(record)
    one_of("exchange", exchange, EXCHANGES)
    order = None if axes is None else check_order("axes", axes, topology.ndim)
    given = read_loads(loads, topology)
    plan = _plan(topology.shape, wrap, order, len(given.rows) >= FEWEST_TRIALS)
    # A line is added up at a time, and its units are at most its length times the total.
    longest = max(topology.shape, default=1)
    if record == "loads":
        small = given.rows.dtype.kind != "f" and all_within(given.rows, plan.top)
        if not small:
            check_values(given.rows, limit=INT64_MAX // topology.size)
        result, rows = output_rows(out, loads, given)
        if topology.ndim == 1:
            kernels("dde.share_out").share_out(given.rows, rows)
        else:
            T = np.int32 if small else computing_dtype(rows, np.inf)
            kernels("dde.batches").final_loads(given.rows, rows, *plan.arguments(record, T), -1)
        return Balance("dde", topology, record, {"loads": finished(result, rows)})
    before = survey(given.rows)
    result, rows = output_rows(out, loads, given)
    total = before.total.item() if len(rows) == 1 else before.total.max(initial=0).item()
    T = computing_dtype(rows, total * longest)
    # Where units may be too many, nothing is written before they are found to fit.
    target = rows if T is np.int32 else np.empty_like(rows)
    counted = _run(given.rows, target, plan, T, exchange, record)
    counted.found[kernels("dde.batches").BEFORE :] = before.total, before.smallest, before.largest
    fields = _fields(topology, plan, record, counted, given.batch, given.shape)
    if target is not rows:
        np.copyto(rows, target)
    return Balance("dde", topology, record, {"loads": finished(result, rows), **fields})


def _in_one_go(
    loads: ArrayLike, topology: Grid, exchange: str, record: str, out: NDArray[Any] | None
) -> Balance | None:
    """Balance plain arrays of small loads with little Python around the kernels, or return None.

    For a host program that balances in every step: one 16x16x16 torus with flows takes 17 us for
    28. The whole way is for what is refused, is no plain array or does not fit int32.
    """
    if (
        type(loads) is not np.ndarray
        or loads.dtype not in PLAIN
        or type(exchange) is not str
        or exchange not in EXCHANGES
        or record not in RECORDS
    ):
        return None
    shape, N = topology.shape, topology.size
    lead = loads.ndim - topology.ndim
    if loads.shape[lead:] == shape:
        batch = loads.shape[:lead]
    elif loads.shape[-1:] == (N,):
        batch = loads.shape[:-1]
    else:
        return None
    B, alone = loads.size // N, record == "loads"
    if (B != 1 or topology.ndim == 1) if alone else (B == 0 or N > LARGE_NETWORK):
        return None
    result = plain_result(out, loads)
    if result is None:
        return None
    # Of one network all loads are read before one is written.
    if B > 1 and result is out and out is not loads and np.may_share_memory(out, loads):
        return None
    plan = _plan(shape, topology.wrap, None, B >= FEWEST_TRIALS)
    source, target = loads.reshape(B, N), result.reshape(B, N)
    if alone:
        scratch = plan.arguments(record, np.int32)
        done = kernels("dde.batches").final_loads(source, target, *scratch, plan.top)
        return loads_alone("dde", topology, result) if done else None
    counted = _run(source, target, plan, np.int32, exchange, record, plan.top // N)
    if counted.refused:
        return None
    fields = _fields(topology, plan, record, counted, batch, loads.shape)
    return balance_of("dde", topology, record, result, fields)


def _fields(
    topology: Topology, plan: _Plan, record: str, counted: _Counted,
    batch: tuple[int, ...], shape: tuple[int, ...],
) -> dict[str, Any]:  # fmt: skip
    """Return the figures, and with ``record="flows"`` flows and stages, of loads of this shape."""
    ndim, N = topology.ndim, topology.size
    moved, rounds, found = counted.moved, counted.rounds, counted.found
    if found.dtype.kind == "f":
        local, least, most, total, first_least, first_most = found
        before, after = Survey(total, first_least, first_most), Survey(total, least, most)
        shared = figures(before, after, N, sum_moved(moved), local)
        # Of one network as numbers, a tenth of the time.
        alone = len(moved) == 1
        taken: Any = sum(rounds[0].tolist()) if alone else rounds.sum(axis=1)
        shared["steps"] = plan.steps if alone else np.full(len(moved), plan.steps)
        shared["rounds"], shared["simulated_steps"] = taken, taken + plan.information
        fields = per_batch(shared, batch)
    else:
        whole = np.empty((len(WHOLE), len(moved)), np.int64)
        real = np.empty((len(REAL), len(moved)))
        if not kernels("dde.figures").figures(
            found, moved, rounds, N, plan.steps, plan.information, whole, real
        ):
            sum_moved(moved)  # raises, and tells how many
        if batch:
            whole, real = whole.reshape(len(WHOLE), *batch), real.reshape(len(REAL), *batch)
            values = *whole, *real
        else:
            values = *whole[:, 0].tolist(), *real[:, 0].tolist()
        fields = dict(zip(WHOLE + REAL, values, strict=True))
    if record == "flows":
        fields["stages"] = counted.stages.reshape(ndim, *shape)
        fields["moved_per_stage"] = moved.T.reshape(ndim, *batch)
        fields["rounds_per_stage"] = rounds.T.reshape(ndim, *batch)
        fields["flows"] = counted.flows.reshape(*batch, ndim, *topology.shape)
    return fields


def steps_of(shape: tuple[int, ...], wrap: tuple[bool, ...]) -> int:
    """Return the communication steps by the paper's formula: 2 k an axis, k + k // 2 a torus'."""
    lines = zip(shape, wrap, strict=True)
    return sum(k + k // 2 if wrapped else 2 * k for k, wrapped in lines)


@dataclass(frozen=True)
class _Plan:
    """How a kernel goes about a topology.

    Attributes
    ----------
    W : trials side by side, 1 or ``LANES``
    rooms : scratch for the kernels at each level of ``record``
    axes, sorters : see the kernel
    top : largest load with which lines of integers add up to int32
    steps, information : by the paper's formula, and those in which loads are told
    """

    W: int
    rooms: dict[str, int]
    axes: NDArray[np.int64]
    sorters: NDArray[np.int64]
    top: int
    steps: int
    information: int

    def arguments(self, record: str, T: type[np.generic]) -> tuple[Any, ...]:
        """Return a kernel's scratch, and the plan."""
        memory: NDArray[Any] = np.empty(self.rooms[record], T)
        return memory, self.W, self.axes, self.sorters


@lru_cache(maxsize=64)
def _plan(
    shape: tuple[int, ...], wrap: tuple[bool, ...], order: tuple[int, ...] | None, many: bool
) -> _Plan:
    N = math.prod(shape)
    in_bundles = shape[-1:] and shape[-1] % LANES == 0 and N // shape[-1] % LANES == 0
    W = LANES if many and N <= LARGE_NETWORK and not in_bundles else 1
    sorters, starts = ring_sorters(shape, wrap)
    axes = [
        (a, shape[a], math.prod(shape[a + 1 :]), wrap[a] and shape[a] > 2, *starts[a : a + 2])
        for a in (range(len(shape)) if order is None else order)
    ]
    table = np.array(axes, dtype=np.int64).reshape(-1, kernels("dde.batches").COLUMNS)
    rooms = {r: int(kernels("dde.batches").room(i + 1, N, W, table)) for i, r in enumerate(RECORDS)}
    top = INT32_MAX // max(shape, default=1)
    return _Plan(W, rooms, table, sorters, top, steps_of(shape, wrap), sum(shape))


class _Counted(NamedTuple):
    """What is found besides the final loads.

    moved, rounds (B, S), found (6, B), as the kernel has them, flows (B, d, N), stages (S, B, N);
    refused: nothing, as loads are above the ``top``.
    """

    refused: bool
    moved: NDArray[Any]
    rounds: NDArray[np.int64]
    found: NDArray[Any]
    flows: NDArray[Any]
    stages: NDArray[Any]


def _run(
    rows: NDArray[Any], target: NDArray[Any], plan: _Plan, T: type[np.generic],
    exchange: str, record: str, top: int = -1,
) -> _Counted:  # fmt: skip
    """Balance rows into ``target``; flows and stages are empty unless recorded.

    Unless there is a ``top``, loads are legal, and what was found before is left to the caller.
    """
    (B, N), S = rows.shape, len(plan.axes)
    unit = units_dtype(rows)
    flows, stages = _room_for_stages(B if record == "flows" else 0, S, N, unit, rows.dtype)
    moved: NDArray[Any] = np.zeros((B, S), unit)
    rounds = np.zeros((B, S), np.int64)
    kernel = kernels("dde.batches")
    found: NDArray[Any] = np.empty((kernel.FIGURES, B), unit)
    over = kernel.dde(
        rows, target, flows, stages, *plan.arguments(record, T), exchange == "sbr", moved,
        rounds, found, top,
    )  # fmt: skip
    if over >= 0:
        raise OverflowError(f"moved must fit int64, got more units in row {over}")
    return _Counted(over == kernel.REFUSED, moved, rounds, found, flows, stages)


def _room_for_stages(
    B: int, S: int, N: int, unit: type, T: np.dtype[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return arrays for flows (B, S, N) and stages (S, B, N), large ones in one block of memory."""
    cut = B * S * N * np.dtype(unit).itemsize
    size = cut + B * S * N * T.itemsize
    if size <= SMALL_RESULT:
        return np.empty((B, S, N), unit), np.empty((S, B, N), T)
    block = handed_out(size)
    return block[:cut].view(unit).reshape(B, S, N), block[cut:].view(T).reshape(S, B, N)


@lru_cache(maxsize=64)
def ring_sorters(
    shape: tuple[int, ...], wrap: tuple[bool, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the comparators of all axes, (C, 2), and where each axis' begin, (d + 1,)."""
    per_axis = [
        kernels("dde.batches").median_comparators(k) if wrapped and 2 < k <= LONGEST_SORTED else []
        for k, wrapped in zip(shape, wrap, strict=True)
    ]
    starts = np.cumsum([0] + [len(found) for found in per_axis])
    pairs = [pair for found in per_axis for pair in found]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), starts
