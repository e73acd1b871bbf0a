"""Generalized dimension exchange of batches of integers (Wu-Shu Fig. 2).

Legend: ``B`` networks, ``N`` nodes, ``E`` links, ``C`` colours, ``L`` lines, ``A`` axes, ``W``
networks of a tile, of which there are ``K``.

A tile holds W networks side by side, node by node (``shared/sweeps.py``, which has the paper's
rule); a single network is a tile of its own. A sweep exchanges over the links of one colour after
the other. In a network that is balanced nothing moves any more, so a tile is swept until nothing
moves in any of its networks.

On a grid whose colours come axis by axis a line of nodes goes through all colours of its axis
before the next line begins. Lines of an axis share no node, so the results are the same, and each
node is read and written once an axis instead of once a link.
"""

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.shares import exchange_share, two_units_move
from ..shared.sweeps import largest_differences, sum_nodes, sweep_links
from ..shared.tracing import cond, each_register, fori, traced
from ..shared.vectors import lanes, minimum

# Flags of a network: the last sweep moved nothing although neighbours differ by more than one;
# neighbours differ by more than one; the units moved do not fit int64.
STALLED, APART, OVER = 1, 2, 4
# Lines whose nodes lie further apart than so many bytes exchange link by link instead: their rows
# fall into the same few sets of the cache (16x16x16 mesh: 27 ns a node line by line instead of 17).
NEAR_BYTES = 2048


def _sweep_line(exchange, load, store, length, wrap, even, odd, closing):
    """Let a line of nodes exchange over all of its links; return the units that each kind moves.

    Its even links come first, then the odd ones, then that of the ends, if there is one (``wrap``):

        nodes    0 --- 1     2 --- 3     4 --- 5     even links, pair by pair
                       1 ~~~ 2     3 ~~~ 4           odd links, as soon as both pairs are done

    so that what a node has stays in registers between its exchanges: ``carried`` is the last node
    that has met its even link. ``even``, ``odd`` and ``closing`` are the units so far.
    """
    first, carried, even = exchange(load(0), load(1), even)

    def pair(m, even, odd, *carried):
        low, high, even = exchange(load(m), load(m + 1), even)
        before, low, odd = exchange(carried, low, odd)
        store(m - 1, before)
        store(m, low)
        return even, odd, *high

    last = length - 1
    even, odd, *carried = fori(last, pair, even, odd, *carried, start=2, step=2)

    def last_of_odd_length():
        before, node, total = exchange(carried, load(last), odd)
        store(last - 1, before)
        return total, *node

    odd, *carried = cond((length & 1) == 1, last_of_odd_length, lambda: (odd, *carried))

    def close():
        low, high, total = exchange(carried, first, closing)
        return total, *low, *high

    closing, *ends = cond(wrap != 0, close, lambda: (closing, *carried, *first))
    store(last, ends[: len(first)])
    store(0, ends[len(first) :])
    return even, odd, closing


@traced()
def _sweep_lines(tile, resident_min, units, lines, start, end, share):
    """Let lines ``start .. end-1`` exchange, which share no node, in all networks.

    A line is a row of ``lines``: its first node, the step to the next, how many nodes there are,
    more than one, and whether the last is linked with the first. ``units`` (3, W) counts what its
    even links move, the odd ones and that of the ends. ``resident_min`` may be None.
    """
    W = units.shape[1]
    size = lanes(tile.dtype)
    # A node in hand is a list of one or two registers: its loads, and the least so far if recorded.
    memories = [memory for memory in (tile, resident_min) if memory is not None]

    def exchange(low, high, total):
        *after, sent, _ = exchange_share(low[0], high[0], share)
        low, high = (
            [load, *(minimum(load, least) for least in node[1:])]
            for load, node in zip(after, (low, high), strict=True)
        )
        return low, high, total + sent

    def register(w):
        def line(row, *totals):
            first, step, length, wrap = (lines[row, column] for column in range(4))

            def load(m):
                return [memory.load((first + step * m) * W + w, size) for memory in memories]

            def store(m, node):
                for memory, values in zip(memories, node, strict=True):
                    memory.store((first + step * m) * W + w, values)

            return _sweep_line(exchange, load, store, length, wrap, *totals)

        totals = (units.load((colour, w), size) for colour in range(3))
        for colour, total in enumerate(fori(end, line, *totals, start=start)):
            units.store((colour, w), total)

    fori(W, register, step=size)


@traced()
def _count(units, colours, moved, overflow, moving):
    """Add the first ``colours`` rows of ``units`` (3, W) to ``moved`` (W,), and set them to 0.

    A sum that does not fit int64 turns negative, and so does ``overflow`` (W,) for good. ``moving``
    (W,) collects the bits of all units: it stays 0 where nothing moves.
    """

    def count(w, size):
        def colour(c, total, over, bits):
            sent = units.load((c, w), size)
            units.store((c, w), sent ^ sent)
            total = total + sent.astype(np.int64)
            return total, over | total, bits | sent.astype(np.int64)

        rows = moved, overflow, moving
        sums = fori(colours, colour, *(row.load(w, size) for row in rows))
        for row, values in zip(rows, sums, strict=True):
            row.store(w, values)

    each_register(units.shape[1], np.int64, count)


@long_kernel
def gde(tiles, resident_min, flows, links, share, max_sweeps, out):
    """Balance tiles until nothing moves or ``max_sweeps`` sweeps are made.

    Parameters
    ----------
    tiles : (K, N, W) int32 or int64, in which every total fits; balanced in place
        W is a multiple of 16, or 1.
    resident_min : (N * W,) of the same dtype, workspace; None where only loads are worked out
    flows : (B, E) int64 zeros, receives the net flows; or None
    links : (u, v, starts, lines, axes)
        ``u``, ``v`` (E,) in the order of the colours, colour c from ``starts[c]`` (C + 1,) on;
        the same links as ``lines`` (L, 4), see ``_sweep_lines``, and of each of the ``axes`` (A, 4)
        first and end of its lines and first and end of its colours.
    share : see ``shared.shares``
    out : (4, B) int64, receives moved, local, sweeps and flags
    """
    K, N, W = tiles.shape
    u, v, starts, lines, axes = links
    # Of the networks of the tile in hand: units moved, those negative once they overflow, sweeps,
    # and the bits of what the last sweep moved.
    moved, overflow = np.empty(W, np.int64), np.empty(W, np.int64)
    sweeps, moving = np.empty(W, np.int64), np.empty(W, np.int64)
    meter = new_meter()
    units = np.zeros((3, W), tiles.dtype)
    flow = np.empty(W, tiles.dtype)
    for k in range(K):
        tile = tiles[k].reshape(-1)
        first = k * W
        count = min(W, out.shape[1] - first)
        for w in range(W):
            moved[w] = overflow[w] = sweeps[w] = 0
        if resident_min is not None:
            for i in range(tile.size):
                resident_min[i] = tile[i]
        going, made = True, 0
        while going and made < max_sweeps and not interrupted(meter, N * W + 1024):
            for w in range(W):
                moving[w] = 0
            for a in range(axes.shape[0]):
                start, end = axes[a, 0], axes[a, 1]
                along = W > 1 and flows is None and end > start
                if along and lines[start, 1] * W * tiles.itemsize <= NEAR_BYTES:
                    _sweep_lines(tile, resident_min, units, lines, start, end, share)
                    _count(units, 3, moved, overflow, moving)
                    continue
                for c in range(axes[a, 2], axes[a, 3]):
                    start, end = starts[c], starts[c + 1]
                    if interrupted(meter, end - start):
                        break
                    record, links_of_colour = (flows, flow, first, count), (u, v, start, end)
                    sweep_links(tile, resident_min, record, links_of_colour, share, units, None)
                    _count(units, 1, moved, overflow, moving)
            going = False
            for w in range(W):
                going |= moving[w] != 0
                sweeps[w] += moving[w] != 0
            made += going
        # Where nothing moves neighbours are within one, if a difference of two moves something.
        check = going or not two_units_move(share)
        if check:
            largest_differences(tile, u, v, moving)
        if resident_min is not None:
            sum_nodes(resident_min, N, units)
        for w in range(count):
            apart = check and moving[w] > 1
            # The sweep that moved nothing is counted, if there was one.
            stalled = apart and sweeps[w] < max_sweeps
            out[0, first + w] = moved[w]
            out[1, first + w] = units[0, w]
            out[2, first + w] = sweeps[w] + stalled
            out[3, first + w] = APART * apart + STALLED * stalled + OVER * (overflow[w] < 0)
        for w in range(W):
            units[0, w] = 0
