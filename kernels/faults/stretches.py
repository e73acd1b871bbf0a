"""A plan of fault-tolerant DEM on one network after the other, in registers (More-Wu section 2.2).

For networks that are few or large; many small ones go side by side (``tiles.py``). Loads are in the
order of positions (``positions.py``), L = 2**l of them, a row, in a register:

    position   n-1 .. l  |  l-1 .. 0
               row       |  lane of a register

The dimension that is split first is the outermost bit of a position, so that most subcubes are
stretches of whole rows: two rows exchange in a few instructions, and up to three dimensions are
balanced at once between eight rows. Along the bits of lanes a row exchanges with itself, its lanes
in another order. Lanes that are not in a subcube keep their loads.

Blocks of 2**12 positions stay in cache while all dimensions inside are balanced. Repairs go link by
link (``shared/repair.py``).

Legend: ``B`` networks, ``N`` nodes, ``M`` rows of the plan's program. A subcube is the positions
that agree with ``base`` outside the mask ``free``. ``units`` (L,) int64 are the units moved so far,
by lane.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.cubes import balance_and_record, corners
from ..shared.exchange import exchange_by_halves
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.repair import repair_links
from ..shared.submasks import next_submask
from ..shared.tracing import register_lanes, traced, update
from ..shared.vectors import add, lane_numbers, lanes, minimum, permute, reduce, select, spread

SPLIT, WHOLE = 0, 1
# A block has 2**BLOCK_BITS positions.
BLOCK_BITS = 12


def lanes_within(row, base, free):
    """Return a mask of the lanes of a row that are in a subcube."""
    numbers = lane_numbers(row.view(f"i{row.dtype.itemsize}"))
    fixed = spread(~free & (row.size - 1), numbers)
    return (numbers ^ spread(base & (row.size - 1), numbers)) & fixed == 0


def count_units(units, moved):
    """Add registers of units to the totals by lane; their sums fit the dtype without a sign."""
    moved = reduce(moved, add)
    update(units, 0, add, moved.view(f"u{moved.dtype.itemsize}").astype(units.dtype))


@traced()
def balance_rows(loads, resident_min, units, at, strides):
    """Balance up to three dimensions between whole rows, of which the first begins at ``at``.

    Neighbours along dimension d are ``strides[d]`` positions apart. If ``units`` is not None, units
    are counted, and ``resident_min`` (N,) keeps the least loads.
    """
    places = corners(at, strides)
    rows = [loads.load(place) for place in places]
    lows = rows if units is None else [resident_min.load(place) for place in places]
    rows, lows, moved = balance_and_record(rows, lows, exchange_by_halves)
    for place, row in zip(places, rows, strict=True):
        loads.store(place, row)
    if units is not None:
        for place, low in zip(places, lows, strict=True):
            resident_min.store(place, low)
        count_units(units, moved)


@traced()
def balance_some_lanes(loads, resident_min, units, at, stride, base, free):
    """Balance rows ``at`` and ``at + stride``, only the lanes in a subcube."""
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
    """Balance the lanes in a subcube of row ``at`` along the mask ``bits``, outermost first."""
    row = loads.load(at)
    within = lanes_within(row, base, free)
    numbers = lane_numbers(row.view(f"i{row.dtype.itemsize}"))
    least = row if units is None else resident_min.load(at)
    moved = spread(0, row)

    for bit in reversed(range(lanes(row.dtype).bit_length() - 1)):
        # Bits that are not balanced are masked, not skipped, as a branch would be mispredicted.
        among = within & (spread(bits, numbers) & 1 << bit != 0)
        partner = permute(row, [lane ^ 1 << bit for lane in range(row.size)])
        after, _, sent = exchange_by_halves(row, partner)
        row = select(among, after, row)
        least = minimum(row, least)
        # Both lanes of a pair see what it moves.
        moved = moved + select(among & (numbers & 1 << bit == 0), sent, 0)
    loads.store(at, row)
    if units is not None:
        resident_min.store(at, least)
        count_units(units, [moved])


@kernel
def balance_bits(loads, resident_min, units, base, free, bits, meter):
    """Balance a subcube along the mask ``bits``, bits of rows, outermost first, three at once."""
    lane_bits = np.int64(register_lanes(loads) - 1)
    whole_rows = free & lane_bits == lane_bits
    zero = np.int64(0)
    bit = np.int64(loads.size)
    nodes = min(bit, np.int64(1) << BLOCK_BITS) if free >> BLOCK_BITS == 0 else bit
    while bits != 0 and not interrupted(meter, nodes):
        first = second = third = zero
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
        others = free & ~(first | second | third | lane_bits)
        sub = zero
        while True:
            at = (base & ~lane_bits) | sub
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
            sub = next_submask(sub, others)


@kernel
def balance_subcube(loads, resident_min, units, base, free, bits, meter):
    """Balance a subcube along the mask ``bits``, outermost first.

    First come the bits above blocks, then in each block the other bits of rows and those of lanes.
    """
    lane_bits = np.int64(register_lanes(loads) - 1)
    block = np.int64((1 << BLOCK_BITS) - 1)
    balance_bits(loads, resident_min, units, base, free, bits & ~block, meter)
    blocks, inside, sub = free & ~block, free & block, np.int64(0)
    while bits & block:
        at = base | sub
        balance_bits(loads, resident_min, units, at, inside, bits & block & ~lane_bits, meter)
        rows, row = inside & ~lane_bits, np.int64(0)
        while bits & lane_bits:
            balance_lanes(
                loads, resident_min, units, (at & ~lane_bits) | row, base, free, bits & lane_bits
            )
            if row == rows:
                break
            row = (row - rows) & rows
        if sub == blocks:
            break
        sub = next_submask(sub, blocks)


@kernel
def run_program(loads, resident_min, units, notes, program, ascending, meter):
    """Carry out a plan on one network (N,), N >= L; return (moved, largest).

    These are the units that repairs move, and the largest load of a donor after one. What exchanges
    move is added to ``units``.
    """
    largest = moved = notes.dtype.type(0)
    for m in range(program.shape[0]):
        kind, base, free, bit = program[m]
        if kind == SPLIT:
            balance_subcube(loads, resident_min, units, base, free, np.int64(1) << bit, meter)
        elif kind == WHOLE:
            balance_subcube(loads, resident_min, units, base, free, free, meter)
        else:
            moved, load = repair_links(
                loads, resident_min, None, notes, moved, (base, free, bit), ascending, True
            )
            largest = max(largest, load)
    return moved, largest


@long_kernel
def balance(rows, program, ascending, notes, resident_min, moved, local):
    """Balance networks ``rows`` (B, N) of positions in place, of 64 bytes each or more.

    Parameters
    ----------
    rows : (B, N) int32, int64, uint64 or float64
        Where units are counted: int32 loads are at most a sixth of 2**32, or have a total below
        2**31, as twelve transfers are added up at once; an int64 total times the steps fits int64.
    program : (M, 4) int64
        The plan's, in positions; unsigned loads allow no repairs.
    ascending : bool
        Whether bits of positions ascend as those of nodes do: donors are levelled from the lowest.
    notes : (4 * nodes of the largest stuck subcube,) int64 or float64
        Scratch for repairs.
    resident_min : (N,) of the dtype of the rows, or None
        Workspace where units are counted.
    moved, local : (B,) int64 or None
        Receive the units that move and those that never leave.

    Returns
    -------
    The largest load of a donor after its repair, in the dtype of ``notes``.
    """
    B, N = rows.shape
    V = register_lanes(rows)
    largest, meter = notes.dtype.type(0), new_meter()
    if moved is None:
        for b in range(B):
            _, load = run_program(rows[b], None, None, notes, program, ascending, meter)
            largest = max(largest, load)
    else:
        units = np.empty(V, np.int64)
        for b in range(B):
            loads = rows[b]
            for i in range(N):
                resident_min[i] = loads[i]
            for lane in range(V):
                units[lane] = 0
            moved[b], load = run_program(
                loads, resident_min, units, notes, program, ascending, meter
            )
            largest = max(largest, load)
            for lane in range(V):
                moved[b] += units[lane]
            local[b] = 0
            for i in range(N):
                local[b] += resident_min[i]
    return largest
