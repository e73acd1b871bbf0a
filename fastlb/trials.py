"""Random trials of small networks in tiles, trials last: drawn, balanced and measured in cache.

A few tiles are done with before the next ones are drawn: their loads never reach the memory, and
what is there does not grow with the trials. Large networks, and methods of the user's own, take
rows.

Legend: ``K`` tiles of ``W`` trials side by side, ``N`` nodes, ``B`` trials.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .accelerate import kernels
from .distributions import Distribution, Drawn
from .loads import Survey
from .result import INT64_MAX
from .scratch import scratch
from .tile_methods import tile_method
from .tiling import VECTOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .tile_methods import TileMethod
    from .topology import Topology

# Bytes of the tiles drawn at a time; with a copy to balance, what its nodes keep and the
# kernels' own scratch they stay within the L2 cache.
TILES_BYTES = 2**18

Columns = dict[str, "NDArray[Any]"]


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


def measure_in_tiles(chunk: Trials) -> dict[str, dict[str, Any]]:
    """Return the figures that each method records of a chunk's trials.

    The figures are bit for bit those of ``balance(sample_loads(..), ..)``. Left out are methods
    that are not prepared for tiles, or where int64 might not hold what is moved: all of them if
    the network is large or the distribution not one of the library's own.
    """
    law, N = chunk.loads, chunk.topology.size
    if not isinstance(law, Drawn) or law.largest * N > INT64_MAX:
        return {}
    dtype: np.dtype[Any] = np.dtype(np.int32 if law.largest < 2**31 else np.int64)
    lanes = TILES_BYTES // (N * dtype.itemsize)
    prepared = {name: tile_method(chunk.topology, name) for name in chunk.methods}
    by_width: dict[int, dict[str, TileMethod]] = {}
    for name, method in prepared.items():
        if method is not None and lanes >= VECTOR:
            width = VECTOR * (min(method.lanes, lanes, chunk.trials + VECTOR - 1) // VECTOR)
            by_width.setdefault(width, {})[name] = method
    found: dict[str, dict[str, Any]] = {}
    for width, methods in by_width.items():
        tiles = min(lanes // width, -(-chunk.trials // width))
        drawn = scratch("drawn", (tiles, N, width), dtype)
        found |= _measured(chunk, law, methods, drawn)
    return found


def _measured(
    chunk: Trials, law: Drawn, methods: dict[str, TileMethod], drawn: NDArray[Any]
) -> dict[str, dict[str, Any]]:
    """Draw into the same tiles again and again, and let each method balance them."""
    W, lanes = drawn.shape[2], kernels("lanes")
    before: list[Columns] = []
    found: dict[str, list[Columns]] = {name: [] for name in methods}
    for first in range(0, chunk.trials, len(drawn) * W):
        count = min(len(drawn) * W, chunk.trials - first)
        fresh = drawn[: -(-count // W)]
        law.fill_tiles(fresh, seed=chunk.seed, start=chunk.start + first)
        surveyed = np.empty((3, len(fresh) * W), np.int64)
        lanes.survey(fresh, surveyed)
        # Lanes beyond the last trial are trials too, of which nothing is recorded.
        total, largest = int(surveyed[0].max()), int(surveyed[2].max())
        before.append({"before": surveyed[:, :count]})
        for name, parts in list(found.items()):
            method = methods[name]
            dtype = method.dtype(total, largest)
            if dtype is None:
                del found[name]
                continue
            tiles = fresh
            if dtype != fresh.dtype or len(found) > 1:
                tiles = scratch("work", fresh.shape, dtype)
                np.copyto(tiles, fresh, casting="unsafe")
            parts.append(method.balance(tiles, count, total, largest))
    start = Survey(*_joined(before)["before"])
    return {name: _figures(methods[name], start, _joined(parts)) for name, parts in found.items()}


def _figures(method: TileMethod, before: Survey, found: Columns) -> dict[str, Any]:
    after = Survey(before.total, *found.pop("extremes"))
    return method.figures(before, after, found)


def _joined(parts: list[Columns]) -> Columns:
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}
