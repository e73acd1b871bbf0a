"""Exchanges of whole tasks over links: the fullest node passes its excess on to one with room.

Tasks are numbered by falling size. ``T`` tasks, ``N`` nodes; the neighbours of node u are
``neighbour[start[u]:start[u+1]]``. See ``free.py`` for loads, caps and slowness.
"""

import numpy as np

from ..shared.compiling import inlined, kernel
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

# Exchanges on a link, one after the other, for one amount.
MOST_EXCHANGES = 32
HOPS_OF_A_LINK = 2 * MOST_EXCHANGES + 2 * SUBSET_TASKS
# Nodes with room, the nearest first, that the fullest node tries.
MOST_TRIED = 64


@long_kernel
def exchange_over_links(
    size, node, movable, load, cap, slowness, start, neighbour, tolerance, effort
):
    """Lower the fullest node as long as that works, and return the hops: tasks, and where to.

    An amount goes along a path: the last node of it receives about as much as the first gives, and
    those between pass on what they get. ``node`` and ``load`` change. ``tolerance`` is an excess
    that counts as none; ``effort`` limits the steps.
    """
    N = load.size
    lists = new_lists(size, node, movable, N)
    hops = np.empty((3, 1024), np.int64)
    used = 0
    queue = np.empty(N, np.int64)
    entered = np.empty(N, np.int64)
    path = np.empty(N, np.int64)
    sums = np.empty((2, 2**SUBSET_TASKS), np.int64)
    subsets = np.empty((2, 2**SUBSET_TASKS), np.int64)
    tasks = np.empty((2, SUBSET_TASKS), np.int64)
    work = sums, subsets, tasks
    meter = new_meter()
    while effort > 0:
        u = NONE
        value = 0.0
        for v in range(N):
            own = (load[v] - cap[v]) * slowness[v]
            if own > value:
                u, value = v, own
        if u == NONE or load[u] - cap[u] <= tolerance:
            break
        reached = _reach(start, neighbour, slowness, u, queue, entered)
        effort -= 4 * N
        lowered = False
        tried = 0
        for i in range(1, reached):
            v = queue[i]
            if load[v] >= cap[v]:
                continue
            tried += 1
            length = 0
            while v != NONE:
                path[length] = v
                length += 1
                v = entered[v]
            before = used
            hops = _long_enough(hops, used, used + HOPS_OF_A_LINK * length)
            used, steps = _pass_on(
                lists, size, node, load, cap, path, length, tolerance, hops, used, work
            )
            effort -= steps
            worst = 0.0
            for j in range(length):
                worst = max(worst, (load[path[j]] - cap[path[j]]) * slowness[path[j]])
            lowered = worst < value
            if lowered:
                break
            while used > before:
                used -= 1
                transfer(lists, size, node, load, hops[0, used], hops[2, used])
            if tried >= MOST_TRIED or interrupted(meter, 64 * (N + steps)) or effort <= 0:
                break
        if not lowered:
            break
    return hops[:2, :used].copy()


@kernel
def _reach(start, neighbour, slowness, source, queue, entered):
    """List the nodes by how many links they are away; ``entered`` is the node before each."""
    for u in range(entered.size):
        entered[u] = entered.size
    entered[source] = NONE
    queue[0] = source
    reached = 1
    done = 0
    while done < reached:
        u = queue[done]
        done += 1
        for j in range(start[u], start[u + 1]):
            v = neighbour[j]
            if entered[v] == entered.size and slowness[v] > 0:
                entered[v] = u
                queue[reached] = v
                reached += 1
    return reached


@kernel
def _pass_on(lists, size, node, load, cap, path, length, tolerance, hops, used, work):
    """Send from the end of a path to its begin; return how many hops there are then, and steps.

    From the begin on: so much as a link took, the next is to bring.
    """
    source = path[length - 1]
    excess = load[source] - cap[source]
    room = cap[path[0]] - load[path[0]]
    low = max(1, min(excess, room) - tolerance)
    high = room + tolerance
    total = 0
    for i in range(length - 1):
        v = path[i]
        u = path[i + 1]
        before = load[v]
        used, steps = _shift(lists, size, node, load, u, v, low, high, hops, used, work)
        total += steps
        amount = load[v] - before
        if amount <= 0:
            break
        low = max(1, amount - tolerance)
        high = amount + tolerance
    return used, total


@kernel
def _shift(lists, size, node, load, u, v, low, high, hops, used, work):
    """Exchange tasks of two nodes so that u gives v an amount within low .. high, or near it."""
    sums, subsets, tasks = work
    total = 0
    for _ in range(MOST_EXCHANGES):
        t, back, amount, steps = nearest_exchange(lists, size, u, v, low, high)
        total += steps
        if t == NONE or max(low - amount, amount - high) >= low:
            break
        used = _hop(lists, size, node, load, t, v, hops, used)
        if back != NONE:
            used = _hop(lists, size, node, load, back, u, hops, used)
        low -= amount
        high -= amount
        if low <= 0:
            break
    if low > 0:
        # Single tasks do not do it: some for some.
        mine = subset_sums(lists, size, u, tasks[0], sums[0], subsets[0])
        other = subset_sums(lists, size, v, tasks[1], sums[1], subsets[1])
        total += 3 * (mine + other)
        i, j, amount = nearest_subsets(sums[0], mine, sums[1], other, low, high)
        if amount > 0 and max(low - amount, amount - high) < low:
            chosen, returned = subsets[0, i], subsets[1, j]
            for k in range(SUBSET_TASKS):
                if chosen >> k & 1:
                    used = _hop(lists, size, node, load, tasks[0, k], v, hops, used)
                if returned >> k & 1:
                    used = _hop(lists, size, node, load, tasks[1, k], u, hops, used)
    return used, total


@inlined
def _long_enough(hops, used, needed):
    """Return ``hops``, or a longer copy of the first ``used`` with room for ``needed`` or more."""
    size = hops.shape[1]
    while size < needed:
        size *= 2
    if size == hops.shape[1]:
        return hops
    longer = np.empty((3, size), np.int64)
    for j in range(used):
        for k in range(3):
            longer[k, j] = hops[k, j]
    return longer


@kernel
def _hop(lists, size, node, load, t, v, hops, used):
    """Move a task, and note it: the task, where to, where from."""
    hops[0, used] = t
    hops[1, used] = v
    hops[2, used] = node[t]
    transfer(lists, size, node, load, t, v)
    return used + 1
