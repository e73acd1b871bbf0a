"""Before a 0-1 program is searched: making it smaller, and multipliers for its bound.

The program is to minimise c.x over x (n,) of 0 and 1 with A.x >= b. ``reduce`` fixes variables,
drops rows and shrinks coefficients. ``multipliers`` finds y (m,) >= 0 of a good Lagrangian bound,
y.b + sum min(0, c - y.A), by subgradient steps.
"""

import numpy as np

from ..shared.compiling import inlined, kernel

FREE = -1
# The step is halved after so many iterations that did not raise the bound.
STALLS = 12


@inlined
def _fix_columns(c, A, active, value):
    """Fix free variables whose cheaper value is no worse for any active row; return how many.

    c (n,) >= 0 and A (m, n) int64, active (m,) bool; value (n,) is 0, 1 or FREE.
    """
    m, n = A.shape
    fixed = 0
    for j in range(n):
        if value[j] != FREE:
            continue
        up = 0
        down = 0
        for i in range(m):
            if active[i]:
                up += A[i, j] > 0
                down += A[i, j] < 0
        if up == 0:
            value[j] = 0
            fixed += 1
        elif down == 0 and c[j] == 0:
            value[j] = 1
            fixed += 1
    return fixed


@inlined
def _fix_by_rows(A, b, active, value):
    """Drop rows that always hold, fix variables that a row forces; return how many changes.

    A row's room is its largest possible left side less b. If it is below 0 nothing meets the row,
    and -1 is returned. A variable whose worse value takes off more than the room is fixed at its
    better one.
    """
    m, n = A.shape
    changed = 0
    for i in range(m):
        if not active[i]:
            continue
        room = -b[i]
        span = 0
        for j in range(n):
            a = A[i, j]
            if value[j] == FREE:
                room += max(a, 0)
                span += abs(a)
            elif value[j] == 1:
                room += a
        if room < 0:
            changed = -1
            break
        if room >= span:
            active[i] = False
            changed += 1
            continue
        for j in range(n):
            if value[j] == FREE and abs(A[i, j]) > room:
                value[j] = 1 if A[i, j] > 0 else 0
                changed += 1
    return changed


@inlined
def _tighten(row, size, least):
    """Shrink the coefficients of ``row . x >= least``, in place; return the new right-hand side.

    The 0-1 solutions stay the same. Each term is counted from its worse value on, so that a sum
    ``demand`` > 0 remains: no term need be larger, and all are divided by their common divisor,
    with the demand rounded up.
    """
    demand = least
    for j in range(size):
        demand -= min(row[j], 0)
    divisor = np.int64(0)
    for j in range(size):
        row[j] = min(max(row[j], -demand), demand)
        a, q = divisor, abs(row[j])
        while q:
            a, q = q, a % q
        divisor = a
    least = -(-demand // divisor)
    for j in range(size):
        row[j] //= divisor
        least += min(row[j], 0)
    return least


@kernel
def reduce(costs, rows, right, active, value, flipped, free):
    """Reduce a program in place; return how many rows and variables remain.

    These are -1 and 0 if nothing meets some row. The first elements of ``costs`` (n,), ``rows``
    (m, n), read flat, and ``right`` (m,), int64, become the program of the free variables; their
    numbers are the first of ``free`` (n,). Costs are then 0 or more, as variables with a negative
    cost are replaced by their complement, and ``flipped`` (n,) bool. ``value`` (n,) int8 receives
    the values of the variables that are fixed, in the original program, and FREE for the others.
    ``active`` (m,) bool is scratch.
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
    flat = rows.reshape(-1)
    kept = 0
    for i in range(m):
        if active[i]:
            least = right[i]
            for j in range(n):
                if value[j] == 1:
                    least -= rows[i, j]
            row = flat[kept * count :]
            for k in range(count):
                row[k] = rows[i, free[k]]
            right[kept] = _tighten(row, count, least)
            kept += 1
    for j in range(n):
        if flipped[j] and value[j] != FREE:
            value[j] = 1 - value[j]
    return kept, count


@kernel
def multipliers(c, A, b, y, x, cost, solved, iterations):
    """Replace y (m,) float64 by row multipliers of a good Lagrangian bound, by subgradient steps.

    c (n,) >= 0, A (m, n), b (m,): int64. Steps begin at y. x (n,) int8 with its cost is the
    incumbent, if ``solved``; if a cheaper Lagrangian solution is feasible, it takes its place.
    Return (cost, solved). Rows are normalised, a direction keeps half of the last one, and the step
    is halved after ``STALLS`` iterations without gain.
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
