"""Direct dimension exchange (DDE) on meshes, tori and everything between."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .accelerate import kernels
from .loads import (
    LoadRows,
    check_choice,
    check_order,
    check_record,
    check_values,
    computing_dtype,
    finished,
    output_rows,
    read_loads,
    survey,
    survey_after,
)
from .result import INT64_MAX, Balance, figures, per_batch, sum_moved, units_dtype
from .tiling import single, tiled, untiled
from .topology import Grid, Hypercube, Topology

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

EXCHANGES = ("rbs", "sbr")
# Trials lie side by side in networks small enough that a tile of them, what they keep and their
# flows stay in the L2 cache; larger networks have enough lines of their own to fill the lanes.
TILE_BYTES = 2**18
LARGE_NETWORK = 2**13
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
    check_choice("exchange", exchange, EXCHANGES)
    order = np.array(check_order("axes", axes, topology.ndim), dtype=np.int64)
    given = read_loads(loads, topology)
    longest = max(topology.shape, default=1)
    if record == "loads":
        check_values(given.rows, limit=INT64_MAX // topology.size)
        result, rows = output_rows(out, loads, given)
        largest = float(given.rows.max(initial=0)) * topology.size * longest
        T = computing_dtype(rows, largest)
        # Lines that lie together are added up as they are.
        lines = topology.ndim == 1
        tiles = single(given.rows, T) if lines else _tiled(given.rows, T)
        _run(tiles, None, None, len(rows), topology.shape, wrap, order, exchange)
        untiled(tiles, rows)
        return Balance("dde", topology, record, {"loads": finished(result, rows)})
    before = survey(given.rows)
    result, rows = output_rows(out, loads, given)
    largest = int(before.total.max(initial=0)) * longest
    tiles = _tiled(given.rows, computing_dtype(rows, largest))
    kept = tiles.copy()
    fields: dict[str, Any] = {}
    if record == "flows":
        staged = _run_in_stages(tiles, kept, given, topology.shape, wrap, order, exchange)
        moved, rounds, fields = staged
    else:
        moved, rounds = _run(tiles, kept, None, len(rows), topology.shape, wrap, order, exchange)
    # Refused here if it does not fit, before anything is written.
    moved = sum_moved(moved)
    untiled(tiles, rows)
    kept_rows = np.empty(rows.shape, kept.dtype)
    untiled(kept, kept_rows)
    shared = figures(before, survey_after(before, rows), topology.size, moved, kept_rows)
    shared["steps"] = np.full(len(rows), _steps(topology.shape, wrap))
    shared["rounds"] = rounds.sum(axis=1)
    shared["simulated_steps"] = shared["rounds"] + sum(topology.shape)
    fields |= per_batch(shared, given.batch)
    return Balance("dde", topology, record, {"loads": finished(result, rows), **fields})


def _steps(shape: tuple[int, ...], wrap: tuple[bool, ...]) -> int:
    lines = zip(shape, wrap, strict=True)
    return sum(k + k // 2 if wrapped else 2 * k for k, wrapped in lines)


def _tiled(rows: NDArray[Any], T: type[np.generic]) -> NDArray[Any]:
    large = rows.shape[1] > LARGE_NETWORK
    return single(rows, T) if large else tiled(rows, T, tile_bytes=TILE_BYTES)


def _run(
    tiles: NDArray[Any],
    kept: NDArray[Any] | None,
    flows: NDArray[Any] | None,
    B: int,
    shape: tuple[int, ...],
    wrap: tuple[bool, ...],
    order: NDArray[np.int64],
    exchange: str,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Balance tiles in place, update ``kept``, fill ``flows``; return moved, rounds (B, S)."""
    sorters, starts = _sorters(shape, wrap)
    moved: NDArray[Any] = np.zeros((B, len(order)), units_dtype(tiles))
    rounds = np.zeros((B, len(order)), np.int64)
    over = np.zeros(B, np.bool_)
    kernels("dde").dde(
        tiles, kept, flows, np.array(shape, dtype=np.int64), np.array(wrap, dtype=bool),
        order, sorters, starts, exchange == "sbr", moved, rounds, over,
    )  # fmt: skip
    if over.any():
        row = int(np.flatnonzero(over)[0])
        raise OverflowError(f"moved must fit int64, got more units in row {row}")
    return moved, rounds


def _run_in_stages(
    tiles: NDArray[Any],
    kept: NDArray[Any],
    given: LoadRows,
    shape: tuple[int, ...],
    wrap: tuple[bool, ...],
    order: NDArray[np.int64],
    exchange: str,
) -> tuple[NDArray[Any], NDArray[np.int64], dict[str, Any]]:
    """Do the same one axis at a time; return moved and rounds, and the fields of the stages."""
    (B, N), S = given.rows.shape, len(order)
    moved: NDArray[Any] = np.zeros((B, S), units_dtype(tiles))
    rounds = np.zeros((B, S), np.int64)
    stages = np.empty((S, B, N), given.rows.dtype)
    flows = np.empty((S, B, N), moved.dtype)
    axis_flows = np.empty_like(tiles)
    for s, axis in enumerate(order):
        moved[:, s : s + 1], rounds[:, s : s + 1] = _run(
            tiles, kept, axis_flows, B, shape, wrap, order[s : s + 1], exchange
        )
        untiled(axis_flows, flows[axis])
        untiled(tiles, stages[s])
    fields = {
        "stages": stages.reshape(S, *given.shape),
        "moved_per_stage": moved.T.reshape(S, *given.batch),
        "rounds_per_stage": rounds.T.reshape(S, *given.batch),
        "flows": flows.swapaxes(0, 1).reshape(*given.batch, S, *shape),
    }
    return moved, rounds, fields


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
