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
def sums_fit(rows, right):
    """Return the first row whose absolute sum with its right-hand side exceeds int64, or -1.

    rows (R, n), right (R,): int64.
    """
    R, n = rows.shape
    for r in range(R):
        largest = 0
        if right[r] < -LARGEST:
            return r
        room = LARGEST - abs(right[r])
        for j in range(n):
            value = rows[r, j]
            if value < -LARGEST:
                return r
            largest = max(largest, abs(value))
        if largest <= room // max(n, 1):
            continue
        for j in range(n):
            if abs(rows[r, j]) > room:
                return r
            room -= abs(rows[r, j])
    return -1


@njit(cache=True, nogil=True)
def all_below(c, A, b, limit):
    """Return whether all absolute sums, of rows with their b and of costs, are below limit.

    c (.., n), A (.., m, n), b (.., m): int64, no sum beyond int64.
    """
    n = c.shape[c.ndim - 1]
    costs = c.reshape(c.size // max(n, 1), n)
    right = b.reshape(b.size)
    rows = A.reshape(right.size, n)
    for r in range(costs.shape[0]):
        total = np.int64(0)
        for j in range(n):
            total += abs(costs[r, j])
        if total >= limit:
            return False
    for r in range(right.size):
        total = abs(right[r])
        for j in range(n):
            total += abs(rows[r, j])
        if total >= limit:
            return False
    return True
