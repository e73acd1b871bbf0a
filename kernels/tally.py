"""Exact sums of float64 columns and counts of their values, the same in any order and division."""

from numba import njit

MANTISSA = (1 << 52) - 1
IMPLICIT = 1 << 52
EXPONENTS = 2047
MAGNITUDE = (1 << 63) - 1

# Mantissas are added in limbs of 18 bits: 2**24 sums of their products fit an int64.
LIMB = 18
LIMB_MASK = (1 << LIMB) - 1


@njit(cache=True, nogil=True)
def exponents(bits):
    """Return the least and largest exponent field (1 for subnormals), zeros left out.

    bits (n,) int64: float64 values as they are stored. Without any, the least is above the
    largest.
    """
    least = EXPONENTS + 1
    largest = 0
    for i in range(bits.size):
        if bits[i] & MAGNITUDE == 0:
            continue
        exponent = max(1, (bits[i] >> 52) & EXPONENTS)
        least = min(least, exponent)
        largest = max(largest, exponent)
    return least, largest


@njit(cache=True, nogil=True)
def add(bits, least, sums):
    """Add finite values to the sums of their exponents, and return how many are negative and zero.

    bits (n,) int64, at most 2**24; sums (E, 8) int64, row e for the exponent field ``least + e``:
    the limbs of the signed mantissas, lowest first, and the five of their squares.
    """
    negative = 0
    zero = 0
    for i in range(bits.size):
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
        low = mantissa & LIMB_MASK
        middle = (mantissa >> LIMB) & LIMB_MASK
        high = mantissa >> (2 * LIMB)
        row = sums[exponent - least]
        row[3] += low * low
        row[4] += 2 * low * middle
        row[5] += 2 * low * high + middle * middle
        row[6] += 2 * middle * high
        row[7] += high * high
        if b < 0:
            negative += 1
            low, middle, high = -low, -middle, -high
        row[0] += low
        row[1] += middle
        row[2] += high
    return negative, zero


@njit(cache=True, nogil=True)
def count(keys, weights, table, counts, used, limit):
    """Count keys in a hash table; return how many were taken and how many slots are used.

    keys (n,) int64; weights (n,) int64, or (1,) for all of them; table, counts (2**k,) int64, a
    slot is free where its count is 0. Stops before the key that would take the slot ``limit + 1``.
    """
    mask = table.size - 1
    for i in range(keys.size):
        key = keys[i]
        # The factor is Fibonacci hashing's; the product of 31 and 32 bits does not overflow.
        slot = ((((key ^ (key >> 32)) & 0x7FFFFFFF) * 0x9E3779B1) >> 20) & mask
        while counts[slot] > 0 and table[slot] != key:
            slot = (slot + 1) & mask
        if counts[slot] == 0:
            if used == limit:
                return i, used
            used += 1
            table[slot] = key
        counts[slot] += weights[i if weights.size > 1 else 0]
    return keys.size, used
