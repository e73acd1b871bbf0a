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
from .vectors import is_traced, maximum, minimum


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


@traced(returns=types.Tuple([types.int64] * 4 + [types.float64] * 4))
def figures_of_one(before, after, moved, local, size):
    """Return the figures of one network of integers, as numbers.

    They are its largest less its least load before and after, ``moved``, ``local``, and what
    ``ratios`` returns. ``before`` and ``after`` are (total, least, largest), all of int64.
    """
    (total, least, most), (_, least_after, most_after) = before, after
    size = size.astype(np.int64) if is_traced(size) else np.int64(size)
    whole = most - least, most_after - least_after, moved, local
    numbers = *whole, *ratios(total, most, most_after, moved, local, size)
    return numbers if is_traced(moved) else [number.item() for number in numbers]


@traced(returns=types.UniTuple(types.int64, 3))
def total_and_extremes(loads):
    """Return the total, the least and the largest of integers (N,) that fit int64."""

    def join(i, total, least, most):
        load = loads[i].astype(np.int64)
        return total + load, minimum(least, load), maximum(most, load)

    first = loads[0].astype(np.int64)
    return fori(loads.shape[0], join, first, first, first, start=1)
