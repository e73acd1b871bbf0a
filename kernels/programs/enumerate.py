"""0-1 programs by enumeration and by depth-first search.

Both end in blocks of 64 patterns, alive or not in one 64-bit word: a row strikes out of it all
that fall short, in one comparison over vector lanes. As a loop over lanes that comparison makes a
search take 1.1 times as long and an enumeration 1.4 to 1.6; as loops the sums over lanes make an
enumeration of 5 variables take 8.6 times as long, of 9 4.8, of 12 twice, of 16 1.08.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LOW = 6
LANES = 64
NONE = np.uint64(0)
ALL = np.uint64(2**64 - 1)


def _lanes_up_to(sums, row, most):
    """Return the lanes of sums[row] (64,) that are at most ``most``, one bit a lane."""
    return np.packbits(sums[row] <= most, bitorder="little").view(np.uint64)[0]


def _fill_lanes(sums, row, v0, v1, v2, v3, v4, v5):
    """Fill sums[row] (64,) with the sums of the values over the bits of the lane number."""
    values = np.array([v0, v1, v2, v3, v4, v5], dtype=sums.dtype)
    sums[row] = (np.arange(LANES)[:, None] >> np.arange(LOW) & 1) @ values


def _lane_pointer(context, builder, array_type, array, row):
    scalar = context.get_value_type(array_type.dtype)
    lanes = ir.VectorType(scalar, LANES)
    data = context.make_array(array_type)(context, builder, array).data
    first = builder.gep(data, [builder.mul(row, ir.Constant(row.type, LANES))])
    return builder.bitcast(first, lanes.as_pointer()), scalar


def _splat(builder, value, lanes):
    one = builder.insert_element(ir.Constant(lanes, ir.Undefined), value, cgutils.int32_t(0))
    order = ir.Constant(ir.VectorType(cgutils.int32_t, lanes.count), None)
    return builder.shuffle_vector(one, ir.Constant(lanes, ir.Undefined), order)


@intrinsic
def _lanes_up_to_vector(_typing, sums, row, most):
    def generate(context, builder, signature, args):
        array, row, most = args
        pointer, _ = _lane_pointer(context, builder, signature.args[0], array, row)
        values = builder.load(pointer, align=2)
        low = builder.icmp_signed("<=", values, _splat(builder, most, values.type))
        return builder.bitcast(low, ir.IntType(LANES))

    return types.uint64(sums, types.intp, sums.dtype), generate


@intrinsic
def _fill_lanes_vector(_typing, sums, row, v0, v1, v2, v3, v4, v5):
    def generate(context, builder, signature, args):
        array, row, *values = args
        pointer, scalar = _lane_pointer(context, builder, signature.args[0], array, row)
        width = 8
        narrow = ir.VectorType(scalar, width)
        total = ir.Constant(narrow, None)
        for bit in range(3):
            mask = ir.Constant(narrow, [-(lane >> bit & 1) for lane in range(width)])
            total = builder.add(total, builder.and_(mask, _splat(builder, values[bit], narrow)))
        for value in values[3:]:
            upper = builder.add(total, _splat(builder, value, total.type))
            both = ir.Constant(ir.VectorType(cgutils.int32_t, 2 * width), list(range(2 * width)))
            total = builder.shuffle_vector(total, upper, both)
            width *= 2
        builder.store(total, pointer, align=2)
        return context.get_dummy_value()

    return types.void(sums, types.intp, *[sums.dtype] * LOW), generate


@overload(_lanes_up_to)
def _vector_up_to(sums, row, most):
    return lambda sums, row, most: _lanes_up_to_vector(sums, row, most)  # type: ignore[call-arg]


@overload(_fill_lanes)
def _vector_fill(sums, row, v0, v1, v2, v3, v4, v5):
    return lambda sums, row, v0, v1, v2, v3, v4, v5: _fill_lanes_vector(  # type: ignore[call-arg]
        sums, row, v0, v1, v2, v3, v4, v5
    )


@njit(cache=True, nogil=True)
def _lowest(word):
    """Return the number of the lowest bit set in a word that is not 0.

    The machine's instruction for it gains nothing.
    """
    bit = 0
    while not word >> np.uint64(bit) & np.uint64(1):
        bit += 1
    return bit


@njit(cache=True, nogil=True)
def _tabulate(coefficients, start, sums, base, row):
    """Fill sums[row] for the last 6 coefficients and base[row] (blocks,) for the others.

    The last coefficient belongs to the lowest bit; missing ones count 0, ``start`` is in base.
    """
    n = coefficients.size
    T = sums.dtype.type
    _fill_lanes(
        sums,
        row,
        T(coefficients[n - 1] if n > 0 else 0),
        T(coefficients[n - 2] if n > 1 else 0),
        T(coefficients[n - 3] if n > 2 else 0),
        T(coefficients[n - 4] if n > 3 else 0),
        T(coefficients[n - 5] if n > 4 else 0),
        T(coefficients[n - 6] if n > 5 else 0),
    )
    base[row, 0] = T(start)
    filled = 1
    for j in range(n - LOW - 1, -1, -1):
        for i in range(filled):
            base[row, filled + i] = T(base[row, i] + T(coefficients[j]))
        filled *= 2


@njit(cache=True, nogil=True)
def enumerate_each(c, A, b, kind):
    """Return (pattern, objective, feasible) of programs c (B, n), A (B, m, n), b (B, m), int64.

    Bit n - j of a pattern is x_j; pattern (B,) has the least that reaches the optimum. ``kind``
    (0,) has the dtype to compute in: int16 where all sums are below 2**14, int32 below 2**30, else
    int64.

    A block starts with the lanes alive that would be a gain; a row that empties a block is
    looked at earlier in the next. Rows are tabulated when they are first needed.
    """
    B, m, n = A.shape
    T = kind.dtype.type
    blocks = 1 << max(n - LOW, 0)
    # The costs are the last row.
    sums = np.empty((m + 1, LANES), dtype=kind.dtype)
    base = np.empty((m + 1, blocks), dtype=kind.dtype)
    order = np.empty(m, dtype=np.int64)
    pattern = np.zeros(B, dtype=np.int64)
    objective = np.zeros(B, dtype=np.int64)
    feasible = np.zeros(B, dtype=np.bool_)
    for p in range(B):
        _tabulate(c[p], 0, sums, base, m)
        ready = 0
        best = T(0)
        number = 0
        found = False
        for block in range(blocks):
            offset = base[m, block]
            alive = ALL
            if found:
                alive = _lanes_up_to(sums, m, T(best - offset - 1))
            for r in range(m):
                if alive == NONE:
                    if r > 1:
                        order[r - 1], order[r - 2] = order[r - 2], order[r - 1]
                    break
                if r == ready:
                    _tabulate(A[p, r], -b[p, r], sums, base, r)
                    order[r] = r
                    ready += 1
                row = order[r]
                alive &= ~_lanes_up_to(sums, row, T(-base[row, block] - 1))
            while alive != NONE:
                lane = _lowest(alive)
                best = T(sums[m, lane] + offset)
                number = block * LANES + lane
                found = True
                alive &= _lanes_up_to(sums, m, T(best - offset - 1))
        pattern[p] = number
        objective[p] = best
        feasible[p] = found
    return pattern, objective, feasible


@njit(cache=True, nogil=True)
def search(most_cost, bounds, variables, tables, leaves, rows, x, cost, found, node_limit):
    """Search one program depth first; return (x, cost, found, least, nodes, complete).

    ``least`` is a bound where the search is not complete, else 0.

    ``bounds``, ``variables``, ``tables``, ``leaves`` are those of ``branching.prepare``, and
    most_cost the sum of all costs. ``rows`` (m,) is an order of the rows for the leaves, the
    likeliest to fail first; a row that empties a leaf moves up. x (n,) int8, cost, found are an
    incumbent.

    A decision's loss is taken off the rows' room, and a negative room ends the branch. After a
    twin that took the other value only that is tried.
    """
    shift, scale, root, divisor = bounds
    order, prefers, twin = variables
    full_room, penalty, price, loss = tables
    pattern, leaf_cost, leaf_penalty, leaf_loss, most_loss = leaves
    depth = penalty.size
    m = full_room.size
    T = full_room.dtype.type
    last = order[depth:]
    room = np.empty((depth + 1, m), dtype=full_room.dtype)
    room[0] = full_room
    bound = np.empty(depth + 1, dtype=np.int64)
    paid = np.empty(depth + 1, dtype=np.int64)
    branch = np.zeros(depth + 1, dtype=np.int8)
    # What a gain may cost: in cost, and as a bound, whose costs are cut off by shift.
    gain = cost - divisor if found else most_cost
    ceiling = scale * (gain >> shift)
    bound[0] = root
    paid[0] = 0
    nodes = np.int64(0)
    d = 0 if root <= ceiling else -1
    while d >= 0:
        if d == depth:
            alive = _lanes_up_to(leaf_penalty, 0, ceiling - bound[d])
            alive &= _lanes_up_to(leaf_cost, 0, gain - paid[d])
            here = room[d]
            for r in range(m):
                if alive == NONE:
                    if r > 1:
                        rows[r - 1], rows[r - 2] = rows[r - 2], rows[r - 1]
                    break
                i = rows[r]
                if here[i] < most_loss[i]:
                    alive &= _lanes_up_to(leaf_loss, i, here[i])
            if alive != NONE:
                lane = _lowest(alive)
                cost = paid[d] + leaf_cost[0, lane]
                found = True
                gain = cost - divisor
                ceiling = scale * (gain >> shift)
                for k in range(LOW):
                    x[last[k]] = pattern[lane] >> k & 1
                for e in range(depth):
                    other = branch[e] == 2
                    x[order[e]] = prefers[e] != other
            d -= 1
            continue
        v = branch[d]
        if v == 2 or bound[d] + v * penalty[d] > ceiling:
            d -= 1
            continue
        if nodes == node_limit:
            break
        nodes += 1
        branch[d] = v + 1
        source = room[d]
        target = room[d + 1]
        taken = loss[d, v]
        worst = T(0)
        for i in range(m):
            left = T(source[i] - taken[i])
            target[i] = left
            worst = T(worst | left)
        if worst >= 0:
            bound[d + 1] = bound[d] + v * penalty[d]
            paid[d + 1] = paid[d] + price[d, v]
            d += 1
            branch[d] = 1 if v == 1 and d < depth and twin[d] else 0
    complete = True
    open_bound = ceiling
    while d >= 0:
        if d < depth and branch[d] < 2:
            here = bound[d] + branch[d] * penalty[d]
            if here <= ceiling:
                complete = False
                open_bound = min(open_bound, here)
        d -= 1
    least = np.int64(0)
    if not complete:
        # Up to a multiple of the divisor, which the highest gain is too.
        least = -(-open_bound // scale) << shift
        least += -least % divisor
    return x, cost, found, least, nodes, complete
