"""0-1 programs of at most 5 variables: all 32 patterns at once, their sums in registers alone.

Tables of sums, which pay with more variables, take twice the time here.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LOW = 5
LANES = 32
NONE = np.uint32(0)
ALL = np.uint32(2**32 - 1)


def _all_sums(start, values):
    bits = np.arange(LANES)[:, None] >> np.arange(LOW) & 1
    return start + bits @ np.array(values, dtype=np.int64)


def _meeting(start, v0, v1, v2, v3, v4):
    """Return, one bit a lane, where start and the values over the lane's bits make 0 or more."""
    enough = _all_sums(start, (v0, v1, v2, v3, v4)) >= 0
    return np.packbits(enough, bitorder="little").view(np.uint32)[0]


def _cheapest(alive, start, v0, v1, v2, v3, v4):
    """Return (least sum, lowest lane that has it) among the lanes alive, of which there are some.

    Sums are below the largest number of their dtype.
    """
    lanes = np.flatnonzero([int(alive) >> lane & 1 for lane in range(LANES)])
    sums = _all_sums(start, (v0, v1, v2, v3, v4))[lanes]
    return type(start)(sums.min()), int(lanes[sums.argmin()])


def _splat(builder, value, lanes):
    one = builder.insert_element(ir.Constant(lanes, ir.Undefined), value, cgutils.int32_t(0))
    order = ir.Constant(ir.VectorType(cgutils.int32_t, lanes.count), None)
    return builder.shuffle_vector(one, ir.Constant(lanes, ir.Undefined), order)


def _part(builder, vector, first, count):
    order = ir.VectorType(cgutils.int32_t, count)
    return builder.shuffle_vector(
        vector, vector, ir.Constant(order, list(range(first, first + count)))
    )


def _sums_over_lanes(builder, start, values):
    lanes = ir.VectorType(start.type, LANES)
    total = _splat(builder, start, lanes)
    for bit, value in enumerate(values):
        mask = ir.Constant(lanes, [-(lane >> bit & 1) for lane in range(LANES)])
        total = builder.add(total, builder.and_(mask, _splat(builder, value, lanes)))
    return total


@intrinsic
def _meeting_vector(_typing, start, v0, v1, v2, v3, v4):
    def generate(_context, builder, _signature, args):
        sums = _sums_over_lanes(builder, args[0], args[1:])
        enough = builder.icmp_signed(">=", sums, ir.Constant(sums.type, None))
        return builder.bitcast(enough, ir.IntType(LANES))

    return types.uint32(*[start] * (LOW + 1)), generate


@intrinsic
def _cheapest_vector(_typing, alive, start, v0, v1, v2, v3, v4):
    def generate(context, builder, signature, args):
        alive, start, *values = args
        sums = _sums_over_lanes(builder, start, values)
        beyond = ir.Constant(start.type, 2 ** (start.type.width - 1) - 1)
        bits = builder.bitcast(alive, ir.VectorType(ir.IntType(1), LANES))
        sums = builder.select(bits, sums, _splat(builder, beyond, sums.type))
        least, width = sums, LANES
        while width > 1:
            width //= 2
            low, high = (_part(builder, least, first, width) for first in (0, width))
            least = builder.select(builder.icmp_signed("<", low, high), low, high)
        cost = builder.extract_element(least, cgutils.int32_t(0))
        reached = builder.icmp_signed("==", sums, _splat(builder, cost, sums.type))
        lane = builder.cttz(builder.bitcast(reached, ir.IntType(LANES)), cgutils.true_bit)
        lane = builder.zext(lane, ir.IntType(64))
        return context.make_tuple(builder, signature.return_type, [cost, lane])

    return types.Tuple((start, types.int64))(alive, *[start] * (LOW + 1)), generate


@overload(_meeting)
def _overload_meeting(start, v0, v1, v2, v3, v4):
    return lambda start, v0, v1, v2, v3, v4: _meeting_vector(  # type: ignore[call-arg]
        start, v0, v1, v2, v3, v4
    )


@overload(_cheapest)
def _overload_cheapest(alive, start, v0, v1, v2, v3, v4):
    return lambda alive, start, v0, v1, v2, v3, v4: _cheapest_vector(  # type: ignore[call-arg]
        alive, start, v0, v1, v2, v3, v4
    )


@njit(cache=True, nogil=True)
def enumerate_few(c, A, b, kind):
    """Return (x, objective, feasible) of programs c (B, n), A (B, m, n), b (B, m), all int64.

    n is at most 5; the rest is as for ``enumerate_sequences`` of the programs of more variables:
    x (B, n) int8 is the least sequence, x_1 first, that reaches the optimum. ``kind`` (0,) has the
    dtype to compute in: int16 where all sums are below 2**14, int32 below 2**30, else int64.
    """
    B, m, n = A.shape
    T = kind.dtype.type
    x = np.zeros((B, n), dtype=np.int8)
    objective = np.zeros(B, dtype=np.int64)
    feasible = np.zeros(B, dtype=np.bool_)
    for p in range(B):
        alive = ALL
        for r in range(m):
            row = A[p, r]
            meeting = _meeting(
                T(-b[p, r]),
                T(row[n - 1] if n > 0 else 0),
                T(row[n - 2] if n > 1 else 0),
                T(row[n - 3] if n > 2 else 0),
                T(row[n - 4] if n > 3 else 0),
                T(row[n - 5] if n > 4 else 0),
            )
            alive = np.uint32(alive & meeting)
        if alive == NONE:
            continue
        row = c[p]
        cost, number = _cheapest(
            alive,
            T(0),
            T(row[n - 1] if n > 0 else 0),
            T(row[n - 2] if n > 1 else 0),
            T(row[n - 3] if n > 2 else 0),
            T(row[n - 4] if n > 3 else 0),
            T(row[n - 5] if n > 4 else 0),
        )
        feasible[p] = True
        objective[p] = cost
        for j in range(n):
            x[p, j] = number >> (n - 1 - j) & 1
    return x, objective, feasible
