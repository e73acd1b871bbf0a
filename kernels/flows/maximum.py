"""Maximum flow: push-relabel (Goldberg and Tarjan 1988), first in, first out.

Labels are distances to the sink, exact from time to time by a breadth-first search. Once no load
can reach the sink, the nodes that hold load and all that they reach are a minimum cut's side. What
they hold then goes home: the same method runs with the source as the place for it.

The residual graph and its arrays are those of ``shared/residual.py``. ``N`` nodes, ``E`` links,
``A`` arcs. All amounts are int64.
"""

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.push_relabel import discharge
from ..shared.residual import set_levels


def maximum_flow(graph, capacity, source, sink, bound):
    """Return (value, flow, side) of a maximum flow, of at most ``bound`` units.

    ``capacity``, ``flow`` (E,) are of the links. ``side`` (N,) bool marks the nodes that cannot
    reach the sink any more: a minimum cut if the source is among them.
    """
    n = graph.start.size - 1
    # NumPy makes the arrays: each would take numba a twentieth of a second to compile.
    ahead, behind = np.empty((2, graph.head.size), np.int64)
    balance, level = np.zeros(n, np.int64), np.empty(n, np.int32)
    queue, current = np.empty((2, n + 1), np.uint32)
    flow, side = np.zeros(capacity.size, np.int64), np.empty(n, np.bool_)
    scratch = ahead, behind, balance, level, queue, current
    value = _maximum(graph, capacity, source, sink, bound, scratch, flow, side)
    return value, flow, side


@long_kernel
def _maximum(graph, capacity, source, sink, bound, scratch, flow, side):
    """Fill ``flow`` and ``side``; return the value."""
    ahead, behind, balance, level, queue, current = scratch
    link = graph.link
    n = level.size
    for a in range(link.size):
        ahead[a] = capacity[link[a]] if link[a] >= 0 else 0
        behind[graph.rev[a]] = ahead[a]
    balance[source] = bound
    balance[sink] = min(-bound, -1)
    value = np.int64(0)
    moved = np.int64(0)
    returns = False
    meter = new_meter()
    while not interrupted(meter, 8 * (n + link.size)):
        set_levels(graph, behind, balance, None, None, level, queue, np.int64(n + 1))
        waiting = np.int64(0)
        for u in range(n):
            if balance[u] > 0 and level[u] < n:
                queue[waiting] = u
                waiting += 1
        if waiting > 0:
            moved += discharge(
                graph, ahead, behind, balance, level, queue, current, waiting, bound - moved
            )
            if balance[sink] == 0 and not returns:
                # All has arrived: the last labels are to show whether more could.
                balance[sink] = -1
            continue
        if returns:
            break
        returns = True
        value = moved
        for u in range(n):
            side[u] = level[u] == n
        balance[sink] = 0
        balance[source] -= bound - moved
    for a in range(link.size):
        if link[a] >= 0:
            flow[link[a]] = max(capacity[link[a]] - ahead[a], 0)
    return value
