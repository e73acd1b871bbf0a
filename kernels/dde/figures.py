"""Figures of DDE on integer loads, from the rows that its kernels set (Wu-Shu section 6).

Legend: ``B`` networks, ``S`` axes, ``N`` nodes. For the rows see ``networks.py``.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.figures import ratios
from ..shared.lines import add_units
from ..shared.tracing import each_register, fori, traced
from ..shared.vectors import spread


@traced()
def _figures(rows, B, N, steps, information, whole, real):
    """Set the figures of B networks, a network in each lane; see ``figures``."""
    S = (rows.shape[0] - 6) // 2

    def set_figures(b, count):
        """Set the figures of ``count`` networks from number b on."""
        local, least, most, total, least_before, most_before = (
            rows.load((row, b), count) for row in range(6)
        )
        zero = local - local

        def add_axis(s, moved, rounds):
            """Return units and rounds with those of axis s."""
            units = rows.load((6 + s, b), count)
            return [add_units(moved, units), rounds + rows.load((6 + S + s, b), count)]

        moved, rounds = fori(S, add_axis, zero, zero)
        columns = (
            most_before - least_before, most - least, moved, local,
            zero + 1, spread(steps, zero), rounds, rounds + spread(information, zero),
        )  # fmt: skip
        for row, column in enumerate(columns):
            whole.store((row, b), column)
        for row, column in enumerate(ratios(total, most_before, most, moved, local, N)):
            real.store((row, b), column)

    each_register(B, rows.dtype, set_figures)


@kernel
def figures(rows, N, steps, information, whole, real):
    """Work out the figures of networks of N nodes.

    Parameters
    ----------
    rows : (6 + 2 S, B or more) int64
        As ``networks.balance`` has them, with the total and the extremes before balancing.
    N, steps, information : int
        Nodes, steps by the paper's formula, and steps that exchange load information.
    whole : (8, B) int64
        Receives the differences before and after, units moved, -1 beyond int64, local units, 1
        sweep, ``steps``, rounds, and rounds plus ``information``.
    real : (4, B) float64
        Receives the imbalances before and after, cost and locality.
    """
    _figures(rows, whole.shape[1], np.int64(N), steps, information, whole, real)
