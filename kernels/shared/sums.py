"""Sums over all subsets of a row's coefficients, as sums of two table entries.

A pattern of n bits is a subset of n coefficients: bit n - 1 - j stands for coefficient j. One table
holds the sums of the upper bits' patterns, the other those of the lower n // 2 bits:

    pattern   0b10_01    sum = tables[0, row, 0b10] + tables[1, row, 0b01]
"""

from numba import types

from .compiling import inlined
from .tracing import traced


@inlined
def tabulate_subset_sums(rows, p, tables):
    """Fill tables (2, R, 2**(n - n // 2)) with the subset sums of the rows (R, n) of ``rows[p]``.

    Each coefficient doubles the part of its table that is filled.
    """
    _, R, n = rows.shape
    lower = n // 2
    for half in range(2):
        bits = lower if half else n - lower
        last = n - 1 if half else n - 1 - lower
        for r in range(R):
            tables[half, r, 0] = 0
            for bit in range(bits):
                value = rows[p, r, last - bit]
                filled = 1 << bit
                for i in range(filled):
                    tables[half, r, filled + i] = tables[half, r, i] + value


def sum_of_subset(tables, row, pattern, lower):
    """Return the sum of the coefficients of a row in a pattern, which has ``lower`` lower bits."""
    return tables[0, row, pattern >> lower] + tables[1, row, pattern & ((1 << lower) - 1)]


# The same for kernels.
subset_sum = traced(returns=types.int64)(sum_of_subset)
