"""Direct dimension exchange of one network after the other (Wu-Shu Figs 3-10).

Legend: ``B`` networks, ``N`` nodes, ``S`` axes in the order balanced, ``k`` length of a line.

Axis by axis, lines are balanced in bundles: by ``balance``, the kernel for few and small networks,
one line at a time; by ``balance_wide`` as many side by side as fill a register. ``shared/lines.py``
has the paper's rule. On every axis but the last, neighbouring lines lie side by side in memory:

    nodes of a (2, 3, 4) mesh in memory     0 1 2 3 | 4 5 6 7 | 8 9 10 11 || 12 13 14 15 | ..
    lines of axis 1 (k 3, stride 4)         a b c d | a b c d | a b  c  d ||  e  f  g  h | ..
    lines of axis 2 (k 4, stride 1)         a a a a | b b b b | c c  c  c ||  d  d  d  d | ..

On the last axis a bundle is transposed into rows and back. The network in hand stays in a
workspace, in the caches, in a dtype that every line's total fits; its flows, and its loads after
each axis, the stages, are written to their arrays bundle by bundle.
"""

import numpy as np

from ..shared import lines
from ..shared.compiling import inlined
from ..shared.interrupts import interrupted, long_fori, long_kernel, new_meter
from ..shared.medians import rows_needed
from ..shared.rows import Rows, lines_to_rows, rows_to_lines, sum_and_extremes, within
from ..shared.send_first import Sending, rows_to_send
from ..shared.tracing import cond, fori, traced
from ..shared.vectors import lanes, maximum, minimum, reduce_lanes
from ..shared.views import CACHE_LINE, aligned, overlap

# Each row of ``axes`` describes an axis of the network: its number, the length of its lines, the
# stride from one node of a line to the next, whether lines are rings of 3 or more nodes, and which
# of the comparators are its own, FIRST to LAST - 1; how many lines, and blocks of lines side by
# side, are balanced between two looks at the meter. These are the columns:
NUMBER, LENGTH, STRIDE, IS_RING, FIRST, LAST, LINES, BLOCKS, COLUMNS = 0, 1, 2, 3, 4, 5, 6, 7, 8
# Rows of ``figures``: 0 to 2, units that never left, least and largest load; 3 to 5, total, least
# and largest load before; from AXES on, S rows of units moved on each axis, and S rows of rounds.
LOCAL, LEAST, MOST, BEFORE, AXES = 0, 1, 2, 3, 6
BALANCED, REFUSED = 0, 1
# Nodes of small networks to be balanced between two looks at the meter.
NODES_AT_ONCE = 2**16


def room(N, longest, size):
    """Return how many elements of workspace the kernels need, for bundles of ``size`` lines.

    They are, one after another:

        N                     loads of the network in hand
        N                     least load of each node so far
        rows_needed(k) rows   flows of a bundle of rings, and workspace for their middle one
        k rows                loads of a bundle of the last axis
        k rows                flows of a bundle of the last axis
        k rows                least loads of a bundle of the last axis, for send-before-receive
        rows_to_send(k) rows  loads, flows and arrivals of a bundle, for send-before-receive
    """
    rows = rows_needed(longest) + 3 * longest + rows_to_send(longest)
    return 2 * N + rows * size + CACHE_LINE


@traced("wide")
def _balance_axis(
    workspace, sizes, number, axes, s, comparators, figures, record, changed, meter, wide
):  # fmt: skip
    """Balance the lines of axis ``axes[s]`` of the network in the workspace; set its figures.

    ``sizes`` : the numbers (B, N); ``number`` is that of the network. For the workspace see
    ``room``, for the others ``balance``. Without ``figures`` only loads are worked out.
    """
    (B, N), size = sizes, lanes(workspace.dtype) if wide else 1
    k, stride = axes[s, LENGTH], axes[s, STRIDE]
    ring_at = 2 * N
    sending_at = ring_at + (rows_needed(k) + 3 * k) * size
    zero = workspace[0] - workspace[0]
    # Where the flows and the stage of this network and axis go: [(array, index of node 0, stream)].
    flows_to, stage_to = [], []
    if record:
        flows, stages, stream = record
        flows_to = [(flows, (number * axes.shape[0] + axes[s, NUMBER]) * N, stream)]
        stage_to = [(stages, (s * B + number) * N, stream)]

    def balance(bundle, flow_outs, outs, least):
        """Balance a bundle of lines, Rows; return the units and the rounds of each, a lane a line.

        ``least`` : Rows of the least loads so far, which send-before-receive updates.
        """
        if figures is None:
            lines.set_to_quotas(bundle, k)
            return [zero, zero]
        rows = Rows(workspace, ring_at, bundle.size, bundle.size)
        sending = None
        if changed is not None:
            sending = Sending(workspace, sending_at, bundle, k, changed)
            flow_outs = [*flow_outs, sending.pending]
        ring = None
        if comparators is not None:
            first, last, is_ring = axes[s, FIRST], axes[s, LAST], axes[s, IS_RING] != 0
            ring = lines.Ring(rows, comparators, first, last, bundle.size > 1, is_ring)
        units, rounds = lines.balance(bundle, k, [bundle, *outs], flow_outs, ring=ring)
        return [units, sending.send(least) if sending else rounds]

    def add(bundle_counts, units, rounds):
        """Return the axis' units and most rounds, two numbers, with those of one more bundle."""
        bundle_units, bundle_rounds = bundle_counts
        if not getattr(bundle_units, "size", 0) > 1:
            return [lines.add_units(units, bundle_units), maximum(rounds, bundle_rounds)]
        most = reduce_lanes(bundle_rounds, maximum)
        return [lines.sum_of_lanes(units, bundle_units), maximum(rounds, most)]

    def in_place(size):
        """Return what balances ``size`` lines that begin side by side from a node on."""

        def balance_from(at, *counts):
            def rows_of(arrays):
                return [Rows(a, first + at, stride, size, stream) for a, first, stream in arrays]

            (bundle,) = rows_of([(workspace, 0, None)])
            (least,) = rows_of([(workspace, N, None)])
            return add(balance(bundle, rows_of(flows_to), rows_of(stage_to), least), *counts)

        return balance_from

    def block(b, *counts):
        """Balance block b of the axis: ``stride`` lines that lie side by side, k * stride nodes."""
        first = b * (k * stride)
        whole = first + (stride - stride % size)
        at_once = {"stretch": axes[s, LINES], "step": size}
        counts = long_fori(meter, whole, in_place(size), *counts, start=first, **at_once)
        return fori(first + stride, in_place(1), *counts, start=whole) if wide else counts

    def transposed(b, *counts):
        """Balance bundle b of the last axis: ``size`` lines that follow each other."""
        first = b * size * k
        loads_at = ring_at + rows_needed(k) * size
        bundle = Rows(workspace, loads_at, size, size)
        flow_rows = Rows(workspace, loads_at + k * size, size, size)
        least_rows = Rows(workspace, loads_at + 2 * k * size, size, size)

        def copy_back(rows, arrays):
            targets = [(array, at + first, stream) for array, at, stream in arrays]
            rows_to_lines(rows, k, targets, k, size - 1)

        lines_to_rows(workspace, first, k, size - 1, k, bundle)
        if changed is not None:
            lines_to_rows(workspace, N + first, k, size - 1, k, least_rows)
        counts = add(balance(bundle, [flow_rows], [], least_rows), *counts)
        if changed is not None:
            copy_back(least_rows, [(workspace, N, None)])
        copy_back(bundle, [(workspace, 0, None), *stage_to])
        if record:
            copy_back(flow_rows, flows_to)
        return counts

    def last_axis():
        count = N // k
        at_once = axes[s, LINES] // size
        counts = long_fori(meter, count // size, transposed, zero, zero, stretch=at_once)
        return fori(count, lambda line, *counts: in_place(1)(line * k, *counts), *counts,
                    start=count - count % size)  # fmt: skip

    def other_axis():
        return long_fori(meter, N // (k * stride), block, zero, zero, stretch=axes[s, BLOCKS])

    units, rounds = cond(stride == 1, last_axis, other_axis) if wide else other_axis()
    if figures is not None:
        figures[AXES + s, number] = units
        figures[AXES + axes.shape[0] + s, number] = rounds


@traced()
def _copy(source, first, target, at, count):
    """Copy ``count`` elements from index ``first`` on to ``target`` from index ``at`` on."""

    def copy(i):
        target[at + i] = source[first + i]

    fori(count, copy)


@traced()
def _update_least(workspace, N):
    """Update the least load of each node so far: so many units have never left it."""

    def update(i):
        workspace[N + i] = minimum(workspace[N + i], workspace[i])

    fori(N, update)


@traced()
def _summarise(added, first, ranked, count, figures, row, b):
    """Set three rows of figures of network b, from ``row`` on.

    They are the sum of ``count`` elements of ``added`` from ``first`` on, and the least and the
    largest of the first ``count`` of ``ranked``.
    """
    results = sum_and_extremes(Rows(added, first, 1, 1), Rows(ranked, 0, 1, 1), count)
    for i, value in enumerate(results):
        figures[row + i, b] = value


@inlined
def _balance_all(
    source, target, figures, record, workspace, axes, comparators, top, changed, wide
):  # fmt: skip
    """Balance network after network; see ``balance`` and, if ``wide``, ``balance_wide``."""
    workspace, meter = aligned(workspace), new_meter()
    S, N = axes.shape[0], np.int64(1)
    for s in range(S):
        N = max(N, axes[s, LENGTH] * axes[s, STRIDE])
    B, every = source.size // N, 1
    while every * N < NODES_AT_ONCE:
        every *= 2
    # Two ``if``s: numba leaves out a branch for None only where the test is of that alone.
    if top is not None:  # noqa: SIM102
        if overlap(source, target) or not within(source, source.size, top):
            return REFUSED
    for b in range(B):
        _copy(source, b * N, workspace, 0, N)
        if figures is not None:
            _copy(workspace, 0, workspace, N, N)
            if top is not None:
                _summarise(workspace, 0, workspace, N, figures, BEFORE, b)
        for s in range(S):
            if b & every - 1 == 0 and interrupted(meter, 4 * N * every):
                return REFUSED
            _balance_axis(
                workspace, (B, N), b, axes, s, comparators, figures, record, changed, meter, wide
            )  # fmt: skip
            if figures is not None and changed is None:
                _update_least(workspace, N)
        if figures is not None:
            _summarise(workspace, N, workspace, N, figures, LOCAL, b)
        _copy(workspace, 0, target, b * N, N)
    return BALANCED


@long_kernel
def balance(source, target, figures, record, workspace, axes, comparators, top, changed):
    """Balance networks, rows of ``source`` (B * N,), into ``target``, which may be the same.

    Parameters
    ----------
    source, target : (B * N,) int32, int64 or float64
    figures : (AXES + 2 S, B) int64 or float64, or None for the loads alone
        Receives the rows named above, units that pass int64 as -1; those before balancing only
        if there is a ``top``.
    record : (flows, stages, stream) or None
        ``flows`` (B * S * N,) receives for each network, axis by its number, and node what flows
        to the next node of its line; ``stages`` (S * B * N,) the loads after each axis, in the
        order balanced. ``stream`` : past the caches, if all lines fill registers.
    workspace : (room(..),) int32, int64 or float64
        Of int32, the longest axis times every total fits; of int64, every total does.
    axes : (S, COLUMNS) int64
        In the order balanced; for the columns see above.
    comparators : (C, 2) int64, see ``medians.middle``, or None if no axis is a ring
    top : int or None
        With it, nothing is done if a load is above it or negative, or ``target`` overlaps
        ``source`` without being the same.
    changed : (3 longest,) int64 or None
        A workspace for send-before-receive; without it nodes receive before they send.

    Returns
    -------
    int
        ``BALANCED``, or ``REFUSED``: then nothing is written.
    """
    return _balance_all(
        source, target, figures, record, workspace, axes, comparators, top, changed, False
    )  # fmt: skip


@long_kernel
def balance_wide(source, target, figures, record, workspace, axes, comparators, top, changed):
    """Do the same, with bundles of as many lines as fill a register."""
    return _balance_all(
        source, target, figures, record, workspace, axes, comparators, top, changed, True
    )  # fmt: skip
