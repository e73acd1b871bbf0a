"""Generalized dimension exchange of real loads (Wu-Shu Fig. 2), one network or many.

Legend: ``B`` networks, ``N`` nodes, ``E`` links, ``W`` networks of a tile, of which there are
``K``.

A tile holds W networks side by side, node by node (``shared/sweeps.py``, which has the paper's
rule); a single network is a tile of its own. Every network has its own share: it is set to 0 once
all neighbours are near enough, and then exchanges change nothing any more. A tile is swept until
all of its shares are 0.
"""

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.sweeps import largest_differences, sum_nodes, sweep_links

# Flags of a network, as in ``tiles.py``.
STALLED, APART = 1, 2


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
            largest_differences(tile, u, v, largest)
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
            record, all_links = (flows, scratch, first, count), (u, v, 0, u.size)
            sweep_links(tile, resident_min, record, all_links, share, moved, moving)
            made += 1
        sum_nodes(resident_min, N, scratch)
        for w in range(count):
            out[0, first + w] = moved[w]
            out[1, first + w] = scratch[w]
            out[2, first + w] = sweeps[w]
            out[3, first + w] = flags[w] if share[w] == 0.0 else APART
