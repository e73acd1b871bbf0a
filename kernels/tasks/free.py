"""Whole tasks to any node, the longest first.

Tasks are numbered by falling size. ``T`` tasks, ``N`` nodes; see ``exchange.py`` for loads, caps
and slowness.
"""

import numpy as np

from ..shared.compiling import kernel

# Which tasks are placed anew: those that nodes have too many of; all, at home where they fit; all.
EXCESS, ALL_AT_HOME, ALL = np.arange(3)


@kernel
def take_off(size, node, movable, load, cap, slowness, kind, leaving):
    """Take tasks off their nodes, list them in ``leaving`` (T,), longest first; return how many.

    By excess a task leaves if its node is not below its cap without it; of a node that takes none
    all do.
    """
    count = 0
    for t in range(size.size):
        u = node[t]
        chosen = size[t] > 0 and (kind != EXCESS or size[t] <= load[u] - cap[u])
        if movable[t] and (chosen or slowness[u] == 0):
            load[u] -= size[t]
            leaving[count] = t
            count += 1
    return count


@kernel
def place(size, node, load, cap, slowness, kind, leaving, count):
    """Put tasks where the room is largest; one that fits nowhere stays if it is no worse there.

    ``node`` (T,) and ``load`` (N,) change. Nodes are in a heap by room, of equals the lower first.
    The room of a node that takes back a task of its own is less than the key it stands under, until
    it comes to the top.
    """
    N = load.size
    heap = np.empty(N, np.int64)
    key = np.empty(N, np.int64)
    nodes = 0
    for u in range(N):
        if slowness[u] > 0:
            heap[nodes] = u
            key[u] = cap[u] - load[u]
            nodes += 1
    # One loop sinks nodes in the heap, so that this is compiled once: as long as ``building`` is
    # above 0 those with a child, the last first, which makes the heap; then the top one after each
    # task that was put.
    building = nodes // 2
    i = 0
    while i < count:
        top = 0
        if building > 0:
            building -= 1
            top = building
        u = heap[top]
        if building > 0 or top == 0:
            key[u] = cap[u] - load[u]
        at = top
        while 2 * at + 1 < nodes:
            child = 2 * at + 1
            v = heap[child]
            if child + 1 < nodes:
                w = heap[child + 1]
                if key[w] > key[v] or (key[w] == key[v] and w < v):
                    child += 1
                    v = w
            if key[u] > key[v] or (key[u] == key[v] and u < v):
                break
            heap[at] = v
            at = child
        heap[at] = u
        u = heap[0]
        # The key may be out of date where the node took back a task: then it sinks first.
        if building > 0 or key[u] != cap[u] - load[u]:
            continue
        t = leaving[i]
        i += 1
        home = node[t]
        if slowness[home] > 0:
            room = cap[home] - load[home]
            fits_at_home = kind == ALL_AT_HOME and size[t] <= room
            no_worse = (size[t] - room) * slowness[home] <= (size[t] - key[u]) * slowness[u]
            if fits_at_home or (key[u] < size[t] and no_worse):
                u = home
        load[u] += size[t]
        node[t] = u
