"""Direct dimension exchange along lines: the rule of quotas, flows and rounds (Wu-Shu Figs 3-8).

A line of k nodes with total T is a chain or a ring. Node i gets the quota ``T // k``, and one unit
more if i is below ``T % k``; of real loads, the mean. The flow from node i to i + 1 is what the
nodes up to i have beyond their quotas (Fig. 3). A ring subtracts from all flows the middle one,
x_m, if that is not 0, which leaves the fewest units to move (Fig. 8).

Receive-before-send takes as many rounds as the longest run of flows in one direction: a node
passes on what comes along its line in the round after, and runs do not hinder each other. On a
ring a run may go on over the wrap link; no ring has all its flows in one direction.

The functions are called inside ``traced`` ones, on ``Rows``: a register of lines, or one line with
numbers for rows, are balanced by the same text. Integers are int32 or int64, real loads float64.
"""

from typing import Any, NamedTuple

from .medians import middle
from .tracing import fori
from .vectors import absolute, lane, maximum, minimum, reduce_lanes, select, spread

# Sums are compensated, so what remains is the rounding of the mean and of load - mean: flows up to
# this part of the total are none.
NOISE = 4 * 2.0**-52


class Ring(NamedTuple):
    """What a bundle of rings needs besides: rows for the flows, and see ``medians.middle``."""

    rows: Any
    comparators: Any
    first: Any
    last: Any
    in_registers: bool


def _add(total, errors, value):
    """Return a sum with a value added; of reals also the rounding errors so far (Neumaier)."""
    both = total + value
    if value.dtype.kind == "f":
        added = both - total
        errors = errors + ((total - (both - added)) + (value - added))
    return both, errors


def _quotas(rows, k):
    """Return the total of lines, the quota of their last nodes, and how many have one unit more."""
    zero = spread(0, rows[0])
    total, errors = fori(k, lambda i, *sums: _add(*sums, rows[i]), zero, zero)
    if total.dtype.kind == "f":
        total = total + errors
        return total, total / spread(k, total), zero
    width, part = spread(k, total), 1.0 / k.astype("float64")
    if total.dtype.itemsize == 4:
        # No quotient of 32 bits is so near to a whole number that half a unit more is off.
        average = ((total.astype("float64") + 0.5) * part).astype(total.dtype)
        return total, average, total - average * width
    # Beyond 2**53 the quotient in floats may be far off; that of the remainder is off by one.
    average = (total.astype("float64") * part).astype(total.dtype)
    remainder = total - average * width
    more = (remainder.astype("float64") * part).astype(total.dtype)
    average, remainder = average + more, remainder - more * width
    low = remainder < 0
    average, remainder = (
        select(low, average - 1, average),
        select(low, remainder + width, remainder),
    )
    high = remainder >= width
    return total, select(high, average + 1, average), select(high, remainder - width, remainder)


def _next_quota(average, remainder):
    """Return the quota of a node, and how many of the nodes after it have one unit more."""
    if average.dtype.kind == "f":
        return average, remainder
    return select(remainder > 0, average + 1, average), remainder - 1


def share(rows, k):
    """Give every node of lines its quota; no flow is worked out."""
    _, average, remainder = _quotas(rows, k)

    def give(i, remainder):
        rows[i], remainder = _next_quota(average, remainder)
        return [remainder]

    fori(k, give, remainder)


def _count_flow(flow, units, beyond, up, down, longest):
    """Return the counts of a line with one more flow.

    ``beyond`` is negative once units have passed int64; ``up`` and ``down`` are the lengths of the
    runs of flows in either direction that end here.
    """
    units = units + absolute(flow)
    if flow.dtype == "int64":
        beyond = beyond | units
    up, down = select(flow > 0, up + 1, 0), select(flow < 0, down + 1, 0)
    return [units, beyond, up, down, maximum(longest, maximum(up, down))]


def balance(rows, k, outs, flow_outs=(), *, ring=None, resident=None):
    """Balance lines of k nodes; return the units that moved, -1 beyond int64, and the rounds.

    Parameters
    ----------
    rows, outs, flow_outs : Rows, and sequences of Rows
        Loads; where quotas and flows go, the flow of row i from node i to the next one.
    ring : Ring, optional
        Lines are rings of 3 or more nodes.
    resident : pair of Rows, optional
        Least loads of the nodes so far, maybe the loads themselves, and where they go then.
    """
    total, average, remainder = _quotas(rows, k)
    zero = spread(0, total)
    real = total.dtype.kind == "f"
    noise = total * NOISE if real else None

    def without_noise(flow):
        return select(absolute(flow) > noise, flow, 0) if real else flow

    def pass_on(i, surplus, errors, remainder, *counts):
        load = rows[i]
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

    _, _, _, *counts = fori(k, pass_on, zero, zero, remainder, *[zero] * 5)
    if ring:
        counts = _turn(ring, k, without_noise, flow_outs, zero)
    units, beyond, _, _, longest = counts
    if total.dtype == "int64":
        units = select(beyond < 0, -1, units)
    return [units, longest]


def _turn(ring, k, without_noise, flow_outs, zero):
    """Subtract from a ring's flows their shift x_m; return the counts of its lines (Fig. 8).

    The paper's rule in terms of the two middle flows: the upper one if more than half of the
    flows are positive, that is if the lower one is; the lower one if more than half are
    negative; else 0.
    """
    # The chain has no flow on the wrap link; sums of reals may leave some noise there.
    ring.rows[k - 1] = zero
    lower, upper = middle(ring.rows, k, ring.comparators, ring.first, ring.last, ring.in_registers)
    shift = select(lower > 0, upper, select(upper < 0, lower, 0))

    def settle(i, all_up, all_down, first_up, first_down, *counts):
        flow = without_noise(ring.rows[i] - shift)
        for out in flow_outs:
            out[i] = flow
        counts = _count_flow(flow, *counts)
        _, _, up, down, _ = counts
        all_up, all_down = all_up & (flow > 0), all_down & (flow < 0)
        # The runs that begin at node 0 go on from those that end at node k - 1.
        first_up, first_down = select(all_up, up, first_up), select(all_down, down, first_down)
        return [all_up, all_down, first_up, first_down, *counts]

    always = zero <= zero
    _, _, first_up, first_down, *counts = fori(k, settle, always, always, *[zero] * 7)
    units, beyond, up, down, longest = counts
    up, down = select(up > 0, up + first_up, 0), select(down > 0, down + first_down, 0)
    return [units, beyond, up, down, maximum(longest, maximum(up, down))]


def add_units(a, b):
    """Return the sum of units of int64 that may be -1, for beyond int64; so may the sum be."""
    total = a + b
    return select((a | b | total) < 0, -1, total) if total.dtype == "int64" else total


def sum_of_lanes(total, units):
    """Return a total with the units of each lane added, of real ones in the lanes' order."""
    if units.dtype.kind != "f":
        return add_units(total, reduce_lanes(units, add_units))
    for u in range(units.size):
        total = total + lane(units, u)
    return total


def rounding(rows, k):
    """Return the greatest flow of real loads that is but rounding, of each line; of integers 0."""
    total, _, _ = _quotas(rows, k)
    return total * NOISE if total.dtype.kind == "f" else total - total
