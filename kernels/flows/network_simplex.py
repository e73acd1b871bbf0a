"""Minimum-cost flow at any costs of the links: the network simplex method (Dantzig 1951).

A spanning tree joins all nodes and a root. A link outside the tree carries nothing, or all that it
can. Prices of the nodes are such that ``cost + price[tail] - price[head]``, the reduced cost, is 0
for every link of the tree. A link outside that would lower the total cost enters: flow goes round
the circle that it closes until a link of the circle is full or empty, which leaves the tree.

Links are looked through block by block, and the best one of a block enters (Kiraly and Kovacs
2012), round and round, in blocks of the square root of all. Of the links that could leave, the last
one round the circle does: this keeps the tree strongly feasible, so that the method ends
(Cunningham 1976). NetworkX goes the same way: of several flows of least cost both return the same.

At first every node hangs from the root by an artificial link, so dear that it carries nothing in
the end if the demands can be met. Artificial links never enter.

``N`` nodes, and the root is node N; ``E`` links. All amounts and costs are int64.
"""

import numpy as np
from numba import types

from ..shared.compiling import inlined
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.residual import number
from ..shared.tracing import cond, traced, while_loop
from ..shared.vectors import select

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
    status, unmet = _solve(tail, head, capacity, cost, demand, dear, tree, room, price, state, flow)
    return status, flow, price[:-1] - price[-1], unmet


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
    block = np.int64(np.ceil(np.sqrt(links)))
    status = OPTIMAL
    position = np.int64(0)
    meter = new_meter()
    while status == OPTIMAL:
        entering = np.int64(-1)
        least = np.int64(0)
        seen = np.int64(0)
        while seen < links and entering < 0:
            for k in range(position, position + block):
                e = k if k < links else k - links
                reduced = state[e] * (cost[e] + price[tail[e]] - price[head[e]])
                if reduced < least:
                    least = reduced
                    entering = e
            seen += block
            position += block
            if position > links:
                position -= links
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
            _send(tree, room, first, second, ancestor, amount)
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
        _move_sizes(tree, leaving, parent, ancestor)
        _hang(tree, room, top, parent, entering if rises else ~entering, more, less, leaving)
        state[entering] = INSIDE
        reduced = least if forward else -least
        change = -reduced if rises else reduced
        # Only differences of prices count: the smaller part of the tree changes.
        below = np.int64(tree[top, SIZE])
        is_small = 2 * below <= n
        begin, but = (top, np.int64(-1)) if is_small else (n, top)
        _move_prices(tree, price, begin, but, change if is_small else -change)
        interrupted(meter, 8 * min(below, n - below))
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


@traced(returns=types.Tuple([types.int64] * 4 + [types.boolean, types.int64]))
def _around(tree, room, first, second):
    """Return (down, lowest, up, highest, endless, ancestor) of the ways from the last to two nodes.

    ``down`` is what the links from the common ancestor down to ``first`` take more; ``lowest`` is
    the node below the lowest one that takes no more than that; ``up`` and ``highest`` likewise of
    the links from ``second`` up. ``endless`` tells whether nothing on the way ever limits it.
    """

    def is_free(node, goes_up):
        along = (tree[node, ARC] >= 0) == goes_up
        return along & (room[node, UP] + room[node, DOWN] == UNLIMITED)

    def rise(u, v, down, lowest, up, highest, endless):
        def from_first():
            less = (lowest < 0) | (room[u, DOWN] < down)
            limits = select(less, room[u, DOWN], down), select(less, u, lowest), up, highest
            return number(tree, (u, PARENT)), v, *limits, endless & is_free(u, u < 0)

        def from_second():
            less = room[v, UP] <= up
            limits = down, lowest, select(less, room[v, UP], up), select(less, v, highest)
            return u, number(tree, (v, PARENT)), *limits, endless & is_free(v, v >= 0)

        return cond(tree[u, SIZE] < tree[v, SIZE], from_first, from_second)

    ancestor, _, *result = while_loop(
        lambda u, v, *_: u != v, rise, first, second, UNLIMITED, -1, UNLIMITED, -1, first >= 0
    )
    return *result, ancestor


@inlined
def _overflows(tree, room, node, upwards):
    """Tell whether the link above a node, unlimited, would carry more than int64 holds."""
    along = (tree[node, ARC] >= 0) == upwards
    return along and room[node, UP] + room[node, DOWN] == UNLIMITED


@traced()
def _send(tree, room, first, second, ancestor, amount):
    """Send an amount from a common ancestor down to ``first``, and from ``second`` up to it."""
    for begin, sign in ((first, -1), (second, 1)):

        def send_up(node, sign=sign):
            room[node, UP] = room[node, UP] - sign * amount
            room[node, DOWN] = room[node, DOWN] + sign * amount
            return [number(tree, (node, PARENT))]

        while_loop(lambda node: node != ancestor, send_up, begin)


@traced()
def _move_sizes(tree, leaving, parent, ancestor):
    """Take the size of ``leaving`` from its ancestors, and add it to a new parent and its own."""
    size = number(tree, (leaving, SIZE))
    for begin, sign in ((number(tree, (leaving, PARENT)), -1), (parent, 1)):

        def grow(node, sign=sign):
            tree[node, SIZE] = number(tree, (node, SIZE)) + sign * size
            return [number(tree, (node, PARENT))]

        while_loop(lambda node: node != ancestor, grow, begin)


@traced()
def _hang(tree, room, top, parent, arc, up, down, end):
    """Hang ``top`` from a parent by an arc, and its ancestors below it, up to ``end``."""
    size = number(tree, (end, SIZE))

    def move(node, parent, arc, up, down, below, done):
        old_parent, old_arc, old_size = (number(tree, (node, i)) for i in (PARENT, ARC, SIZE))
        old_up, old_down = room[node, UP], room[node, DOWN]
        before, after = number(tree, (node, LAST)), number(tree, (node, NEXT))
        # The sister before it, or else its parent, leads on to the one after.
        is_first, column = before < 0, select(before < 0, 0 * before + CHILD, NEXT)
        tree[select(is_first, old_parent, before), column] = after

        def link_back(sister, to):
            def link():
                tree[sister, LAST] = to

            cond(sister >= 0, link)

        link_back(after, before)
        sister = number(tree, (parent, CHILD))
        link_back(sister, node)
        tree[parent, CHILD] = node
        tree[node, PARENT], tree[node, ARC] = parent, arc
        tree[node, LAST], tree[node, NEXT] = -1, sister
        tree[node, SIZE] = size - below
        room[node, UP], room[node, DOWN] = up, down
        return old_parent, node, ~old_arc, old_down, old_up, old_size, node == end

    while_loop(lambda *state: ~state[-1], move, top, parent, arc, up, down, 0, top < 0)


@traced()
def _move_prices(tree, price, top, but, change):
    """Change the prices of a node and of all below it, except of ``but`` and all below that."""

    def visit(node, done):
        def change_price():
            price[node] = price[node] + change
            return [number(tree, (node, CHILD))]

        [child] = cond(node != but, change_price, lambda: [0 * node - 1])

        def rise():
            return while_loop(
                lambda node: (node != top) & (tree[node, NEXT] < 0),
                lambda node: [number(tree, (node, PARENT))],
                node,
            )

        [last] = cond(child < 0, rise, lambda: [node])
        follows = select(child < 0, number(tree, (last, NEXT)), child)
        return follows, (child < 0) & (last == top)

    while_loop(lambda node, done: ~done, visit, top, top < 0)
