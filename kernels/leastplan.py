"""The least traffic at a known beta: primal-dual with unit costs.

Arcs are those of ``arcs.py``; ``cap`` (A) holds the capacities of N(beta), ``cost`` (A) is 1 on
links and 0 on arcs that stand for none. Taking flow back costs -1. All amounts are int64.
"""

import numpy as np
from numba import njit

# Distances are searched this far at a time; what lies beyond is raised and searched again.
HORIZON = 512


@njit(cache=True, nogil=True)
def least_plan(start, head, rev, cap, cost, excess, room, target):
    """Send ``target`` units, which must be possible, with the least total cost.

    Returns (value, flow): ``flow`` (A) is acyclic.
    """
    if target == excess.sum():
        return _primal_dual(start, head, rev, cap, cost, excess, room, target, True)
    if target == room.sum():
        # Every room fills up: the same on the reversed network.
        value, flow = _primal_dual(
            start, head, rev, cap[rev], cost[rev], room, excess, target, True
        )
        return value, flow[rev]
    return _primal_dual(start, head, rev, cap, cost, excess, room, target, False)


@njit(cache=True, nogil=True)
def _primal_dual(start, head, rev, cap, cost, excess, room, target, every):
    """Successive shortest routes, all of one length at a time.

    ``price`` (N) is the cost of the cheapest way on to a node with room. Where ``every`` source
    empties in the end, each may send along its own cheapest routes; otherwise only the
    sources nearest to room may.
    """
    n = start.size - 1
    res = cap.copy()
    active = excess.copy()
    left = room.copy()
    price = np.zeros(n, dtype=np.int64)
    level = np.empty(n, dtype=np.int32)
    queue = np.empty(n, dtype=np.int32)
    current = np.empty(n, dtype=np.int64)
    path = np.empty(n + 1, dtype=np.int64)
    value = np.int64(0)
    failures = 0
    while value < target and failures <= n // HORIZON + 1:
        if not _reprice(start, head, rev, res, cap, cost, active, left, price):
            failures += 1
            continue
        failures = 0
        cheapest = np.int64(2**62)
        for u in range(n):
            if active[u] > 0:
                cheapest = min(cheapest, price[u])
        while value < target:
            _levels(start, head, rev, res, cap, cost, left, price, level, queue)
            for u in range(n):
                current[u] = start[u]
            sent = np.int64(0)
            for u in range(n):
                if active[u] > 0 and level[u] < n and (every or price[u] == cheapest):
                    wanted = target - value - sent
                    sent += _block(
                        start,
                        head,
                        rev,
                        res,
                        cap,
                        cost,
                        active,
                        left,
                        price,
                        level,
                        current,
                        path,
                        u,
                        wanted,
                    )
                    if value + sent == target:
                        break
            value += sent
            if sent == 0:
                break
    flow = np.empty(cap.size, dtype=np.int64)
    for a in range(cap.size):
        flow[a] = max(cap[a] - res[a], np.int64(0))
    return value, flow


@njit(cache=True, nogil=True)
def _reprice(start, head, rev, res, cap, cost, active, left, price):
    """Raise prices by the reduced distances to room, at most HORIZON; is a source within it."""
    n = price.size
    raised = np.full(n, HORIZON + 1, dtype=np.int64)
    first = np.full(HORIZON + 1, -1, dtype=np.int64)
    # Buckets are lists of entries; an entry whose node was since found nearer is skipped.
    node = np.empty(2 * n + 16, dtype=np.int64)
    following = np.empty(2 * n + 16, dtype=np.int64)
    entries = 0
    for u in range(n):
        if left[u] > 0:
            raised[u] = 0
            node[entries] = u
            following[entries] = first[0]
            first[0] = entries
            entries += 1
    settled = np.zeros(n, dtype=np.bool_)
    reached = False
    for distance in range(HORIZON + 1):
        while first[distance] >= 0:
            entry = first[distance]
            first[distance] = following[entry]
            v = node[entry]
            if settled[v]:
                continue
            settled[v] = True
            reached = reached or active[v] > 0
            for b in range(start[v], start[v + 1]):
                a = rev[b]
                u = head[b]
                if settled[u] or res[a] == 0:
                    continue
                step = -cost[b] if res[a] > cap[a] else cost[a]
                further = distance + step + price[v] - price[u]
                if further < raised[u]:
                    raised[u] = further
                    if entries == node.size:
                        node = np.concatenate((node, np.empty(node.size, dtype=np.int64)))
                        following = np.concatenate(
                            (following, np.empty(following.size, dtype=np.int64))
                        )
                    node[entries] = u
                    following[entries] = first[further]
                    first[further] = entries
                    entries += 1
    for u in range(n):
        price[u] += raised[u]
    return reached


@njit(cache=True, nogil=True)
def _levels(start, head, rev, res, cap, cost, left, price, level, queue):
    """Breadth-first levels towards room over arcs of reduced cost 0."""
    n = level.size
    level[:] = n
    found = 0
    for u in range(n):
        if left[u] > 0:
            level[u] = 0
            queue[found] = u
            found += 1
    done = 0
    while done < found:
        v = queue[done]
        done += 1
        for b in range(start[v], start[v + 1]):
            u = head[b]
            a = rev[b]
            if level[u] == n and res[a] > 0:
                step = -cost[b] if res[a] > cap[a] else cost[a]
                if step + price[v] == price[u]:
                    level[u] = level[v] + 1
                    queue[found] = u
                    found += 1


@njit(cache=True, nogil=True)
def _block(
    start, head, rev, res, cap, cost, active, left, price, level, current, path, source, wanted
):
    """Send from one node along arcs of reduced cost 0 until it is empty or blocked."""
    n = level.size
    sent = np.int64(0)
    depth = 0
    u = source
    while active[source] > 0 and sent < wanted:
        if left[u] > 0 and level[u] == 0:
            amount = min(active[source], left[u], wanted - sent)
            for i in range(depth):
                a = path[i]
                amount = min(amount, res[a] - cap[a] if res[a] > cap[a] else res[a])
            keep = depth
            for i in range(depth - 1, -1, -1):
                a = path[i]
                backs = res[a] > cap[a]
                res[a] -= amount
                res[rev[a]] += amount
                # Where all is taken back, adding costs more: the arc is no longer admissible.
                if res[a] == 0 or (backs and res[a] == cap[a]):
                    keep = i
            active[source] -= amount
            left[u] -= amount
            sent += amount
            if keep < depth:
                u = head[rev[path[keep]]]
                depth = keep
            continue
        advanced = False
        while current[u] < start[u + 1]:
            a = current[u]
            v = head[a]
            if res[a] > 0 and level[v] == level[u] - 1:
                step = -cost[rev[a]] if res[a] > cap[a] else cost[a]
                if step + price[v] == price[u]:
                    path[depth] = a
                    depth += 1
                    u = v
                    advanced = True
                    break
            current[u] += 1
        if not advanced:
            level[u] = n + 1
            if depth == 0:
                break
            depth -= 1
            u = head[rev[path[depth]]]
            current[u] += 1
    return sent
