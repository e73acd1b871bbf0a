"""0-1 programs of few variables: many of them side by side, one a vector lane.

What the lanes have in common is the pattern tried, so that a row costs one addition for a whole
vector of programs and nothing ever branches on what they hold. Lanes that are patterns of one
program take two to three times as long with 5 to 9 variables and 4 to 10 rows. Laid out by plain
loops, programs of 5 variables take 6 times as long, of 9 twice; tried by plain loops, 20 and 70
times.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

# A vector is one cache line.
LINE = 64
# Values are turned from programs into lanes in squares of this side.
SIDE = 8
# A name of ten characters has so many numbers of 64 bits.
WORDS = 5
# Of so many bits of a pattern all sums are made in registers: 16 of them, and the path there.
LOW = 4
PATTERNS = 16


def _lay_out(source, first, stride, places, k, tile, lane, seen):
    """Turn SIDE values of each of SIDE programs into rows of the tile, cut off to its dtype.

    Value k + i of the program ``stride`` further goes to row places[k + i], one lane further.
    seen (2, SIDE) keeps the least and the largest value that came by.
    """
    at = first + np.arange(SIDE)[:, None] * stride + np.arange(SIDE)
    square = source[at]
    tile[places[k : k + SIDE], lane : lane + SIDE] = square.T.astype(tile.dtype)
    seen[0] = np.minimum(seen[0], square.min(axis=0))
    seen[1] = np.maximum(seen[1], square.max(axis=0))


def _try_patterns(tile, base, block, m, best):
    """Try the patterns of one block for all programs of a tile.

    tile (rows, lanes) starts with the coefficients of the LOW lowest bits, for each of them m rows
    and the costs; base (blocks, (m + 1) * lanes) has what the other bits and the right-hand sides
    add. best (2, lanes) has the least cost, the largest number of its dtype where there is none,
    and the lowest number of a pattern that reaches it.
    """
    lanes = tile.shape[1]
    low = tile[: LOW * (m + 1)].reshape(LOW, 1, m + 1, lanes)
    bits = np.arange(PATTERNS) >> np.arange(LOW)[:, None] & 1
    sums = base[block].reshape(m + 1, lanes) + (bits[:, :, None, None] * low).sum(axis=0)
    cost = np.where((sums[:, :m] >= 0).all(axis=1), sums[:, m], np.iinfo(tile.dtype).max)
    least = cost.min(axis=0)
    better = least < best[0]
    best[0] = np.where(better, least, best[0])
    best[1] = np.where(better, block * PATTERNS + cost.argmin(axis=0), best[1])


def _pointer(context, builder, array_type, array, element, kind):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [element]), kind.as_pointer())


def _shuffled(builder, left, right, order):
    lanes = ir.VectorType(cgutils.int32_t, len(order))
    return builder.shuffle_vector(left, right, ir.Constant(lanes, order))


def _lesser(builder, left, right):
    return builder.select(builder.icmp_signed("<", left, right), left, right)


def _greater(builder, left, right):
    return builder.select(builder.icmp_signed(">", left, right), left, right)


def _better(builder, left, right):
    """Return the lesser of two costs with its pattern."""
    less = builder.icmp_signed("<", right[0], left[0])
    return tuple(builder.select(less, b, a) for a, b in zip(left, right, strict=True))


@intrinsic
def _lay_out_vectors(_typing, source, first, stride, places, k, tile, lane, seen):
    def generate(context, builder, signature, args):
        source, first, stride, places, k, tile, lane, seen = args
        (source_type, _, _, places_type, _, tile_type, _, seen_type) = signature.args
        wide = ir.VectorType(ir.IntType(64), SIDE)
        scalar = context.get_value_type(tile_type.dtype)
        number = first.type
        low = _pointer(context, builder, seen_type, seen, number(0), wide)
        high = _pointer(context, builder, seen_type, seen, number(SIDE), wide)
        least, most = builder.load(low, align=8), builder.load(high, align=8)
        rows = []
        for u in range(SIDE):
            at = builder.add(first, builder.mul(stride, number(u)))
            row = builder.load(_pointer(context, builder, source_type, source, at, wide), align=8)
            least, most = _lesser(builder, least, row), _greater(builder, most, row)
            narrow = ir.VectorType(scalar, SIDE)
            rows.append(row if scalar.width == 64 else builder.trunc(row, narrow))
        builder.store(least, low, align=8)
        builder.store(most, high, align=8)
        while len(rows) > 1:
            order = list(range(2 * rows[0].type.count))
            rows = [
                _shuffled(builder, left, right, order)
                for left, right in zip(rows[::2], rows[1::2], strict=True)
            ]
        every = [u * SIDE + i for i in range(SIDE) for u in range(SIDE)]
        turned = _shuffled(builder, rows[0], rows[0], every)
        width = number(LINE // (scalar.width // 8))
        for i in range(SIDE):
            part = _shuffled(builder, turned, turned, list(range(i * SIDE, (i + 1) * SIDE)))
            place = _pointer(
                context, builder, places_type, places, builder.add(k, number(i)), number
            )
            at = builder.add(builder.mul(builder.load(place), width), lane)
            builder.store(part, _pointer(context, builder, tile_type, tile, at, part.type), align=2)
        return context.get_dummy_value()

    signature = types.void(
        source, types.intp, types.intp, places, types.intp, tile, types.intp, seen
    )
    return signature, generate


def _all_sums(builder, start, values):
    """Return the sums of start and the values over the bits of 0, 1, ..."""
    sums = [start]
    for value in values:
        sums += [builder.add(total, value) for total in sums]
    return sums


@intrinsic
def _try_patterns_vectors(_typing, tile, base, block, m, best):
    def generate(context, builder, signature, args):
        tile, base, block, m, best = args
        tile_type, base_type, _, _, best_type = signature.args
        scalar = context.get_value_type(tile_type.dtype)
        width = LINE // (scalar.width // 8)
        lanes = ir.VectorType(scalar, width)
        number = m.type
        step = builder.add(m, number(1))
        first = builder.mul(block, step)

        def load(kind, array, row):
            at = builder.mul(row, number(width))
            return builder.load(_pointer(context, builder, kind, array, at, lanes), align=LINE)

        def sums(row):
            values = [
                load(tile_type, tile, builder.add(builder.mul(step, number(bit)), row))
                for bit in range(LOW)
            ]
            return _all_sums(builder, load(base_type, base, builder.add(first, row)), values)

        zero = ir.Constant(lanes, None)
        below = [cgutils.alloca_once_value(builder, zero) for _ in range(PATTERNS)]
        # Rows by twos, the last alone twice: AVX-512 joins three words in one instruction.
        pairs = builder.lshr(step, number(1))
        with cgutils.for_range(builder, pairs) as loop:
            even = builder.shl(loop.index, number(1))
            odd = builder.add(even, number(1))
            odd = builder.select(builder.icmp_signed("<", odd, m), odd, even)
            for signs, a, b in zip(below, sums(even), sums(odd), strict=True):
                builder.store(builder.or_(builder.or_(builder.load(signs), a), b), signs)
        largest = 2 ** (scalar.width - 1) - 1
        beyond = ir.Constant(lanes, [largest] * width)
        costs = [
            builder.select(builder.icmp_signed("<", builder.load(signs), zero), beyond, cost)
            for signs, cost in zip(below, sums(m), strict=True)
        ]
        least = _pointer(context, builder, best_type, best, number(0), lanes)
        reached = _pointer(context, builder, best_type, best, number(width), lanes)
        # In pairs, so that few comparisons wait for each other; of equals the left one is kept.
        found = [(one, ir.Constant(lanes, [i] * width)) for i, one in enumerate(costs)]
        while len(found) > 1:
            found = [
                _better(builder, left, right)
                for left, right in zip(found[::2], found[1::2], strict=True)
            ]
        first = builder.mul(block, number(PATTERNS))
        first = first if scalar.width == 64 else builder.trunc(first, scalar)
        first = builder.insert_element(ir.Constant(lanes, ir.Undefined), first, cgutils.int32_t(0))
        here = builder.add(found[0][1], _shuffled(builder, first, first, [0] * width))
        before = builder.load(least, align=LINE), builder.load(reached, align=LINE)
        cost, pattern = _better(builder, before, (found[0][0], here))
        builder.store(cost, least, align=LINE)
        builder.store(pattern, reached, align=LINE)
        return context.get_dummy_value()

    return types.void(tile, base, types.intp, types.intp, best), generate


@overload(_lay_out)
def _overload_lay_out(source, first, stride, places, k, tile, lane, seen):
    return lambda source, first, stride, places, k, tile, lane, seen: _lay_out_vectors(  # type: ignore[call-arg]
        source, first, stride, places, k, tile, lane, seen
    )


@overload(_try_patterns)
def _overload_try_patterns(tile, base, block, m, best):
    return lambda tile, base, block, m, best: _try_patterns_vectors(  # type: ignore[call-arg]
        tile, base, block, m, best
    )


@njit(cache=True, nogil=True)
def _lines(count, kind):
    """Return a flat array of so many vectors that starts with a cache line."""
    size = kind.itemsize
    room = np.zeros(count * (LINE // size) + LINE // size, dtype=kind.dtype)
    first = (-room.ctypes.data % LINE) // size
    return room[first : first + count * (LINE // size)]


@njit(cache=True, nogil=True)
def _turn(source, first, K, places, tile, seen):
    """Lay out K values of each of as many programs as the tile has lanes."""
    for k in range(0, K, SIDE):
        for lane in range(0, tile.shape[1], SIDE):
            _lay_out(source, first + lane * K + k, K, places, k, tile, lane, seen)


@njit(cache=True, nogil=True)
def _places(m, n, columns):
    """Return the rows of a tile for the values of A, b and c, and one for what comes after them.

    A tile has m rows and the costs for one bit of the pattern after the other, then right-hand
    sides.
    """
    spare = (columns + 1) * (m + 1)
    places = np.full(m * n + m + n + 3 * SIDE, spare)
    of_A = places[: m * n + SIDE]
    of_b = places[m * n + SIDE : m * n + m + 2 * SIDE]
    of_c = places[m * n + m + 2 * SIDE :]
    for j in range(n):
        first = (n - 1 - j) * (m + 1)
        of_c[j] = first + m
        for r in range(m):
            of_A[r * n + j] = first + r
    for r in range(m):
        of_b[r] = columns * (m + 1) + r
    return of_A, of_b, of_c


@njit(cache=True, nogil=True)
def _reaches(limit, n, seen):
    """Tell whether n numbers in seen[0] and one in seen[1] may add up to a limit, if there is one.

    seen (2, 2, SIDE) has the least and the largest numbers.
    """
    if limit == 0:
        return False
    size, right = np.int64(0), np.int64(0)
    for i in range(SIDE):
        size = max(size, -max(seen[0, 0, i], -limit), min(seen[0, 1, i], limit))
        right = max(right, -max(seen[1, 0, i], -limit), min(seen[1, 1, i], limit))
    return n * size + right >= limit


@njit(cache=True, nogil=True)
def _solve(A, b, c, m, n, places, tile, base, best, seen, limit, pattern, objective, feasible):
    """Solve as many programs as there are results; A, b, c are flat and reach beyond the tiles.

    Return how many are feasible, or -1 where a sum may reach the limit.
    """
    none = np.iinfo(tile.dtype).max
    W = tile.shape[1]
    flat = tile.reshape(-1)
    of_A, of_b, of_c = places
    blocks, size = base.shape
    last = max(n, LOW) * size
    count = 0
    for p in range(0, pattern.size, W):
        _turn(A, p * m * n, m * n, of_A, tile, seen[0])
        _turn(b, p * m, m, of_b, tile, seen[1])
        _turn(c, p * n, n, of_c, tile, seen[0])
        # Numbers beyond it are mostly met at once; else what came of them is thrown away.
        if p == 0 and _reaches(limit, n, seen):
            return -1
        np.negative(flat[last : last + size], base[0])
        filled = 1
        for bit in range(LOW, n):
            column = flat[bit * size : bit * size + size]
            for block in range(filled):
                np.add(base[block], column, base[filled + block])
            filled *= 2
        best[0] = none
        for block in range(blocks):
            _try_patterns(tile, base, block, m, best)
        cost, number = best[0], best[1]
        own, least, known = pattern[p : p + W], objective[p : p + W], feasible[p : p + W]
        for u in range(own.size):
            known[u] = cost[u] != none
            own[u] = number[u] if cost[u] != none else 0
            least[u] = cost[u] if cost[u] != none else 0
            count += cost[u] != none
    return -1 if _reaches(limit, n, seen) else count


@njit(cache=True, nogil=True)
def enumerate_together(c, A, b, kind, limit, pattern, objective, feasible):
    """Solve programs c (B, n), A (B, m, n), b (B, m), all int64; return how many are feasible.

    pattern (B,) int16 becomes the least that reaches the optimum, bit n - j of it x_j, and
    objective (B,) int64 the optimum; both are 0 where feasible (B,) is not True. ``kind`` (0,) has
    the dtype to compute in: int16 where all sums are below 2**14, int32 below 2**30, else int64.
    With a limit, not 0, that is checked on the way: -1 is returned where a sum may reach it.
    """
    B, m, n = A.shape
    W = LINE // kind.itemsize
    columns = max(n, LOW)
    blocks = 1 << (columns - LOW)
    places = _places(m, n, columns)
    rows, sums = (columns + 1) * (m + 1) + 1, blocks * (m + 1)
    lines = _lines(rows + sums + 2, kind).reshape(-1, W)
    tile, best = lines[:rows], lines[rows + sums :]
    base = lines[rows : rows + sums].reshape(blocks, (m + 1) * W)
    seen = np.zeros((2, 2, SIDE), dtype=np.int64)
    room = places, tile, base, best, seen, limit
    A, b, c = A.reshape(-1), b.reshape(-1), c.reshape(-1)
    # Squares reach up to SIDE programs beyond a tile, so the last ones are copied.
    p = max(B - SIDE, 0) // W * W
    count = _solve(A, b, c, m, n, *room, pattern[:p], objective[:p], feasible[:p])
    if count < 0:
        return count
    few = 2 * W + SIDE
    last = np.zeros(few * (m * n + m + n) + SIDE, dtype=np.int64)
    last_A, last_b, last_c = last, last[few * m * n :], last[few * (m * n + m) :]
    last_A[: (B - p) * m * n] = A[p * m * n :]
    last_b[: (B - p) * m] = b[p * m :]
    last_c[: (B - p) * n] = c[p * n :]
    more = _solve(last_A, last_b, last_c, m, n, *room, pattern[p:], objective[p:], feasible[p:])
    return more if more < 0 else count + more


@njit(cache=True, nogil=True)
def choose_rows(second, rows, chosen):
    """Fill chosen (B, WORDS) with rows[1] where second (B,) is True and with rows[0] elsewhere."""
    for i in range(second.size):
        row = np.int64(second[i])
        for j in range(WORDS):
            chosen[i, j] = rows[row, j]
