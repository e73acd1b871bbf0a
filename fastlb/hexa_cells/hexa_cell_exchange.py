"""Algorithms A, B and C on the Hyper Hexa-Cell network: the public function."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..exchange.loads import (
    check_choice,
    check_record,
    check_values,
    finished,
    output_rows,
    plain_result,
    read_loads,
    survey,
    survey_after,
)
from ..exchange.result import INT64_MAX, Balance, FrozenDict, figures, per_batch, units_dtype
from ..topologies.hexa_cell_topology import HyperHexaCell

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..exchange.loads import LoadRows
    from ..topologies.topology import Topology

ALGORITHMS = ("A", "B", "C")
# Parts of 16 cells lie side by side in tiles of 24 KiB, 64 of them in 32 bits: they fit the L1
# cache, and an exchange runs over whole vectors.
PART_BITS = 4
LANE_BYTES = 256
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
# As large as any difference of loads, by the dtype in which they are computed.
NEVER: dict[np.dtype[Any], int] = {
    INT32: 2**31 - 1,
    INT64: 2**63 - 1,
    np.dtype(np.float32): 0,
    np.dtype(np.float64): 0,
}
SHARES = ("fair", "greedy")
ODD_UNITS = ("higher", "lower")
# Up to so many loads of these dtypes are balanced in one call of a kernel.
SMALL = 2**14
COMPILED = (INT64, INT32)
# Messages about weights in a triangle; a pair has 2.
TRIANGLE_MESSAGES = {"A": 5, "B": 4, "C": 6}
# Steps of a node less 3d: as printed, and for C, where nothing is, the most there can be.
STEPS = {"A": 8, "B": 6, "C": 8}


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
            return Balance("hexa_cell", topology, "loads", {"loads": balanced})
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
    narrow = before.largest.max(initial=0) <= kernels("hexa_cell").NARROW
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

    For a host program that balances in every step: three times as fast on 128 cells as the whole
    way, which is for all that is refused, takes a conversion, or takes so long that it is the same.
    """
    try:
        rules = ASKED.get(asked)
    except TypeError:
        return None
    shape = loads.shape
    flat = shape[-1:] == (topology.size,)
    if rules is None or not (flat or shape[-topology.ndim :] == topology.shape):
        return None
    if loads.dtype not in COMPILED or loads.size > SMALL or not loads.flags.carray:
        return None
    result = plain_result(out, loads)
    if result is None:
        return None
    source, target = loads, result
    if len(shape) > 1:
        source, target = loads.reshape(-1), result.reshape(-1)
    outside = kernels("hexa_cell").small(source, target, topology.d, rules)
    return None if outside else result


def _rules(
    algorithm: str, share: str, odd_unit: str | None, dtype: np.dtype[Any]
) -> tuple[int, int, int, int, int]:
    """Return the kernels' ``rules``: how loads computed in this dtype are exchanged."""
    greedy = share == "greedy" or algorithm == "C"
    never = NEVER[dtype]
    # In C the larger half of an odd difference crosses from 3 on, in prism and dimensions.
    prism = 1 if algorithm == "C" else never
    above = 0 if odd_unit == "lower" else prism
    return ALGORITHMS.index(algorithm), int(greedy), never, prism, above


# The rules of small networks, by what is asked: record, algorithm, share and odd unit.
ASKED = {
    ("loads", name, share, odd_unit): _rules(name, share, odd_unit, INT32)
    for name in ALGORITHMS
    for share in SHARES
    for odd_unit in (None, *(() if name == "C" else ODD_UNITS))
}


class Run:
    """What the kernels are told: the algorithm, and how a network is laid out in parts.

    Attributes
    ----------
    bits, part : int
        Dimensions inside a part of ``2**bits`` cells; its nodes.
    stages : int
        Triangles, prism, and each dimension.
    by_dem : bool
        Whether the dimensions go by DEM's rule for odd units.
    rules : dict
        The kernels' ``rules`` by the dtype in which loads are computed.
    """

    def __init__(self, d: int, algorithm: str, share: str, odd_unit: str | None) -> None:
        self.d = d
        self.algorithm = algorithm
        self.by_dem = algorithm != "C" and odd_unit != "lower"
        self.bits = min(PART_BITS, d - 1)
        self.part = 6 << self.bits
        self.stages = d + 1
        self.rules = {dtype: _rules(algorithm, share, odd_unit, dtype) for dtype in NEVER}

    def tiled(self, rows: NDArray[Any], dtype: np.dtype[Any]) -> int:
        """Return the nodes of as many parts as are balanced side by side."""
        return self.part * max(1, min(LANE_BYTES // dtype.itemsize, rows.size // self.part))

    def balance(self, source: NDArray[Any], target: NDArray[Any], *, narrow: bool) -> None:
        """Balance the rows of ``source`` into ``target``, which may be the same.

        The dimensions above a part are DEM on cubes side by side, and left to DEM's kernel,
        unless the odd unit goes another way.
        """
        dtype = computed_in(source.dtype, narrow)
        tile = np.empty(self.tiled(source, dtype), dtype)
        parts = source.reshape(-1, self.part), target.reshape(-1, self.part)
        kernels("hexa_cell").cells(*parts, tile, self.bits, self.rules[dtype])
        above = self.d - 1 - self.bits
        if above and (self.by_dem or target.dtype.kind == "f"):
            kernels("dem").dem_rows(target, self.part)
        elif above:
            kernels("hexa_cell").dimensions(target, self.part, self.rules[target.dtype])


class Count:
    """A balancing stage by stage, with everything that is counted on the way.

    Attributes
    ----------
    rows, kept : (B, N)
        Loads, balanced in place, and the units that never left.
    moved, longest : (B, S)
        Units of each stage: in all, and the most in one triangle or pair.
    """

    def __init__(
        self, run: Run, topology: HyperHexaCell, rows: NDArray[Any], *, narrow: bool
    ) -> None:
        self.run = run
        self.topology = topology
        self.rows = rows
        self.kept = rows.copy()
        self._ends = np.zeros(rows.shape, np.uint8)
        self._dtype = computed_in(rows.dtype, narrow)
        shape = (len(rows), run.stages)
        self.moved: NDArray[Any] = np.zeros(shape, units_dtype(rows))
        self.longest: NDArray[Any] = np.zeros(shape, units_dtype(rows))
        self._messages = np.zeros((len(rows), 2), np.int64)

    def do(self, first: int, last: int) -> None:
        """Do the stages ``first .. last-1``."""
        run, nodes = self.run, (self.rows, self.kept, self._ends)
        figures = self.moved, self.longest, self._messages
        inside = run.bits + 2
        if first < inside and len(self.rows):
            size = run.tiled(self.rows, self._dtype)
            tiles = tuple(np.empty(size, t) for t in (self._dtype, self._dtype, np.uint8))
            parts = tuple(node.reshape(-1, run.part) for node in nodes)
            stages = first, min(last, inside)
            rules = run.rules[self._dtype]
            kernels("hexa_cell").cells_measured(parts, tiles, run.bits, stages, rules, figures)
        if last > inside:
            stages = max(first, inside), last
            width = run.part << (stages[0] - inside)
            rules = run.rules[self.rows.dtype]
            kernels("hexa_cell").dimensions_measured(nodes, width, stages, rules, figures)

    def by_stage(self, given: LoadRows) -> dict[str, Any]:
        """Do all stages, and return the fields of ``record="flows"``."""
        topology, S = self.topology, self.run.stages
        stages = np.empty((S, *self.rows.shape), given.rows.dtype)
        flows = np.zeros((len(self.rows), topology.edge_count), self.moved.dtype)
        triangles = np.empty((len(self.rows) * topology.cells * 2, 3), self.moved.dtype)
        held = self.rows.astype(self._dtype).reshape(triangles.shape)
        rules = self.run.rules[self._dtype]
        kernels("hexa_cell").triangle_flows(held, rules, triangles)
        by_triangle = triangles.reshape(len(self.rows), 2 * topology.cells, 3)
        for offset, lower, place in topology.links_by_offset():
            if offset < 3:
                # Links 0-1, 0-2 and 1-2 of each triangle.
                link = np.where(lower % 3 == 0, offset - 1, 2)
                flows[:, place] = by_triangle[:, lower // 3, link]
                continue
            s = (offset // 3).bit_length()
            if offset == 3:
                self.do(0, 1)
                stages[0] = self.rows
            sent = self.rows[:, lower].astype(flows.dtype)
            self.do(s, s + 1)
            stages[s] = self.rows
            flows[:, place] = sent - self.rows[:, lower].astype(flows.dtype)
        return {
            "stages": stages.reshape(S, *given.shape),
            "moved_per_stage": self.moved.T.reshape(S, *given.batch),
            "flows": flows.reshape(*given.batch, topology.edge_count),
            "after_triangle": stages[0].reshape(given.shape),
            "after_cell": stages[1].reshape(given.shape),
        }

    def counts(self) -> dict[str, NDArray[Any]]:
        """Return the counters, each of shape (B,)."""
        load, polled = self._messages.T
        ends, time = self._ends.max(axis=1).astype(np.int64), self.longest.sum(axis=1)
        return counters(self.topology, self.run.algorithm, load, polled, ends, time)


def counters(
    topology: HyperHexaCell,
    algorithm: str,
    load: NDArray[np.int64],
    polled: NDArray[np.int64],
    endpoint_max: NDArray[np.int64],
    time: NDArray[Any],
) -> dict[str, NDArray[Any]]:
    """Return ``counts``, each of shape (B,), from what depends on the loads (see the kernel)."""
    pairs = 3 * topology.cells * topology.d
    known = 2 * topology.cells * TRIANGLE_MESSAGES[algorithm] + 2 * pairs
    information = known + polled
    return {
        "messages": information + load,
        "information": information,
        "load": load.copy(),
        "endpoint_max": endpoint_max,
        "endpoint_total": 2 * (information + load),
        "time": time,
    }


def prepared(topology: HyperHexaCell, algorithm: str, share: str, odd_unit: str | None) -> Run:
    """Check the options of :func:`hexa_cell` and return what the kernels are told."""
    check_choice("algorithm", algorithm, ALGORITHMS)
    check_choice("share", share, SHARES)
    if odd_unit is not None:
        check_choice("odd_unit", odd_unit, ODD_UNITS)
    if algorithm == "C" and odd_unit is not None:
        raise ValueError(f"odd_unit must be left out for algorithm C, got {odd_unit!r}")
    return _run(topology.d, algorithm, share, odd_unit)


_run = lru_cache(Run)


def computed_in(dtype: np.dtype[Any], narrow: bool) -> np.dtype[Any]:
    """Return the dtype of tiles: floats stay, integers are int32 where three loads fit."""
    if dtype.kind == "f":
        return dtype
    return INT32 if narrow else INT64


def check_narrow(rows: NDArray[Any]) -> bool:
    """Check the values of the rows, and return whether tiles of 32 bits hold them."""
    if rows.dtype.kind == "f":
        check_values(rows)
        return False
    fits = rows.dtype.itemsize < 4
    top = np.iinfo(rows.dtype).max if fits else kernels("hexa_cell").NARROW
    if kernels("survey").count_outside(rows.reshape(-1), rows.dtype.type(top)):
        check_values(rows, limit=INT64_MAX // rows.shape[1])
        return False
    return True


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
