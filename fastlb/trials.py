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
from .result import INT64_MAX, Balance
from .tile_methods import tile_method
from .tiling import LANES, VECTOR

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


def measure_in_tiles(chunk: Trials) -> dict[str, Balance]:
    """Return what each method records of a chunk's trials, without the loads.

    The figures are bit for bit those of ``balance(sample_loads(..), ..)``. Left out are methods
    that are not prepared for tiles, or where int64 might not hold what is moved: all of them if
    the network is large or the distribution not one of the library's own.
    """
    law, N, B = chunk.loads, chunk.topology.size, chunk.trials
    if not isinstance(law, Drawn) or law.largest * N > INT64_MAX:
        return {}
    drawn_in: np.dtype[Any] = np.dtype(np.int32 if law.largest < 2**31 else np.int64)
    lanes = TILES_BYTES // (N * drawn_in.itemsize)
    prepared = {name: tile_method(chunk.topology, name) for name in chunk.methods}
    methods = {name: method for name, method in prepared.items() if method is not None}
    if lanes < VECTOR or not methods:
        return {}
    W = VECTOR * min(LANES // VECTOR, lanes // VECTOR, -(-B // VECTOR))
    drawn = np.empty((min(lanes // W, -(-B // W)), N, W), drawn_in)
    work: dict[np.dtype[Any], NDArray[Any]] = {}
    before: list[Columns] = []
    found: dict[str, list[Columns]] = {name: [] for name in methods}
    for first in range(0, B, len(drawn) * W):
        count = min(len(drawn) * W, B - first)
        used = -(-count // W)
        law.fill_tiles(drawn[:used], seed=chunk.seed, start=chunk.start + first)
        total = np.empty(used * W, np.int64)
        kernels("lanes").totals(drawn[:used], total)
        smallest, largest = _extremes(drawn[:used])
        # Lanes beyond the last trial are trials too, of which nothing is recorded.
        bounds = int(total.max()), int(largest.max())
        before.append(_cut({"total": total, "smallest": smallest, "largest": largest}, count))
        for name in list(found):
            T = methods[name].dtype(*bounds)
            if T is None:
                del found[name]
                continue
            if T not in work:
                work[T] = np.empty(drawn.shape, T)
            tiles = work[T][:used]
            np.copyto(tiles, drawn[:used], casting="unsafe")
            counted = methods[name].balance(tiles, count, *bounds)
            smallest, largest = _extremes(tiles)
            found[name].append(_cut({"smallest": smallest, "largest": largest, **counted}, count))
    start = Survey(**_joined(before))
    return {name: _recorded(methods[name], start, _joined(parts)) for name, parts in found.items()}


def _extremes(tiles: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    trials = tiles.shape[0] * tiles.shape[2]
    smallest, largest = np.empty(trials, np.int64), np.empty(trials, np.int64)
    kernels("lanes").extremes(tiles, smallest, largest)
    return smallest, largest


def _recorded(method: TileMethod, before: Survey, found: Columns) -> Balance:
    after = Survey(before.total, found.pop("smallest"), found.pop("largest"))
    fields = method.figures(before, after, found)
    return Balance(method.function.__name__, method.topology, "metrics", fields)


def _cut(columns: Columns, trials: int) -> Columns:
    return {name: values[:trials] for name, values in columns.items()}


def _joined(parts: list[Columns]) -> Columns:
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
