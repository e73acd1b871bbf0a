"""Whole tasks along a plan: every node passes on what it has above what is to stay.

Tasks are numbered by falling size. Arcs lie node by node: those of node u lead to
``head[start[u]:start[u+1]]`` and carry ``amount``. ``T`` tasks, ``N`` nodes, ``A`` arcs; sizes,
loads and amounts are int64 units. A hop is a task and the node it goes to.
"""

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.tasklists import NONE


@kernel
def sending_order(start, head, amount):
    """Return the nodes (N,), senders before receivers, and how many of them there are.

    Fewer than N where a cycle of arcs with an amount keeps some from being reached.
    """
    N = start.size - 1
    waiting = np.zeros(N, np.int64)
    for arc in range(head.size):
        if amount[arc] > 0:
            waiting[head[arc]] += 1
    order = np.empty(N, np.int64)
    ready = 0
    for u in range(N):
        if waiting[u] == 0:
            order[ready] = u
            ready += 1
    done = 0
    while done < ready:
        u = order[done]
        done += 1
        for arc in range(start[u], start[u + 1]):
            if amount[arc] > 0:
                v = head[arc]
                waiting[v] -= 1
                if waiting[v] == 0:
                    order[ready] = v
                    ready += 1
    return order, ready


@long_kernel
def cancel_cycles(start, head, amount):
    """Lower the amounts on cycles of arcs, in place, until there is none; loads stay the same.

    Depth first: an arc back to a node of the path closes a cycle.
    """
    N = start.size - 1
    current = start[:N].copy()
    # The place of a node in the path, NONE outside; ``path`` holds the arcs to its nodes.
    place = np.empty(N, np.int64)
    for u in range(N):
        place[u] = NONE
    path = np.empty(N + 1, np.int64)
    tail = np.empty(N + 1, np.int64)
    meter = new_meter()
    for root in range(N):
        tail[0] = root
        place[root] = 0
        depth = 0
        while depth >= 0 and not interrupted(meter, 8):
            u = tail[depth]
            arc = current[u]
            if arc == start[u + 1]:
                # All arcs of u are done: no cycle leads through it any more.
                place[u] = NONE
                depth -= 1
                if depth >= 0:
                    current[tail[depth]] += 1
                continue
            v = head[arc]
            if amount[arc] == 0 or current[v] == start[v + 1]:
                current[u] += 1
            elif place[v] == NONE:
                depth += 1
                path[depth] = arc
                tail[depth] = v
                place[v] = depth
            else:
                least = amount[arc]
                for k in range(place[v] + 1, depth + 1):
                    least = min(least, amount[path[k]])
                amount[arc] -= least
                # Back to the tail of the first arc that carries nothing now.
                for k in range(depth, place[v], -1):
                    amount[path[k]] -= least
                for k in range(place[v] + 1, depth + 1):
                    if amount[path[k]] == 0:
                        for j in range(k, depth + 1):
                            place[tail[j]] = NONE
                        depth = k - 1
                        break
        place[root] = NONE


@long_kernel
def send_along(size, node, movable, load, stay, order, start, head, amount, limited):
    """Send tasks along arcs, and return the hops (H,): tasks and the nodes they go to.

    ``order`` (N,) has senders before receivers. A node sends what it holds above ``stay`` (N,) over
    its arcs, in proportion to their amounts, which none exceeds where they are ``limited``; longest
    tasks first, each over the arc that is farthest below its share. ``node`` and ``load`` change.
    """
    T = size.size
    N = load.size
    first = np.zeros(N + 1, np.int64)
    for t in range(T):
        if movable[t] and size[t] > 0:
            first[node[t] + 1] += 1
    for u in range(N):
        first[u + 1] += first[u]
    own = np.empty(first[N], np.int64)
    place = first[:N].copy()
    for t in range(T):
        if movable[t] and size[t] > 0:
            own[place[node[t]]] = t
            place[node[t]] += 1
    arrived = np.empty(N, np.int64)
    for u in range(N):
        arrived[u] = NONE
    following = np.empty(T, np.int64)
    here = np.empty(T, np.int64)
    share = np.empty(head.size, np.int64)
    hops = np.empty((2, 64), np.int64)
    used = 0
    meter = new_meter()
    for i in range(N):
        u = order[i]
        above = load[u] - stay[u]
        planned = 0
        for arc in range(start[u], start[u + 1]):
            planned += amount[arc]
        if above <= 0 or planned == 0:
            continue
        count = 0
        for j in range(first[u], first[u + 1]):
            here[count] = own[j]
            count += 1
        t = arrived[u]
        if t != NONE:
            while t != NONE:
                here[count] = t
                count += 1
                t = following[t]
            _sort(here, count)
        part = above / planned
        if limited:
            part = min(part, 1.0)
        for arc in range(start[u], start[u + 1]):
            share[arc] = np.int64(amount[arc] * part)
        hops = _long_enough(hops, used, used + count)
        for j in range(count):
            t = here[j]
            best = start[u]
            for arc in range(start[u] + 1, start[u + 1]):
                if share[arc] > share[best]:
                    best = arc
            if size[t] <= share[best]:
                share[best] -= size[t]
                v = head[best]
                load[u] -= size[t]
                load[v] += size[t]
                node[t] = v
                following[t] = arrived[v]
                arrived[v] = t
                hops[0, used] = t
                hops[1, used] = v
                used += 1
        if interrupted(meter, 16 * count):
            break
    return hops[:, :used].copy()


@kernel
def _sort(numbers, count):
    """Sort the first numbers, ascending, by Shell's method with Knuth's gaps."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for j in range(gap, count):
            number = numbers[j]
            place = j
            while place >= gap and numbers[place - gap] > number:
                numbers[place] = numbers[place - gap]
                place -= gap
            numbers[place] = number
        gap //= 3


@inlined
def _long_enough(hops, used, needed):
    """Return ``hops``, or a longer copy of the first ``used`` with room for ``needed`` or more."""
    size = hops.shape[1]
    while size < needed:
        size *= 2
    if size == hops.shape[1]:
        return hops
    longer = np.empty((2, size), np.int64)
    for j in range(used):
        longer[0, j] = hops[0, j]
        longer[1, j] = hops[1, j]
    return longer


@kernel
def paths_of(hops, owner, nodes):
    """Return the paths of tasks that end at another node: (tasks, ends, nodes of all paths).

    ``hops`` (2, H) are in the order of time. A path that comes back to a node of its own loses what
    lies between. ``ends[i]`` is where the path of ``tasks[i]`` ends in the last array.
    """
    T = owner.size
    H = hops.shape[1]
    first = np.zeros(T + 1, np.int64)
    for h in range(H):
        first[hops[0, h] + 1] += 1
    for t in range(T):
        first[t + 1] += first[t]
    visited = np.empty(H, np.int64)
    place = first[:T].copy()
    for h in range(H):
        t = hops[0, h]
        visited[place[t]] = hops[1, h]
        place[t] += 1
    tasks = np.empty(T, np.int64)
    ends = np.empty(T, np.int64)
    path = np.empty(H + T, np.int64)
    # The place of a node in the path of the task in hand.
    at = np.empty(nodes, np.int64)
    for u in range(nodes):
        at[u] = NONE
    count = 0
    used = 0
    for t in range(T):
        begin = used
        path[used] = owner[t]
        at[owner[t]] = used
        used += 1
        for h in range(first[t], first[t + 1]):
            u = visited[h]
            if at[u] == NONE:
                at[u] = used
                path[used] = u
                used += 1
            else:
                while path[used - 1] != u:
                    used -= 1
                    at[path[used]] = NONE
        for i in range(begin, used):
            at[path[i]] = NONE
        if used == begin + 1:
            used = begin
            continue
        tasks[count] = t
        ends[count] = used
        count += 1
    return tasks[:count].copy(), ends[:count].copy(), path[:used].copy()
