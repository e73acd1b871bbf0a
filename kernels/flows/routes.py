"""An acyclic flow as routes from the nodes that send to the nodes that receive.

Flow decomposition (Ford and Fulkerson 1962): from every node that sends, walk along any arc that
still carries flow until a node that receives, and take the least on the way off. ``N`` nodes,
``E`` links, ``A`` arcs of the residual graph (``shared/residual.py``).
"""

import numpy as np

from ..shared.compiling import kernel


@kernel
def decompose(graph, flow):
    """Return routes (R, source, sink, amount, end, arcs) whose amounts add up to a flow (E,).

    Route ``r`` of the first R runs along ``arcs[end[r-1]:end[r]]``. A node receives what enters
    it less what leaves it; a route ends at the first node on its way that still receives.
    """
    start, head, _, link = graph
    n = start.size - 1
    remaining = np.empty(link.size, np.int64)
    current = np.empty(n, np.int64)
    net = np.zeros(n, np.int64)
    used = 0
    for u in range(n):
        current[u] = start[u]
        for a in range(start[u], start[u + 1]):
            remaining[a] = flow[link[a]] if link[a] >= 0 else 0
            if remaining[a] > 0:
                net[u] += remaining[a]
                net[head[a]] -= remaining[a]
                used += 1
    source = np.empty(used + n, np.int64)
    sink = np.empty(used + n, np.int64)
    amount = np.empty(used + n, np.int64)
    end = np.empty(used + n, np.int64)
    arcs = np.empty(max(4 * used, 16), np.int32)
    R = 0
    place = 0
    for root in range(n):
        while net[root] > 0:
            begin = place
            u = root
            least = net[root]
            while net[u] >= 0:
                while remaining[current[u]] == 0:
                    current[u] += 1
                a = current[u]
                if place == arcs.size:
                    longer = np.empty(2 * place, np.int32)
                    for i in range(place):
                        longer[i] = arcs[i]
                    arcs = longer
                arcs[place] = a
                place += 1
                least = min(least, remaining[a])
                u = head[a]
            least = min(least, -net[u])
            for i in range(begin, place):
                remaining[arcs[i]] -= least
            net[root] -= least
            net[u] += least
            source[R] = root
            sink[R] = u
            amount[R] = least
            end[R] = place
            R += 1
    return R, source, sink, amount, end, arcs
