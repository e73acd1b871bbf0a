"""Exchanges of one task for one or none with the fullest node, as long as they lower it.

Tasks are numbered by falling size. ``T`` tasks, ``N`` nodes; sizes, loads and caps are int64 units.
A node's excess is its load above its cap; by how much that counts is ``slowness``, 1 over the
node's weight, 0 for a node that takes no task.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.tasklists import (
    NONE,
    Lists,
    aim,
    candidates,
    fullest,
    nearest_exchange,
    transfer,
    value_after,
)


@kernel
def new_lists(size, node, movable, nodes):
    """Return the lists of the tasks that may move, by the nodes they are at."""
    T = size.size
    longer = np.empty(T, np.int64)
    shorter = np.empty(T, np.int64)
    longest = np.empty(nodes, np.int64)
    shortest = np.empty(nodes, np.int64)
    for u in range(nodes):
        longest[u] = NONE
        shortest[u] = NONE
    for t in range(T):
        if movable[t] and size[t] > 0:
            u = node[t]
            last = shortest[u]
            longer[t] = last
            shorter[t] = NONE
            if last == NONE:
                longest[u] = t
            else:
                shorter[last] = t
            shortest[u] = t
    return Lists(longer, shorter, longest, shortest)


@long_kernel
def exchange(lists, size, node, load, cap, slowness, start, neighbour, tolerance, effort):
    """Exchange tasks until no load is above its cap, or none lowers the fullest node.

    ``lists``, ``node`` (T,) and ``load`` (N,) change. The neighbours of node u are
    ``neighbour[start[u]:start[u+1]]``: the fullest node tries near nodes first, and none that it
    cannot reach; where ``start`` is empty, any node, that with the most room first. ``tolerance``
    is an excess that counts as none, ``effort`` the most steps; return how many remain.
    """
    N = load.size
    order = np.empty(N, np.int64)
    seen = np.empty(N, np.int64)
    meter = new_meter()
    lowered = True
    while lowered and effort > 0:
        lowered = False
        u = fullest(load, cap, slowness)
        if load[u] - cap[u] <= tolerance:
            break
        reached = candidates(start, neighbour, load, cap, slowness, u, order, seen)
        total = 2 * N
        best_v = NONE
        best_task = NONE
        best_back = NONE
        best_value = value_after(load, cap, slowness, u, u, 0)
        for i in range(1, reached):
            v = order[i]
            low, high = aim(load, cap, slowness, u, v, tolerance)
            if high <= 0 or total > effort:
                continue
            t, back, amount, steps = nearest_exchange(lists, size, u, v, low, high)
            total += steps
            value = value_after(load, cap, slowness, u, v, amount)
            if t != NONE and value < best_value:
                best_v, best_task, best_back, best_value = v, t, back, value
                if 2 * amount >= low and load[v] + amount - cap[v] <= tolerance:
                    break
        if best_v != NONE:
            lowered = True
            for t, v in ((best_task, best_v), (best_back, u)):
                if t != NONE:
                    transfer(lists, size, node, load, t, v)
        effort -= total
        if interrupted(meter, 4 * total):
            effort = 0
    return effort
