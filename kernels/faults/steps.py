"""A plan of fault-tolerant DEM on one network of some hundred nodes (More-Wu section 2.2).

Loads stand in the order of positions (``positions.py``), L = 2**l of them in a register:

    position   n-1 .. l  |  l-1 .. 0
               row       |  lane of a register

A plan splits a network into many small subcubes, fewer lanes each than a register has. All of them
work side by side: in the t-th turn every node has its t-th exchange. A step is what the lanes of
one row, or of two, exchange along one bit in a turn; the others keep their loads. Steps come as a
table (``fastlb/exchange/fault_single.py``), in segments along the same bit, so that nothing has to
be decided from step to step. On a 10-cube with 9 faults that takes half of the time that it takes
by subcubes (``stretches.py``).
"""

import numpy as np
from numba import types

from ..shared.compiling import kernel
from ..shared.exchange import exchange_by_halves
from ..shared.figures import ratios_of_one
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
REPAIR = 2
# A step is a number: where its row begins, and above that many bits which of its lanes exchange.
LANES_FROM = 32


@traced(returns=types.int64)
def exchange_steps(loads, resident_min, steps, start, stop, apart):
    """Carry out ``steps[start:stop]``, whose partners are ``apart`` positions apart.

    Return the units that move, or 0 if ``resident_min`` is None.
    """
    first = loads.load(0)
    numbers = lane_numbers(first)
    none = spread(0, first)

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
        return [moved + select(counted, sent, none).astype(np.int64)]

    def run(lane_bit):
        moved = none.astype(np.int64)
        moved = fori(stop, lambda i, moved: step(i, moved, lane_bit), moved, start=start)[0]
        return [reduce_lanes(moved, add)]

    def choose(lane_bit):
        if lane_bit == first.size:
            return run(0)
        return cond(apart == lane_bit, lambda: run(lane_bit), lambda: choose(2 * lane_bit))

    return choose(1)[0]


@kernel
def run_steps(loads, resident_min, notes, steps, program, ascending):
    """Carry out a plan; return the units that move, of exchanges only if there are least loads."""
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
    """Balance one network of integers (N,) into ``target``, which may be the same array.

    Parameters
    ----------
    place : (N,) uint32
        The position of each node.
    steps : (..,) int64
        Segments: how far partners are apart, how many steps there are, and these.
    program : (M, 4) int64
        The plan's, in positions, for its repairs.
    settings : (ascending, largest_stuck, top)
        Whether bits of positions ascend as those of nodes do; the most dimensions of a stuck
        subcube; the largest load with all bits set with which all that comes up fits both int32
        and the loads' dtype.
    measured : True or None

    Returns
    -------
    (status, difference before, after, moved, local, imbalance before, after, cost, locality)
        The status is 0, or 1 if nothing has been written; the others mean nothing unless
        ``measured``.
    """
    ascending, largest_stuck, top = settings
    N = source.size
    bits = source[0]
    for i in range(N):
        bits |= source[i]
    status = 0 if 0 <= bits <= top else 1
    moved = local = total = least = most = least_after = most_after = np.int64(0)
    if status == 0:
        room = np.empty(2 * N, np.int32)
        loads, resident_min = flat(room)[:N], flat(room)[N:]
        notes_room = np.empty(NOTES << largest_stuck, np.int64)
        notes = flat(notes_room)
        for i in range(N):
            loads[place[i]] = source[i]
        if measured is None:
            run_steps(loads, None, notes, steps, program, ascending)
        else:
            least = most = np.int64(loads[0])
            for i in range(N):
                load = np.int64(loads[i])
                resident_min[i] = load
                total += load
                least, most = min(least, load), max(most, load)
            moved = run_steps(loads, resident_min, notes, steps, program, ascending)
            least_after = most_after = np.int64(loads[0])
            for i in range(N):
                load = np.int64(loads[i])
                least_after, most_after = min(least_after, load), max(most_after, load)
                local += resident_min[i]
        for i in range(N):
            target[i] = loads[place[i]]
        # Their views do not keep them alive.
        room[0] = notes_room[0] = 0
    imbalance, imbalance_after, cost, locality = ratios_of_one(
        total, most, most_after, moved, local, N
    )
    return (
        status, int(most - least), int(most_after - least_after), int(moved), int(local),
        float(imbalance), float(imbalance_after), float(cost), float(locality),
    )  # fmt: skip
