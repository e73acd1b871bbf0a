"""The least traffic at a known beta: the primal-dual method (Ford and Fulkerson 1962).

The price of a node is the cost of the cheapest way from it to a node with room. Blocking flows are
sent, layer by layer as in Dinic's algorithm, along arcs whose cost is the difference of the prices
at their ends. Then prices rise by the reduced distances to room, in which an arc u -> v counts
cost + price[v] - price[u] (Dial's buckets); this opens the next cheapest ways. So ways are used up
in the order of their cost: successive shortest routes, all of one length at a time.

The residual graph, its arrays, layers and blocking flows are in ``shared/residual.py``. ``N``
nodes, ``E`` links, ``A`` arcs. All amounts are int64. A unit on a link costs 1, or 0 if the link is
none of the network's; taking it back costs the negative of that.
"""

import numpy as np

from ..shared.compiling import inlined
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.residual import FULL, ONE, Costs, send_by_layers, workspace

# Distances are searched up to this; what lies beyond is raised by one more, and searched again.
# From 16 to 2048 it makes no difference; 2**14, as many buckets, takes up to 1.08 times as long.
HORIZON = 512


def least_plan(graph, capacity, cost, excess, room, target):
    """Send ``target`` units, which must be possible, from ``excess`` to ``room`` (N,).

    ``capacity``, ``cost`` (E,) are of the links. Return (value, flow): what was sent, and a
    ``flow`` (E,) that is acyclic and of the least total cost.
    """
    # If all sources empty in the end, each sends along its own cheapest routes. If all sinks fill
    # up, they do so on the network with every arc turned round. Otherwise only the sources nearest
    # to room send.
    every_sink = room.sum() == target != excess.sum()
    nearest_only = excess.sum() != target and not every_sink
    active, remaining = (room, excess) if every_sink else (excess, room)
    link = graph.link[graph.rev] if every_sink else graph.link
    arc_capacity = np.where(link >= 0, capacity[link], 0)
    arc_cost = np.where(link >= 0, cost[link], 0)
    ahead = np.where(arc_capacity > 0, arc_cost, FULL)
    costs = Costs(np.zeros_like(active), arc_capacity, arc_cost, np.zeros_like(arc_cost))
    arcs = ahead, ahead[graph.rev], costs
    value = _send(graph, arcs, active.copy(), remaining.copy(), target, nearest_only)
    flow = np.zeros_like(capacity)
    flow[link[link >= 0]] = np.maximum(costs.net[link >= 0], 0)
    return value, flow


@long_kernel
def _send(graph, arcs, active, remaining, target, nearest_only):
    """Send from ``active`` to ``remaining`` (N,) along ``arcs``: ahead, behind and costs."""
    ahead, behind, costs = arcs
    price = costs.price
    n, A = price.size, ahead.size
    work = workspace(n)
    value = np.int64(0)
    failures, meter = 0, new_meter()
    while value < target and failures <= n // HORIZON + 1:
        if interrupted(meter, 8 * (n + A)):
            break
        if not _raise_prices(graph, behind, active, remaining, price):
            failures += 1
            continue
        failures = 0
        if nearest_only:
            lowest = FULL
            for u in range(n):
                if active[u] > 0:
                    lowest = min(lowest, price[u])
            # A negative load does not send; the signs are put back below.
            for u in range(n):
                active[u] = -active[u] if price[u] > lowest else active[u]
        value += send_by_layers(
            graph, ahead, behind, active, remaining, costs, work, target - value, meter
        )
        for u in range(n):
            active[u] = abs(active[u])
    return value


@inlined
def _raise_prices(graph, behind, active, room, price):
    """Raise prices by the reduced distances to room; tell whether HORIZON reaches any load.

    Nodes beyond it are raised by HORIZON + 1.
    """
    start, head = graph.start, graph.head
    n = price.size
    raised = np.empty(n, np.int64)
    settled = np.empty(n, np.bool_)
    # Bucket d is a linked list of entries, from ``first[d]`` along ``following`` to -1; ``node`` is
    # an entry's node. Entries of nodes settled at a lesser distance are skipped. Each node and each
    # arc makes one entry at most.
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
            way_on = distance + price[v]
            for b in range(start[v], start[v + ONE]):
                u = head[b]
                reduced = way_on + behind[b] - price[u]
                if reduced < raised[u]:
                    raised[u] = reduced
                    node[entries] = u
                    following[entries] = first[reduced]
                    first[reduced] = entries
                    entries += 1
    for u in range(n):
        price[u] += raised[u]
    return reached
