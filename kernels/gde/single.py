"""Generalized dimension exchange of one network of integers in one call (Wu-Shu Fig. 2).

Legend: ``N`` nodes, ``E`` links, in the order of their colours.

A program that balances in every one of its steps has one network at a time. For it one call checks
the loads, sweeps over all links, one after the other, until nothing moves, and works out the
figures. ``exchange_share`` is the paper's rule.
"""

import numpy as np
from numba import types

from ..shared.compiling import kernel
from ..shared.figures import figures_of_one, total_and_extremes
from ..shared.shares import exchange_share, two_units_move
from ..shared.tracing import fori, traced
from ..shared.vectors import minimum

# The status that ``balance`` returns. It refuses negative loads, loads whose total or units moved
# may not fit int64, and what takes so long that Ctrl-C should be heard meanwhile.
DONE, REFUSED = 0, 1
MAX_INT64 = 2**63 - 1
# How many exchanges one call may make, all sweeps together: some milliseconds.
LINKS_AT_ONCE = 2**22


@traced(returns=types.int64)
def _sweep(loads, resident_min, u, v, share):
    """Let all links (u, v) exchange, one after the other; return the units moved.

    ``loads`` (N,) int64; ``resident_min`` (N,) is the least load that each node has had.
    """

    def link(e, moved):
        ends = u[e], v[e]
        *after, sent, _ = exchange_share(*(loads[node] for node in ends), share)
        for node, load in zip(ends, after, strict=True):
            loads[node] = load
            resident_min[node] = minimum(resident_min[node], load)
        return (moved + sent,)

    return fori(u.shape[0], link, np.int64(0))[0]


@kernel
def balance(source, out, u, v, share, colours, max_sweeps):
    """Balance one network; return a status and the figures.

    Parameters
    ----------
    source, out : (N,) integers
        Loads, and where final ones go: nowhere unless the status is ``DONE``.
    u, v : (E,) ends of the links, in the order of their colours
    share : three numbers, see ``shared.shares``
    colours, max_sweeps : int, how many there are, and the most sweeps to make

    Returns
    -------
    tuple
        The status; the figures of ``figures_of_one``; sweeps, steps, stalled, converged.
    """
    N = source.size
    loads = np.empty(N, np.int64)
    resident_min = np.empty(N, np.int64)
    for i in range(N):
        # Loads of uint64 that int64 does not hold turn negative, and are refused as such.
        loads[i] = resident_min[i] = source[i]
    before = after = total_and_extremes(loads)
    local, least, most = before
    status, moved, sweeps, going = REFUSED, np.int64(0), 0, True
    # The links of a colour share no node and move no more than the total, so that what one sweep
    # moves fits int64.
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
    if status == DONE:
        for i in range(N):
            out[i] = loads[i]
        after = total_and_extremes(loads)
        local, _, _ = total_and_extremes(resident_min)
    # Where nothing moves neighbours are within one, if a difference of two moves something.
    apart = False
    if status == DONE and (going or not two_units_move(share)):
        for e in range(u.size):
            apart |= abs(loads[u[e]] - loads[v[e]]) > 1
    # The sweep that moved nothing is counted, if there was one.
    stalled = apart and sweeps < max_sweeps
    sweeps += stalled
    figures = figures_of_one(before, after, moved, local, N)
    return (
        status, *figures, int(sweeps), int(3 * colours * sweeps), bool(stalled), not apart,
    )  # fmt: skip
