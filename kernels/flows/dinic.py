"""A short plan at a known beta: Dinic's layers, every overloaded node by its own shortest routes.

Arcs are those of ``arcs.py``; ``cap`` (A) holds the capacities of N(beta). All amounts int64.
"""

import numpy as np
from numba import njit

# Unsigned numbers of nodes and arcs spare numba's test for negative indices.
ONE = np.uint32(1)


@njit(cache=True, nogil=True)
def short_plan(start, head, rev, cap, excess, room, target):
    """Send up to ``target`` units along short routes.

    Returns (value, flow, side): ``flow`` (A) is acyclic; ``side`` (N) marks, where the target
    is not reached, the nodes from which no more can leave: a minimum cut.
    """
    n = start.size - 1
    # What an arc still takes, and what the arc back does.
    res = cap.copy()
    back = cap[rev]
    active = excess.copy()
    left = room.copy()
    dist = np.empty(n, dtype=np.int32)
    queue = np.empty(n + 1, dtype=np.uint32)
    current = np.empty(n, dtype=np.uint32)
    path = np.empty(n + 1, dtype=np.uint32)
    value = np.int64(0)
    # Nodes with load that may still reach room.
    waiting = (active > 0).sum()
    while value < target and waiting > 0:
        # The nearest go first: where load flows far one way, half the time of all at once; else
        # the same, and so is the traffic.
        enough = (waiting + 3) // 4
        found = np.int64(_layer(start, head, back, active, left, dist, queue, enough))
        for i in range(found):
            current[queue[i]] = start[queue[i]]
        reached = 0
        emptied = 0
        for i in range(found):
            u = queue[i]
            if active[u] > 0:
                value += _block(
                    start,
                    head,
                    rev,
                    res,
                    back,
                    active,
                    left,
                    dist,
                    current,
                    path,
                    u,
                    target - value,
                )
                reached += 1
                emptied += active[u] == 0
                if value == target:
                    break
        # Nodes cut off once stay so.
        waiting = (waiting if reached >= enough else reached) - emptied
    if value < target:
        _layer(start, head, back, active, left, dist, queue, n + 1)
    side = dist == n
    flow = np.maximum(cap - res, 0)
    cancel_cycles(start, head, flow)
    return value, flow, side


@njit(cache=True, nogil=True)
def _layer(start, head, back, active, left, dist, queue, waiting):
    """Set residual distances to the nodes with room; return how many nodes have one.

    They are queued from the nearest on. The search stops behind that many ``waiting`` nodes
    with load. Without branches, three times faster than with them.
    """
    n = np.uint32(dist.size)
    far = np.int32(dist.size)
    found = np.uint32(0)
    for u in range(n):
        near = left[u] > 0
        dist[u] = np.int32(0) if near else far
        queue[found] = u
        found += np.uint32(near)
    done = np.uint32(0)
    while done < found and waiting > 0:
        u = queue[done]
        done += ONE
        waiting -= active[u] > 0
        next_distance = np.int32(dist[u] + 1)
        for a in range(start[u], start[u + ONE]):
            v = head[a]
            new = (dist[v] == far) & (back[a] > 0)
            dist[v] = next_distance if new else dist[v]
            queue[found] = v
            found += np.uint32(new)
    return found


@njit(cache=True, nogil=True)
def _block(start, head, rev, res, back, active, left, dist, current, path, source, wanted):
    """Send from one node along arcs that come nearer until it is empty or blocked."""
    n = np.int32(dist.size)
    sent = np.int64(0)
    depth = 0
    u = source
    while active[source] > 0 and sent < wanted:
        if left[u] > 0 and dist[u] == 0:
            amount = min(active[source], left[u], wanted - sent)
            for i in range(depth):
                amount = min(amount, res[path[i]])
            keep = depth
            for i in range(depth - 1, -1, -1):
                a = path[i]
                twin = rev[a]
                res[a] -= amount
                back[twin] -= amount
                res[twin] += amount
                back[a] += amount
                if res[a] == 0:
                    keep = i
            active[source] -= amount
            left[u] -= amount
            sent += amount
            # Go on from the tail of the first arc that is full.
            if keep < depth:
                u = head[rev[path[keep]]]
                depth = keep
            continue
        nearer = np.int32(dist[u] - 1)
        a = current[u]
        end = start[u + ONE]
        while a < end and not (dist[head[a]] == nearer and res[a] > 0):
            a += ONE
        current[u] = a
        if a < end:
            path[depth] = a
            depth += 1
            u = head[a]
            continue
        dist[u] = n + 1
        if depth == 0:
            break
        depth -= 1
        u = head[rev[path[depth]]]
        current[u] += ONE
    return sent


@njit(cache=True, nogil=True)
def cancel_cycles(start, head, flow):
    """Take directed cycles out of a flow (A), in place."""
    n = start.size - 1
    # Peeling nodes without inflow leaves nothing where there is no cycle.
    inflows = np.zeros(n, dtype=np.int64)
    for a in range(flow.size):
        if flow[a] > 0:
            inflows[head[a]] += 1
    order = np.empty(n, dtype=np.int32)
    peeled = 0
    for u in range(n):
        if inflows[u] == 0:
            order[peeled] = u
            peeled += 1
    done = 0
    while done < peeled:
        u = order[done]
        done += 1
        for a in range(start[u], start[u + 1]):
            if flow[a] > 0:
                inflows[head[a]] -= 1
                if inflows[head[a]] == 0:
                    order[peeled] = head[a]
                    peeled += 1
    if peeled == n:
        return
    # Walk forward along flow; a node met again on the walk closes a cycle, a dead end retreats.
    place = np.full(n, -1, dtype=np.int64)
    current = start[:-1].copy()
    path = np.empty(n + 1, dtype=np.int64)
    nodes = np.empty(n + 1, dtype=np.int64)
    for root in range(n):
        if inflows[root] == 0:
            continue
        depth = 0
        nodes[0] = root
        place[root] = 0
        while depth >= 0:
            u = nodes[depth]
            while current[u] < start[u + 1] and flow[current[u]] == 0:
                current[u] += 1
            if current[u] == start[u + 1]:
                place[u] = -1
                depth -= 1
                if depth >= 0:
                    current[nodes[depth]] += 1
                continue
            a = current[u]
            v = head[a]
            path[depth] = a
            if place[v] < 0:
                depth += 1
                nodes[depth] = v
                place[v] = depth
                continue
            least = flow[a]
            for i in range(place[v], depth):
                least = min(least, flow[path[i]])
            back = depth
            for i in range(depth, place[v] - 1, -1):
                flow[path[i]] -= least
                if flow[path[i]] == 0:
                    back = i
            for i in range(back + 1, depth + 1):
                place[nodes[i]] = -1
            depth = back
