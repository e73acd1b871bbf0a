"""The use of the kernels of algorithms A, B and C: their rules, tiles, and counted stages.

Legend: ``B`` networks, ``N`` nodes, ``S`` stages, ``W`` networks side by side in a tile.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..arguments import one_of
from ..aside import LARGE
from ..exchange.casting import INT16, INT32, INT64, least_dtype, units_dtype
from ..exchange.scratch import scratch, with_own_scratch
from ..pages import copied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ..exchange.loads import LoadRows
    from ..topologies.hexa_cell_topology import HyperHexaCell

ALGORITHMS = ("A", "B", "C")
SHARES = ("fair", "greedy")
ODD_UNITS = ("higher", "lower")
# Messages about weights in a triangle; a pair has 2.
TRIANGLE_MESSAGES = {"A": 5, "B": 4, "C": 6}
# Steps of a node less 3d: as printed for A and B, the largest number possible for C.
STEPS = {"A": 8, "B": 6, "C": 8}

# Lanes of a tile, and bytes of the tiles that are copied and balanced at a time.
LANES, TILES_BYTES = 64, 2**18
# Loads that are balanced at once, in some 20 ms: in between Python hears signals.
PART_LOADS = 2**22
# At least so many networks with so many loads in all are balanced side by side in tiles. Fewer are
# faster one after the other, or gain too little for one more compilation.
FEWEST, FEWEST_LOADS = 8, 2**12
# Nodes of the largest networks balanced side by side: for final loads alone, larger ones take no
# longer one after the other; with counters, 16 lanes of them exceed a core's share of the L3 cache.
LARGEST_SIDE_BY_SIDE, LARGEST_COUNTED = 6 << 5, 6 << 13

Rules = tuple[int | None, int | None, int | None, int | None, int | None]


def rules_of(algorithm: str, share: str, odd_unit: str | None) -> Rules:
    """Return the kernels' ``rules`` (see ``kernels/shared/hexa_cell.py``)."""

    def flag(chosen: bool) -> int | None:
        # Kernels test rules for None, which is decided when they are compiled.
        return 1 if chosen else None

    polling = algorithm == "C"
    # In C pairs send the larger half of an odd difference from 3 on, in prism and dimensions.
    prism = flag(polling)
    dims = 0 if odd_unit == "lower" else prism
    return flag(algorithm == "A"), flag(share == "greedy" or polling), prism, prism, dims


class Run:
    """An algorithm with its rules on networks of one size, and the kernels that carry it out.

    Attributes
    ----------
    stages : int
        Triangles, prism, and each dimension.
    rules : tuple
        The kernels' ``rules``.
    loadless_ends : int
        Sends and receives of messages about weights in all triangles, which depend on no load.
    """

    def __init__(self, d: int, algorithm: str, share: str, odd_unit: str | None) -> None:
        self.d = d
        self.algorithm = algorithm
        self.stages = d + 1
        self.rules = rules_of(algorithm, share, odd_unit)
        self.loadless_ends = 2 * TRIANGLE_MESSAGES[algorithm] * 2**d

    def balance(self, source: NDArray[Any], target: NDArray[Any], *, narrow: bool) -> None:
        """Balance the rows of ``source`` into ``target``, which may be the same array.

        ``narrow`` means that int32 holds all sums.
        """
        B, N = source.shape
        dtype = source.dtype if source.dtype.kind == "f" else INT32 if narrow else INT64
        if are_side_by_side(B, N, counted=False):
            self._balance_side_by_side(source, target, dtype)
            return
        kernel = kernels("hexa_cells.final_loads")
        workspace = np.empty(2 * min(N, kernel.PART), dtype)
        networks = max(1, PART_LOADS // N)
        for first in range(0, B, networks):
            part = slice(first, first + networks)
            kernel.balance(source[part], target[part], workspace, self.rules)

    @with_own_scratch
    def _balance_side_by_side(
        self, source: NDArray[Any], target: NDArray[Any], dtype: np.dtype[Any]
    ) -> None:
        copies, nodes = kernels("layout.tiles"), np.arange(source.shape[1])
        for part, tiles in parts_in_tiles(source, dtype):
            copies.load(source[part], tiles, nodes)
            nothing = None, None, None, None
            kernels("hexa_cells.tiles").balance(tiles, nothing, self.d, 0, self.rules, True, None)
            copies.store(tiles, target[part], nodes)

    @with_own_scratch
    def count_side_by_side(self, rows: NDArray[Any], total: int) -> NDArray[np.int64]:
        """Balance integers in place; return the counts, the same (8, B) as of ``count_tiles``.

        ``total`` is the largest total of a network.
        """
        dtype = least_dtype(rows.dtype, self.summed(total, rows.shape[1]))
        copies, nodes = kernels("layout.tiles"), np.arange(rows.shape[1])
        counts: list[NDArray[np.int64]] = []
        for part, tiles in parts_in_tiles(rows, dtype):
            copies.load(rows[part], tiles, nodes)
            counts.append(self.count_tiles(tiles, len(rows[part]), with_loads=True))
            copies.store(tiles, rows[part], nodes)
        return np.concatenate(counts, axis=1)

    def count_tiles(
        self, tiles: NDArray[Any], B: int, *, with_loads: bool = False
    ) -> NDArray[np.int64]:
        """Balance tiles (K, N, W) of B networks in place.

        Return (8, B): units moved, local, and on the critical path; messages with load, polls
        again, most sends and receives of a node; least and largest load. Final loads are written
        only if ``with_loads`` is set.
        """
        dtype, (_, N, W) = tiles.dtype, tiles.shape
        summed_as = INT32 if dtype == INT16 else dtype
        workspace = (
            scratch("resident_min", (N * W,), dtype), scratch("messages", (N * W,), np.uint8),
            scratch("sums", (5, W), summed_as), scratch("extremes", (5, W), dtype),
        )  # fmt: skip
        counts = np.empty((8, B), np.int64)
        kernels("hexa_cells.tiles").balance(
            tiles, workspace, self.d, self.loadless_ends, self.rules, with_loads, counts
        )
        return counts

    def summed(self, total: int, N: int) -> int:
        """Return a bound on all sums: each stage moves at most the total; messages are bytes."""
        return max(int(total) * self.stages, 255 * N)


def are_side_by_side(B: int, N: int, *, counted: bool) -> bool:
    """Return whether networks are balanced side by side, with counters or without."""
    largest = LARGEST_COUNTED if counted else LARGEST_SIDE_BY_SIDE
    return B >= FEWEST and B * N >= FEWEST_LOADS and largest >= N


def parts_in_tiles(
    rows: NDArray[Any], dtype: np.dtype[Any]
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Divide rows (B, N) into parts; yield each with tiles (K, N, W) for it, in the same memory."""
    B, N = rows.shape
    W = max(16, min(LANES, TILES_BYTES // (N * dtype.itemsize) // 16 * 16, -(-B // 16) * 16))
    part_size = max(1, TILES_BYTES // (N * W * dtype.itemsize)) * W
    tiles = scratch("tiles", (-(-min(B, part_size) // W), N, W), dtype)
    for first in range(0, B, part_size):
        part = slice(first, min(first + part_size, B))
        yield part, tiles[: -(-(part.stop - first) // W)]


class CountedRun:
    """A balancing stage by stage, one network after the other, with all counters.

    Attributes
    ----------
    rows, resident_min : (B, N)
        Loads, balanced in place, and the units that never left.
    moved, longest : (B, S)
        Units of each stage: in all, and the most in one triangle or pair.
    """

    def __init__(self, run: Run, topology: HyperHexaCell, rows: NDArray[Any]) -> None:
        self.run = run
        self.topology = topology
        self.rows = rows
        self.resident_min = copied(rows)
        self._messages = np.zeros(rows.shape, np.uint8)
        shape = (len(rows), run.stages)
        self.moved: NDArray[Any] = np.zeros(shape, units_dtype(rows))
        self.longest: NDArray[Any] = np.zeros(shape, units_dtype(rows))
        self._transfers = np.zeros((len(rows), 2), np.int64)

    def run_stages(self, first: int, last: int) -> None:
        """Carry out the stages ``first .. last-1``."""
        kernel, rules = kernels("hexa_cells.counted"), self.run.rules
        nodes = self.rows, self.resident_min, self._messages
        figures = self.moved, self.longest, self._transfers
        part = min(self.rows.shape[1], kernel.PART)
        # The stages within a part; the last of them exchanges its halves.
        inside = (part // 3).bit_length()
        if first < inside:
            kernel.count_parts(nodes, part, first, min(last, inside), rules, figures)
        sums = np.zeros((3, kernel.PART), self.moved.dtype) if last > inside else None
        # Signals are heard between two calls.
        at_once = 1 if self.rows.size >= LARGE else self.run.stages
        for s in range(max(first, inside), last, at_once):
            kernel.count_dimensions(nodes, s, min(s + at_once, last), rules, sums, figures)

    def run_with_flows(self, inputs: LoadRows) -> dict[str, Any]:
        """Carry out all stages, and return the fields of ``record="flows"``."""
        topology, S = self.topology, self.run.stages
        stages = np.empty((S, *self.rows.shape), inputs.rows.dtype)
        flows = np.zeros((len(self.rows), topology.edge_count), self.moved.dtype)
        triangles = np.empty((len(self.rows) * topology.cells * 2, 3), self.moved.dtype)
        kernels("hexa_cells.counted").flows_of_triangles(self.rows, self.run.rules, triangles)
        by_triangle = triangles.reshape(len(self.rows), 2 * topology.cells, 3)
        for offset, lower, place in topology.links_by_offset():
            if offset < 3:
                # Links 0-1, 0-2 and 1-2 of each triangle.
                link = np.where(lower % 3 == 0, offset - 1, 2)
                flows[:, place] = by_triangle[:, lower // 3, link]
                continue
            s = (offset // 3).bit_length()
            if offset == 3:
                self.run_stages(0, 1)
                stages[0] = self.rows
            before = self.rows[:, lower].astype(flows.dtype)
            self.run_stages(s, s + 1)
            stages[s] = self.rows
            flows[:, place] = before - self.rows[:, lower].astype(flows.dtype)
        return {
            "stages": stages.reshape(S, *inputs.shape),
            "moved_per_stage": self.moved.T.reshape(S, *inputs.batch),
            "flows": flows.reshape(*inputs.batch, topology.edge_count),
            "after_triangle": stages[0].reshape(inputs.shape),
            "after_cell": stages[1].reshape(inputs.shape),
        }

    def counts(self) -> dict[str, NDArray[Any]]:
        """Return the counters, each of shape (B,)."""
        load, polled = self._transfers.T
        ends, time = self._messages.max(axis=1).astype(np.int64), self.longest.sum(axis=1)
        return counters(self.topology, self.run.algorithm, load, polled, ends, time)


def counters(
    topology: HyperHexaCell,
    algorithm: str,
    load: NDArray[np.int64],
    polled: NDArray[np.int64],
    endpoint_max: NDArray[np.int64],
    time: NDArray[Any],
) -> dict[str, NDArray[Any]]:
    """Return ``counts`` by name, each (B,), from the counters that depend on the loads.

    ``load`` are messages with load, ``polled`` those of polling again; see the kernel.
    """
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


def run_of(topology: HyperHexaCell, algorithm: str, share: str, odd_unit: str | None) -> Run:
    """Check the options of :func:`hexa_cell`, and return the run for them."""
    one_of("algorithm", algorithm, ALGORITHMS)
    one_of("share", share, SHARES)
    if odd_unit is not None:
        one_of("odd_unit", odd_unit, ODD_UNITS)
    if algorithm == "C" and odd_unit is not None:
        raise ValueError(f"odd_unit must be left out for algorithm C, got {odd_unit!r}")
    return _run(topology.d, algorithm, share, odd_unit)


_run = lru_cache(Run)
