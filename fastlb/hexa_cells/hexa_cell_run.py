"""How the kernels of algorithms A, B and C are run: rules, parts, and stages that are counted."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..arguments import one_of
from ..exchange.result import units_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..exchange.loads import LoadRows
    from ..topologies.hexa_cell_topology import HyperHexaCell

ALGORITHMS = ("A", "B", "C")
SHARES = ("fair", "greedy")
ODD_UNITS = ("higher", "lower")
# Where everything is counted, parts of 16 cells lie side by side in tiles of 24 KiB, 64 of them in
# 32 bits: they fit the L1 cache, and an exchange runs over whole vectors.
PART_BITS = 4
LANE_BYTES = 256
INT16, INT32, INT64 = np.dtype(np.int16), np.dtype(np.int32), np.dtype(np.int64)
# The difference that none exceeds, by the dtype in which loads are computed; floats meet midway,
# whatever stands here.
NEVER: dict[np.dtype[Any], int] = {
    INT16: 2**15 - 1,
    INT32: 2**31 - 1,
    INT64: 2**63 - 1,
    np.dtype(np.float32): 0,
    np.dtype(np.float64): 0,
}
# Messages about weights in a triangle; a pair has 2.
TRIANGLE_MESSAGES = {"A": 5, "B": 4, "C": 6}
# Steps of a node less 3d: as printed, and for C, where nothing is, the most there can be.
STEPS = {"A": 8, "B": 6, "C": 8}


def rules_in(
    algorithm: str, share: str, odd_unit: str | None, dtype: np.dtype[Any]
) -> tuple[int, int, int, int, int]:
    """Return the kernels' ``rules``: how loads computed in this dtype are exchanged."""
    greedy = share == "greedy" or algorithm == "C"
    never = NEVER[dtype]
    # In C the larger half of an odd difference crosses from 3 on, in prism and dimensions.
    prism = 1 if algorithm == "C" else never
    above = 0 if odd_unit == "lower" else prism
    return ALGORITHMS.index(algorithm), int(greedy), never, prism, above


class Run:
    """What the kernels are told: the algorithm, and how a network is laid out in parts.

    Attributes
    ----------
    bits, part : int
        Dimensions inside a part of which everything is counted; its nodes.
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
        self.rules = {dtype: rules_in(algorithm, share, odd_unit, dtype) for dtype in NEVER}

    def balance(self, source: NDArray[Any], target: NDArray[Any], *, narrow: bool) -> None:
        """Balance the rows of ``source`` into ``target``, which may be the same.

        The dimensions above a part are DEM on cubes side by side, and left to DEM's kernel,
        unless the odd unit goes another way.
        """
        kernel, (B, N) = kernels("hexa_cells.exchange"), source.shape
        dtype = computed_in(source.dtype, narrow)
        rules = self.rules[dtype]
        if B >= kernel.FEWEST and N <= kernel.LARGEST:
            tile = np.empty(N * min(B, LANE_BYTES // dtype.itemsize), dtype)
            kernel.side_by_side(source, target, tile, rules)
            return
        part = min(N, kernel.PART)
        kernel.part_by_part(
            source.reshape(-1), target.reshape(-1), np.empty((2, part), dtype), rules
        )
        if part < N and (self.by_dem or target.dtype.kind == "f"):
            kernels("dem.small").dem_rows(target, part)
        elif part < N:
            kernel.dimensions(target, part, self.rules[target.dtype])


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
            lanes = min(LANE_BYTES // self._dtype.itemsize, self.rows.size // run.part)
            size = run.part * max(1, lanes)
            tiles = tuple(np.empty(size, t) for t in (self._dtype, self._dtype, np.uint8))
            parts = tuple(node.reshape(-1, run.part) for node in nodes)
            stages = first, min(last, inside)
            rules = run.rules[self._dtype]
            kernels("hexa_cells.exchange").cells_measured(
                parts, tiles, run.bits, stages, rules, figures
            )
        if last > inside:
            stages = max(first, inside), last
            width = run.part << (stages[0] - inside)
            rules = run.rules[self.rows.dtype]
            kernels("hexa_cells.exchange").dimensions_measured(nodes, width, stages, rules, figures)

    def by_stage(self, given: LoadRows) -> dict[str, Any]:
        """Do all stages, and return the fields of ``record="flows"``."""
        topology, S = self.topology, self.run.stages
        stages = np.empty((S, *self.rows.shape), given.rows.dtype)
        flows = np.zeros((len(self.rows), topology.edge_count), self.moved.dtype)
        triangles = np.empty((len(self.rows) * topology.cells * 2, 3), self.moved.dtype)
        held = self.rows.astype(self._dtype).reshape(triangles.shape)
        rules = self.run.rules[self._dtype]
        kernels("hexa_cells.exchange").triangle_flows(held, rules, triangles)
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
    one_of("algorithm", algorithm, ALGORITHMS)
    one_of("share", share, SHARES)
    if odd_unit is not None:
        one_of("odd_unit", odd_unit, ODD_UNITS)
    if algorithm == "C" and odd_unit is not None:
        raise ValueError(f"odd_unit must be left out for algorithm C, got {odd_unit!r}")
    return _run(topology.d, algorithm, share, odd_unit)


_run = lru_cache(Run)


def computed_in(dtype: np.dtype[Any], narrow: bool) -> np.dtype[Any]:
    """Return the dtype of tiles: floats stay, integers are int32 where three loads fit."""
    if dtype.kind == "f":
        return dtype
    return INT32 if narrow else INT64
