"""Sweeps over the links of a graph, in many networks side by side.

A tile holds W networks, node by node; W is a multiple of a register's lanes, or 1:

    node 0    load in network 0, 1, .. W-1
    node 1    load in network 0, 1, .. W-1
     ..

An exchange between two nodes takes a register of each row, so that the same instructions balance
as many networks as a register has lanes. ``exchange_share`` is the paper's rule (Wu-Shu Fig. 2).
Loads are signed integers or float64.
"""

from .shares import exchange_share
from .tracing import each_register, fori, traced, update
from .vectors import absolute, add, maximum, minimum, select, spread


@traced()
def sweep_links(tile, resident_min, record, links, share, sent_by, moving):
    """Let links exchange, one after the other, in all networks of ``tile`` (N * W,).

    Parameters
    ----------
    resident_min : (N * W,), the least load of each node so far; may be None
    record : (flows (B, E) or None, workspace (W,), number of the first network, how many there are)
    links : (u, v, start, end), the links ``start .. end-1`` of those between u and v (E,)
    share : as ``shares.py`` has it; of real loads (W,), one a network
    sent_by : (W, or more), receives what each network sends in addition
    moving : (W,), set to 1 where a load changes; may be None
    """
    flows, scratch, first, count = record
    u, v, start, end = links
    W = scratch.shape[0]

    def link(e):
        i, j = u[e] * W, v[e] * W

        def exchange(w, size):
            before = tile.load(i + w, size), tile.load(j + w, size)
            own_share = share if isinstance(share, tuple) else share.load(w, size)
            *after, sent, flow = exchange_share(*before, own_share)
            update(sent_by, w, add, sent)
            if moving is not None:
                changed = select(after[0] != before[0], spread(1, sent), moving.load(w, size))
                moving.store(w, changed)
            for at, load in zip((i + w, j + w), after, strict=True):
                tile.store(at, load)
                if resident_min is not None:
                    update(resident_min, at, minimum, load)
            if flows is not None:
                scratch.store(w, flow)

        each_register(W, tile.dtype, exchange)

        def network(w):
            flows[first + w, e] = flows[first + w, e] + scratch[w].astype(flows.dtype)

        if flows is not None:
            fori(count, network)

    fori(end, link, start=start)


@traced()
def largest_differences(tile, u, v, largest):
    """Set ``largest`` (W,) to each network's largest difference between neighbours u and v (E,)."""
    W = largest.shape[0]

    def measure(w, size):
        def link(e, most):
            low, high = (tile.load(ends[e] * W + w, size) for ends in (u, v))
            return (maximum(most, absolute(low - high)),)

        first = tile.load(w, size)
        (most,) = fori(u.shape[0], link, first - first)
        largest.store(w, most)

    each_register(W, tile.dtype, measure)


@traced()
def sum_nodes(tile, nodes, totals):
    """Set ``totals`` (W, or more) to the total of each network of a tile, from node 0 on."""
    W = tile.shape[0] // nodes

    def add_up(w, size):
        first = tile.load(w, size)

        def node(i, total):
            return (total + tile.load(i * W + w, size),)

        (total,) = fori(nodes, node, first - first)
        totals.store(w, total)

    each_register(W, tile.dtype, add_up)
