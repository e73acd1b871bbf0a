"""Algorithms A, B and C on the Hyper Hexa-Cell network: the public function."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import compiled, kernels
from ..exchange.loads import (
    all_within,
    check_record,
    check_values,
    fits,
    read_loads,
    survey,
    survey_after,
)
from ..exchange.outputs import finished, output_rows, plain_result
from ..exchange.result import INT64_MAX, Balance, FrozenDict, figures, loads_alone, per_batch
from ..topologies.hexa_cell_topology import HyperHexaCell
from .hexa_cell_run import (
    ALGORITHMS,
    INT32,
    INT64,
    ODD_UNITS,
    SHARES,
    STEPS,
    Count,
    prepared,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from ..topologies.topology import Topology

# Few loads of these dtypes are balanced in one call of a kernel: see its ``SMALL``.
COMPILED = (INT64, INT32)
MOST_BYTES = 2**17
# How the kernel of small networks spells what is asked: record, algorithm, share and odd unit.
WAYS = {
    ("loads", name, share, odd_unit): (
        4 * i + 2 * (share == "greedy" or name == "C") + (odd_unit == "lower")
    )
    for i, name in enumerate(ALGORITHMS)
    for share in SHARES
    for odd_unit in ((None,) if name == "C" else (None, *ODD_UNITS))
}


def hexa_cell(
    loads: ArrayLike,
    topology: Topology,
    algorithm: str = "B",
    *,
    share: str = "fair",
    odd_unit: str | None = None,
    record: str = "metrics",
    out: NDArray[Any] | None = None,
) -> Balance:
    """Balance loads on a Hyper Hexa-Cell network by Algorithm A, B or C (Hexa-Cell 2.1-2.3).

    Three phases: triangles, opposite triangles (the prism), and DEM over the cells' d-1
    dimensions. With ``avg = (total+2) // 3`` a triangle ends with no load above ``avg``. In A
    left and right average first, then the coordinator gives its excess or collects the
    others'; in B the coordinator orders the nodes above ``avg`` to fill those below; in C every
    node, in address order, sends its excess to peers below ``avg``. Pairs send ``diff // 2``,
    in C ``ceil(diff/2)`` if the difference is at least 2.

    Afterwards ``max - min <= d + 2``; the paper's ``d + 1`` is wrong, as ``(0, 2, 2)`` is a
    triangle that stays (``lb.hexa_cell_errata()`` lists where it and the paper part).
    Float loads take exact means everywhere: every triangle and every pair ends equal, any
    difference is exchanged, ``share`` and ``odd_unit`` make no difference, and the final loads
    of A, B and C are the same; messages and units still differ.

    Parameters
    ----------
    loads : array_like, shape (*batch, *topology.shape) or (*batch, topology.size)
        Tasks per node, not negative: integers, float32 or float64.
    topology : HyperHexaCell
    algorithm : {"B", "A", "C"}
    share : {"fair", "greedy"}
        How one node's excess goes to two takers in A and B: unit by unit to the lighter, ties to
        the lower address, or in address order up to ``avg``. C always does the latter.
    odd_unit : {"higher", "lower"}, optional
        A and B: who keeps the odd unit of a pair in the DEM phase; ``"higher"`` by default.
        ``"lower"`` is A's printed floor average, where a difference of 1 swaps; the final loads
        are those of ``"higher"`` with the cells in reverse order.
    record : {"metrics", "loads", "flows"}
        ``"loads"`` computes final loads alone, ``"flows"`` also flows and loads by stage.
    out : array, optional
        Receives the final loads; may be the input. Same shape and dtype.

    Returns
    -------
    Balance
        ``steps`` is what the paper prints as the most of a node, A ``3d + 8`` and B ``3d + 6``;
        for C, where it prints none, the most there can be, ``3d + 8``. ``counts`` holds
        ``messages``, ``information``, ``load``, ``endpoint_max``, ``endpoint_total`` (sends plus
        receives of a node) and ``time``, the units on the critical path. Stages are triangles,
        prism and each dimension.

    Raises
    ------
    TypeError, ValueError
        On arguments that do not fit, among them ``odd_unit`` with C.
    OverflowError
        If a network's total, or what is moved in it, does not fit int64.

    Examples
    --------
    >>> import fastlb as lb
    >>> b = lb.hexa_cell([0, 4, 0, 0, 0, 0], lb.HyperHexaCell(1), "A")
    >>> b.loads, b.counts["time"], b.counts["messages"]
    (array([0, 1, 1, 0, 1, 1]), 3, 19)
    """
    if type(topology) is HyperHexaCell and type(loads) is np.ndarray:
        balanced = _in_one_go(loads, topology, (record, algorithm, share, odd_unit), out)
        if balanced is not None:
            return loads_alone("hexa_cell", topology, balanced)
    if not isinstance(topology, HyperHexaCell):
        raise TypeError(f"topology must be a HyperHexaCell for hexa_cell, got {topology!r}")
    run = prepared(topology, algorithm, share, odd_unit)
    check_record(record)
    given = read_loads(loads, topology)
    result, rows = output_rows(out, loads, given)
    if record == "loads":
        narrow = check_narrow(given.rows)
        source, work = working_rows(given.rows, rows)
        run.balance(source, work, narrow=narrow)
        _copy_back(work, rows)
        return Balance("hexa_cell", topology, record, {"loads": finished(result, rows)})
    before = survey(given.rows)
    source, work = working_rows(given.rows, rows)
    if before.total.max(initial=0) > INT64_MAX // run.stages:
        # The units moved may turn out not to fit: then nothing is to have been written.
        work = source.copy()
    np.copyto(work, source)
    narrow = before.largest.max(initial=0) <= kernels("hexa_cells.exchange").NARROW
    count = Count(run, topology, work, narrow=narrow)
    fields: dict[str, Any] = {}
    if record == "flows":
        fields = count.by_stage(given)
    else:
        count.do(0, run.stages)
    shared = figures(before, survey_after(before, work), topology.size, count.moved, count.kept)
    shared["steps"] = np.full(len(rows), 3 * topology.d + STEPS[algorithm])
    fields |= per_batch(shared, given.batch)
    fields["counts"] = FrozenDict(per_batch(count.counts(), given.batch))
    _copy_back(work, rows)
    return Balance("hexa_cell", topology, record, {"loads": finished(result, rows), **fields})


def _in_one_go(
    loads: NDArray[Any], topology: HyperHexaCell, asked: tuple[Any, ...], out: NDArray[Any] | None
) -> NDArray[Any] | None:
    """Balance few plain integers with the least of Python around the kernel, or return None.

    For a host program that balances in every step: six times as fast on 128 cells as the whole
    way, which is for all that is refused, takes a conversion, or takes so long that it is the same.
    The kernel looks at types, shapes and values.
    """
    try:
        way = WAYS.get(asked)
    except TypeError:
        return None
    # A view of one load may have any length, for which there is no room.
    if way is None or loads.nbytes > MOST_BYTES:
        return None
    source = loads
    if 1 <= loads.ndim <= 2:
        if out is None:
            target = result = np.empty_like(loads)
        elif type(out) is np.ndarray:
            target = result = out
        else:
            return None
    else:
        plain = plain_result(out, loads)
        if plain is None or not fits(loads.shape, topology):
            return None
        result = plain
        source, target = loads.reshape(-1, topology.size), result.reshape(-1, topology.size)
    kernel = _kernel(loads.dtype, source.ndim)
    return None if kernel is None or kernel(source, target, topology.d, way) else result


@lru_cache(maxsize=16)
def _kernel(T: np.dtype[Any], axes: int) -> Callable[..., bool] | None:
    """Return the kernel for few plain loads of a dtype, or None if there is none."""
    if T not in COMPILED:
        return None
    loads = np.empty((1,) * axes, T)
    return compiled(kernels("hexa_cells.exchange").small, loads, loads, 1, 0)


def check_narrow(rows: NDArray[Any]) -> bool:
    """Check the values of the rows, and return whether tiles of 32 bits hold them."""
    if rows.dtype.kind == "f":
        check_values(rows)
        return False
    fits = rows.dtype.itemsize < 4
    top = np.iinfo(rows.dtype).max if fits else kernels("hexa_cells.exchange").NARROW
    if all_within(rows, top):
        return True
    check_values(rows, limit=INT64_MAX // rows.shape[1])
    return False


def working_rows(source: NDArray[Any], target: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both in a dtype that kernels are compiled for; a copy serves as both.

    Totals fit int64, so unsigned 64-bit loads may be seen as signed.
    """
    dtype = source.dtype
    if dtype == np.uint64:
        return source.view(np.int64), target.view(np.int64)
    if dtype.itemsize < 4:
        copy = source.astype(np.int32)
    elif dtype == np.uint32:
        copy = source.astype(np.int64)
    elif dtype == np.float32 and source.max(initial=0) > np.finfo(np.float32).max / 2:
        copy = source.astype(np.float64)
    else:
        return source, target
    return copy, copy


def _copy_back(work: NDArray[Any], rows: NDArray[Any]) -> None:
    if not np.may_share_memory(work, rows):
        np.copyto(rows, work, casting="unsafe")
