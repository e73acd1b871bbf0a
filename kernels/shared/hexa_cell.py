"""The rules of the Hyper Hexa-Cell network for pairs and triangles (Hexa-Cell 2.1-2.3).

The functions take registers or numbers inside ``traced`` functions. What they all get is

    rules = averaging, greedy, polling, prism, dims

Of these None stands for "no", so that a kernel is compiled for the rules in use alone:

    averaging   in Algorithm A left and right average first
    greedy      an excess goes to two takers in address order, not unit by unit to the lighter
    polling     in Algorithm C nodes with an excess poll their peers
    prism, dims the largest odd difference in the prism, and in the cells' dimensions, of which the
                smaller half is sent; None where it always is

The algorithms differ in who tells whom what, which the messages count. The loads of B are those of
A without averaging: A's coordinator, giving its excess or collecting the others', does just what
B's orders say. Those of C are the greedy ones of B.
"""

import numpy as np

from .exchange import exchange, exchange_and_count
from .vectors import absolute, maximum, minimum, select


def exchange_odd(a, b, above):
    """Return both loads after an exchange, and the units, in which odd differences may be sent.

    The larger half of an odd difference crosses if the difference is more than ``above``, never
    if that is None. Real loads meet midway.
    """
    if above is None or a.dtype.kind == "f":
        return exchange_and_count(a, b)
    difference = a - b
    negative = difference >> 8 * difference.dtype.itemsize - 1
    # Half of the difference is rounded towards 0, or with the other sign away from it.
    rounding = negative ^ -(absolute(difference) > above).astype(difference.dtype)
    sent = (difference - rounding) >> 1
    return a - sent, b + sent, absolute(sent)


def _average(a, b, c):
    """Return ``(total + 2) // 3``; of real loads the mean."""
    if a.dtype.kind == "f":
        wide = [load.astype(np.float64) for load in (a, b, c)]
        mean = ((wide[0] + wide[1] + wide[2]) / 3.0).astype(a.dtype)
        # Between the loads also where rounding says otherwise, so that equal loads stay.
        return minimum(maximum(mean, minimum(minimum(a, b), c)), maximum(maximum(a, b), c))
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    total = (a + b + c + 2).view(unsigned)
    if unsigned.itemsize < 8:
        return (total // 3).view(a.dtype)
    # 2**32 and 2**16 leave 1 modulo 3: three 32-bit products, as registers have no 64-bit division.
    high, low = total >> 32, total & 0xFFFFFFFF
    rest = high + low
    middle = rest >> 16
    rest = middle + (rest & 0xFFFF)
    third = high * 0x55555555 + middle * 0x5555 + ((rest * 0xAAAAAAAB) >> 33)
    return third.view(a.dtype)


def _share(a, b, c, greedy):
    """Return a triangle's loads after those above the average have filled those below."""
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
    # Unit by unit to the lighter of two takers, who end with total - mean between them: the
    # lower address has half of that rounded up, unless it needs or has less or more.
    both = total - mean
    first = maximum(x, minimum(x + excess, (both + 1) >> 1))
    last = maximum(z, minimum(z + excess, both >> 1))
    return first, total - first - last, last


def balance_triangle(loads, rules):
    """Return the three loads of a triangle after its phase."""
    a, b, c = loads
    averaging, greedy, *_ = rules
    if averaging is not None:
        b, c = exchange(b, c)
    return _share(a, b, c, greedy)


def units_between(before, after):
    """Return the units that nodes have sent, with a sign; of real loads in float64."""
    if before.dtype.kind == "f":
        return before.astype(np.float64) - after.astype(np.float64)
    return before - after


def _net_flow(sent, received):
    """Return the net units from one node to another, from what each sent in all."""
    forth = minimum(maximum(sent, 0), maximum(-received, 0))
    return forth - minimum(maximum(-sent, 0), maximum(received, 0))


def _flags(mask, like):
    """Return 1 where the mask is true and 0 elsewhere."""
    return mask.astype(like.dtype)


def triangle_flows(loads, rules):
    """Return a triangle's loads, net units 0 to 1, 0 to 2 and 1 to 2, and those averaged."""
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
    """Return the loads of a triangle after its phase, and what is counted.

    That is the least that each node had on the way, the messages that each sends and receives, the
    units moved, the messages with load, and how often C polls again.
    """
    averaging, _, polling, _, _ = rules
    after, flows, averaged, (b, c), sent = triangle_flows(loads, rules)
    nothing = averaged - averaged
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
    """Return both loads after an exchange, the units that moved, and 1 where some did."""
    x, y, units = exchange_odd(a, b, above)
    if a.dtype.kind == "f":
        units = absolute(units_between(a, x))
    return x, y, units, _flags(units != 0, units)


def odd_limit(is_prism, rules, dtype):
    """Return what ``exchange_odd`` takes as ``above``, in the prism or in a cells' dimension."""
    *_, prism, dims = rules
    if dims is None or dtype.kind == "f":
        return None
    never = np.iinfo(dtype).max
    return select(is_prism, never if prism is None else prism, dims).astype(dtype)
