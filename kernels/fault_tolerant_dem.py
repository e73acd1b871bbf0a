"""A plan of fault-tolerant DEM carried out on batches of loads (More-Wu section 2.2).

Loads are worked on in tiles ``(position, lane)``, flat (``positions.py``). The dimension split
first is the outermost bit of a position, so the plan, which goes depth first, stays inside
ever smaller stretches of memory. Lanes are trials of a small cube. A large cube has one lane;
its stretches of positions are the vectors.

Legend: ``B`` trials, ``N`` nodes, ``L`` lanes, ``T`` tiles, ``M`` rows of the plan's program.
"""

import numpy as np
from numba import njit, types
from numba.extending import overload

SPLIT = 0
WHOLE = 1
# Positions balanced in cache before the next ones are touched: 2**12, and inside those 2**5.
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
    """Two dimensions in one pass: A with C and B with D, then A with B and C with D."""
    for u in range(A.size):
        a, c = _even(A[u], C[u])
        b, d = _even(B[u], D[u])
        A[u], B[u] = _even(a, b)
        C[u], D[u] = _even(c, d)


@njit(cache=True, nogil=True)
def _booked_exchange(A, B, least_a, least_b, moved):
    """Exchange, lowering the least loads and adding to the units moved, lane by lane."""
    wide = moved.dtype.type
    L = moved.size
    if L == 1:
        units = moved[0]
        for u in range(A.size):
            a = A[u]
            p, q = _even(a, B[u])
            units += wide(max(a, p) - min(a, p))
            A[u], B[u] = p, q
            least_a[u] = min(least_a[u], p)
            least_b[u] = min(least_b[u], q)
        moved[0] = units
        return
    for at in range(0, A.size, L):
        x, y = A[at : at + L], B[at : at + L]
        least_x, least_y = least_a[at : at + L], least_b[at : at + L]
        for u in range(L):
            a = x[u]
            p, q = _even(a, y[u])
            moved[u] += wide(max(a, p) - min(a, p))
            x[u], y[u] = p, q
            least_x[u] = min(least_x[u], p)
            least_y[u] = min(least_y[u], q)


@njit(cache=True, nogil=True)
def _apart(tile, least, moved, at, run, h, booked):
    """Exchange the stretch of ``run`` elements at ``at`` with the one ``h`` elements on."""
    A, B = tile[at : at + run], tile[at + h : at + h + run]
    if booked:
        _booked_exchange(A, B, least[at : at + run], least[at + h : at + h + run], moved)
    else:
        _exchange(A, B)


@njit(cache=True, nogil=True)
def _passes(tile, least, moved, at, size, h, last, booked):
    """Dimensions of a stretch, ``h`` elements apart down to ``last``, two a pass if possible."""
    while h > last and not booked:
        q = h // 2
        for o in range(at, at + size, 4 * q):
            _exchange_twice(
                tile[o : o + q],
                tile[o + q : o + 2 * q],
                tile[o + 2 * q : o + 3 * q],
                tile[o + 3 * q : o + 4 * q],
            )
        h //= 4
    while h >= last:
        for o in range(at, at + size, 2 * h):
            _apart(tile, least, moved, o, h, h, booked)
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
def _block(tile, least, moved, spare, at, r, L, booked):
    """DEM of the ``2**r`` positions from element ``at``, the outermost dimension first."""
    size = L << r
    h = size // 2
    outer = L << OUTER
    inner = L << INNER
    if h >= outer:
        _passes(tile, least, moved, at, size, h, outer, booked)
        h = outer // 2
    for o in range(at, at + size, 2 * h):
        if spare.size and h > 4:
            end = o + 2 * h
            k = min(r, OUTER)
            if booked:
                T, low = spare[0, : 2 * h], spare[1, : 2 * h]
                _rotating_passes(tile[o:end], T, least[o:end], low, moved, k, True)
            else:
                T = spare[0, : 2 * h]
                _rotating_passes(tile[o:end], T, least, least, moved, k, False)
        elif h >= inner:
            _passes(tile, least, moved, o, 2 * h, h, inner, booked)
            for i in range(o, o + 2 * h, inner):
                _passes(tile, least, moved, i, inner, inner // 2, L, booked)
        else:
            _passes(tile, least, moved, o, 2 * h, h, L, booked)


@njit(cache=True, nogil=True)
def _trailing(free):
    """Return how many of the lowest bits of the mask are set without a gap."""
    r = 0
    while free >> r & 1:
        r += 1
    return r


@njit(cache=True, nogil=True)
def _split(tile, least, moved, base, free, bit, L, booked):
    """Exchange across one bit of a subcube: stretches of its lowest bits in one go."""
    r = _trailing(free)
    h = L << bit
    outer = (free >> r << r) & ~(1 << bit)
    sub = 0
    while True:
        o = (base | sub) * L
        if bit < r:
            _passes(tile, least, moved, o, L << r, h, h, booked)
        else:
            _apart(tile, least, moved, o, L << r, h, booked)
        if sub == outer:
            return
        sub = (sub - outer) & outer


@njit(cache=True, nogil=True)
def _whole(tile, least, moved, spare, base, free, L, booked):
    """DEM of a fault-free subcube: bits above a gap one by one, the stretches below as blocks."""
    r = _trailing(free)
    outer = free >> r << r
    for bit in range(63):
        place = 62 - bit
        if outer >> place & 1:
            _split(tile, least, moved, base, free, place, L, booked)
    if r == 0:
        return
    sub = 0
    while True:
        _block(tile, least, moved, spare, (base | sub) * L, r, L, booked)
        if sub == outer:
            return
        sub = (sub - outer) & outer


@njit(cache=True, nogil=True)
def _register(load, other, held, pegs):
    """Take the loads of stuck nodes as pegs above their donors', and leave them the donors'."""
    wide = pegs.dtype.type
    for u in range(load.size):
        held[u] = wide(other[u])
        pegs[u] = wide(load[u]) - held[u]
        load[u] = other[u]


@njit(cache=True, nogil=True)
def _booked_register(load, held, pegs, holes, low, least, moved):
    zero = pegs.dtype.type(0)
    for u in range(load.size):
        holes[u] = max(zero, -pegs[u])
        low[u] = held[u]
        moved[u] += abs(pegs[u])
        least[u] = min(least[u], load[u])


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
    for u in range(X.size):
        x = min(_half(X[u] - Y[u]), held_x[u] + X[u])
        x = max(x, -(held_y[u] + Y[u]))
        X[u] -= x
        Y[u] += x
        moved[u] += abs(x)
        low_x[u] = min(low_x[u], held_x[u] + X[u] + holes_x[u])
        low_y[u] = min(low_y[u], held_y[u] + Y[u] + holes_y[u])


@njit(cache=True, nogil=True)
def _settle(load, held, pegs):
    """Leave the donor what it held and its pegs; return the largest load."""
    zero = pegs.dtype.type(0)
    largest = zero
    for u in range(load.size):
        left = max(zero, held[u] + pegs[u])
        largest = max(largest, left)
        load[u] = left
    return largest


@njit(cache=True, nogil=True)
def _booked_settle(held, pegs, holes, low, least):
    wide = pegs.dtype.type
    zero = wide(0)
    for u in range(held.size):
        left = max(zero, held[u] + pegs[u])
        kept = min(low[u], left) if holes[u] > zero else low[u]
        least[u] = min(wide(least[u]), kept)


@njit(cache=True, nogil=True)
def _repair(tile, least, moved, base, free, bit, ascending, L, booked, scratch):
    """Level the pegs and holes of a stuck subcube in its donor; return its largest load.

    A node a with neighbour a' ends with what a' had, whether it sends pegs or is paid its
    holes. So the donor is left with the stuck subcube's loads, and ``pegs`` is what these are
    above the donor's own (``held``).
    """
    pegs, held, holes, low = scratch
    end = 0
    sub = 0
    while True:
        a = (base | sub) * L
        d = ((base | sub) ^ (1 << bit)) * L
        i = end
        end = i + L
        _register(tile[a : a + L], tile[d : d + L], held[i:end], pegs[i:end])
        if booked:
            near = least[a : a + L]
            h, p, o, w = held[i:end], pegs[i:end], holes[i:end], low[i:end]
            _booked_register(tile[a : a + L], h, p, o, w, near, moved)
        if sub == free:
            break
        sub = (sub - free) & free
    h = L if ascending else end // 2
    while L <= h < end:
        run = L if booked else h
        for o in range(0, end, 2 * h):
            for i in range(o, o + h, run):
                m, j, k = i + run, i + h, i + h + run
                if booked:
                    _booked_shift(
                        pegs[i:m],
                        pegs[j:k],
                        held[i:m],
                        held[j:k],
                        holes[i:m],
                        holes[j:k],
                        low[i:m],
                        low[j:k],
                        moved,
                    )
                else:
                    _shift(pegs[i:m], pegs[j:k], held[i:m], held[j:k])
        h = 2 * h if ascending else h // 2
    largest = moved.dtype.type(0)
    i = 0
    sub = 0
    while True:
        d = ((base | sub) ^ (1 << bit)) * L
        m = i + L
        largest = max(largest, _settle(tile[d : d + L], held[i:m], pegs[i:m]))
        if booked:
            _booked_settle(held[i:m], pegs[i:m], holes[i:m], low[i:m], least[d : d + L])
        i = m
        if sub == free:
            return largest
        sub = (sub - free) & free


@njit(cache=True, nogil=True)
def carry_out(tiles, program, B, L, ascending, rotating, deepest, booked, kind):
    """Run a program on tiles (T, N * L), in place.

    ``program`` (M, 4) is the plan's, in positions; ``ascending`` tells whether bits of nodes
    ascend as bits of positions do, ``deepest`` is the largest dimension of a stuck subcube,
    ``kind`` an array of one zero, int64 or float64, in which units are counted. ``rotating``
    (one lane) is for large cubes. Return (moved (B,), local (B,), largest): zeros where not
    ``booked``, and the largest load that a repair made, before it was cast.
    """
    moved = np.full(B, kind[0])
    local = np.full(B, kind[0])
    largest = kind[0]
    least = np.empty(tiles.shape[1] if booked else 0, dtype=tiles.dtype)
    spare = np.empty((2, 1 << OUTER if rotating else 0), dtype=tiles.dtype)
    room = L << deepest if deepest else 0
    scratch = (
        np.full(room, kind[0]),
        np.full(room, kind[0]),
        np.full(room, kind[0]),
        np.full(room, kind[0]),
    )
    N = tiles.shape[1] // L
    for t in range(tiles.shape[0]):
        w = min(L, B - t * L)
        tile = tiles[t, : N * w]
        units = moved[t * L : t * L + w]
        if booked:
            least[: N * w] = tile
        for m in range(program.shape[0]):
            action, base, free, bit = program[m]
            if action == SPLIT:
                _split(tile, least, units, base, free, bit, w, booked)
            elif action == WHOLE:
                _whole(tile, least, units, spare, base, free, w, booked)
            else:
                load = _repair(tile, least, units, base, free, bit, ascending, w, booked, scratch)
                largest = max(largest, load)
        if booked and w == 1:
            stayed = kind[0]
            for i in range(N):
                stayed += kind.dtype.type(least[i])
            local[t * L] = stayed
        elif booked:
            for i in range(N):
                lanes = least[i * w : (i + 1) * w]
                for u in range(w):
                    local[t * L + u] += kind.dtype.type(lanes[u])
    return moved, local, largest
