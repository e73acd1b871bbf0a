"""What two neighbours have after one has sent a share of their difference (Wu-Shu Fig. 2).

Of two loads that differ by d the higher sends a share of d to the lower one (the paper's lambda).
Real loads send ``share * d``, with the share a float. Integers send the floor of p * d / q for a
share p / q, exactly. To divide by multiplications and a shift alone, their share is a tuple of
unsigned numbers, as d is, in one of two forms:

    (m, s)              floor is m * d >> s      where m * d fits the numbers' dtype
    (high, low, 126)    floor is m * d >> 126    for all d < 2**63, with m = 2**64 * high + low

m is p * 2**s / q rounded up. This gives the floor of p * d / q: rounding up makes m * q exceed
p * 2**s by an e with 0 <= e < q, so that m * d / 2**s exceeds p * d / q by (e * d / 2**s) / q,
which is less than 1 / q where e * d < 2**s. But p * d / q is a multiple of 1 / q, and the next
integer above it is at least 1 / q away: both have one floor. With d < 2**63 and q <= 2**63, e * d
is below 2**126 whatever e is.
"""

from numba import types

from .tracing import traced
from .vectors import absolute, select, spread
from .wide_products import wide_product

# Bits that a share of three numbers is shifted by.
SHIFT = 126


def floor_of_share(share, d):
    """Return the floor of a share of differences d, which are unsigned, in registers or numbers."""
    if len(share) == 2:
        m, s = share
        return d * m >> s
    high, low, _ = share
    # m * d has 192 bits, of which the lowest 64 do not matter: ``upper`` and ``lower`` hold the
    # others. Where the sum ``lower`` wraps it is less than either part.
    from_low, _ = wide_product(d, low)
    lower = d * high + from_low
    carry = select(lower < from_low, spread(1, d), 0)
    upper = wide_product(d, high)[0] + carry
    return (upper << 128 - SHIFT) | (lower >> SHIFT - 64)


def exchange_share(a, b, share):
    """Return both loads after the exchange, the units sent, and the flow from a to b, signed.

    Loads a and b are signed integers or floats, in registers or numbers; ``share`` as above.
    """
    if a.dtype.kind == "f":
        flow = (a - b) * share
        return a - flow, b + flow, absolute(flow), flow
    d = a - b
    sent = floor_of_share(share, absolute(d).view(f"u{d.dtype.itemsize}")).view(d.dtype)
    flow = select(d < 0, -sent, sent)
    return a - flow, b + flow, sent, flow


@traced(returns=types.boolean)
def two_units_move(share):
    """Tell whether a difference of 2 makes integer loads move: not for a share below 1 / 2."""
    # A 2 in the dtype of the share.
    two = (share[0] ^ share[0]) + 2
    return floor_of_share(share, two) > 0
