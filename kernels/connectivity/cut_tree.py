"""Cut trees: minimum cuts between all pairs of nodes from N - 1 flows (Gusfield, 1990).

The algorithm that keeps the cuts crossing-free without contracting nodes, in the paper's section
3. ``N`` nodes, ``A`` arcs; amounts are int64 or float64.
"""

import numpy as np

from ..shared.augmenting import mark_sink_side, searches, send
from ..shared.interrupts import interrupted, long_kernel, new_meter


def cut_tree(graph, capacity, limit):
    """Return ``parent`` (N,) int64 and ``cut`` (N,) of a cut tree of an undirected graph.

    ``graph`` is a ``ResidualGraph``, ``capacity`` (A,) what its arcs take, the same both ways, and
    ``limit`` more than any flow. The least ``cut`` on the way between two nodes is that of a
    minimum cut between them: the two parts of the tree without that link. Node 0 is the root.
    """
    n = graph.start.size - 1
    parent = np.zeros(n, np.int64)
    cut = np.zeros(n, capacity.dtype)
    masks = np.zeros((2, n), np.bool_)
    _fill(graph, capacity, limit, parent, cut, masks[0], masks[1], capacity.copy(), searches(n))
    return parent, cut


@long_kernel
def _fill(graph, capacity, limit, parent, cut, known, side, ahead, room):
    """Set ``parent`` and ``cut``; ``known`` (N,): whether ``cut`` is that to the present parent."""
    n = parent.size
    meter = new_meter()
    for u in range(1, n):
        if interrupted(meter, n + ahead.size):
            break
        target = parent[u]
        for a in range(ahead.size):
            ahead[a] = capacity[a]
        value = send(graph, ahead, u, target, limit, room, meter)
        mark_sink_side(graph, ahead, target, side, room.queue, meter)
        cut[u] = value
        known[u] = True
        for v in range(1, n):
            if v != u and parent[v] == target and not side[v]:
                parent[v] = u
                if not known[v]:
                    cut[v] = value
                    known[v] = True
        if target != 0 and not side[parent[target]]:
            parent[u] = parent[target]
            cut[u] = cut[target]
            parent[target] = u
            cut[target] = value
