"""The layout of a depth-first search: exact bounds, order of variables, tables of the leaves."""

import numpy as np
from numba import njit

LOW = 6
LANES = 64


@njit(cache=True, nogil=True)
def _scale(c, A, b, y):
    """Return (shift, scale, whole multipliers), rounded from y: as fine as int64 sums allow.

    Costs of more than 44 bits are cut to that many, which leaves room for fine multipliers: of
    40 variables with costs of 17 digits 180,000 nodes are searched instead of 71 million.
    """
    m, n = A.shape
    shift = np.int64(0)
    while c.sum() >> shift >= 2**44:
        shift += 1
    unit = 1.0 / float(np.int64(1) << shift)
    size = float(c.sum() >> shift) + 1.0
    for i in range(m):
        row = abs(float(b[i]))
        for j in range(n):
            row += abs(float(A[i, j]))
        size += y[i] * unit * row + 1e-9 * row
    scale = np.int64(1)
    while scale < 2**40 and 2.0 * scale * size < 2.0**60:
        scale *= 2
    whole = np.zeros(m, dtype=np.int64)
    if size < 2.0**60:
        for i in range(m):
            whole[i] = np.int64(y[i] * unit * scale + 0.5)
    return shift, scale, whole


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
def prepare(c, A, b, y, kind):
    """Lay out the depth-first search of one program of at least 6 variables.

    c (n,) >= 0, A (m, n), b (m,): int64; y (m,) float64 multipliers; ``kind`` (0,) the dtype of a
    row's sums. Rounded to whole numbers, the multipliers give an exact bound
    y.b + sum min(0, c - y.A) in units of 1/scale. Variables go by the size of their reduced cost,
    each to its preferred value first: the other adds that size to the bound. The last 6 are a
    leaf of 64 patterns, cheapest first. D = n - 6.

    Returns
    -------
    shift, scale, root, divisor : the bound's unit and value at the root; costs are multiples of
        divisor
    order (n,), prefers (n,), twin (n,) : variables, preferred values, same as the one before
    room (m,) : each row's largest left side less b
    penalty (D,), price (D, 2), loss (D, 2, m) : what the preferred and the other value take off
    pattern (64,), leaf_cost (1, 64), leaf_penalty (1, 64), leaf_loss (m, 64), most_loss (m,)
    """
    m, n = A.shape
    T = kind.dtype.type
    shift, scale, weights = _scale(c, A, b, y)
    reduced = scale * (c >> shift)
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

    prefers = reduced[order] < 0
    room = np.empty(m, dtype=kind.dtype)
    loss = np.empty((depth, 2, m), dtype=kind.dtype)
    penalty = np.empty(depth, dtype=np.int64)
    price = np.empty((depth, 2), dtype=np.int64)
    for i in range(m):
        most = -b[i]
        for j in range(n):
            most += max(A[i, j], 0)
        room[i] = T(most)
    for d in range(depth):
        j = order[d]
        prefer = 1 if prefers[d] else 0
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
    return (
        (shift, scale, root, divisor),
        (order, prefers, twin),
        (room, penalty, price, loss),
        (pattern, leaf_cost, leaf_penalty, leaf_loss, most_loss),
    )
