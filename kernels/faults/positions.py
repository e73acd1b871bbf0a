"""Rows of loads laid out for a plan of fault-tolerant DEM, and back.

A position is a node's number with its n bits reversed, so that the dimension exchanged first is
the outermost one. A row is taken in squares, so that whole cache lines are read and written:

    node      q high bits | middle bits | q low bits      a line of the square: nodes in a row
    position  q low bits  | middle bits | q high bits     a column: positions in a row
"""

from ..shared.compiling import kernel
from ..shared.views import flat


@kernel
def reversed_bits(x, n):
    """Return the lowest n bits of x in reverse order."""
    y = 0
    for bit in range(n):
        y |= (x >> bit & 1) << (n - 1 - bit)
    return y


@kernel
def reverse(rows, out, square):
    """Copy rows (B, 2**n) of nodes to rows of positions, of any dtype they fit, or back.

    ``square`` (4096,) is used up; of the narrower dtype it takes less of the cache. Squares of 64
    nodes fit the first-level cache; with 16 a 20-cube takes twice as long.
    """
    B, N = rows.shape
    n = 0
    while 1 << n < N:
        n += 1
    q = min(6, n // 2)
    side = 1 << q
    source, target = flat(rows), flat(out)
    for b in range(B):
        for middle in range(1 << (n - 2 * q)):
            mirrored = reversed_bits(middle, n - 2 * q)
            for i in range(side):
                start = b * N + (i << (n - q) | middle << q)
                line = reversed_bits(i, q) << q
                for j in range(side):
                    square[line + j] = source[start + j]
            for j in range(side):
                start = b * N + (reversed_bits(j, q) << (n - q) | mirrored << q)
                for i in range(side):
                    target[start + i] = square[(i << q) + j]
