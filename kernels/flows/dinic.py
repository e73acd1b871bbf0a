"""A short plan at a known beta: Dinic's algorithm (1970), from many sources to many sinks.

Beta, the most that a link may carry, is in the capacities already (Minimax section 2.2). Nodes lie
in layers by their distance to a node with room. Every overloaded node sends along arcs that lead
one layer down, until it is empty or blocked: a blocking flow. Then come new layers, and so on. As
the shortest ways are used up first, the plan has little traffic.

The residual graph, its arrays, layers and blocking flows are in ``shared/residual.py``. ``N``
nodes, ``E`` links, ``A`` arcs; all amounts are int64.
"""

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.residual import send_by_layers, set_levels, workspace


def short_plan(graph, capacity, excess, room, target):
    """Send up to ``target`` units from ``excess`` to ``room`` (N,) within ``capacity`` (E,).

    Return (value, flow, side): ``value`` is what was sent; ``flow`` (E,) is acyclic; ``side`` (N,)
    bool marks, if the target is not reached, the nodes from which no more can leave: a minimum cut.
    """
    link, n = graph.link, graph.start.size - 1
    arc_capacity = np.where(link >= 0, capacity[link], 0)
    ahead = arc_capacity.copy()
    value, level = _send(graph, ahead, ahead[graph.rev], excess.copy(), room.copy(), target)
    arc_flow = np.maximum(arc_capacity - ahead, 0)
    cancel_cycles(graph.start, graph.head, arc_flow)
    flow = np.zeros_like(capacity)
    flow[link[link >= 0]] = arc_flow[link >= 0]
    return value, flow, (level == n) & (value < target)


@long_kernel
def _send(graph, ahead, behind, active, remaining, target):
    """Send from ``active`` to ``remaining`` (N,); return what was sent, and the last levels."""
    work, meter = workspace(active.size), new_meter()
    value = send_by_layers(graph, ahead, behind, active, remaining, None, work, target, meter)
    if value < target:
        everyone = np.int64(active.size + 1)
        set_levels(graph, behind, active, remaining, None, work.level, work.queue, everyone)
    return value, work.level


@long_kernel
def cancel_cycles(start, head, flow):
    """Take directed cycles out of a ``flow`` (A,) in place; ``start``, ``head`` as in the graph."""
    n, meter = start.size - 1, new_meter()
    # Nodes without inflow are peeled off, one after the other: without a cycle none remain.
    inflows = np.zeros(n, np.int64)
    for a in range(flow.size):
        if flow[a] > 0:
            inflows[head[a]] += 1
    order = np.empty(n, np.int32)
    peeled = 0
    for u in range(n):
        if inflows[u] == 0:
            order[peeled] = u
            peeled += 1
    done = 0
    while done < peeled:
        u = order[done]
        done += 1
        for a in range(start[u], start[u + 1]):
            if flow[a] > 0:
                inflows[head[a]] -= 1
                if inflows[head[a]] == 0:
                    order[peeled] = head[a]
                    peeled += 1
    # Walk forward along flow from the others. A node that is met again closes a cycle, of which the
    # least flow is taken off; at a dead end the walk steps back. ``nodes`` and ``path`` are the
    # nodes and arcs of the walk, ``place`` is where a node stands in it, or -1.
    place = np.empty(n, np.int64)
    current = np.empty(n, np.int64)
    for u in range(n):
        place[u] = -1
        current[u] = start[u]
    path = np.empty(n + 1, np.int64)
    nodes = np.empty(n + 1, np.int64)
    for root in range(n if peeled < n else 0):
        if inflows[root] == 0:
            continue
        depth = 0
        nodes[0] = root
        place[root] = 0
        while depth >= 0 and not interrupted(meter, 1):
            u = nodes[depth]
            while current[u] < start[u + 1] and flow[current[u]] == 0:
                current[u] += 1
            if current[u] == start[u + 1]:
                place[u] = -1
                depth -= 1
                if depth >= 0:
                    current[nodes[depth]] += 1
                continue
            a = current[u]
            v = head[a]
            path[depth] = a
            if place[v] < 0:
                depth += 1
                nodes[depth] = v
                place[v] = depth
                continue
            least = flow[a]
            interrupted(meter, depth - place[v])
            for i in range(place[v], depth):
                least = min(least, flow[path[i]])
            back = depth
            for i in range(depth, place[v] - 1, -1):
                flow[path[i]] -= least
                if flow[path[i]] == 0:
                    back = i
            for i in range(back + 1, depth + 1):
                place[nodes[i]] = -1
            depth = back
