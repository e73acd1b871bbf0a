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
    """Transpose w trials (flat rows) into the tile or back, in blocks that stay in cache."""
    N = place.size
    m = min(16, N)
    step = w if N <= 64 else 8
    for start in range(0, N, m):
        for first in range(0, w, step):
            many = min(step, w - first)
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
def _reverse(source, target, square, n):
    """Copy a row into reversed order through small squares: whole cache lines on both sides."""
    q = min(5, n // 2)
    side = 1 << q
    mirror = _places(q, True)
    for middle in range(1 << (n - 2 * q)):
        mirrored = reversed_bits(middle, n - 2 * q)
        for i in range(side):
            at = i << (n - q) | middle << q
            line = source[at : at + side]
            column = square[mirror[i] :]
            for j in range(side):
                column[mirror[j] * side] = line[j]
        for i in range(side):
            at = i << (n - q) | mirrored << q
            target[at : at + side] = square[i * side : (i + 1) * side]


@njit(cache=True, nogil=True)
def exchange_layout(rows, tiles, n, L, reverse, inwards):
    """Copy rows (B, 2**n) into tiles (T, 2**n * L) of L trials, or back out of them."""
    B = rows.shape[0]
    if L == 1:
        square = np.empty(1024, dtype=rows.dtype)
        for b in range(B):
            source, target = (rows[b], tiles[b]) if inwards else (tiles[b], rows[b])
            if reverse:
                _reverse(source, target, square, n)
            else:
                target[:] = source
        return
    place = _places(n, reverse)
    for t in range(tiles.shape[0]):
        w = min(L, B - t * L)
        _lanes(rows[t * L : t * L + w].reshape(-1), tiles[t], place, w, inwards)
