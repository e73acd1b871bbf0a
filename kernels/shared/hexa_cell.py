"""Algorithms A, B and C on one triangle and one pair of nodes (Hexa-Cell sections 2.1-2.3).

The functions take registers or numbers inside ``traced`` functions. The nodes of a triangle are 0,
the coordinator, 1, on its left, and 2, on its right. All functions get the same tuple,

    rules = averaging, greedy, polling, prism, dims

in which None stands for "no", so that a kernel is compiled for the rules in use alone:

    averaging   left and right exchange before the triangle does (Algorithm A)
    greedy      the lower address fills up first; otherwise each unit goes to the lighter node
    polling     nodes with an excess poll their peers (Algorithm C)
    prism, dims an odd difference up to this sends its smaller half, a larger difference its larger
                half, in the prism and in the cells' dimensions; None: always the smaller half

A, B and C differ in their messages. Without averaging A has the loads of B, whose orders A's
coordinator carries out by itself; C has those of B by the greedy rule.
"""

import numpy as np

from .exchange import exchange, exchange_and_count
from .vectors import absolute, maximum, minimum, select, spread


def exchange_odd(a, b, above):
    """Return (a, b, units) after an exchange that may send the larger half of an odd difference.

    It does if the difference is more than ``above``, and never if that is None. Real loads meet
    midway.
    """
    if above is None or a.dtype.kind == "f":
        return exchange_and_count(a, b)
    difference = a - b
    negative = difference >> 8 * difference.dtype.itemsize - 1
    # Half of the difference is rounded towards 0, and with ``rounding`` inverted away from it.
    rounding = negative ^ -(absolute(difference) > above).astype(difference.dtype)
    sent = (difference - rounding) >> 1
    return a - sent, b + sent, absolute(sent)


def _average(a, b, c):
    """Return the mean of three loads, of integers rounded up: ``(total + 2) // 3``."""
    if a.dtype.kind == "f":
        wide = [load.astype(np.float64) for load in (a, b, c)]
        mean = ((wide[0] + wide[1] + wide[2]) / 3.0).astype(a.dtype)
        # Kept between the loads in spite of rounding, so that three equal loads do not change.
        return minimum(maximum(mean, minimum(minimum(a, b), c)), maximum(maximum(a, b), c))
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    total = (a + b + c + 2).view(unsigned)
    if unsigned.itemsize < 8:
        return (total // 3).view(a.dtype)
    # Registers have no 64-bit division: 2**32 = 3 * 0x55555555 + 1, 2**16 = 3 * 0x5555 + 1, and
    # 0xAAAAAAAB / 2**33 is a third of numbers below 2**32.
    high, low = total >> 32, total & 0xFFFFFFFF
    rest = high + low
    middle = rest >> 16
    rest = middle + (rest & 0xFFFF)
    third = high * 0x55555555 + middle * 0x5555 + ((rest * 0xAAAAAAAB) >> 33)
    return third.view(a.dtype)


def _share(a, b, c, greedy):
    """Return the loads of nodes 0, 1, 2 once those above the mean have filled those below."""
    mean = _average(a, b, c)
    if a.dtype.kind == "f":
        return mean, mean, mean
    total = a + b + c
    x, y, z = minimum(a, mean), minimum(b, mean), minimum(c, mean)
    excess = total - x - y - z
    if greedy is not None:
        first = minimum(x + excess, mean)
        second = minimum(y + excess - (first - x), mean)
        return first, second, total - first - second
    # Each unit goes to the lighter node, of equals to the lower address. The giver ends with the
    # mean, so the others share ``both``: half each, the lower address rounded up, yet none less
    # than it had, nor more than it had and the excess. Node 1 is what remains.
    both = total - mean
    first = maximum(x, minimum(x + excess, (both + 1) >> 1))
    last = maximum(z, minimum(z + excess, both >> 1))
    return first, total - first - last, last


def balance_triangle(loads, rules):
    """Return the loads of nodes 0, 1, 2 of a triangle after its phase."""
    a, b, c = loads
    averaging, greedy, *_ = rules
    if averaging is not None:
        b, c = exchange(b, c)
    return _share(a, b, c, greedy)


def units_between(before, after):
    """Return the net units that a node has sent, < 0 if it received; of real loads in float64."""
    if before.dtype.kind == "f":
        return before.astype(np.float64) - after.astype(np.float64)
    return before - after


def _net_flow(a_sent, b_sent):
    """Return the net units from node a to b of a triangle, from the net units that each sent."""
    a_to_b = minimum(maximum(a_sent, 0), maximum(-b_sent, 0))
    return a_to_b - minimum(maximum(-a_sent, 0), maximum(b_sent, 0))


def _flags(mask, like):
    """Return 1 where the mask is true and 0 elsewhere."""
    return mask.astype(like.dtype)


def triangle_flows(loads, rules):
    """Return (after, flows, averaged, (b, c), sent) of the phase of a triangle.

    ``flows`` are the net units 0 to 1, 0 to 2 and 1 to 2, but for ``averaged``, the units 1 to 2
    of A's averaging, which leaves nodes 1 and 2 with b and c; each then ``sent`` net units.
    """
    a, b, c = loads
    averaging, greedy, *_ = rules
    averaged = units_between(a, a)
    if averaging is not None:
        p, q = exchange(b, c)
        averaged = units_between(b, p)
        b, c = p, q
    after = _share(a, b, c, greedy)
    sent = [units_between(*pair) for pair in zip((a, b, c), after, strict=True)]
    flows = [_net_flow(sent[i], sent[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    return after, flows, averaged, (b, c), sent


def count_triangle(loads, rules):
    """Return (after, resident_min, messages, moved, transfers, polled) of a triangle's phase.

    Of each node: its load, the least it had on the way, and the messages it sends and receives. Of
    the triangle: the units moved, the messages with load, and how often C polls again. Messages
    without load at nodes 0, 1, 2: A 3, 3, 4; B 4, 2, 2; C 4, 4, 4.
    """
    averaging, _, polling, _, _ = rules
    after, flows, averaged, (b, c), sent = triangle_flows(loads, rules)
    nothing = spread(0, averaged)
    resident_min, messages = list(loads), [nothing + 4, nothing + 4, nothing + 4]
    transfers = polled = nothing
    if averaging is not None:
        transfers = _flags(averaged != 0, nothing)
        # The report comes from the node that received, else from the right one.
        reports = select(loads[1] < loads[2], transfers, 0)
        messages = [nothing + 3, transfers + reports + 3, transfers - reports + 4]
        resident_min[1:] = minimum(loads[1], b), minimum(loads[2], c)
    elif polling is None:
        messages[1:] = nothing + 2, nothing + 2
    positive = [maximum(units, 0) for units in sent]
    moved = absolute(averaged) + (positive[0] + positive[1] + positive[2])
    between = {}
    for (i, j), flow in zip(((0, 1), (0, 2), (1, 2)), flows, strict=True):
        crossed = _flags(flow != 0, nothing)
        messages[i], messages[j] = messages[i] + crossed, messages[j] + crossed
        transfers = transfers + crossed
        between[i, j] = absolute(flow)
    if polling is not None:
        # A node polls again as long as it has an excess: its first peer, then its second.
        for i, (first, second) in enumerate(((1, 2), (0, 2), (0, 1))):
            once = _flags(sent[i] > 0, nothing)
            twice = _flags(sent[i] > between[min(i, first), max(i, first)], nothing)
            messages[i] = messages[i] + once + twice
            messages[first], messages[second] = messages[first] + once, messages[second] + twice
            polled = polled + once + twice
    resident_min = [minimum(low, load) for low, load in zip(resident_min, after, strict=True)]
    return after, resident_min, messages, moved, transfers, polled


def count_pair(a, b, above):
    """Return (a, b, units, transfers) after ``exchange_odd``; transfers is 1 if any unit moved."""
    x, y, units = exchange_odd(a, b, above)
    if a.dtype.kind == "f":
        units = absolute(units_between(a, x))
    return x, y, units, _flags(units != 0, units)


def odd_limit(is_prism, rules, dtype):
    """Return ``above`` of ``exchange_odd``, in the prism or else in a dimension of the cells."""
    *_, prism, dims = rules
    if dims is None or dtype.kind == "f":
        return None
    never = np.iinfo(dtype).max
    return select(is_prism, never if prism is None else prism, dims).astype(dtype)
