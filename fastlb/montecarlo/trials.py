"""Random trials of small networks in tiles, trials last: drawn, balanced and measured in cache.

A few tiles are done with before the next ones are drawn: their loads never reach the memory, and
what is there does not grow with the trials. Large networks, and methods of the user's own, take
rows.

Legend: ``K`` tiles of ``W`` trials side by side, ``N`` nodes, ``B`` trials.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..accelerate import kernels
from ..exchange.casting import INT16, INT32, INT64, INT64_MAX
from ..exchange.figures import FigureColumns, empty_figures, figures_in
from ..exchange.scratch import scratch, with_own_scratch
from ..exchange.tiling import VECTOR
from ..random_loads.distributions import Distribution, Drawn
from .tile_methods import tile_method

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..topologies.topology import Topology
    from .tile_methods import Counts, TileMethod

# Bytes of a tile at most; with what the nodes keep it stays within an L2 cache of 1 MiB. Half of it
# takes 10 % longer on the 16x16x16 mesh, for want of lanes.
TILE_BYTES = 2**19

# Bytes of the tiles drawn at a time. More of them are fewer calls of kernels, between which threads
# wait for each other; with one thread or two it makes no difference from 2**19 to 2**22 (0.93 to
# 1.05 times as long).
TILES_BYTES = 2**21


class Trials(Protocol):
    """Some trials of a topology and a distribution, for all methods."""

    @property
    def topology(self) -> Topology: ...
    @property
    def loads(self) -> Distribution: ...
    @property
    def methods(self) -> tuple[str, ...]: ...
    @property
    def seed(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def trials(self) -> int: ...


@with_own_scratch
def measure_in_tiles(chunk: Trials) -> dict[str, dict[str, Any]]:
    """Return the figures that each method records of a chunk's trials.

    The figures are bit for bit those of ``balance(sample_loads(..), ..)``. Left out are methods
    that are not prepared for tiles, or where int64 might not hold what is moved: all of them if
    the network is large or the distribution not one of the library's own.
    """
    law, N = chunk.loads, chunk.topology.size
    if not isinstance(law, Drawn) or law.largest * N > INT64_MAX:
        return {}
    dtype = INT32 if law.largest < 2**31 else INT64
    lanes = TILE_BYTES // (N * dtype.itemsize)
    prepared = {name: tile_method(chunk.topology, name) for name in chunk.methods}
    by_width: dict[int, dict[str, TileMethod]] = {}
    for name, method in prepared.items():
        if method is not None and lanes >= VECTOR:
            width = VECTOR * (min(method.lanes, lanes, chunk.trials + VECTOR - 1) // VECTOR)
            by_width.setdefault(width, {})[name] = method
    figures: dict[str, dict[str, Any]] = {}
    for width, methods in by_width.items():
        # In 16 bits where nothing else will ever be asked for: to copy them takes 0.05 ns a load.
        asked = {m.dtype(N * law.largest, law.largest, width) for m in methods.values()}
        drawn_as = INT16 if asked == {INT16} else dtype
        tiles = min(TILES_BYTES // (N * width * drawn_as.itemsize), -(-chunk.trials // width))
        drawn = scratch("drawn", (tiles, N, width), drawn_as)
        figures |= _measured(chunk, law, methods, drawn)
    return figures


def _measured(
    chunk: Trials, law: Drawn, methods: dict[str, TileMethod], drawn: NDArray[Any]
) -> dict[str, dict[str, Any]]:
    """Draw into the same tiles again and again, and let each method balance them."""
    W, lanes = drawn.shape[2], kernels("layout.figures")
    columns = {name: empty_figures(chunk.trials) for name in methods}
    others: dict[str, list[Counts]] = {name: [] for name in methods}
    for first in range(0, chunk.trials, len(drawn) * W):
        count = min(len(drawn) * W, chunk.trials - first)
        fresh = drawn[: -(-count // W)]
        law.fill_tiles(fresh, seed=chunk.seed, start=chunk.start + first)
        before = scratch("surveyed", (3, len(fresh) * W), np.int64)
        # Lanes beyond the last trial are trials too, of which nothing is recorded.
        # Python's own numbers, without numba's compiler too.
        total, largest = map(int, lanes.survey(fresh, before))
        for name, parts in list(others.items()):
            method = methods[name]
            dtype = method.dtype(total, largest, W)
            if dtype is None:
                del others[name]
                continue
            tiles = fresh
            if dtype != fresh.dtype or len(others) > 1:
                tiles = scratch("work", fresh.shape, dtype)
                np.copyto(tiles, fresh, casting="unsafe")
            counts = method.balance(tiles, count, total, largest)
            after, moved, local = (counts.pop(key) for key in ("extremes", "moved", "local"))
            whole, real = columns[name]
            lanes.figures(before, after, moved, local, chunk.topology.size, first, whole, real)
            parts.append(counts)
    return {
        name: _figures(methods[name], columns[name], _joined(parts))
        for name, parts in others.items()
    }


def _figures(method: TileMethod, columns: FigureColumns, counts: Counts) -> dict[str, Any]:
    return {**figures_in(columns), **method.further(columns[0].shape[1], counts)}


def _joined(parts: list[Counts]) -> Counts:
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}
