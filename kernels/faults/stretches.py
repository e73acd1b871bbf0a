"""A plan of fault-tolerant DEM carried out on one network after the other (More-Wu section 2.2).

For few or large cubes; many small ones go side by side (``fault_tiles.py``). The vectors are
stretches of positions (``positions.py``): the dimension split first is the outermost bit of a
position, so the plan, which goes depth first, stays inside ever smaller stretches of memory.

Legend: ``B`` trials, ``N`` nodes, ``M`` rows of the plan's program.
"""

import numpy as np
from numba import njit, types
from numba.extending import overload

SPLIT = 0
WHOLE = 1
# Positions balanced in cache before the next ones are touched: 2**12, and inside those 2**5. A
# 19-cube takes 1.14 times as long with 2**13, 1.02 with 2**10. The inner ones make no difference
# in time, only in the order in which floats are added up (``fault_passes.py`` has it as well).
OUTER = 12
INNER = 5


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


@njit(cache=True, nogil=True)
def _exchange(A, B):
    for u in range(A.size):
        A[u], B[u] = _even(A[u], B[u])


@njit(cache=True, nogil=True)
def _exchange_twice(A, B, C, D):
    """Two dimensions in one pass: A with C and B with D, then A with B and C with D.

    One by one they take 1.2 times as long on the 23-cube, 1.02 on those in cache.
    """
    for u in range(A.size):
        a, c = _even(A[u], C[u])
        b, d = _even(B[u], D[u])
        A[u], B[u] = _even(a, b)
        C[u], D[u] = _even(c, d)


@njit(cache=True, nogil=True)
def _booked_exchange(A, B, least_a, least_b, moved):
    """Exchange, lowering the least loads and adding to the units moved."""
    wide = moved.dtype.type
    units = moved[0]
    for u in range(A.size):
        a = A[u]
        p, q = _even(a, B[u])
        units += wide(max(a, p) - min(a, p))
        A[u], B[u] = p, q
        least_a[u] = min(least_a[u], p)
        least_b[u] = min(least_b[u], q)
    moved[0] = units


@njit(cache=True, nogil=True)
def _apart(loads, least, moved, at, run, h, booked):
    """Exchange the stretch of ``run`` positions at ``at`` with the one ``h`` positions on."""
    A, B = loads[at : at + run], loads[at + h : at + h + run]
    if booked:
        _booked_exchange(A, B, least[at : at + run], least[at + h : at + h + run], moved)
    else:
        _exchange(A, B)


@njit(cache=True, nogil=True)
def _passes(loads, least, moved, at, size, h, last, booked):
    """Dimensions of a stretch, ``h`` positions apart down to ``last``, two a pass if possible."""
    while h > last and not booked:
        q = h // 2
        for o in range(at, at + size, 4 * q):
            _exchange_twice(
                loads[o : o + q],
                loads[o + q : o + 2 * q],
                loads[o + 2 * q : o + 3 * q],
                loads[o + 3 * q : o + 4 * q],
            )
        h //= 4
    while h >= last:
        for o in range(at, at + size, 2 * h):
            _apart(loads, least, moved, o, h, h, booked)
        h //= 2


@njit(cache=True, nogil=True)
def _rotate(S, T):
    """Write the outermost dimension's pairs of S side by side in T: the next one is outermost."""
    h = S.size // 2
    A, B = S[:h], S[h:]
    for u in range(h):
        T[2 * u], T[2 * u + 1] = _even(A[u], B[u])


@njit(cache=True, nogil=True)
def _booked_rotate(S, T, least_s, least_t, moved):
    wide = moved.dtype.type
    h = S.size // 2
    A, B = S[:h], S[h:]
    least_a, least_b = least_s[:h], least_s[h:]
    units = moved[0]
    for u in range(h):
        a = A[u]
        p, q = _even(a, B[u])
        units += wide(max(a, p) - min(a, p))
        T[2 * u], T[2 * u + 1] = p, q
        least_t[2 * u] = min(least_a[u], p)
        least_t[2 * u + 1] = min(least_b[u], q)
    moved[0] = units


@njit(cache=True, nogil=True)
def _rotating_passes(S, T, least_s, least_t, moved, r, booked):
    """All ``r`` dimensions of the ``2**r`` elements of S, outermost first; T is scratch.

    No stride is ever shorter than half the block, which vectors like: 4096 elements take a
    third of the time they take with strides down to 1.
    """
    for step in range(r):
        if booked and step % 2 == 0:
            _booked_rotate(S, T, least_s, least_t, moved)
        elif booked:
            _booked_rotate(T, S, least_t, least_s, moved)
        elif step % 2 == 0:
            _rotate(S, T)
        else:
            _rotate(T, S)
    if r % 2:
        S[:] = T
        least_s[:] = least_t


@njit(cache=True, nogil=True)
def _block(loads, least, moved, spare, at, r, booked):
    """DEM of the ``2**r`` positions from ``at`` on, the outermost dimension first."""
    size = 1 << r
    h = size // 2
    outer = 1 << OUTER
    inner = 1 << INNER
    if h >= outer:
        _passes(loads, least, moved, at, size, h, outer, booked)
        h = outer // 2
    for o in range(at, at + size, 2 * h):
        if spare.size and h > 4:
            end = o + 2 * h
            k = min(r, OUTER)
            if booked:
                T, low = spare[0, : 2 * h], spare[1, : 2 * h]
                _rotating_passes(loads[o:end], T, least[o:end], low, moved, k, True)
            else:
                T = spare[0, : 2 * h]
                _rotating_passes(loads[o:end], T, least, least, moved, k, False)
        elif h >= inner:
            _passes(loads, least, moved, o, 2 * h, h, inner, booked)
            for i in range(o, o + 2 * h, inner):
                _passes(loads, least, moved, i, inner, inner // 2, 1, booked)
        else:
            _passes(loads, least, moved, o, 2 * h, h, 1, booked)


@njit(cache=True, nogil=True)
def _trailing(free):
    """Return how many of the lowest bits of the mask are set without a gap."""
    r = 0
    while free >> r & 1:
        r += 1
    return r


@njit(cache=True, nogil=True)
def _split(loads, least, moved, base, free, bit, booked):
    """Exchange across one bit of a subcube: stretches of its lowest bits in one go."""
    r = _trailing(free)
    h = 1 << bit
    outer = (free >> r << r) & ~h
    sub = 0
    while True:
        at = base | sub
        if bit < r:
            _passes(loads, least, moved, at, 1 << r, h, h, booked)
        else:
            _apart(loads, least, moved, at, 1 << r, h, booked)
        if sub == outer:
            return
        sub = (sub - outer) & outer


@njit(cache=True, nogil=True)
def _whole(loads, least, moved, spare, base, free, booked):
    """DEM of a fault-free subcube: bits above a gap one by one, the stretches below as blocks."""
    r = _trailing(free)
    outer = free >> r << r
    for bit in range(63):
        place = 62 - bit
        if outer >> place & 1:
            _split(loads, least, moved, base, free, place, booked)
    if r == 0:
        return
    sub = 0
    while True:
        _block(loads, least, moved, spare, base | sub, r, booked)
        if sub == outer:
            return
        sub = (sub - outer) & outer


@njit(cache=True, nogil=True)
def _register(loads, least, moved, base, free, bit, booked, scratch):
    """Take the loads of stuck nodes as pegs above their donors', and leave them the donors'.

    Return how many there are.
    """
    pegs, held, holes, low = scratch[0], scratch[1], scratch[2], scratch[3]
    wide = pegs.dtype.type
    units = moved[0]
    i = sub = 0
    while True:
        a = base | sub
        other = loads[a ^ (1 << bit)]
        held[i] = wide(other)
        pegs[i] = wide(loads[a]) - held[i]
        loads[a] = other
        if booked:
            holes[i] = max(wide(0), -pegs[i])
            low[i] = held[i]
            units += abs(pegs[i])
            least[a] = min(least[a], other)
        i += 1
        if sub == free:
            moved[0] = units
            return i
        sub = (sub - free) & free


@njit(cache=True, nogil=True)
def _shift(X, Y, held_x, held_y):
    """Level pegs; a node gives at most its load minus its holes, which is held + pegs."""
    for u in range(X.size):
        x = min(_half(X[u] - Y[u]), held_x[u] + X[u])
        x = max(x, -(held_y[u] + Y[u]))
        X[u] -= x
        Y[u] += x


@njit(cache=True, nogil=True)
def _booked_shift(X, Y, held_x, held_y, holes_x, holes_y, low_x, low_y, moved):
    units = moved[0]
    for u in range(X.size):
        x = min(_half(X[u] - Y[u]), held_x[u] + X[u])
        x = max(x, -(held_y[u] + Y[u]))
        X[u] -= x
        Y[u] += x
        units += abs(x)
        low_x[u] = min(low_x[u], held_x[u] + X[u] + holes_x[u])
        low_y[u] = min(low_y[u], held_y[u] + Y[u] + holes_y[u])
    moved[0] = units


@njit(cache=True, nogil=True)
def _settle(loads, least, base, free, bit, booked, scratch):
    """Leave the donor what it held and its pegs; return its largest load."""
    pegs, held, holes, low = scratch[0], scratch[1], scratch[2], scratch[3]
    wide = pegs.dtype.type
    zero = wide(0)
    largest = zero
    i = sub = 0
    while True:
        d = (base | sub) ^ (1 << bit)
        left = max(zero, held[i] + pegs[i])
        largest = max(largest, left)
        loads[d] = left
        if booked:
            kept = min(low[i], left) if holes[i] > zero else low[i]
            least[d] = min(wide(least[d]), kept)
        i += 1
        if sub == free:
            return largest
        sub = (sub - free) & free


@njit(cache=True, nogil=True)
def _repair(loads, least, moved, base, free, bit, ascending, booked, scratch):
    """Level the pegs and holes of a stuck subcube in its donor; return its largest load.

    A node a with neighbour a' ends with what a' had, whether it sends pegs or is paid its
    holes. So the donor is left with the stuck subcube's loads, and ``pegs`` is what these are
    above the donor's own (``held``).
    """
    pegs, held, holes, low = scratch[0], scratch[1], scratch[2], scratch[3]
    end = _register(loads, least, moved, base, free, bit, booked, scratch)
    h = 1 if ascending else end // 2
    while 1 <= h < end:
        for i in range(0, end, 2 * h):
            j, k = i + h, i + 2 * h
            X, Y, held_x, held_y = pegs[i:j], pegs[j:k], held[i:j], held[j:k]
            if booked:
                owed_x, owed_y, low_x, low_y = holes[i:j], holes[j:k], low[i:j], low[j:k]
                _booked_shift(X, Y, held_x, held_y, owed_x, owed_y, low_x, low_y, moved)
            else:
                _shift(X, Y, held_x, held_y)
        h = 2 * h if ascending else h // 2
    return _settle(loads, least, base, free, bit, booked, scratch)


@njit(cache=True, nogil=True)
def carry_out(rows, program, ascending, rotating, deepest, booked, kind):
    """Run a program on rows (B, N) of positions, in place.

    ``program`` (M, 4) is the plan's, in positions; ``ascending`` tells whether bits of nodes
    ascend as bits of positions do, ``deepest`` is the largest dimension of a stuck subcube,
    ``kind`` an array of one zero, int64 or float64, in which units are counted. ``rotating`` is
    fast; floats are then added up in another order. Return (moved (B,), local (B,), largest):
    zeros where not ``booked``, and the largest load that a repair made, before it was cast.
    """
    B, N = rows.shape
    moved = np.full(B, kind[0])
    local = np.full(B, kind[0])
    largest = kind[0]
    least = np.empty(N if booked else 0, dtype=rows.dtype)
    spare = np.empty((2, 1 << OUTER if rotating else 0), dtype=rows.dtype)
    room = 1 << deepest if deepest else 0
    scratch = np.empty((4, room), dtype=kind.dtype)
    for b in range(B):
        loads = rows[b]
        units = moved[b : b + 1]
        if booked:
            least[:] = loads
        for m in range(program.shape[0]):
            action, base, free, bit = program[m]
            if action == SPLIT:
                _split(loads, least, units, base, free, bit, booked)
            elif action == WHOLE:
                _whole(loads, least, units, spare, base, free, booked)
            else:
                load = _repair(loads, least, units, base, free, bit, ascending, booked, scratch)
                largest = max(largest, load)
        if booked:
            stayed = kind[0]
            for i in range(N):
                stayed += kind.dtype.type(least[i])
            local[b] = stayed
    return moved, local, largest
