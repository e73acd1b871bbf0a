"""Measuring trials of small networks in tiles, trials last: drawn, balanced, measured in cache.

A few tiles are drawn, balanced and measured before they are filled again, so that loads stay in the
cache, and their memory does not grow with the trials. Large networks and methods of the user's own
are measured in rows instead.

Legend: ``K`` tiles of ``W`` trials side by side, ``N`` nodes, ``B`` trials.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..exchange.casting import INT16, INT32, INT64, INT64_MAX
from ..exchange.figures import FigureColumns, empty_figures, figures_in
from ..exchange.scratch import scratch, with_own_scratch
from ..exchange.tiling import VECTOR
from ..random_loads.distributions import PhiloxLoads
from .tile_methods import tile_method

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .chunks import Chunk
    from .tile_methods import Counts, TileMethod

# Most bytes of a tile: with what the methods keep per node it fits an L2 cache of 1 MiB. With half
# as many, and so fewer lanes, the 16x16x16 mesh takes 10 % longer.
TILE_BYTES = 2**19

# Bytes of the tiles that are drawn at a time. More tiles need fewer calls of kernels, between which
# threads wait for each other. With one or two threads 2**19 to 2**22 bytes take 0.93 to 1.05 times
# as long.
TILES_BYTES = 2**21


@with_own_scratch
def measure_in_tiles(chunk: Chunk) -> dict[str, dict[str, Any]]:
    """Return the figures that the methods of a chunk record of its trials, by method.

    The figures are bit for bit those of ``balance(sample_loads(..), ..)``. Methods are left out
    that cannot balance tiles, or if int64 might not hold the units they move. All are left out if
    the network is large or the distribution is not one of the library's own.
    """
    law, N = chunk.loads, chunk.topology.size
    if not isinstance(law, PhiloxLoads) or law.largest * N > INT64_MAX:
        return {}
    wide = INT32 if law.largest < 2**31 else INT64
    max_lanes = TILE_BYTES // (N * wide.itemsize)
    by_width: dict[int, dict[str, TileMethod]] = {}
    for name in chunk.methods:
        method = tile_method(chunk.topology, name)
        if method is not None and max_lanes >= VECTOR:
            lanes = min(method.lanes, max_lanes, chunk.trials + VECTOR - 1)
            by_width.setdefault(VECTOR * (lanes // VECTOR), {})[name] = method
    figures: dict[str, dict[str, Any]] = {}
    for W, methods in by_width.items():
        # Loads are drawn in 16 bits if no method will need more: copying them takes 0.05 ns a load.
        dtypes = {m.dtype(N * law.largest, law.largest, W) for m in methods.values()}
        dtype = INT16 if dtypes == {INT16} else wide
        K = min(TILES_BYTES // (N * W * dtype.itemsize), -(-chunk.trials // W))
        figures |= _measure(chunk, law, methods, scratch("drawn", (K, N, W), dtype))
    return figures


def _measure(
    chunk: Chunk, law: PhiloxLoads, methods: dict[str, TileMethod], tiles: NDArray[Any]
) -> dict[str, dict[str, Any]]:
    """Draw the trials of a chunk into the same tiles, a few at a time, and balance them."""
    K, N, W = tiles.shape
    kernel = kernels("layout.figures")
    columns = {name: empty_figures(chunk.trials) for name in methods}
    # For each method, what it counted in each filling of the tiles.
    counts: dict[str, list[Counts]] = {name: [] for name in methods}
    for first in range(0, chunk.trials, K * W):
        B = min(K * W, chunk.trials - first)
        # Lanes beyond the last trial are drawn and balanced too, but their figures are not used.
        drawn = tiles[: -(-B // W)]
        law.fill_tiles(drawn, seed=chunk.seed, start=chunk.start + first)
        before = scratch("surveyed", (3, len(drawn) * W), np.int64)
        # Python's integers, which do not overflow; without compilation they are NumPy's.
        total, largest = map(int, kernel.survey(drawn, before))
        for name in list(counts):
            method = methods[name]
            dtype = method.dtype(total, largest, W)
            if dtype is None:
                del counts[name]
                continue
            work = drawn
            if dtype != drawn.dtype or len(counts) > 1:
                work = scratch("work", drawn.shape, dtype)
                np.copyto(work, drawn, casting="unsafe")
            counted = method.balance(work, B, total, largest)
            after, moved, local = (counted.pop(key) for key in ("extremes", "moved", "local"))
            whole, real = columns[name]
            kernel.figures(before, after, moved, local, N, first, whole, real)
            counts[name].append(counted)
    return {
        name: _all_figures(methods[name], columns[name], parts) for name, parts in counts.items()
    }


def _all_figures(method: TileMethod, columns: FigureColumns, parts: list[Counts]) -> dict[str, Any]:
    """Return all figures of a method, from the common ones and the parts of its own counts."""
    counts = parts[0]
    if len(parts) > 1:
        counts = {name: np.concatenate([part[name] for part in parts], axis=-1) for name in counts}
    trials = columns[0].shape[1]
    return {**figures_in(columns), **method.own_figures(trials, counts)}
