"""The least traffic at a known beta: the primal-dual method (Ford and Fulkerson 1962).

A price of every node is the cost of the cheapest way on from it to a node with room. Along arcs
whose cost is the difference of prices, blocking flows are sent layer by layer as in Dinic's
algorithm; then prices rise by the reduced distances to room (Dial's buckets), which opens the
next cheapest ways. So ways are used up in the order of their cost: successive shortest routes,
all of one length at a time.

The residual graph and its arrays are those of ``shared/residual.py``, where layers and blocking
flows stand. ``N`` nodes, ``E`` links, ``A`` arcs. All amounts are int64. A link costs 1 a unit,
or 0 where it stands for none of the network; taking flow back costs the negative of that.
"""

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.residual import FULL, ONE, Costs, send_by_layers, workspace

# Distances are searched this far at a time; what lies beyond is raised and searched again. From 16
# to 2048 it makes no difference; 2**14, with as many empty buckets to look into, takes up to 1.08.
HORIZON = 512


@kernel
def least_plan(graph, capacity, cost, excess, room, target):
    """Send ``target`` units, which must be possible, from ``excess`` to ``room`` (N,).

    ``capacity``, ``cost`` (E,) are of the links. Returns (value, flow): ``flow`` (E,) is acyclic
    and of the least total cost.
    """
    start, _, rev, link = graph
    n = start.size - 1
    total_excess = np.int64(0)
    total_room = np.int64(0)
    for u in range(n):
        total_excess += excess[u]
        total_room += room[u]
    # Where all sources, or all sinks, empty in the end, each may send along its own cheapest
    # routes; of sinks on the network with every arc turned round. Otherwise only the sources
    # nearest to room may.
    every_sink = total_room == target != total_excess
    nearest_only = total_excess != target and not every_sink
    active = np.empty(n, np.int64)
    remaining = np.empty(n, np.int64)
    price = np.zeros(n, np.int64)
    for u in range(n):
        active[u] = room[u] if every_sink else excess[u]
        remaining[u] = excess[u] if every_sink else room[u]
    A = link.size
    arc_capacity = np.empty(A, np.int64)
    arc_cost = np.empty(A, np.int64)
    ahead = np.empty(A, np.int64)
    behind = np.empty(A, np.int64)
    net = np.zeros(A, np.int64)
    for a in range(A):
        k = link[rev[a] if every_sink else a]
        arc_capacity[a] = capacity[k] if k >= 0 else 0
        arc_cost[a] = cost[k] if k >= 0 else 0
        ahead[a] = arc_cost[a] if arc_capacity[a] > 0 else FULL
        behind[rev[a]] = ahead[a]
    costs = Costs(price, arc_capacity, arc_cost, net)
    work = workspace(n)
    value = np.int64(0)
    failures = 0
    while value < target and failures <= n // HORIZON + 1:
        if not _raise_prices(graph, behind, active, remaining, price):
            failures += 1
            continue
        failures = 0
        if nearest_only:
            lowest = FULL
            for u in range(n):
                if active[u] > 0:
                    lowest = min(lowest, price[u])
            # The load of the others is negative meanwhile.
            for u in range(n):
                active[u] = -active[u] if price[u] > lowest else active[u]
        value += send_by_layers(
            graph, ahead, behind, active, remaining, costs, work, target - value
        )
        for u in range(n):
            active[u] = abs(active[u])
    flow = np.zeros(capacity.size, np.int64)
    for a in range(A):
        k = link[rev[a] if every_sink else a]
        if k >= 0:
            flow[k] = max(net[a], np.int64(0))
    return value, flow


@inlined
def _raise_prices(graph, behind, active, room, price):
    """Raise prices by the reduced distances to room, at most HORIZON; is a source within it."""
    start, head = graph.start, graph.head
    n = price.size
    raised = np.empty(n, np.int64)
    settled = np.empty(n, np.bool_)
    # Buckets are lists of entries; an entry whose node was since found nearer is skipped.
    # An arc makes one entry at most.
    first = np.empty(HORIZON + 1, np.int64)
    node = np.empty(n + head.size, np.uint32)
    following = np.empty(n + head.size, np.int64)
    for distance in range(HORIZON + 1):
        first[distance] = -1
    entries = 0
    for u in range(n):
        settled[u] = False
        raised[u] = HORIZON + 1
        if room[u] > 0:
            raised[u] = 0
            node[entries] = u
            following[entries] = first[0]
            first[0] = entries
            entries += 1
    reached = False
    for distance in range(HORIZON + 1):
        while first[distance] >= 0:
            entry = first[distance]
            first[distance] = following[entry]
            v = node[entry]
            if settled[v]:
                continue
            settled[v] = True
            reached = reached or active[v] > 0
            paid = distance + price[v]
            for b in range(start[v], start[v + ONE]):
                u = head[b]
                further = paid + behind[b] - price[u]
                if further < raised[u]:
                    raised[u] = further
                    node[entries] = u
                    following[entries] = first[further]
                    first[further] = entries
                    entries += 1
    for u in range(n):
        price[u] += raised[u]
    return reached
