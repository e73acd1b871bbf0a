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

An end of transfer e is ``2 e`` or ``2 e + 1``; the ends of a group in one round are a linked list.
Group 0 has no limit, and no lists. ``T`` transfers, ``G`` groups and links, ``W`` rounds at most.
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
    """Transfers in rounds, and workspace of ``_make_room``."""

    group: np.ndarray  # (2 T,) int32, of each end
    link: np.ndarray  # (T,) int32, a number of a group that no end has, or 0
    limits: np.ndarray  # (G,) int64
    rounds: np.ndarray  # (T,) int64
    counts: np.ndarray  # (G, W) int32, how many ends, or transfers of a link, are in a round
    full: np.ndarray  # (G, W // 64 + 1) uint64, bit c % 64 of word c // 64: round c is full
    first: np.ndarray  # (G, W) int32, the first end of a group in a round, or -1
    following: np.ndarray  # (2 T,) int32, the end after this one in its list, or -1
    previous: np.ndarray  # (2 T,) int32
    moved_at: np.ndarray  # (T,) int64, the call of ``_make_room`` that last moved a transfer
    trail: np.ndarray  # (T,) int64, the transfers that it moved
    net: np.ndarray  # (G,) int64, how many of a link it moved out of the round to make room in
    net_at: np.ndarray  # (G,) int64, the call that ``net`` is of


@kernel
def _count(state, g, c, step):
    """Count one end, or one transfer of a link, more or less in a round."""
    if g > 0:
        if max(state.counts[g, c], state.counts[g, c] + step) == state.limits[g]:
            state.full[g, c // 64] ^= ONE << np.uint64(c % 64)
        state.counts[g, c] += step


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
        _count(state, g, c, 1)


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
        _count(state, g, c, -1)


@kernel
def _move(state, e, c):
    """Move a transfer to another round."""
    before = state.rounds[e]
    state.rounds[e] = c
    for end in range(2 * e, 2 * e + 2):
        # Where both ends are in one group, the transfer counts once.
        if end == 2 * e or state.group[end] != state.group[end - 1]:
            _remove(state, end, before)
            _insert(state, end, c)
    _count(state, state.link[e], before, -1)
    _count(state, state.link[e], c, 1)


@kernel
def _round_with_room(full, g, h, k, c):
    """Return the first round from c on that is full for none of three groups."""
    word = c // 64
    bits = full[g, word] | full[h, word] | full[k, word] | (ONE << np.uint64(c % 64)) - ONE
    while bits == ALL:
        word += 1
        bits = full[g, word] | full[h, word] | full[k, word]
    return 64 * word + lowest_bit(~bits)


@inlined
def _may_move(state, e, over, other, direction, call):
    """Tell whether a transfer may go to the other round, by its pairs over the same link."""
    k = state.link[e]
    if k == 0:
        return True
    gone = direction * state.net[k] if state.net_at[k] == call else 0
    return gone < state.counts[k, over] - state.counts[k, other] + 2 * gone


@kernel
def _make_room(state, e, end, a, b, call):
    """Insert an end of e into round a, where its group may have too many then, and has room in b.

    Return (success, transfers moved). Without success all is as before.
    """
    g = state.group[end]
    over, other, direction = a, b, 1
    state.moved_at[e] = call
    _insert(state, end, a)
    length = 0
    success = True
    while success and state.counts[g, over] > state.limits[g]:
        x = state.first[g, over]
        while x >= 0 and (
            state.moved_at[x // 2] == call
            or not _may_move(state, x // 2, over, other, direction, call)
        ):
            x = state.following[x]
        success = x >= 0
        if success:
            moved = x // 2
            state.moved_at[moved] = call
            state.trail[length] = moved
            length += 1
            _move(state, moved, other)
            k = state.link[moved]
            if state.net_at[k] != call:
                state.net_at[k] = call
                state.net[k] = 0
            state.net[k] += direction
            if state.group[x ^ 1] != g:
                g = state.group[x ^ 1]
                over, other, direction = other, over, -direction
    if not success:
        for i in range(length - 1, -1, -1):
            _move(state, state.trail[i], a + b - state.rounds[state.trail[i]])
        _remove(state, end, a)
    return success, length


@kernel
def _exchange(state, e, a, b, call):
    """Place e into round a by exchanges with others; return (success, transfers moved).

    Its link has room in a, and its second group in b. ``call`` and ``call + 1`` are new numbers.
    """
    u, v, k = state.group[2 * e], state.group[2 * e + 1], state.link[e]
    state.rounds[e] = a
    _count(state, k, a, 1)
    success, length = _make_room(state, e, 2 * e, a, _round_with_room(state.full, u, u, u, 0), call)
    if success and u != v:
        if state.counts[v, b] >= state.limits[v]:
            b = _round_with_room(state.full, v, v, v, 0)
        success, further = _make_room(state, e, 2 * e + 1, a, b, call + 1)
        length += further
        if not success:
            _remove(state, 2 * e, a)
    if not success:
        _count(state, k, a, -1)
    return success, length


@long_kernel
def colour(order, groups, limits, R, W):
    """Return the rounds (T,) of transfers that are placed in the order (T,).

    ``groups`` (T, 3) int32: the two groups of a transfer and its link, ``limits`` (G,). ``R`` :
    rounds that are there at first, ``W`` the most there may be. A group has at most
    ``limits[g] * R`` transfers; with W = 3 R all find room.
    """
    T = groups.shape[0]
    G = limits.size
    first = np.empty((G, W), np.int32)
    for g in range(G):
        for c in range(W):
            first[g, c] = -1
    group = np.empty(2 * T, np.int32)
    link = np.empty(T, np.int32)
    for e in range(T):
        group[2 * e] = groups[e, 0]
        group[2 * e + 1] = groups[e, 1]
        link[e] = groups[e, 2]
    state = State(
        group,
        link,
        limits,
        np.empty(T, np.int64),
        np.zeros((G, W), np.int32),
        np.zeros((G, W // 64 + 1), np.uint64),
        first,
        np.empty(2 * T, np.int32),
        np.empty(2 * T, np.int32),
        np.zeros(T, np.int64),
        np.empty(T, np.int64),
        np.zeros(G, np.int64),
        np.zeros(G, np.int64),
    )
    call = 1
    meter = new_meter()
    for i in range(T):
        if interrupted(meter, 8):
            break
        e = order[i]
        u, v, k = group[2 * e], group[2 * e + 1], link[e]
        c = _round_with_room(state.full, u, v, k, 0)
        placed = False
        if c >= R:
            # Rounds in which u has room as well, if there are such ones.
            h = u if _round_with_room(state.full, u, k, k, 0) < R else k
            tries = 0
            a = _round_with_room(state.full, h, k, k, 0)
            while a < R and tries < TRIES and not placed:
                b = _round_with_room(state.full, v, v, v, 0)
                while b < R and tries < TRIES and not placed:
                    placed, length = _exchange(state, e, a, b, call)
                    call += 2
                    tries += 1
                    interrupted(meter, 8 * length)
                    b = _round_with_room(state.full, v, v, v, b + 1)
                a = _round_with_room(state.full, h, k, k, a + 1)
        if not placed:
            state.rounds[e] = c
            _insert(state, 2 * e, c)
            if u != v:
                _insert(state, 2 * e + 1, c)
            _count(state, k, c, 1)
            R = max(R, c + 1)
    return state.rounds
