"""Making the residual graph of a network (``shared/residual.py`` shows its arrays).

``N`` nodes, ``E`` links, ``A`` arcs, two for each of ``P`` pairs.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.residual import ResidualGraph, set_levels


def residual_graph(n, tail, head):
    """Return the residual graph of links ``tail`` -> ``head`` (E,) among ``n`` nodes, by NumPy.

    Links u -> v and v -> u between two nodes are matched in order, and a pair becomes two arcs,
    each other's way back. A link without a match gets an arc back without a link, a self-loop none.
    """
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    order = np.lexsort((high, low))
    order = order[(low != high)[order]]
    low, high, up = low[order], high[order], tail[order] < head[order]
    # Links between the same two nodes are a group, where those that go up, from the lower node, and
    # those that go down are numbered apart: ``number``. Equal numbers are a pair.
    first = np.ones(order.size, bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    starts, group = np.flatnonzero(first), np.cumsum(first) - 1
    up_before = np.cumsum(up) - up
    up_number = up_before - up_before[starts][group]
    number = np.where(up, up_number, np.arange(order.size) - starts[group] - up_number)
    pairs = np.maximum.reduceat(number, starts) + 1 if order.size else starts
    pair = (np.cumsum(pairs) - pairs)[group] + number
    # Of each pair of arcs (P, 2), the one up first: the nodes that they leave, and their links.
    leaves = np.empty((pairs.sum(), 2), np.int64)
    links = np.full(leaves.shape, -1, np.int32)
    leaves[pair, 0], leaves[pair, 1] = low, high
    links[pair, np.where(up, 0, 1)] = order
    # Arcs by the node that they leave; ``place`` is where each one comes to stand.
    sequence = np.argsort(leaves.reshape(-1), kind="stable")
    place = np.empty(sequence.size, np.uint32)
    place[sequence] = np.arange(sequence.size)
    start = np.zeros(n + 1, np.uint32)
    start[1:] = np.cumsum(np.bincount(leaves.reshape(-1), minlength=n))
    other_node = leaves[:, ::-1].reshape(-1)[sequence].astype(np.uint32)
    other_arc = place.reshape(-1, 2)[:, ::-1].reshape(-1)[sequence]
    return ResidualGraph(start, other_node, other_arc, links.reshape(-1)[sequence])


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
