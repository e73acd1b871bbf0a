"""Rows of loads laid out for a plan of fault-tolerant DEM, and back.

A position is a node number with its bits reversed, so that the dimension exchanged first is
the outermost one, or the node number itself. A tile holds ``L`` trials side by side,
``(position, lane)``; the last tile may hold fewer, w, and is then ``(position, w)``.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def reversed_bits(x, n):
    """Return the lowest n bits of x in reverse order."""
    y = 0
    for bit in range(n):
        y |= (x >> bit & 1) << (n - 1 - bit)
    return y


@njit(cache=True, nogil=True)
def _places(n, reverse):
    place = np.arange(1 << n)
    if reverse:
        for i in range(place.size):
            place[i] = reversed_bits(i, n)
    return place


@njit(cache=True, nogil=True)
def _to_lanes(flat, tile, place, w):
    """Transpose w trials (flat rows) into the tile, in blocks that stay in cache.

    8 trials at a time: rows that are a power of two apart compete for the same cache lines, and
    16 of them take 2-3 times as long. All nodes of these go before the next 8.
    """
    N = place.size
    step = w if N <= 64 else 8
    for first in range(0, w, step):
        many = min(step, w - first)
        for i in range(N):
            lanes = tile[place[i] * w + first :]
            nodes = flat[first * N + i :]
            for u in range(many):
                lanes[u] = nodes[u * N]


@njit(cache=True, nogil=True)
def _from_lanes(tile, flat, place, w):
    N = place.size
    step = w if N <= 64 else 8
    for first in range(0, w, step):
        many = min(step, w - first)
        for i in range(N):
            lanes = tile[place[i] * w + first :]
            nodes = flat[first * N + i :]
            for u in range(many):
                nodes[u * N] = lanes[u]


@njit(cache=True, nogil=True)
def _copy(source, target):
    for i in range(target.size):
        target[i] = source[i]


@njit(cache=True, nogil=True)
def _reverse(source, target, square, n):
    """Copy a row into reversed order through squares: whole cache lines on both sides.

    Squares of 64 fit the first-level cache; of 16 nodes they take twice as long at n = 20.
    """
    q = min(6, n // 2)
    side = 1 << q
    mirror = _places(q, True)
    for middle in range(1 << (n - 2 * q)):
        for i in range(side):
            at = i << (n - q) | middle << q
            line = mirror[i] * side
            _copy(source[at : at + side], square[line : line + side])
        mirrored = reversed_bits(middle, n - 2 * q)
        for j in range(side):
            at = mirror[j] << (n - q) | mirrored << q
            line = target[at : at + side]
            column = square[j:]
            for i in range(side):
                line[i] = column[i * side]


@njit(cache=True, nogil=True)
def to_tiles(rows, tiles, n, L, reverse):
    """Copy rows (B, 2**n) into tiles (T, 2**n * L), which may be of a wider type."""
    B = rows.shape[0]
    if L > 1:
        place = _places(n, reverse)
        for t in range(tiles.shape[0]):
            w = min(L, B - t * L)
            _to_lanes(rows[t * L : t * L + w].reshape(-1), tiles[t], place, w)
        return
    square = np.empty(4096, dtype=tiles.dtype)
    for b in range(B):
        if reverse:
            _reverse(rows[b], tiles[b], square, n)
        else:
            _copy(rows[b], tiles[b])


@njit(cache=True, nogil=True)
def from_tiles(tiles, rows, n, L, reverse):
    """Copy tiles back into rows."""
    B = rows.shape[0]
    if L > 1:
        place = _places(n, reverse)
        for t in range(tiles.shape[0]):
            w = min(L, B - t * L)
            _from_lanes(tiles[t], rows[t * L : t * L + w].reshape(-1), place, w)
        return
    square = np.empty(4096, dtype=tiles.dtype)
    for b in range(B):
        if reverse:
            _reverse(tiles[b], rows[b], square, n)
        else:
            _copy(tiles[b], rows[b])
