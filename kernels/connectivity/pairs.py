"""Flows between many pairs of nodes of one graph whose arcs take one unit each.

By Menger's theorem the most units from one node to another are the paths between them without a
common arc, and the fewest arcs that part them. ``graph`` is a ``ResidualGraph`` of ``N`` nodes and
``A`` arcs (``shared/residual.py``); ``capacity`` (A,) int8 is 1, or 0 where an arc is but the way
back of another. ``P`` pairs.
"""

import numpy as np

from ..shared.augmenting import mark_sink_side, searches, send
from ..shared.interrupts import interrupted, long_kernel, new_meter


def flows_of_pairs(graph, capacity, sources, sinks, limit, *, falling=False):
    """Return the flows (P,) int32 from ``sources[i]`` to ``sinks[i]`` (P,), ``limit`` where larger.

    ``falling`` : the limit falls to one more than the least flow so far.
    """
    flows = np.zeros(sources.size, np.int32)
    room = searches(graph.start.size - 1)
    none = np.zeros(0, np.bool_)
    _fill(graph, capacity, sources, sinks, limit, falling, flows, none, capacity.copy(), room)
    return flows


def sink_side(graph, capacity, source, sink):
    """Return (N,) bool: the smallest sink side of any minimum cut between two nodes.

    Without a source, None, it has all nodes from which arcs lead to the sink.
    """
    sources = np.array([] if source is None else [source], np.int64)
    flows = np.zeros(sources.size, np.int32)
    room = searches(graph.start.size - 1)
    side = np.zeros(graph.start.size - 1, np.bool_)
    sinks, limit = np.array([sink], np.int64), capacity.size
    _fill(graph, capacity, sources, sinks, limit, False, flows, side, capacity.copy(), room)
    return side


@long_kernel
def _fill(graph, capacity, sources, sinks, limit, falling, flows, side, ahead, room):
    """Set ``flows`` (P,) and, unless it is empty, ``side`` (N,): the sink's side of the last."""
    start, rev = graph.start, graph.rev
    meter = new_meter()
    for i in range(sources.size):
        source = sources[i]
        sink = sinks[i]
        for a in range(capacity.size):
            ahead[a] = capacity[a]
        # No flow is larger than what leaves the source or enters the sink: where it is as large,
        # the last search, which finds no path, is spared.
        leaving = np.int64(0)
        for a in range(start[source], start[source + 1]):
            leaving += capacity[a]
        entering = np.int64(0)
        for a in range(start[sink], start[sink + 1]):
            entering += capacity[rev[a]]
        most = min(limit, min(leaving, entering))
        flows[i] = send(graph, ahead, source, sink, most, room, meter)
        if falling and flows[i] < limit:
            limit = flows[i] + 1
        if interrupted(meter, 1):
            break
    if side.size > 0:
        mark_sink_side(graph, ahead, sinks[sinks.size - 1], side, room.queue, meter)
