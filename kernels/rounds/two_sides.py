"""Rounds for transfers between two sides, where first fit needs more than the least number.

It is an edge colouring of a bipartite multigraph (Konig 1916): a transfer has a group on the left
and one on the right, such as its sender and its receiver, and a group has one transfer in a round.
A transfer goes into a round in which both groups are free. Where there is none, the left one is
free in a round a, and the right one in another one, b. Then it goes into a, the transfer that the
right group has there from a to b, the one that the next group has there from b to a, and so on.
That ends at a group which is free, and never at the left one: all these transfers come to groups on
the left from round a, in which the left one has none.

``T`` transfers, ``G`` groups of both sides in all, of which group 0 stands for none; ``R`` rounds,
as many as the largest group has transfers.
"""

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.words import lowest_bit

ONE = np.uint64(1)


@long_kernel
def colour_two_sides(order, groups, table, free, rounds):
    """Place the transfers in the order (T,) into ``rounds`` (T,).

    ``groups`` (T, 2) int32. ``table`` (G, R) int32 is -1 at first, and then has the transfer of a
    group in a round; ``free`` (G, R // 64 + 1) uint64 has bit c % 64 of word c // 64 set where a
    group is free in round c, and no other bits.
    """
    words = free.shape[1]
    # Of each group the first word with a round in which it is free, or one before.
    begins = np.zeros(free.shape[0], np.int64)
    meter = new_meter()
    steps = 0
    for i in range(order.size):
        if interrupted(meter, 8 * (steps + 1)):
            break
        steps = 0
        moving = order[i]
        u, v = groups[moving, 0], groups[moving, 1]
        while free[u, begins[u]] == 0:
            begins[u] += 1
        while free[v, begins[v]] == 0:
            begins[v] += 1
        word = max(begins[u], begins[v])
        while word < words and free[u, word] & free[v, word] == 0:
            word += 1
        if word < words:
            a = 64 * word + lowest_bit(free[u, word] & free[v, word])
            b = a
        else:
            a = 64 * begins[u] + lowest_bit(free[u, begins[u]])
            b = 64 * begins[v] + lowest_bit(free[v, begins[v]])
        if u > 0:
            table[u, a] = moving
            free[u, a // 64] ^= ONE << np.uint64(a % 64)
        # v is not free in b after this, whether it gets one more transfer there or moves one.
        if v > 0:
            free[v, b // 64] ^= ONE << np.uint64(b % 64)
        side = 1
        while v > 0:
            steps += 1
            next_moving = table[v, a]
            table[v, a] = moving
            if a == b:
                break
            table[v, b] = next_moving
            if next_moving < 0:
                # The last one: it was in b, and is in a now.
                free[v, a // 64] ^= ONE << np.uint64(a % 64)
                free[v, b // 64] ^= ONE << np.uint64(b % 64)
                begins[v] = min(begins[v], b // 64)
                break
            moving = next_moving
            side = 1 - side
            v = groups[moving, side]
            a, b = b, a
    for g in range(table.shape[0]):
        for c in range(table.shape[1]):
            if table[g, c] >= 0:
                rounds[table[g, c]] = c
