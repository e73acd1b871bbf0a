"""0-1 programs of few variables: many of them side by side, one a lane of a register.

Lanes have the pattern that is tried in common, so that a row costs one addition for a whole
register of programs, and nothing ever branches on what they hold. Programs are first turned into
the lanes of a tile, whose rows go by the bits of a pattern, lowest first (bit 0 is x_n):

    row of the tile       program 0, 1, .., W - 1
    0 .. m - 1            coefficients of the rows for bit 0
    m                     costs for bit 0
    m + 1 ..              the same for bits 1, 2, ..
    then m + 1 rows       right-hand sides, and a 0

``base`` has, for each value of the upper bits, what these and the right-hand sides add to every
row. To that the sums of all patterns of the lowest bits are made in registers, row after row: a
pattern is feasible where no sum was negative, which the or of all sums tells by its sign.
"""

import numpy as np
from numba import types

from ..shared.compiling import kernel
from ..shared.processor import REGISTER_BYTES, REGISTERS
from ..shared.tracing import either, fori, register_lanes, select, traced, update
from ..shared.transposition import transpose
from ..shared.vectors import lanes, maximum, minimum, reduce, reduce_lanes, spread

# So many of the lowest bits give all their patterns in registers: half of those that there are.
LOW_BITS = 4 if REGISTERS == 32 else 3
PATTERNS = 1 << LOW_BITS
# Values are turned from programs into lanes in squares of this side, or of a register's lanes.
SIDE = 8


@traced()
def _lay_out(values, tail, inside, first, K, places, tile, extremes, row):
    """Turn K values of each of W programs into rows places[k] of the tile, cut to its dtype.

    The first program's values begin at ``first``, in ``values`` if ``inside``, else in ``tail``.
    Rows ``row`` and ``row + 1`` of extremes keep the least and the largest of the values.
    """
    source = either(inside, values, tail)
    width = lanes(tile.dtype)
    side = min(SIDE, width)

    def squares(k):
        def square(lane):
            low, high = extremes.load((row, 0), side), extremes.load((row + 1, 0), side)
            rows = []
            for i in range(side):
                own = source.load(first + (lane + i) * K + k, side)
                low, high = minimum(low, own), maximum(high, own)
                rows.append(own.astype(tile.dtype))
            extremes.store((row, 0), low)
            extremes.store((row + 1, 0), high)
            for i, column in enumerate(transpose(rows)):
                tile.store(places[k + i] * width + lane, column)

        for lane in range(0, width, side):
            square(lane)

    fori(K, squares, step=side)


@traced(returns=types.boolean)
def _may_reach(limit, n, extremes):
    """Tell whether n costs or coefficients and a right-hand side may add up to a limit."""

    def largest(row):
        low, high = extremes.load((row, 0), SIDE), extremes.load((row + 1, 0), SIDE)
        limits = spread(limit, low)
        return maximum(-maximum(low, -limits), minimum(high, limits))

    size = reduce_lanes(maximum(largest(0), largest(4)), maximum)
    return n * size + reduce_lanes(largest(2), maximum) >= limit


@traced()
def _fill_base(tile, base, m, n):
    """Fill base (blocks, m + 1, W) with less the right-hand sides plus sums of the upper bits."""
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
    """Return the sums of start and the values over the bits of 0, 1, .."""
    sums = [start]
    for value in values:
        sums += [total + value for total in sums]
    return sums


def _better(a, b):
    """Return the cheaper of two (costs, patterns); of equals the first."""
    less = b[0] < a[0]
    return select(less, b[0], a[0]), select(less, b[1], a[1])


@traced()
def _try_patterns(tile, base, m, blocks, best):
    """Try all patterns for the programs of a tile.

    best (2, W) becomes the least cost, the largest number of its dtype where nothing is feasible,
    and the lowest pattern that reaches it.
    """
    width = lanes(tile.dtype)

    def sums(block, row):
        values = [tile.load(((m + 1) * bit + row) * width) for bit in range(LOW_BITS)]
        return _subset_sums(base.load((block * (m + 1) + row) * width), values)

    def try_block(block, *before):
        # Rows by twos, the last alone twice: AVX-512 joins three words in one instruction.
        def join_rows(pair, *signs):
            even = pair << 1
            odd = select(even + 1 < m, even + 1, even)
            triples = zip(signs, sums(block, even), sums(block, odd), strict=True)
            return [sign | a | b for sign, a, b in triples]

        signs = fori((m + 1) >> 1, join_rows, *[none ^ none] * PATTERNS)
        first = spread(block * PATTERNS, none)
        tried = [
            (select(sign < 0, none, cost), first + number)
            for number, (sign, cost) in enumerate(zip(signs, sums(block, m), strict=True))
        ]
        # In pairs, so that few comparisons wait for each other.
        return _better(before, reduce(tried, _better))

    none = spread(np.iinfo(tile.dtype).max, tile.load(0))
    cost, pattern = fori(blocks, try_block, none, none ^ none)
    best.store((0, 0), cost)
    best.store((1, 0), pattern)


@kernel
def solve_together(values, tails, places, shape, limit, workspace, results):
    """Solve programs of int64 values: flat A (B, m, n), b (B, m), c (B, n); return how many can be.

    results are pattern (B,) int16, the least that reaches the optimum, bit n - j of it x_j, and
    objective (B,) int64, the optimum; both are 0 where feasible (B,) is not True. With a limit,
    not 0, -1 is returned as soon as a sum may reach it.

    ``shape`` is (m, n). places tell the tile's rows of the values of A, b and c, with SIDE rows
    more, of any values. tails have room for the values of W + SIDE programs each. ``workspace`` is
    tile, base (blocks, (m + 1) * W) and best (2, W), in the dtype to compute in (int16 where all
    sums are below 2**14, int32 below 2**30, else int64), and extremes (6, SIDE) int64, 0 before.
    """
    tile, base, best, extremes = workspace
    pattern, objective, feasible = results
    m, n = shape
    sizes = m * n, m, n
    W = register_lanes(tile)
    B = pattern.size
    none = np.iinfo(tile.dtype).max
    total = 0
    for p in range(0, B, W):
        count = min(W, B - p)
        # Squares reach up to SIDE values beyond the last program.
        inside = p + W + SIDE <= B
        for s in range(3):
            K = sizes[s]
            first = p * K
            if not inside:
                for i in range(count * K):
                    tails[s][i] = values[s][first + i]
                first = 0
            _lay_out(values[s], tails[s], inside, first, K, places[s], tile, extremes, 2 * s)
        if limit > 0 and _may_reach(limit, n, extremes):
            return -1
        _fill_base(tile, base, m, n)
        _try_patterns(tile, base, m, base.shape[0], best)
        for u in range(count):
            cost = best[0, u]
            feasible[p + u] = cost != none
            pattern[p + u] = best[1, u] if cost != none else 0
            objective[p + u] = cost if cost != none else 0
            total += cost != none
    return total
