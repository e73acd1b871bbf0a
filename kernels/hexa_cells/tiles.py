"""Many Hyper Hexa-Cell networks side by side, trials last: final loads, and what is counted.

Legend: ``K`` tiles of ``W`` trials side by side, ``N = 3 * 2**d`` nodes, ``B`` trials.

Node ``3 h + i`` is place i of triangle h; the lowest bit of h is the triangle in its prism, the
others are the cell. Prism and dimensions are thus ``d`` stages of one kind, along the bits of h:

                     trial 0   1   2  ..  W-1
        node 0  (h=0, i=0)   |   |   |        |      the triangle of nodes 0, 1, 2
        node 1  (h=0, i=1)   |   |   |        |
        node 2  (h=0, i=2)   |   |   |        |
        node 3  (h=1, i=0)                           stage 0: nodes 0 and 3, 1 and 4, 2 and 5, ..
        ...                                          stage 1: nodes 0 and 6, 1 and 7, ..

So whole registers exchange. A tile stays in the cache while all stages pass over it, two at a time
between four rows. Where sums and extremes of the trials suffice, the last stages store no more.
Loads up to ``NARROW`` are computed in 16 bits, which also hold, without a sign, a triangle's total
and the sum of four loads or four transfers.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.exchange import links
from ..shared.hexa_cell import balance_triangle, count_pair, count_triangle, exchange_odd, odd_limit
from ..shared.tracing import cond, each_register, fori, traced, update
from ..shared.vectors import add, lanes, maximum, minimum, reduce, spread

NARROW, NARROW_LANES = 2**14 - 1, 32
# Rows of ``sums`` (SUMS, W): units moved, units that never left their node, units on the critical
# path, messages counted at both ends, and C's polls again.
MOVED, LOCAL, TIME, ENDS, POLLED, SUMS = 0, 1, 2, 3, 4, 5
# Rows of ``extremes`` (EXTREMES, W): messages of the busiest node, least and largest final load,
# and the most units in one exchange, a row for each of two stages.
BUSIEST, LEAST, LARGEST, LONGEST, EXTREMES = 0, 1, 2, 3, 5


def _add_up(sums, row, w, register):
    """Add a register, read without a sign, to a row of sums, whose dtype may be wider."""
    unsigned = register.view(f"u{register.dtype.itemsize}")
    update(sums, (row, w), add, unsigned.astype(sums.dtype))


@traced()
def _triangles(counted, W, rules):
    """Balance all triangles of a tile; ``counted`` is as in ``_exchange``."""
    tile, resident_min, messages, sums, extremes = counted
    count = lanes(tile.dtype)

    def triangle(first):
        def registers(w):
            nodes = [first + W * i + w for i in range(3)]
            loads = [tile.load(node, count) for node in nodes]
            if sums is None:
                for node, load in zip(nodes, balance_triangle(loads, rules), strict=True):
                    tile.store(node, load)
                return
            *of_nodes, moved, _, polled = count_triangle(loads, rules)
            for rows, parts in zip((tile, resident_min, messages), of_nodes, strict=True):
                for node, part in zip(nodes, parts, strict=True):
                    rows.store(node, part)
            _add_up(sums, MOVED, w, moved)
            _add_up(sums, POLLED, w, polled)
            update(extremes, (LONGEST, w), maximum, moved)

        fori(W, registers, step=count)

    fori(tile.shape[0] // (W * 3), lambda h: triangle(h * (W * 3)))


@traced("stages")
def _exchange(counted, W, first, rules, last, with_loads, stages):
    """Exchange along one or two ``stages``, the first of them along bit ``first`` of triangles.

    ``counted`` : the tile (N W,) and ``workspace``, see ``balance``. ``last`` : whether
    resident_min and messages are added up, not stored. ``with_loads`` : whether the loads are
    stored.
    """
    tile, resident_min, messages, sums, extremes = counted
    count, rows = lanes(tile.dtype), 1 << stages
    run = (W * 3) << first
    limits = [odd_limit((first == 0) & (bit == 0), rules, tile.dtype) for bit in range(stages)]

    def exchange(at, w):
        nodes = [at + run * r for r in range(rows)]
        loads = [tile.load(node, count) for node in nodes]
        if sums is None:
            for bit in range(stages):
                for r, s in links(stages, bit):
                    loads[r], loads[s] = exchange_odd(loads[r], loads[s], limits[bit])[:2]
            for node, load in zip(nodes, loads, strict=True):
                tile.store(node, load)
            return
        lows = [resident_min.load(node, count) for node in nodes]
        ends = [messages.load(node, count).astype(tile.dtype) for node in nodes]
        moved = []
        for bit in range(stages):
            longest = []
            for r, s in links(stages, bit):
                loads[r], loads[s], units, sent = count_pair(loads[r], loads[s], limits[bit])
                for node in (r, s):
                    lows[node] = minimum(lows[node], loads[node])
                    ends[node] = ends[node] + sent
                longest.append(units)
            moved += longest
            update(extremes, (LONGEST + bit, w), maximum, reduce(longest, maximum))
        _add_up(sums, MOVED, w, reduce(moved, add))

        def add_up():
            _add_up(sums, LOCAL, w, reduce(lows, add))
            _add_up(sums, ENDS, w, reduce(ends, add))
            update(extremes, (BUSIEST, w), maximum, reduce(ends, maximum))
            update(extremes, (LEAST, w), minimum, reduce(loads, minimum))
            update(extremes, (LARGEST, w), maximum, reduce(loads, maximum))

        def store(memory, parts):
            for node, part in zip(nodes, parts, strict=True):
                memory.store(node, part)

        def store_counts():
            store(resident_min, lows)
            store(messages, ends)

        cond(last, add_up, store_counts)
        cond(with_loads, lambda: store(tile, loads))

    def block(number):
        base = number * (run << stages)

        def node(row):
            fori(W, lambda w: exchange(base + row * W + w, w), step=count)

        fori(run // W, node)

    fori(tile.shape[0] // (run << stages), block)


@traced()
def _start_counting(sums, extremes):
    """Set all sums and extremes to 0, the least loads to the largest number of their dtype."""
    if sums is None:
        return
    size = lanes(np.int64)

    def start(w):
        zero_sums, zero_extremes = (spread(0, rows.load(w, size)) for rows in (sums, extremes))
        for row in range(SUMS):
            sums.store((row, w), zero_sums)
        for row in range(EXTREMES):
            most = np.iinfo(extremes.dtype).max if row == LEAST else 0
            extremes.store((row, w), zero_extremes + most)

    fori(sums.shape[1], start, step=size)


@traced()
def _end_stages(sums, extremes):
    """Add the longest transfers of two stages to the critical path."""
    if sums is None:
        return
    size = lanes(np.int64)

    def end(w):
        for row in (LONGEST, LONGEST + 1):
            longest = extremes.load((row, w), size)
            _add_up(sums, TIME, w, longest)
            extremes.store((row, w), spread(0, longest))

    fori(sums.shape[1], end, step=size)


@traced()
def _store_counts(sums, extremes, d, loadless_ends, first, out):
    """Store sums and extremes to columns of ``out`` (8, B), from trial ``first`` on.

    ``loadless_ends`` : see ``balance``; the two that each node has in each of the ``d`` stages are
    in neither the messages nor this number.
    """
    if sums is None:
        return

    def store(w, size):
        counts = [sums.load((row, w), size).astype(np.int64) for row in range(SUMS)]
        # Every message has two ends. Those without load, and polls again, are taken off.
        counts[ENDS] = ((counts[ENDS] - loadless_ends) >> 1) - counts[POLLED]
        tops = [extremes.load((row, w), size).astype(np.int64) for row in (BUSIEST, LEAST, LARGEST)]
        tops[BUSIEST] = tops[BUSIEST] + d * 2
        for row, numbers in enumerate(counts + tops):
            out.store((row, first + w), numbers)

    each_register(minimum(sums.shape[1], out.shape[1] - first), np.int64, store)


@kernel
def balance(tiles, workspace, d, loadless_ends, rules, with_loads, out):
    """Balance tiles (K, N, W) in place, and count; the loads are used up unless ``with_loads``.

    Parameters
    ----------
    tiles : int16, int32 or int64, or float64 where nothing is counted
        W is a multiple of a register's lanes. Three loads and 2 fit the dtype, and loads of int16
        are at most ``NARROW``; a total times the ``d + 1`` stages, and 255 N, fit that of the sums.
    workspace : (resident_min, messages, sums, extremes)
        (N W,) of the tiles' dtype; (N W,) uint8; (SUMS, W) of the tiles' dtype, or int32 for int16;
        (EXTREMES, W) of the tiles' dtype. Or four None: then nothing is counted.
    loadless_ends : int
        The messages without load that the nodes of all triangles send and receive.
    rules : see ``shared/hexa_cell.py``
    out : (8, B) int64
        Receives the units moved, those that never left, those on the critical path, the messages
        with load, C's polls again, the messages of the busiest node, the least and largest load.
    """
    W = tiles.shape[2]
    resident_min, messages, sums, extremes = workspace
    for k in range(tiles.shape[0]):
        counted = tiles[k].reshape(-1), resident_min, messages, sums, extremes
        _start_counting(sums, extremes)
        _triangles(counted, W, rules)
        _end_stages(sums, extremes)
        first = 0
        if d & 1:
            _exchange(counted, W, first, rules, d == 1, with_loads | (d > 1), 1)
            _end_stages(sums, extremes)
            first = 1
        while first < d:
            last = first + 2 == d
            _exchange(counted, W, first, rules, last, with_loads | (not last), 2)
            _end_stages(sums, extremes)
            first += 2
        _store_counts(sums, extremes, d, loadless_ends, k * W, out)
