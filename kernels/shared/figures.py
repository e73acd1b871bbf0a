"""The figures of a balancing that follow from totals, extremes and units (Wu-Shu section 6).

They are worked out in float64, each by one division, so that all kernels, and NumPy in
``fastlb/exchange/result.py``, get the same bits:

    imbalance   largest load / mean load - 1
    cost        units moved / total
    locality    units that never left their node / total

Where there is no load at all the imbalance and the cost are 0, and the locality is 1.
"""

import numpy as np
from numba import types

from .tracing import traced
from .vectors import maximum


def ratios(total, largest_before, largest_after, moved, local, size):
    """Return imbalance before and after, cost and locality of registers of int64.

    ``size`` is the number of nodes, an int64 too.
    """
    empty = (total == 0).astype(np.float64)
    units = maximum(total, 1).astype(np.float64)
    mean = units / size.astype(np.float64)
    # Of no load the largest is 0 means, and less 1 it is -1: hence the addition.
    before, after = (
        largest.astype(np.float64) / mean - 1.0 + empty
        for largest in (largest_before, largest_after)
    )
    cost, locality = moved.astype(np.float64) / units, local.astype(np.float64) / units + empty
    return before, after, cost, locality


@traced(returns=types.UniTuple(types.float64, 4))
def ratios_of_one(total, largest_before, largest_after, moved, local, size):
    """Return the same of one network, from integers up to int64."""
    numbers = total, largest_before, largest_after, moved, local, size
    as_int64 = [
        number.astype(np.int64) if hasattr(number, "astype") else np.int64(number)
        for number in numbers
    ]
    return ratios(*as_int64)
