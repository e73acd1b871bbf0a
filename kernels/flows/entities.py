"""Indivisible entities, each along one path to a node with room (Minimax section 5).

Entities go one after the other, in the order of their arrays: either depth first along the links
that are farthest below their target, or breadth first along links that stay within a contention
budget. ``load`` (E,) is what the paths so far put on each link.

``E`` links, ``N`` nodes, ``K`` entities. All amounts are int64.
"""

from typing import NamedTuple

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter

# The sink of an entity that has no way to any node with room.
STAYED_OUT = -1


class Links(NamedTuple):
    """The network: the links that leave node u are ``out[start[u]:start[u+1]]``, ascending."""

    start: np.ndarray  # (N + 1,) int64
    out: np.ndarray  # (E,) int64
    tail: np.ndarray  # (E,) int64
    head: np.ndarray  # (E,) int64
    usable: np.ndarray  # (E,) int64: the load that a link may carry
    counted: np.ndarray  # (E,) bool: links of the network; the others carry any load


@long_kernel
def ordered_search(links, room, node, size, target, room_target, parts):
    """Route by ordered depth-first search: largest ``target - parts * load`` first (Fig. 7).

    ``room`` (N,) is the load that a node can take; ``node``, ``size`` (K,) are where an entity is,
    and its load. ``target`` (E,) and ``room_target`` (N,) are the loads that a divisible plan puts
    on links and into nodes, in units of 1/parts. Ties go to the lowest link, and to a link before
    the room of the node itself. Return (ends, paths, sink, load): the links of entity i are
    ``paths[ends[i-1]:ends[i]]`` from its node to ``sink[i]``, or none and ``STAYED_OUT``.
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
    meter = new_meter()
    for i in range(K):
        sink[i] = STAYED_OUT
        depth = 0
        nodes[0] = node[i]
        while depth >= 0 and not interrupted(meter, 8):
            u = nodes[depth]
            if visited[u] != i:
                interrupted(meter, 8 * (start[u + 1] - start[u]))
                visited[u] = i
                current[u] = start[u]
                _rank(links, order, target, load, parts, u)
            # The best link that leads to a new node and can carry the entity, or -1.
            k = -1
            while current[u] < start[u + 1]:
                k = order[current[u]]
                free = not counted[k] or load[k] + size[i] <= usable[k]
                if visited[head[k]] != i and free:
                    break
                k = -1
                current[u] += 1
            fits = received[u] + size[i] <= room[u]
            room_short = room_target[u] - received[u] * parts
            if fits and (k < 0 or room_short > target[k] - load[k] * parts):
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
    """Order the links that leave node u, those farthest below their target first.

    ``order[start[u]:start[u+1]]`` receives them, of equals the lowest number first. It is Shell's
    sort with Knuth's gaps.
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
                other_key = load[other] * parts - target[other]
                if other_key < key or (other_key == key and other < k):
                    break
                order[place] = other
                place -= gap
            order[place] = k
        gap //= 3


@inlined
def _long_enough(paths, used, needed):
    """Return ``paths``, or a longer copy of its first ``used`` elements with ``needed`` or more."""
    size = paths.size
    while size < needed:
        size *= 2
    if size == paths.size:
        return paths
    longer = np.empty(size, np.int64)
    for j in range(used):
        longer[j] = paths[j]
    return longer


@long_kernel
def budget_search(links, room, node, size, budget):
    """Route along shortest paths of links that stay within a contention budget.

    ``budget`` is the most load that a link may carry at first; where an entity has no path, it
    rises to the least budget that opens one. Arguments and results are those of ``ordered_search``.
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
    meter = new_meter()
    for i in range(K):
        # The least budget with a path is in low .. high, if there is one. At first only the budget
        # itself is tried; if it has none, ``high`` rises to where no link is closed by the budget,
        # and the range is halved until one number remains.
        low = budget
        high = budget
        sink[i] = STAYED_OUT
        while not interrupted(meter, 2 * (N + tail.size)):
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
            # Back from the sink along the links by which nodes were entered.
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
    """Return the nearest node with room for an entity of a size at ``source``, -1 if none.

    Breadth first along links whose load stays usable and within the budget. ``entered`` (N,)
    receives the link by which a node was reached, -1 for the source, -2 for nodes not reached.
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
