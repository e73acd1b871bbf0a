"""Generalized dimension exchange of one network of integers in one call (Wu-Shu Fig. 2).

Legend: ``N`` nodes, ``E`` links, in the order of their colours.

A host program that balances in every step has one network at a time. For it one call checks the
loads, sweeps link by link over all of them until nothing moves, and works out the figures. A link
takes 2.5 ns, less than plain C that divides, on any graph and any processor.
"""

import numpy as np
from numba import types

from ..shared.compiling import kernel
from ..shared.figures import ratios_of_one
from ..shared.shares import exchange_share, two_units_move
from ..shared.tracing import fori, traced
from ..shared.vectors import minimum

# The status that ``balance`` returns: all is done; or loads are negative, or sums of them or of
# what moves may not fit int64, or it takes so long that Ctrl-C should be heard meanwhile.
DONE, REFUSED = 0, 1
MAX_INT64 = 2**63 - 1
# Links that one call may sweep over, some milliseconds.
LINKS_AT_ONCE = 2**22


@traced(returns=types.int64)
def _sweep(loads, resident_min, u, v, share):
    """Let all links exchange, one after the other; return the units moved.

    ``resident_min`` (N,) is the least load that each node has had.
    """

    def link(e, moved):
        ends = u[e], v[e]
        *after, sent, _ = exchange_share(*(loads[node] for node in ends), share)
        for node, load in zip(ends, after, strict=True):
            loads[node] = load
            resident_min[node] = minimum(resident_min[node], load)
        return (moved + sent,)

    first = loads[0]
    return fori(u.shape[0], link, first ^ first)[0]


@kernel
def balance(source, out, u, v, share, colours, max_sweeps):
    """Balance one network; return a status and the figures.

    Parameters
    ----------
    source, out : (N,) integers
        Loads, and where final ones go: nowhere unless the status is ``DONE``.
    u, v : (E,)
    share : three numbers, see ``shared.shares``

    Returns
    -------
    tuple
        The status; difference, initial difference, imbalance, initial imbalance, moved, cost,
        local, locality, sweeps, steps, stalled, converged.
    """
    N = source.size
    loads = np.empty(N, np.int64)
    resident_min = np.empty(N, np.int64)
    least, most = np.int64(MAX_INT64), np.int64(-1)
    for i in range(N):
        # Loads of uint64 beyond int64 turn negative, and are refused as such.
        loads[i] = resident_min[i] = source[i]
        least = min(least, loads[i])
        most = max(most, loads[i])
    status, moved, sweeps, going = REFUSED, np.int64(0), 0, True
    # The links of a colour move no more than all loads, so that what one sweep moves fits int64.
    if least >= 0 and most <= MAX_INT64 // (N * max(1, colours)):
        status = DONE
        while going and sweeps < max_sweeps:
            units = _sweep(loads, resident_min, u, v, share)
            if units > MAX_INT64 - moved or sweeps * u.size > LINKS_AT_ONCE:
                status = REFUSED
                break
            moved += units
            going = units > 0
            sweeps += going
    total = local = np.int64(0)
    least_after = most_after = np.int64(0)
    if status == DONE:
        least_after = most_after = loads[0]
        for i in range(N):
            out[i] = loads[i]
            total += loads[i]
            local += resident_min[i]
            least_after = min(least_after, loads[i])
            most_after = max(most_after, loads[i])
    # Nodes that are still are balanced, if a difference of two moves something.
    apart = False
    if status == DONE and (going or not two_units_move(share)):
        for e in range(u.size):
            apart |= abs(loads[u[e]] - loads[v[e]]) > 1
    # The sweep that moved nothing is counted, if there was one.
    stalled = apart and sweeps < max_sweeps
    sweeps += stalled
    before, after, cost, locality = ratios_of_one(total, most, most_after, moved, local, N)
    return (
        status, int(most_after - least_after), int(most - least), float(after), float(before),
        int(moved), float(cost), int(local), float(locality), int(sweeps),
        int(3 * colours * sweeps), bool(stalled), not apart,
    )  # fmt: skip
