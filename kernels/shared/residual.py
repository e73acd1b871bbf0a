"""Residual graphs: layers and blocking flows, for Dinic's algorithm, primal-dual and push-relabel.

Antiparallel links are each other's way back, so that a link and the cancelling of flow against it
are one arc; a lone link gets an arc back of no capacity. Arcs lie node by node:

    node           0        1     2
    start          0        3     5     6
    head           1  2  2  0  2  0  ..
    rev            3  5  ..             the arc back: rev[rev[a]] == a

Two arrays (A,) say what may be sent: ``ahead[a]`` is what arc ``a`` still takes, and ``behind[a]``
what its arc back still takes, ``ahead[rev[a]]``. A search starts at the nodes with room and goes
against the arcs; thanks to ``behind`` it reads one array in order.

With prices (primal-dual) both arrays hold the cost of the next unit instead, and an arc u -> v is
admissible where that cost is ``price[u] - price[v]``; without prices, where it takes any more.

``N`` nodes, ``E`` links, ``A`` arcs. ``active`` (N,) is the load that nodes have still to send,
``room`` (N,) what they can still take. Amounts and costs are int64.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from .compiling import inlined, kernel
from .tracing import traced
from .vectors import select

# Unsigned numbers of nodes and arcs spare numba's test for negative indices: 1.4 times faster.
ONE = np.uint32(1)
# The cost of the next unit on an arc that takes no more, above any sum of costs.
FULL = 2**62


class ResidualGraph(NamedTuple):
    """The arcs of a directed network; those that leave node u are ``start[u] .. start[u+1]-1``."""

    start: np.ndarray  # (N + 1,) uint32: the first arc of every node
    head: np.ndarray  # (A,) uint32: the node an arc leads to
    rev: np.ndarray  # (A,) uint32: the arc back
    link: np.ndarray  # (A,) int32: the link that the arc is, -1 for the way back of a lone link


class Costs(NamedTuple):
    """What the primal-dual method has beside ``ahead`` and ``behind``."""

    price: np.ndarray  # (N,): the cost of the cheapest way from there to a node with room
    capacity: np.ndarray  # (A,)
    cost: np.ndarray  # (A,): of a unit sent along the arc; one taken back costs -cost[rev[a]]
    net: np.ndarray  # (A,): what the arc carries, less what the arc back does


class Workspace(NamedTuple):
    """The arrays of one search; the queue has a scratch place, which is written without a test."""

    level: np.ndarray  # (N,) int32: links to the nearest node with room, N if there is none
    queue: np.ndarray  # (N + 1,) uint32
    current: np.ndarray  # (N,) uint32: the arc at which a node goes on searching
    path: np.ndarray  # (N + 1,) uint32: the arcs from the source to the node in hand


@inlined
def workspace(n):
    """Return the workspace of a search among ``n`` nodes."""
    level = np.empty(n, np.int32)
    queue = np.empty(n + 1, np.uint32)
    return Workspace(level, queue, np.empty(n, np.uint32), np.empty(n + 1, np.uint32))


@traced(returns=types.boolean)
def _has_room(room, active, u):
    """Tell whether node u takes load; without ``room`` a negative ``active`` is room."""
    return active[u] < 0 if room is None else room[u] > 0


@traced(returns=types.int64)
def _price(costs, u):
    """Return the price of node u, the first field of ``costs``; 0 without costs."""
    return 0 if costs is None else costs[0][u]


@traced(returns=types.boolean)
def _admissible(amount, costs, tail, head_price):
    """Tell whether an arc may be used; ``amount`` is its ``ahead``: an amount, or a cost."""
    return amount > 0 if costs is None else amount + head_price == costs[0][tail]


def _next_cost(net, capacity, cost, refund):
    """Return what the next unit along an arc costs: -refund while it cancels flow back."""
    return select(net < 0, -refund, select(net < capacity, cost, FULL))


@traced(returns=types.int64)
def _most(ahead, costs, a):
    """Return how many units arc ``a`` takes until it is full, or until its cost changes."""
    if costs is None:
        return ahead[a]
    _, capacity, _, net = costs
    return select(net[a] < 0, -net[a], capacity[a] - net[a])


@traced(returns=types.boolean)
def _push(ahead, behind, costs, a, back, amount):
    """Send an amount along arc ``a``; return whether that closes it at the present prices."""
    if costs is None:
        ahead[a] = ahead[a] - amount
        behind[back] = behind[back] - amount
        ahead[back] = ahead[back] + amount
        behind[a] = behind[a] + amount
        return ahead[a] == 0
    _, capacity, cost, net = costs
    before = ahead[a]
    net[a] = net[a] + amount
    net[back] = net[back] - amount
    ahead[a] = _next_cost(net[a], capacity[a], cost[a], cost[back])
    ahead[back] = _next_cost(net[back], capacity[back], cost[back], cost[a])
    behind[a], behind[back] = ahead[back], ahead[a]
    return ahead[a] != before


@kernel
def set_levels(graph, behind, active, room, costs, level, queue, enough):
    """Set levels, breadth first against admissible arcs; return how many nodes were reached.

    These stand in the queue, the nearest first; the others have level N. The search ends once
    ``enough`` nodes with load (``active`` > 0) have left the queue. Inside it has no branches,
    which makes it three times faster.
    """
    start, head = graph.start, graph.head
    n = np.uint32(level.size)
    far = np.int32(level.size)
    reached = np.uint32(0)
    for u in range(n):
        near = _has_room(room, active, u)
        level[u] = np.int32(0) if near else far
        queue[reached] = u
        reached += np.uint32(near)
    done = np.uint32(0)
    while done < reached and reached < n and enough > 0:
        v = queue[done]
        done += ONE
        enough -= active[v] > 0
        next_level = np.int32(level[v] + 1)
        price = _price(costs, v)
        for a in range(start[v], start[v + ONE]):
            u = head[a]
            new = (level[u] == far) & _admissible(behind[a], costs, u, price)
            level[u] = next_level if new else level[u]
            queue[reached] = u
            reached += np.uint32(new)
    return np.int64(reached)


@inlined
def _blocking_flow(graph, ahead, behind, active, room, costs, work, source, limit):
    """Send from ``source`` until it is empty or blocked, along admissible arcs one level down each.

    Depth first; ``path`` (depth,) are the arcs from the source to node u. A node from which no way
    goes on gets a level that no arc leads to. Return what was sent, at most ``limit``.
    """
    start, head, rev, _ = graph
    level, _, current, path = work
    n = np.int32(level.size)
    sent = np.int64(0)
    depth = 0
    u = source
    while active[source] > 0 and sent < limit:
        if room[u] > 0 and level[u] == 0:
            amount = min(active[source], room[u], limit - sent)
            for i in range(depth):
                amount = min(amount, _most(ahead, costs, path[i]))
            still_open = depth
            for i in range(depth - 1, -1, -1):
                if _push(ahead, behind, costs, path[i], rev[path[i]], amount):
                    still_open = i
            active[source] -= amount
            room[u] -= amount
            sent += amount
            # Go on from the tail of the first arc that this has closed.
            if still_open < depth:
                u = head[rev[path[still_open]]]
                depth = still_open
            continue
        lower = np.int32(level[u] - 1)
        a = current[u]
        end = start[u + ONE]
        while a < end and not (
            level[head[a]] == lower and _admissible(ahead[a], costs, u, _price(costs, head[a]))
        ):
            a += ONE
        current[u] = a
        if a < end:
            path[depth] = a
            depth += 1
            u = head[a]
            continue
        level[u] = n + 1
        if depth == 0:
            break
        depth -= 1
        u = head[rev[path[depth]]]
        current[u] += ONE
    return sent


@inlined
def send_by_layers(graph, ahead, behind, active, room, costs, work, target):
    """Send up to ``target`` units from ``active`` to ``room``, blocking flow by blocking flow.

    ``active``, ``room`` and the arcs change in place. Return what was sent: less than the target
    only where no admissible way is open. A node whose ``active`` is negative does not send.
    """
    start, queue, current = graph.start, work.queue, work.current
    value = np.int64(0)
    # Nodes with load that may still reach room.
    waiting = np.int64(0)
    for u in range(active.size):
        waiting += active[u] != 0
    while value < target and waiting > 0:
        # The nearest quarter goes first, which halves the time where all load flows far one way;
        # elsewhere time and traffic are the same.
        enough = (waiting + 3) // 4
        reached = set_levels(graph, behind, active, room, costs, work.level, queue, enough)
        for i in range(reached):
            current[queue[i]] = start[queue[i]]
        tried = np.int64(0)
        emptied = np.int64(0)
        for i in range(reached):
            u = queue[i]
            if active[u] > 0:
                value += _blocking_flow(
                    graph, ahead, behind, active, room, costs, work, u, target - value
                )
                tried += 1
                emptied += active[u] == 0
                if value == target:
                    break
        # A node from which no way is open stays cut off, and is not waited for again.
        waiting = (waiting if tried >= enough else tried) - emptied
    return value
