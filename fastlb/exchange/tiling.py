"""Conversion between rows of loads and tiles, the kernels' layout of batches: trials last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..pages import copied, copy_into
from .casting import signed, source_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Most lanes of a tile: a multiple of a vector's, which fill a few cache lines. GDE on 64
# nodes takes 1.1 times as long with 32, 1.3 with 16, and 0.97 to 1.24 with 128.
VECTOR = 16
LANES = 64


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
    kernels("layout.tiles").load(source_for(rows, tiles), tiles, np.arange(N))
    return tiles


def single(rows: NDArray[Any], T: type[np.generic]) -> NDArray[Any]:
    """Return rows (B, N) as tiles of one lane."""
    return copied(rows, T)[:, :, None]


def untiled(tiles: NDArray[Any], rows: NDArray[Any]) -> None:
    """Copy tiles back to rows (B, N) of any dtype that the loads fit."""
    if tiles.shape[2] == 1:
        copy_into(rows, tiles[:, :, 0])
    else:
        kernels("layout.tiles").store(tiles, signed(rows), np.arange(rows.shape[1]))
