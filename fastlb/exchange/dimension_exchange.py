"""Dimension exchange (DEM) on hypercubes: the public function, and the choice of a kernel.

All kernels give the same results, bit for bit.

=========================================  ============================================
final loads alone, bits in ascending order
=========================================  ============================================
up to ``SMALL`` nodes in all               ``dem.small``, in the loads' own dtype
more integers                              ``dem.integers``, in the narrowest lanes
more real loads                            ``dem.real``
=========================================  ============================================
with figures
=========================================  ============================================
batches of integers                        ``dem.tiles``
integers, bits in ascending order          ``dem.measured.balance_integers``
all else; flows; faults                    ``dem.measured.balance``
=========================================  ============================================
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..pages import copied, copy_into
from ..topologies.hypercube import Hypercube
from ..topologies.kinds import topology_for
from ..topologies.topology import Topology
from .casting import (
    INT16,
    INT64_MAX,
    as_signed,
    copy_back,
    lane_dtype,
    least_dtype,
    row_dtype,
    signed,
    source_for,
    units_dtype,
)
from .figures import figures, per_batch
from .loads import (
    LoadRows,
    Survey,
    check_order,
    check_record,
    check_values,
    fits,
    read_loads,
    survey,
    survey_after,
)
from .outputs import finished, output_rows
from .prepared import PreparedCall, run_prepared
from .result import Balance
from .scratch import scratch, with_own_scratch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

# Loads up to which specialised kernels are not worth compiling.
SMALL = 2**11
# Loads from which on it pays to look at a sample of them first.
SAMPLED = 2**16
LOAD_DTYPES = frozenset(np.dtype(f"{kind}{width}") for kind in "iu" for width in (1, 2, 4, 8)) | {
    np.dtype(np.float32),
    np.dtype(np.float64),
}
# Float lanes as wide as integers: for loads that fit their significand without its leading bit.
FLOAT_LANES: dict[np.dtype[Any], Any] = {
    np.dtype(np.int32): np.dtype(np.float32),
    np.dtype(np.int64): np.dtype(np.float64),
}
# Empty arrays whose dtype tells a kernel its lanes: 16 bits for wider loads, 32 for 16-bit loads.
NARROW_LANES: NDArray[np.int16] = np.empty(0, np.int16)
WIDE_LANES: NDArray[np.int32] = np.empty(0, np.int32)
# Batches are balanced in tiles if they have at least this many networks of at most this many nodes.
# Tiles of about TILE_BYTES stay in cache and have up to TILE_WIDTH networks side by side.
FEWEST_IN_TILES = 16
LARGEST_IN_TILES = 2**14
TILE_BYTES = 2**19
TILE_WIDTH = 64


def dem(
    loads: ArrayLike,
    topology: Topology | str,
    *,
    dims: Iterable[int] | None = None,
    record: str = "metrics",
    out: NDArray[Any] | None = None,
) -> Balance:
    """Balance loads on a hypercube by dimension exchange (Wu-Shu Fig. 1, More-Wu 2.1).

    In every dimension each pair of neighbours averages: the higher sends ``diff // 2`` and so
    keeps an odd unit; float loads meet at the mean. Afterwards ``max - min <= n``, which need
    not be 1 as More-Wu says: ``(2, 1, 1, 0)`` stays as it is. Faulty links exchange nothing.

    Parameters
    ----------
    loads : array_like, shape (*batch, *topology.shape) or (*batch, topology.size)
        Tasks per node, not negative: integers, float32 or float64.
    topology : Hypercube or str
        Or its spelling, ``"hypercube:10"``.
    dims : order of the bits, optional
        Default 0, 1, .., n-1; bit 0 is the last array axis.
    record : {"metrics", "loads", "flows"}
        ``"loads"`` computes final loads alone, ``"flows"`` also the flows and stages.
    out : array, optional
        Receives the final loads; may be the input. Same shape and dtype.

    Returns
    -------
    Balance
        ``steps`` is ``3n``.

    Raises
    ------
    TypeError, ValueError
        On loads, topology, ``dims``, ``record`` or ``out`` that do not fit.
    OverflowError
        If a total, or the units moved, do not fit int64 (not with ``record="loads"``).

    Notes
    -----
    Calls are safe from several threads on different arrays, as the kernels release Python's
    lock. Batches gain from threads, small calls nothing. Two threads must not write one ``out``.

    Examples
    --------
    >>> import fastlb as lb
    >>> lb.dem([9, 0, 0, 1], lb.Hypercube(2)).loads
    array([3, 3, 2, 2])
    """
    if dims is None:
        balance = run_prepared("dem", _prepare, loads, topology, record, out)
        if balance is not None:
            return balance
    topology = topology_for("dem", topology)
    check_record(record)
    inputs = read_loads(loads, topology)
    result, rows = output_rows(out, loads, inputs)
    order = check_order("dims", dims, topology.n)
    ascending = order == tuple(range(topology.n)) and not topology.faults
    if record == "loads" and ascending:
        _final_loads(inputs.rows, rows, topology.n)
        return Balance("dem", topology, record, {"loads": finished(result, rows)})
    bits = np.array(order, dtype=np.int64)
    if record == "loads":
        check_values(inputs.rows)
        work = copied(inputs.rows, row_dtype(inputs.rows))
        _run_measured(work, copied(work), bits, topology)
        copy_back(work, rows)
        return Balance("dem", topology, record, {"loads": finished(result, rows)})
    before = survey(inputs.rows)
    fields: dict[str, Any] = {}
    # Whether the units moved in all dimensions are sure to fit.
    is_safe = before.total.max(initial=0) <= INT64_MAX // max(1, topology.n)
    if record == "metrics" and is_safe and _fit_tiles(inputs.rows):
        moved, local, after = _run_in_tiles(inputs.rows, rows, bits, topology, before)
        shared = figures(before, after, topology.size, moved, local)
    else:
        # ``rows`` is written only once all figures are known to fit.
        T = row_dtype(inputs.rows)
        if is_safe and rows.dtype == T:
            copy_into(rows, inputs.rows)
            work = rows
        else:
            work = copied(inputs.rows, T)
        local = copied(work)
        if record == "flows":
            moved, fields = _run_in_stages(work, local, bits, topology, inputs)
        elif ascending and is_safe and _fit_registers(work):
            moved = np.empty(len(work), np.int64)
            kernel = kernels("dem.measured").balance_integers
            kernel(as_signed(work), as_signed(local), topology.n, moved)
        else:
            moved = _run_measured(work, local, bits, topology)
        shared = figures(before, survey_after(before, work), topology.size, moved, local)
        copy_back(work, rows)
    shared["steps"] = np.full(len(rows), 3 * topology.n)
    fields |= per_batch(shared, inputs.batch)
    return Balance("dem", topology, record, {"loads": finished(result, rows), **fields})


@lru_cache(maxsize=256)
def _prepare(
    topology: Topology, dtype: np.dtype[Any], shape: tuple[int, ...], record: str
) -> PreparedCall | None:
    """Return the kernel for the final loads of cubes of plain loads, or None.

    For final loads the kernel is the same for any number of cubes.
    """
    if type(topology) is not Hypercube or topology.faults or record != "loads":
        return None
    if dtype not in LOAD_DTYPES or not fits(shape, topology):
        return None
    name, n = _kernel_name(dtype, math.prod(shape), topology.n), topology.n
    if name == "dem.integers":
        return PreparedCall(_balance_integers, (n,)) if dtype.itemsize > 1 else None
    return PreparedCall(kernels(name).balance, (n, _largest_legal(dtype, n)))


def _kernel_name(dtype: np.dtype[Any], size: int, n: int) -> str:
    """Return the module of the kernel for final loads, ``size`` of them in cubes of n bits."""
    if size <= SMALL or (dtype.kind == "f" and n < kernels("dem.real").ROW_BITS):
        return "dem.small"
    return "dem.real" if dtype.kind == "f" else "dem.integers"


def _largest_legal(dtype: np.dtype[Any], n: int) -> float:
    """Return the largest float load of which ``2**n`` have a finite total; 0 for integers.

    Kernels check integers without it.
    """
    return float(np.finfo(dtype).max) / 2.0**n if dtype.kind == "f" else 0.0


def _final_loads(source: NDArray[Any], rows: NDArray[Any], n: int) -> None:
    """Balance rows of loads (B, N) along bits 0 .. n-1 into other rows, or the same.

    Raises
    ------
    ValueError, OverflowError
        If a load is not legal, or a total of real loads is not finite; nothing is written.
    """
    T = source.dtype
    work: NDArray[Any]
    if T.kind != "f":
        if T.itemsize == 1 and source.size > SMALL:
            work = copied(source, INT16)
            if _balance_flat(work, work, n, 0.0):
                check_values(source)
            copy_back(work, rows)
        elif _balance_flat(source, rows, n, 0.0):
            check_values(source)
        return
    if _balance_flat(source, rows, n, _largest_legal(T, n)):
        # Loads beyond this bound may still have a finite total.
        check_values(source)
        work = copied(source, row_dtype(source))
        _balance_flat(work, work, n, float(np.finfo(work.dtype).max))
        copy_back(work, rows)


def _balance_flat(source: NDArray[Any], rows: NDArray[Any], n: int, largest: float) -> int:
    """Balance rows of loads; return 0, or another status after writing nothing."""
    source, target = source.reshape(-1), rows.reshape(-1)
    name = _kernel_name(source.dtype, source.size, n)
    if name != "dem.integers":
        status: int = kernels(name).balance(source, target, n, largest)
        return status
    status = _balance_integers(source, target, n)
    if status < 0 and source.dtype.kind == "u":
        # Beyond the signed dtype.
        status = _run_lanes(source, target, _own_lanes(target), n, 0)
    return status


def _balance_integers(source: NDArray[Any], target: NDArray[Any], n: int) -> int:
    """Balance integers (B * N,) in the narrowest lanes that hold them; return 0.

    A status below 0 means that nothing was written: a load is negative in the signed view, or
    the arrays overlap.
    """
    kernel, size = kernels("dem.integers"), source.size
    source, target = as_signed(source), as_signed(target)
    # A sample of the loads rules out lanes that are too narrow, for which no kernel is compiled
    # then.
    status = int(np.bitwise_or.reduce(source[:: size // 64])) if size >= SAMPLED else 0
    if status <= kernel.SMALL_TOP:
        lanes = target if target.dtype == INT16 else NARROW_LANES
        status = _run_lanes(source, target, lanes, n, kernel.SMALL_TOP)
        if status <= 0:
            return status
    floats = FLOAT_LANES.get(target.dtype)
    if floats is not None and kernel.FUSED:
        largest = 2 ** np.finfo(floats).nmant - 1
        if 0 < status <= largest:
            status = _run_lanes(source, target, target.view(floats), n, largest)
    if status > 0:
        largest = int(np.iinfo(target.dtype).max)
        status = _run_lanes(source, target, _own_lanes(target), n, largest)
    return status


def _own_lanes(target: NDArray[Any]) -> NDArray[Any]:
    """Return an array of a dtype that holds all loads; 16-bit lanes hold only small loads."""
    return WIDE_LANES if target.itemsize == 2 else target


def _run_lanes(
    source: NDArray[Any], target: NDArray[Any], lanes: NDArray[Any], n: int, largest: int
) -> int:
    """Run the kernel for cubes of n bits in lanes of a dtype; see ``dem.integers.balance``."""
    kernel = kernels("dem.integers")
    in_block = 1 << n <= kernel.BLOCK_NODES[lanes.itemsize]
    balance = kernel.balance if in_block else kernel.balance_in_bytes
    status: int = balance(source, target, lanes, n, largest)
    return status


def _fit_registers(rows: NDArray[Any]) -> bool:
    """Return whether rows are integers that fill at least a register each."""
    return rows.dtype.kind != "f" and rows.shape[1] >= kernels("dem.measured").LEAST_NODES


def _fit_tiles(rows: NDArray[Any]) -> bool:
    """Return whether rows are integers, and many and small enough to be balanced in tiles."""
    B, N = rows.shape
    many = B >= FEWEST_IN_TILES and rows.size > SMALL
    return rows.dtype.kind != "f" and many and N <= LARGEST_IN_TILES


@with_own_scratch
def _run_in_tiles(
    rows: NDArray[Any],
    target: NDArray[Any],
    bits: NDArray[np.int64],
    topology: Hypercube,
    before: Survey,
) -> tuple[NDArray[Any], NDArray[Any], Survey]:
    """Balance rows (B, N) into others by tiles; return units moved and local, and the survey."""
    (B, N), layout, kernel = rows.shape, kernels("layout.tiles"), kernels("dem.tiles")
    largest, summed = before.largest.max(), before.total.max() * max(1, len(bits))
    T = lane_dtype(kernel, int(largest), int(summed))
    assert T is not None, "the caller has checked that the units moved fit int64"
    sums_T = least_dtype(T, summed)
    # A register has twice as many 16-bit lanes as 32-bit lanes.
    vector = 32 if T == INT16 else 16
    fitting = min(TILE_WIDTH, TILE_BYTES // (N * T.itemsize), -(-B // vector) * vector)
    W = vector * max(1, fitting // vector)
    tiles_in_cache = max(1, TILE_BYTES // (N * W * T.itemsize))
    positions, faults = np.arange(N), faulty_bits(topology)
    totals: NDArray[np.int64] = np.empty((4, B), np.int64)
    resident_min, sums = np.empty(N * W, T), np.empty((4, W), sums_T)
    for first in range(0, B, tiles_in_cache * W):
        part = slice(first, min(first + tiles_in_cache * W, B))
        tiles = scratch("tiles", (-(-(part.stop - first) // W), N, W), T)
        layout.load(source_for(rows[part], tiles), tiles, positions)
        measured = np.empty((4, part.stop - first), np.int64)
        kernel.balance(tiles, resident_min, sums, bits, faults, measured)
        totals[:, part] = measured
        layout.store(tiles, signed(target[part]), positions)
    return totals[0], totals[1], Survey(before.total, totals[2], totals[3])


def _run_measured(
    rows: NDArray[Any], resident_min: NDArray[Any], bits: NDArray[np.int64], topology: Hypercube
) -> NDArray[Any]:
    """Balance rows in place, lower ``resident_min``, and return the units moved, (B, S)."""
    moved: NDArray[Any] = np.empty((len(rows), len(bits)), units_dtype(rows))
    kernels("dem.measured").balance(rows, resident_min, bits, faulty_bits(topology), moved)
    return moved


def faulty_bits(topology: Hypercube) -> NDArray[np.int64]:
    """Return the faulty links as (bit, lower node), shape (F, 2)."""
    faults = [((u ^ v).bit_length() - 1, u) for u, v in topology.faults]
    return np.array(faults, dtype=np.int64).reshape(-1, 2)


def _run_in_stages(
    rows: NDArray[Any],
    resident_min: NDArray[Any],
    bits: NDArray[np.int64],
    topology: Hypercube,
    inputs: LoadRows,
) -> tuple[NDArray[Any], dict[str, Any]]:
    """Do as ``_run_measured`` one dimension at a time; return the units, and stages and flows."""
    B, N, S = len(rows), topology.size, len(bits)
    moved: NDArray[Any] = np.empty((B, S), units_dtype(rows))
    stages = np.empty((S, B, N), inputs.rows.dtype)
    flows = np.zeros((B, S, N), moved.dtype)
    nodes = np.arange(N)
    for s, bit in enumerate(bits):
        lower = nodes[nodes >> bit & 1 == 0]
        before = rows[:, lower].astype(moved.dtype)
        moved[:, s] = _run_measured(rows, resident_min, bits[s : s + 1], topology)[:, 0]
        flows[:, S - 1 - bit, lower] = before - rows[:, lower].astype(moved.dtype)
        stages[s] = rows
    return moved, {
        "stages": stages.reshape(S, *inputs.shape),
        "moved_per_stage": moved.T.reshape(S, *inputs.batch),
        "flows": flows.reshape(*inputs.batch, S, *topology.shape),
    }
