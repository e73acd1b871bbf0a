"""Rows of loads laid out for a plan of fault-tolerant DEM, and back.

A position is a node number with its bits reversed, so that the dimension exchanged first is
the outermost one, or the node number itself.
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
def places(n, reverse):
    """Return the position of every node."""
    place = np.arange(1 << n)
    if reverse:
        for i in range(place.size):
            place[i] = reversed_bits(i, n)
    return place


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
    mirror = places(q, True)
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
def rearrange(source, target, square, n, reverse):
    """Copy rows of nodes (B, 2**n) to rows of positions, of any dtype they fit, or back.

    ``square`` (4096,) is used up; of the narrower dtype it takes less of the cache.
    """
    for b in range(source.shape[0]):
        if reverse:
            _reverse(source[b], target[b], square, n)
        else:
            _copy(source[b], target[b])
