"""Decimal floats to integers: a row times the least power of ten that makes every value whole."""

import numpy as np
from numba import njit

EXACT, DIGITS, RANGE = 0, 1, 2
LARGEST = 2**63 - 1


@njit(cache=True, nogil=True)
def _decimals(value, powers):
    """Return (numerator, decimals) of a float's shortest decimal, or decimals -1 beyond 15 digits.

    Up to 15 digits a decimal is the only one of its length that rounds to the float, and
    both the product and the quotient are near enough for ``rint`` and exact equality.
    """
    for k in range(powers.size):
        shifted = value * powers[k]
        if abs(shifted) >= 1e15:
            break
        whole = np.rint(shifted)
        if whole / powers[k] == value:
            return np.int64(whole), k
    return np.int64(0), -1


@njit(cache=True, nogil=True)
def scale(rows):
    """Return (numerators (R, W) int64, decimals (R,), code (R,)) of float64 rows (R, W).

    ``rows[r] == numerators[r] / 10**decimals[r]`` as shortest decimals where the code is EXACT;
    DIGITS: a value has more than 15 digits; RANGE: the numerators' absolute sum exceeds int64.
    """
    R, W = rows.shape
    powers = 10.0 ** np.arange(23)
    tens = np.array([10**k for k in range(19)])
    numerators = np.zeros((R, W), dtype=np.int64)
    decimals = np.zeros(R, dtype=np.int64)
    code = np.zeros(R, dtype=np.int64)
    own = np.zeros(W, dtype=np.int64)
    for r in range(R):
        most = 0
        for w in range(W):
            numerators[r, w], own[w] = _decimals(rows[r, w], powers)
            if own[w] < 0:
                code[r] = DIGITS
            most = max(most, own[w])
        decimals[r] = most
        if code[r] == DIGITS:
            continue
        room = LARGEST
        for w in range(W):
            more = most - own[w]
            size = abs(numerators[r, w])
            if size == 0:
                continue
            if more > 18 or size > room // tens[more]:
                code[r] = RANGE
                break
            numerators[r, w] *= tens[more]
            room -= size * tens[more]
    return numerators, decimals, code


@njit(cache=True, nogil=True)
def _largest(values):
    """Return a whole number that no absolute value of a flat array exceeds."""
    smallest = np.int64(0)
    largest = np.int64(0)
    for i in range(values.size):
        smallest = min(smallest, values[i])
        largest = max(largest, values[i])
    if smallest < -LARGEST:
        return LARGEST
    return max(largest, np.int64(-smallest))


@njit(cache=True, nogil=True)
def _first_beyond(rows, right):
    """Return the first row whose absolute sum with its right-hand side exceeds int64, or -1."""
    R, n = rows.shape
    for r in range(R):
        if right[r] < -LARGEST:
            return r
        room = LARGEST - abs(right[r])
        for j in range(n):
            if rows[r, j] < -LARGEST or abs(rows[r, j]) > room:
                return r
            room -= abs(rows[r, j])
    return -1


@njit(cache=True, nogil=True)
def survey(c, A, b):
    """Return (bound of all absolute sums, first bad row of costs, first bad row of A), int64.

    c (B, n), A (B, m, n), b (B, m): int64. A sum is that of a row with its b, or of costs; bad is
    one beyond int64, and -1 stands for none. The bound is LARGEST where it tells nothing.
    """
    n = c.shape[1]
    rows = A.reshape(b.size, n)
    right = b.reshape(b.size)
    highest = max(_largest(c.reshape(c.size)), _largest(A.reshape(A.size)))
    most = _largest(right)
    if highest <= (LARGEST - most) // max(n, 1):
        return n * highest + most, -1, -1
    return (
        LARGEST,
        _first_beyond(c, np.zeros(c.shape[0], dtype=np.int64)),
        _first_beyond(rows, right),
    )
