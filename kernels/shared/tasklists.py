"""The movable tasks of every node, longest first, and exchanges of tasks between two nodes.

Tasks are numbered by falling size, so a list by rising number is one by falling size. Size is
int64; a task of size 0 is in no list. ``T`` tasks, ``N`` nodes.

    longer[t], shorter[t]     the neighbours of task t in the list of its node, NONE at the ends
    shortest[u], longest[u]   the ends of the list of node u
"""

from typing import NamedTuple

import numpy as np

from .compiling import kernel

NONE = -1
# Tasks of each of two nodes whose subsets are tried: 2**10 sums a node.
SUBSET_TASKS = 10
# Above any size.
UNREACHED = 2**62


class Lists(NamedTuple):
    """The lists of all nodes."""

    longer: np.ndarray  # (T,) int64
    shorter: np.ndarray  # (T,) int64
    longest: np.ndarray  # (N,) int64
    shortest: np.ndarray  # (N,) int64


class Exchange(NamedTuple):
    """One task, or none, for another: ``amount`` is what the giver has less afterwards."""

    task: int
    back: int
    amount: int
    steps: int


@kernel
def new_lists(size, node, movable, nodes):
    """Return the lists of the tasks that may move, by the nodes they are at."""
    T = size.size
    lists = Lists(
        np.empty(T, np.int64),
        np.empty(T, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
    )
    for u in range(nodes):
        lists.longest[u] = NONE
        lists.shortest[u] = NONE
    for t in range(T):
        if movable[t] and size[t] > 0:
            u = node[t]
            last = lists.shortest[u]
            lists.longer[t] = last
            lists.shorter[t] = NONE
            if last == NONE:
                lists.longest[u] = t
            else:
                lists.shorter[last] = t
            lists.shortest[u] = t
    return lists


@kernel
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
    # From the short end, where most tasks that move belong.
    after = NONE
    before = shortest[v]
    while before > t:
        after = before
        before = longer[before]
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


@kernel
def nearest_exchange(lists, size, u, v, low, high):
    """Return the exchange that takes an amount within low .. high, or nearest to it, off node u.

    Both lists are read once, from their short ends; of equally good exchanges the one that moves
    the shortest task is chosen. ``task`` is NONE where no exchange takes anything off node u.
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
    return Exchange(best, best_back, best_amount, steps)


@kernel
def subset_sums(lists, size, u, tasks, sums, subsets):
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
def nearest_subsets(mine, mine_count, other, other_count, low, high):
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
