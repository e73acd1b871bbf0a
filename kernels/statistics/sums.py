"""Exact sums of float64 values and of their squares, the same in any order and division.

A finite value is a mantissa of 53 bits times a power of two, its exponent field. Mantissas and
their squares are added up as integers, in words of 32 bits, so that no sum overflows and none is
rounded; ``fastlb/montecarlo/tally.py`` puts the words together as Python's integers:

    mantissa = high 2**h + low        sum of mantissas         low word, high word
    square   = high**2 2**(2 h)       sums of low low, low high, high high, two words each
             + 2 low high 2**h + low**2

Values whose exponents are near, as those of most figures are, share one unit: no value waits for
the one before, 0.35 ns each where each exponent's own sums take 1.8.
"""

import numpy as np

from ..shared.compiling import inlined, kernel

MANTISSA = (1 << 52) - 1
IMPLICIT = 1 << 52
EXPONENTS = 2047
MAGNITUDE = (1 << 63) - 1

# Where far values are halved: 256 products of halves of 27 and 26 bits fit an int64.
HALF = 26
HALF_MASK = (1 << HALF) - 1
STRIP = 256

# Strips are added up in words of 32 bits, at which near values are halved, too.
WORD = 32
WORD_MASK = (1 << WORD) - 1

# Exponents so far apart leave a mantissa of 53 bits in an int64.
NEAR = 10


@kernel
def measure(bits, ends):
    """Return what moments need of values, and set ``ends`` (2,) to the least and the largest.

    ``bits`` (n,), n at most 2**24, are float64 values without -0.0 as they are stored, int64; so
    are ``ends``. Returns the least and largest exponent field, how many values are negative and
    how many zero, and eight words of sums in the unit of the least exponent; the last ten are 0
    where exponents are not finite and near. Subnormals have the field 1 and zeros are left out;
    without any other, the least is above the largest. NaN counts as beyond infinity.

    All in one call: between two, another thread may take the interpreter.
    """
    low = np.int64(MAGNITUDE)
    high = -low
    least = np.int64(EXPONENTS + 1)
    largest = np.int64(0)
    for i in range(bits.size):
        b = bits[i]
        key = b ^ ((b >> 63) & MAGNITUDE)
        low = min(low, key)
        high = max(high, key)
        exponent = np.int64(max(1, (b >> 52) & EXPONENTS))
        zero = b & MAGNITUDE == 0
        least = min(least, np.int64(EXPONENTS + 1) if zero else exponent)
        largest = max(largest, np.int64(0) if zero else exponent)
    ends[0] = low ^ ((low >> 63) & MAGNITUDE)
    ends[1] = high ^ ((high >> 63) & MAGNITUDE)
    near = largest < EXPONENTS and largest - least <= NEAR
    sums = _add_near(bits[: bits.size if near else 0], least)
    return least, largest, *sums


@inlined
def _add_near(bits, least):
    """Add up finite values of exponent fields ``least .. least + NEAR`` and zeros.

    Returns how many are negative and zero, and the words of the sums.
    """
    negative = zero = np.int64(0)
    low_sum = high_sum = low_low = low_high = np.int64(0)
    both_low = both_high = high_low = high_high = np.int64(0)
    for i in range(bits.size):
        b = bits[i]
        exponent = (b >> 52) & EXPONENTS
        mantissa = (b & MANTISSA) | (np.int64(exponent > 0) << 52)
        nothing = np.int64(mantissa == 0)
        mantissa <<= (max(1, exponent) - least) & 63
        sign = b >> 63
        low = mantissa & WORD_MASK
        high = mantissa >> WORD
        low_sum += (low ^ sign) - sign
        high_sum += (high ^ sign) - sign
        square = np.uint64(low) * np.uint64(low)
        low_low += np.int64(square & np.uint64(WORD_MASK))
        low_high += np.int64(square >> np.uint64(WORD))
        both = low * high
        both_low += both & WORD_MASK
        both_high += both >> WORD
        square_high = high * high
        high_low += square_high & WORD_MASK
        high_high += square_high >> WORD
        negative -= sign & (nothing - 1)
        zero += nothing
    return (
        negative, zero,
        low_sum, high_sum, low_low, low_high, both_low, both_high, high_low, high_high,
    )  # fmt: skip


@kernel
def add_far(bits, least, sums, strip):
    """Add finite values to the sums of their exponents; return how many are negative and zero.

    bits (n,) int64, at most 2**30; sums (E, 8) int64, row e for the exponent field ``least + e``:
    low and high words of the signed mantissas, and of the products of their halves: low and low,
    low and high, high and high. strip (E, 4) int64 is room for 256 values.
    """
    negative = 0
    zero = 0
    for start in range(0, bits.size, STRIP):
        for e in range(sums.shape[0]):
            for j in range(4):
                strip[e, j] = 0
        for i in range(start, min(start + STRIP, bits.size)):
            b = bits[i]
            exponent = (b >> 52) & EXPONENTS
            mantissa = b & MANTISSA
            if exponent > 0:
                mantissa |= IMPLICIT
            elif mantissa == 0:
                zero += 1
                continue
            else:
                exponent = 1
            low = mantissa & HALF_MASK
            high = mantissa >> HALF
            e = exponent - least
            strip[e, 1] += low * low
            strip[e, 2] += low * high
            strip[e, 3] += high * high
            if b < 0:
                negative += 1
                mantissa = -mantissa
            strip[e, 0] += mantissa
        for e in range(sums.shape[0]):
            for j in range(4):
                sums[e, 2 * j] += strip[e, j] & WORD_MASK
                sums[e, 2 * j + 1] += strip[e, j] >> WORD
    return negative, zero
