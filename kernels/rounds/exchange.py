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

A transfer has three places, ``3 e`` and ``3 e + 1`` in its groups and ``3 e + 2`` in its link; all
of a group or link in one round are a linked list. Group 0 stands for none, and has neither limit
nor lists. ``T`` transfers, ``G`` groups and links, ``W`` rounds at most.
"""

from typing import NamedTuple

import numpy as np

from ..shared.compiling import kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.words import lowest_bit

ONE, ALL = np.uint64(1), np.uint64(2**64 - 1)
# np.int64, not literals: numba would specialise functions for each literal.
NONE, ZERO = np.int64(-1), np.int64(0)
# Pairs of rounds tried for a transfer before a round is added.
TRIES = 64


class State(NamedTuple):
    """Transfers in rounds, and workspace of ``_exchange``."""

    group: np.ndarray  # (3 T,) int32, of each place
    limits: np.ndarray  # (G,) int64
    rounds: np.ndarray  # (T,) int64
    counts: np.ndarray  # (G, W) int32, how many places of a group are in a round
    full: np.ndarray  # (G, W // 64 + 1) uint64, bit c % 64 of word c // 64: round c is full
    first: np.ndarray  # (G, W) int32, the first place of a group in a round, or -1
    following: np.ndarray  # (3 T,) int32, the place after this one in its list, or -1
    previous: np.ndarray  # (3 T,) int32
    moved_at: np.ndarray  # (T,) int64, the step of an exchange that last moved a transfer
    trail: np.ndarray  # (T,) int64, the transfers that a step moved
    net: np.ndarray  # (G,) int64, how many of a link a step moved out of the round it began with


@kernel
def _shift(state, place, before, c):
    """Take a place out of a round of its group, and put it into another one; ``NONE`` for none."""
    g = state.group[place]
    if g > 0 and before >= 0:
        behind, ahead = state.following[place], state.previous[place]
        if ahead >= 0:
            state.following[ahead] = behind
        else:
            state.first[g, before] = behind
        if behind >= 0:
            state.previous[behind] = ahead
        if state.counts[g, before] == state.limits[g]:
            state.full[g, before // 64] ^= ONE << np.uint64(before % 64)
        state.counts[g, before] -= 1
    if g > 0 and c >= 0:
        behind = state.first[g, c]
        state.following[place] = behind
        state.previous[place] = -1
        if behind >= 0:
            state.previous[behind] = place
        state.first[g, c] = place
        state.counts[g, c] += 1
        if state.counts[g, c] == state.limits[g]:
            state.full[g, c // 64] ^= ONE << np.uint64(c % 64)


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
def _exchange(state, e, a, b, step):
    """Place e into round a by exchanges with others; return (success, transfers moved).

    Its link has room in a, and its second group in b. It takes two steps, one for each group of e,
    the numbers ``step`` and ``step + 1`` of which are new.
    """
    state.rounds[e] = a
    _shift(state, 3 * e + 2, NONE, a)
    work = 0
    for side in range(2):
        g = state.group[3 * e + side]
        if side == 0 or state.counts[g, b] >= state.limits[g]:
            other = _round_with_room(state.full, g, g, g, ZERO)
        else:
            other = b
        state.moved_at[e] = step + side
        _shift(state, 3 * e + side, NONE, a)
        over, direction = a, 1
        length = 0
        place = 0
        while place >= 0 and state.counts[g, over] > state.limits[g]:
            # A transfer that this step has not moved yet, and that its pairs let go.
            place = state.first[g, over]
            while place >= 0:
                k = state.group[place // 3 * 3 + 2]
                gone = direction * state.net[k]
                more = state.counts[k, over] - state.counts[k, other] + 2 * gone
                if state.moved_at[place // 3] < step + side and (k == 0 or gone < more):
                    break
                place = state.following[place]
            if place >= 0:
                moved = place // 3
                state.moved_at[moved] = step + side
                state.trail[length] = moved
                length += 1
                state.net[state.group[3 * moved + 2]] += direction
                for at in range(3 * moved, 3 * moved + 3):
                    _shift(state, at, over, other)
                state.rounds[moved] = other
                g = state.group[6 * moved + 1 - place]
                over, other, direction = other, over, -direction
        for i in range(length):
            moved = state.trail[i]
            state.net[state.group[3 * moved + 2]] = 0
            if place < 0:
                back = over + other - state.rounds[moved]
                for at in range(3 * moved, 3 * moved + 3):
                    _shift(state, at, state.rounds[moved], back)
                state.rounds[moved] = back
        work += length
        if place < 0:
            for at in range(side + 1):
                _shift(state, 3 * e + at, a, NONE)
            _shift(state, 3 * e + 2, a, NONE)
            return False, work
    return True, work


@long_kernel
def colour(order, state, R):
    """Place the transfers in the order (T,) into ``state.rounds``.

    ``R`` : rounds that are there at first. A group has at most ``limits[g] * R`` transfers; with
    W = 3 R all find room. Where both groups of a transfer are one, the second is 0. Counts, full
    rounds and workspace are 0 at first, and ``first`` is -1.
    """
    T = order.size
    step = np.int64(1)
    meter = new_meter()
    for i in range(T):
        if interrupted(meter, 8):
            break
        e = order[i]
        u, v, k = state.group[3 * e], state.group[3 * e + 1], state.group[3 * e + 2]
        c = _round_with_room(state.full, u, v, k, ZERO)
        placed = False
        if c >= R:
            # Rounds in which u has room as well, if there are such ones.
            h = u if _round_with_room(state.full, u, k, k, ZERO) < R else k
            tries = 0
            a = _round_with_room(state.full, h, k, k, ZERO)
            b = _round_with_room(state.full, v, v, v, ZERO)
            while a < R and tries < TRIES and not placed:
                placed, moved = _exchange(state, e, a, b, step)
                step += 2
                tries += 1
                interrupted(meter, 8 * moved)
                b = _round_with_room(state.full, v, v, v, b + 1)
                if b >= R:
                    a = _round_with_room(state.full, h, k, k, a + 1)
                    b = _round_with_room(state.full, v, v, v, ZERO)
        if not placed:
            state.rounds[e] = c
            for side in range(3):
                _shift(state, 3 * e + side, NONE, c)
            R = max(R, c + 1)
