"""0-1 programs by enumeration (More-Wu section 3): all sequences, 64 at a time.

A sequence is a pattern of n bits; bit n - j is x_j. Patterns that share their upper bits are a
block of 64, one a lane, alive or not in one 64-bit word. A row's sum is that of the upper bits,
one number a block, plus that of the lower six, one a lane:

    base[row, block] + sums[row, lane]        row m holds the costs

so that one comparison over all lanes strikes what falls short out of a block. Blocks start with
the lanes alive that would be a gain, and most are empty before all rows were looked at.
"""

import numpy as np
from numba import types

from ..shared.compiling import inlined, kernel
from ..shared.tracing import traced
from ..shared.words import lowest_bit, to_word

LOW_BITS = 6
LANES = 64
NONE = np.uint64(0)
ALL = np.uint64(2**64 - 1)


@traced(returns=types.uint64)
def _at_most(sums, row, most):
    """Return which of 64 sums are at most a number of their dtype."""
    return to_word(sums.load((row, 0), LANES) <= most)


@inlined
def _tabulate(rows, p, r, sums, base, row):
    """Fill sums[row] for the last six coefficients of rows[p, r], base[row] for the others."""
    n = rows.shape[2]
    for bit in range(max(n, LOW_BITS)):
        value = rows[p, r, n - 1 - bit] if bit < n else 0
        if bit < LOW_BITS:
            filled = 1 << bit
            for i in range(filled):
                sums[row, filled + i] = sums[row, i] + value
        else:
            filled = 1 << bit - LOW_BITS
            for i in range(filled):
                base[row, filled + i] = base[row, i] + value


@kernel
def enumerate_each(rows, b, sums, base, order, pattern, objective, feasible):
    """Solve programs rows (B, m + 1, n), costs last, and b (B, m), int64.

    pattern (B,), all 0 before, becomes the least that reaches the optimum, objective (B,) the
    optimum, 0 where feasible (B,) is not True. sums (m + 1, 64) and base (m + 1, blocks) have the
    dtype to compute in: int16 where all sums are below 2**14, int32 below 2**30, else int64. order
    (m,) is room.

    Rows are tabulated when they are first needed, and one that empties a block is looked at
    earlier in the next.
    """
    B, m = b.shape
    T = sums.dtype.type
    for p in range(B):
        sums[m, 0] = 0
        base[m, 0] = 0
        _tabulate(rows, p, m, sums, base, m)
        ready = 0
        best = T(0)
        number = 0
        feasible[p] = False
        for block in range(base.shape[1]):
            offset = base[m, block]
            alive = ALL
            if feasible[p]:
                alive = _at_most(sums, m, T(best - offset - 1))
            for r in range(m):
                if alive == NONE:
                    if r > 1:
                        order[r - 1], order[r - 2] = order[r - 2], order[r - 1]
                    break
                if r == ready:
                    sums[r, 0] = 0
                    base[r, 0] = -b[p, r]
                    _tabulate(rows, p, r, sums, base, r)
                    order[r] = r
                    ready += 1
                row = order[r]
                alive &= ~_at_most(sums, row, T(-base[row, block] - 1))
            while alive != NONE:
                lane = lowest_bit(alive)
                best = T(sums[m, lane] + offset)
                number = block * LANES + lane
                feasible[p] = True
                alive &= _at_most(sums, m, T(best - offset - 1))
        pattern[p] = number
        objective[p] = best
