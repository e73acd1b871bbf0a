"""Direct dimension exchange (DDE) on meshes, tori and everything between."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .accelerate import kernels
from .result import INT64_MAX, Balance, figures, per_batch, units_dtype
from .loads import (
    LoadRows,
    check_order,
    check_record,
    check_values,
    finished,
    native_rows,
    output_rows,
    read_loads,
    survey,
)
from .topology import Grid, Hypercube, Topology

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

# Trials side by side, for networks small enough that a tile of them stays in the L2 cache;
# larger networks have enough lines of their own to fill the lanes.
LANES = 64
LARGE_NETWORK = 1024
# Up to this length the two middle flows of a ring are found by a sorting network.
LONGEST_SORTED = 64


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
    if isinstance(topology, Hypercube):
        if topology.faults:
            raise ValueError(f"topology must have no faulty links for dde, got {topology!r}")
        wrap: tuple[bool, ...] = (False,) * topology.n
    elif isinstance(topology, Grid):
        wrap = topology.wrap
    else:
        raise TypeError(f"topology must be a Grid or Hypercube for dde, got {topology!r}")
    check_record(record)
    if exchange not in ("rbs", "sbr"):
        raise ValueError(f"exchange must be 'rbs' or 'sbr', got {exchange!r}")
    order = np.array(check_order("axes", axes, topology.ndim), dtype=np.int64)
    given = read_loads(loads, topology)
    if record == "loads":
        totals_fit = INT64_MAX // topology.size
        check_values(given.rows, limit=totals_fit)
        result, rows = output_rows(out, loads, given)
        largest = int(given.rows.max(initial=0)) * topology.size
        _run(given.rows, rows, None, None, topology, wrap, order, largest, exchange)
        return Balance("dde", topology, record, {"loads": finished(result, rows)})
    before = survey(given.rows)
    result, rows = output_rows(out, loads, given)
    largest = before.total.max(initial=0)
    kept = given.rows.astype(np.float64 if rows.dtype.kind == "f" else np.int64)
    fields: dict[str, Any] = {}
    if record == "flows":
        moved, rounds = _run_in_stages(
            given, rows, kept, topology, wrap, order, largest, exchange, fields
        )
    else:
        moved, rounds = _run(given.rows, rows, kept, None, topology, wrap, order, largest, exchange)
    shared = figures(before, survey(rows), topology.size, moved, kept)
    shared["steps"] = np.full(len(rows), _steps(topology.shape, wrap))
    shared["rounds"] = rounds.sum(axis=1)
    shared["simulated_steps"] = shared["rounds"] + sum(topology.shape)
    fields |= per_batch(shared, given.batch)
    return Balance("dde", topology, record, {"loads": finished(result, rows), **fields})


def _steps(shape: tuple[int, ...], wrap: tuple[bool, ...]) -> int:
    lines = zip(shape, wrap, strict=True)
    return sum(k + k // 2 if wrapped else 2 * k for k, wrapped in lines)


def _run(
    source: NDArray[Any],
    target: NDArray[Any],
    kept: NDArray[Any] | None,
    flows: NDArray[Any] | None,
    topology: Topology,
    wrap: tuple[bool, ...],
    order: NDArray[np.int64],
    largest_total: Any,
    exchange: str,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Balance the rows, update ``kept``, fill ``flows``; return moved and rounds, (B, S)."""
    B, N = source.shape
    T: type[np.generic] = np.float64
    if source.dtype.kind != "f":
        narrow = int(largest_total) * max(topology.shape, default=1) < 2**31
        T = np.int32 if narrow else np.int64
    width = 1 if N >= LARGE_NETWORK else min(B, LANES)
    tile = np.empty(N * width, T)
    sorters, starts = _sorters(topology.shape, wrap)
    moved = np.zeros((B, len(order)), units_dtype(source))
    rounds = np.zeros((B, len(order)), np.int64)
    over = np.zeros(B, np.bool_)
    kernels("dde").dde(
        native_rows(source), target, kept, flows, tile,
        None if kept is None else np.empty_like(tile),
        None if flows is None else np.empty_like(tile),
        np.array(topology.shape, dtype=np.int64), np.array(wrap, dtype=np.bool_), order,
        sorters, starts, max(1, width), exchange == "sbr", moved, rounds, over,
    )  # fmt: skip
    if over.any():
        row = int(np.flatnonzero(over)[0])
        raise OverflowError(f"moved must fit int64, got more units in row {row}")
    return moved, rounds


def _run_in_stages(
    given: LoadRows,
    rows: NDArray[Any],
    kept: NDArray[Any],
    topology: Topology,
    wrap: tuple[bool, ...],
    order: NDArray[np.int64],
    largest_total: Any,
    exchange: str,
    fields: dict[str, Any],
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Do the same one axis at a time, and put stages and flows into ``fields``."""
    (B, N), S = rows.shape, len(order)
    moved = np.zeros((B, S), units_dtype(rows))
    rounds = np.zeros((B, S), np.int64)
    stages = np.empty((S, B, N), rows.dtype)
    flows = np.zeros((B, S, N), moved.dtype)
    source = given.rows
    for s, axis in enumerate(order):
        axis_flows = np.empty((B, N), moved.dtype)
        moved[:, s : s + 1], rounds[:, s : s + 1] = _run(
            source, rows, kept, axis_flows, topology, wrap, order[s : s + 1], largest_total,
            exchange,
        )  # fmt: skip
        flows[:, axis] = axis_flows
        stages[s] = rows
        source = rows
    fields["stages"] = stages.reshape(S, *given.shape)
    fields["moved_per_stage"] = moved.T.reshape(S, *given.batch)
    fields["rounds_per_stage"] = rounds.T.reshape(S, *given.batch)
    fields["flows"] = flows.reshape(*given.batch, S, *topology.shape)
    return moved, rounds


@lru_cache(maxsize=64)
def _sorters(
    shape: tuple[int, ...], wrap: tuple[bool, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the comparators of all axes, (C, 2), and where each axis' begin, (d + 1,)."""
    per_axis = [
        median_comparators(k) if wrapped and 2 < k <= LONGEST_SORTED else []
        for k, wrapped in zip(shape, wrap, strict=True)
    ]
    starts = np.cumsum([0] + [len(found) for found in per_axis])
    pairs = [pair for found in per_axis for pair in found]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), starts


@lru_cache(maxsize=64)
def median_comparators(k: int) -> list[tuple[int, int]]:
    """Return comparators (low, high) that put the middle one or two of k values in place.

    Batcher's merge exchange, without the comparators that the middle does not depend on.
    """
    network = []
    p = top = 1 << max(0, (k - 1).bit_length() - 1)
    while p > 0:
        q, r, d = top, 0, p
        while True:
            network += [(i, i + d) for i in range(k - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
    needed = {(k - 1) // 2, k // 2}
    pruned = []
    for low, high in reversed(network):
        if low in needed or high in needed:
            needed |= {low, high}
            pruned.append((low, high))
    return pruned[::-1]
