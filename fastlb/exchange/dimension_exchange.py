"""Dimension exchange (DEM) on hypercubes: the public function, and which kernel takes what.

All give the same loads; each is the fastest for its own.

====================================================  =========================================
final loads alone, bits in ascending order            kernel
====================================================  =========================================
floats, from ``dem_real.LEAST_BITS`` bits on          ``dem_real``
floats of smaller cubes                               ``dem.dem``
integers of less than ``dem_narrow.LEAST_BITS`` bits  ``dem.dem``
integers below 2**15                                  ``dem_narrow``, lanes of 16 bits
integers below 2**23 (32 bits wide) and 2**52 (64)    ``dem_wide``, as floats
larger ones                                           ``dem_wide``, as integers
====================================================  =========================================

With figures, flows, faults or another order of the bits it is ``dem_measured``, and ``dem_tiles``
for random trials with figures. Whether loads are legal and how large they are, the kernel of the
most likely one finds out itself (``checked``): what it leaves goes on to the next.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from ..accelerate import compiled, kernels
from ..topologies.hypercube import Hypercube
from ..topologies.topology import Topology
from .loads import (
    LoadRows,
    check_order,
    check_record,
    check_values,
    fits,
    read_loads,
    survey,
    survey_after,
)
from .outputs import finished, output_rows, plain_result
from .result import INT64_MAX, Balance, figures, loads_alone, per_batch, units_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray


# The dtypes taken as they are, and as which: kernels for signed loads serve unsigned ones that fit.
SEEN_AS: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(given): np.dtype(seen)
    for given, seen in (
        (np.int16, np.int16), (np.int32, np.int32), (np.int64, np.int64),
        (np.uint16, np.int16), (np.uint32, np.int32), (np.uint64, np.int64),
        (np.float32, np.float32), (np.float64, np.float64),
    )
}  # fmt: skip
# Of the same width, for those that they hold.
FLOATS: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.int32): np.dtype(np.float32),
    np.dtype(np.int64): np.dtype(np.float64),
}

# Bytes up to which a copy is made and balanced sooner than an empty array for the result.
COPIED = 2**13
# The cube of the last call, its dimensions, and the kernel. A host program asks for the same in
# every step: to see that by identity, and leave the rest to the kernel, saves a sixth of the call.
# One tuple, put in as a whole: no thread meets half of another's.
_last: list[tuple[Any, ...]] = [(object(), 0, None)]


def dem(
    loads: ArrayLike,
    topology: Topology,
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
    topology : Hypercube
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
        If a total, or what is moved, does not fit int64 (not with ``record="loads"``).

    Examples
    --------
    >>> import fastlb as lb
    >>> lb.dem([9, 0, 0, 1], lb.Hypercube(2)).loads
    array([3, 3, 2, 2])
    """
    # An array would be compared word by word.
    if type(record) is str and record == "loads" and dims is None:
        balance = _in_one_go(loads, topology, out)
        if balance is not None:
            return balance
    if not isinstance(topology, Hypercube):
        raise TypeError(f"topology must be a Hypercube for dem, got {topology!r}")
    check_record(record)
    given = read_loads(loads, topology)
    result, rows = output_rows(out, loads, given)
    order = check_order("dims", dims, topology.n)
    ascending = order == tuple(range(topology.n))
    bits = np.array(order, dtype=np.int64)
    T = _computing_dtype(given.rows)
    source = given.rows if rows.dtype == T else given.rows.astype(T)
    work = rows if rows.dtype == T else source
    if record == "loads":
        check_values(given.rows)
        if ascending and not topology.faults:
            _balance(source.reshape(-1), work.reshape(-1), topology.n)
        else:
            np.copyto(work, source)
            _run_measured(work, work.copy(), bits, topology)
        _copy_back(work, rows)
        return Balance("dem", topology, record, {"loads": finished(result, rows)})
    before = survey(given.rows)
    if before.total.max(initial=0) > INT64_MAX // max(1, topology.n):
        # The units moved may turn out not to fit: then nothing is to have been written.
        work = source.copy()
    np.copyto(work, source)
    kept = work.copy()
    fields: dict[str, Any] = {}
    if record == "flows":
        moved = _run_in_stages(work, kept, bits, topology, given, fields)
    else:
        moved = _run_measured(work, kept, bits, topology)
    shared = figures(before, survey_after(before, work), topology.size, moved, kept)
    _copy_back(work, rows)
    shared["steps"] = np.full(len(rows), 3 * topology.n)
    fields |= per_batch(shared, given.batch)
    return Balance("dem", topology, record, {"loads": finished(result, rows), **fields})


def _in_one_go(loads: ArrayLike, topology: Topology, out: NDArray[Any] | None) -> Balance | None:
    """Balance plain arrays with the least of Python around the kernel, or return None.

    For a host program that balances in every step: 6 times as fast on a 10-cube as the whole way,
    or 10 into an ``out``. That one is for all that is refused or takes a conversion. The kernel
    itself looks at types, shapes and values, and whether arrays overlap, in next to no time.
    """
    # ``np.ndarray`` would be looked up twice, a twentieth of the whole call.
    if type(loads) is not ndarray:
        return None
    if type(out) is ndarray:
        source, result = loads, out
    elif out is not None:
        return None
    elif 0 < loads.nbytes <= COPIED:
        # In C order, whatever the order of the loads. Items of no bytes may be any number, and are
        # copied one by one.
        source = result = loads.copy()
    else:
        try:
            source, result = loads, np.empty_like(loads)
        except MemoryError:
            # The whole way tells first what else is wrong: a view of one load may have any length.
            return None
    cube, n, kernel = _last[0]
    found = kernel(source, result, n) if topology is cube else -1
    if found < 0:
        # Another cube or other arrays than in the last call, or none that can be balanced.
        if type(topology) is not Hypercube or topology.faults:
            return None
        n = topology.n
        kernel = _kernel(loads.dtype, loads.ndim, n)
        if kernel is None:
            return _in_one_go_as_rows(loads, topology, out)
        found = kernel(source, result, n)
        if found < 0:
            return None
        _last[0] = topology, n, kernel
    if found > 0:
        _balance_larger(source.reshape(-1), result.reshape(-1), n, found)
    return loads_alone("dem", topology, result)


def _in_one_go_as_rows(
    loads: NDArray[Any], topology: Hypercube, out: NDArray[Any] | None
) -> Balance | None:
    """Do so with loads that no kernel takes as they come: unsigned ones, and loads by address."""
    seen_as, n, size = SEEN_AS.get(loads.dtype), topology.n, topology.size
    if seen_as is None or not fits(loads.shape, topology):
        return None
    kernel, result = _kernel(seen_as, 2, n), plain_result(out, loads)
    if kernel is None or result is None:
        return None
    source, target = loads.reshape(-1, size).view(seen_as), result.reshape(-1, size).view(seen_as)
    found = kernel(source, target, n)
    if found > 0:
        _balance_larger(source.reshape(-1), target.reshape(-1), n, found)
    return loads_alone("dem", topology, result) if found >= 0 else None


@lru_cache(maxsize=256)
def _kernel(T: np.dtype[Any], axes: int, n: int) -> Callable[..., int] | None:
    """Return the kernel that takes plain arrays of a dtype as they come, or None if there is none.

    That is so of unsigned loads, of loads by address, and of those that the whole way widens. The
    kernel takes a 2-cube by address for two rows, and refuses it.
    """
    if SEEN_AS.get(T) != T or not 1 <= axes <= 2:
        return None
    if T.kind == "i" and n >= kernels("dem.narrow").LEAST_BITS:
        checked = kernels("dem.narrow").checked
    elif T.kind == "f" and n >= kernels("dem.real").LEAST_BITS:
        checked = kernels("dem.real").checked
    elif T.itemsize > 2:
        checked = kernels("dem.small").checked
    else:
        return None
    loads = np.empty((1,) * axes, T)
    return compiled(checked, loads, loads, n)


def _balance(source: NDArray[Any], target: NDArray[Any], n: int) -> None:
    """Balance legal loads (B * N,), bits 0 .. n-1 in order, in the narrowest lanes they fit."""
    real = source.dtype.kind == "f"
    if n < kernels("dem.real" if real else "dem.narrow").LEAST_BITS:
        kernels("dem.small").dem(source, target, n)
    elif real:
        kernels("dem.real").dem_real(source, target, n)
    elif source.dtype.kind == "u":
        kernels("dem.wide").dem_wide(source, target, target, n)
    else:
        found = kernels("dem.narrow").dem_narrow(source, target, n)
        if found > kernels("dem.narrow").TOP:
            _balance_larger(source, target, n, found)


def _balance_larger(source: NDArray[Any], target: NDArray[Any], n: int, found: int) -> None:
    """Balance legal loads (B * N,) that do not fit 15 bits; ``found`` is their bitwise or."""
    floats = FLOATS[target.dtype]
    fit = int(found) >> np.finfo(floats).nmant == 0
    kernels("dem.wide").dem_wide(source, target, target.view(floats) if fit else target, n)


def _computing_dtype(rows: NDArray[Any]) -> np.dtype[Any]:
    """Return the dtype to compute in: the loads' own, or a wider one that is compiled anyway."""
    if rows.dtype == np.float32 and rows.max(initial=0) > np.finfo(np.float32).max / 2:
        return np.dtype(np.float64)
    if rows.dtype.itemsize < 4:
        return np.dtype(np.int32)
    return np.dtype(np.int64) if rows.dtype == np.uint32 else rows.dtype


def _copy_back(work: NDArray[Any], rows: NDArray[Any]) -> None:
    """Copy the result into the loads' own dtype, which it fits: no load grew past the largest."""
    if work is not rows:
        np.copyto(rows, work, casting="unsafe")


def _run_measured(
    rows: NDArray[Any], kept: NDArray[Any], bits: NDArray[np.int64], topology: Hypercube
) -> NDArray[Any]:
    """Balance the rows in place, update ``kept``, and return the units moved, (B, S)."""
    moved: NDArray[Any] = np.empty((len(rows), len(bits)), units_dtype(rows))
    kernels("dem.measured").dem_measured(rows, kept, bits, faulty_bits(topology), moved)
    return moved


def faulty_bits(topology: Hypercube) -> NDArray[np.int64]:
    """Return the faulty links as (bit, lower node), shape (F, 2)."""
    faults = [((u ^ v).bit_length() - 1, u) for u, v in topology.faults]
    return np.array(faults, dtype=np.int64).reshape(-1, 2)


def _run_in_stages(
    rows: NDArray[Any],
    kept: NDArray[Any],
    bits: NDArray[np.int64],
    topology: Hypercube,
    given: LoadRows,
    fields: dict[str, Any],
) -> NDArray[Any]:
    """Do the same one dimension at a time, and put stages and flows into ``fields``."""
    B, N, S = len(rows), topology.size, len(bits)
    moved: NDArray[Any] = np.empty((B, S), units_dtype(rows))
    stages = np.empty((S, B, N), given.rows.dtype)
    flows = np.zeros((B, S, N), moved.dtype)
    nodes = np.arange(N)
    for s, bit in enumerate(bits):
        lower = nodes[nodes >> bit & 1 == 0]
        held = rows[:, lower].astype(moved.dtype)
        moved[:, s] = _run_measured(rows, kept, bits[s : s + 1], topology)[:, 0]
        flows[:, S - 1 - bit, lower] = held - rows[:, lower].astype(moved.dtype)
        stages[s] = rows
    fields["stages"] = stages.reshape(S, *given.shape)
    fields["moved_per_stage"] = moved.T.reshape(S, *given.batch)
    fields["flows"] = flows.reshape(*given.batch, S, *topology.shape)
    return moved
