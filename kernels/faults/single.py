"""A plan of fault-tolerant DEM on one network after the other, link by link (More-Wu section 2.2).

The plain way, for small networks, for flows and stages, and for sums of real loads, which depend on
the order. The plan is a program of rows ``kind, base, free, bit`` (``FaultPlan.program``), carried
out from the first to the last. A subcube is the nodes that agree with ``base`` outside the mask
``free``. SPLIT balances the subcube along one bit, WHOLE along all bits in ``free``; all other rows
are repairs of stuck subcubes (``shared/repair.py``) and come last.

Legend: ``B`` networks, ``N = 2**n`` nodes, ``M`` rows of the program.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.figures import figures_of_one, total_and_extremes
from ..shared.repair import NOTES, exchange_link, repair_links
from ..shared.submasks import next_submask
from ..shared.views import flat

SPLIT, WHOLE = 0, 1
# Real loads are summed up in this order: blocks of 2**OUTER_BITS positions are balanced one by one,
# and in each those of 2**INNER_BITS. ``fastlb/exchange/fault_passes.py`` has the same numbers.
OUTER_BITS, INNER_BITS = 12, 5


@kernel
def exchange_links(loads, resident_min, flows, units, base, free, bit):
    """Exchange across one bit of a subcube, lowest nodes first; return ``units`` plus what moved.

    ``loads``, ``resident_min`` (N,); ``flows`` (n N,), a row a bit, the highest first, or None.
    """
    rest = free & ~(1 << bit)
    row = 0 if flows is None else flows.size - loads.size * (bit + 1)
    sub = 0
    while True:
        units = exchange_link(loads, resident_min, flows, units, base | sub, 1 << bit, row)
        if sub == rest:
            return units
        sub = next_submask(sub, rest)


@kernel
def balance_whole(loads, resident_min, flows, units, base, free, ascending):
    """Balance a fault-free subcube along all its bits; return ``units`` plus what moved."""
    bit = 0 if ascending else 62
    while 0 <= bit < 63:
        if free >> bit & 1:
            units = exchange_links(loads, resident_min, flows, units, base, free, bit)
        bit += 1 if ascending else -1
    return units


@kernel
def balance_small(source, target, program, lowest, top):
    """Balance one network of integers ``source`` (N,) into ``target`` (N,), perhaps the same array.

    ``program`` (M, 4) int64 is the plan's, in nodes; ``lowest``: whole subcubes are balanced from
    the lowest bit on. ``top``, a number 2**k - 1, is the most that a load may be, so that no result
    exceeds int64 or the loads' dtype. Return a status and the figures of ``figures_of_one``; the
    status is 0, or 1 if a load is out of range and nothing has been written.
    """
    N = source.size
    bits = source[0]
    for i in range(N):
        bits |= source[i]
    status = 0 if 0 <= bits <= top else 1
    moved = local = np.int64(0)
    before = after = (moved, moved, moved)
    if status == 0:
        workspace = np.empty((2 + NOTES) * N, np.int64)
        loads, resident_min = flat(workspace)[:N], flat(workspace)[N : 2 * N]
        for i in range(N):
            loads[i] = resident_min[i] = source[i]
        before = total_and_extremes(loads)
        for m in range(program.shape[0]):
            kind, base, free, bit = program[m]
            if kind == SPLIT:
                moved = exchange_links(loads, resident_min, None, moved, base, free, bit)
            elif kind == WHOLE:
                moved = balance_whole(loads, resident_min, None, moved, base, free, lowest)
            else:
                notes, subcube = flat(workspace)[2 * N :], (base, free, bit)
                moved, _ = repair_links(
                    loads, resident_min, None, notes, moved, subcube, True, True
                )
        after = total_and_extremes(loads)
        local, _, _ = total_and_extremes(resident_min)
        for i in range(N):
            target[i] = loads[i]
        # The flat views above do not keep their array alive: it is used once more.
        workspace[0] = 0
    return status, *figures_of_one(before, after, moved, local, N)


@kernel
def balance_links(rows, resident_min, flows, program, lowest, moved):
    """Balance networks ``rows`` (B, N), int64 or float64, in place, in the order of node numbers.

    Parameters
    ----------
    resident_min : (B, N)
        The least load of each node so far.
    flows : (B, n, N) or None
        What goes over each link from its lower end is added.
    program : (M, 4) int64
        The plan's, or a part of it, in nodes.
    lowest : bool
        Whether whole subcubes are balanced from the lowest bit on.
    moved : (B,), of zeros
        Receives the units that move; of int64, -1 where they do not fit.

    Returns
    -------
    The largest load of a donor after its repair.
    """
    notes = np.empty(NOTES * rows.shape[1], moved.dtype)
    largest = moved.dtype.type(0)
    for b in range(rows.shape[0]):
        loads, least, units = rows[b], resident_min[b], moved[b]
        links = flat(flows, b)
        for m in range(program.shape[0]):
            kind, base, free, bit = program[m]
            if kind == SPLIT:
                units = exchange_links(loads, least, links, units, base, free, bit)
            elif kind == WHOLE:
                units = balance_whole(loads, least, links, units, base, free, lowest)
            else:
                units, load = repair_links(
                    loads, least, links, notes, units, (base, free, bit), True, False
                )
                largest = max(largest, load)
        moved[b] = units
    return largest


@kernel
def balance_rotated(loads, resident_min, units, at, k):
    """Balance the block of ``2**k`` positions from ``at`` on; return ``units`` plus what moved.

    Dimensions go from the outermost inwards. In the turn of a dimension, positions are rotated so
    that its bit is the highest, and pairs come in the order of these rotated numbers, of which
    ``pair`` is the lower k - 1 bits.
    """
    for turn in range(k):
        for pair in range(1 << (k - 1)):
            u = pair >> turn | (pair & (1 << turn) - 1) << (k - turn)
            units = exchange_link(loads, resident_min, None, units, at + u, 1 << (k - 1 - turn), 0)
    return units


@kernel
def balance_blocks(loads, resident_min, units, base, free, rotated):
    """Balance a fault-free subcube of positions in blocks; return ``units`` plus what moved.

    The lowest r bits of positions are all in ``free``. First come the bits above these; then, in
    each stretch of 2**r positions, those of the r that are no bits of blocks; then, in each block
    of 2**OUTER_BITS, the rest: ``rotated``, or down to INNER_BITS and then in each block of
    2**INNER_BITS. This order fixes sums of real loads: whatever else adds them up keeps to it.
    """
    r = 0
    while free >> r & 1:
        r += 1
    low = (1 << r) - 1
    for down in range(63):
        bit = 62 - down
        if bit >= r and free >> bit & 1:
            units = exchange_links(loads, resident_min, None, units, base, free, bit)
    k = min(r, OUTER_BITS)
    inner = INNER_BITS if k > INNER_BITS else 0
    outer = free ^ low
    sub = 0
    while True:
        stretch = base | sub
        for down in range(r - k):
            units = exchange_links(loads, resident_min, None, units, stretch, low, r - 1 - down)
        for block in range(stretch, stretch + (1 << r), 1 << k):
            if rotated and k > 3:
                units = balance_rotated(loads, resident_min, units, block, k)
            else:
                whole, part = (1 << k) - 1, (1 << inner) - 1
                for down in range(k - inner):
                    units = exchange_links(
                        loads, resident_min, None, units, block, whole, k - 1 - down
                    )
                for at in range(block, block + (1 << k), 1 << inner):
                    units = balance_whole(loads, resident_min, None, units, at, part, False)
        if sub == outer:
            return units
        sub = next_submask(sub, outer)


@kernel
def balance_real(rows, program, ascending, rotated, moved, local):
    """Balance networks ``rows`` (B, N) of float64 in place, in the order of positions.

    ``program`` (M, 4) int64 is the plan's, in positions (``positions.py``); ``ascending``: their
    bits ascend as those of nodes do, so that donors are levelled from the lowest bit on;
    ``rotated``: see ``balance_blocks``. ``moved`` and ``local`` (B,) receive the units that move
    and those that never leave. Return the largest load of a donor after its repair.
    """
    B, N = rows.shape
    workspace = np.empty((1 + NOTES) * N)
    resident_min, notes = workspace[:N], workspace[N:]
    largest = np.float64(0)
    for b in range(B):
        loads, units = rows[b], np.float64(0)
        for i in range(N):
            resident_min[i] = loads[i]
        for m in range(program.shape[0]):
            kind, base, free, bit = program[m]
            if kind == SPLIT:
                units = exchange_links(loads, resident_min, None, units, base, free, bit)
            elif kind == WHOLE:
                units = balance_blocks(loads, resident_min, units, base, free, rotated)
            else:
                units, load = repair_links(
                    loads, resident_min, None, notes, units, (base, free, bit), ascending, True
                )
                largest = max(largest, load)
        total = 0.0
        for i in range(N):
            total += resident_min[i]
        moved[b], local[b] = units, total
    return largest
