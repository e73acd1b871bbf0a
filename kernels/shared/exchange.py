"""What two neighbours have after an exchange: the one rule of dimension exchange (Wu-Shu Fig. 1).

The higher of two loads sends half of the difference, rounded down, and so keeps an odd unit; real
loads (floats) meet midway:

    7, 2 -> 5, 4        2, 7 -> 4, 5        3, 2 -> 3, 2        3.0, 2.0 -> 2.5, 2.5

Loads are not negative, so that the sum of two signed ones fits their dtype without a sign; unsigned
ones are exchanged without a sum, up to the dtype's largest value.

The functions take two registers, or two numbers, of one dtype inside ``traced`` functions.
"""

from .vectors import absolute, maximum, minimum, select


def half_towards_zero(difference):
    """Return half of signed differences, rounded towards 0; of real ones, half."""
    if difference.dtype.kind == "f":
        return difference * difference.dtype.type(0.5).item()
    # A shift by all bits but one leaves the sign: -1 or 0. A shift by one alone rounds down.
    sign = difference >> 8 * difference.dtype.itemsize - 1
    return (difference - sign) >> 1


def exchange(a, b):
    """Return both loads after the exchange."""
    if a.dtype.kind == "f":
        mean = (a + b) * 0.5
        return mean, mean
    if a.dtype.kind == "u":
        # The mean without the carry that a + b may have: common bits and half of the others.
        differing = a ^ b
        mean, odd = (a & b) + (differing >> 1), differing & 1
        odd_of_a = select(a > b, odd, 0)
        return mean + odd_of_a, mean + (odd - odd_of_a)
    # The sum fits without a sign. a receives half of it, rounded up if b - a has a sign.
    unsigned, sign = f"u{a.dtype.itemsize}", 8 * a.dtype.itemsize - 1
    total = (a + b).view(unsigned)
    after = ((total + ((b - a).view(unsigned) >> sign)) >> 1).view(a.dtype)
    return after, total.view(a.dtype) - after


def exchange_and_count(a, b):
    """Return both loads after the exchange, and the units that moved."""
    after_a, after_b = exchange(a, b)
    if a.dtype.kind == "i":
        return after_a, after_b, absolute(a - after_a)
    # The absolute value of a - after_a, which may not be negative in an unsigned dtype.
    return after_a, after_b, maximum(a, after_a) - minimum(a, after_a)


def exchange_by_halves(a, b):
    """Return both loads after the exchange, and the units that moved.

    As ``exchange_and_count``, but real loads are halved before they are added, so that no sum
    passes the largest float.
    """
    if a.dtype.kind != "f":
        return exchange_and_count(a, b)
    mean = half_towards_zero(a) + half_towards_zero(b)
    return mean, mean, maximum(a, mean) - minimum(a, mean)


def links(bits, bit):
    """Return both ends of all links along a bit of ``bits``; of (2, 1) they are (0, 2), (1, 3)."""
    return [(r, r | 1 << bit) for r in range(1 << bits) if not r >> bit & 1]
