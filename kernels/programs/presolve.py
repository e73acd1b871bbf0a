"""Before a 0-1 program is searched: making it smaller, and multipliers for its bound.

The program is to minimise c.x over x (n,) of 0 and 1 with A.x >= b. ``reduce`` fixes variables,
drops rows and shrinks coefficients. ``multipliers`` finds y (m,) >= 0 of a good Lagrangian bound,
y.b + sum min(0, c - y.A), by subgradient steps.
"""

import numpy as np
from numba import types

from ..shared.compiling import kernel
from ..shared.tracing import cond, fori, traced, while_loop
from ..shared.vectors import absolute, maximum, minimum, select

FREE = -1
# The step is halved after so many iterations without gain.
STALLS = 12


@traced(returns=types.int64)
def _fix_columns(c, A, active, value):
    """Fix free variables that every active row lets take the cheaper value; return how many."""
    m, n = A.shape

    def fix(j, fixed):
        def count_signs(i, up, down):
            a = select(active[i], A[i, j], 0)
            return up + (a > 0).astype(np.int64), down + (a < 0).astype(np.int64)

        up, down = fori(m, count_signs, 0, 0)
        one = (up > 0) & (down == 0) & (c[j] == 0)
        value[j] = select(one, 1, select(up == 0, 0, value[j]))
        return [fixed + (one | (up == 0)).astype(np.int64)]

    def visit(j, fixed):
        return cond(value[j] == FREE, lambda: fix(j, fixed), lambda: [fixed])

    [fixed] = fori(n, visit, 0)
    return fixed


@traced(returns=types.int64)
def _fix_by_rows(A, b, active, value):
    """Drop rows that always hold, fix variables that a row forces; return how many, or -1.

    A row's room is its largest possible left side less b: below 0 nothing meets it (-1), and
    a variable whose worse value costs more than the room is fixed at its better one.
    """
    m, n = A.shape

    def use(i, changed):
        def add_up(j, room, span):
            a, free = A[i, j], value[j] == FREE
            room = room + select(free, maximum(a, 0), select(value[j] == 1, a, 0))
            return room, span + select(free, absolute(a), 0)

        room, span = fori(n, add_up, -b[i], 0)

        def drop():
            active[i] = False
            return [changed + 1]

        def force():
            def fix(j, changed):
                a = A[i, j]
                forced = (value[j] == FREE) & (absolute(a) > room)
                value[j] = select(forced, (a > 0).astype(np.int8), value[j])
                return [changed + forced.astype(np.int64)]

            return fori(n, fix, changed)

        return cond(room < 0, lambda: [room * 0 - 1], lambda: cond(room >= span, drop, force))

    def visit(i, changed):
        [changed] = cond(active[i], lambda: use(i, changed), lambda: [changed])
        return i + 1, changed

    _, changed = while_loop(lambda i, changed: (i < m) & (changed >= 0), visit, m * 0, 0)
    return changed


@traced(returns=types.int64)
def _tighten(rows, i, free, size, start, least):
    """Write what remains of row ``i`` to ``start``, tightened; return its new least value.

    The row shrinks to equal 0-1 solutions and a smaller box. With every term counted from its
    worse value, it demands a sum > 0: no term need be larger than that, and all divide by their
    common divisor, the demand rounded up.
    """

    def gather(k, demand):
        a = rows[i, free[k]]
        rows[start + k] = a
        return [demand - minimum(a, 0)]

    [demand] = fori(size, gather, least)

    def shrink(k, divisor):
        a = minimum(maximum(rows[start + k], -demand), demand)
        rows[start + k] = a
        divisor, _ = while_loop(lambda _, q: q != 0, lambda d, q: (q, d % q), divisor, absolute(a))
        return [divisor]

    [divisor] = fori(size, shrink, 0)

    def divide(k, least):
        a = rows[start + k] // divisor
        rows[start + k] = a
        return [least + minimum(a, 0)]

    [least] = fori(size, divide, (demand - 1) // divisor + 1)
    return least


@kernel
def reduce(costs, rows, right, active, value, flipped, free):
    """Reduce a program in place; return how many rows and variables remain, or rows -1.

    costs (n,), rows (m, n), right (m,) int64 become, in their first elements, the program of
    the free variables, whose numbers are the first of ``free`` (n,): its costs, 0 or more, rows
    one after the other without gaps, and right-hand sides. Variables with a negative cost are
    replaced by their complement and ``flipped`` (n,). ``value`` (n,) int8 has what is decided of
    the program's own variables, -1 where free. -1 stands for a row that nothing meets. active
    (m,) is room.
    """
    m, n = rows.shape
    for j in range(n):
        value[j] = FREE
        flipped[j] = costs[j] < 0
        if flipped[j]:
            costs[j] = -costs[j]
            for i in range(m):
                right[i] -= rows[i, j]
                rows[i, j] = -rows[i, j]
    for i in range(m):
        active[i] = True
    changed = 1
    while changed > 0:
        changed = _fix_by_rows(rows, right, active, value)
        if changed >= 0:
            changed += _fix_columns(costs, rows, active, value)
    if changed < 0:
        return -1, 0
    count = 0
    for j in range(n):
        if value[j] == FREE:
            free[count] = j
            costs[count] = costs[j]
            count += 1
    remaining = 0
    for i in range(m):
        if active[i]:
            least = right[i]
            for j in range(n):
                if value[j] == 1:
                    least -= rows[i, j]
            right[remaining] = _tighten(rows, i, free, count, remaining * count, least)
            remaining += 1
    for j in range(n):
        if flipped[j] and value[j] != FREE:
            value[j] = 1 - value[j]
    return remaining, count


@kernel
def multipliers(c, A, b, y, x, cost, solved, iterations):
    """Replace y (m,) by row multipliers of a good Lagrangian bound, by subgradient steps.

    c (n,) >= 0, A (m, n), b (m,): int64. y is where the steps begin. x (n,) int8 with its cost is
    the incumbent, if ``solved``; it becomes a cheaper Lagrangian solution that is feasible, if one
    is met. Return (cost, solved). The bound is y.b + sum min(0, c - y.A); rows are normalised, a
    direction keeps half of the last one, and the step is halved after ``STALLS`` iterations
    without gain.
    """
    m, n = A.shape
    rows = np.empty((m, n))
    columns = np.empty((n, m))
    right, norm, short = np.empty(m), np.empty(m), np.empty(m)
    best_y, direction = np.empty(m), np.empty(m)
    reduced = np.empty(n)
    ceiling = 0.0
    for j in range(n):
        ceiling += float(c[j])
    if solved:
        ceiling = float(cost)
    for i in range(m):
        square = 0.0
        for j in range(n):
            square += float(A[i, j]) * float(A[i, j])
        norm[i] = np.sqrt(square)
        right[i] = b[i] / norm[i]
        for j in range(n):
            rows[i, j] = A[i, j] / norm[i]
            columns[j, i] = rows[i, j]
        y[i] *= norm[i]
        best_y[i] = y[i]
        direction[i] = 0.0
    best = -np.inf
    step = 1.0
    stalled = 0
    for _ in range(iterations):
        for j in range(n):
            reduced[j] = float(c[j])
        bound = 0.0
        for i in range(m):
            if y[i] > 0.0:
                weight = y[i]
                bound += weight * right[i]
                for j in range(n):
                    reduced[j] -= weight * rows[i, j]
        for i in range(m):
            short[i] = right[i]
        price = np.int64(0)
        for j in range(n):
            if reduced[j] < 0.0:
                bound += reduced[j]
                price += c[j]
                for i in range(m):
                    short[i] -= columns[j, i]
        feasible = not solved or price < cost
        for i in range(m):
            feasible &= short[i] <= 1e-9
        if feasible:
            # Exactly, as the rows in float64 only tell nearly.
            for i in range(m):
                reached = np.int64(0)
                for j in range(n):
                    if reduced[j] < 0.0:
                        reached += A[i, j]
                feasible &= reached >= b[i]
        if feasible:
            solved = True
            cost = price
            ceiling = float(cost)
            for j in range(n):
                x[j] = reduced[j] < 0.0
        if bound > best:
            stalled = stalled if bound < best + 1e-4 * abs(best) else 0
            best = bound
            for i in range(m):
                best_y[i] = y[i]
            if best > ceiling - 1.0 + 1e-6:
                break
        else:
            stalled += 1
            if stalled == STALLS:
                stalled = 0
                step *= 0.5
                if step < 1e-4:
                    break
        square = 0.0
        for i in range(m):
            if y[i] == 0.0 and short[i] < 0.0:
                short[i] = 0.0
            direction[i] = short[i] + 0.5 * direction[i]
            square += direction[i] * direction[i]
        if square < 1e-18:
            break
        length = step * max(ceiling - bound, 1e-3) / square
        for i in range(m):
            y[i] = max(0.0, y[i] + length * direction[i])
    for i in range(m):
        y[i] = best_y[i] / norm[i]
    return cost, solved
