"""The least traffic at a known beta: primal-dual with unit costs.

Arcs are those of ``arcs.py``; ``cap`` (A) holds the capacities of N(beta), ``cost`` (A) is 1 on
links and 0 on arcs that stand for none. Taking flow back costs -1. All amounts are int64.
"""

import numpy as np
from numba import njit

# Distances are searched this far at a time; what lies beyond is raised and searched again. From 16
# to 2048 it makes no difference; 2**14, with as many empty buckets to look into, takes up to 1.08.
HORIZON = 512
# The cost of a unit on an arc that takes no more, above any sum of costs.
FULL = np.int64(2**62)
# Unsigned numbers of nodes and arcs spare numba's test for negative indices.
ONE = np.uint32(1)


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
    # What an arc carries, less what the arc back does; what the next unit along it costs, and
    # along the arc back.
    net = np.zeros(cap.size, dtype=np.int64)
    step = np.where(cap > 0, cost, FULL)
    back = step[rev]
    active = excess.copy()
    left = room.copy()
    price = np.zeros(n, dtype=np.int64)
    level = np.empty(n, dtype=np.int32)
    queue = np.empty(n + 1, dtype=np.uint32)
    current = np.empty(n, dtype=np.uint32)
    path = np.empty(n + 1, dtype=np.uint32)
    value = np.int64(0)
    failures = 0
    while value < target and failures <= n // HORIZON + 1:
        if not _reprice(start, head, back, active, left, price):
            failures += 1
            continue
        failures = 0
        dearest = np.int64(2**62)
        if not every:
            for u in range(n):
                if active[u] > 0:
                    dearest = min(dearest, price[u])
        # Nodes that may still reach room at these prices. The nearest quarter go first, a sixth
        # faster than all at once; routes found in depth, without levels, take up to 18 times as
        # long.
        waiting = (active > 0).sum()
        while value < target and waiting > 0:
            enough = (waiting + 3) // 4
            found = np.int64(
                _levels(start, head, back, active, left, price, dearest, level, queue, enough)
            )
            for i in range(found):
                current[queue[i]] = start[queue[i]]
            reached = 0
            emptied = 0
            for i in range(found):
                u = queue[i]
                if active[u] > 0 and price[u] <= dearest:
                    value += _block(
                        start,
                        head,
                        rev,
                        cap,
                        cost,
                        net,
                        step,
                        back,
                        active,
                        left,
                        price,
                        level,
                        current,
                        path,
                        u,
                        target - value,
                    )
                    reached += 1
                    emptied += active[u] == 0
                    if value == target:
                        break
            waiting = (waiting if reached >= enough else reached) - emptied
    return value, np.maximum(net, 0)


@njit(cache=True, nogil=True)
def _reprice(start, head, back, active, left, price):
    """Raise prices by the reduced distances to room, at most HORIZON; is a source within it."""
    n = price.size
    raised = np.full(n, HORIZON + 1, dtype=np.int64)
    first = np.full(HORIZON + 1, -1, dtype=np.int64)
    # Buckets are lists of entries; an entry whose node was since found nearer is skipped.
    # An arc makes one entry at most.
    node = np.empty(n + head.size, dtype=np.uint32)
    following = np.empty(n + head.size, dtype=np.int64)
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
            paid = distance + price[v]
            for b in range(start[v], start[v + ONE]):
                u = head[b]
                further = paid + back[b] - price[u]
                if further < raised[u]:
                    raised[u] = further
                    node[entries] = u
                    following[entries] = first[further]
                    first[further] = entries
                    entries += 1
    for u in range(n):
        price[u] += raised[u]
    return reached


@njit(cache=True, nogil=True)
def _levels(start, head, back, active, left, price, dearest, level, queue, waiting):
    """Set breadth-first levels towards room over arcs of reduced cost 0; return how many have one.

    They are queued from the nearest on. The search stops behind that many ``waiting`` nodes
    that may send.
    """
    n = np.uint32(level.size)
    far = np.int32(level.size)
    found = np.uint32(0)
    for u in range(n):
        near = left[u] > 0
        level[u] = np.int32(0) if near else far
        queue[found] = u
        found += np.uint32(near)
    done = np.uint32(0)
    while done < found and waiting > 0:
        v = queue[done]
        done += ONE
        waiting -= (active[v] > 0) & (price[v] <= dearest)
        next_level = np.int32(level[v] + 1)
        paid = price[v]
        for b in range(start[v], start[v + ONE]):
            u = head[b]
            new = (level[u] == far) & (back[b] + paid == price[u])
            level[u] = next_level if new else level[u]
            queue[found] = u
            found += np.uint32(new)
    return found


@njit(cache=True, nogil=True)
def _block(
    start,
    head,
    rev,
    cap,
    cost,
    net,
    step,
    back,
    active,
    left,
    price,
    level,
    current,
    path,
    source,
    wanted,
):
    """Send from one node along arcs of reduced cost 0 until it is empty or blocked."""
    n = np.int32(level.size)
    sent = np.int64(0)
    depth = 0
    u = source
    while active[source] > 0 and sent < wanted:
        if left[u] > 0 and level[u] == 0:
            amount = min(active[source], left[u], wanted - sent)
            for i in range(depth):
                a = path[i]
                amount = min(amount, -net[a] if net[a] < 0 else cap[a] - net[a])
            keep = depth
            for i in range(depth - 1, -1, -1):
                a = path[i]
                twin = rev[a]
                before = step[a]
                net[a] += amount
                net[twin] -= amount
                step[a] = _next_cost(net[a], cap[a], cost[a], cost[twin])
                step[twin] = _next_cost(net[twin], cap[twin], cost[twin], cost[a])
                back[a] = step[twin]
                back[twin] = step[a]
                # Where all is taken back, adding costs more: the arc is no longer admissible.
                if step[a] != before:
                    keep = i
            active[source] -= amount
            left[u] -= amount
            sent += amount
            if keep < depth:
                u = head[rev[path[keep]]]
                depth = keep
            continue
        nearer = np.int32(level[u] - 1)
        a = current[u]
        end = start[u + ONE]
        while a < end and not (level[head[a]] == nearer and step[a] + price[head[a]] == price[u]):
            a += ONE
        current[u] = a
        if a < end:
            path[depth] = a
            depth += 1
            u = head[a]
            continue
        level[u] = n + 1
        if depth == 0:
            break
        depth -= 1
        u = head[rev[path[depth]]]
        current[u] += ONE
    return sent


@njit(cache=True, nogil=True)
def _next_cost(net, cap, cost, refund):
    """Return what one more unit along an arc costs: a refund while flow back is cancelled."""
    if net < 0:
        return -refund
    return cost if net < cap else FULL
