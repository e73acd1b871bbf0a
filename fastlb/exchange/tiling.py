"""Conversion between rows of loads and tiles, the kernels' layout of batches: trials last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..pages import copied, copy_into
from .casting import signed, source_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# Most lanes of a tile: a multiple of a vector's, which fill a few cache lines. GDE on 64
# nodes takes 1.1 times as long with 32, 1.3 with 16, and 0.97 to 1.24 with 128.
VECTOR = 16
LANES = 64
# Loads that are copied at once, in some 20 ms: in between Python hears signals.
PART_LOADS = 2**23


def tiled(rows: NDArray[Any], T: type[np.generic], *, tile_bytes: int) -> NDArray[Any]:
    """Return rows (B, N) as tiles (K, N, W): trial ``t * W + w`` is lane w of tile t.

    A tile takes up to ``tile_bytes``, or more if a single vector of trials exceeds that. A
    single network is a tile of one lane.
    """
    B, N = rows.shape
    if B <= 1:
        return single(rows, T)
    fitting = min(LANES, tile_bytes // (N * np.dtype(T).itemsize)) // VECTOR
    width = VECTOR * max(1, min(fitting, -(-B // VECTOR)))
    tiles: NDArray[Any] = np.empty((-(-B // width), N, width), T)
    source, nodes = source_for(rows, tiles), np.arange(N)
    for networks, part in _parts(tiles):
        kernels("layout.tiles").load(source[networks], tiles[part], nodes)
    return tiles


def single(rows: NDArray[Any], T: type[np.generic]) -> NDArray[Any]:
    """Return rows (B, N) as tiles of one lane."""
    return copied(rows, T)[:, :, None]


def untiled(tiles: NDArray[Any], rows: NDArray[Any]) -> None:
    """Copy tiles back to rows (B, N) of any dtype that the loads fit."""
    if tiles.shape[2] == 1:
        copy_into(rows, tiles[:, :, 0])
    else:
        target, nodes = signed(rows), np.arange(rows.shape[1])
        for networks, part in _parts(tiles):
            kernels("layout.tiles").store(tiles[part], target[networks], nodes)


def _parts(tiles: NDArray[Any]) -> Iterator[tuple[slice, slice]]:
    """Yield parts of tiles (K, N, W): the numbers of their networks, and their own."""
    K, N, W = tiles.shape
    step = max(1, PART_LOADS // (N * W))
    for first in range(0, K, step):
        yield slice(first * W, (first + step) * W), slice(first, first + step)
