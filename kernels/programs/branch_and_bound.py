"""0-1 programs by depth-first search with exact bounds (branch and bound).

The program is to minimise c.x over x (n,) of 0 and 1 with A.x >= b. Variables are decided in the
order of the size of their reduced cost, c - y.A, the largest first. Each first takes its preferred
value, 1 if that is negative, then the other, which adds the size to the bound. The last six are a
leaf: 64 patterns, one a lane, cheapest first. A word of 64 bits, ``alive``, tells which lanes are
still candidates; one comparison of a row's sums over the leaf strikes out those that violate it.

    depth 0 .. D - 1    one variable each    D = n - 6
    depth D             a leaf: 64 patterns of the last six variables

A row's ``room`` is its largest left side that is still possible, less b; what a decision takes off
it is its ``loss``. A branch ends where a room is negative, or the bound exceeds what a gain on the
incumbent may cost. Row multipliers y, as whole numbers of 1 / scale, make the bound
y.b + sum min(0, c - y.A) exact.
"""

import numpy as np
from numba import types

from ..shared.compiling import inlined, kernel
from ..shared.tracing import fori, traced
from ..shared.words import LANES, LOW_BITS, NONE, at_most, lowest_bit


@traced(returns=types.boolean)
def _decide(room, loss, d, v):
    """Set ``room[d + 1]`` to ``room[d]`` less a decision's loss; tell whether none is negative."""

    def decide(i, worst):
        remaining = room[d, i] - loss[d, v, i]
        room[d + 1, i] = remaining
        return [worst | remaining]

    (worst,) = fori(room.shape[1], decide, room.dtype.type(0))
    return worst >= 0


@inlined
def _whole_multipliers(c, A, b, y, weights):
    """Round multipliers y (m,) to whole ``weights`` (m,) of 1 / scale; return (shift, scale).

    The scale is as fine as int64 sums allow. Costs whose sum has more than 44 bits lose the lowest
    ``shift`` bits in the bound, which leaves bits to the multipliers: with 40 variables and costs
    of 17 digits 180,000 nodes are searched instead of 71 million.
    """
    m, n = A.shape
    total = np.int64(0)
    for j in range(n):
        total += c[j]
    shift = np.int64(0)
    while total >> shift >= 2**44:
        shift += 1
    unit = 1.0 / float(np.int64(1) << shift)
    size = float(total >> shift) + 1.0
    for i in range(m):
        row = abs(float(b[i]))
        for j in range(n):
            row += abs(float(A[i, j]))
        size += y[i] * unit * row + 1e-9 * row
    scale = np.int64(1)
    while scale < 2**40 and 2.0 * scale * size < 2.0**60:
        scale *= 2
    for i in range(m):
        weights[i] = np.int64(y[i] * unit * scale + 0.5) if size < 2.0**60 else 0
    return shift, scale


@inlined
def _order_variables(c, A, reduced, order, first, twin):
    """Fill ``order`` (n,) with variables by size of reduced cost, the largest first, and ``twin``.

    ``twin[k]`` tells whether the variable at place k equals the one before in cost and column.
    Equal variables stand together; ``first[j]`` is the lowest that equals j.
    """
    m, n = A.shape
    for j in range(n):
        first[j] = j
        for k in range(j):
            if first[k] == k and reduced[j] == reduced[k] and c[j] == c[k]:
                i = 0
                while i < m and A[i, j] == A[i, k]:
                    i += 1
                if i == m:
                    first[j] = k
                    break
    for j in range(n):
        size = abs(reduced[j])
        k = j
        while k > 0:
            before = order[k - 1]
            other = abs(reduced[before])
            if other > size or (other == size and first[before] <= first[j]):
                break
            order[k] = before
            k -= 1
        order[k] = j
    for k in range(n):
        twin[k] = k > 0 and first[order[k]] == first[order[k - 1]]


@inlined
def _order_leaf(c, last, pattern, leaf_cost):
    """Sort all patterns of the ``last`` six variables into ``pattern`` (64,), the cheapest first.

    ``leaf_cost`` (1, 64) receives their costs.
    """
    for number in range(LANES):
        cost = np.int64(0)
        for k in range(LOW_BITS):
            if number >> k & 1:
                cost += c[last[k]]
        lane = number
        while lane > 0 and leaf_cost[0, lane - 1] > cost:
            leaf_cost[0, lane] = leaf_cost[0, lane - 1]
            pattern[lane] = pattern[lane - 1]
            lane -= 1
        leaf_cost[0, lane] = cost
        pattern[lane] = number


@kernel
def search(c, A, b, y, rows, kind, x, cost, solved, branch, start, node_limit):
    """Search a program c (n,) >= 0, A (m, n), b (m,), int64, n >= 6, depth first.

    Return (cost, solved, least, nodes, d). x (n,) int8 and its cost are the incumbent if
    ``solved``; x is updated in place. ``nodes`` decisions are made, at most ``node_limit``. If
    these were enough, d is -1. If not, no solution yet to be met costs less than ``least``, which
    else is 0, and a call whose ``start`` is d goes on at that depth: ``branch`` (n - 5,) int64
    counts the values that the variables down to there have been given. Both are 0 at first.

    y (m,) float64 are multipliers. ``rows`` (m,) is the order in which rows are compared in leaves,
    those likeliest to fail first; a row that empties a leaf moves up. ``kind`` (0,) is of the dtype
    of rows' sums. If a variable took its other value, its twin only tries that.
    """
    m, n = A.shape
    T = kind.dtype.type
    depth = n - LOW_BITS
    weights = np.empty(m, dtype=np.int64)
    shift, scale = _whole_multipliers(c, A, b, y, weights)
    # Costs in the bound's units less what the rows' multipliers take off, and all their divisor.
    reduced = np.empty(n, dtype=np.int64)
    root = np.int64(0)
    divisor = np.int64(0)
    most_cost = np.int64(0)
    for i in range(m):
        root += weights[i] * b[i]
    for j in range(n):
        reduced[j] = scale * (c[j] >> shift)
        for i in range(m):
            reduced[j] -= weights[i] * A[i, j]
        if reduced[j] < 0:
            root += reduced[j]
        most_cost += c[j]
        a, q = c[j], divisor
        while q:
            a, q = q, a % q
        divisor = a
    if divisor == 0:
        divisor = np.int64(1)
    order = np.empty(n, dtype=np.int64)
    first = np.empty(n, dtype=np.int64)
    twin = np.empty(n, dtype=np.int64)
    _order_variables(c, A, reduced, order, first, twin)
    last = order[depth:]
    pattern = np.empty(LANES, dtype=np.int64)
    leaf_cost = np.empty((1, LANES), dtype=np.int64)
    _order_leaf(c, last, pattern, leaf_cost)

    # What the preferred (0) and the other value (1) of a variable cost, and take off a row's room;
    # and what the other value adds to the bound.
    price = np.empty((depth, 2), dtype=np.int64)
    loss = np.empty((depth, 2, m), dtype=kind.dtype)
    penalty = np.empty(depth, dtype=np.int64)
    for d in range(depth):
        j = order[d]
        penalty[d] = abs(reduced[j])
        prefers = 1 if reduced[j] < 0 else 0
        price[d, 0] = c[j] * prefers
        price[d, 1] = c[j] * (1 - prefers)
    room = np.empty((depth + 1, m), dtype=kind.dtype)
    leaf_loss = np.empty((m, LANES), dtype=kind.dtype)
    most_loss = np.empty(m, dtype=kind.dtype)
    for i in range(m):
        most = -b[i]
        for d in range(n):
            a = A[i, order[d]]
            most += max(a, 0)
            if d < depth:
                prefers = 1 if reduced[order[d]] < 0 else 0
                loss[d, 1 - prefers, i] = T(max(-a, 0))
                loss[d, prefers, i] = T(max(a, 0))
        room[0, i] = T(most)
        most = np.int64(0)
        for lane in range(LANES):
            total = np.int64(0)
            for k in range(LOW_BITS):
                a = A[i, last[k]]
                total += max(-a, 0) if pattern[lane] >> k & 1 else max(a, 0)
            leaf_loss[i, lane] = T(total)
            most = max(most, total)
        most_loss[i] = T(most)
    leaf_penalty = np.empty((1, LANES), dtype=np.int64)
    for lane in range(LANES):
        total = np.int64(0)
        for k in range(LOW_BITS):
            if (pattern[lane] >> k & 1) != (reduced[last[k]] < 0):
                total += abs(reduced[last[k]])
        leaf_penalty[0, lane] = total

    bound = np.empty(depth + 1, dtype=np.int64)
    paid = np.empty(depth + 1, dtype=np.int64)
    # What a gain may cost: in cost, and as a bound, whose costs are cut off by shift.
    gain = cost - divisor if solved else most_cost
    ceiling = scale * (gain >> shift)
    bound[0] = root
    paid[0] = 0
    for e in range(start):
        v = branch[e] - 1
        _decide(room, loss, e, v)
        bound[e + 1] = bound[e] + v * penalty[e]
        paid[e + 1] = paid[e] + price[e, v]
    nodes = np.int64(0)
    d = start if root <= ceiling else -1
    while d >= 0:
        if d == depth:
            alive = at_most(leaf_penalty, 0, ceiling - bound[d])
            alive &= at_most(leaf_cost, 0, gain - paid[d])
            for r in range(m):
                if alive == NONE:
                    if r > 1:
                        rows[r - 1], rows[r - 2] = rows[r - 2], rows[r - 1]
                    break
                i = rows[r]
                if room[d, i] < most_loss[i]:
                    alive &= at_most(leaf_loss, i, room[d, i])
            if alive != NONE:
                lane = lowest_bit(alive)
                cost = paid[d] + leaf_cost[0, lane]
                solved = True
                gain = cost - divisor
                ceiling = scale * (gain >> shift)
                for k in range(LOW_BITS):
                    x[last[k]] = pattern[lane] >> k & 1
                for e in range(depth):
                    x[order[e]] = (reduced[order[e]] < 0) != (branch[e] == 2)
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
        if _decide(room, loss, d, v):
            bound[d + 1] = bound[d] + v * penalty[d]
            paid[d + 1] = paid[d] + price[d, v]
            d += 1
            branch[d] = 1 if v == 1 and d < depth and twin[d] else 0
    complete = True
    open_bound = ceiling
    for e in range(d + 1):
        if e < depth and branch[e] < 2:
            here = bound[e] + branch[e] * penalty[e]
            if here <= ceiling:
                complete = False
                open_bound = min(open_bound, here)
    least = np.int64(0)
    if complete:
        d = -1
    else:
        # Up to a multiple of the divisor, which the highest gain is too.
        least = -(-open_bound // scale) << shift
        least += -least % divisor
    return cost, solved, least, nodes, d
