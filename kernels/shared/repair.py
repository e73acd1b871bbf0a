"""How a donor repairs a stuck subcube (More-Wu section 2.2), node by node.

A stuck subcube has a faulty link in each of its dimensions. Its donor is the fault-free subcube
across a further dimension, ``bit``. In a repair,

1. each stuck node takes on the load of its neighbour in the donor: what it has above that are pegs,
   which it sends, and what it lacks are holes, which the neighbour owes it;
2. the donor levels the pegs as DEM levels loads, but no node sends more than load minus holes;
3. the donor's nodes pay their holes.

Notes are what is kept of one node of the donor meanwhile: the numbers PEGS, negative where there
are holes, HELD, HOLES and LOW. In an array, those of node number i begin at ``NOTES * i``.

The functions without a decorator take registers or numbers inside ``traced`` functions.
``repair_links`` is a whole repair on numbers, one link after the other.
"""

from numba import types

from .compiling import kernel
from .exchange import exchange_by_halves, half_towards_zero
from .submasks import next_submask
from .tracing import traced
from .vectors import absolute, maximum, minimum, select, spread

# Notes: the pegs, the load before them, the holes, the least load so far; and how many notes.
PEGS, HELD, HOLES, LOW, NOTES = 0, 1, 2, 3, 4
MAX_INT64 = 2**63 - 1


def notes_of(stuck, held):
    """Return the notes of a donor's node with load ``held``, and ``stuck`` its neighbour's load."""
    pegs = stuck - held
    return [pegs, held, maximum(-pegs, 0), held]


def level_pegs(x, y):
    """Level the pegs of two nodes in their notes; return what x sends, < 0 if y sends."""
    sent = minimum(half_towards_zero(x[PEGS] - y[PEGS]), x[HELD] + x[PEGS])
    sent = maximum(sent, -(y[HELD] + y[PEGS]))
    x[PEGS], y[PEGS] = x[PEGS] - sent, y[PEGS] + sent
    return sent


def lower(node, sends=True):
    """Lower the least load in a node's notes to the load that it has, where it ``sends``."""
    low = minimum(node[HELD] + node[PEGS] + node[HOLES], node[LOW])
    node[LOW] = low if sends is True else select(sends, low, node[LOW])


def after_repair(node):
    """Return the load of a node of the donor once its holes are paid, and the least that it had."""
    load = maximum(node[HELD] + node[PEGS], 0)
    return load, select(node[HOLES] > 0, minimum(load, node[LOW]), node[LOW])


def count(units, moved):
    """Return ``units + moved``, the units moved so far; of int64, -1 once they do not fit."""
    if units.dtype.kind == "f":
        return units + moved
    fits = (units >= 0) & (units <= MAX_INT64 - moved)
    return select(fits, units + select(fits, moved, 0), -1)


def record_flow(flows, place, sent):
    """Add to the flow of a link what its lower end sends; ``flows`` may be None."""
    if flows is not None:
        flows[place] = flows[place] + sent


@traced(returns=lambda loads, resident_min, flows, units, u, bit, row: units)
def exchange_link(loads, resident_min, flows, units, u, bit, row):
    """Let node u, whose ``bit`` is 0, exchange with u + bit; return ``units`` plus what moved.

    The flow of the link stands at ``row + u`` of ``flows``, an array of the units' dtype or None.
    """
    v = u + bit
    a, b = loads[u], loads[v]
    after_a, after_b, moved = exchange_by_halves(a, b)
    loads[u], loads[v] = after_a, after_b
    resident_min[u] = minimum(after_a, resident_min[u])
    resident_min[v] = minimum(after_b, resident_min[v])
    record_flow(flows, row + u, (a - after_a).astype(units.dtype))
    return count(units, moved.astype(units.dtype))


@traced(returns=lambda flows, units, row, u, v, sent: units)
def send_along(flows, units, row, u, v, sent):
    """Record what node u sends its neighbour v, < 0 if v sends; return ``units`` plus that."""
    record_flow(flows, row + select(u < v, u, v), select(u < v, sent, -sent))
    return count(units, absolute(sent))


@traced(returns=lambda total, nodes: types.UniTuple(total, 2))
def share_of(total, nodes):
    """Return (quota, extra): an equal share of a total, and the units over; 0 of real loads."""
    if total.dtype.kind == "f":
        return total / nodes.astype(total.dtype), spread(0, total)
    return total // nodes, total % nodes


@traced(returns=lambda loads, resident_min, flows, notes, units, a, d, number, row: units)
def send_pegs(loads, resident_min, flows, notes, units, a, d, number, row):
    """Give stuck node a the load of its neighbour d, whose notes become those of ``number``."""
    held = loads[d]
    node = notes_of(loads[a].astype(units.dtype), held.astype(units.dtype))
    for note in range(NOTES):
        notes[NOTES * number + note] = node[note]
    loads[a] = held
    if resident_min is not None:
        resident_min[a] = minimum(held, resident_min[a])
    record_flow(flows, row + select(a < d, a, d), select(a < d, node[PEGS], -node[PEGS]))
    return count(units, absolute(node[PEGS]))


@traced(returns=lambda flows, notes, units, place, x, y, both: units)
def level_pegs_across(flows, notes, units, place, x, y, both):
    """Level the pegs of the donor's nodes number x and y; the link's flow is ``flows[place]``.

    The least loads are lowered at ``both`` ends, or only at the one that sends: in floats the two
    ways differ by rounding.
    """
    x_notes, y_notes = (
        [notes[NOTES * number + note] for note in range(NOTES)] for number in (x, y)
    )
    sent = level_pegs(x_notes, y_notes)
    lower(x_notes, both | (sent > 0))
    lower(y_notes, both | (sent < 0))
    for number, node in ((x, x_notes), (y, y_notes)):
        notes[NOTES * number + PEGS] = node[PEGS]
        notes[NOTES * number + LOW] = node[LOW]
    record_flow(flows, place, sent)
    return count(units, absolute(sent))


@traced(returns=lambda loads, resident_min, notes, d, number, largest: largest)
def pay_holes(loads, resident_min, notes, d, number, largest):
    """Leave node d of the donor with its load; return the larger of that and ``largest``."""
    load, low = after_repair([notes[NOTES * number + note] for note in range(NOTES)])
    loads[d] = load
    if resident_min is not None:
        # A load may exceed the dtype, as ``largest`` tells the caller; a least load never does.
        resident_min[d] = minimum(low.astype(resident_min.dtype), resident_min[d])
    return maximum(load, largest)


@kernel
def repair_links(loads, resident_min, flows, notes, units, subcube, ascending, both):
    """Repair a stuck ``subcube`` (base, free, bit), whose donor lies across the bit.

    The stuck nodes agree with ``base`` outside the mask ``free``.

    ``loads``, ``resident_min`` (N,); ``flows`` (n N,), a row of N for each bit, the highest first;
    ``notes`` (NOTES * stuck nodes,), of the dtype of ``units``, int64 or float64; ``resident_min``
    and ``flows`` may be None. The donor is levelled from its lowest bit on if ``ascending``.
    Return (``units`` plus what moved, the largest load of the donor).
    """
    base, free, bit = subcube
    donor = base ^ 1 << bit
    # The flows along bit b begin at end - N (b + 1).
    N, end = loads.size, 0 if flows is None else flows.size
    count = sub = 0
    while True:
        a, row = base | sub, end - N * (bit + 1)
        units = send_pegs(loads, resident_min, flows, notes, units, a, donor | sub, count, row)
        count += 1
        if sub == free:
            break
        sub = next_submask(sub, free)
    step, inner = (1, 0) if ascending else (count // 2, 62)
    while 1 <= step < count:
        if free >> inner & 1:
            # ``sub`` lacks the node's bit ``inner``, and ``number`` that of the number, ``step``.
            rest, others = free ^ 1 << inner, (count - 1) ^ step
            number = sub = 0
            while True:
                place = end - N * (inner + 1) + (donor | sub)
                units = level_pegs_across(flows, notes, units, place, number, number + step, both)
                if sub == rest:
                    break
                sub, number = next_submask(sub, rest), next_submask(number, others)
            step = 2 * step if ascending else step // 2
        inner += 1 if ascending else -1
    largest = units - units
    sub = 0
    for number in range(count):
        largest = pay_holes(loads, resident_min, notes, donor | sub, number, largest)
        sub = next_submask(sub, free)
    return units, largest
