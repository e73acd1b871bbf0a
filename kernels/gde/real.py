"""Generalized dimension exchange of real loads on an edge-coloured network (Wu-Shu Fig. 2).

Legend: ``B`` networks, ``N`` nodes, ``E`` links, ``W`` trials side by side, last in a tile.
"""

import numpy as np
from numba import njit

# A sweep moved nothing although neighbours differ; neighbours differ. As in ``gde.py``.
STALLED, APART = 1, 2


@njit(cache=True, nogil=True)
def _sweep_float(tile, kept, flows, u, v, share, W, moved, moving):
    """Make one sweep with lane w sending ``share[w]`` of every difference."""
    for e in range(u.size):
        low = tile[u[e] * W : u[e] * W + W]
        high = tile[v[e] * W : v[e] * W + W]
        kept_low = kept[u[e] * W : u[e] * W + W]
        kept_high = kept[v[e] * W : v[e] * W + W]
        for w in range(W):
            net = share[w] * (low[w] - high[w])
            a = low[w] - net
            b = high[w] + net
            moving[w] |= a != low[w]
            moved[w] += abs(net)
            low[w] = a
            high[w] = b
            kept_low[w] = min(kept_low[w], a)
            kept_high[w] = min(kept_high[w], b)
            if flows is not None and w < flows.shape[0]:
                flows[w, e] += net


@njit(cache=True, nogil=True)
def _largest_step(tile, u, v, W, worst):
    """Set ``worst`` to each lane's largest difference between neighbours."""
    worst[:] = 0.0
    for e in range(u.size):
        low = tile[u[e] * W : u[e] * W + W]
        high = tile[v[e] * W : v[e] * W + W]
        for w in range(W):
            worst[w] = max(worst[w], abs(low[w] - high[w]))


@njit(cache=True, nogil=True)
def gde(tiles, kept, flows, u, v, lam, tol, max_sweeps, figures, place, state, budget):
    """Balance rows of floats until all neighbours are within ``tol`` (B,).

    A lane whose neighbours are near enough has its share set to 0, which freezes it. A lane
    stalls when a sweep changes nothing, or when rounding has kept its largest difference from
    falling for ``2 N + 64`` sweeps. ``lam`` is a float64 above 0; ``figures`` (4, B) and
    ``state`` (7, W) are float64; all else as in ``gde.py``.
    """
    K, N, W = tiles.shape
    moved, share, least, waited = state[0], state[1], state[2], state[3]
    sweeps, flags, moves = state[4], state[5], state[6]
    worst = np.empty(W)
    moving = np.empty(W, np.bool_)
    for t in range(place[0], K):
        first = t * W
        width = min(W, figures.shape[1] - first)
        lanes = tiles[t].reshape(-1)
        lane_flows = None if flows is None else flows[first : first + width]
        if place[1] == 0:
            kept[:] = lanes
            state[:] = 0.0
            share[:width] = lam
            least[:] = np.inf
        while True:
            _largest_step(lanes, u, v, W, worst)
            active = False
            for w in range(width):
                waited[w] = 0 if worst[w] < least[w] else waited[w] + 1
                least[w] = min(least[w], worst[w])
                apart = worst[w] > tol[first + w]
                still = place[1] > 0 and moves[w] == 0.0
                if share[w] != 0.0 and (not apart or still or waited[w] > 2 * N + 64):
                    share[w] = 0.0
                    flags[w] = STALLED | APART if apart else 0
                active = active or share[w] != 0.0
            if not active or place[1] >= max_sweeps:
                break
            moving[:] = False
            _sweep_float(lanes, kept, lane_flows, u, v, share, W, moved, moving)
            place[1] += 1
            for w in range(W):
                sweeps[w] += share[w] != 0.0
                moves[w] = moving[w]
            budget -= 1
            if budget == 0:
                return False
        for w in range(width):
            if share[w] != 0.0:
                flags[w] = APART
        local = np.zeros(width)
        for i in range(N):
            for w in range(width):
                local[w] += kept[i * W + w]
        figures[0, first : first + width] = moved[:width]
        figures[1, first : first + width] = local
        figures[2, first : first + width] = sweeps[:width]
        figures[3, first : first + width] = flags[:width]
        place[0] += 1
        place[1] = 0
    return True
