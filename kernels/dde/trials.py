"""Direct dimension exchange of many networks, a trial in each lane (Wu-Shu Figs 3-10).

Legend: ``B`` trials, ``N`` nodes, ``S`` axes in the order balanced, ``k`` length of a line.

As many trials as a register has lanes are balanced together: node i of each lies in row i of a
workspace, so that a line of any axis is a row every ``stride`` rows, whatever the network's shape.
``shared/lines.py`` has the paper's rule.

    row 0   node 0 of trial 0, trial 1, trial 2, ..         a line of the last axis: rows 0, 1, 2 ..
    row 1   node 1 of trial 0, trial 1, trial 2, ..

Loads come as rows, a network each, and are transposed (``balance``), or as tiles with trials last
(``balance_tiles``, receive-before-send and counted only). The workspace stays in the caches.
"""

from typing import Any

import numpy as np

from ..shared import lines
from ..shared.compiling import kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.medians import rows_needed
from ..shared.rows import Rows, lines_to_rows, rows_to_lines, sum_and_extremes, within
from ..shared.send_first import Sending, rows_to_send
from ..shared.tracing import fori, register_lanes, traced
from ..shared.vectors import lanes, maximum, select
from ..shared.views import CACHE_LINE, aligned, overlap

# Columns of ``axes`` and rows of ``figures``: see ``networks.py``.
NUMBER, LENGTH, STRIDE, IS_RING, FIRST, LAST = 0, 1, 2, 3, 4, 5
LOCAL, LEAST, MOST, BEFORE, AXES = 0, 1, 2, 3, 6
BALANCED, REFUSED = 0, 1


def room(N, longest, size):
    """Return how many elements of workspace the kernels need, with ``size`` lanes.

    N rows each of loads, of least loads so far and of an axis' flows; then ``rows_needed`` ones for
    a line's flows and the middle one of them, and ``rows_to_send`` ones for send-before-receive.
    """
    return (3 * N + rows_needed(longest) + rows_to_send(longest)) * size + CACHE_LINE


@traced()
def _balance_axis(
    workspace, N, axes, s, comparators, figures, with_flows, is_first, trial, changed
):  # fmt: skip
    """Balance the lines of axis ``axes[s]`` of the trials from number ``trial`` on.

    Sets their ``figures``; without them only loads are worked out. Flows are worked out unless
    ``with_flows`` is None. ``is_first`` tells that nothing has moved yet: the least loads so far
    are the loads themselves. With ``changed`` nodes send before they receive, and ``is_first`` is
    not used.
    """
    size = lanes(workspace.dtype)
    k, stride = axes[s, LENGTH], axes[s, STRIDE]
    zero = workspace.load(0, size) - workspace.load(0, size)
    before_at = select(is_first, N - N, N)

    def balance(node, *counts):
        def rows_from(row):
            return Rows(workspace, (row + node) * size, stride * size, size)

        loads = rows_from(0)
        if figures is None:
            lines.set_to_quotas(loads, k)
            return counts
        flow_outs = [] if with_flows is None else [rows_from(2 * N)]
        resident: Any = (rows_from(before_at), rows_from(N))
        sending = None
        if changed is not None:
            sending_at = (3 * N + rows_needed(k)) * size
            sending, resident = Sending(workspace, sending_at, loads, k, changed), None
            flow_outs.append(sending.pending)

        ring = None
        if comparators is not None:
            rows, is_ring = Rows(workspace, 3 * N * size, size, size), axes[s, IS_RING] != 0
            ring = lines.Ring(rows, comparators, axes[s, FIRST], axes[s, LAST], True, is_ring)
        units, rounds = lines.balance(loads, k, [loads], flow_outs, ring=ring, resident=resident)
        if sending:
            rounds = sending.send(rows_from(N))
        return [lines.add_units(counts[0], units), maximum(counts[1], rounds)]

    def block(number, *counts):
        start = number * (k * stride)
        return fori(start + stride, balance, *counts, start=start)

    units, rounds = fori(N // (k * stride), block, zero, zero)
    if figures is not None:
        figures.store((AXES + s, trial), units)
        figures.store((AXES + axes.shape[0] + s, trial), rounds)


@traced()
def _load(source, first, last, N, workspace, row):
    """Copy networks, lines of ``source`` from ``first`` on, to N rows from number ``row`` on."""
    size = lanes(workspace.dtype)
    lines_to_rows(source, first, N, last, N, Rows(workspace, row * size, size, size))


@traced()
def _load_column(tiles, first, width, N, workspace):
    """Copy a register's lanes of each row of a tile to the first N rows of the workspace.

    A row of the tile is ``width`` lanes; ``first`` is the index of the first one in ``tiles``.
    """
    size = lanes(workspace.dtype)

    def copy(i):
        workspace.store(i * size, tiles.load(first + i * width, size))

    fori(N, copy)


@traced()
def _store(workspace, row, N, target, first, step, last):
    """Copy N rows of the workspace from number ``row`` on to lines of ``target``.

    Where they begin there tell ``first``, ``step`` and ``last``: see ``lines_to_rows``.
    """
    size = lanes(workspace.dtype)
    rows_to_lines(Rows(workspace, row * size, size, size), N, [(target, first, None)], step, last)


@traced()
def _summarise(workspace, N, figures, row, is_first, trial):
    """Set three rows of figures, from ``row`` on: local units, least and largest load.

    ``is_first`` tells that the least loads so far are the loads themselves: before any axis is
    balanced, when the local units are the total.
    """
    size = lanes(workspace.dtype)
    loads = Rows(workspace, 0, size, size)
    least = Rows(workspace, select(is_first, N - N, N) * size, size, size)
    for i, value in enumerate(sum_and_extremes(least, loads, N)):
        figures.store((row + i, trial), value)


@long_kernel
def balance(source, target, figures, record, workspace, axes, comparators, top, changed):
    """Balance networks, rows of ``source`` (B * N,), into ``target``, which may be the same.

    Arguments and status are those of ``networks.balance``, with ``stream`` unused; figures
    (AXES + 2 S, ..) have B columns, rounded up to whole registers.
    """
    workspace, meter = aligned(workspace), new_meter()
    size, S, N = register_lanes(workspace), axes.shape[0], np.int64(1)
    for s in range(S):
        N = max(N, axes[s, LENGTH] * axes[s, STRIDE])
    B = source.size // N
    # Two ``if``s: numba leaves out a branch for None only where the test is of that alone.
    if top is not None:  # noqa: SIM102
        if overlap(source, target) or not within(source, source.size, top):
            return REFUSED
    for trial in range(0, B, size):
        if interrupted(meter, 4 * (S + 1) * N):
            break
        last = min(size, B - trial) - 1
        _load(source, trial * N, last, N, workspace, 0)
        if figures is not None and top is not None:
            _summarise(workspace, N, figures, BEFORE, True, trial)
        # For send-before-receive the least loads begin as a copy of the loads.
        is_first = changed is None
        if changed is not None:
            _load(source, trial * N, last, N, workspace, N)
        for s in range(S):
            _balance_axis(
                workspace, N, axes, s, comparators, figures, record, is_first, trial, changed
            )  # fmt: skip
            is_first = False
            if record is not None:
                flows, stages, _ = record
                flow_at = (trial * S + axes[s, NUMBER]) * N
                _store(workspace, 2 * N, N, flows, flow_at, S * N, last)
                _store(workspace, 0, N, stages, (s * B + trial) * N, N, last)
        if figures is not None:
            _summarise(workspace, N, figures, LOCAL, is_first, trial)
        _store(workspace, 0, N, target, trial * N, N, last)
    return BALANCED


@kernel
def balance_tiles(tiles, figures, workspace, axes, comparators):
    """Work out the figures of the networks of ``tiles`` (K, N, W); the tiles stay as they are.

    As many lanes of a tile as fill a register are copied to the workspace, and balanced there. W is
    a multiple of a register's lanes; ``figures`` (AXES + 2 S, K * W) int64 have a column for each
    lane of each tile. Every total times the longest axis fits the dtype of the tiles and the
    workspace, and times all axes int64. The other arguments are those of ``balance``.
    """
    workspace = aligned(workspace)
    K, N, W = tiles.shape
    for trial in range(0, K * W, register_lanes(workspace)):
        _load_column(tiles, trial // W * N * W + trial % W, W, N, workspace)
        is_first = True
        for s in range(axes.shape[0]):
            _balance_axis(
                workspace, N, axes, s, comparators, figures, None, is_first, trial, None
            )  # fmt: skip
            is_first = False
        _summarise(workspace, N, figures, LOCAL, is_first, trial)
