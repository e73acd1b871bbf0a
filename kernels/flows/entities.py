"""Indivisible entities, each along one path to a node with room (Minimax section 5).

One entity after the other, in the order given: either depth first along the links that are
farthest below their target, or breadth first along links that stay within a contention budget.

``E`` links, ``N`` nodes, ``K`` entities. All amounts are int64.
"""

from typing import NamedTuple

import numpy as np

from ..shared.compiling import inlined, kernel

STAYED_OUT = -1


class Links(NamedTuple):
    """The network: links that leave ``u`` are ``out[start[u]:start[u+1]]``, ascending."""

    start: np.ndarray  # (N + 1,) int64
    out: np.ndarray  # (E,) int64
    tail: np.ndarray  # (E,) int64
    head: np.ndarray  # (E,) int64
    usable: np.ndarray  # (E,) int64: capacity left for load
    counted: np.ndarray  # (E,) bool: links of the network; the others are free to use


@kernel
def ordered_search(links, room, node, size, target, room_target, parts):
    """Route by ordered depth-first search: largest ``target - parts * load`` first (Fig. 7).

    ``room`` (N,) is the load a node can take, ``node``, ``size`` (K,) are where an entity is and
    its load. ``target`` (E,) and ``room_target`` (N,) are in units of 1/parts; ties go to the
    lowest link, and to a link before a room. Returns (ends, paths, sink, load): the links of
    entity ``i`` are ``paths[ends[i-1]:ends[i]]``, its ``sink`` is -1 where there is no way.
    """
    start, out, _, head, usable, counted = links
    K = node.size
    N = room.size
    load = np.zeros(usable.size, np.int64)
    received = np.zeros(N, np.int64)
    ends = np.empty(K, np.int64)
    sink = np.empty(K, np.int64)
    paths = np.empty(64, np.int64)
    used = 0
    visited = np.empty(N, np.int64)
    order = np.empty(out.size, np.int64)
    current = np.empty(N, np.int64)
    path = np.empty(N, np.int64)
    nodes = np.empty(N + 1, np.int64)
    for u in range(N):
        visited[u] = -1
    for i in range(K):
        sink[i] = STAYED_OUT
        depth = 0
        nodes[0] = node[i]
        while depth >= 0:
            u = nodes[depth]
            if visited[u] != i:
                visited[u] = i
                current[u] = start[u]
                _rank(links, order, target, load, parts, u)
            k = -1
            while current[u] < start[u + 1]:
                k = order[current[u]]
                free = not counted[k] or load[k] + size[i] <= usable[k]
                if visited[head[k]] != i and free:
                    break
                k = -1
                current[u] += 1
            fits = received[u] + size[i] <= room[u]
            rest = room_target[u] - received[u] * parts
            if fits and (k < 0 or rest > target[k] - load[k] * parts):
                sink[i] = u
                break
            if k < 0:
                depth -= 1
                continue
            path[depth] = k
            depth += 1
            nodes[depth] = head[k]
        if sink[i] >= 0:
            received[sink[i]] += size[i]
            paths = _long_enough(paths, used, used + depth)
            for j in range(depth):
                paths[used] = path[j]
                load[path[j]] += size[i]
                used += 1
        ends[i] = used
    return ends, paths, sink, load


@kernel
def _rank(links, order, target, load, parts, u):
    """Order the links that leave ``u`` by the largest difference from their target.

    Shell's sort with Knuth's gaps; equal ones in the order of their numbers.
    """
    first = links.start[u]
    last = links.start[u + 1]
    gap = 1
    while gap < (last - first) // 3:
        gap = 3 * gap + 1
    for j in range(first, last):
        order[j] = links.out[j]
    while gap > 0:
        for j in range(first + gap, last):
            k = order[j]
            key = load[k] * parts - target[k]
            place = j
            while place >= first + gap:
                other = order[place - gap]
                ahead = load[other] * parts - target[other]
                if ahead < key or (ahead == key and other < k):
                    break
                order[place] = other
                place -= gap
            order[place] = k
        gap //= 3


@inlined
def _long_enough(paths, used, needed):
    """Return an array with the first ``used`` elements and room for ``needed``."""
    size = paths.size
    while size < needed:
        size *= 2
    if size == paths.size:
        return paths
    longer = np.empty(size, np.int64)
    for j in range(used):
        longer[j] = paths[j]
    return longer


@kernel
def budget_search(links, room, node, size, budget):
    """Route along shortest paths of links that stay within a contention budget.

    Where no path is left the budget rises to the least that opens one. Returns as
    ``ordered_search`` does.
    """
    tail = links.tail
    K = node.size
    N = room.size
    load = np.zeros(tail.size, np.int64)
    remaining = room.copy()
    ends = np.empty(K, np.int64)
    sink = np.empty(K, np.int64)
    paths = np.empty(64, np.int64)
    used = 0
    entered = np.empty(N, np.int64)
    queue = np.empty(N, np.int64)
    path = np.empty(N, np.int64)
    for i in range(K):
        low = budget
        high = budget
        sink[i] = STAYED_OUT
        while True:
            # Between ``low`` and ``high`` lies the least budget with a path; at first it is known.
            middle = low + (high - low) // 2
            u = _nearest(links, middle, remaining, load, node[i], size[i], entered, queue)
            if u >= 0 and middle == low:
                sink[i] = u
                budget = middle
                break
            if u >= 0:
                high = middle
            elif high > low:
                low = middle + 1
            elif high > budget:
                break
            else:
                for k in range(tail.size):
                    if links.counted[k] and load[k] + size[i] <= links.usable[k]:
                        high = max(high, load[k] + size[i])
                if high == budget:
                    break
                low = budget + 1
        if sink[i] >= 0:
            remaining[u] -= size[i]
            depth = 0
            while entered[u] >= 0:
                path[depth] = entered[u]
                u = tail[entered[u]]
                depth += 1
            paths = _long_enough(paths, used, used + depth)
            for j in range(depth - 1, -1, -1):
                paths[used] = path[j]
                load[path[j]] += size[i]
                used += 1
        ends[i] = used
    return ends, paths, sink, load


@inlined
def _nearest(links, budget, remaining, load, source, size, entered, queue):
    """Breadth-first: the nearest node with room, -1 if none; ``entered`` are links or -1, -2.

    Links take an entity as far as they are usable and their load stays within the budget.
    """
    start, out, _, head, usable, counted = links
    for u in range(entered.size):
        entered[u] = -2
    entered[source] = -1
    queue[0] = source
    reached = 1
    done = 0
    result = -1
    while done < reached and result < 0:
        u = queue[done]
        done += 1
        if remaining[u] >= size:
            result = u
        for j in range(start[u], start[u + 1]):
            k = out[j]
            v = head[k]
            free = not counted[k] or load[k] + size <= min(usable[k], budget)
            if entered[v] == -2 and free:
                entered[v] = k
                queue[reached] = v
                reached += 1
    return result
