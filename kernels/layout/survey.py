"""One pass over loads: are they legal, and what are total, least and largest of each row."""

import numpy as np
from numba import njit, types
from numba.extending import overload

LEGAL = 0
BAD_VALUE = 1
TOTAL_TOO_LARGE = 2

LARGEST_TOTAL = np.int64(2**63 - 1)
LARGEST_FLOAT = np.finfo(np.float64).max


def _row(values):
    """Return (code, total, smallest, largest).

    The last three count only if the code is LEGAL; for floats not the total alone if it is
    TOTAL_TOO_LARGE.
    """
    if values.dtype.kind == "f":
        return _float_row(values)
    return _integer_row(values)


@overload(_row)
def _choose_row(values):
    if isinstance(values.dtype, types.Float):
        return lambda values: _float_row(values)
    return lambda values: _integer_row(values)


@njit(cache=True, nogil=True)
def _integer_row(values):
    smallest = values[0]
    largest = values[0]
    for i in range(values.size):
        smallest = min(smallest, values[i])
        largest = max(largest, values[i])
    if smallest < 0:
        return BAD_VALUE, np.int64(0), np.int64(0), np.int64(0)
    # Compared as unsigned: a uint64 load may lie beyond int64.
    if np.uint64(largest) > np.uint64(LARGEST_TOTAL):
        return TOTAL_TOO_LARGE, np.int64(0), np.int64(0), np.int64(0)
    low = np.int64(smallest)
    high = np.int64(largest)
    total = np.int64(0)
    if high <= LARGEST_TOTAL // values.size:
        for i in range(values.size):
            total += np.int64(values[i])
        return LEGAL, total, low, high
    for i in range(values.size):
        value = np.int64(values[i])
        if value > LARGEST_TOTAL - total:
            return TOTAL_TOO_LARGE, np.int64(0), low, high
        total += value
    return LEGAL, total, low, high


@njit(cache=True, nogil=True)
def _float_row(values):
    smallest = np.float64(values[0])
    largest = np.float64(values[0])
    code = LEGAL
    total = 0.0
    for i in range(values.size):
        value = np.float64(values[i])
        if not 0.0 <= value < np.inf:
            return BAD_VALUE, 0.0, smallest, largest
        if value > LARGEST_FLOAT - total:
            code = TOTAL_TOO_LARGE
            total = 0.0
        total += value
        smallest = min(smallest, value)
        largest = max(largest, value)
    return code, total, smallest, largest


@njit(cache=True, nogil=True)
def survey(rows):
    """Return (code, row, totals, smallest, largest) of rows (B, N).

    The code is that of the worst row, and ``row`` the first such: BAD_VALUE (negative, NaN or
    infinite) before TOTAL_TOO_LARGE (beyond int64 or float64) before LEGAL. The arrays (B,), int64
    or float64, count only if it is LEGAL.
    """
    B = rows.shape[0]
    zero = _row(np.zeros(1, dtype=rows.dtype))[1]
    totals = np.full(B, zero)
    smallest = np.full(B, zero)
    largest = np.full(B, zero)
    worst = LEGAL
    where = 0
    for b in range(B):
        code, totals[b], smallest[b], largest[b] = _row(rows[b])
        if code != LEGAL and (worst == LEGAL or code < worst):
            worst = code
            where = b
    return worst, where, totals, smallest, largest


@njit(cache=True, nogil=True)
def count_outside(values, top):
    """Return how many of the values (V,) are below 0, above ``top``, or NaN."""
    count = 0
    for i in range(values.size):
        # Negated, so that NaN counts; no early exit, so that the loop runs in vectors.
        count += not (values[i] >= 0 and values[i] <= top)
    return count
