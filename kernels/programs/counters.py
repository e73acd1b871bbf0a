"""The paper's sequential search: every sequence in turn, its cost, then its rows (More-Wu 3-4)."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _sums(coefficients, out):
    """Fill out with the sums over all patterns of the coefficients, the last one the lowest bit."""
    out[0] = 0
    n = coefficients.size
    for bit in range(n):
        value = coefficients[n - 1 - bit]
        half = 1 << bit
        low = out[:half]
        high = out[half : 2 * half]
        for i in range(half):
            high[i] = low[i] + value


@njit(cache=True, nogil=True)
def count_tests(c, A, b, strict):
    """Return (argmin, abandoned, violated, feasible, rows), each (B,) int64.

    c (B, n), A (B, m, n), b (B, m): int64. A sequence is abandoned when its cost reaches the
    incumbent, or only when it exceeds it where ``strict``. argmin is -1 if none is feasible.
    A sequence's sums are one of its upper half plus one of its lower half, read from tables.
    """
    B, m, n = A.shape
    lower = n // 2
    upper = n - lower
    low_mask = (1 << lower) - 1
    found = np.zeros((5, B), dtype=np.int64)
    cost_high = np.empty(1 << upper, dtype=np.int64)
    cost_low = np.empty(1 << lower, dtype=np.int64)
    row_high = np.empty((m, 1 << upper), dtype=np.int64)
    row_low = np.empty((m, 1 << lower), dtype=np.int64)
    for p in range(B):
        _sums(c[p, :upper], cost_high)
        _sums(c[p, upper:], cost_low)
        for i in range(m):
            _sums(A[p, i, :upper], row_high[i])
            _sums(A[p, i, upper:], row_low[i])
        best = 0
        argmin = -1
        abandoned = 0
        violated = 0
        feasible = 0
        rows = 0
        for x in range(1 << n):
            high = x >> lower
            low = x & low_mask
            cost = cost_high[high] + cost_low[low]
            if argmin >= 0 and (cost > best or (cost == best and not strict)):
                abandoned += 1
                continue
            row = 0
            while row < m and row_high[row, high] + row_low[row, low] >= b[p, row]:
                row += 1
            if row < m:
                rows += row + 1
                violated += 1
                continue
            rows += m
            feasible += 1
            if argmin < 0 or cost < best:
                best = cost
                argmin = x
        found[0, p] = argmin
        found[1, p] = abandoned
        found[2, p] = violated
        found[3, p] = feasible
        found[4, p] = rows
    return found
