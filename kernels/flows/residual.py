"""Residual arcs of a directed network: antiparallel links are each other's reverse.

``N`` nodes, ``E`` links, ``A`` arcs. Arcs leaving node ``u`` are ``start[u] .. start[u+1]-1``.

============  =====  ======  =====================================================
``start``     N + 1  uint32  first arc of every node
``head``      A      uint32  node an arc leads to
``rev``       A      uint32  the arc back, ``rev[rev[a]] == a``
``link``      A      int32   link whose capacity the arc has, -1 for the back of a lone link
============  =====  ======  =====================================================
"""

import numpy as np
from numba import njit

# Unsigned numbers of nodes and arcs spare numba's test for negative indices.
ONE = np.uint32(1)


@njit(cache=True, nogil=True)
def residual_arcs(n, tail, head):
    """Return (start, head, rev, link); self-loops have no arcs."""
    E = tail.size
    order = _by_ends(n, tail, head)
    # Links u -> v and v -> u of one pair of nodes are matched in order; what is left over
    # gets a back arc without a link.
    ahead = np.empty(E, dtype=np.int32)
    back = np.empty(E, dtype=np.int32)
    pairs = 0
    i = 0
    while i < E:
        low = min(tail[order[i]], head[order[i]])
        high = max(tail[order[i]], head[order[i]])
        first = pairs
        up = first
        down = first
        while i < E:
            k = order[i]
            if min(tail[k], head[k]) != low or max(tail[k], head[k]) != high:
                break
            i += 1
            if low == high:
                continue
            if max(up, down) == pairs and (up if tail[k] == low else down) == pairs:
                ahead[pairs] = -1
                back[pairs] = -1
                pairs += 1
            if tail[k] == low:
                ahead[up] = k
                up += 1
            else:
                back[down] = k
                down += 1
    return _rows(n, tail, head, ahead[:pairs], back[:pairs])


@njit(cache=True, nogil=True)
def _by_ends(n, tail, head):
    """Return the links ordered by (lower end, higher end), by two stable counting sorts."""
    E = tail.size
    order = np.arange(E).astype(np.int32)
    for end in range(2):
        place = np.zeros(n + 1, dtype=np.int64)
        for k in range(E):
            key = max(tail[k], head[k]) if end == 0 else min(tail[k], head[k])
            place[key + 1] += 1
        for u in range(n):
            place[u + 1] += place[u]
        sorted_links = np.empty(E, dtype=np.int32)
        for i in range(E):
            k = order[i]
            key = max(tail[k], head[k]) if end == 0 else min(tail[k], head[k])
            sorted_links[place[key]] = k
            place[key] += 1
        order = sorted_links
    return order


@njit(cache=True, nogil=True)
def _rows(n, tail, head, ahead, back):
    P = ahead.size
    start = np.zeros(n + 1, dtype=np.int64)
    for p in range(P):
        k = ahead[p] if ahead[p] >= 0 else back[p]
        start[tail[k] + 1] += 1
        start[head[k] + 1] += 1
    for u in range(n):
        start[u + 1] += start[u]
    place = start[:-1].copy()
    to = np.empty(2 * P, dtype=np.uint32)
    rev = np.empty(2 * P, dtype=np.uint32)
    link = np.empty(2 * P, dtype=np.int32)
    for p in range(P):
        k = ahead[p] if ahead[p] >= 0 else back[p]
        low = min(tail[k], head[k])
        high = max(tail[k], head[k])
        a = place[low]
        place[low] += 1
        b = place[high]
        place[high] += 1
        to[a] = high
        to[b] = low
        rev[a] = b
        rev[b] = a
        link[a] = ahead[p]
        link[b] = back[p]
    return start.astype(np.uint32), to, rev, link


@njit(cache=True, nogil=True)
def spread(link, values, missing):
    """Return values (E,) of the links along the arcs (A,), ``missing`` where there is no link."""
    along = np.full(link.size, missing)
    for a in range(link.size):
        if link[a] >= 0:
            along[a] = values[link[a]]
    return along


@njit(cache=True, nogil=True)
def collect(link, along, count):
    """Return what ``count`` links carry of values (A,) along the arcs, 0 on self-loops."""
    values = np.zeros(count, dtype=along.dtype)
    for a in range(link.size):
        if link[a] >= 0:
            values[link[a]] = along[a]
    return values


@njit(cache=True, nogil=True)
def strongly_connected(start, head, rev, usable, least):
    """Tell whether links of usable capacity at least ``least`` join every node to every other."""
    n = start.size - 1
    queue = np.empty(n, dtype=np.uint32)
    for backwards in range(2):
        seen = np.zeros(n, dtype=np.bool_)
        queue[0] = 0
        seen[0] = True
        found = 1
        done = 0
        while done < found < n:
            u = queue[done]
            done += 1
            for a in range(start[u], start[u + ONE]):
                v = head[a]
                if not seen[v] and usable[rev[a] if backwards else a] >= least:
                    seen[v] = True
                    queue[found] = v
                    found += 1
        if found < n:
            return False
    return True
