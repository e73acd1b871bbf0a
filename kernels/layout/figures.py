"""Totals and extremes of trials that lie side by side in tiles, and the figures that follow.

Legend: ``K`` tiles of ``W`` trials side by side, ``N`` nodes, ``B`` trials, ``K W >= B``. Trial
``k W + w`` is lane w of tile k. ``W`` is a multiple of ``LANES``.

        trial    0   1   2  ..  W-1
        node 0   |   |   |       |
        node 1   v   v   v       v       a tile: one row a node
         ..
        node N-1

``survey`` walks down the nodes with the sums and extremes of some lanes in registers.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.figures import ratios
from ..shared.tracing import each_register, fori, traced
from ..shared.vectors import maximum, minimum, spread
from ..shared.views import flat

# Trials that are surveyed at a time. As many as fill most registers take 0.6 of the time.
LANES = 16
# By the bytes of a load, the dtype in which fewer than 2**15 loads are added up.
SUMMED_AS = {2: np.int32, 4: np.int64, 8: np.int64}


@traced()
def _survey_tile(tile, W, first, out):
    """Set columns of ``out`` from ``first`` on to total, least and largest of each lane."""

    def survey_lanes(w):
        def add_node(node, total, least, largest):
            loads = tile.load(node * W + w, LANES)
            total = total + loads.astype(total.dtype)
            return total, minimum(loads, least), maximum(loads, largest)

        start = tile.load(w, LANES)
        zeros = spread(0, start.astype(SUMMED_AS[tile.itemsize]))
        results = fori(tile.shape[0] // W, add_node, zeros, start, start)
        for figure, result in enumerate(results):
            out.store((figure, first + w), result)

    fori(W, survey_lanes, step=LANES)


@kernel
def survey(tiles, out):
    """Set ``out`` (3, K W) int64 to the total, the least and the largest load of each lane.

    Tiles are int16, int32 or int64, ``N`` below ``2**15``; the totals fit int64. Return the largest
    total and the largest load of all lanes.
    """
    W = tiles.shape[2]
    for k in range(tiles.shape[0]):
        _survey_tile(tiles[k].reshape(-1), W, k * W, out)
    largest_total = largest_load = np.int64(0)
    for b in range(out.shape[1]):
        largest_total = max(largest_total, out[0, b])
        largest_load = max(largest_load, out[2, b])
    return largest_total, largest_load


@traced()
def _figures(rows, size, first, whole, real):
    """Do as ``figures``; ``rows`` are totals, extremes and units, (B,) each, ``size`` is N."""
    total, least, largest, least_after, largest_after, moved, local = rows

    def trials(b, count):
        def load(row):
            return row.load(b, count)

        highest, highest_after = load(largest), load(largest_after)
        differences = highest - load(least), highest_after - load(least_after)
        units = load(moved), load(local)
        for row, result in enumerate((*differences, *units)):
            whole.store((row, first + b), result)
        for row, result in enumerate(ratios(load(total), highest, highest_after, *units, size)):
            real.store((row, first + b), result)

    each_register(moved.shape[0], np.float64, trials)


@kernel
def figures(before, after, moved, local, size, first, whole, real):
    """Work out the figures of trials that follow from totals, extremes and units.

    ``before`` : total, least and largest load, in the first three of its rows (.., B); ``after`` :
    least and largest, (2, B); ``moved``, ``local`` (B,), the units that moved and those that never
    left; all int64. ``size`` : nodes. From column ``first`` on ``whole`` (4, ..) int64 receives the
    differences before and after, moved and local, ``real`` (4, ..) float64 the imbalances before
    and after, cost and locality; see ``shared/figures.py``.
    """
    rows = (
        flat(before[0]), flat(before[1]), flat(before[2]), flat(after[0]), flat(after[1]),
        flat(moved), flat(local),
    )  # fmt: skip
    _figures(rows, np.int64(size), first, whole, real)
