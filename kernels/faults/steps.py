"""A plan of fault-tolerant DEM on one network of some hundred nodes (More-Wu section 2.2).

Loads are in the order of positions (``positions.py``), L = 2**l of them, a row, in a register:

    position   n-1 .. l  |  l-1 .. 0
               row       |  lane of a register

A plan splits a network into many subcubes smaller than a row. All of them are balanced side by
side: in turn t every node has its t-th exchange. A step is one row, or two rows, some of whose
lanes exchange along one bit; the other lanes keep their loads. ``steps`` are made once for a plan
(``fastlb/exchange/fault_single.py``), as segments of steps along the same bit:

    2**bit, k, step 0, .., step k - 1,  2**bit, k, ..      a step: lanes << 32 | first position

On a 10-cube with 9 faults this takes half the time of balancing by subcubes (``stretches.py``).
Legend: ``N`` nodes, ``M`` rows of the plan's program.
"""

import numpy as np
from numba import types

from ..shared.compiling import kernel
from ..shared.exchange import exchange_by_halves
from ..shared.figures import figures_of_one, total_and_extremes
from ..shared.repair import NOTES, repair_links
from ..shared.tracing import cond, fori, traced
from ..shared.vectors import (
    add,
    lane_numbers,
    lanes,
    minimum,
    permute,
    reduce_lanes,
    select,
    spread,
)
from ..shared.views import flat

LANES = lanes(np.int32)
# The kind of the program's rows that repair; the others are in the steps.
REPAIR = 2
# From this bit on, a step has a bit for each lane, 1 where it exchanges.
LANES_FROM = 32


@traced(returns=types.int64)
def exchange_steps(loads, resident_min, steps, start, stop, apart):
    """Carry out ``steps[start:stop]``, whose partners are ``apart`` positions apart.

    ``loads``, ``resident_min`` (N,) int32, or None for the latter. Return the units that move.
    """
    first = loads.load(0)
    numbers = lane_numbers(first)
    zeros = spread(0, first)

    def lower(at, row):
        if resident_min is not None:
            resident_min.store(at, minimum(row, resident_min.load(at)))

    def step(i, moved, lane_bit):
        at = steps[i] & (1 << LANES_FROM) - 1
        chosen = spread((steps[i] >> LANES_FROM).astype(first.dtype), first)
        within = chosen & (1 << numbers) != 0
        row = loads.load(at)
        if lane_bit:
            partner = permute(row, [lane ^ lane_bit for lane in range(row.size)])
            after, _, sent = exchange_by_halves(row, partner)
            # Both lanes of a pair see what it moves.
            counted = within & (numbers & lane_bit == 0)
        else:
            partner = loads.load(at + apart)
            after, other, sent = exchange_by_halves(row, partner)
            other = select(within, other, partner)
            loads.store(at + apart, other)
            lower(at + apart, other)
            counted = within
        row = select(within, after, row)
        loads.store(at, row)
        lower(at, row)
        return [moved + select(counted, sent, zeros).astype(np.int64)]

    def run(lane_bit):
        """Carry them out; partners are ``lane_bit`` lanes apart, or with 0 in two rows."""
        moved = zeros.astype(np.int64)
        moved = fori(stop, lambda i, moved: step(i, moved, lane_bit), moved, start=start)[0]
        return [reduce_lanes(moved, add)]

    # The order of lanes must be known while this is compiled: one branch for each distance.
    def choose(lane_bit):
        if lane_bit == first.size:
            return run(0)
        return cond(apart == lane_bit, lambda: run(lane_bit), lambda: choose(2 * lane_bit))

    return choose(1)[0]


@kernel
def run_steps(loads, resident_min, notes, steps, program, ascending):
    """Carry out a plan on the loads (N,) of one network; return the units that move."""
    moved = np.int64(0)
    at = 0
    while at < steps.size:
        start, stop = at + 2, at + 2 + steps[at + 1]
        moved += exchange_steps(loads, resident_min, steps, start, stop, steps[at])
        at = stop
    for m in range(program.shape[0]):
        kind, base, free, bit = program[m]
        if kind == REPAIR:
            moved, _ = repair_links(
                loads, resident_min, None, notes, moved, (base, free, bit), ascending, True
            )
    return moved


@kernel
def balance_one(source, target, place, steps, program, settings, measured):
    """Balance one network of integers ``source`` (N,) into ``target`` (N,), perhaps the same array.

    Parameters
    ----------
    place : (N,) uint32
        The position of each node.
    steps : (S,) int64
        Segments of steps, as the head of this file shows.
    program : (M, 4) int64
        The plan's, in positions, for its repairs.
    settings : (ascending, largest_stuck, top)
        Whether bits of positions ascend as those of nodes do; the most dimensions of a stuck
        subcube; and, a number 2**k - 1, the most that a load may be, so that no result exceeds
        int32 or the loads' dtype.
    measured : True or None

    Returns
    -------
    tuple
        The status, 0, or 1 if a load is out of range and nothing has been written; and the figures
        of ``figures_of_one``, which hold only if ``measured``.
    """
    ascending, largest_stuck, top = settings
    N = source.size
    bits = source[0]
    for i in range(N):
        bits |= source[i]
    status = 0 if 0 <= bits <= top else 1
    moved = local = np.int64(0)
    before = after = (moved, moved, moved)
    if status == 0:
        workspace = np.empty(2 * N, np.int32)
        loads, resident_min = flat(workspace)[:N], flat(workspace)[N:]
        notes_memory = np.empty(NOTES << largest_stuck, np.int64)
        notes = flat(notes_memory)
        for i in range(N):
            loads[place[i]] = source[i]
        if measured is None:
            run_steps(loads, None, notes, steps, program, ascending)
        else:
            for i in range(N):
                resident_min[i] = loads[i]
            before = total_and_extremes(loads)
            moved = run_steps(loads, resident_min, notes, steps, program, ascending)
            after = total_and_extremes(loads)
            local, _, _ = total_and_extremes(resident_min)
        for i in range(N):
            target[i] = loads[place[i]]
        # The flat views do not keep these alive: both are used once more.
        workspace[0] = notes_memory[0] = 0
    return status, *figures_of_one(before, after, moved, local, N)
