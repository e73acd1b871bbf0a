"""Dimension exchange (Wu-Shu Fig. 1) of many cubes with figures: trials last.

A tile holds ``W`` trials, a row of lanes a node:

    node 0   trial 0, 1, 2, ..  W-1       so that an exchange is the same instructions on two rows
    node 1   trial 0, 1, 2, ..  W-1       whatever the dimension, and every lane counts for its
     ..                                   own trial: no lanes change places

Up to three dimensions are balanced at a time between the registers of eight rows, together with the
running minimum of each node's load: the units that never left it. A tile stays in cache meanwhile.

Legend: ``K`` tiles, ``N = 2**n`` nodes, ``S`` dimensions in the order balanced, ``B`` trials.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.cubes import balance_and_record, corners
from ..shared.processor import REGISTERS
from ..shared.submasks import next_submask
from ..shared.tracing import cond, either, fori, traced, update
from ..shared.vectors import add, lanes, maximum, minimum, reduce

# Dimensions balanced at a time: each row takes a register for its loads and one for their minima.
DIMENSIONS_A_PASS = 3 if REGISTERS == 32 else 2
# The largest load of 16-bit lanes, and how many such loads add up in 16 bits without a sign.
NARROW, ADDED_AT_ONCE = 2**14 - 1, 4
# Trials side by side in 16-bit lanes are a multiple of this.
NARROW_LANES = lanes(np.int16)
# Rows of ``sums``: of each trial the units that move and that never leave, least and largest load.
MOVED, LOCAL, LEAST, MOST, SUMS = 0, 1, 2, 3, 4


def _add(sums, at, parts):
    """Add registers of loads or units to those of ``sums`` at an index (row, lane).

    As many at a time are added in their own dtype as fit it.
    """
    unsigned = np.dtype(f"u{parts[0].dtype.itemsize}")
    for i in range(0, len(parts), ADDED_AT_ONCE):
        total = reduce(parts[i : i + ADDED_AT_ONCE], add)
        update(sums, at, add, total.view(unsigned).astype(sums.dtype))


@traced("bits")
def _across(tile, resident_min, sums, node, strides, ends, bits):
    """Balance ``bits`` dimensions of a tile (N * W,) between the rows of ``2**bits`` nodes.

    The lowest is ``node``; the neighbour along dimension d is ``strides[d]`` nodes further.
    ``resident_min`` (N * W,) holds the minima. ``ends`` tells whether these dimensions are the
    first, before which the minima are the loads, and the last, after which ``sums`` (SUMS, W)
    receives minima and extremes.
    """
    first, last = ends
    W = sums.shape[1]
    nodes = corners(node, strides[:bits])
    earlier = either(first, tile, resident_min)

    def columns(w):
        places = [other * W + w for other in nodes]
        rows = [tile.load(place) for place in places]
        minima = [earlier.load(place) for place in places]
        rows, minima, units = balance_and_record(rows, minima)
        if units:
            _add(sums, (MOVED, w), units)

        def sum_up():
            _add(sums, (LOCAL, w), minima)
            update(sums, (LEAST, w), minimum, reduce(rows, minimum))
            update(sums, (MOST, w), maximum, reduce(rows, maximum))

        def store_minima():
            for place, least in zip(places, minima, strict=True):
                resident_min.store(place, least)

        for place, load in zip(places, rows, strict=True):
            tile.store(place, load)
        cond(last, sum_up, store_minima)

    fori(W, columns, step=lanes(tile.dtype))


@kernel
def balance(tiles, resident_min, sums, bits, faults, totals):
    """Balance every cube of ``tiles`` (K, N, W) int16, int32 or int64 in place.

    ``W`` fills whole registers. The totals and the units that move fit the dtype of ``sums`` (SUMS,
    W), int32 or int64, no narrower than the tiles'; 16-bit loads are at most ``NARROW``.
    ``resident_min`` (N W,) is workspace of the tiles' dtype. ``bits`` (S,) are the dimensions in
    order, ``faults`` (F, 2) faulty links as (bit, lower node), which exchange nothing. ``totals``
    (4, B) int64 receives the units that move, all dimensions together, those that never leave, and
    the least and the largest load at the end.
    """
    K, N, W = tiles.shape
    S, F = bits.size, faults.shape[0]
    passes = max(1, S if F > 0 else (S + DIMENSIONS_A_PASS - 1) // DIMENSIONS_A_PASS)
    for k in range(K):
        tile = tiles[k].reshape(-1)
        for w in range(W):
            sums[MOVED, w] = sums[LOCAL, w] = sums[MOST, w] = 0
            sums[LEAST, w] = NARROW if tiles.itemsize == 2 else np.iinfo(sums.dtype).max
        for p in range(passes):
            s = S * p // passes
            count = S * (p + 1) // passes - s
            ends = p == 0, p == passes - 1
            first = 1 << bits[s] if count > 0 else 0
            second = 1 << bits[s + 1] if count > 1 else 0
            third = 1 << bits[s + 2] if count > 2 else 0
            # Groups of nodes that exchange, by the lowest: its number has bits of ``others`` alone.
            others = (N - 1) & ~(first | second | third)
            strides = first, second, third
            node = 0
            while True:
                is_faulty = False
                for f in range(F):
                    is_faulty |= (faults[f, 0] == bits[s]) & (faults[f, 1] == node)
                if count == 0 or is_faulty:
                    # The ends of a faulty link, or all nodes without a dimension, are summed alone.
                    for end in range(node, node + first + 1, max(1, first)):
                        _across(tile, resident_min, sums, end, strides, ends, 0)
                elif count == 1:
                    _across(tile, resident_min, sums, node, strides, ends, 1)
                elif count == 2:
                    _across(tile, resident_min, sums, node, strides, ends, 2)
                else:
                    _across(tile, resident_min, sums, node, strides, ends, 3)
                if node == others:
                    break
                node = next_submask(node, others)
        for w in range(min(W, totals.shape[1] - k * W)):
            for which in range(SUMS):
                totals[which, k * W + w] = sums[which, w]
