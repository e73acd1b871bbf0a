"""An acyclic flow as routes from the nodes that send to the nodes that receive.

Flow decomposition (Ford and Fulkerson 1962): from every node that sends, walk along any arc that
still carries flow to the first node that receives, and subtract from all arcs of this route what
all of them carry. ``N`` nodes, ``E`` links, ``A`` arcs of the residual graph
(``shared/residual.py``), ``R`` routes. All amounts are int64.
"""

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter


def decompose(graph, flow):
    """Split a ``flow`` (E,) into routes; return (R, source, sink, amount, end, arcs).

    There are R routes, which add up to the flow. Route r runs along ``arcs[end[r-1]:end[r]]``; the
    arrays may be longer than that. A node receives what enters it less what leaves it.
    """
    link, n = graph.link, graph.start.size - 1
    remaining = np.where(link >= 0, flow[link], 0)
    # What a node still has to send, or < 0, to receive.
    net = np.zeros(n, np.int64)
    np.add.at(net, np.repeat(np.arange(n), np.diff(graph.start)), remaining)
    np.subtract.at(net, graph.head, remaining)
    current, carrying = graph.start[:-1].astype(np.int64), np.count_nonzero(remaining)
    # There are no more routes than that: each one uses up the flow of an arc, or what its first
    # node still has to send, or what its last one has to receive.
    routes = tuple(np.empty((4, carrying + n), np.int64))
    R, arcs = _walk(graph.head, remaining, net, current, *routes, max(4 * carrying, 16))
    return R, *routes, arcs


@long_kernel
def _walk(head, remaining, net, current, source, sink, amount, end, size):
    """Walk all routes along the ``remaining`` flow (A,); return how many, and their arcs.

    ``current`` (N,) is the arc at which a node goes on; ``size``, to begin with, the room for arcs.
    """
    n = net.size
    arcs = np.empty(size, np.int32)
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
    return R, arcs
