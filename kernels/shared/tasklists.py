"""The movable tasks of every node, longest first, and exchanges of tasks between two nodes.

Tasks are numbered by falling size, so a list by rising number is one by falling size. Size is
int64; a task of size 0 is in no list. ``T`` tasks, ``N`` nodes.

    longer[t], shorter[t]     the neighbours of task t in the list of its node, NONE at the ends
    shortest[u], longest[u]   the ends of the list of node u
"""

from typing import NamedTuple

import numpy as np

from .compiling import inlined

# An int64, as numba compiles a function once more for each literal; so are zeros below.
NONE = np.int64(-1)
# Above any size.
UNREACHED = 2**62


class Lists(NamedTuple):
    """The lists of all nodes."""

    longer: np.ndarray  # (T,) int64
    shorter: np.ndarray  # (T,) int64
    longest: np.ndarray  # (N,) int64
    shortest: np.ndarray  # (N,) int64


@inlined
def transfer(lists, size, node, load, t, v):
    """Move task t to node v."""
    longer, shorter, longest, shortest = lists
    u = node[t]
    before = longer[t]
    after = shorter[t]
    if before == NONE:
        longest[u] = after
    else:
        shorter[before] = after
    if after == NONE:
        shortest[u] = before
    else:
        longer[after] = before
    # From both ends at once: long tasks move first, short ones last.
    after = NONE
    before = shortest[v]
    upper = NONE
    lower = longest[v]
    while before > t and lower < t:
        after = before
        before = longer[before]
        upper = lower
        lower = shorter[lower]
    if before > t:
        before = upper
        after = lower
    longer[t] = before
    shorter[t] = after
    if before == NONE:
        longest[v] = t
    else:
        shorter[before] = t
    if after == NONE:
        shortest[v] = t
    else:
        longer[after] = t
    load[u] -= size[t]
    load[v] += size[t]
    node[t] = v


@inlined
def nearest_exchange(lists, size, u, v, low, high):
    """Return the exchange that takes an amount within low .. high, or nearest to it, off node u.

    It is a task, or NONE where nothing takes anything off node u; one for it, or NONE; the amount;
    and the steps. Both lists are read once, from their short ends; of equally good exchanges the
    one that moves the shortest task is chosen.
    """
    longer = lists.longer
    best = NONE
    best_back = NONE
    best_amount = 0
    best_miss = UNREACHED
    t = lists.shortest[u]
    back = NONE
    next_back = lists.shortest[v]
    steps = 0
    while t != NONE and best_miss > 0:
        steps += 1
        # ``back`` is the longest task that leaves at least ``low``.
        while next_back != NONE and size[next_back] <= size[t] - low:
            back = next_back
            next_back = longer[next_back]
            steps += 1
        amount = size[t]
        if back != NONE:
            amount -= size[back]
        miss = max(low - amount, amount - high, 0)
        if miss < best_miss:
            best, best_back, best_amount, best_miss = t, back, amount, miss
        if next_back != NONE and size[next_back] < size[t]:
            miss = low - (size[t] - size[next_back])
            if miss < best_miss:
                best, best_back, best_amount, best_miss = t, next_back, low - miss, miss
        t = longer[t]
    return best, best_back, best_amount, steps


@inlined
def fullest(load, cap, slowness):
    """Return the node whose excess, load above cap, counts most, of those that take tasks."""
    best = np.int64(0)
    best_value = -np.inf
    for u in range(load.size):
        value = (load[u] - cap[u]) * slowness[u]
        if slowness[u] > 0 and value > best_value:
            best, best_value = u, value
    return best


@inlined
def candidates(start, neighbour, load, cap, slowness, source, order, seen):
    """List the nodes that may exchange tasks with one, itself first; return how many.

    By how many links they are away; where ``start`` is empty, that with the most room first.
    """
    for u in range(load.size):
        seen[u] = 0
    seen[source] = 1
    order[0] = source
    reached = 1
    done = 0
    if start.size == 0:
        for u in range(load.size):
            if u != source and slowness[u] > 0:
                order[reached] = u
                if cap[u] - load[u] > cap[order[1]] - load[order[1]]:
                    order[reached] = order[1]
                    order[1] = u
                reached += 1
        done = reached
    while done < reached:
        u = order[done]
        done += 1
        for j in range(start[u], start[u + 1]):
            v = neighbour[j]
            if seen[v] == 0 and slowness[v] > 0:
                seen[v] = 1
                order[reached] = v
                reached += 1
    return reached


@inlined
def aim(load, cap, slowness, u, v, tolerance):
    """Return the least and the largest amount that node u should give node v.

    All its excess where that fits, else what fits; where v has no room, half of the difference.
    """
    excess = load[u] - cap[u]
    room = cap[v] - load[v]
    low = np.int64((excess * slowness[u] + room * slowness[v]) / (slowness[u] + slowness[v]))
    high = low
    if room > 0:
        low = max(min(excess, room) - tolerance, 1)
        high = room + tolerance
    return low, high


@inlined
def value_after(load, cap, slowness, u, v, amount):
    """Return the larger of the excesses of two nodes, as they count, once u gave v an amount."""
    mine = (load[u] - amount - cap[u]) * slowness[u]
    other = (load[v] + amount - cap[v]) * slowness[v]
    return max(mine, other)
