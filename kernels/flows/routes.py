"""An acyclic flow as routes from the nodes that send to the nodes that receive."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def strip(start, head, flow, n):
    """Return routes (source, sink, amount, end, arcs) whose amounts add up to the flow (A,).

    Route ``r`` (of R) runs along ``arcs[end[r-1]:end[r]]``. A node receives what enters it
    less what leaves it; a route ends at the first node on its way that still receives.
    """
    flow = flow.copy()
    net = np.zeros(n, dtype=np.int64)
    used = 0
    for u in range(n):
        for a in range(start[u], start[u + 1]):
            if flow[a] > 0:
                net[u] += flow[a]
                net[head[a]] -= flow[a]
                used += 1
    most = used + n
    source = np.empty(most, dtype=np.int64)
    sink = np.empty(most, dtype=np.int64)
    amount = np.empty(most, dtype=np.int64)
    end = np.empty(most, dtype=np.int64)
    arcs = np.empty(max(4 * used, 16), dtype=np.int32)
    current = start[:-1].copy()
    R = 0
    place = 0
    for root in range(n):
        while net[root] > 0:
            begin = place
            u = root
            least = net[root]
            while net[u] >= 0:
                while flow[current[u]] == 0:
                    current[u] += 1
                a = current[u]
                if place == arcs.size:
                    arcs = np.concatenate((arcs, np.empty(arcs.size, dtype=np.int32)))
                arcs[place] = a
                place += 1
                least = min(least, flow[a])
                u = head[a]
            least = min(least, -net[u])
            for i in range(begin, place):
                flow[arcs[i]] -= least
            net[root] -= least
            net[u] += least
            source[R] = root
            sink[R] = u
            amount[R] = least
            end[R] = place
            R += 1
    return source[:R], sink[:R], amount[:R], end[:R], arcs[:place]
