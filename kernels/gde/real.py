"""Generalized dimension exchange of real loads (Wu-Shu Fig. 2), one network or many.

Legend: ``B`` networks, ``N`` nodes, ``E`` links, ``W`` networks of a tile, of which there are
``K``.

A tile holds W networks side by side, node by node, as in ``tiles.py``; a single network is a tile
of its own. ``exchange_share`` is the paper's rule. Every network has its own share: it is set to 0
once all neighbours are near enough, and then exchanges change nothing any more. A tile is swept
until all of its shares are 0.
"""

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.shares import exchange_share
from ..shared.tracing import each_register, fori, traced, update
from ..shared.vectors import absolute, add, maximum, minimum, select, spread

# Flags of a network, as in ``tiles.py``.
STALLED, APART = 1, 2


@traced()
def _sweep(tile, resident_min, record, u, v, share, moved, moving):
    """Let all links (u, v) exchange, one after the other, in all networks of ``tile`` (N * W,).

    Adds what each network sends to ``moved`` (W,), and sets ``moving`` (W,) to 1 where a load
    changes. ``share`` is (W,). ``record`` : (flows (B, E) or None, workspace (W,), the number of
    the tile's first network, how many of its W are networks).
    """
    W = share.shape[0]
    flows, scratch, first, count = record

    def link(e):
        i, j = u[e] * W, v[e] * W

        def exchange(w, size):
            before = tile.load(i + w, size)
            loads = before, tile.load(j + w, size)
            *after, sent, flow = exchange_share(*loads, share.load(w, size))
            update(moved, w, add, sent)
            changed = select(after[0] != before, spread(1, before), moving.load(w, size))
            moving.store(w, changed)
            for at, load in zip((i + w, j + w), after, strict=True):
                tile.store(at, load)
                update(resident_min, at, minimum, load)
            if flows is not None:
                scratch.store(w, flow)

        each_register(W, tile.dtype, exchange)

        def network(w):
            flows[first + w, e] = flows[first + w, e] + scratch[w]

        if flows is not None:
            fori(count, network)

    fori(u.shape[0], link)


@traced()
def _largest_steps(tile, u, v, steps):
    """Set ``steps`` (W,) to each network's largest difference between neighbours u and v."""
    W = steps.shape[0]

    def measure(w, size):
        def link(e, largest):
            low, high = (tile.load(ends[e] * W + w, size) for ends in (u, v))
            return (maximum(largest, absolute(low - high)),)

        first = tile.load(w, size)
        (largest,) = fori(u.shape[0], link, first - first)
        steps.store(w, largest)

    each_register(W, tile.dtype, measure)


@traced()
def _sum_nodes(tile, sums, nodes):
    """Set ``sums`` (W,) to the total of each network of a tile, from node 0 on."""
    W = sums.shape[0]

    def add_up(w, size):
        first = tile.load(w, size)

        def node(i, total):
            return (total + tile.load(i * W + w, size),)

        (total,) = fori(nodes, node, first - first)
        sums.store(w, total)

    each_register(W, tile.dtype, add_up)


@long_kernel
def gde(tiles, resident_min, flows, links, lam, tol, max_sweeps, out):
    """Balance tiles until the neighbours of each network are within its ``tol`` (B,).

    A network stalls when a sweep changes nothing, or when rounding has kept its largest difference
    from falling for ``2 N + 64`` sweeps.

    Parameters
    ----------
    tiles : (K, N, W) float64, balanced in progress
        W is a multiple of a register's lanes, or 1.
    resident_min : (N * W,) float64, workspace: the least load of each node so far
    flows : (B, E) zeros, receives the net flows; or None
    links : (u, v) (E,) in the order of the colours
    lam : share of a difference that is sent, above 0
    out : (4, B) float64, receives moved, local, sweeps and flags
    """
    K, N, W = tiles.shape
    u, v = links
    # Of the networks of the tile in hand: units moved, share, least of the largest differences so
    # far, sweeps since that fell, sweeps, flags, whether the last sweep changed a load, largest
    # difference.
    moved, share, least, waited = np.empty(W), np.empty(W), np.empty(W), np.empty(W)
    sweeps, flags, moving, largest = np.empty(W), np.empty(W), np.empty(W), np.empty(W)
    scratch, meter = np.empty(W), new_meter()
    for k in range(K):
        tile = tiles[k].reshape(-1)
        first = k * W
        count = min(W, out.shape[1] - first)
        for i in range(tile.size):
            resident_min[i] = tile[i]
        for w in range(W):
            moved[w] = waited[w] = sweeps[w] = flags[w] = moving[w] = 0.0
            share[w] = lam if w < count else 0.0
            least[w] = np.inf
        made = 0
        while not interrupted(meter, N * W + 1024):
            _largest_steps(tile, u, v, largest)
            active = False
            for w in range(count):
                waited[w] = 0.0 if largest[w] < least[w] else waited[w] + 1.0
                least[w] = min(least[w], largest[w])
                apart = largest[w] > tol[first + w]
                motionless = made > 0 and moving[w] == 0.0
                if share[w] != 0.0 and (not apart or motionless or waited[w] > 2 * N + 64):
                    share[w] = 0.0
                    flags[w] = STALLED | APART if apart else 0
                active = active or share[w] != 0.0
            if not active or made >= max_sweeps:
                break
            for w in range(W):
                sweeps[w] += share[w] != 0.0
                moving[w] = 0.0
            record = flows, scratch, first, count
            _sweep(tile, resident_min, record, u, v, share, moved, moving)
            made += 1
        _sum_nodes(resident_min, scratch, N)
        for w in range(count):
            out[0, first + w] = moved[w]
            out[1, first + w] = scratch[w]
            out[2, first + w] = sweeps[w]
            out[3, first + w] = flags[w] if share[w] == 0.0 else APART
