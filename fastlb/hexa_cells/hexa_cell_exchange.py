"""Algorithms A, B and C on the Hyper Hexa-Cell network: the public function."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..exchange.casting import INT32, INT64, INT64_MAX, as_signed, copy_back, row_dtype
from ..exchange.figures import figures, per_batch
from ..exchange.loads import (
    Survey,
    all_within,
    batch_shape,
    check_record,
    check_values,
    read_loads,
    survey,
    survey_after,
)
from ..exchange.outputs import finished, output_rows
from ..exchange.prepared import PreparedCall, run_prepared
from ..exchange.result import Balance, FrozenDict
from ..pages import copied, copy_into, empty_like
from ..topologies.hexa_cell_topology import HyperHexaCell
from ..topologies.kinds import topology_for
from .hexa_cell_run import STEPS, CountedRun, Run, are_side_by_side, counters, run_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..topologies.topology import Topology

# Loads up to which calls are prepared.
MOST_PREPARED = 2**14


def hexa_cell(
    loads: ArrayLike,
    topology: Topology | str,
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
    topology : HyperHexaCell or str
        Or its spelling, ``"hhc:5"``.
    algorithm : {"B", "A", "C"}
    share : {"fair", "greedy"}
        How A and B divide one node's excess among two receivers: unit by unit to the lighter,
        ties to the lower address, or in address order up to ``avg``. C always does the latter.
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
        ``steps`` is the most of a node as the paper prints it, A ``3d + 8`` and B ``3d + 6``; it
        prints none for C, where the largest number possible is ``3d + 8``. ``counts`` holds
        ``messages``, ``information``, ``load``, ``endpoint_max``, ``endpoint_total`` (sends plus
        receives of a node) and ``time``, the units on the critical path. Stages are triangles,
        prism and each dimension.

    Raises
    ------
    TypeError, ValueError
        On arguments that do not fit, among them ``odd_unit`` with C.
    OverflowError
        If the total of a network, or the units moved in it, do not fit int64.

    Notes
    -----
    Calls are safe from several threads on different arrays, as the kernels release Python's
    lock. Batches gain from threads, small calls nothing. Two threads must not write one ``out``.

    Examples
    --------
    >>> import fastlb as lb
    >>> b = lb.hexa_cell([0, 4, 0, 0, 0, 0], lb.HyperHexaCell(1), "A")
    >>> b.loads, b.counts["time"], b.counts["messages"]
    (array([0, 1, 1, 0, 1, 1]), 3, 19)
    """
    balance = run_prepared(
        "hexa_cell", _prepare, loads, topology, record, out, algorithm, share, odd_unit
    )
    if balance is not None:
        return balance
    topology = topology_for("hexa_cell", topology)
    run = run_of(topology, algorithm, share, odd_unit)
    check_record(record)
    inputs = read_loads(loads, topology)
    result, rows = output_rows(out, loads, inputs)
    if record == "loads":
        narrow = check_narrow(inputs.rows)
        source, work = _working_rows(inputs.rows, rows)
        run.balance(source, work, narrow=narrow)
        copy_back(work, rows)
        return Balance("hexa_cell", topology, record, {"loads": finished(result, rows)})
    before = survey(inputs.rows)
    source, work = _working_rows(inputs.rows, rows)
    if before.total.max(initial=0) > INT64_MAX // run.stages:
        # ``out`` must stay unchanged if the units moved do not fit.
        work = empty_like(source)
    copy_into(work, source)
    fields: dict[str, Any] = {}
    if record == "metrics" and _fit_tiles(run, work, before):
        moved, local, time, load, polled, ends, least, largest = run.count_side_by_side(
            work, int(before.total.max())
        )
        after = Survey(before.total, least, largest)
        counts = counters(topology, algorithm, load, polled, ends, time)
        shared = figures(before, after, topology.size, moved, local)
    else:
        counted = CountedRun(run, topology, work)
        if record == "flows":
            fields = counted.run_with_flows(inputs)
        else:
            counted.run_stages(0, run.stages)
        after = survey_after(before, work)
        shared = figures(before, after, topology.size, counted.moved, counted.resident_min)
        counts = counted.counts()
    shared["steps"] = np.full(len(rows), 3 * topology.d + STEPS[algorithm])
    fields |= per_batch(shared, inputs.batch)
    fields["counts"] = FrozenDict(per_batch(counts, inputs.batch))
    copy_back(work, rows)
    return Balance("hexa_cell", topology, record, {"loads": finished(result, rows), **fields})


def _fit_tiles(run: Run, rows: NDArray[Any], before: Survey) -> bool:
    """Return whether rows are many networks of integers whose units moved fit int64."""
    B, N = rows.shape
    if rows.dtype.kind == "f" or not are_side_by_side(B, N, counted=True):
        return False
    return run.summed(before.total.max(), N) <= INT64_MAX


@lru_cache(maxsize=256)
def _prepare(
    topology: Topology, dtype: np.dtype[Any], shape: tuple[int, ...], record: str, *options: Any
) -> PreparedCall | None:
    """Return the prepared call for final loads of one network or a small batch, or None."""
    if type(topology) is not HyperHexaCell or record != "loads" or dtype not in (INT32, INT64):
        return None
    try:
        networks = math.prod(batch_shape(shape, topology))
        run = run_of(topology, *options)
    except (TypeError, ValueError):
        return None
    side_by_side = are_side_by_side(networks, topology.size, counted=False)
    if side_by_side or networks * topology.size > MOST_PREPARED:
        return None
    averaging, greedy, _, prism, dims = run.rules
    kernel = kernels("hexa_cells.final_loads").balance_few
    return PreparedCall(kernel, (topology.size, averaging, greedy, prism, dims))


def check_narrow(rows: NDArray[Any]) -> bool:
    """Check the values of the rows, and return whether int32 holds all sums."""
    if rows.dtype.kind == "f":
        check_values(rows)
        return False
    fits = rows.dtype.itemsize < 4
    top = np.iinfo(rows.dtype).max if fits else kernels("hexa_cells.final_loads").NARROW
    if all_within(rows, top):
        return True
    check_values(rows, limit=INT64_MAX // rows.shape[1])
    return False


def _working_rows(source: NDArray[Any], target: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both in a dtype that kernels are compiled for: themselves, or one copy as both.

    Totals fit int64, so unsigned 64-bit loads can be viewed as signed.
    """
    dtype = row_dtype(source)
    if dtype == source.dtype:
        return as_signed(source), as_signed(target)
    work = copied(source, dtype)
    return work, work
