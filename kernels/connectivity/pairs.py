"""Flows between many pairs of nodes of one graph whose arcs take one unit each.

By Menger's theorem the most units from one node to another are the paths between them without a
common arc, and the fewest arcs that part them. ``graph`` is a ``ResidualGraph`` of ``N`` nodes and
``A`` arcs (``shared/residual.py``); ``capacity`` (A,) int8 is 1, or 0 where an arc is but the way
back of another.
"""

import numpy as np

from ..shared.augmenting import mark_sink_side, searches, send
from ..shared.compiling import inlined
from ..shared.interrupts import interrupted, long_kernel, new_meter


@long_kernel
def flows_between(graph, capacity, sources, sinks, both_ways):
    """Return the flows (K, K) int32 from ``sources[i]`` to ``sinks[j]`` (K,), 0 where i == j.

    Where they are the same ``both_ways``, one of them is computed.
    """
    K = sources.size
    flows = np.zeros((K, K), np.int32)
    ahead = np.empty_like(capacity)
    room = searches(graph.start.size - 1)
    meter = new_meter()
    for i in range(K):
        for j in range(i + 1 if both_ways else 0, K):
            if i == j:
                continue
            flows[i, j] = _flow(
                graph, capacity, ahead, sources[i], sinks[j], np.int64(capacity.size), room, meter
            )
            if both_ways:
                flows[j, i] = flows[i, j]
        if interrupted(meter, 1):
            break
    return flows


@long_kernel
def fewest(graph, capacity, sources, sinks, bound):
    """Return the least flow from any ``sources[i]`` to ``sinks[i]`` (P,), and the last such i.

    They are ``bound`` and -1 where all flows are larger than that.
    """
    ahead = np.empty_like(capacity)
    room = searches(graph.start.size - 1)
    meter = new_meter()
    least = bound
    last = -1
    for i in range(sources.size):
        # One unit more than the least shows that this pair has more.
        flow = _flow(graph, capacity, ahead, sources[i], sinks[i], least + 1, room, meter)
        if flow <= least:
            least = flow
            last = i
        if interrupted(meter, 1):
            break
    return least, last


@long_kernel
def sink_side(graph, capacity, source, sink):
    """Return (N,) bool: the smallest sink side of any minimum cut between two nodes."""
    n = graph.start.size - 1
    ahead = np.empty_like(capacity)
    room = searches(n)
    meter = new_meter()
    _flow(graph, capacity, ahead, source, sink, np.int64(capacity.size), room, meter)
    side = np.empty(n, np.bool_)
    mark_sink_side(graph, ahead, sink, side, room.queue, meter)
    return side


@inlined
def _flow(graph, capacity, ahead, source, sink, limit, room, meter):
    """Return the flow from one node to another, or ``limit`` if it is larger than that."""
    start, rev = graph.start, graph.rev
    for a in range(capacity.size):
        ahead[a] = capacity[a]
    # No flow is larger than what leaves the source or enters the sink: where it is as large, the
    # last search, which finds no path, is spared.
    leaving = np.int64(0)
    for a in range(start[source], start[source + 1]):
        leaving += capacity[a]
    entering = np.int64(0)
    for a in range(start[sink], start[sink + 1]):
        entering += capacity[rev[a]]
    most = min(limit, min(leaving, entering))
    return send(graph, ahead, source, sink, most, room, meter)
