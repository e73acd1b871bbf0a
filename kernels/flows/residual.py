"""Making the residual graph of a network (``shared/residual.py`` shows its arrays).

``N`` nodes, ``E`` links, ``A`` arcs, two for each of ``P`` pairs.
"""

import numpy as np
from numba import types

from ..shared.compiling import kernel
from ..shared.residual import ResidualGraph, number, set_levels
from ..shared.tracing import cond, fori, traced
from ..shared.vectors import maximum, minimum, select


def residual_graph(n, tail, head):
    """Return the residual graph of links ``tail`` -> ``head`` (E,) int64 among ``n`` nodes.

    Links u -> v and v -> u between two nodes are matched in order, and a pair becomes two arcs,
    each other's way back. A link without a match gets an arc back without a link, a self-loop none.
    """
    # NumPy makes the arrays: each would take numba a twentieth of a second to compile.
    links = tail.size
    start, current = np.empty((2, n + 1), np.uint32)
    to, rev = np.empty((2, 2 * links), np.uint32)
    link = np.empty(2 * links, np.int32)
    order, pair = np.empty((2, links), np.uint32), np.empty((links, 2), np.int32)
    arcs = 2 * _fill(tail, head, order, pair, start, current, to, rev, link)
    return ResidualGraph(start, to[:arcs], rev[:arcs], link[:arcs])


@kernel
def _fill(tail, head, order, pair, start, current, to, rev, link):
    """Fill the arrays of the graph; return the number of pairs."""
    pairs = _match(tail, head, start, order, pair)
    _lay_out(tail, head, pair, pairs, start, current, to, rev, link)
    return pairs


def _ends(tail, head, k):
    """Return the lower and the higher end of a link."""
    return minimum(tail[k], head[k]), maximum(tail[k], head[k])


@traced(returns=types.int64)
def _match(tail, head, start, order, pair):
    """Fill ``pair`` (P, 2), the links up and down of each pair or -1; return P.

    Pairs ascend by the lower end, then by the higher. ``start`` (N + 1,) is how many each node has,
    ``order`` (2, E) is scratch.
    """
    links, n = tail.shape[0], start.shape[0]

    def clear(u):
        start[u] = 0

    def begin(u, before):
        count = number(start, u)
        start[u] = before
        return [before + count]

    # Sort by the higher end, then by the lower one: count, then lay out in order.
    for row in range(2):

        def link(i, row=row):
            return number(order, (0, i)) if row else i

        def count(i, row=row, link=link):
            k = link(i)
            u = _ends(tail, head, k)[1 - row]
            start[u] = number(start, u) + (tail[k] != head[k]).astype(np.int64)

        def place(i, row=row, link=link):
            k = link(i)
            u = _ends(tail, head, k)[1 - row]

            def put():
                at = number(start, u)
                order[row, at] = k
                start[u] = at + 1

            cond(tail[k] != head[k], put)

        fori(n, clear)
        fori(links, count)
        [total] = fori(n, begin, 0)
        fori(links, place)
        links = total

    # Among the links between two nodes those up and those down are numbered apart.
    def join(i, low, high, up, down):
        k = number(order, (1, i))
        ends = _ends(tail, head, k)
        same = (ends[0] == low) & (ends[1] == high)
        top = maximum(up, down)
        up, down = select(same, up, top), select(same, down, top)
        goes_up = tail[k] == ends[0]
        at = select(goes_up, up, down)

        def open_pair():
            pair[at, 0], pair[at, 1] = -1, -1
            for u in ends:
                start[u] = number(start, u) + 1

        cond(at == maximum(up, down), open_pair)
        pair[at, select(goes_up, 0 * at, 0 * at + 1)] = k
        up_by = goes_up.astype(np.int64)
        return *ends, up + up_by, down + 1 - up_by

    fori(n, clear)
    _, _, up, down = fori(links, join, -1, -1, 0, 0)
    return maximum(up, down)


@traced()
def _lay_out(tail, head, pair, pairs, start, current, to, rev, link):
    """Lay the arcs out by the nodes that they leave, in the order of the pairs."""

    def begin(u, before):
        count = number(start, u)
        start[u], current[u] = before, before
        return [before + count]

    def place(p):
        ends = _ends(tail, head, maximum(pair[p, 0], pair[p, 1]).astype(np.int64))
        places = [number(current, u) for u in ends]
        for side in range(2):
            a = places[side]
            to[a], rev[a], link[a] = ends[1 - side], places[1 - side], pair[p, side]
            current[ends[side]] = a + 1

    fori(start.shape[0], begin, 0)
    fori(pairs, place)


@kernel
def strongly_connected(graph, usable):
    """Tell whether the ``usable`` (E,) bool links lead from every node to every other."""
    link, rev = graph.link, graph.rev
    n = graph.start.size - 1
    ahead = np.empty(link.size, np.int64)
    behind = np.empty(link.size, np.int64)
    for a in range(link.size):
        ahead[a] = link[a] >= 0 and usable[link[a]]
        behind[rev[a]] = ahead[a]
    # Node 0 has room: all nodes that reach it get levels, and, with arcs turned round, all that it
    # reaches.
    balance = np.zeros(n, np.int64)
    balance[0] = -1
    level = np.empty(n, np.int32)
    queue = np.empty(n + 1, np.uint32)
    joined = True
    for _ in range(2):
        joined &= set_levels(graph, behind, balance, None, None, level, queue, np.int64(1)) == n
        behind = ahead
    return joined
