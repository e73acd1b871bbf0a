"""What the lanes of tiles add up to: one trial a lane.

Legend: ``K`` tiles of ``W`` trials side by side, ``N`` nodes, ``B`` trials, ``K W >= B``: trial
``k W + w`` is lane w of tile k, and lanes beyond the last trial are not looked at.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def totals(tiles, out):
    """Set ``out`` (B,) int64 to the sum of each trial, which fits."""
    N, W = tiles.shape[1:]
    sums = np.empty(W, np.int64)
    for k in range(tiles.shape[0]):
        tile = tiles[k].reshape(-1)
        sums[:] = 0
        for i in range(N):
            row = tile[i * W : i * W + W]
            for w in range(W):
                sums[w] += row[w]
        part = out[k * W : k * W + W]
        part[:] = sums[: part.size]


@njit(cache=True, nogil=True)
def extremes(tiles, out):
    """Set ``out`` (2, B) int64 to the least and the largest load of each trial."""
    N, W = tiles.shape[1:]
    least = np.empty(W, tiles.dtype)
    most = np.empty(W, tiles.dtype)
    for k in range(tiles.shape[0]):
        tile = tiles[k].reshape(-1)
        least[:] = tile[:W]
        most[:] = tile[:W]
        for i in range(1, N):
            row = tile[i * W : i * W + W]
            for w in range(W):
                least[w] = min(least[w], row[w])
                most[w] = max(most[w], row[w])
        part = out[:, k * W : k * W + W]
        part[0] = least[: part.shape[1]]
        part[1] = most[: part.shape[1]]


@njit(cache=True, nogil=True)
def survey(tiles, out):
    """Set ``out`` (3, B) int64 to the total, the least and the largest load of each trial."""
    N, W = tiles.shape[1:]
    sums = np.empty(W, np.int64)
    least = np.empty(W, tiles.dtype)
    most = np.empty(W, tiles.dtype)
    for k in range(tiles.shape[0]):
        tile = tiles[k].reshape(-1)
        sums[:] = tile[:W]
        least[:] = tile[:W]
        most[:] = tile[:W]
        for i in range(1, N):
            row = tile[i * W : i * W + W]
            for w in range(W):
                sums[w] += row[w]
                least[w] = min(least[w], row[w])
                most[w] = max(most[w], row[w])
        part = out[:, k * W : k * W + W]
        part[0] = sums[: part.shape[1]]
        part[1] = least[: part.shape[1]]
        part[2] = most[: part.shape[1]]
