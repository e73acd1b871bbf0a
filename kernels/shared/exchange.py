"""What two neighbours have after an exchange: the one rule of dimension exchange (Wu-Shu Fig. 1).

The higher of two loads sends half of the difference, rounded down, and so keeps an odd unit; real
loads meet midway. Loads are not negative, so that differences of signed ones fit their dtype;
unsigned ones are exchanged without a difference, up to the dtype's largest value.

The functions take registers or numbers inside ``traced`` functions. ``exchange_numbers`` and
``measured_exchange`` are the same for numbers in kernels.
"""

from numba import types

from .tracing import traced
from .vectors import absolute, maximum, minimum, select


def half_towards_zero(difference):
    """Return half of signed differences, rounded towards 0; of real ones, half."""
    if difference.dtype.kind == "f":
        return difference * difference.dtype.type(0.5).item()
    negative = difference >> 8 * difference.dtype.itemsize - 1
    return (difference - negative) >> 1


def exchange(a, b):
    """Return both loads after the exchange."""
    if a.dtype.kind == "f":
        mean = (a + b) * 0.5
        return mean, mean
    if a.dtype.kind == "u":
        # The mean without the carry that a + b may have: common bits and half of the others.
        differing = a ^ b
        low, odd = (a & b) + (differing >> 1), differing & 1
        up = select(a > b, odd, 0)
        return low + up, low + (odd - up)
    sent = half_towards_zero(a - b)
    return a - sent, b + sent


def exchange_and_count(a, b):
    """Return both loads after the exchange, and the units that moved."""
    if a.dtype.kind == "i":
        sent = half_towards_zero(a - b)
        return a - sent, b + sent, absolute(sent)
    after_a, after_b = exchange(a, b)
    return after_a, after_b, maximum(a, after_a) - minimum(a, after_a)


def links(bits, bit):
    """Return both ends (r, s) of all links along a bit of the numbers 0 .. 2**bits - 1."""
    return [(r, r | 1 << bit) for r in range(1 << bits) if not r >> bit & 1]


@traced(returns=lambda a, b: types.UniTuple(a, 2))
def exchange_numbers(a, b):
    """Return two loads after the exchange."""
    return exchange(a, b)


@traced(returns=lambda a, b: types.UniTuple(a, 3))
def measured_exchange(a, b):
    """Return two loads after the exchange, and the units that moved, in the loads' dtype."""
    return exchange_and_count(a, b)


def exchange_by_halves(a, b):
    """Return both loads after the exchange, and the units that moved.

    As ``exchange_and_count``, but halves of real loads are added, which no two loads overflow.
    """
    if a.dtype.kind != "f":
        return exchange_and_count(a, b)
    mean = half_towards_zero(a) + half_towards_zero(b)
    return mean, mean, maximum(a, mean) - minimum(a, mean)
