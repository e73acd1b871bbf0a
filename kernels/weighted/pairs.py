"""Dimension exchange by weights: pairs of neighbours go to shares of what both have.

Legend: ``B`` networks, ``N`` nodes, ``E`` links in the order of their exchanges.

``shared/proportions.py`` says how far a pair is from its shares: twice what would have to move, d,
which at equal weights is the difference of both loads. The end that has too much sends the share
lambda of d, rounded down for whole units, as in Wu-Shu Fig. 2: at 1/2 the pair comes to the nearest
shares, and stays where two are as near. It never sends more than it has; a node of weight 0 sends
all. Every exchange lowers the sum of load**2 / weight, so that the balancing ends.

One pass at 1/2 by the weights of whole subcubes is weighted DEM; sweeps by those of nodes are GDE.
"""

import numpy as np
from numba import types

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.proportions import excess_of_pair
from ..shared.shares import floor_of_share
from ..shared.tracing import fori, traced
from ..shared.vectors import maximum, minimum, select, spread

# Flags of a network, as in ``kernels/gde/tiles.py``.
STALLED, APART = 1, 2
# No real load is larger: the distance from its share of any load of a node of weight 0.
FAR = np.finfo(np.float64).max


def _exchange(a, b, first, second, share, base):
    """Return both loads afterwards, and what flows from ``a`` to ``b``, negative the other way."""
    d, a_gives = excess_of_pair(a, b, first, second, base)
    is_real = a.dtype.kind == "f"
    sent = d * share[0] if is_real else floor_of_share(share, d.view("u8")).view("i8")
    load, weight = select(a_gives, a, b), select(a_gives, first, second)
    sent = select((weight > 0) | (d <= 0), minimum(sent, load), load)
    flow = select(a_gives, sent, -sent)
    return a - flow, b + flow, flow


@traced(returns=lambda loads, *_: types.UniTuple(loads.dtype, 2))
def _sweep(loads, least, flows, b, links, weights, share, base):
    """Let all links of network b exchange, one after the other.

    Returns the units moved, -1 if int64 does not hold them, and whether a load has changed.
    """
    N, (u, v) = loads.shape[1], links
    zero = loads[0] - loads[0]

    def exchange(e, moved, beyond, changed):
        ends = b * N + u[e], b * N + v[e]
        before = loads[ends[0]], loads[ends[1]]
        *after, flow = _exchange(*before, weights[e, 0], weights[e, 1], share, base)
        for node, load in zip(ends, after, strict=True):
            loads[node] = load
            if least is not None:
                least[node] = minimum(least[node], load)
        if flows is not None:
            at = b * u.shape[0] + e
            flows[at] = flows[at] + flow
        moved = moved + maximum(flow, -flow)
        is_over = spread(1, moved) if moved.dtype.kind == "f" else moved
        changed = select(after[0] != before[0], spread(1, changed), changed)
        return [moved, select(is_over < 0, is_over, beyond), changed]

    moved, beyond, changed = fori(u.shape[0], exchange, zero, zero, zero)
    return select(beyond < 0, spread(-1, moved), moved), changed


@long_kernel
def balance_once(loads, least, flows, links, weights, share, base, moved):
    """Let all links of each network exchange once; ``moved`` (B,) receives the units moved.

    For the others see ``balance``.
    """
    meter = new_meter()
    for b in range(loads.shape[0]):
        if interrupted(meter, 8 * (links[0].size + 1)):
            return
        moved[b], _ = _sweep(loads, least, flows, b, links, weights, share, base)


@traced(returns=lambda loads, *_: loads.dtype)
def _largest_excess(loads, b, links, weights, base):
    """Return the largest d of any link of network b; that of a node of weight 0 is ``FAR``."""
    N, (u, v) = loads.shape[1], links
    zero = loads[0] - loads[0]

    def widen(e, largest):
        first, second = weights[e, 0], weights[e, 1]
        d, a_gives = excess_of_pair(loads[b * N + u[e]], loads[b * N + v[e]], first, second, base)
        if d.dtype.kind == "f":
            is_stranded = (select(a_gives, first, second) <= 0) & (d > 0)
            d = select(is_stranded, spread(FAR, d), d)
        return [maximum(largest, d)]

    return fori(u.shape[0], widen, zero)[0]


@long_kernel
def balance(
    loads, least, flows, links, weights, share, base, tol, patience, max_sweeps, counts
):  # fmt: skip
    """Balance networks in place, in sweeps over all links until those of a network are near.

    A network stalls when a sweep changes nothing, or when its largest d has not fallen for more
    than ``patience`` sweeps.

    Parameters
    ----------
    loads : (B, N) int64 or float64
        Totals are below 2**62, or finite.
    least : (B, N) of the same dtype, or None
        The loads, becomes the least load of each node.
    flows : (B, E) of the same dtype, or None
        Receives, added to what there is, the net flows from u to v.
    links : (u, v), both (E,) int64
    weights : (E, 2) of the same dtype
        Of both ends, not both 0: integers; of real loads each divided by the mean of both.
    share : three uint64, see ``shared.shares``; of real loads (lambda,)
    base : (bits, digits), see ``proportions.part_of``
    tol : (B,) of the same dtype
        The largest d of links that are near.
    patience, max_sweeps : int
    counts : (3, B) of the same dtype
        Receives the units moved, -1 where they pass int64, the sweeps, and the flags.
    """
    work, meter = 16 * (links[0].size + 1), new_meter()
    for b in range(loads.shape[0]):
        moved = least_d = loads[b, 0] - loads[b, 0]
        made, waited, flags, is_moving = 0, 0, 0, True
        while not interrupted(meter, work):
            d = _largest_excess(loads, b, links, weights, base)
            waited = 0 if made == 0 or d < least_d else waited + 1
            least_d = d if made == 0 else min(least_d, d)
            if d <= tol[b]:
                break
            if not is_moving or waited > patience:
                flags = STALLED | APART
                break
            if made >= max_sweeps:
                flags = APART
                break
            units, changed = _sweep(loads, least, flows, b, links, weights, share, base)
            is_over = units < 0 or moved < 0 or moved + units < 0
            moved = units - units - 1 if is_over else moved + units
            is_moving = changed > 0
            made += 1
        counts[0, b], counts[1, b], counts[2, b] = moved, made, flags
