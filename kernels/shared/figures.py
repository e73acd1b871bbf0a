"""Imbalance, cost and locality of a balancing, from whole numbers (Wu-Shu section 6).

All kernels, and NumPy in ``fastlb/exchange/result.py``, work them out in float64 by the same
operations in the same order, and so get the same bits:

    imbalance   largest load / mean load - 1
    cost        units moved, once for each link they cross / total load
    locality    units that never left their node / total load

Where the total is 0, the imbalance and the cost are 0, and the locality is 1.
"""

import numpy as np
from numba import types

from .tracing import fori, traced
from .vectors import maximum, minimum


def ratios(total, largest_before, largest_after, moved, local, size):
    """Return (imbalance before, imbalance after, cost, locality), registers of float64.

    All arguments are int64. Registers hold a network in each lane; ``moved`` counts the units that
    cross links, ``local`` those that never left their node, and the number ``size`` the nodes.
    """
    empty = (total == 0).astype(np.float64)
    units = maximum(total, 1).astype(np.float64)
    mean = units / size.astype(np.float64)
    # Without any load the ratio is 0, so that 1 is added to get an imbalance of 0, not -1.
    before, after = (
        largest.astype(np.float64) / mean - 1.0 + empty
        for largest in (largest_before, largest_after)
    )
    cost, locality = moved.astype(np.float64) / units, local.astype(np.float64) / units + empty
    return before, after, cost, locality


@traced(returns=types.UniTuple(types.float64, 4))
def ratios_of_one(total, largest_before, largest_after, moved, local, size):
    """Return what ``ratios`` does, as four numbers, for one network of integers up to int64."""
    numbers = total, largest_before, largest_after, moved, local, size
    as_int64 = [
        number.astype(np.int64) if hasattr(number, "astype") else np.int64(number)
        for number in numbers
    ]
    return ratios(*as_int64)


@traced(returns=types.UniTuple(types.int64, 3))
def total_and_extremes(loads):
    """Return the total, the least and the largest of integers (N,) that fit int64."""

    def join(i, total, least, most):
        load = loads[i].astype(np.int64)
        return total + load, minimum(least, load), maximum(most, load)

    first = loads[0].astype(np.int64)
    return fori(loads.shape[0], join, first, first, first, start=1)
