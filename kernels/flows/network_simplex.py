"""Minimum-cost flow at any costs of the links: the network simplex method (Dantzig 1951).

A spanning tree joins all nodes and a root. A link outside the tree carries nothing, or all that it
can. Prices of the nodes are such that ``cost + price[tail] - price[head]``, the reduced cost, is 0
for every link of the tree. A link outside that would lower the total cost enters: flow goes round
the circle that it closes until a link of the circle is full or empty, which leaves the tree.

Links are looked through block by block, and the best one of a block enters (Kiraly and Kovacs
2012). Of the links that could leave, the last one round the circle does: this keeps the tree
strongly feasible, so that the method ends (Cunningham 1976).

At first every node hangs from the root by an artificial link, so dear that it carries nothing in
the end if the demands can be met. Artificial links never enter.

``N`` nodes, and the root is node N; ``E`` links. All amounts and costs are int64.
"""

import numpy as np

from ..shared.compiling import inlined
from ..shared.interrupts import interrupted, long_kernel, new_meter

# Columns of the tree; a row of 64 bytes fills a line of the cache. ARC is the link to the parent,
# or ``~link`` if the link leads down from it. UP and DOWN are what that arc takes more either way.
# CHILD is a node's first child; NEXT and LAST are its sisters.
PARENT, ARC, CHILD, NEXT, LAST, DEPTH, UP, DOWN = range(8)
COLUMNS = 8
# How the method ends.
OPTIMAL, UNBOUNDED, OVERFLOW = range(3)
# The capacity of links that carry any amount.
UNLIMITED = 2**63 - 1
# The state of a link: empty, in the tree or no use, full.
EMPTY, INSIDE, FULL = 1, 0, -1
LEAST_BLOCK = 16


@long_kernel
def least_cost(tail, head, capacity, cost, demand, dear):
    """Return (status, flow, price, unmet) of a flow of least cost that meets all demands.

    Parameters
    ----------
    tail, head : (E,) uint32
    capacity, cost : (E,) int64
        Capacities are 0 or more; ``UNLIMITED`` is none.
    demand : (N,) int64
        What a node receives less what it sends; the sum is 0.
    dear : int64
        Cost of an artificial link, more than that of any path.

    ``flow`` is (E,), ``price`` (N,); ``unmet`` tells whether artificial links still carry flow. The
    status is UNBOUNDED if a circle of unlimited links costs less than nothing, and OVERFLOW if a
    link would carry more than int64 holds.
    """
    n, links = demand.size, tail.size
    tree = np.empty((n + 1, COLUMNS), np.int64)
    price = np.empty(n + 1, np.int64)
    state = np.empty(links, np.int8)
    for e in range(links):
        state[e] = EMPTY if capacity[e] > 0 else INSIDE
    for v in range(n):
        tree[v, PARENT] = n
        tree[v, CHILD] = -1
        tree[v, NEXT] = v + 1 if v + 1 < n else -1
        tree[v, LAST] = v - 1
        tree[v, DEPTH] = 1
        # A node of no demand could send to the root: so the tree is strongly feasible.
        receives = demand[v] > 0
        tree[v, ARC] = ~(links + v) if receives else links + v
        tree[v, UP] = demand[v] if receives else UNLIMITED + demand[v]
        tree[v, DOWN] = UNLIMITED - demand[v] if receives else -demand[v]
        price[v] = dear if receives else -dear
    tree[n, PARENT] = -1
    tree[n, CHILD] = 0 if n > 0 else -1
    tree[n, NEXT] = -1
    tree[n, DEPTH] = 0
    price[n] = 0
    block = max(np.int64(np.sqrt(links)), LEAST_BLOCK)
    status = OPTIMAL
    position = np.int64(0)
    meter = new_meter()
    while status == OPTIMAL:
        entering = np.int64(-1)
        least = np.int64(0)
        seen = np.int64(0)
        while seen < links and entering < 0:
            stop = min(position + block, links)
            for e in range(position, stop):
                reduced = state[e] * (cost[e] + price[tail[e]] - price[head[e]])
                if reduced < least:
                    least = reduced
                    entering = e
            seen += stop - position
            position = stop if stop < links else np.int64(0)
        if entering < 0 or interrupted(meter, seen + 64):
            break
        # Flow goes from ``first`` over the link to ``second``, and back over their ancestor.
        forward = state[entering] == EMPTY
        first = np.int64(tail[entering] if forward else head[entering])
        second = np.int64(head[entering] if forward else tail[entering])
        room = capacity[entering]
        down, lowest, up, highest, endless = _around(tree, first, second)
        amount = min(down, room, up)
        # The last link round the circle that is full or empty then: from the ancestor down to
        # ``first`` come the links of ``down``, and those of ``up`` after the entering one.
        leaving = highest if up == amount else np.int64(-1) if room == amount else lowest
        if endless and room == UNLIMITED:
            status = UNBOUNDED
            break
        if room == UNLIMITED if leaving < 0 else _overflows(tree, leaving, up == amount):
            status = OVERFLOW
            break
        interrupted(meter, 8 * _send(tree, first, second, amount))
        if leaving < 0:
            state[entering] = FULL if forward else EMPTY
            continue
        arc = tree[leaving, ARC]
        gone = max(arc, ~arc)
        if gone < links:
            state[gone] = EMPTY if tree[leaving, DOWN if arc >= 0 else UP] == 0 else FULL
        # The part of the tree below the leaving link hangs from the entering one.
        top, parent = (second, first) if up == amount else (first, second)
        rises = np.int64(tail[entering]) == top
        carried = amount if forward else room - amount
        _hang(
            tree,
            top,
            parent,
            entering if rises else ~entering,
            room - carried if rises else carried,
            carried if rises else room - carried,
            leaving,
        )
        reduced = least if forward else -least
        visited = _move_prices(tree, price, top, -reduced if rises else reduced)
        interrupted(meter, 8 * visited)
        state[entering] = INSIDE
    flow = np.empty(links, np.int64)
    for e in range(links):
        flow[e] = capacity[e] if state[e] == FULL else 0
    unmet = False
    for v in range(n):
        arc = tree[v, ARC]
        sent = tree[v, DOWN if arc >= 0 else UP]
        link = max(arc, ~arc)
        if link < links:
            flow[link] = sent
        else:
            unmet = unmet or sent > 0
    return status, flow, price, unmet


@inlined
def _around(tree, first, second):
    """Return (down, lowest, up, highest, endless) of the ways from an ancestor to two nodes.

    ``down`` is what the links from the common ancestor down to ``first`` take more; ``lowest`` is
    the node below the lowest one that takes no more than that; ``up`` and ``highest`` likewise of
    the links from ``second`` up. ``endless`` tells whether nothing on the way ever limits it.
    """
    down, lowest, up, highest = UNLIMITED, np.int64(-1), UNLIMITED, np.int64(-1)
    endless = True
    u, v = first, second
    while u != v:
        if tree[u, DEPTH] > tree[v, DEPTH]:
            if lowest < 0 or tree[u, DOWN] < down:
                down, lowest = tree[u, DOWN], u
            endless = endless and tree[u, ARC] < 0 and tree[u, UP] + tree[u, DOWN] == UNLIMITED
            u = tree[u, PARENT]
        else:
            if tree[v, UP] <= up:
                up, highest = tree[v, UP], v
            endless = endless and tree[v, ARC] >= 0 and tree[v, UP] + tree[v, DOWN] == UNLIMITED
            v = tree[v, PARENT]
    return down, lowest, up, highest, endless


@inlined
def _overflows(tree, node, upwards):
    """Tell whether the link above a node, unlimited, would carry more than int64 holds."""
    along = (tree[node, ARC] >= 0) == upwards
    return along and tree[node, UP] + tree[node, DOWN] == UNLIMITED


@inlined
def _send(tree, first, second, amount):
    """Send an amount from the common ancestor down to ``first``, and up from ``second`` to it."""
    u, v = first, second
    length = 1
    while u != v:
        if tree[u, DEPTH] > tree[v, DEPTH]:
            tree[u, DOWN] -= amount
            tree[u, UP] += amount
            u = tree[u, PARENT]
        else:
            tree[v, UP] -= amount
            tree[v, DOWN] += amount
            v = tree[v, PARENT]
        length += 1
    return length


@inlined
def _hang(tree, top, parent, arc, up, down, end):
    """Hang ``top`` from a parent by an arc, and its ancestors below it, up to ``end``."""
    node = top
    while True:
        old = tree[node, PARENT], tree[node, ARC], tree[node, UP], tree[node, DOWN]
        before, after = tree[node, LAST], tree[node, NEXT]
        if before < 0:
            tree[old[0], CHILD] = after
        else:
            tree[before, NEXT] = after
        if after >= 0:
            tree[after, LAST] = before
        tree[node, PARENT], tree[node, ARC] = parent, arc
        tree[node, UP], tree[node, DOWN] = up, down
        sister = tree[parent, CHILD]
        tree[node, LAST], tree[node, NEXT] = -1, sister
        if sister >= 0:
            tree[sister, LAST] = node
        tree[parent, CHILD] = node
        if node == end:
            break
        parent, node, arc, up, down = node, old[0], ~old[1], old[3], old[2]


@inlined
def _move_prices(tree, price, top, change):
    """Change the prices of a node and all below it, and set depths; return how many they are."""
    node = top
    visited = 0
    while True:
        price[node] += change
        tree[node, DEPTH] = tree[tree[node, PARENT], DEPTH] + 1
        visited += 1
        if tree[node, CHILD] >= 0:
            node = tree[node, CHILD]
            continue
        while node != top and tree[node, NEXT] < 0:
            node = tree[node, PARENT]
        if node == top:
            break
        node = tree[node, NEXT]
    return visited
