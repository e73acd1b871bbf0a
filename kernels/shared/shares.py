"""What two neighbours have after one has sent a share of their difference (Wu-Shu Fig. 2).

A pair of loads that differ by d sends the share of d from the higher to the lower one: real loads
the share, a float; integers its floor, exactly. The share p / q of integers comes as numbers of
which the floor takes multiplications and a shift:

    (m, s)              m * d >> s      where m * d fits the numbers' dtype
    (high, low, 126)    m * d >> 126    for all d < 2**63, with m = 2**64 * high + low

m is p * 2**s / q rounded up. This gives the floor of p * d / q: rounding up makes m * q exceed
p * 2**s by an e with 0 <= e < q, so that m * d / 2**s exceeds p * d / q by (e * d / 2**s) / q,
which is less than 1 / q where e * d < 2**s. But p * d / q is a multiple of 1 / q, and the next
integer above it is at least 1 / q away: both have one floor. With d < 2**63 and q <= 2**63, e * d
is below 2**126 whatever e is.
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
    # Four products of halves; none of the sums wraps.
    half, b = 2**32 - 1, a._match(b)
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
    # m * d without its lower 64 bits, in two halves; where the lower half wraps it is the less.
    from_low = high_product(d, low)
    lower = d * high + from_low
    carry = select(lower < from_low, spread(1, d), 0)
    upper = high_product(d, high) + carry
    return (upper << 128 - SHIFT) | (lower >> SHIFT - 64)


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
    two = (share[0] ^ share[0]) + 2
    return floor_of_share(share, two) > 0
