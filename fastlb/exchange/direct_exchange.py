"""Direct dimension exchange (DDE) on meshes, tori and everything between."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..topologies.topology import Grid, Hypercube, Topology
from .loads import (
    RECORDS,
    LoadRows,
    Survey,
    all_within,
    check_choice,
    check_order,
    check_record,
    check_values,
    computing_dtype,
    finished,
    output_rows,
    read_loads,
    survey,
)
from .result import INT64_MAX, Balance, figures, per_batch, sum_moved, units_dtype

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

EXCHANGES = ("rbs", "sbr")
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
    check_choice("exchange", exchange, EXCHANGES)
    order = check_order("axes", axes, topology.ndim)
    given = read_loads(loads, topology)
    # The units of an axis are at most its length times the total.
    factor = topology.size * max(topology.shape, default=1)
    if record == "loads":
        small = given.rows.dtype.kind != "f" and all_within(given.rows, (2**31 - 1) // factor)
        if not small:
            check_values(given.rows, limit=INT64_MAX // topology.size)
        result, rows = output_rows(out, loads, given)
        if topology.ndim == 1:
            kernels("lines").share_out(given.rows, rows)
        else:
            T = np.int32 if small else computing_dtype(rows, np.inf)
            _run(given, rows, topology.shape, wrap, order, exchange, record, T)
        return Balance("dde", topology, record, {"loads": finished(result, rows)})
    before = survey(given.rows)
    result, rows = output_rows(out, loads, given)
    largest = int(before.total.max(initial=0)) * (factor // topology.size)
    T = computing_dtype(rows, largest)
    # Where units may be too many, nothing is written before they are found to fit.
    target = rows if T is np.int32 else np.empty_like(rows)
    moved, rounds, local, after, fields = _run(
        given, target, topology.shape, wrap, order, exchange, record, T
    )
    moved = sum_moved(moved)
    if target is not rows:
        np.copyto(rows, target)
    shared = figures(before, Survey(before.total, *after), topology.size, moved, local)
    shared["steps"] = np.full(len(rows), _steps(topology.shape, wrap))
    shared["rounds"] = rounds.sum(axis=1)
    shared["simulated_steps"] = shared["rounds"] + sum(topology.shape)
    fields |= per_batch(shared, given.batch)
    return Balance("dde", topology, record, {"loads": finished(result, rows), **fields})


def _steps(shape: tuple[int, ...], wrap: tuple[bool, ...]) -> int:
    lines = zip(shape, wrap, strict=True)
    return sum(k + k // 2 if wrapped else 2 * k for k, wrapped in lines)


def _width(B: int, shape: tuple[int, ...], N: int) -> int:
    """Return how many trials are to lie side by side: 1 or ``LANES``."""
    in_bundles = shape[-1:] and shape[-1] % LANES == 0 and N // shape[-1] % LANES == 0
    return 1 if in_bundles or B < FEWEST_TRIALS or N > LARGE_NETWORK else LANES


def _run(
    given: LoadRows,
    result: NDArray[Any],
    shape: tuple[int, ...],
    wrap: tuple[bool, ...],
    order: tuple[int, ...],
    exchange: str,
    record: str,
    T: type[np.generic],
) -> tuple[
    NDArray[Any], NDArray[np.int64], NDArray[Any], tuple[NDArray[Any], NDArray[Any]], dict[str, Any]
]:
    """Balance rows into ``result``.

    Returns moved and rounds (B, S), local (B,), least and largest load (B,), and the fields of
    the stages, as far as they are recorded.
    """
    (B, N), S = given.rows.shape, len(order)
    level = RECORDS.index(record)
    unit = units_dtype(given.rows)
    flows, stages = _room_for_stages(B if record == "flows" else 0, S, N, unit, given.rows.dtype)
    moved: NDArray[Any] = np.zeros((B, S), unit)
    rounds = np.zeros((B, S), np.int64)
    over = np.zeros(B, np.bool_)
    found: NDArray[Any] = np.empty((3, B), unit)
    tile = np.empty((1 + level, N, _width(B, shape, N)), T)
    kernels("dde").dde_rows(
        given.rows, result, flows, stages, tile, *_lines(shape, wrap),
        np.array(order, dtype=np.int64), exchange == "sbr", moved, rounds, over,
        None if record == "loads" else found,
    )  # fmt: skip
    if over.any():
        row = int(np.flatnonzero(over)[0])
        raise OverflowError(f"moved must fit int64, got more units in row {row}")
    fields: dict[str, Any] = {}
    if record == "flows":
        fields = {
            "stages": stages.reshape(S, *given.shape),
            "moved_per_stage": moved.T.reshape(S, *given.batch),
            "rounds_per_stage": rounds.T.reshape(S, *given.batch),
            "flows": flows.reshape(*given.batch, S, *shape),
        }
    return moved, rounds, found[0], (found[1], found[2]), fields


def _room_for_stages(
    B: int, S: int, N: int, unit: type, T: np.dtype[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return arrays for flows (B, S, N) and stages (S, B, N), which share one block of memory.

    Of two blocks of some MB the system takes one back at every call, and clears it for the
    next: for 64 16x16x16 tori 4.2 ns a node against 0.7.
    """
    cut = B * S * N * np.dtype(unit).itemsize
    block = np.empty(cut + B * S * N * T.itemsize, np.uint8)
    return block[:cut].view(unit).reshape(B, S, N), block[cut:].view(T).reshape(S, B, N)


@lru_cache(maxsize=64)
def _lines(
    shape: tuple[int, ...], wrap: tuple[bool, ...]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Return shape and wrap as arrays, and their comparators: see ``_sorters``."""
    return np.array(shape, dtype=np.int64), np.array(wrap, dtype=np.bool_), *_sorters(shape, wrap)


@lru_cache(maxsize=64)
def _sorters(
    shape: tuple[int, ...], wrap: tuple[bool, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the comparators of all axes, (C, 2), and where each axis' begin, (d + 1,)."""
    per_axis = [
        kernels("dde").median_comparators(k) if wrapped and 2 < k <= LONGEST_SORTED else []
        for k, wrapped in zip(shape, wrap, strict=True)
    ]
    starts = np.cumsum([0] + [len(found) for found in per_axis])
    pairs = [pair for found in per_axis for pair in found]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), starts
