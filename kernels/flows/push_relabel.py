"""The least contention of a maximum flow by one fused push-relabel run (Minimax section 2.2).

Arcs are those of ``arcs.py``; there is no super source or sink. All amounts are int64.

=============  =  ================================================================
``usable``     A  capacity left for load, at most ``target``; 0 on back arcs
``base``       A  traffic that counts as contention already (C1), 0 otherwise (C2)
``counted``    A  arcs whose contention counts
``excess``     N  load to give away
``room``       N  load a node can take
=============  =  ================================================================
"""

import numpy as np
from numba import njit

# Global relabelling after so much work: that many units a node and one an arc; a relabel costs its
# degree + 12. Half as much or twice as much takes up to a fifth longer.
WORK_PER_NODE = 6
RELABEL_COST = 12
# The search turns round where the other end has this many times fewer nodes: fewer labels rise
# until a cut shows. A 13-cube takes 0.43 of the time of one direction alone, a random network
# 0.8, meshes the same; turning at half the nodes already, a mesh takes 1.6.
FEWER = 3
# Unsigned numbers of nodes and arcs spare numba's test for negative indices: 1.4 times faster.
ONE = np.uint32(1)

# Tried in vain (times of what is here): gap relabelling and cuts between distance levels 1.0,
# queues in order of distance 1.0, one relabel a turn in the queue 1.1, 32-bit amounts 0.97, a
# first beta within a tenth of the last 0.8 on average.


@njit(cache=True, nogil=True)
def _capacity(beta, usable, base, counted):
    """Return the capacity of an arc in the paper's N(beta)."""
    return min(usable, max(beta - base, np.int64(0))) if counted else usable


@njit(cache=True, nogil=True)
def fused_search(start, head, rev, usable, base, counted, excess, room, target, beta):
    """Find the least beta at which ``target`` units pass; ceilings of Newton steps.

    Room looks for load against the arcs just as load looks for room along them. One or the
    other is pushed, and each finds saturated cuts around what it cannot place.

    Returns (value, beta, raises, side, before, short, rho). ``value`` is less than the target
    only where capacities forbid more. The last raise was made at ``before`` because the cut
    ``side`` (N,) was ``short`` units too small, with ``rho`` arcs across that can grow.
    """
    n = start.size - 1
    # What an arc still takes, and what the arc back does; load to place (+) or room for it (-).
    res = np.empty(head.size, dtype=np.int64)
    for a in range(head.size):
        res[a] = _capacity(beta, usable[a], base[a], counted[a])
    back = res[rev]
    balance = excess - room
    arrived = np.minimum(excess, room).sum()
    # Load and room that may stay behind.
    slack = excess.sum() - target
    spare = room.sum() - target
    dist = np.empty(n, dtype=np.int32)
    queue = np.empty(n + 1, dtype=np.uint32)
    current = np.empty(n, dtype=np.uint32)
    side = np.zeros(n, dtype=np.bool_)
    before = np.int64(0)
    short = np.int64(0)
    rho = np.int64(0)
    raises = 0
    reverse = False
    progress = True
    while arrived < target:
        # Labels grow while the direction stays. Turning only after progress, the search ends.
        if progress and _other_end_is_smaller(balance):
            reverse = not reverse
            res, back = back, res
            slack, spare = spare, slack
            for u in range(n):
                balance[u] = -balance[u]
        _distances(start, head, back, balance, dist, queue)
        trapped = np.int64(0)
        waiting = 0
        for u in range(n):
            if balance[u] > 0:
                if dist[u] >= n:
                    trapped += balance[u]
                else:
                    queue[waiting] = u
                    waiting += 1
        if trapped > slack:
            grows = counted & (beta - base < usable)
            wanted, growing = _worst_cut(
                start, head, grows[rev] if reverse else grows, balance, dist, slack, side
            )
            if growing > 0:
                if reverse:
                    side = ~side
                before = beta
                short = wanted
                rho = growing
                beta += (short + rho - 1) // rho
                raises += 1
                ahead, behind = (back, res) if reverse else (res, back)
                for a in range(head.size):
                    if grows[a]:
                        more = _capacity(beta, usable[a], base[a], True)
                        more -= _capacity(before, usable[a], base[a], True)
                        ahead[a] += more
                        behind[rev[a]] += more
                progress = True
                continue
            # A cut of links at full capacity: no beta lets more through.
            slack = trapped
        if waiting == 0:
            if raises == 0:
                side = (dist >= n) != reverse
            break
        moved = _discharge(
            start, head, rev, res, back, balance, dist, queue, waiting, current, target - arrived
        )
        arrived += moved
        progress = moved > 0
    return min(arrived, target), beta, raises, side, before, short, rho


@njit(cache=True, nogil=True)
def _other_end_is_smaller(balance):
    here = 0
    there = 0
    for u in range(balance.size):
        here += balance[u] > 0
        there += balance[u] < 0
    return FEWER * there < here


@njit(cache=True, nogil=True)
def _distances(start, head, back, balance, dist, queue):
    """Exact residual distances to the nearest node with room; N where there is none.

    Without branches, three times faster than with them.
    """
    n = np.uint32(dist.size)
    far = np.int32(dist.size)
    found = np.uint32(0)
    for u in range(n):
        near = balance[u] < 0
        dist[u] = np.int32(0) if near else far
        queue[found] = u
        found += np.uint32(near)
    done = np.uint32(0)
    while done < found and found < n:
        u = queue[done]
        done += ONE
        next_distance = np.int32(dist[u] + 1)
        for a in range(start[u], start[u + ONE]):
            v = head[a]
            new = (dist[v] == far) & (back[a] > 0)
            dist[v] = next_distance if new else dist[v]
            queue[found] = v
            found += np.uint32(new)


@njit(cache=True, nogil=True)
def _worst_cut(start, head, grows, balance, dist, slack, side):
    """Return (units short, arcs that grow) of the trapped parts that ask for the largest beta.

    The nodes that reach no room fall into connected parts, and every union of parts is a
    saturated cut. Together they ask for an average; the parts that ask for most give a longer
    step, and a search a quarter shorter (half on random networks). ``side`` (N) marks the parts
    chosen, where arcs grow.
    """
    n = dist.size
    queue = np.empty(n, dtype=np.uint32)
    part = np.full(n, -1, dtype=np.int32)
    trapped = np.zeros(n, dtype=np.int64)
    growing = np.zeros(n, dtype=np.int64)
    parts = 0
    for root in range(n):
        if dist[root] < n or part[root] >= 0:
            continue
        part[root] = parts
        queue[0] = root
        found = 1
        done = 0
        while done < found:
            u = queue[done]
            done += 1
            trapped[parts] += balance[u]
            for a in range(start[u], start[u + ONE]):
                v = head[a]
                if dist[v] < n:
                    growing[parts] += grows[a]
                elif part[v] < 0:
                    part[v] = parts
                    queue[found] = v
                    found += 1
        parts += 1
    if growing.sum() == 0:
        return np.int64(0), np.int64(0)
    # Parts with nothing that grows come first: what they hold uses up the slack.
    asked = np.empty(parts)
    for i in range(parts):
        asked[i] = trapped[i] / growing[i] if growing[i] > 0 else np.inf
    order = np.argsort(-asked)
    best = -1.0
    taken = 0
    held = np.int64(0)
    arcs = np.int64(0)
    short = np.int64(0)
    rho = np.int64(0)
    for i in range(parts):
        held += trapped[order[i]]
        arcs += growing[order[i]]
        if held > slack and arcs > 0 and (held - slack) / arcs > best:
            best = (held - slack) / arcs
            taken = i + 1
            short = held - slack
            rho = arcs
    chosen = np.zeros(parts, dtype=np.bool_)
    for i in range(taken):
        chosen[order[i]] = True
    for u in range(n):
        side[u] = dist[u] >= n and chosen[part[u]]
    return short, rho


@njit(cache=True, nogil=True)
def _discharge(start, head, rev, res, back, balance, dist, queue, waiting, current, wanted):
    """Discharge first-in-first-out until the work allowed is done; return what arrived.

    The nodes to discharge are the first ``waiting`` ones of ``queue``, a ring of N places.
    """
    n = np.uint32(dist.size)
    far = np.int32(dist.size)
    allowed = WORK_PER_NODE * dist.size + head.size
    count = np.uint32(waiting)
    first = np.uint32(0)
    arrived = np.int64(0)
    current[:] = start[:-1]
    work = np.int64(0)
    while count > 0 and work < allowed and arrived < wanted:
        u = queue[first]
        first += ONE
        if first == n:
            first = np.uint32(0)
        count -= ONE
        amount = balance[u]
        a = current[u]
        end = start[u + ONE]
        lower = np.int32(dist[u] - 1)
        while True:
            if a == end:
                # Relabel; arcs before the first that leads to the lowest neighbour are of no use.
                a = start[u]
                lower = far
                for b in range(start[u], end):
                    d = dist[head[b]]
                    better = (d < lower) & (res[b] > 0)
                    lower = d if better else lower
                    a = b if better else a
                work += np.int64(end - start[u]) + RELABEL_COST
                dist[u] = min(lower + 1, far)
                if dist[u] == far:
                    break
            v = head[a]
            if dist[v] == lower and res[a] > 0:
                twin = rev[a]
                moved = min(amount, res[a])
                res[a] -= moved
                back[twin] -= moved
                res[twin] += moved
                back[a] += moved
                amount -= moved
                held = balance[v]
                balance[v] = held + moved
                if held <= 0:
                    arrived += min(-held, moved)
                    if held + moved > 0:
                        place = first + count
                        queue[place - n if place >= n else place] = v
                        count += ONE
                if amount == 0:
                    break
            a += ONE
        current[u] = a
        balance[u] = amount
    return arrived
