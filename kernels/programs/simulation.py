"""Branch and bound on a simulated hypercube: all processors make one test a unit (More-Wu 4).

Processors hold queues of items: rows lo..hi-1 of a sequence, and its cost test while still to be
made. Queues are doubly linked lists in one pool; the items of one sequence are chained, so
that a violated row strikes them out wherever they are.
"""

import numpy as np
from numba import njit

# Kinds of a plan's pairs.
EXCHANGE, REGISTER, SHIFT, REPAY = 0, 1, 2, 3
# When to balance.
NEVER, IDLE, ALWAYS, PERIOD = 0, 1, 2, 3
# Columns of the pool of items.
SEQUENCE, LO, HI, COST, HOLDER, NEXT, BEFORE, CHAIN = 0, 1, 2, 3, 4, 5, 6, 7
COLUMNS = 8
NIL = -1


@njit(cache=True, nogil=True)
def _sums(coefficients, out):
    """Fill out with the sums over all patterns of the coefficients, the last one the lowest bit."""
    out[0] = 0
    n = coefficients.size
    for bit in range(n):
        value = coefficients[n - 1 - bit]
        half = 1 << bit
        for i in range(half):
            out[half + i] = out[i] + value


@njit(cache=True, nogil=True)
def _tests(pool, item):
    return pool[item, HI] - pool[item, LO] + pool[item, COST]


@njit(cache=True, nogil=True)
def _append(pool, ends, p, item):
    """Put an item at the tail of a queue; ends (P, 2) holds first and last of each."""
    last = ends[p, 1]
    pool[item, HOLDER] = p
    pool[item, BEFORE] = last
    pool[item, NEXT] = NIL
    if last == NIL:
        ends[p, 0] = item
    else:
        pool[last, NEXT] = item
    ends[p, 1] = item


@njit(cache=True, nogil=True)
def _unlink(pool, ends, item):
    p = pool[item, HOLDER]
    before = pool[item, BEFORE]
    after = pool[item, NEXT]
    if before == NIL:
        ends[p, 0] = after
    else:
        pool[before, NEXT] = after
    if after == NIL:
        ends[p, 1] = before
    else:
        pool[after, BEFORE] = before
    pool[item, HOLDER] = NIL


@njit(cache=True, nogil=True)
def _grown(pool, spare):
    """Return a pool twice as large; spare[0] heads the list of unused items."""
    size = pool.shape[0]
    larger = np.empty((2 * size, COLUMNS), dtype=np.int64)
    larger[:size] = pool
    for item in range(size, 2 * size):
        larger[item, NEXT] = item + 1 if item + 1 < 2 * size else spare[0]
    spare[0] = size
    return larger


@njit(cache=True, nogil=True)
def _take(pool, spare, chain, x, lo, hi, cost):
    """Take an unused item for a part of a sequence."""
    item = spare[0]
    spare[0] = pool[item, NEXT]
    pool[item, SEQUENCE] = x
    pool[item, LO] = lo
    pool[item, HI] = hi
    pool[item, COST] = cost
    pool[item, CHAIN] = chain[x]
    chain[x] = item
    return item


@njit(cache=True, nogil=True)
def _drop(pool, ends, spare, chain, load, x):
    """Strike out all items of a sequence that has ended."""
    item = chain[x]
    while item != NIL:
        p = pool[item, HOLDER]
        if p != NIL:
            load[p] -= _tests(pool, item)
            _unlink(pool, ends, item)
        pool[item, NEXT] = spare[0]
        spare[0] = item
        item = pool[item, CHAIN]
    chain[x] = NIL


@njit(cache=True, nogil=True)
def _send(pool, ends, spare, chain, load, traffic, by_row, source, target, amount):
    """Move tests from the tail of a queue to another's; return (tests moved, pool)."""
    left = amount
    while left > 0 and ends[source, 1] != NIL:
        item = ends[source, 1]
        tests = _tests(pool, item)
        if tests <= left:
            _unlink(pool, ends, item)
            _append(pool, ends, target, item)
            left -= tests
        elif by_row:
            if spare[0] == NIL:
                pool = _grown(pool, spare)
            hi = pool[item, HI]
            part = _take(pool, spare, chain, pool[item, SEQUENCE], hi - left, hi, 0)
            pool[item, HI] = hi - left
            _append(pool, ends, target, part)
            left = 0
        else:
            break
    sent = amount - left
    load[source] -= sent
    load[target] += sent
    traffic[source] += sent
    traffic[target] += sent
    return sent, pool


@njit(cache=True, nogil=True)
def _balance(pool, ends, spare, chain, load, traffic, pegs, holes, by_row, pairs):
    """Carry the plan's pairs (K, 3) out on items; return (tests moved times links, pool).

    Where items are not split, less than a pair asks for may move; pegs follow what moved.
    """
    moved = 0
    traffic[:] = 0
    for k in range(pairs.shape[0]):
        kind, u, v = pairs[k, 0], pairs[k, 1], pairs[k, 2]
        amount = 0
        if kind == EXCHANGE:
            if load[u] < load[v]:
                u, v = v, u
            amount = (load[u] - load[v]) // 2
        elif kind == REGISTER:
            pegs[v] = load[u] - load[v]
            holes[v] = max(0, -pegs[v])
            amount = max(0, pegs[v])
        elif kind == SHIFT:
            if pegs[u] < pegs[v]:
                u, v = v, u
            amount = min((pegs[u] - pegs[v]) // 2, load[u] - holes[u])
        else:
            u, v = v, u
            amount = holes[u]
        if amount == 0:
            continue
        sent, pool = _send(pool, ends, spare, chain, load, traffic, by_row, u, v, amount)
        moved += sent
        if kind == REGISTER:
            pegs[v] = sent
        elif kind == SHIFT:
            pegs[u] -= sent
            pegs[v] += sent
    return moved, pool


@njit(cache=True, nogil=True)
def simulate(c, A, b, dim, pairs, trigger, period, round_cost, unit_cost, by_row, central):
    """Simulate programs c (B, n), A (B, m, n), b (B, m), int64, on 2**dim processors.

    pairs (K, 3) is the plan between nodes; trigger one of NEVER, IDLE, ALWAYS, PERIOD. Returns
    (time (B,), units (B,), work (B, P), moved (B,), balances (B,), argmin (B,)); argmin is the
    incumbent at the end, -1 where nothing is feasible.
    """
    B, m, n = A.shape
    P = 1 << dim
    lower = n // 2
    upper = n - lower
    low_mask = (1 << lower) - 1
    size = 1 << n
    time = np.zeros(B)
    units = np.zeros(B, dtype=np.int64)
    work = np.zeros((B, P), dtype=np.int64)
    moved = np.zeros(B, dtype=np.int64)
    balances = np.zeros(B, dtype=np.int64)
    argmin = np.full(B, -1, dtype=np.int64)
    # The costs are the last row.
    high = np.empty((m + 1, 1 << upper), dtype=np.int64)
    low = np.empty((m + 1, 1 << lower), dtype=np.int64)
    pool = np.empty((2 * size, COLUMNS), dtype=np.int64)
    spare = np.empty(1, dtype=np.int64)
    chain = np.empty(size, dtype=np.int64)
    passed = np.empty(size, dtype=np.int64)
    ends = np.empty((P, 2), dtype=np.int64)
    load = np.empty(P, dtype=np.int64)
    traffic = np.empty(P, dtype=np.int64)
    pegs = np.empty(P, dtype=np.int64)
    holes = np.empty(P, dtype=np.int64)
    ended = np.empty(P, dtype=np.int64)
    for problem in range(B):
        _sums(c[problem, :upper], high[m])
        _sums(c[problem, upper:], low[m])
        for row in range(m):
            _sums(A[problem, row, :upper], high[row])
            _sums(A[problem, row, upper:], low[row])
        for item in range(pool.shape[0]):
            pool[item, NEXT] = item + 1
        pool[pool.shape[0] - 1, NEXT] = NIL
        spare[0] = 0
        ends[:] = NIL
        chain[:] = NIL
        passed[:] = 0
        load[:] = 0
        waiting = 0
        if not central:
            for x in range(size):
                item = _take(pool, spare, chain, x, 0, m, 1)
                _append(pool, ends, x & (P - 1), item)
                load[x & (P - 1)] += m + 1
            waiting = size
        best = np.int64(0)
        arg = np.int64(-1)
        clock = 0.0
        unit = 0
        while True:
            least = m + 1
            most = 0
            for p in range(P):
                if load[p] == 0 and waiting < size:
                    item = _take(pool, spare, chain, waiting, 0, m, 1)
                    _append(pool, ends, p, item)
                    load[p] = m + 1
                    waiting += 1
                least = min(least, load[p])
                most = max(most, load[p])
            if most == 0:
                break
            due = trigger == ALWAYS or (trigger != NEVER and unit % period == 0)
            if due and (trigger != IDLE or (least == 0 and most > 1)):
                sent, pool = _balance(
                    pool, ends, spare, chain, load, traffic, pegs, holes, by_row, pairs
                )
                moved[problem] += sent
                balances[problem] += 1
                clock += round_cost + unit_cost * traffic.max()
            dead = 0
            new_best = best
            new_arg = arg
            for p in range(P):
                item = ends[p, 0]
                if item == NIL:
                    continue
                work[problem, p] += 1
                x = pool[item, SEQUENCE]
                row = m if pool[item, COST] else pool[item, LO]
                total = high[row, x >> lower] + low[row, x & low_mask]
                fails = total < b[problem, row] if row < m else arg >= 0 and total >= best
                if fails:
                    ended[dead] = x
                    dead += 1
                    continue
                if row == m:
                    pool[item, COST] = 0
                else:
                    pool[item, LO] += 1
                load[p] -= 1
                if _tests(pool, item) == 0:
                    _unlink(pool, ends, item)
                passed[x] += 1
                if passed[x] == m + 1:
                    cost = high[m, x >> lower] + low[m, x & low_mask]
                    if new_arg < 0 or cost < new_best or (cost == new_best and x < new_arg):
                        new_best = cost
                        new_arg = x
                    ended[dead] = x
                    dead += 1
            for k in range(dead):
                _drop(pool, ends, spare, chain, load, ended[k])
            best = new_best
            arg = new_arg
            clock += 1.0
            unit += 1
        time[problem] = clock
        units[problem] = unit
        argmin[problem] = arg
    return time, units, work, moved, balances, argmin
