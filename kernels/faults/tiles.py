"""A plan of fault-tolerant DEM on many networks side by side (More-Wu section 2.2).

A tile holds W networks. Each node has a row of W lanes, and a tile's rows follow one another:

    node 0 |  network 0 | network 1 | .. | network W-1 |
    node 1 |  network 0 | network 1 | .. | network W-1 |

So a register holds one node of several networks, and an exchange is a few instructions on two
registers. Up to three dimensions are balanced at once between eight nodes, whose registers are read
and written once. The plan comes as ``passes`` (``fastlb/exchange/fault_passes.py``): exchanges,
then the repairs of stuck subcubes (``shared/repair.py``, which tells what pegs, holes and notes
are).

Legend: ``B`` networks in ``K`` tiles (N W,) of ``W``, ``N`` nodes in any order, ``P`` passes.
Where metrics are recorded, ``resident_min`` (N W,) holds the least load so far of each node, and
``units`` (W,) the units moved; otherwise both are None.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.cubes import balance_and_record, corners
from ..shared.exchange import exchange_by_halves
from ..shared.repair import LOW, NOTES, PEGS, after_repair, level_pegs, lower, notes_of
from ..shared.submasks import next_submask
from ..shared.tracing import register_lanes, traced, update
from ..shared.vectors import absolute, add, lanes, maximum, minimum
from ..shared.views import flat

# First column of a pass that exchanges; the others repair.
EXCHANGE = 0


def update_least(resident_min, at, load):
    """Lower the least loads of a register, at ``at``, to the loads that it has now."""
    resident_min.store(at, minimum(load, resident_min.load(at)))


@traced()
def balance_rows(tile, resident_min, units, base, strides, w):
    """Balance up to three dimensions between the rows of nodes, one register of each.

    The first node's register begins at ``base``, its neighbour's along dimension d ``strides[d]``
    further; the register's first network is ``w``.
    """
    places = corners(base, strides)
    rows = [tile.load(place) for place in places]
    lows = rows if units is None else [resident_min.load(place) for place in places]
    rows, lows, moved = balance_and_record(rows, lows, exchange_by_halves)
    for place, row in zip(places, rows, strict=True):
        tile.store(place, row)
    if units is not None:
        for place, low in zip(places, lows, strict=True):
            resident_min.store(place, low)
        # One after the other: sums of real loads depend on the order.
        total = moved[0]
        for sent in moved[1:]:
            total = total + sent
        update(units, w, add, total)


def places_of_notes(notes, number):
    """Return where the four notes of the donor's node with a number begin, a register each."""
    size = lanes(notes.dtype)
    return [(NOTES * number + note) * size for note in range(NOTES)]


@traced()
def send_pegs(tile, resident_min, units, notes, a, d, w, number):
    """Give the stuck node at a the load of its neighbour at d, whose notes are stored."""
    held = tile.load(d)
    node = notes_of(tile.load(a), held)
    tile.store(a, held)
    for place, note in zip(places_of_notes(notes, number), node, strict=True):
        notes.store(place, note)
    if units is not None:
        update_least(resident_min, a, held)
        update(units, w, add, absolute(node[PEGS]))


@traced()
def level_pegs_of(units, notes, w, u, v):
    """Level the pegs of nodes number u and v of the donor in their notes."""
    places = [places_of_notes(notes, number) for number in (u, v)]
    nodes = [[notes.load(place) for place in of_node] for of_node in places]
    sent = level_pegs(*nodes)
    for of_node, node in zip(places, nodes, strict=True):
        notes.store(of_node[PEGS], node[PEGS])
        if units is not None:
            lower(node)
            notes.store(of_node[LOW], node[LOW])
    if units is not None:
        update(units, w, add, absolute(sent))


@traced()
def pay_holes(tile, resident_min, peak, notes, d, number):
    """Store the load of the donor's node at d, its holes paid; keep the largest in ``peak``."""
    load, low = after_repair([notes.load(place) for place in places_of_notes(notes, number)])
    tile.store(d, load)
    if resident_min is not None:
        update_least(resident_min, d, low)
    update(peak, 0, maximum, load)


@traced()
def add_row(rows, sums, at, w):
    """Add the register at ``at`` of the rows to that at ``w`` of the sums (W,)."""
    update(sums, w, add, rows.load(at))


@kernel
def exchange(tile, resident_min, units, W, base, others, bits):
    """Balance up to three ``bits``, -1 for none, of the nodes that agree with ``base`` elsewhere.

    Elsewhere is outside these bits and the mask ``others``, which has none of them.
    """
    first, second, third = bits
    V = register_lanes(tile)
    x, y, z = W << first, W << max(second, 0), W << max(third, 0)
    sub = 0
    while True:
        row = (base | sub) * W
        for at in range(row, row + W, V):
            if third >= 0:
                balance_rows(tile, resident_min, units, at, (x, y, z), at - row)
            elif second >= 0:
                balance_rows(tile, resident_min, units, at, (x, y), at - row)
            else:
                balance_rows(tile, resident_min, units, at, (x,), at - row)
        if sub == others:
            return
        sub = next_submask(sub, others)


@kernel
def repair(tile, resident_min, units, peak, notes, W, w, subcube, ascending):
    """Repair a stuck ``subcube`` (base, free, bit), whose donor lies across the bit.

    Of the networks of one register, w and those after it; the donor is levelled from its lowest bit
    on if ``ascending``.
    """
    base, free, bit = subcube
    donor = base ^ 1 << bit
    count = sub = 0
    while True:
        a, d = (base | sub) * W + w, (donor | sub) * W + w
        send_pegs(tile, resident_min, units, notes, a, d, w, count)
        count += 1
        if sub == free:
            break
        sub = next_submask(sub, free)
    step = 1 if ascending else count // 2
    while 1 <= step < count:
        for first in range(0, count, 2 * step):
            for u in range(first, first + step):
                level_pegs_of(units, notes, w, u, u + step)
        step = 2 * step if ascending else step // 2
    sub = 0
    for number in range(count):
        pay_holes(tile, resident_min, peak, notes, (donor | sub) * W + w, number)
        sub = next_submask(sub, free)


@kernel
def add_up(units, moved):
    """Add ``units`` (W,) to the totals (W or fewer,) of a tile's networks, and set them to 0."""
    for w in range(moved.size):
        moved[w] += units[w]
    for w in range(units.size):
        units[w] = 0


@kernel
def balance(
    tiles, passes, ascending, largest_stuck, passes_between, resident_min, units, moved, local
):
    """Carry out a plan on every tile of ``tiles`` (K, N, W) in place.

    Parameters
    ----------
    tiles : (K, N, W) int16, int32, int64 or float64
        ``W`` loads are a multiple of 64 bytes. Each total fits the dtype of ``units``. No int16
        load may be above a sixth of the largest int16: a pass adds up twelve transfers in that
        dtype, each half of a load at most.
    passes : (P, 6) int64
        Rows ``EXCHANGE, base, others, bit, bit, bit``, bits -1 for none, or for the repair of a
        stuck subcube ``1, base, free, bit`` and two that are not read.
    ascending : bool
        Whether a donor is levelled from its lowest bit on.
    largest_stuck : int
        The most dimensions of a stuck subcube.
    passes_between : int
        After so many passes ``units`` are added up, before they could overflow.
    resident_min, units : arrays or None
        (N W,) of the tiles' dtype and (W,) of the same, or int32 for int16; used up.
    moved, local : arrays or None
        (B,) int64 or float64: they receive the units that move and those that never leave.

    Returns
    -------
    The largest load of a donor after its repair.
    """
    W, V = tiles.shape[2], register_lanes(tiles)
    # The peak, then notes. Its flat views do not keep this array alive: it is read at the end.
    workspace = np.empty(V + (NOTES * V << largest_stuck), tiles.dtype)
    for i in range(V):
        workspace[i] = 0
    peak, notes = flat(workspace)[:V], flat(workspace)[V:]
    loads, lows, counts = flat(tiles), flat(resident_min), flat(units)
    if units is not None:
        for b in range(moved.size):
            moved[b] = local[b] = 0
    size = tiles.shape[1] * W
    for k in range(tiles.shape[0]):
        tile, networks = loads[k * size : (k + 1) * size], slice(k * W, (k + 1) * W)
        if units is not None:
            for i in range(size):
                lows[i] = tile[i]
            for w in range(W):
                counts[w] = 0
        for p in range(passes.shape[0]):
            kind, base, free, first, second, third = passes[p]
            if kind == EXCHANGE:
                exchange(tile, lows, counts, W, base, free, (first, second, third))
            else:
                for w in range(0, W, V):
                    subcube = base, free, first
                    repair(tile, lows, counts, peak, notes, W, w, subcube, ascending)
            if units is not None and (p + 1) % passes_between == 0:
                add_up(counts, moved[networks])
        if units is not None:
            add_up(counts, moved[networks])
            for row in range(0, size, W):
                for w in range(0, W, V):
                    add_row(lows, counts, row + w, w)
            add_up(counts, local[networks])
    largest = workspace[0]
    for i in range(V):
        largest = max(largest, workspace[i])
    return largest
