"""0-1 programs by enumeration and by depth-first search.

Both end in blocks of 64 patterns, alive or not in one 64-bit word: a row strikes out of it all
that fall short, in one comparison over vector lanes.
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


def _lowest(word):
    """Return the number of the lowest bit set in a word that is not 0."""
    return (int(word) & -int(word)).bit_length() - 1


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
        values = builder.load(pointer, align=4)
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
        builder.store(total, pointer, align=4)
        return context.get_dummy_value()

    return types.void(sums, types.intp, *[sums.dtype] * LOW), generate


@intrinsic
def _lowest_vector(_typing, word):
    def generate(context, builder, signature, args):
        return builder.cttz(args[0], cgutils.true_bit)

    return types.int64(types.uint64), generate


@overload(_lanes_up_to)
def _vector_up_to(sums, row, most):
    return lambda sums, row, most: _lanes_up_to_vector(sums, row, most)  # type: ignore[call-arg]


@overload(_fill_lanes)
def _vector_fill(sums, row, v0, v1, v2, v3, v4, v5):
    return lambda sums, row, v0, v1, v2, v3, v4, v5: _fill_lanes_vector(  # type: ignore[call-arg]
        sums, row, v0, v1, v2, v3, v4, v5
    )


@overload(_lowest)
def _vector_lowest(word):
    return lambda word: _lowest_vector(word)  # type: ignore[call-arg]


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
def enumerate_sequences(c, A, b, kind):
    """Return (x, objective, feasible) of programs c (B, n), A (B, m, n), b (B, m), all int64.

    x (B,) is the least sequence number that reaches the optimum, x_1 its most significant bit.
    ``kind`` (0,) has the dtype to compute in: int32 where all sums fit, else int64.

    A block starts with the lanes alive that would be a gain; a row that empties a block is
    looked at earlier in the next.
    """
    B, m, n = A.shape
    T = kind.dtype.type
    blocks = 1 << max(n - LOW, 0)
    # The costs are the last row.
    sums = np.empty((m + 1, LANES), dtype=kind.dtype)
    base = np.empty((m + 1, blocks), dtype=kind.dtype)
    order = np.empty(m, dtype=np.int64)
    x = np.zeros(B, dtype=np.int64)
    objective = np.zeros(B, dtype=np.int64)
    feasible = np.zeros(B, dtype=np.bool_)
    for p in range(B):
        _tabulate(c[p], 0, sums, base, m)
        for row in range(m):
            _tabulate(A[p, row], -b[p, row], sums, base, row)
            order[row] = row
        best = T(0)
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
                row = order[r]
                alive &= ~_lanes_up_to(sums, row, T(-base[row, block] - 1))
            while alive != NONE:
                lane = _lowest(alive)
                best = T(sums[m, lane] + offset)
                x[p] = block * LANES + lane
                found = True
                alive &= _lanes_up_to(sums, m, T(best - offset - 1))
        objective[p] = best
        feasible[p] = found
    return x, objective, feasible


@njit(cache=True, nogil=True)
def _scale(c, A, b, y):
    """Return (scale, whole multipliers): as fine as int64 sums allow, rounded from y."""
    m, n = A.shape
    size = float(c.sum()) + 1.0
    for i in range(m):
        row = abs(float(b[i]))
        for j in range(n):
            row += abs(float(A[i, j]))
        size += y[i] * row + 1e-9 * row
    scale = np.int64(1)
    while scale < 2**40 and 2.0 * scale * size < 2.0**60:
        scale *= 2
    whole = np.zeros(m, dtype=np.int64)
    if size < 2.0**60:
        for i in range(m):
            whole[i] = np.int64(y[i] * scale + 0.5)
    return scale, whole


@njit(cache=True, nogil=True)
def _leaf_patterns(c):
    """Return (pattern of each lane, costs (1, 64)): all patterns of the last 6, cheapest first."""
    costs = np.empty(LANES, dtype=np.int64)
    for lane in range(LANES):
        costs[lane] = 0
        for k in range(LOW):
            if lane >> k & 1:
                costs[lane] += c[k]
    pattern = np.argsort(costs)
    return pattern, costs[pattern].reshape(1, LANES)


@njit(cache=True, nogil=True)
def _order(c, A, reduced):
    """Return (variables by size of reduced cost, whether each is the twin of the one before it).

    Twins, equal in cost and column, stand together.
    """
    m, n = A.shape
    first = np.arange(n)
    for j in range(n):
        for k in range(j):
            if first[k] == k and reduced[j] == reduced[k] and c[j] == c[k]:
                i = 0
                while i < m and A[i, j] == A[i, k]:
                    i += 1
                if i == m:
                    first[j] = k
                    break
    order = np.arange(n)
    for j in range(1, n):
        moving = order[j]
        size = abs(reduced[moving])
        k = j
        while k > 0:
            before = order[k - 1]
            other = abs(reduced[before])
            if other > size or (other == size and first[before] <= first[moving]):
                break
            order[k] = before
            k -= 1
        order[k] = moving
    twin = np.zeros(n, dtype=np.bool_)
    for k in range(1, n):
        twin[k] = first[order[k]] == first[order[k - 1]]
    return order, twin


@njit(cache=True, nogil=True)
def search(c, A, b, y, x, cost, found, node_limit, kind):
    """Search one program depth first; return (x, cost, found, bound, nodes, complete).

    c (n,) >= 0, A (m, n), b (m,): int64, 6 <= n <= 62; y (m,) multipliers; x, cost, found an
    incumbent; ``kind`` (0,) the dtype of a row's sums.

    The multipliers, rounded to whole numbers, give an exact bound y.b + sum min(0, c - y.A) in
    units of 1/scale. Variables go by the size of their reduced cost, each to its preferred value
    first: the other adds that size to the bound; after a twin that took the other value only that
    is tried. A row's room is its largest possible left
    side less b; a decision's loss is taken off, and a negative room ends the branch. The last 6
    variables are a leaf.
    """
    m, n = A.shape
    T = kind.dtype.type
    scale, weights = _scale(c, A, b, y)
    reduced = scale * c
    root = np.int64(0)
    for i in range(m):
        root += weights[i] * b[i]
        for j in range(n):
            reduced[j] -= weights[i] * A[i, j]
    divisor = np.int64(0)
    for j in range(n):
        root += min(reduced[j], 0)
        a, q = c[j], divisor
        while q:
            a, q = q, a % q
        divisor = a
    divisor = max(divisor, np.int64(1))
    order, twin = _order(c, A, reduced)
    depth = n - LOW

    room = np.empty((depth + 1, m), dtype=kind.dtype)
    loss = np.empty((depth, 2, m), dtype=kind.dtype)
    penalty = np.empty(depth, dtype=np.int64)
    price = np.empty((depth, 2), dtype=np.int64)
    for i in range(m):
        most = -b[i]
        for j in range(n):
            most += max(A[i, j], 0)
        room[0, i] = T(most)
    for d in range(depth):
        j = order[d]
        prefer = 1 if reduced[j] < 0 else 0
        penalty[d] = abs(reduced[j])
        price[d, 0] = c[j] * prefer
        price[d, 1] = c[j] * (1 - prefer)
        for i in range(m):
            loss[d, 1 - prefer, i] = T(max(-A[i, j], 0))
            loss[d, prefer, i] = T(max(A[i, j], 0))

    last = order[depth:]
    pattern, leaf_cost = _leaf_patterns(c[last])
    leaf_penalty = np.empty((1, LANES), dtype=np.int64)
    leaf_loss = np.empty((m, LANES), dtype=kind.dtype)
    most_loss = np.empty(m, dtype=kind.dtype)
    rows = np.argsort(-y)
    for lane in range(LANES):
        total = np.int64(0)
        for k in range(LOW):
            chosen = pattern[lane] >> k & 1
            if chosen != (reduced[last[k]] < 0):
                total += abs(reduced[last[k]])
        leaf_penalty[0, lane] = total
    for i in range(m):
        most = np.int64(0)
        for lane in range(LANES):
            total = np.int64(0)
            for k in range(LOW):
                a = A[i, last[k]]
                total += max(-a, 0) if pattern[lane] >> k & 1 else max(a, 0)
            leaf_loss[i, lane] = T(total)
            most = max(most, total)
        most_loss[i] = T(most)

    bound = np.empty(depth + 1, dtype=np.int64)
    paid = np.empty(depth + 1, dtype=np.int64)
    branch = np.zeros(depth + 1, dtype=np.int8)
    # What a gain may cost: in cost, and as a bound.
    gain = cost - divisor if found else c.sum()
    ceiling = scale * gain
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
                ceiling = scale * gain
                for k in range(LOW):
                    x[last[k]] = pattern[lane] >> k & 1
                for e in range(depth):
                    other = branch[e] == 2
                    x[order[e]] = (reduced[order[e]] < 0) != other
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
    open_bound = ceiling + 1
    complete = d < 0
    while d >= 0:
        if d < depth and branch[d] < 2:
            open_bound = min(open_bound, bound[d] + branch[d] * penalty[d])
        d -= 1
    least = cost if found else gain + divisor
    if not complete and open_bound <= ceiling:
        least = -(-open_bound // scale)
        least += -least % divisor
    return x, cost, found, least, nodes, complete
