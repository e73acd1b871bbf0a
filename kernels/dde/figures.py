"""The figures of DDE on integer loads, from the rows of figures that its kernels set.

Legend: ``B`` networks, ``S`` axes.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.figures import ratios
from ..shared.lines import add_units
from ..shared.tracing import fori, traced
from ..shared.vectors import lanes, spread


@traced()
def _figures(rows, B, N, steps, information, whole, real):
    S = (rows.shape[0] - 6) // 2

    def networks(b, count):
        local, least, most, total, first_least, first_most = (
            rows.load((row, b), count) for row in range(6)
        )
        zero = local - local

        def add_axis(s, moved, rounds):
            units = rows.load((6 + s, b), count)
            return [add_units(moved, units), rounds + rows.load((6 + S + s, b), count)]

        moved, rounds = fori(S, add_axis, zero, zero)
        columns = (
            first_most - first_least, most - least, moved, local,
            zero + 1, spread(steps, zero), rounds, rounds + spread(information, zero),
        )  # fmt: skip
        for row, column in enumerate(columns):
            whole.store((row, b), column)
        for row, column in enumerate(ratios(total, first_most, most, moved, local, N)):
            real.store((row, b), column)

    size = lanes(rows.dtype)
    together = B - B % size
    fori(together, lambda b: networks(b, size), step=size)
    fori(B, lambda b: networks(b, 1), start=together)


@kernel
def figures(rows, N, steps, information, whole, real):
    """Work out the figures of networks of N nodes.

    ``rows`` : (6 + 2 S, B or more) int64, see ``networks.py``, the total and extremes before among
    them. ``whole`` (8, B) int64 receives the differences before and after, units moved, -1 beyond
    int64, and local, 1 sweep, ``steps``, rounds, and rounds with those of ``information``;
    ``real`` (4, B) the imbalances before and after, cost and locality.
    """
    _figures(rows, whole.shape[1], np.int64(N), steps, information, whole, real)
