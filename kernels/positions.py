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
def _lanes(flat, tile, place, w, inwards):
    """Transpose w trials (flat rows) into the tile or back, in blocks that stay in cache.

    8 trials at a time: rows that are a power of two apart compete for the same cache lines, and
    16 of them take 2-3 times as long. All nodes of these go before the next 8.
    """
    N = place.size
    m = min(16, N)
    step = w if N <= 64 else 8
    for first in range(0, w, step):
        many = min(step, w - first)
        for start in range(0, N, m):
            for i in range(start, start + m):
                lanes = tile[place[i] * w + first :]
                nodes = flat[first * N + i :]
                if inwards:
                    for u in range(many):
                        lanes[u] = nodes[u * N]
                else:
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
def exchange_layout(rows, tiles, n, L, reverse, inwards):
    """Copy rows (B, 2**n) into tiles (T, 2**n * L) of L trials, or back out of them.

    The tiles may be of a wider type than the rows.
    """
    B = rows.shape[0]
    if L == 1:
        square = np.empty(4096, dtype=tiles.dtype)
        for b in range(B):
            if inwards and reverse:
                _reverse(rows[b], tiles[b], square, n)
            elif reverse:
                _reverse(tiles[b], rows[b], square, n)
            elif inwards:
                _copy(rows[b], tiles[b])
            else:
                _copy(tiles[b], rows[b])
        return
    place = _places(n, reverse)
    for t in range(tiles.shape[0]):
        w = min(L, B - t * L)
        _lanes(rows[t * L : t * L + w].reshape(-1), tiles[t], place, w, inwards)
