"""Hyper Hexa-Cell networks stage by stage in place, with everything counted (Hexa-Cell 2.1-2.3).

Legend: ``B`` networks of ``N = 3 * 2**d`` nodes; ``S = d + 1`` stages: triangles (s = 0), the prism
(s = 1), and each dimension of the cells. Stage ``s >= 1`` exchanges every two neighbouring runs of
``3 << s - 1`` loads:

    s = 1   [a0 a1 a2] [b0 b1 b2]           a0 with b0, a1 with b1, a2 with b2
    s = 2   [a0 .. a5] [b0 .. b5]           a0 with b0, ..

These kernels take any network and any dtype. Stages of short runs are done one exchange after the
other, part by part; those of long runs a register at a time. ``tiles.py`` is several times as fast
for batches of integers, and ``final_loads.py`` where nothing is counted.

Units of real loads are added up in a fixed order, so that sums do not depend on the processor:
within a part of ``PART`` nodes from the first exchange to the last, and in longer runs in ``PART``
sums, of which sum w takes the loads at the places w, ``PART + w``, .. of each run.

Both kernels take two tuples of arrays, and add to what they hold, except for the loads:

    nodes     (B, N) each: loads, balanced in place; resident_min, the least load of each node so
              far, which is what never left it; messages, uint8, that each node sends and receives
    figures   moved (B, S), the units moved; longest (B, S), the most units in one exchange;
              transfers (B, 2) int64, the messages with load, and those with which C polls again
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.hexa_cell import count_pair, count_triangle, odd_limit, triangle_flows
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.tracing import fori, traced, update
from ..shared.vectors import add, lanes, maximum, minimum, spread

# The nodes of 16 cells: a multiple of the lanes of every register.
PART = 96


def _lower_to(memory, place, load):
    """Set ``memory[place]`` to a load if that is less."""
    memory[place] = minimum(memory[place], load.astype(memory.dtype))


def _raise_by(memory, place, amount):
    """Add an amount to ``memory[place]``."""
    memory[place] = memory[place] + amount.astype(memory.dtype)


def _computed_in(loads):
    """Return a dtype in which the sum of three loads and 2 does not overflow."""
    return loads.dtype if loads.dtype.kind == "f" else np.dtype(np.int64)


def _add_figures(figures, row, s, moved, longest, transfers, polled):
    """Add what was counted in stage s of network ``row`` to the figures."""
    all_moved, all_longest, messages = figures
    _raise_by(all_moved, (row, s), moved)
    all_longest[row, s] = maximum(all_longest[row, s], longest)
    _raise_by(messages, (row, 0), transfers)
    _raise_by(messages, (row, 1), polled)


@traced()
def _count_triangles(nodes, start, size, rules, figures, row):
    """Do stage 0 on the ``size`` nodes of network ``row`` from place ``start`` on."""
    loads, resident_min, messages = nodes
    dtype = _computed_in(loads)

    def count(t, moved, longest, transfers, polled):
        at = [start + t * 3 + i for i in range(3)]
        before = [loads[node].astype(dtype) for node in at]
        after, lows, ends, units, sent, again = count_triangle(before, rules)
        for node, load, low, end in zip(at, after, lows, ends, strict=True):
            loads[node] = load
            _lower_to(resident_min, node, low)
            _raise_by(messages, node, end)
        sent, again = sent.astype(np.int64), again.astype(np.int64)
        return moved + units, maximum(longest, units), transfers + sent, polled + again

    no_units, no_messages = spread(0, figures[0][row, 0]), spread(0, figures[2][row, 0])
    sums = fori(size // 3, count, no_units, no_units, no_messages, no_messages)
    _add_figures(figures, row, 0, *sums)


@traced()
def _count_pairs(nodes, start, size, s, rules, figures, row):
    """Do stage s >= 1 on the ``size`` nodes of network ``row`` from place ``start`` on."""
    loads, resident_min, messages = nodes
    dtype, run = _computed_in(loads), 3 << (s - 1)
    above = odd_limit(s == 1, rules, dtype)

    def count(low, moved, longest, transfers):
        at = low, low + run
        x, y, units, sent = count_pair(*(loads[node].astype(dtype) for node in at), above)
        for node, load in zip(at, (x, y), strict=True):
            loads[node] = load
            _lower_to(resident_min, node, load)
            _raise_by(messages, node, sent + 2)
        return moved + units, maximum(longest, units), transfers + sent.astype(np.int64)

    def count_runs(number, *sums):
        first = start + number * run * 2
        return fori(first + run, count, *sums, start=first)

    no_units, no_messages = spread(0, figures[0][row, 0]), spread(0, figures[2][row, 0])
    sums = fori(size // (run * 2), count_runs, no_units, no_units, no_messages)
    _add_figures(figures, row, s, *sums, no_messages)


@long_kernel
def count_parts(nodes, part, first, last, rules, figures):
    """Do the stages ``first .. last - 1``, whose runs lie within parts of ``part`` nodes."""
    loads = nodes[0]
    (B, N), meter = loads.shape, new_meter()
    for b in range(B):
        for start in range(b * N, (b + 1) * N, part):
            if interrupted(meter, 2 * part):
                return
            for s in range(first, last):
                if s == 0:
                    _count_triangles(nodes, start, part, rules, figures, b)
                else:
                    _count_pairs(nodes, start, part, s, rules, figures, b)


@traced()
def _count_long_runs(nodes, start, size, s, rules, sums):
    """Do stage s of the network at ``start``; ``sums`` (3, PART): units, longest, transfers."""
    loads, resident_min, messages = nodes
    count, run = lanes(loads.dtype), 3 << (s - 1)
    above = odd_limit(s == 1, rules, loads.dtype)

    def exchange(low, w):
        at = low, low + run
        x, y, units, sent = count_pair(*(loads.load(node, count) for node in at), above)
        for node, load in zip(at, (x, y), strict=True):
            loads.store(node, load)
            update(resident_min, node, minimum, load)
            update(messages, node, add, sent + 2)
        update(sums, (0, w), add, units)
        update(sums, (1, w), maximum, units)
        update(sums, (2, w), add, sent)

    def of_runs(number):
        first = start + number * run * 2

        def of_part(base):
            fori(PART, lambda w: exchange(base + w, w), step=count)

        fori(first + run, of_part, start=first, step=PART)

    fori(size // (run * 2), of_runs)


@traced()
def _add_sums(sums, figures, row, s):
    """Add the ``PART`` sums of stage s to the figures, one after the other, and set them to 0."""

    def add_sum(w):
        transfers = sums[2, w].astype(np.int64)
        _add_figures(figures, row, s, sums[0, w], sums[1, w], transfers, spread(0, transfers))
        for i in range(3):
            sums[i, w] = 0

    fori(PART, add_sum)


@kernel
def count_dimensions(nodes, first, last, rules, sums, figures):
    """Do the stages ``first .. last - 1``, whose runs are multiples of ``PART`` loads.

    ``sums`` (3, PART) are 0, and 0 again in the end.
    """
    B, N = nodes[0].shape
    for b in range(B):
        for s in range(first, last):
            _count_long_runs(nodes, b * N, N, s, rules, sums)
            _add_sums(sums, figures, b, s)


@traced()
def _store_flows(loads, t, rules, flows):
    """Set row t of the flows; A's averaging goes over the link from node 1 to node 2."""
    nodes = [loads[t * 3 + i].astype(_computed_in(loads)) for i in range(3)]
    _, results, averaged, _, _ = triangle_flows(nodes, rules)
    results[2] = averaged + results[2]
    for i, units in enumerate(results):
        flows[t, i] = units


@kernel
def flows_of_triangles(loads, rules, flows):
    """Set ``flows`` (T, 3) to the net units 0 to 1, 0 to 2 and 1 to 2 in the triangles (T, 3)."""
    for t in range(flows.shape[0]):
        _store_flows(loads, t, rules, flows)
