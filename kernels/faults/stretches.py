"""A plan of fault-tolerant DEM on one network after the other, in registers (More-Wu section 2.2).

For networks that are few or large; many small ones go side by side (``tiles.py``). Loads stand in
the order of positions (``positions.py``), L of them in a register:

    position   n-1 .. l  |  l-1 .. 0
               row       |  lane of a register, L = 2**l

The dimension that is split first is the outermost bit of a position, so that most subcubes are
stretches of whole rows: two rows exchange in a few instructions, and up to three dimensions are
balanced at once between eight rows. Along the bits of lanes a row exchanges with itself, its lanes
in another order. Lanes that are not in a subcube keep their loads.

Rows are taken in blocks of 2**12 positions, which stay in cache while all dimensions inside are
balanced. Repairs go link by link (``shared/repair.py``).

Legend: ``B`` networks, ``N`` nodes, ``M`` rows of the plan's program, where a subcube is the
positions that agree with ``base`` outside the mask ``free``.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.exchange import exchange_by_halves, links
from ..shared.repair import repair_links
from ..shared.tracing import register_lanes, traced, update
from ..shared.vectors import (
    add,
    lane_numbers,
    lanes,
    minimum,
    permute,
    reduce,
    select,
    spread,
)

SPLIT, WHOLE = 0, 1
# Bits of a block.
BLOCK = 12


def lanes_within(row, base, free):
    """Return which lanes of a row are in a subcube."""
    numbers = lane_numbers(row.view(f"i{row.dtype.itemsize}"))
    fixed = spread(~free & (row.size - 1), numbers)
    return (numbers ^ spread(base & (row.size - 1), numbers)) & fixed == 0


def count_units(units, moved):
    """Add units by lane, each sum below 2**32 or 2**64, to the totals by lane."""
    moved = reduce(moved, add)
    update(units, 0, add, moved.view(f"u{moved.dtype.itemsize}").astype(units.dtype))


@traced()
def balance_rows(loads, resident_min, units, at, strides):
    """Balance dimensions between rows, of which the first one begins at a position.

    The neighbour along dimension d begins ``strides[d]`` further. ``units`` is None, or gets what
    moves, and ``resident_min`` the least loads.
    """
    places = [at]
    for stride in strides:
        places += [place + stride for place in places]
    rows = [loads.load(place) for place in places]
    lows = [] if units is None else [resident_min.load(place) for place in places]
    moved = []
    for d in range(len(strides)):
        for r, s in links(len(strides), d):
            rows[r], rows[s], sent = exchange_by_halves(rows[r], rows[s])
            moved.append(sent)
            if units is not None:
                lows[r], lows[s] = minimum(rows[r], lows[r]), minimum(rows[s], lows[s])
    for place, row in zip(places, rows, strict=True):
        loads.store(place, row)
    if units is not None:
        for place, low in zip(places, lows, strict=True):
            resident_min.store(place, low)
        count_units(units, moved)


@traced()
def balance_some_lanes(loads, resident_min, units, at, stride, base, free):
    """Balance two rows along one dimension, only the lanes in a subcube."""
    places = at, at + stride
    a, b = (loads.load(place) for place in places)
    within = lanes_within(a, base, free)
    after_a, after_b, sent = exchange_by_halves(a, b)
    rows = select(within, after_a, a), select(within, after_b, b)
    for place, row in zip(places, rows, strict=True):
        loads.store(place, row)
        if units is not None:
            resident_min.store(place, minimum(row, resident_min.load(place)))
    if units is not None:
        count_units(units, [select(within, sent, 0)])


@traced()
def balance_lanes(loads, resident_min, units, at, base, free, bits):
    """Balance the lanes of one row that are in a subcube along some ``bits``, outermost first."""
    row = loads.load(at)
    within = lanes_within(row, base, free)
    numbers = lane_numbers(row.view(f"i{row.dtype.itemsize}"))
    low = row if units is None else resident_min.load(at)
    moved = spread(0, row)

    for bit in reversed(range(lanes(row.dtype).bit_length() - 1)):
        # No branch: which bits are balanced is hard to predict.
        among = within & (spread(bits, numbers) & 1 << bit != 0)
        partner = permute(row, [lane ^ 1 << bit for lane in range(row.size)])
        after, _, sent = exchange_by_halves(row, partner)
        row = select(among, after, row)
        low = minimum(row, low)
        # Both lanes of a pair see what it moves.
        moved = moved + select(among & (numbers & 1 << bit == 0), sent, 0)
    loads.store(at, row)
    if units is not None:
        resident_min.store(at, low)
        count_units(units, [moved])


@kernel
def balance_bits(loads, resident_min, units, base, free, bits):
    """Balance a subcube along some bits of its rows, outermost first, up to three at once."""
    low = np.int64(register_lanes(loads) - 1)
    whole_rows = free & low == low
    none = np.int64(0)
    bit = np.int64(loads.size)
    while bits != 0:
        first = second = third = none
        while not bits & bit:
            bit >>= 1
        first, bits = bit, bits ^ bit
        if whole_rows and bits != 0:
            while not bits & bit:
                bit >>= 1
            second, bits = bit, bits ^ bit
        if whole_rows and bits != 0:
            while not bits & bit:
                bit >>= 1
            third, bits = bit, bits ^ bit
        others = free & ~(first | second | third | low)
        sub = none
        while True:
            at = (base & ~low) | sub
            if third:
                balance_rows(loads, resident_min, units, at, (first, second, third))
            elif second:
                balance_rows(loads, resident_min, units, at, (first, second))
            elif whole_rows:
                balance_rows(loads, resident_min, units, at, (first,))
            else:
                balance_some_lanes(loads, resident_min, units, at, first, base, free)
            if sub == others:
                break
            sub = (sub - others) & others


@kernel
def balance_subcube(loads, resident_min, units, base, free, bits):
    """Balance a subcube along some of its bits, outermost first.

    Bits inside a block are balanced in one block after the other.
    """
    low = np.int64(register_lanes(loads) - 1)
    block = np.int64((1 << BLOCK) - 1)
    balance_bits(loads, resident_min, units, base, free, bits & ~block)
    blocks, inside, sub = free & ~block, free & block, np.int64(0)
    while bits & block:
        at = base | sub
        balance_bits(loads, resident_min, units, at, inside, bits & block & ~low)
        rows, row = inside & ~low, np.int64(0)
        while bits & low:
            balance_lanes(loads, resident_min, units, (at & ~low) | row, base, free, bits & low)
            if row == rows:
                break
            row = (row - rows) & rows
        if sub == blocks:
            break
        sub = (sub - blocks) & blocks


@kernel
def run_program(loads, resident_min, units, notes, program, ascending):
    """Carry out a plan on one network of at least a register of positions; return (moved, largest).

    That are the units that repairs move, and the largest load of a donor after one. Those that
    exchanges move are added to ``units`` by lane.
    """
    largest = moved = notes.dtype.type(0)
    for m in range(program.shape[0]):
        kind, base, free, bit = program[m]
        if kind == SPLIT:
            balance_subcube(loads, resident_min, units, base, free, np.int64(1) << bit)
        elif kind == WHOLE:
            balance_subcube(loads, resident_min, units, base, free, free)
        else:
            moved, load = repair_links(
                loads, resident_min, None, notes, moved, (base, free, bit), ascending, True
            )
            largest = max(largest, load)
    return moved, largest


@kernel
def balance(rows, program, ascending, notes, moved, local):
    """Balance networks ``rows`` (B, N) of positions in place, of 64 bytes each or more.

    Parameters
    ----------
    rows : int32, int64, uint64 or float64
        Where units are counted, int32 loads are at most a sixth of 2**32, or their total is below
        2**31, and an int64 total times the steps fits int64.
    program : (M, 4) int64
        The plan's, in positions; unsigned loads allow no repairs.
    ascending : bool
        Whether bits of positions ascend as those of nodes do: donors are levelled from the lowest.
    notes : int64 or float64
        Room for NOTES of each node of the largest stuck subcube.
    moved, local : (B,) int64 or None
        Receive the units that move and those that never leave.

    Returns
    -------
    The largest load of a donor after its repair, in the dtype of ``notes``.
    """
    B, N = rows.shape
    V = register_lanes(rows)
    largest = notes.dtype.type(0)
    if moved is None:
        for b in range(B):
            _, load = run_program(rows[b], None, None, notes, program, ascending)
            largest = max(largest, load)
    else:
        resident_min, units = np.empty(N, rows.dtype), np.empty(V, np.int64)
        for b in range(B):
            loads = rows[b]
            for i in range(N):
                resident_min[i] = loads[i]
            for lane in range(V):
                units[lane] = 0
            moved[b], load = run_program(loads, resident_min, units, notes, program, ascending)
            largest = max(largest, load)
            for lane in range(V):
                moved[b] += units[lane]
            local[b] = 0
            for i in range(N):
                local[b] += resident_min[i]
    return largest
