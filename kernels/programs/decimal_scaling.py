"""Decimal floats to integers: a row times the least power of ten that makes every value whole."""

import numpy as np

from ..shared.compiling import inlined, kernel

EXACT, DIGITS, RANGE = 0, 1, 2
MAX_INT64 = 2**63 - 1
POWERS = 10.0 ** np.arange(23)
TENS = 10 ** np.arange(19)


@inlined
def _decimals(value):
    """Return (numerator, decimals) of a float's shortest decimal, or decimals -1 beyond 15 digits.

    Up to 15 digits a decimal is the only one of its length that rounds to the float, and
    both the product and the quotient are near enough for ``rint`` and exact equality.
    """
    numerator, decimals = np.int64(0), -1
    for k in range(POWERS.size):
        shifted = value * POWERS[k]
        if abs(shifted) >= 1e15:
            break
        whole = np.rint(shifted)
        if whole / POWERS[k] == value:
            numerator, decimals = np.int64(whole), k
            break
    return numerator, decimals


@kernel
def scale(rows, numerators, decimals, codes):
    """Fill numerators (R, W), decimals (R, W + 1) and codes (R,), int64, for float64 rows (R, W).

    ``rows[r] == numerators[r] / 10**decimals[r, W]`` as shortest decimals where the code is EXACT;
    DIGITS: a value has more than 15 digits; RANGE: the numerators' absolute sum exceeds int64.
    The first W decimals of a row are those of its values.
    """
    R, W = rows.shape
    for r in range(R):
        codes[r] = EXACT
        most = 0
        for w in range(W):
            numerators[r, w], decimals[r, w] = _decimals(rows[r, w])
            if decimals[r, w] < 0:
                codes[r] = DIGITS
            most = max(most, decimals[r, w])
        decimals[r, W] = most
        if codes[r] == DIGITS:
            continue
        remaining = MAX_INT64
        for w in range(W):
            more = most - decimals[r, w]
            size = abs(numerators[r, w])
            if size == 0:
                continue
            if more > 18 or size > remaining // TENS[more]:
                codes[r] = RANGE
                break
            numerators[r, w] *= TENS[more]
            remaining -= size * TENS[more]


@kernel
def extremes(values):
    """Return the least and the largest of flat int64 values, and of 0."""
    least = np.int64(0)
    largest = np.int64(0)
    for i in range(values.size):
        least = min(least, values[i])
        largest = max(largest, values[i])
    return least, largest
