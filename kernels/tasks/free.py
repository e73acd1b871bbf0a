"""Whole tasks to any node: longest first, then exchanges with the fullest node.

Tasks are numbered by falling size. ``T`` tasks, ``N`` nodes; sizes, loads and caps are int64 units.
A node's excess is its load above its cap; by how much that counts is ``slowness``, 1 over the
node's weight, 0 for a node that takes no task.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.tasklists import (
    NONE,
    SUBSET_TASKS,
    nearest_exchange,
    nearest_subsets,
    new_lists,
    subset_sums,
    transfer,
)


@long_kernel
def assign_freely(size, node, movable, load, cap, slowness, tolerance, effort):
    """Move tasks until no load is above its cap, or no exchange lowers the fullest node.

    ``node`` (T,) and ``load`` (N,) are changed. ``tolerance`` is an excess that counts as none,
    ``effort`` the most steps spent on exchanges.
    """
    meter = new_meter()
    interrupted(meter, 8 * size.size)
    _place(size, node, load, cap, slowness, _leaving(size, node, movable, load, cap, slowness))
    _exchange(size, node, movable, load, cap, slowness, tolerance, effort, meter)


@kernel
def _leaving(size, node, movable, load, cap, slowness):
    """Take tasks off nodes above their caps, longest first, and return them, longest first.

    A task leaves if its node is not below its cap without it; of a node that takes none all do.
    """
    T = size.size
    leaving = np.empty(T, np.int64)
    count = 0
    for t in range(T):
        u = node[t]
        if not movable[t]:
            continue
        if slowness[u] == 0 or 0 < size[t] <= load[u] - cap[u]:
            load[u] -= size[t]
            leaving[count] = t
            count += 1
    return leaving[:count]


@kernel
def _place(size, node, load, cap, slowness, leaving):
    """Put tasks where the room is largest; one that fits nowhere stays if it is no worse there."""
    N = load.size
    # A heap of nodes by room. The room of a node that takes back a task of its own is less than
    # the key it stands under, until it comes to the top.
    heap = np.empty(N, np.int64)
    key = np.empty(N, np.int64)
    count = 0
    for u in range(N):
        if slowness[u] > 0:
            heap[count] = u
            key[u] = cap[u] - load[u]
            count += 1
    for place in range(count // 2 - 1, -1, -1):
        _sift(heap, key, count, place)
    for i in range(leaving.size):
        t = leaving[i]
        u = heap[0]
        while key[u] != cap[u] - load[u]:
            key[u] = cap[u] - load[u]
            _sift(heap, key, count, 0)
            u = heap[0]
        home = node[t]
        if key[u] < size[t] and slowness[home] > 0:
            there = (size[t] - key[u]) * slowness[u]
            here = (load[home] + size[t] - cap[home]) * slowness[home]
            if here <= there:
                u = home
        load[u] += size[t]
        node[t] = u


@kernel
def _sift(heap, key, count, place):
    """Let the node at a place of the heap sink below those of more room, or lower number."""
    u = heap[place]
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        if child + 1 < count and _before(key, heap[child + 1], heap[child]):
            child += 1
        if not _before(key, heap[child], u):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = u


@kernel
def _before(key, u, v):
    return key[u] > key[v] or (key[u] == key[v] and u < v)


@kernel
def _exchange(size, node, movable, load, cap, slowness, tolerance, effort, meter):
    """Lower the fullest node by exchanges with another, as long as one does."""
    N = load.size
    lists = new_lists(size, node, movable, N)
    tried = np.zeros(N, np.int64)
    sums = np.empty((2, 2**SUBSET_TASKS), np.int64)
    subsets = np.empty((2, 2**SUBSET_TASKS), np.int64)
    tasks = np.empty((2, SUBSET_TASKS), np.int64)
    trial = 0
    while effort > 0:
        u = _fullest(load, cap, slowness)
        if u == NONE or load[u] - cap[u] <= tolerance:
            break
        # One task for one or none; where that lowers it with no node, some tasks for some.
        lowered = False
        for several in range(2):
            trial += 1
            tried[u] = trial
            best_v = NONE
            best_task = NONE
            best_back = NONE
            best_value = (load[u] - cap[u]) * slowness[u]
            mine = 0
            if several:
                mine = subset_sums(lists, size, u, tasks[0], sums[0], subsets[0])
            while effort > 0:
                v = _emptiest(load, cap, slowness, tried, trial)
                if v == NONE:
                    break
                tried[v] = trial
                effort -= N
                low, high = _aim(load, cap, slowness, u, v, tolerance)
                if high <= 0:
                    continue
                if several:
                    other = subset_sums(lists, size, v, tasks[1], sums[1], subsets[1])
                    t, back, amount = nearest_subsets(sums[0], mine, sums[1], other, low, high)
                    t, back = subsets[0, t], subsets[1, back]
                    effort -= mine + 3 * other
                else:
                    t, back, amount, steps = nearest_exchange(lists, size, u, v, low, high)
                    effort -= steps
                value = _value_after(load, cap, slowness, u, v, amount)
                if amount > 0 and value < best_value:
                    best_v, best_task, best_back, best_value = v, t, back, value
                    if 2 * amount >= low and load[v] + amount - cap[v] <= tolerance:
                        break
            if interrupted(meter, 64 * N):
                effort = 0
            if best_v != NONE:
                lowered = True
                if several:
                    subset_sums(lists, size, best_v, tasks[1], sums[1], subsets[1])
                    for i in range(SUBSET_TASKS):
                        if best_task >> i & 1:
                            transfer(lists, size, node, load, tasks[0, i], best_v)
                        if best_back >> i & 1:
                            transfer(lists, size, node, load, tasks[1, i], u)
                else:
                    transfer(lists, size, node, load, best_task, best_v)
                    if best_back != NONE:
                        transfer(lists, size, node, load, best_back, u)
                break
        if not lowered:
            break


@kernel
def _fullest(load, cap, slowness):
    """Return the node whose excess counts most, or NONE."""
    best = NONE
    best_value = 0.0
    for u in range(load.size):
        if slowness[u] > 0:
            value = (load[u] - cap[u]) * slowness[u]
            if best == NONE or value > best_value:
                best, best_value = u, value
    return best


@kernel
def _emptiest(load, cap, slowness, tried, trial):
    """Return the node with the most room of those not tried, or NONE."""
    best = NONE
    for u in range(load.size):
        usable = slowness[u] > 0 and tried[u] != trial
        if usable and (best == NONE or cap[u] - load[u] > cap[best] - load[best]):
            best = u
    return best


@kernel
def _aim(load, cap, slowness, u, v, tolerance):
    """Return the least and the largest amount that node u should give node v.

    All its excess where that fits, else what fits; where v has no room, half of the difference.
    """
    excess = load[u] - cap[u]
    room = cap[v] - load[v]
    if room >= excess:
        return max(excess - tolerance, 1), room + tolerance
    if room > 0:
        return max(room - tolerance, 1), room + tolerance
    even = np.int64((excess * slowness[u] + room * slowness[v]) / (slowness[u] + slowness[v]))
    return even, even


@kernel
def _value_after(load, cap, slowness, u, v, amount):
    """Return the larger of the two excesses, as they count, once u gave v an amount."""
    mine = (load[u] - amount - cap[u]) * slowness[u]
    other = (load[v] + amount - cap[v]) * slowness[v]
    return max(mine, other)
