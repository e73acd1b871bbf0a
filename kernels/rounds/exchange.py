"""Rounds for transfers of two groups each, where first fit needs more than the least number.

It is an edge colouring of a multigraph whose nodes are the groups. A transfer e between groups u
and v goes into the first round that has room in both. Where there is none below the present number
of rounds, u has room in a round a, and v in another one, b. Then e goes into a, one of v's other
transfers from a to b, one of those of the next group that has too many in b then from b to a, and
so on, until no group has too many (Konig 1916, for groups with limits). No transfer goes twice.
Where every circle of groups is even, as with senders on one side and receivers on the other, this
always ends well, and no round is ever added. Else it may come back to where it began, and other
rounds a and b are tried before one is added.

An end of transfer e is ``2 e`` or ``2 e + 1``; the ends of a group in one round are a linked list.
Group 0 has no limit, and no lists. ``T`` transfers, ``G`` groups, ``W`` rounds at most.
"""

from typing import NamedTuple

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.words import lowest_bit

ONE, ALL = np.uint64(1), np.uint64(2**64 - 1)
# Pairs of rounds tried for a transfer before a round is added.
TRIES = 64


class State(NamedTuple):
    """Transfers in rounds."""

    group: np.ndarray  # (2 T,) int32, of each end
    limits: np.ndarray  # (G,) int64
    rounds: np.ndarray  # (T,) int64
    counts: np.ndarray  # (G, W) int32, how many ends of a group are in a round
    first: np.ndarray  # (G, W) int32, the first of them, or -1
    following: np.ndarray  # (2 T,) int32, the end after this one in its list, or -1
    previous: np.ndarray  # (2 T,) int32
    full: np.ndarray  # (G, W // 64 + 1) uint64, bit c % 64 of word c // 64: round c is full


@inlined
def _flip_full(full, g, c):
    full[g, c // 64] ^= ONE << np.uint64(c % 64)


@kernel
def _insert(state, end, c):
    """Put the end of a transfer into a round of its group."""
    g = state.group[end]
    if g > 0:
        behind = state.first[g, c]
        state.following[end] = behind
        state.previous[end] = -1
        if behind >= 0:
            state.previous[behind] = end
        state.first[g, c] = end
        state.counts[g, c] += 1
        if state.counts[g, c] == state.limits[g]:
            _flip_full(state.full, g, c)


@kernel
def _remove(state, end, c):
    """Take the end of a transfer out of a round of its group."""
    g = state.group[end]
    if g > 0:
        behind, ahead = state.following[end], state.previous[end]
        if ahead >= 0:
            state.following[ahead] = behind
        else:
            state.first[g, c] = behind
        if behind >= 0:
            state.previous[behind] = ahead
        if state.counts[g, c] == state.limits[g]:
            _flip_full(state.full, g, c)
        state.counts[g, c] -= 1


@inlined
def _place(state, e, c):
    state.rounds[e] = c
    _insert(state, 2 * e, c)
    # Where both ends are in one group, the transfer counts once.
    if state.group[2 * e] != state.group[2 * e + 1]:
        _insert(state, 2 * e + 1, c)


@inlined
def _withdraw(state, e):
    c = state.rounds[e]
    _remove(state, 2 * e, c)
    if state.group[2 * e] != state.group[2 * e + 1]:
        _remove(state, 2 * e + 1, c)


@kernel
def _move(state, e, c):
    """Move a transfer to another round."""
    _withdraw(state, e)
    _place(state, e, c)


@kernel
def _round_with_room(full, g, h, c):
    """Return the first round from c on that is full for neither of two groups."""
    word = c // 64
    bits = full[g, word] | full[h, word] | (ONE << np.uint64(c % 64)) - ONE
    while bits == ALL:
        word += 1
        bits = full[g, word] | full[h, word]
    return 64 * word + lowest_bit(~bits)


@kernel
def _exchange(state, e, a, b, turned, trail, mark):
    """Place e into round a by exchanges of rounds a and b; return (success, exchanges made).

    ``turned`` (T,) has ``mark`` where a transfer was moved by this call, ``trail`` (T,) is
    workspace. Without success everything is as before.
    """
    end = 2 * e + 1
    g = state.group[end]
    over, other = a, b
    _place(state, e, a)
    turned[e] = mark
    length = 0
    success = True
    while success and state.counts[g, over] > state.limits[g]:
        end = state.first[g, over]
        while end >= 0 and turned[end // 2] == mark:
            end = state.following[end]
        if end < 0:
            success = False
        else:
            turned[end // 2] = mark
            trail[length] = end // 2
            length += 1
            _move(state, end // 2, other)
            if state.group[end ^ 1] != g:
                g = state.group[end ^ 1]
                over, other = other, over
    if not success:
        for i in range(length - 1, -1, -1):
            _move(state, trail[i], a + b - state.rounds[trail[i]])
        _withdraw(state, e)
    return success, length


@long_kernel
def colour(order, groups, limits, R, W):
    """Return the rounds (T,) of transfers that are placed in the order (T,).

    ``groups`` (T, 2) int32, ``limits`` (G,). ``R`` : rounds that are there at first, ``W`` the most
    there may be. A group has at most ``limits[g] * R`` transfers; with W = 2 R - 1 all find room.
    """
    T = groups.shape[0]
    G = limits.size
    first = np.empty((G, W), np.int32)
    for g in range(G):
        for c in range(W):
            first[g, c] = -1
    state = State(
        groups.reshape(2 * T),
        limits,
        np.empty(T, np.int64),
        np.zeros((G, W), np.int32),
        first,
        np.empty(2 * T, np.int32),
        np.empty(2 * T, np.int32),
        np.zeros((G, W // 64 + 1), np.uint64),
    )
    turned = np.zeros(T, np.int64)
    trail = np.empty(T, np.int64)
    mark = 0
    meter = new_meter()
    for i in range(T):
        e = order[i]
        u, v = groups[e, 0], groups[e, 1]
        c = _round_with_room(state.full, u, v, 0)
        placed = False
        tries = 0
        a = 0
        while c >= R and not placed and tries < TRIES:
            a = _round_with_room(state.full, u, u, a)
            if a >= R:
                break
            b = 0
            while not placed and tries < TRIES:
                b = _round_with_room(state.full, v, v, b)
                if b >= R:
                    break
                mark += 1
                tries += 1
                placed, length = _exchange(state, e, a, b, turned, trail, mark)
                interrupted(meter, 8 * length)
                b += 1
            a += 1
        if not placed:
            _place(state, e, c)
            R = max(R, c + 1)
        if interrupted(meter, 8):
            break
    return state.rounds
