"""Exchanges of several tasks with the fullest node, where one for one does not lower it.

See ``exchange.py`` for the arguments.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.tasklists import NONE, UNREACHED, aim, candidates, fullest, transfer, value_after

# Tasks of each of two nodes whose subsets are tried: 2**10 sums a node.
SUBSET_TASKS = 10
# Long tasks of the fullest node that are offered for many.
MOST_OFFERED = 8


@long_kernel
def exchange_several(
    lists, size, node, load, cap, slowness, start, neighbour, tolerance, effort, subsets
):
    """Lower the fullest node once; return the effort that remains, 0 if nothing lowers it.

    By a long task for many, or, with ``subsets``, by some tasks of it for some of another node.
    """
    N = load.size
    order = np.empty(N, np.int64)
    seen = np.empty(N, np.int64)
    tasks = np.empty((2, SUBSET_TASKS), np.int64)
    sums = np.empty((2, 2**SUBSET_TASKS), np.int64)
    chosen = np.empty((2, 2**SUBSET_TASKS), np.int64)
    meter = new_meter()
    u = fullest(load, cap, slowness)
    mine = np.int64(1)
    if subsets:
        mine = _subset_sums(lists, size, u, tasks[0], sums[0], chosen[0])
    # What goes: a task or a subset of node u; what comes back: a subset of node v, or as many of
    # its tasks as that the task takes this amount off u.
    best_v = NONE
    best_going = NONE
    best_coming = NONE
    best_value = value_after(load, cap, slowness, u, u, 0)
    for i in range(1, candidates(start, neighbour, load, cap, slowness, u, order, seen)):
        v = order[i]
        low, high = aim(load, cap, slowness, u, v, tolerance)
        if high <= 0 or effort <= 0:
            continue
        if subsets:
            other = _subset_sums(lists, size, v, tasks[1], sums[1], chosen[1])
            going, coming, amount = _nearest_subsets(sums[0], mine, sums[1], other, low, high)
            going = chosen[0, going]
            coming = chosen[1, coming]
            steps = mine + 3 * other
        else:
            going, amount, steps = _long_for_many(lists, size, u, v, low, high)
            coming = low
        effort -= steps + 1
        value = value_after(load, cap, slowness, u, v, amount)
        if amount > 0 and value < best_value:
            best_v, best_going, best_coming, best_value = v, going, coming, value
            if 2 * amount >= low and load[v] + amount - cap[v] <= tolerance:
                break
        if interrupted(meter, 4 * steps):
            effort = 0
    if best_v == NONE:
        return 0
    if subsets:
        _subset_sums(lists, size, best_v, tasks[1], sums[1], chosen[1])
        for k in range(SUBSET_TASKS):
            if best_going >> k & 1:
                transfer(lists, size, node, load, tasks[0, k], best_v)
            if best_coming >> k & 1:
                transfer(lists, size, node, load, tasks[1, k], u)
    else:
        missing = size[best_going] - best_coming
        s = lists.longest[best_v]
        while s != NONE and missing > 0:
            following = lists.shorter[s]
            if size[s] <= missing:
                missing -= size[s]
                transfer(lists, size, node, load, s, u)
            s = following
        transfer(lists, size, node, load, best_going, best_v)
    return max(effort, 1)


@kernel
def _long_for_many(lists, size, u, v, low, high):
    """Offer each of the longest tasks of node u for many of v, the longest that fit, in turn.

    Return the best task, NONE if there is none, what u gives v with it, and the steps.
    """
    best = NONE
    best_amount = 0
    best_miss = UNREACHED
    steps = 0
    t = lists.longest[u]
    for _ in range(MOST_OFFERED):
        if t == NONE or size[t] <= low or best_miss == 0:
            break
        missing = size[t] - low
        s = lists.longest[v]
        while s != NONE and missing > 0:
            steps += 1
            if size[s] <= missing:
                missing -= size[s]
            s = lists.shorter[s]
        miss = max(low + missing - high, 0)
        if miss < best_miss:
            best, best_amount, best_miss = t, low + missing, miss
        t = lists.shorter[t]
    return best, best_amount, steps


@kernel
def _subset_sums(lists, size, u, tasks, sums, subsets):
    """Choose tasks of a node, and list the sums of all their subsets, ascending.

    Up to ``SUBSET_TASKS`` tasks are chosen, spread evenly over the list of the node. ``subsets``
    receives the subset of each sum, a bit for each of ``tasks``. Return how many sums there are.
    """
    count = 0
    t = lists.longest[u]
    while t != NONE:
        count += 1
        t = lists.shorter[t]
    chosen = 0
    place = 0
    t = lists.longest[u]
    while t != NONE:
        if place * min(count, SUBSET_TASKS) >= chosen * count and chosen < SUBSET_TASKS:
            tasks[chosen] = t
            chosen += 1
        place += 1
        t = lists.shorter[t]
    sums[0] = 0
    subsets[0] = 0
    length = 1
    for i in range(chosen):
        # The sums without and with a task are merged from their ends, in place.
        s = size[tasks[i]]
        without = length - 1
        joined = length - 1
        for place in range(2 * length - 1, -1, -1):
            if joined >= 0 and (without < 0 or sums[joined] + s >= sums[without]):
                sums[place] = sums[joined] + s
                subsets[place] = subsets[joined] | (1 << i)
                joined -= 1
            else:
                sums[place] = sums[without]
                subsets[place] = subsets[without]
                without -= 1
        length *= 2
    return length


@kernel
def _nearest_subsets(mine, mine_count, other, other_count, low, high):
    """Return places in two ascending lists of sums whose difference is within or near low .. high.

    The difference is positive; (0, 0, 0) where there is none.
    """
    best_i = 0
    best_j = 0
    best_amount = 0
    best_miss = UNREACHED
    j = 0
    for i in range(mine_count):
        while j + 1 < other_count and other[j + 1] <= mine[i] - low:
            j += 1
        for k in range(j, min(j + 2, other_count)):
            amount = mine[i] - other[k]
            miss = max(low - amount, amount - high, 0)
            if amount > 0 and miss < best_miss:
                best_i, best_j, best_amount, best_miss = i, k, amount, miss
    return best_i, best_j, best_amount
