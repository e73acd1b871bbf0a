"""Many Hyper Hexa-Cell networks side by side, trials last: final loads, and what is counted.

Legend: ``K`` tiles of ``W`` trials side by side, ``N = 3 * 2**d`` nodes, ``B`` trials.

A node is ``3 h + i``: place i of triangle h, whose lowest bit is the triangle of its prism and the
others its cell. Prism and dimensions are thus ``d`` stages of one kind, along the bits of h:

                     trial 0   1   2  ..  W-1
        node 0  (h=0, i=0)   |   |   |        |      the triangle of nodes 0, 1, 2
        node 1  (h=0, i=1)   |   |   |        |
        node 2  (h=0, i=2)   |   |   |        |
        node 3  (h=1, i=0)                           stage 0: nodes 0 and 3, 1 and 4, 2 and 5, ..
        ...                                          stage 1: nodes 0 and 6, 1 and 7, ..

So every exchange is one of whole registers. A tile stays in the cache while all stages pass over
it, two at a time between four rows; the last of them leave nothing but sums and extremes of each
lane where these suffice. Loads up to ``NARROW`` fit 16 bits, twice as many lanes a
register: so do a triangle's total without a sign, and the sums of any four loads, or transfers.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.exchange import links
from ..shared.hexa_cell import (
    balance_triangle,
    count_pair,
    count_triangle,
    exchange_odd,
    odd_limit,
)  # fmt: skip
from ..shared.tracing import cond, fori, traced, update
from ..shared.vectors import add, lanes, maximum, minimum, reduce, spread

NARROW, NARROW_LANES = 2**14 - 1, 32
# Messages that the nodes of a triangle send and receive before any load: A, B and C.
TRIANGLE_ENDS = (10, 8, 12)
# Rows of ``sums``: units moved, units that never left, those on the critical path, messages with
# load, polls and a triangle's others, and C's polls again.
MOVED, LOCAL, TIME, ENDS, POLLED, SUMS = 0, 1, 2, 3, 4, 5
# Rows of ``extremes``: the messages of the busiest node, the final loads, and the longest transfer
# of each of two stages.
BUSIEST, LEAST, LARGEST, LONGEST, EXTREMES = 0, 1, 2, 3, 5


def _add_up(sums, row, w, register):
    """Add a register of numbers without a sign to a row of sums, which may be of a wider dtype."""
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

    ``counted`` : the tile, resident_min, messages, sums and extremes, or the tile and four None.
    ``last`` : whether what is counted of the nodes is added up, and not stored; the loads are
    stored nevertheless if this is ``with_loads``.
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
    size = lanes(np.int64)

    def start(w):
        nothing, nowhere = (spread(0, rows.load(w, size)) for rows in (sums, extremes))
        for row in range(SUMS):
            sums.store((row, w), nothing)
        for row in range(EXTREMES):
            most = np.iinfo(extremes.dtype).max if row == LEAST else 0
            extremes.store((row, w), nowhere + most)

    fori(sums.shape[1], start, step=size)


@traced()
def _end_stages(sums, extremes):
    """Add the longest transfers of two stages to the critical path."""
    size = lanes(np.int64)

    def end(w):
        for row in (LONGEST, LONGEST + 1):
            longest = extremes.load((row, w), size)
            _add_up(sums, TIME, w, longest)
            extremes.store((row, w), spread(0, longest))

    fori(sums.shape[1], end, step=size)


@traced()
def _store_counts(sums, extremes, d, known, first, out):
    """Put sums and extremes to columns of ``out`` (8, B), from trial ``first`` on.

    ``known`` : messages of all nodes in their triangles before any load; each node has two more in
    each of the ``d`` stages.
    """

    def store(w, size):
        counts = [sums.load((row, w), size).astype(np.int64) for row in range(SUMS)]
        # Messages have two ends.
        counts[ENDS] = ((counts[ENDS] - known) >> 1) - counts[POLLED]
        tops = [extremes.load((row, w), size).astype(np.int64) for row in (BUSIEST, LEAST, LARGEST)]
        tops[BUSIEST] = tops[BUSIEST] + d * 2
        for row, numbers in enumerate(counts + tops):
            out.store((row, first + w), numbers)

    size, trials = lanes(np.int64), minimum(sums.shape[1], out.shape[1] - first)
    whole = trials - trials % size
    fori(whole, lambda w: store(w, size), step=size)
    fori(trials, lambda w: store(w, 1), start=whole)


@kernel
def balance(tiles, d, rules):
    """Balance tiles (K, N, W), W a multiple of the lanes of a register.

    ``tiles`` : of a dtype that three loads and 2 fit; in 16 bits, loads up to ``NARROW``.
    ``rules`` : see ``shared/hexa_cell.py``.
    """
    W = tiles.shape[2]
    for k in range(tiles.shape[0]):
        counted = tiles[k].reshape(-1), None, None, None, None
        _triangles(counted, W, rules)
        first = 0
        if d & 1:
            _exchange(counted, W, first, rules, False, True, 1)
            first = 1
        while first < d:
            _exchange(counted, W, first, rules, False, True, 2)
            first += 2


@kernel
def count(tiles, workspace, d, known, rules, with_loads, out):
    """Balance tiles (K, N, W), and count; the loads are used up unless ``with_loads``.

    ``tiles`` : int32 or int64, of a dtype that holds a total times the ``d + 1`` stages, and 255 N;
    or int16, where int32 holds these and loads are at most ``NARROW``. ``workspace`` : resident_min
    (N W,) of that dtype; messages (N W,) uint8; sums (5, W) of that dtype, or int32 for int16; and
    extremes (5, W) of that dtype. ``known`` : the messages that the nodes of all triangles send and
    receive before any load. ``out`` (8, B) int64 receives the units moved and those that never
    left, the units on the critical path, the messages with load, C's polls again, the most that one
    node sends and receives, the least and the largest load.
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
        _store_counts(sums, extremes, d, known, k * W, out)
