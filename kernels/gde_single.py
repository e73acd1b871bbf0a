"""Generalized dimension exchange of one network of integers (Wu-Shu Fig. 2), a vector of nodes.

Legend: ``N`` nodes, ``G`` shifts, ``P`` the largest of them.

A shift is what one colour has of links between nodes ``i`` and ``i + offset``: on grids a colour of
an axis, and apart from it the links that wrap. ``side`` tells of each node whether its partner is
above (1), below (-1) or neither (0), so that an exchange is one loop over all nodes and three
contiguous runs of loads, from one row of ``room`` to the other: half of the nodes or more compute
in vain, and still it takes a sixth of the time of going link by link (8x8 mesh, 13 sweeps: 1.5 us
for 8; 16x16x16 mesh 0.09 us a node for 0.7).

``room`` : (2, P + N + P), uint32 or uint64, loads in the middle of one of its rows and nothing
around them. ``share`` : (m, s) of the same dtype; a pair that differs by d sends ``m * d >> s``,
and the product fits.
"""

import numpy as np
from numba import njit

# As in ``gde.py``: a sweep moved nothing although neighbours differ; neighbours differ; the units
# do not fit int64.
STALLED, APART, OVER = 1, 2, 4
# What one call leaves to others: nothing; all, as loads or units do not fit; and all, as there was
# no end to it.
DONE, REFUSED, UNFINISHED = 0, 1, 2
LARGEST = np.int64(2**63 - 1)
# Loads that a balancing in one call may read, 1 ms: longer ones must hear Ctrl-C.
SMALL = 2**22


@njit(cache=True, nogil=True)
def _exchange(here, there, offset, side, share):
    """Exchange along one shift from one row of ``room`` to the other; return the units moved."""
    U = here.dtype.type
    N = side.size
    P = (here.size - N) // 2
    loads = here[P : P + N]
    above = here[P + offset : P + offset + N]
    below = here[P - offset : P - offset + N]
    out = there[P : P + N]
    # Masked, so that the compiler knows the shift to be one of this width.
    m, s = share[0], U(share[1] & U(8 * here.itemsize - 1))
    moved = U(0)
    for i in range(N):
        mine, high, low, where = loads[i], above[i], below[i], side[i]
        other = high if where > 0 else (low if where < 0 else mine)
        d = U(max(mine, other) - min(mine, other))
        sent = U(U(d * m) >> s)
        out[i] = U(mine - sent) if mine > other else U(mine + sent)
        moved = U(moved + (sent if where > 0 else U(0)))
    return np.int64(moved)


@njit(cache=True, nogil=True)
def _lower(kept, loads, before):
    """Nothing stays at a node beyond its load, nor beyond the one before."""
    for i in range(kept.size):
        kept[i] = min(kept[i], min(loads[i], before[i]))


@njit(cache=True, nogil=True)
def gde(room, kept, offsets, sides, share, max_sweeps, state, budget):
    """Sweep until nothing moves or ``max_sweeps`` sweeps are made; tell whether that is so.

    ``kept`` : (N,) the units that never left, or empty if they are not asked for. ``offsets`` :
    (G,), and ``sides`` (G, N) int8, in the order of the colours. ``state`` : (3,) int64 zeros
    receives the units moved, the sweeps that moved some, and the row with the loads. After
    ``budget`` sweeps it returns False, to be called again with the same arguments. Negative units
    did not fit int64.
    """
    N = sides.shape[1]
    P = (room.shape[1] - N) // 2
    here = room[state[2]]
    there = room[1 - state[2]]
    while state[1] < max_sweeps:
        if budget == 0:
            return False
        budget -= 1
        moved = np.int64(0)
        for g in range(offsets.size):
            units = _exchange(here, there, offsets[g], sides[g], share)
            moved |= units
            if state[0] >= 0:
                state[0] = state[0] + units if units <= LARGEST - state[0] else -1
            # Both rows hold loads: looked at together they cost half of what they would one by
            # one (16x16x16 mesh with figures, a tenth of all).
            if kept.size and (g % 2 == 1 or g == offsets.size - 1):
                _lower(kept, there[P : P + N], here[P : P + N])
            here, there = there, here
            state[2] = 1 - state[2]
        if moved == 0:
            return True
        state[1] += 1
    return True


@njit(cache=True, nogil=True)
def ended(room, offsets, sides, share, max_sweeps, state):
    """Return the sweeps, with the one that moved nothing if it stalled, and the flags."""
    U = room.dtype.type
    N = sides.shape[1]
    P = (room.shape[1] - N) // 2
    sweeps = state[1]
    flags = OVER if state[0] < 0 else 0
    # Where a difference of two moves something, still neighbours are balanced.
    if sweeps < max_sweeps and (2 * share[0]) >> share[1] > 0:
        return sweeps, flags
    loads = room[state[2], P : P + N]
    far = 0
    for g in range(offsets.size):
        above = room[state[2], P + offsets[g] : P + offsets[g] + N]
        side = sides[g]
        for i in range(N):
            far += side[i] > 0 and U(max(loads[i], above[i]) - min(loads[i], above[i])) > 1
    if far:
        flags |= APART
        if sweeps < max_sweeps:
            flags |= STALLED
            sweeps += 1
    return sweeps, flags


@njit(cache=True, nogil=True)
def _survey(loads):
    """Return the least and the largest load and the total, which is -1 if it may not fit int64."""
    least = loads[0]
    largest = loads[0]
    for i in range(loads.size):
        least = min(least, loads[i])
        largest = max(largest, loads[i])
    total = np.int64(0)
    if np.int64(largest) > LARGEST // loads.size:
        return np.int64(least), np.int64(largest), np.int64(-1)
    for i in range(loads.size):
        total += loads[i]
    return np.int64(least), np.int64(largest), total


@njit(cache=True, nogil=True)
def _short(source, target, room, kept, offsets, sides, share, max_sweeps):
    """Balance one network of legal loads whose total the room's dtype holds, if that is short.

    Returns a code, unless which is ``DONE`` nothing is written, units moved and units that never
    left, sweeps and flags; all but the code count only if ``kept`` is not empty.
    """
    N = source.size
    P = (room.shape[1] - N) // 2
    first = room[0, P : P + N]
    for i in range(N):
        first[i] = source[i]
    for i in range(kept.size):
        kept[i] = source[i]
    state = np.zeros(3, np.int64)
    zero = np.int64(0)
    budget = SMALL // (sides.size + 1024) + 1
    if not gde(room, kept, offsets, sides, share, max_sweeps, state, budget):
        return UNFINISHED, zero, zero, zero, zero
    if kept.size and state[0] < 0:
        return REFUSED, zero, zero, zero, zero
    loads = room[state[2], P : P + N]
    for i in range(N):
        target[i] = loads[i]
    if kept.size == 0:
        return DONE, zero, zero, zero, zero
    local = zero
    for i in range(N):
        local += np.int64(kept[i])
    sweeps, flags = ended(room, offsets, sides, share, max_sweeps, state)
    return DONE, state[0], local, np.int64(sweeps), np.int64(flags)


@njit(cache=True, nogil=True)
def _balance(source, target, plan, sides, max_sweeps, measured):
    """Do as ``small``; return what ``_short`` does, and what the survey told."""
    least, largest, total = surveyed = _survey(source)
    N = source.size
    width = N + 2 * plan[7]
    offsets = plan[8:]
    if least >= 0 and 0 <= total < 2**31 and largest <= plan[2]:
        room = np.zeros((2, width), np.uint32)
        kept = np.empty(N, np.uint32) if measured else room[0, :0]
        share = np.uint32(plan[0]), np.uint32(plan[1])
        found = _short(source, target, room, kept, offsets, sides, share, max_sweeps)
    elif least >= 0 and total >= 0 and largest <= plan[5]:
        wide_room = np.zeros((2, width), np.uint64)
        wide_kept = np.empty(N, np.uint64) if measured else wide_room[0, :0]
        wide = np.uint64(plan[3]), np.uint64(plan[4])
        found = _short(source, target, wide_room, wide_kept, offsets, sides, wide, max_sweeps)
    else:
        zero = np.int64(0)
        found = REFUSED, zero, zero, zero, zero
    return found, surveyed


@njit(cache=True, nogil=True)
def small(source, target, plan, sides, max_sweeps):
    """Survey and balance one network in one call, which is no long one; return a code.

    Unless it is ``DONE``, nothing is written: loads are illegal or too large, or it takes long.
    ``source``, ``target`` : (N,). ``plan`` : (8 + G,) int64, the share for totals that fit int32
    as (m, s, largest load), the one for all others, the number of colours, P, and the offsets.
    """
    return _balance(source, target, plan, sides, max_sweeps, False)[0][0]


@njit(cache=True, nogil=True)
def small_measured(source, target, plan, sides, max_sweeps):
    """Do as ``small``; return its code and the figures, as ``result.figures`` has them.

    They are numbers of Python's: an array of so few takes longer to make and to read.
    """
    found, surveyed = _balance(source, target, plan, sides, max_sweeps, True)
    code, moved, local, sweeps, flags = found
    first_least, first_most, total = surveyed
    least = most = target[0]
    for i in range(target.size):
        least = min(least, target[i])
        most = max(most, target[i])
    imbalance = first_imbalance = cost = 0.0
    locality = 1.0
    if total > 0:
        mean = np.float64(total) / target.size
        imbalance = np.float64(most) / mean - 1.0
        first_imbalance = np.float64(first_most) / mean - 1.0
        cost = np.float64(moved) / np.float64(total)
        locality = np.float64(local) / np.float64(total)
    return (
        int(code), int(first_most) - int(first_least), int(most) - int(least),
        float(first_imbalance), float(imbalance), int(moved), float(cost), int(local),
        float(locality), int(sweeps), 3 * int(plan[6]) * int(sweeps),
        bool(flags & STALLED), not flags & APART,
    )  # fmt: skip
