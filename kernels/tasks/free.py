"""Whole tasks to any node, the longest first.

Tasks are numbered by falling size. ``T`` tasks, ``N`` nodes; see ``exchange.py`` for loads, caps
and slowness.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter

# Which tasks are placed anew: those that nodes have too many of; all, at home where they fit; all.
EXCESS, ALL_AT_HOME, ALL = 0, 1, 2


@long_kernel
def place(size, node, movable, load, cap, slowness, kind):
    """Place tasks where the room is largest; ``node`` (T,) and ``load`` (N,) change."""
    interrupted(new_meter(), 8 * size.size)
    leaving = _leaving(size, node, movable, load, cap, slowness, kind)
    _place(size, node, load, cap, slowness, leaving, kind)


@kernel
def _leaving(size, node, movable, load, cap, slowness, kind):
    """Take tasks off their nodes, and return them, longest first.

    By excess a task leaves if its node is not below its cap without it; of a node that takes none
    all do.
    """
    T = size.size
    leaving = np.empty(T, np.int64)
    count = 0
    for t in range(T):
        u = node[t]
        if not movable[t]:
            continue
        if slowness[u] == 0 or (size[t] > 0 and (kind != EXCESS or size[t] <= load[u] - cap[u])):
            load[u] -= size[t]
            leaving[count] = t
            count += 1
    return leaving[:count]


@kernel
def _place(size, node, load, cap, slowness, leaving, kind):
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
        if kind == ALL_AT_HOME and slowness[home] > 0 and size[t] <= cap[home] - load[home]:
            u = home
        elif key[u] < size[t] and slowness[home] > 0:
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
