"""A short plan at a known beta: Dinic by layers from all overloaded nodes, cycles cancelled.

Arcs are those of ``arcs.py``; ``cap`` (A) holds the capacities of N(beta). All amounts int64.
"""

import numpy as np
from numba import njit

# Layers by the nearest pair alone keep routes shortest, but a wide network has as many of them
# as its diameter; after this many every overloaded node sends along its own shortest routes.
NEAREST_LAYERS = 64


@njit(cache=True, nogil=True)
def short_plan(start, head, rev, cap, excess, room, target):
    """Send up to ``target`` units along short routes.

    Returns (value, flow, side): ``flow`` (A) is acyclic; ``side`` (N) marks, where the target
    is not reached, the nodes from which no more can leave: a minimum cut.
    """
    n = start.size - 1
    res = cap.copy()
    active = excess.copy()
    left = room.copy()
    dist = np.empty(n, dtype=np.int32)
    queue = np.empty(n, dtype=np.int32)
    current = np.empty(n, dtype=np.int64)
    path = np.empty(n + 1, dtype=np.int64)
    value = np.int64(0)
    layers = 0
    while value < target:
        nearest = layers < NEAREST_LAYERS
        if not _layer(start, head, rev, res, active, left, dist, queue, nearest):
            break
        layers += 1
        for u in range(n):
            current[u] = start[u]
        limit = np.int32(n)
        if nearest:
            for u in range(n):
                if active[u] > 0 and dist[u] < limit:
                    limit = dist[u]
        for u in range(n):
            if active[u] > 0 and dist[u] < n and (not nearest or dist[u] == limit):
                value += _block(
                    start, head, rev, res, active, left, dist, current, path, u, target - value
                )
                if value == target:
                    break
    side = dist == n
    flow = np.empty(cap.size, dtype=np.int64)
    for a in range(cap.size):
        flow[a] = max(cap[a] - res[a], np.int64(0))
    cancel_cycles(start, head, flow)
    return value, flow, side


@njit(cache=True, nogil=True)
def _layer(start, head, rev, res, active, left, dist, queue, nearest):
    """Set residual distances to the nodes with room; stop behind the first overloaded layer."""
    n = dist.size
    dist[:] = n
    found = 0
    for u in range(n):
        if left[u] > 0:
            dist[u] = 0
            queue[found] = u
            found += 1
    limit = n
    reached = False
    done = 0
    while done < found:
        u = queue[done]
        done += 1
        next_distance = dist[u] + 1
        if next_distance > limit:
            break
        for a in range(start[u], start[u + 1]):
            v = head[a]
            if dist[v] == n and res[rev[a]] > 0:
                dist[v] = next_distance
                queue[found] = v
                found += 1
                if active[v] > 0:
                    reached = True
                    if nearest:
                        limit = next_distance
    return reached


@njit(cache=True, nogil=True)
def _block(start, head, rev, res, active, left, dist, current, path, source, wanted):
    """Send from one node along arcs that come nearer until it is empty or blocked."""
    n = dist.size
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
                res[a] -= amount
                res[rev[a]] += amount
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
        advanced = False
        while current[u] < start[u + 1]:
            a = current[u]
            if res[a] > 0 and dist[head[a]] == dist[u] - 1:
                path[depth] = a
                depth += 1
                u = head[a]
                advanced = True
                break
            current[u] += 1
        if not advanced:
            if depth == 0:
                dist[u] = n + 1
                break
            dist[u] = n + 1
            depth -= 1
            u = head[rev[path[depth]]]
            current[u] += 1
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
