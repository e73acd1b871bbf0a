"""0-1 programs of few variables: many of them side by side, one a lane of a register.

All lanes try the same pattern at the same time, so that one addition does a row of a whole register
of programs, and no branch depends on their numbers. Programs are first transposed into a tile of W
programs, whose rows go by the bits of a pattern, lowest first (bit n - j is x_j, bit 0 x_n):

    row of the tile       program 0, 1, .., W - 1
    0 .. m - 1            coefficients of bit 0 in the m rows of the programs
    m                     costs of bit 0
    m + 1 ..              the same for bits 1, 2, ..
    then m + 1 rows       right-hand sides, and a 0

``base`` (blocks, m + 1, W) has, for each pattern of the upper bits, its part in the sum of every
row, less the right-hand side. The sums of all patterns of the LOW_BITS lowest bits are added to it
in registers, row after row: a pattern is feasible if no sum is negative, that is, if the bitwise or
of all sums is not.
"""

import numpy as np
from numba import types

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.processor import REGISTERS
from ..shared.tracing import either, fori, register_lanes, traced
from ..shared.vectors import (
    concatenate,
    lanes,
    maximum,
    minimum,
    permute,
    reduce,
    reduce_lanes,
    select,
    split,
    spread,
)

# The patterns of these lowest bits are tried at once: their sums fill half of the registers.
LOW_BITS = 4 if REGISTERS == 32 else 3
PATTERNS = 1 << LOW_BITS
# Values are transposed from programs to lanes in squares of this side, or of a register's lanes.
SIDE = 8
CACHE_LINE = 64


@traced()
def _lay_out(values, tail, inside, first, K, places, tile, extremes):
    """Transpose K values of each of W programs into rows of the tile, cut to its dtype.

    The first program's values begin at ``first``, in ``values`` if ``inside``, else in ``tail``.
    ``places`` is (an array of rows of the tile, where in it those of these values begin), and
    ``extremes`` (an array, where in it SIDE least values, then SIDE largest are kept).
    """
    source = either(inside, values, tail)
    (places, place), (extremes, least) = places, extremes
    width = lanes(tile.dtype)
    side = min(SIDE, width)
    columns = [u * side + i for i in range(side) for u in range(side)]

    def squares(k):
        for lane in range(0, width, side):
            low, high = extremes.load(least, side), extremes.load(least + SIDE, side)
            rows = []
            for i in range(side):
                own = source.load(first + (lane + i) * K + k, side)
                low, high = minimum(low, own), maximum(high, own)
                rows.append(own.astype(tile.dtype))
            extremes.store(least, low)
            extremes.store(least + SIDE, high)
            # One shuffle of the whole square takes fewer instructions than rounds of pairs.
            transposed = permute(concatenate(rows), columns)
            for i, column in enumerate(split(transposed, side)):
                tile.store(places[place + k + i] * width + lane, column)

    fori(K, squares, step=side)


@traced(returns=types.boolean)
def _may_reach(limit, n, extremes):
    """Tell whether n coefficients, or costs, and a right-hand side may add up to a limit.

    ``extremes`` (6 SIDE,) has SIDE least and SIDE largest of the coefficients, of the right-hand
    sides and of the costs: kinds 0, 1 and 2.
    """

    def largest(kind):
        low, high = (
            extremes.load(2 * SIDE * kind, SIDE),
            extremes.load(2 * SIDE * kind + SIDE, SIDE),
        )
        limits = spread(limit, low)
        return maximum(-maximum(low, -limits), minimum(high, limits))

    size = reduce_lanes(maximum(largest(0), largest(2)), maximum)
    return n * size + reduce_lanes(largest(1), maximum) >= limit


@traced()
def _fill_base(tile, base, m, n):
    """Fill ``base`` (blocks, m + 1, W): sums of the upper bits, less the right-hand sides."""
    width = lanes(tile.dtype)
    size = (m + 1) * width
    right = maximum(n, LOW_BITS) * size

    def negate(at):
        base.store(at, -tile.load(right + at))

    def double(bit):
        def add_column(block):
            def add(at):
                total = base.load(block * size + at) + tile.load(bit * size + at)
                base.store(((1 << bit - LOW_BITS) + block) * size + at, total)

            fori(size, add, step=width)

        fori(1 << bit - LOW_BITS, add_column)

    fori(size, negate, step=width)
    fori(n, double, start=LOW_BITS)


def _subset_sums(start, values):
    """Return ``start`` plus the sum of every subset of the values, bit i for value i."""
    sums = [start]
    for value in values:
        sums += [total + value for total in sums]
    return sums


def _better(a, b):
    """Return in each lane the cheaper of two (cost, pattern); of equals the first."""
    less = b[0] < a[0]
    return select(less, b[0], a[0]), select(less, b[1], a[1])


@traced()
def _try_patterns(tile, base, m, blocks, best):
    """Try all patterns for the programs of a tile, block after block of the upper bits.

    ``best`` (2 W,) becomes the least cost of each program, the largest number of the dtype where
    no pattern is feasible, and then the lowest pattern that reaches it.
    """
    width = lanes(tile.dtype)

    def sums(block, row):
        values = [tile.load(((m + 1) * bit + row) * width) for bit in range(LOW_BITS)]
        return _subset_sums(base.load((block * (m + 1) + row) * width), values)

    def try_block(block, *before):
        # Rows by twos, an odd last one twice: AVX-512 has an instruction for the or of three words.
        def join_rows(pair, *signs):
            even = pair << 1
            odd = select(even + 1 < m, even + 1, even)
            triples = zip(signs, sums(block, even), sums(block, odd), strict=True)
            return [sign | a | b for sign, a, b in triples]

        signs = fori((m + 1) >> 1, join_rows, *[spread(0, none)] * PATTERNS)
        first = spread(block * PATTERNS, none)
        tried = [
            (select(sign < 0, none, cost), first + number)
            for number, (sign, cost) in enumerate(zip(signs, sums(block, m), strict=True))
        ]
        # Joined in pairs, so that few comparisons wait for the one before.
        return _better(before, reduce(tried, _better))

    none = spread(np.iinfo(tile.dtype).max, tile.load(0))
    cost, pattern = fori(blocks, try_block, none, spread(0, none))
    best.store(0, cost)
    best.store(width, pattern)


@long_kernel
def solve_together(A, b, c, shape, places, kind, limit, results):
    """Solve programs A (B, m, n), b (B, m), c (B, n), flat int64 arrays; return how many can be.

    Parameters
    ----------
    shape : (m, n)
    places : (m n + m + n + 3 SIDE,) int64
        The tile's rows for a program's values of A, of b and of c, each followed by SIDE times the
        tile's last row, which is scratch.
    kind : (0,)
        Of the dtype to compute in: int16 if all sums are below 2**14, int32 below 2**30, or int64.
    limit : int
        If not 0, -1 is returned where a sum may reach this.
    results : (pattern, objective, feasible)
        (B,) int16, the least pattern that reaches the optimum; (B,) int64, the optimum; both are 0
        where the last, (B,) bool, is not True.
    """
    m, n = shape
    pattern, objective, feasible = results
    B = pattern.size
    W = register_lanes(kind)
    columns = max(n, LOW_BITS)
    blocks = 1 << columns - LOW_BITS
    # One array holds tile, base and best, from the start of a cache line on.
    rows, sums = (columns + 1) * (m + 1) + 1, blocks * (m + 1)
    workspace = np.zeros((rows + sums + 2) * W + CACHE_LINE // kind.itemsize, dtype=kind.dtype)
    start = (-workspace.ctypes.data & CACHE_LINE - 1) // kind.itemsize
    tile = workspace[start:]
    base = tile[rows * W :]
    best = base[sums * W :]
    tail = np.zeros((W + SIDE) * max(m, 1) * max(n, 1), dtype=np.int64)
    extremes = np.zeros(6 * SIDE, dtype=np.int64)
    none = np.iinfo(kind.dtype).max
    total, meter = 0, new_meter()
    for p in range(0, B, W):
        if interrupted(meter, rows * W + PATTERNS * sums):
            break
        count = min(W, B - p)
        # Squares reach up to SIDE values beyond the last program.
        inside = p + W + SIDE <= B
        place = 0
        for s in range(3):
            values = A if s == 0 else b if s == 1 else c
            K = m * n if s == 0 else m if s == 1 else n
            first = p * K
            if not inside:
                for i in range(count * K):
                    tail[i] = values[first + i]
                first = 0
            _lay_out(
                values, tail, inside, first, K, (places, place), tile, (extremes, 2 * SIDE * s)
            )
            place += K + SIDE
        # Large numbers mostly show in the first tile. If only the last shows them, the results so
        # far, which may have overflowed, are not used.
        if limit > 0 and (p == 0 or p + W >= B) and _may_reach(limit, n, extremes):
            return -1
        _fill_base(tile, base, m, n)
        _try_patterns(tile, base, m, blocks, best)
        for u in range(count):
            cost = best[u]
            feasible[p + u] = cost != none
            pattern[p + u] = best[W + u] if cost != none else 0
            objective[p + u] = cost if cost != none else 0
            total += cost != none
    return total
