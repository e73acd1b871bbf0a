"""Decimal floats to integers: a row times the least power of ten that makes every value whole.

So programs whose coefficients are written in decimals are solved exactly, in int64.
"""

import numpy as np

from ..shared.compiling import inlined, kernel

EXACT, DIGITS, RANGE = 0, 1, 2
MAX_INT64 = 2**63 - 1
POWERS = 10.0 ** np.arange(23)
TENS = 10 ** np.arange(19)


@inlined
def _decimals(value):
    """Return (numerator, decimals) of a float's shortest decimal; decimals is -1 beyond 15 digits.

    Up to 15 digits only one decimal of its length rounds to the float. The product is then so exact
    that ``rint`` returns the numerator, and the quotient is the float itself.
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
    """Scale ``rows`` (R, W) float64; fill int64 numerators (R, W), decimals (R, W + 1), codes (R,).

    ``decimals[r, :W]`` are those of the row's values, ``decimals[r, W]`` the most of them. The code
    is EXACT where ``rows[r] == numerators[r] / 10**decimals[r, W]`` as shortest decimals; DIGITS
    where a value has more than 15 digits; RANGE where the sum of absolute numerators exceeds int64.
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
        # What the absolute numerators may still add up to.
        remaining = MAX_INT64
        for w in range(W):
            zeros = most - decimals[r, w]
            size = abs(numerators[r, w])
            if size == 0:
                continue
            if zeros > 18 or size > remaining // TENS[zeros]:
                codes[r] = RANGE
                break
            numerators[r, w] *= TENS[zeros]
            remaining -= size * TENS[zeros]
