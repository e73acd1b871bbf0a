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

# Global relabelling after this many units of work a node; a relabel costs its degree + 12. From
# 4 to 12 times differ by a tenth. Gap relabelling and cuts between distance levels, tried as
# well, find beta no sooner.
WORK_PER_NODE = 8
RELABEL_COST = 12


@njit(cache=True, nogil=True)
def capacity_at(beta, usable, base, counted):
    """Return the capacities (A,) of the paper's N(beta)."""
    cap = usable.copy()
    for a in range(cap.size):
        if counted[a]:
            cap[a] = min(usable[a], max(beta - base[a], np.int64(0)))
    return cap


@njit(cache=True, nogil=True)
def fused_search(start, head, rev, usable, base, counted, excess, room, target, beta):
    """Find the least beta at which ``target`` units pass; ceilings of Newton steps.

    Returns (value, beta, raises, side, before, short, rho). ``value`` is less than the target
    only where capacities forbid more. The last raise was made at ``before`` because the cut
    ``side`` (N,) was ``short`` units too small, with ``rho`` arcs across that can grow.
    """
    n = start.size - 1
    cap = capacity_at(beta, usable, base, counted)
    res = cap.copy()
    active = excess.copy()
    left = room.copy()
    total = excess.sum()
    slack = total - target
    arrived = np.int64(0)
    dist = np.empty(n, dtype=np.int32)
    queue = np.empty(n, dtype=np.int32)
    queued = np.zeros(n, dtype=np.bool_)
    current = np.empty(n, dtype=np.int64)
    side = np.zeros(n, dtype=np.bool_)
    before = np.int64(0)
    short = np.int64(0)
    rho = np.int64(0)
    raises = 0
    while arrived < target:
        _distances(start, head, rev, res, left, dist, queue)
        trapped = np.int64(0)
        waiting = 0
        for u in range(n):
            if active[u] > 0:
                if dist[u] >= n:
                    trapped += active[u]
                else:
                    waiting += 1
        if trapped > slack:
            wanted, growing = _worst_cut(
                start, head, cap, usable, counted, active, dist, slack, queue, side
            )
            if growing > 0:
                before = beta
                short = wanted
                rho = growing
                beta += (short + rho - 1) // rho
                raises += 1
                _enlarge(beta, usable, base, counted, cap, res)
                continue
            # A cut of links at full capacity: no beta lets more through.
            slack = trapped
            if raises == 0:
                for u in range(n):
                    side[u] = dist[u] >= n
        if waiting == 0:
            break
        arrived += _discharge(
            start, head, rev, res, active, left, dist, queue, queued, current, target - arrived
        )
    return min(arrived, target), beta, raises, side, before, short, rho


@njit(cache=True, nogil=True)
def _distances(start, head, rev, res, left, dist, queue):
    """Exact residual distances to the nearest node with room; N where there is none."""
    n = dist.size
    dist[:] = n
    found = 0
    for u in range(n):
        if left[u] > 0:
            dist[u] = 0
            queue[found] = u
            found += 1
    done = 0
    while done < found:
        u = queue[done]
        done += 1
        next_distance = dist[u] + 1
        for a in range(start[u], start[u + 1]):
            v = head[a]
            if dist[v] == n and res[rev[a]] > 0:
                dist[v] = next_distance
                queue[found] = v
                found += 1


@njit(cache=True, nogil=True)
def _worst_cut(start, head, cap, usable, counted, active, dist, slack, queue, side):
    """Return (units short, arcs that grow) of the trapped parts that ask for the largest beta.

    The nodes that reach no room fall into connected parts, and every union of parts is a
    saturated cut. Together they ask for an average; the parts that ask for most give a longer
    step, and a search a quarter shorter (half on random networks). ``side`` (N) marks the parts
    chosen, where arcs grow.
    """
    n = dist.size
    part = np.full(n, -1, dtype=np.int32)
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
            for a in range(start[u], start[u + 1]):
                v = head[a]
                if dist[v] >= n and part[v] < 0:
                    part[v] = parts
                    queue[found] = v
                    found += 1
        parts += 1
    trapped = np.zeros(parts, dtype=np.int64)
    growing = np.zeros(parts, dtype=np.int64)
    for u in range(n):
        if dist[u] >= n:
            trapped[part[u]] += active[u]
            for a in range(start[u], start[u + 1]):
                if counted[a] and cap[a] < usable[a] and dist[head[a]] < n:
                    growing[part[u]] += 1
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
def _enlarge(beta, usable, base, counted, cap, res):
    for a in range(cap.size):
        if counted[a] and cap[a] < usable[a]:
            larger = min(usable[a], max(beta - base[a], np.int64(0)))
            res[a] += larger - cap[a]
            cap[a] = larger


@njit(cache=True, nogil=True)
def _discharge(start, head, rev, res, active, left, dist, queue, queued, current, wanted):
    """Discharge first-in-first-out until the work allowed is done; return what arrived."""
    n = dist.size
    count = 0
    for u in range(n):
        current[u] = start[u]
        if active[u] > 0 and dist[u] < n:
            queue[count] = u
            queued[u] = True
            count += 1
    first = 0
    arrived = np.int64(0)
    work = 0
    while count > 0 and work < WORK_PER_NODE * n and arrived < wanted:
        u = queue[first]
        first += 1
        if first == n:
            first = 0
        count -= 1
        queued[u] = False
        amount = active[u]
        while amount > 0:
            a = current[u]
            if a == start[u + 1]:
                lowest = n
                for b in range(start[u], start[u + 1]):
                    if res[b] > 0 and dist[head[b]] + 1 < lowest:
                        lowest = dist[head[b]] + 1
                work += start[u + 1] - start[u] + RELABEL_COST
                dist[u] = lowest
                current[u] = start[u]
                if lowest >= n:
                    break
                continue
            v = head[a]
            if res[a] > 0 and dist[u] == dist[v] + 1:
                moved = min(amount, res[a])
                res[a] -= moved
                res[rev[a]] += moved
                amount -= moved
                taken = min(left[v], moved)
                left[v] -= taken
                arrived += taken
                if moved > taken:
                    active[v] += moved - taken
                    if not queued[v] and dist[v] < n:
                        place = first + count
                        queue[place - n if place >= n else place] = v
                        queued[v] = True
                        count += 1
                if amount == 0:
                    break
            current[u] = a + 1
        active[u] = amount
    for u in range(n):
        queued[u] = False
    return arrived
