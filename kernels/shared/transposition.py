"""Transposition of squares in registers: rows become columns.

A square of n registers with n lanes each takes log2(n) rounds, one a bit, the lowest first. A round
takes pairs of registers whose numbers differ in that bit alone: of the lower one the lanes with the
bit change places with those of the higher one without it. Here n is 4, a register a line:

    a0 a1 a2 a3        a0 b0 a2 b2        a0 b0 c0 d0
    b0 b1 b2 b3   ->   a1 b1 a3 b3   ->   a1 b1 c1 d1
    c0 c1 c2 c3        c0 d0 c2 d2        a2 b2 c2 d2
    d0 d1 d2 d3        c1 d1 c3 d3        a3 b3 c3 d3
"""

from .exchange import links
from .vectors import shuffle


def transpose(rows):
    """Return the columns of a square: ``rows`` are n registers of n lanes, n a power of 2.

    Registers of 2 n, 3 n, .. lanes hold 2, 3, .. squares side by side, each transposed by itself.
    """
    size, rows, bits = rows[0].size, list(rows), len(rows).bit_length() - 1
    for bit in range(bits):
        apart = 1 << bit
        # Lanes of both registers of a pair: the lower one's from 0 on, the higher one's from size.
        low = [lane if not lane & apart else lane - apart + size for lane in range(size)]
        high = [lane + apart if not lane & apart else lane + size for lane in range(size)]
        for r, s in links(bits, bit):
            rows[r], rows[s] = shuffle(rows[r], rows[s], low), shuffle(rows[r], rows[s], high)
    return rows
