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

# Columns of the tree: half a line of the cache holds a row. ARC is the link to the parent, or
# ``~link`` if the link leads down from it. CHILD is a node's first child; NEXT and LAST are its
# sisters. SIZE is how many nodes hang from a node, itself included.
PARENT, ARC, CHILD, NEXT, LAST, SIZE = range(6)
COLUMNS = 8
# Columns of what the arc to the parent takes more, either way.
UP, DOWN = range(2)
# How the method ends.
OPTIMAL, UNBOUNDED, OVERFLOW = range(3)
# The capacity of links that carry any amount.
UNLIMITED = 2**63 - 1
# The state of a link: empty, in the tree or no use, full.
EMPTY, INSIDE, FULL = 1, 0, -1
LEAST_BLOCK = 16


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
    # NumPy makes the arrays: each would take numba a twentieth of a second to compile.
    nodes, links = demand.size + 1, tail.size
    tree, room = np.empty((nodes, COLUMNS), np.int32), np.empty((nodes, 2), np.int64)
    price, flow = np.empty(nodes, np.int64), np.empty(links, np.int64)
    state = np.empty(links, np.int8)
    status, unmet = _solve(
        tail, head, capacity, cost, demand, dear, tree, room, price, state, flow
    )
    return status, flow, price[:-1], unmet


@long_kernel
def _solve(tail, head, capacity, cost, demand, dear, tree, room, price, state, flow):
    """Fill ``flow`` and ``price``; return (status, unmet)."""
    n, links = demand.size, tail.size
    for e in range(links):
        state[e] = EMPTY if capacity[e] > 0 else INSIDE
    for v in range(n):
        tree[v, PARENT] = n
        tree[v, CHILD] = -1
        tree[v, NEXT] = v + 1 if v + 1 < n else -1
        tree[v, LAST] = v - 1
        tree[v, SIZE] = 1
        # A node of no demand could send to the root: so the tree is strongly feasible.
        receives = demand[v] > 0
        tree[v, ARC] = ~(links + v) if receives else links + v
        room[v, UP] = demand[v] if receives else UNLIMITED + demand[v]
        room[v, DOWN] = UNLIMITED - demand[v] if receives else -demand[v]
        price[v] = dear if receives else -dear
    tree[n, PARENT] = -1
    tree[n, CHILD] = 0 if n > 0 else -1
    tree[n, NEXT] = -1
    tree[n, SIZE] = n + 1
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
        limit = capacity[entering]
        down, lowest, up, highest, endless, ancestor = _around(tree, room, first, second)
        amount = min(down, limit, up)
        # The last link round the circle that is full or empty then: from the ancestor down to
        # ``first`` come the links of ``down``, and those of ``up`` after the entering one.
        leaving = highest if up == amount else np.int64(-1) if limit == amount else lowest
        if endless and limit == UNLIMITED:
            status = UNBOUNDED
            break
        if limit == UNLIMITED if leaving < 0 else _overflows(tree, room, leaving, up == amount):
            status = OVERFLOW
            break
        if amount > 0:
            _send(tree, room, first, ancestor, -amount)
            _send(tree, room, second, ancestor, amount)
        if leaving < 0:
            state[entering] = FULL if forward else EMPTY
            continue
        arc = np.int64(tree[leaving, ARC])
        gone = max(arc, ~arc)
        if gone < links:
            state[gone] = EMPTY if room[leaving, DOWN if arc >= 0 else UP] == 0 else FULL
        # The part of the tree below the leaving link hangs from the entering one.
        top, parent = (second, first) if up == amount else (first, second)
        rises = np.int64(tail[entering]) == top
        sent = amount if forward else limit - amount
        more, less = (limit - sent, sent) if rises else (sent, limit - sent)
        _grow(tree, tree[leaving, PARENT], ancestor, -tree[leaving, SIZE])
        _grow(tree, parent, ancestor, tree[leaving, SIZE])
        _hang(tree, room, top, parent, entering if rises else ~entering, more, less, leaving)
        state[entering] = INSIDE
        reduced = least if forward else -least
        change = -reduced if rises else reduced
        # Only differences of prices count: the smaller part of the tree changes.
        if 2 * np.int64(tree[top, SIZE]) <= n:
            _move_prices(tree, price, top, np.int64(-1), change)
            interrupted(meter, 8 * np.int64(tree[top, SIZE]))
        else:
            _move_prices(tree, price, n, top, -change)
            interrupted(meter, 8 * (n - np.int64(tree[top, SIZE])))
    for e in range(links):
        flow[e] = capacity[e] if state[e] == FULL else 0
    unmet = False
    for v in range(n):
        arc = np.int64(tree[v, ARC])
        sent = room[v, DOWN if arc >= 0 else UP]
        link = max(arc, ~arc)
        if link < links:
            flow[link] = sent
        else:
            unmet = unmet or sent > 0
    return status, unmet


@inlined
def _around(tree, room, first, second):
    """Return (down, lowest, up, highest, endless, ancestor) of the ways from the last to two nodes.

    ``down`` is what the links from the common ancestor down to ``first`` take more; ``lowest`` is
    the node below the lowest one that takes no more than that; ``up`` and ``highest`` likewise of
    the links from ``second`` up. ``endless`` tells whether nothing on the way ever limits it.
    """
    down, lowest, up, highest = UNLIMITED, np.int64(-1), UNLIMITED, np.int64(-1)
    endless = True
    u, v = first, second
    while u != v:
        if tree[u, SIZE] < tree[v, SIZE]:
            if lowest < 0 or room[u, DOWN] < down:
                down, lowest = room[u, DOWN], u
            endless = endless and tree[u, ARC] < 0 and room[u, UP] + room[u, DOWN] == UNLIMITED
            u = np.int64(tree[u, PARENT])
        else:
            if room[v, UP] <= up:
                up, highest = room[v, UP], v
            endless = endless and tree[v, ARC] >= 0 and room[v, UP] + room[v, DOWN] == UNLIMITED
            v = np.int64(tree[v, PARENT])
    return down, lowest, up, highest, endless, u


@inlined
def _overflows(tree, room, node, upwards):
    """Tell whether the link above a node, unlimited, would carry more than int64 holds."""
    along = (tree[node, ARC] >= 0) == upwards
    return along and room[node, UP] + room[node, DOWN] == UNLIMITED


@inlined
def _send(tree, room, node, ancestor, amount):
    """Send an amount up from a node to an ancestor."""
    while node != ancestor:
        room[node, UP] -= amount
        room[node, DOWN] += amount
        node = np.int64(tree[node, PARENT])


@inlined
def _grow(tree, node, ancestor, by):
    """Change the sizes of a node and those between it and an ancestor."""
    node = np.int64(node)
    while node != ancestor:
        tree[node, SIZE] += by
        node = np.int64(tree[node, PARENT])


@inlined
def _hang(tree, room, top, parent, arc, up, down, end):
    """Hang ``top`` from a parent by an arc, and its ancestors below it, up to ``end``."""
    node = top
    size = tree[end, SIZE]
    below = np.int32(0)
    while True:
        old_parent, old_arc = np.int64(tree[node, PARENT]), np.int64(tree[node, ARC])
        old_up, old_down, old_size = room[node, UP], room[node, DOWN], tree[node, SIZE]
        before, after = np.int64(tree[node, LAST]), np.int64(tree[node, NEXT])
        if before < 0:
            tree[old_parent, CHILD] = after
        else:
            tree[before, NEXT] = after
        if after >= 0:
            tree[after, LAST] = before
        sister = np.int64(tree[parent, CHILD])
        if sister >= 0:
            tree[sister, LAST] = node
        tree[parent, CHILD] = node
        tree[node, PARENT] = parent
        tree[node, ARC] = arc
        tree[node, LAST] = -1
        tree[node, NEXT] = sister
        tree[node, SIZE] = size - below
        room[node, UP] = up
        room[node, DOWN] = down
        if node == end:
            break
        parent, node, arc, up, down, below = node, old_parent, ~old_arc, old_down, old_up, old_size


@inlined
def _move_prices(tree, price, top, but, change):
    """Change the prices of a node and of all below it, except of ``but`` and all below that."""
    node = top
    while True:
        if node != but:
            price[node] += change
            if tree[node, CHILD] >= 0:
                node = np.int64(tree[node, CHILD])
                continue
        while node != top and tree[node, NEXT] < 0:
            node = np.int64(tree[node, PARENT])
        if node == top:
            break
        node = np.int64(tree[node, NEXT])
