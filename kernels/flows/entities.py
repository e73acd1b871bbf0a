"""Indivisible entities, each along one path to a node with room (Minimax section 5).

``E`` links, ``N`` nodes. Links leaving ``u`` are ``out[start[u]:start[u+1]]``, ascending.

===========  =  ==================================================================
``usable``   E  capacity left for load
``counted``  E  links of the network; the others are free to use
``room``     N  load a node can take
``node``     K  where an entity is, in routing order; ``size`` (K) its load
===========  =  ==================================================================
"""

import numpy as np
from numba import njit

STAYED_OUT = -1


@njit(cache=True, nogil=True)
def ordered_search(start, out, head, usable, counted, room, node, size, target, room_target, parts):
    """Route by ordered depth-first search: largest ``target - parts * load`` first (Fig. 7).

    ``target`` (E) and ``room_target`` (N) are in units of 1/parts; ties go to the lowest link,
    and to a link before a room. Returns (ends, links, sink, load): the path of entity ``i`` is
    ``links[ends[i-1]:ends[i]]``, its ``sink`` -1 where it found no way.
    """
    K = node.size
    N = room.size
    load = np.zeros(usable.size, dtype=np.int64)
    taken = np.zeros(N, dtype=np.int64)
    ends = np.zeros(K, dtype=np.int64)
    sink = np.full(K, STAYED_OUT, dtype=np.int64)
    links = np.empty(64, dtype=np.int64)
    used = 0
    visited = np.full(N, -1, dtype=np.int64)
    order = out.copy()
    current = np.empty(N, dtype=np.int64)
    path = np.empty(N, dtype=np.int64)
    nodes = np.empty(N + 1, dtype=np.int64)
    for i in range(K):
        depth = 0
        nodes[0] = node[i]
        _rank(start, out, order, current, target, load, parts, node[i])
        visited[node[i]] = i
        while depth >= 0:
            u = nodes[depth]
            k = -1
            while current[u] < start[u + 1]:
                k = order[current[u]]
                free = not counted[k] or load[k] + size[i] <= usable[k]
                if visited[head[k]] != i and free:
                    break
                k = -1
                current[u] += 1
            fits = taken[u] + size[i] <= room[u]
            rest = room_target[u] - taken[u] * parts
            if fits and (k < 0 or rest > target[k] - load[k] * parts):
                sink[i] = u
                break
            if k < 0:
                depth -= 1
                continue
            path[depth] = k
            depth += 1
            v = head[k]
            nodes[depth] = v
            visited[v] = i
            _rank(start, out, order, current, target, load, parts, v)
        if sink[i] >= 0:
            taken[sink[i]] += size[i]
            while used + depth > links.size:
                links = np.concatenate((links, np.empty(links.size, dtype=np.int64)))
            for j in range(depth):
                links[used] = path[j]
                load[path[j]] += size[i]
                used += 1
        ends[i] = used
    return ends, links[:used], sink, load


@njit(cache=True, nogil=True)
def _rank(start, out, order, current, target, load, parts, u):
    """Order the links leaving ``u`` by the largest difference from their target."""
    first = start[u]
    last = start[u + 1]
    current[u] = first
    key = np.empty(last - first, dtype=np.int64)
    for j in range(first, last):
        key[j - first] = load[out[j]] * parts - target[out[j]]
    ranked = np.argsort(key, kind="mergesort")
    for j in range(first, last):
        order[j] = out[first + ranked[j - first]]


@njit(cache=True, nogil=True)
def budget_search(start, out, tail, head, usable, counted, room, node, size, budget):
    """Route along shortest paths of links that stay within a contention budget.

    Where no path is left the budget rises to the least that opens one. Returns as
    ``ordered_search`` does.
    """
    K = node.size
    N = room.size
    load = np.zeros(usable.size, dtype=np.int64)
    left = room.copy()
    ends = np.zeros(K, dtype=np.int64)
    sink = np.full(K, STAYED_OUT, dtype=np.int64)
    links = np.empty(64, dtype=np.int64)
    used = 0
    entered = np.empty(N, dtype=np.int64)
    queue = np.empty(N, dtype=np.int64)
    path = np.empty(N, dtype=np.int64)
    for i in range(K):
        # What a link may carry before this entity.
        most = np.minimum(usable, budget) - size[i]
        u = _nearest(start, out, head, most, counted, left, load, node[i], size[i], entered, queue)
        if u < 0:
            opened = _least_budget(
                start,
                out,
                head,
                usable,
                counted,
                left,
                load,
                node[i],
                size[i],
                budget,
                entered,
                queue,
            )
            if opened >= 0:
                budget = opened
                most = np.minimum(usable, budget) - size[i]
                u = _nearest(
                    start, out, head, most, counted, left, load, node[i], size[i], entered, queue
                )
        if u >= 0:
            sink[i] = u
            left[u] -= size[i]
            depth = 0
            while entered[u] >= 0:
                path[depth] = entered[u]
                u = tail[entered[u]]
                depth += 1
            while used + depth > links.size:
                links = np.concatenate((links, np.empty(links.size, dtype=np.int64)))
            for j in range(depth - 1, -1, -1):
                links[used] = path[j]
                load[path[j]] += size[i]
                used += 1
        ends[i] = used
    return ends, links[:used], sink, load


@njit(cache=True, nogil=True)
def _nearest(start, out, head, most, counted, left, load, source, size, entered, queue):
    """Breadth-first: the nearest node with room, -1 if none; ``entered`` are links or -1, -2."""
    entered[:] = -2
    entered[source] = -1
    queue[0] = source
    found = 1
    done = 0
    while done < found:
        u = queue[done]
        done += 1
        if left[u] >= size:
            return u
        for j in range(start[u], start[u + 1]):
            k = out[j]
            if entered[head[k]] == -2 and (not counted[k] or load[k] <= most[k]):
                entered[head[k]] = k
                queue[found] = head[k]
                found += 1
    return -1


@njit(cache=True, nogil=True)
def _least_budget(
    start, out, head, usable, counted, left, load, source, size, budget, entered, queue
):
    """Return the least budget with which some path to room exists, -1 if none does."""
    steps = np.unique(np.where(counted & (load + size <= usable), load + size, budget))
    low = 0
    high = steps.size
    while low < high:
        middle = (low + high) // 2
        most = np.minimum(usable, steps[middle]) - size
        if _nearest(start, out, head, most, counted, left, load, source, size, entered, queue) < 0:
            low = middle + 1
        else:
            high = middle
    return steps[low] if low < steps.size else np.int64(-1)
