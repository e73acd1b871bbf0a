"""Fault-tolerant DEM link by link: flows, stages and the tree (More-Wu section 2.2).

The record of the same exchanges as ``fault_tolerant_dem.py``, one trial after the other in the
order of node numbers. Legend: ``B`` trials, ``N`` nodes, ``n`` bits, ``S`` stages.
"""

import numpy as np
from numba import njit, types
from numba.extending import overload

SPLIT = 0
WHOLE = 1
INT64_MAX = np.int64(2**63 - 1)


def _even(a, b):
    """Return the pair after an exchange; of integers the higher keeps the odd unit."""
    kind = a.dtype.type
    if isinstance(a, np.floating):
        mean = kind(0.5) * a + kind(0.5) * b
        return mean, mean
    low = (a & b) + ((a ^ b) >> kind(1))
    odd = (a ^ b) & kind(1)
    return low + (odd & kind(a > b)), low + (odd & kind(b > a))


@overload(_even, inline="always")
def _choose_even(a, b):
    kind = a
    if isinstance(a, types.Float):

        def even_floats(a, b):
            mean = kind(0.5) * a + kind(0.5) * b
            return mean, mean

        return even_floats

    def even_integers(a, b):
        low = kind(kind(a & b) + kind(kind(a ^ b) >> kind(1)))
        odd = kind(kind(a ^ b) & kind(1))
        return kind(low + kind(odd & kind(a > b))), kind(low + kind(odd & kind(b > a)))

    return even_integers


def _half(t):
    """Return half of a difference, rounded towards zero for integers."""
    return t * 0.5 if isinstance(t, np.floating) else (t + np.int64(t < 0)) >> np.int64(1)


@overload(_half, inline="always")
def _choose_half(t):
    if isinstance(t, types.Float):
        return lambda t: t * 0.5
    return lambda t: (t + np.int64(t < 0)) >> 1


def _quota(total, count):
    """Return the quota of a node and how many nodes get one unit more."""
    if isinstance(total, np.floating):
        return total / count, 0
    return total // count, total % count


@overload(_quota, inline="always")
def _choose_quota(total, count):
    if isinstance(total, types.Float):
        return lambda total, count: (total / count, 0)
    return lambda total, count: (total // count, total % count)


def _added(total, amount):
    """Return the sum of units; -1, for good, once it does not fit int64."""
    if isinstance(total, np.floating):
        return total + amount
    return total + amount if 0 <= total <= INT64_MAX - amount else np.int64(-1)


@overload(_added, inline="always")
def _choose_added(total, amount):
    if isinstance(total, types.Float):
        return lambda total, amount: total + amount
    return lambda total, amount: total + amount if 0 <= total <= INT64_MAX - amount else -1


@njit(cache=True, nogil=True)
def _book(flows, moved, n, u, v, bit, amount):
    """Book an amount sent from u to v, neighbours across a bit; negative ones go back."""
    moved[0] = _added(moved[0], abs(amount))
    if flows.size:
        flows[n - 1 - bit, min(u, v)] += amount if u < v else -amount


@njit(cache=True, nogil=True)
def _level(loads, least, flows, moved, n, base, free, bit):
    """Exchange across one bit of a subcube."""
    wide = moved.dtype.type
    rest = free & ~(1 << bit)
    sub = 0
    while True:
        u = base | sub
        v = u | 1 << bit
        a = loads[u]
        p, q = _even(a, loads[v])
        amount = wide(max(a, p) - min(a, p))
        _book(flows, moved, n, u, v, bit, amount if p < a else -amount)
        loads[u] = p
        loads[v] = q
        least[u] = min(least[u], p)
        least[v] = min(least[v], q)
        if sub == rest:
            return
        sub = (sub - rest) & rest


@njit(cache=True, nogil=True)
def _repair(loads, least, flows, moved, n, base, free, bit, pegs, held, holes, low):
    """Level the pegs and holes of a stuck subcube in its donor; return its largest load.

    As in ``fault_tolerant_dem.py``: the donor is left with the stuck subcube's loads, and the
    cap, load minus holes, is ``held + pegs``. Arrays are indexed by the donor's nodes.
    """
    wide = moved.dtype.type
    zero = wide(0)
    step = 1 << bit
    sub = 0
    while True:
        a = base | sub
        d = a ^ step
        held[d] = wide(loads[d])
        pegs[d] = wide(loads[a]) - held[d]
        holes[d] = max(zero, -pegs[d])
        low[d] = held[d]
        _book(flows, moved, n, a, d, bit, pegs[d])
        loads[a] = loads[d]
        least[a] = min(least[a], loads[a])
        if sub == free:
            break
        sub = (sub - free) & free
    donor = base ^ step
    for inner in range(n):
        if not free >> inner & 1:
            continue
        rest = free & ~(1 << inner)
        sub = 0
        while True:
            u = donor | sub
            v = u | 1 << inner
            x = min(_half(pegs[u] - pegs[v]), held[u] + pegs[u])
            x = max(x, -(held[v] + pegs[v]))
            pegs[u] -= x
            pegs[v] += x
            _book(flows, moved, n, u, v, inner, x)
            if x > zero:
                low[u] = min(low[u], held[u] + pegs[u] + holes[u])
            elif x < zero:
                low[v] = min(low[v], held[v] + pegs[v] + holes[v])
            if sub == rest:
                break
            sub = (sub - rest) & rest
    largest = zero
    sub = 0
    while True:
        d = donor | sub
        load = max(zero, held[d] + pegs[d])
        largest = max(largest, load)
        kept = min(low[d], load) if holes[d] > zero else low[d]
        loads[d] = load
        least[d] = min(wide(least[d]), kept)
        if sub == free:
            return largest
        sub = (sub - free) & free


@njit(cache=True, nogil=True)
def _along_tree(loads, least, flows, moved, n, order, parent, component, starts, surplus):
    """Give every node its exact quota along the trees.

    The most loaded nodes of a component keep the extra units (ties: the lower node).
    """
    wide = moved.dtype.type
    C = starts.size - 1
    quota = np.zeros(C, dtype=moved.dtype)
    limit = np.zeros(C, dtype=moved.dtype)
    ties = np.zeros(C, dtype=np.int64)
    for c in range(C):
        nodes = order[starts[c] : starts[c + 1]]
        total = wide(0)
        for i in range(nodes.size):
            total += wide(loads[nodes[i]])
        quota[c], extra = _quota(total, nodes.size)
        # No load is above it.
        limit[c] = total
        if extra > 0:
            ranked = np.sort(loads[nodes])
            limit[c] = wide(ranked[nodes.size - extra])
            above = nodes.size - np.searchsorted(ranked, ranked[nodes.size - extra], side="right")
            ties[c] = extra - above
    for node in range(loads.size):
        c = component[node]
        load = wide(loads[node])
        target = quota[c]
        if load > limit[c]:
            target += wide(1)
        elif load == limit[c] and ties[c] > 0:
            target += wide(1)
            ties[c] -= 1
        surplus[node] = load - target
        loads[node] = target
        least[node] = min(least[node], loads[node])
    for i in range(order.size - 1, -1, -1):
        node = order[i]
        above = parent[node]
        if above == node:
            continue
        bit = 0
        while node ^ above != 1 << bit:
            bit += 1
        _book(flows, moved, n, node, above, bit, surplus[node])
        surplus[above] += surplus[node]


@njit(cache=True, nogil=True)
def carry_out(out, program, lowest, order, parent, component, starts, flows, stages, counted):
    """Run a program, then the trees where there are any, on out (B, N) in place.

    ``program`` (M, 4) is in node numbers and may be empty; ``lowest`` tells whether whole
    subcubes are balanced from the lowest bit on; ``order`` .. ``starts`` are those of
    ``spanning``, empty for no tree; ``flows`` (B, n, N) and ``stages`` (S, B, N) are filled where
    they have a size; ``counted`` (S, B) gets the units moved, -1 where they
    do not fit int64. Return (local (B,), largest load after a repair).
    """
    B, N = out.shape
    n = 0
    while 1 << n < N:
        n += 1
    S = counted.shape[0]
    kind = counted.dtype.type
    local = np.zeros(B, dtype=counted.dtype)
    largest = kind(0)
    pegs, held = np.zeros(N, dtype=counted.dtype), np.zeros(N, dtype=counted.dtype)
    holes, low = np.zeros(N, dtype=counted.dtype), np.zeros(N, dtype=counted.dtype)
    nowhere = np.zeros((0, 0), dtype=counted.dtype)
    for b in range(B):
        loads = out[b]
        least = loads.copy()
        links = flows[b] if flows.size else nowhere
        stage = 0
        for m in range(program.shape[0]):
            action, base, free, bit = program[m]
            units = counted[stage, b : b + 1]
            if action == SPLIT:
                _level(loads, least, links, units, n, base, free, bit)
            elif action == WHOLE:
                for i in range(n):
                    at = i if lowest else n - 1 - i
                    if free >> at & 1:
                        _level(loads, least, links, units, n, base, free, at)
            else:
                if stage == 0 and stages.size:
                    stages[0, b] = loads
                stage = 1
                units = counted[stage, b : b + 1]
                load = _repair(
                    loads, least, links, units, n, base, free, bit, pegs, held, holes, low
                )
                largest = max(largest, load)
        if stages.size and program.shape[0]:
            for s in range(stage, 2):
                stages[s, b] = loads
        if order.size:
            units = counted[S - 1, b : b + 1]
            _along_tree(loads, least, links, units, n, order, parent, component, starts, pegs)
            if stages.size:
                stages[S - 1, b] = loads
        for i in range(N):
            local[b] += kind(least[i])
    return local, largest
