"""Loads from the order of nodes to that of positions, for a plan of fault-tolerant DEM, and back.

The position of a node is its number with its n bits reversed, so that the dimension exchanged first
is the outermost one in memory. A row of N loads goes through squares of ``2**q`` by ``2**q`` loads
that agree in their middle bits, so that whole cache lines are read and written:

    node      q high bits | middle bits | q low bits      a line of the square is read in one run
    position  q low bits  | middle bits | q high bits     a column of it is written in one run
"""

from ..shared.compiling import kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.views import flat


@kernel
def reversed_bits(x, n):
    """Return the lowest n bits of x in reverse order."""
    y = 0
    for bit in range(n):
        y |= (x >> bit & 1) << (n - 1 - bit)
    return y


@long_kernel
def reverse(rows, out, square):
    """Copy ``rows`` (B, 2**n) of nodes to ``out`` (B, 2**n) of positions, or the other way.

    ``out`` has any dtype that the loads fit. ``square`` (4096,) is scratch, best of the narrower
    dtype: squares of 64 by 64 loads fit the L1 cache; with 16 by 16 a 20-cube takes twice as long.
    """
    B, N = rows.shape
    n = 0
    while 1 << n < N:
        n += 1
    q = min(6, n // 2)
    side = 1 << q
    source, target = flat(rows), flat(out)
    meter = new_meter()
    for b in range(B):
        for middle in range(1 << (n - 2 * q)):
            if interrupted(meter, 1 << 2 * q):
                return
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
