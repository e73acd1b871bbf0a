"""Direct dimension exchange along lines: the rule of quotas, flows and rounds (Wu-Shu Figs 3-8).

A line of k nodes with total T is a chain or a ring. Node i gets the quota ``T // k``, and one unit
more if i is below ``T % k``; of real loads, the mean. The flow from node i to i + 1 is what the
nodes up to i have beyond their quotas, negative if they lack it (Fig. 3). A ring shifts all flows
by the middle one of them, x_m, which leaves the fewest units to move (Fig. 8):

    loads            9  7  4  1  4  6  1  5     flows of the chain     4  6  5  1  0  2 -1  0
    quotas           5  5  5  5  5  4  4  4     flows of the ring      2  4  3 -1 -2  0 -3 -2

Receive-before-send takes as many rounds as the longest run of flows in one direction: a node
passes on what comes along its line in the round after, and runs do not hinder each other. On a
ring a run may go on over the wrap link; no ring has all its flows in one direction.

The functions are called inside ``traced`` ones, on ``Rows``: row i holds node i of as many lines as
a register has lanes, or of one line, a number then. Integers are int32 or int64, real loads
float64. Results are rows, too: registers with a lane for each line, or numbers.
"""

from typing import Any, NamedTuple

from .medians import middle
from .tracing import cond, fori
from .vectors import absolute, lane, maximum, minimum, reduce_lanes, select, spread

# Real flows up to this part of the line's total count as 0. Sums are compensated, so that only the
# mean and load - mean are rounded.
NOISE = 4 * 2.0**-52


class Ring(NamedTuple):
    """What a bundle needs besides whose lines may be rings."""

    rows: Any  # Rows, medians.rows_needed(k) of them, workspace for flows, as ``middle`` has it
    comparators: Any  # (C, 2), of which those from ``first`` to before ``last`` are of k values
    first: Any
    last: Any
    in_registers: bool
    is_ring: Any  # whether lines are rings of 3 or more nodes, not chains


def _add(total, errors, value):
    """Return a sum and its errors with a value added: of reals, the rounding errors (Neumaier)."""
    new_total = total + value
    if value.dtype.kind == "f":
        added = new_total - total
        errors = errors + ((total - (new_total - added)) + (value - added))
    return new_total, errors


def total_of(rows, k):
    """Return the total of k rows, of reals without the rounding errors of the sums on the way."""
    zero = spread(0, rows[0])
    total, errors = fori(k, lambda i, *sums: _add(*sums, rows[i]), zero, zero)
    return total + errors


def _quotas(rows, k):
    """Return of each line the total T, ``T // k`` and ``T % k``; of reals T, the mean and 0.

    Processors do not divide registers of integers: the quotients come from floats.
    """
    total = total_of(rows, k)
    if total.dtype.kind == "f":
        return total, total / spread(k, total), spread(0, total)
    length, reciprocal = spread(k, total), 1.0 / k.astype("float64")
    if total.dtype.itemsize == 4:
        # With half a unit added no quotient is within 1 / 2k of a whole number, and rounding of
        # 32-bit ones is less than that.
        average = ((total.astype("float64") + 0.5) * reciprocal).astype(total.dtype)
        return total, average, total - average * length
    # Beyond 2**53 the quotient in floats may be far off; that of what remains is off by one.
    average = (total.astype("float64") * reciprocal).astype(total.dtype)
    remainder = total - average * length
    correction = (remainder.astype("float64") * reciprocal).astype(total.dtype)
    average, remainder = average + correction, remainder - correction * length
    low = remainder < 0
    average, remainder = (
        select(low, average - 1, average),
        select(low, remainder + length, remainder),
    )
    high = remainder >= length
    return total, select(high, average + 1, average), select(high, remainder - length, remainder)


def _next_quota(average, remainder):
    """Return the quota of a node, and how many of the nodes after it have one unit more.

    ``remainder`` is how many have from this node on; it falls below 0 in the end.
    """
    if average.dtype.kind == "f":
        return average, remainder
    return select(remainder > 0, average + 1, average), remainder - 1


def set_to_quotas(rows, k):
    """Set the k nodes of lines to their quotas; no flow is worked out."""
    _, average, remainder = _quotas(rows, k)

    def set_node(i, remainder):
        rows[i], remainder = _next_quota(average, remainder)
        return [remainder]

    fori(k, set_node, remainder)


def _count_flow(flow, units, beyond, up, down, longest):
    """Return the counts of a line with one more flow: those after ``flow``, in that order.

    ``units`` is the sum of what moves; ``beyond`` is negative once that has passed int64, as it
    collects the sign. ``up`` and ``down`` are the lengths of the runs of flows in either direction
    that end here, ``longest`` that of the longest run so far.
    """
    units = units + absolute(flow)
    if flow.dtype == "int64":
        beyond = beyond | units
    up, down = select(flow > 0, up + 1, 0), select(flow < 0, down + 1, 0)
    return [units, beyond, up, down, maximum(longest, maximum(up, down))]


def balance(rows, k, outs, flow_outs=(), *, ring=None, resident=None, quotas=None):
    """Balance lines of k nodes; return the units that moved, -1 beyond int64, and the rounds.

    Parameters
    ----------
    rows, outs, flow_outs : Rows of loads, and sequences of Rows
        All of ``outs``, maybe ``rows`` among them, receive the quotas, which are the loads
        afterwards; all of ``flow_outs`` the flows, that from node i to the next one in row i.
    ring : Ring, optional
        Without it lines are chains.
    resident : (before, after), Rows, optional
        ``before`` holds the least load of each node so far, ``after`` receives the new one.
    quotas : Rows, optional
        The loads afterwards, if they are not those of the rule above.
    """
    if ring and ring.is_ring is not True:
        options = {"resident": resident, "quotas": quotas}
        in_ring = ring._replace(is_ring=True)
        return cond(
            ring.is_ring,
            lambda: balance(rows, k, outs, flow_outs, ring=in_ring, **options),
            lambda: balance(rows, k, outs, flow_outs, **options),
        )
    total, average, remainder = (total_of(rows, k), 0, 0) if quotas else _quotas(rows, k)
    zero = spread(0, total)
    real = total.dtype.kind == "f"
    noise = total * NOISE if real else None

    def without_noise(flow):
        return select(absolute(flow) > noise, flow, 0) if real else flow

    def pass_on(i, surplus, errors, remainder, *counts):
        load = rows[i]
        if quotas:
            quota = quotas[i]
        else:
            quota, remainder = _next_quota(average, remainder)
        surplus, errors = _add(surplus, errors, load - quota)
        flow = surplus + errors if real else surplus
        if resident:
            resident[1][i] = minimum(resident[0][i], quota)
        for out in outs:
            out[i] = quota
        if ring:
            ring.rows[i] = flow
            return [surplus, errors, remainder, *counts]
        flow = without_noise(flow)
        for out in flow_outs:
            out[i] = flow
        return [surplus, errors, remainder, *_count_flow(flow, *counts)]

    no_counts = [zero] * 5
    _, _, _, *counts = fori(k, pass_on, zero, zero, remainder, *no_counts)
    if ring:
        counts = _shift_flows(ring, k, without_noise, flow_outs, zero)
    units, beyond, _, _, longest = counts
    if total.dtype == "int64":
        units = select(beyond < 0, -1, units)
    return [units, longest]


def _shift_flows(ring, k, without_noise, flow_outs, zero):
    """Subtract x_m from the flows of each ring; return the counts of its lines (Fig. 8).

    The paper's rule in terms of the two middle flows: if the lower one is positive, more than half
    of all flows are, and x_m is the upper one; if the upper one is negative, more than half are,
    and x_m is the lower one; else it is 0.
    """
    # The chain has no flow on the wrap link; sums of reals may leave some noise there.
    ring.rows[k - 1] = zero
    lower, upper = middle(ring.rows, k, ring.comparators, ring.first, ring.last, ring.in_registers)
    shift = select(lower > 0, upper, select(upper < 0, lower, 0))

    # ``all_up``: whether all flows so far are positive; ``first_up``: how many are, from node 0 on.
    def shift_flow(i, all_up, all_down, first_up, first_down, *counts):
        flow = without_noise(ring.rows[i] - shift)
        for out in flow_outs:
            out[i] = flow
        counts = _count_flow(flow, *counts)
        _, _, up, down, _ = counts
        all_up, all_down = all_up & (flow > 0), all_down & (flow < 0)
        # The runs that begin at node 0 go on from those that end at node k - 1.
        first_up, first_down = select(all_up, up, first_up), select(all_down, down, first_down)
        return [all_up, all_down, first_up, first_down, *counts]

    true, no_counts = zero <= zero, [zero] * 5
    _, _, first_up, first_down, *counts = fori(
        k, shift_flow, true, true, zero, zero, *no_counts
    )  # fmt: skip
    units, beyond, up, down, longest = counts
    up, down = select(up > 0, up + first_up, 0), select(down > 0, down + first_down, 0)
    return [units, beyond, up, down, maximum(longest, maximum(up, down))]


def add_units(a, b):
    """Return the sum of units, of int64 -1 if it passes int64 or one of both is -1 already."""
    total = a + b
    return select((a | b | total) < 0, -1, total) if total.dtype == "int64" else total


def sum_of_lanes(total, units):
    """Return a total, a number, with the units of each lane added; reals in the lanes' order."""
    if units.dtype.kind != "f":
        return add_units(total, reduce_lanes(units, add_units))
    for u in range(units.size):
        total = total + lane(units, u)
    return total


def noise_level(rows, k):
    """Return the largest flow of each line that is rounding alone; of integers 0."""
    total, _, _ = _quotas(rows, k)
    return total * NOISE if total.dtype.kind == "f" else spread(0, total)
