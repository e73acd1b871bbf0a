"""Loads alone of chains and rings: every node gets its quota, no flow is found (Wu-Shu Fig. 3)."""

import math

import numpy as np
from numba import njit, types
from numba.extending import overload


def _line_total(line):
    """Return the total of a line; of integers in int64, of floats with its rounding made good."""
    return math.fsum(line) if line.dtype.kind == "f" else int(line.sum(dtype=np.int64))


@overload(_line_total)
def _choose_line_total(line):
    if isinstance(line.dtype, types.Float):

        def float_total(line):
            total, errors = 0.0, 0.0
            for load in line:
                value = np.float64(load)
                both = total + value
                taken = both - total
                errors += (total - (both - taken)) + (value - taken)
                total = both
            return total + errors

        return float_total

    def integer_total(line):
        total = np.int64(0)
        for load in line:
            total += np.int64(load)
        return total

    return integer_total


@njit(cache=True, nogil=True)
def share_out(rows, result):
    """Balance networks of one line each, rows (B, k), into ``result``, which may be the same.

    Flows are not needed for that: lines are added up as they lie.
    """
    B, k = rows.shape
    T = rows.dtype.type
    for b in range(B):
        total = _line_total(rows[b])
        if isinstance(total, float):
            result[b] = T(total / k)
        else:
            more = total % k
            # Where there is nothing more, one more may not fit the dtype.
            result[b, :more] = T(total // k + (more > 0))
            result[b, more:] = T(total // k)
