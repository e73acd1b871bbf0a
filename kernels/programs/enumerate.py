"""0-1 programs by enumeration (More-Wu section 3): all sequences, 64 at a time.

A sequence is a pattern of n bits: bit n - j is x_j, j = 1 .. n. The 64 patterns that share all but
the lowest six bits are a block, one pattern a lane; a word of 64 bits, ``alive``, tells which lanes
are still candidates. A row's sum less its right-hand side b is the sum of two numbers, one for the
block's upper bits and one for the lane's lower six:

    base[row, block] + sums[row, lane]        row m holds the costs, where b is 0

So one comparison over all lanes strikes out the patterns that violate a row. At the start of a
block those lanes are alive that are cheaper than the best so far, and most blocks are empty before
all rows have been compared.
"""

import numpy as np

from ..shared.compiling import inlined
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.words import LANES, LOW_BITS, NONE, at_most, lowest_bit

ALL = np.uint64(2**64 - 1)


@inlined
def _tabulate(rows, p, r, sums, base, row):
    """Fill ``sums[row]`` by the last six coefficients of ``rows[p, r]``, ``base[row]`` by the rest.

    Each coefficient doubles what is filled, from the one entry that is there at first.
    """
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


@long_kernel
def enumerate_each(rows, b, sums, base, order, pattern, objective, feasible):
    """Solve programs ``rows`` (B, m + 1, n), costs last, and ``b`` (B, m), int64.

    ``pattern`` (B,) becomes the least that reaches the optimum, ``objective`` (B,) the optimum;
    both are 0 where ``feasible`` (B,) is not True. ``sums`` (m + 1, 64), ``base`` (m + 1, blocks)
    and ``order`` (m,) are scratch, the first two of the dtype to compute in: int16 where all sums
    are below 2**14, int32 below 2**30, else int64.

    Rows are tabulated when they are first needed. One that empties a block is compared one place
    earlier in the next.
    """
    B, m = b.shape
    T, meter = sums.dtype.type, new_meter()
    for p in range(B):
        if interrupted(meter, 4 * base.shape[1]):
            return
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
                alive = at_most(sums, m, T(best - offset - 1))
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
                alive &= ~at_most(sums, row, T(-base[row, block] - 1))
            while alive != NONE:
                lane = lowest_bit(alive)
                best = T(sums[m, lane] + offset)
                number = block * LANES + lane
                feasible[p] = True
                alive &= at_most(sums, m, T(best - offset - 1))
        pattern[p] = number
        objective[p] = best
