"""An acyclic flow as routes from the nodes that send to the nodes that receive.

Flow decomposition (Ford and Fulkerson 1962): from every node that sends, walk along any arc that
still carries flow to the first node that receives, and subtract from all arcs of this route what
all of them carry. ``N`` nodes, ``E`` links, ``A`` arcs of the residual graph
(``shared/residual.py``), ``R`` routes. All amounts are int64.
"""

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter


@long_kernel
def decompose(graph, flow):
    """Split a ``flow`` (E,) into routes; return (R, source, sink, amount, end, arcs).

    There are R routes, which add up to the flow. Route r runs along ``arcs[end[r-1]:end[r]]``; the
    arrays may be longer than that. A node receives what enters it less what leaves it.
    """
    start, head, _, link = graph
    n = start.size - 1
    remaining = np.empty(link.size, np.int64)
    current = np.empty(n, np.int64)
    # What a node still has to send, or < 0, to receive.
    net = np.zeros(n, np.int64)
    carrying = 0
    for u in range(n):
        current[u] = start[u]
        for a in range(start[u], start[u + 1]):
            remaining[a] = flow[link[a]] if link[a] >= 0 else 0
            if remaining[a] > 0:
                net[u] += remaining[a]
                net[head[a]] -= remaining[a]
                carrying += 1
    # There are no more routes than that: each one uses up the flow of an arc, or what its first
    # node still has to send, or what its last one has to receive.
    source = np.empty(carrying + n, np.int64)
    sink = np.empty(carrying + n, np.int64)
    amount = np.empty(carrying + n, np.int64)
    end = np.empty(carrying + n, np.int64)
    arcs = np.empty(max(4 * carrying, 16), np.int32)
    R = 0
    place = 0
    meter = new_meter()
    for root in range(n):
        while net[root] > 0 and not interrupted(meter, 8):
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
                interrupted(meter, 8)
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
