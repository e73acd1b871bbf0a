"""Rounds for transfers, each of two groups, where first fit needs more than the least number.

It is an edge colouring of a multigraph whose nodes are the groups, such as all that one node sends.
A transfer e of groups u and v goes into the first round that has room in both. Where there is none
below the present number of rounds, u has room in a round a, and v in another one, b. Then e goes
into a, one of v's other transfers from a to b, one of those of the next group that has too many in
b then from b to a, and so on, until no group has too many (Konig 1916, for groups with limits). No
transfer goes twice. Where every circle of groups is even, as with senders on one side and receivers
on the other, this always ends well, and no round is ever added. Else it may come back to where it
began; other rounds a and b are tried then before one is added.

Transfers with the same two groups may be of one link, which has a limit as well. Those in a and
those in b are thought of as pairs that stay where they are; only as many go as one of the rounds
has more than the other, so that neither has more than the fuller one had. Where the link has room
in a round in which u has none, u is first made room there, in the same way.

A transfer has three places: 0 and 1 in its groups, 2 in its link. Place p of transfer e is number
``4 e + p``; those of a group or link in one round are a linked list. Group 0 stands for none, and
has neither limit nor lists. ``T`` transfers, ``G`` groups and links, ``W`` rounds at most.
"""

from typing import NamedTuple

import numpy as np

from ..shared.compiling import kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.words import lowest_bit

ONE, ALL = np.uint64(1), np.uint64(2**64 - 1)
# np.int64, not literals: numba would specialise functions for each literal.
NONE, ZERO, LINK = np.int64(-1), np.int64(0), np.int64(2)
# Columns of ``State.records[e, p]`` for a place p, of ``State.records[e, OWN]``, and of
# ``State.cells``. A record of 64 bytes takes half the time of an array for each column.
GROUP, NEXT, PREVIOUS = 0, 1, 2
OWN, ROUND, MOVED = 3, 0, 1
FIRST, COUNT = 0, 1
# Pairs of rounds tried for a transfer before a round is added.
TRIES = 64


class State(NamedTuple):
    """Transfers in rounds, and workspace of ``_exchange``."""

    # (T, 4, 4) int32. Of each place its group and the places after and before it in its list, or
    # -1; of the transfer its round, and whether the present step of an exchange has moved it.
    records: np.ndarray
    limits: np.ndarray  # (G,) int64
    # (G, W, 2) int32: the first place of a group in a round, or -1, and how many there are.
    cells: np.ndarray
    full: np.ndarray  # (G, W // 64 + 1) uint64, bit c % 64 of word c // 64: round c is full
    trail: np.ndarray  # (T,) int64, the transfers that a step moved
    net: np.ndarray  # (G,) int64, how many of a link a step moved out of the round it began with


@kernel
def _shift(state, e, p, before, c):
    """Take a place out of a round of its group, and put it into another one; ``NONE`` for none."""
    records, limits, cells, full = state.records, state.limits, state.cells, state.full
    g = records[e, p, GROUP]
    if g > 0 and before >= 0:
        behind, ahead = records[e, p, NEXT], records[e, p, PREVIOUS]
        if ahead >= 0:
            records[ahead >> 2, ahead & 3, NEXT] = behind
        else:
            cells[g, before, FIRST] = behind
        if behind >= 0:
            records[behind >> 2, behind & 3, PREVIOUS] = ahead
        if cells[g, before, COUNT] == limits[g]:
            full[g, before // 64] ^= ONE << np.uint64(before % 64)
        cells[g, before, COUNT] -= 1
    if g > 0 and c >= 0:
        behind = cells[g, c, FIRST]
        records[e, p, NEXT] = behind
        records[e, p, PREVIOUS] = -1
        if behind >= 0:
            records[behind >> 2, behind & 3, PREVIOUS] = 4 * e + p
        cells[g, c, FIRST] = 4 * e + p
        cells[g, c, COUNT] += 1
        if cells[g, c, COUNT] == limits[g]:
            full[g, c // 64] ^= ONE << np.uint64(c % 64)


@kernel
def _round_with_room(full, g, h, k, c):
    """Return the first round from c on that is full for none of three groups."""
    word = c // 64
    bits = (ONE << np.uint64(c % 64)) - ONE
    bits |= full[g, word] | full[h, word] | full[k, word]
    while bits == ALL:
        word += 1
        bits = full[g, word] | full[h, word] | full[k, word]
    return 64 * word + lowest_bit(~bits)


@kernel
def _exchange(state, e, a, b):
    """Place e into round a by exchanges with others; return (success, transfers moved).

    Its link has room in a, and its second group in b. Its places enter one by one, the link's
    first; each step makes room for one of them.
    """
    records, limits, cells, full, trail, net = state
    records[e, OWN, ROUND] = a
    records[e, OWN, MOVED] = 1
    work = 0
    step = 0
    success = True
    while success and step < 3:
        own_place = (LINK + step) % 3
        step += 1
        g = records[e, own_place, GROUP]
        other = b
        if step < 3 or cells[g, b, COUNT] >= limits[g]:
            other = _round_with_room(full, g, g, g, ZERO)
        _shift(state, e, own_place, NONE, a)
        over, direction = a, 1
        length = 0
        while success and cells[g, over, COUNT] > limits[g]:
            # A transfer that this step has not moved yet, and that its pairs let go.
            place = cells[g, over, FIRST]
            while place >= 0:
                if records[place >> 2, OWN, MOVED] == 0:
                    k = records[place >> 2, LINK, GROUP]
                    gone = direction * net[k]
                    more = cells[k, over, COUNT] - cells[k, other, COUNT] + 2 * gone
                    if k == 0 or gone < more:
                        break
                place = records[place >> 2, place & 3, NEXT]
            success = place >= 0
            if success:
                moved = np.int64(place >> 2)
                records[moved, OWN, MOVED] = 1
                records[moved, OWN, ROUND] = other
                trail[length] = moved
                length += 1
                net[records[moved, LINK, GROUP]] += direction
                for p in range(3):
                    _shift(state, moved, p, over, other)
                g = records[moved, 1 - (place & 3), GROUP]
                over, other, direction = other, over, -direction
        for i in range(length):
            moved = trail[i]
            records[moved, OWN, MOVED] = 0
            net[records[moved, LINK, GROUP]] = 0
            if not success:
                c = records[moved, OWN, ROUND]
                records[moved, OWN, ROUND] = over + other - c
                for p in range(3):
                    _shift(state, moved, p, np.int64(c), over + other - c)
        work += length
    if not success:
        for p in range(step):
            _shift(state, e, (LINK + p) % 3, a, NONE)
    records[e, OWN, MOVED] = 0
    return success, work


@long_kernel
def colour(order, state, R):
    """Place the transfers in the order (T,), so that ``state.records`` has their rounds.

    ``R`` : rounds that are there at first. A group has at most ``limits[g] * R`` transfers; with
    W = 3 R all find room. Where both groups of a transfer are one, the second is 0. All but limits,
    groups and the first places, which are -1, is 0 at first.
    """
    records, full = state.records, state.full
    meter = new_meter()
    work = 0
    for i in range(order.size):
        if interrupted(meter, 8 * (work + 1)):
            break
        e = order[i]
        u, v, k = records[e, 0, GROUP], records[e, 1, GROUP], records[e, LINK, GROUP]
        c = _round_with_room(full, u, v, k, ZERO)
        work = 0
        tries = 0
        placed = False
        # Rounds in which u has room as well as the link, or else rounds in which the link has.
        h, a, b = u, NONE, R
        while c >= R and tries < TRIES and not placed:
            if b >= R:
                a, b = _round_with_room(full, h, k, k, a + 1), ZERO
                if a >= R and (h == k or tries > 0):
                    break
                if a >= R:
                    h, a, b = k, NONE, R
                    continue
            b = _round_with_room(full, v, v, v, b)
            if b < R:
                placed, moved = _exchange(state, e, a, b)
                work += moved
                tries += 1
                b += 1
        if not placed:
            records[e, OWN, ROUND] = c
            for p in range(3):
                _shift(state, e, p, NONE, c)
            R = max(R, c + 1)
