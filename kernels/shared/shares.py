"""What two neighbours have after one has sent a share of their difference (Wu-Shu Fig. 2).

A pair of loads that differ by d sends the share of d from the higher to the lower one: of integers
the floor of it, exactly. The share of integers comes as numbers of which the floor takes
multiplications and shifts alone:

    (m, s)         ``m * d >> s``, where ``m * d`` fits the numbers' dtype;
    (high, low)    ``m * d >> 126`` with ``m = 2**64 * high + low``, as a tuple of three whose last
                   is 126: for all d below 2**63.

Why that is the floor of ``p * d / q``: m is ``p * 2**s / q`` rounded up, so ``m * q`` exceeds
``p * 2**s`` by some e with ``0 <= e < q``, and ``m * d / 2**s`` exceeds ``p * d / q`` by
``(e * d / 2**s) / q``. That is less than ``1 / q`` where ``e * d < 2**s``. As ``p * d / q`` is a
multiple of ``1 / q``, no integer lies above it and at or below the larger value. For q and d up to
2**63 any e will do with s = 126.

The share of real loads comes as one float.
"""

import numpy as np
from llvmlite import ir
from numba import types

from .tracing import traced
from .vectors import Vector, absolute, select, spread

SHIFT = 126


def high_product(a, b):
    """Return the upper 64 bits of the product of two uint64."""
    if not isinstance(a, Vector):
        exact = np.asarray(a).astype(object) * np.asarray(b).astype(object)
        return np.asarray(exact >> 64).astype(np.uint64)[()]
    if not a.size:
        wide = ir.IntType(128)
        factors = (a.builder.zext(factor.value, wide) for factor in (a, b))
        product = a.builder.lshr(a.builder.mul(*factors), wide(64))
        return Vector(a.builder, a.builder.trunc(product, ir.IntType(64)), a.dtype)
    half = 2**32 - 1
    b = a._match(b)
    low = (a & half) * (b & half) >> 32
    first = (a >> 32) * (b & half) + low
    second = (a & half) * (b >> 32) + (first & half)
    return (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32)


def floor_of_share(share, d):
    """Return the floor of a share of differences d, which are unsigned."""
    if len(share) == 2:
        m, s = share
        return d * m >> s
    high, low, _ = share
    # (2**64 * high + low) * d >> 64, whose carry is seen where the sum has wrapped.
    carried = high_product(d, low)
    lower = d * high + carried
    carry = select(lower < carried, spread(1, d), 0)
    return (high_product(d, high) + carry << 128 - SHIFT) | (lower >> SHIFT - 64)


def exchange_share(a, b, share):
    """Return both loads after the exchange, what is sent, and the net flow from a to b."""
    if a.dtype.kind == "f":
        flow = (a - b) * share
        return a - flow, b + flow, absolute(flow), flow
    d = a - b
    sent = floor_of_share(share, absolute(d).view(f"u{d.dtype.itemsize}")).view(d.dtype)
    flow = select(d < 0, -sent, sent)
    return a - flow, b + flow, sent, flow


@traced(returns=types.boolean)
def two_units_move(share):
    """Tell whether a difference of 2 makes integer loads move."""
    if isinstance(share[0], Vector):
        two = share[0].constant(2)
    else:
        two = share[0].dtype.type(2)
    return floor_of_share(share, two) > 0
