"""Direct dimension exchange of one network after the other (Wu-Shu Figs 3-10).

Legend: ``B`` networks, ``N`` nodes, ``S`` axes in the order balanced, ``k`` length of a line.

Axis by axis, lines are balanced in bundles: by ``balance``, the kernel for few and small networks,
one line at a time; by ``balance_wide`` as many side by side as fill a register. Where the lines of
an axis follow each other, their nodes lie side by side, except on the last axis:

    nodes of a (2, 3, 4) mesh in memory     0 1 2 3 | 4 5 6 7 | 8 9 10 11 || 12 13 14 15 | ..
    lines of axis 1 (k 3, stride 4)         a b c d | a b c d | a b  c  d ||  e  f  g  h | ..
    lines of axis 2 (k 4, stride 1)         a a a a | b b b b | c c  c  c ||  d  d  d  d | ..

There, a bundle is transposed into rows and back. The network of the moment stays in a workspace,
in the caches, in a dtype that every line's total fits; flows, and loads after each axis, are
written where they belong while the next bundle is balanced.
"""

import numpy as np

from ..shared import lines
from ..shared.compiling import inlined, kernel
from ..shared.medians import rows_needed
from ..shared.rows import Rows, lines_to_rows, rows_to_lines, sum_and_extremes, within
from ..shared.send_first import Sending, rows_to_send
from ..shared.tracing import cond, fori, traced
from ..shared.vectors import lanes, maximum, minimum, reduce_lanes
from ..shared.views import CACHE_LINE, aligned, overlap

# What is said of each axis: its number, length and stride in nodes, whether it is a ring of 3 or
# more, and which of the comparators are its own.
NUMBER, LENGTH, STRIDE, IS_RING, FIRST, LAST, COLUMNS = 0, 1, 2, 3, 4, 5, 6
# The rows of figures: units that never left, least and largest load; total, least and largest load
# before; then the units moved on each axis, and the rounds.
LOCAL, LEAST, MOST, BEFORE, AXES = 0, 1, 2, 3, 6
BALANCED, REFUSED = 0, 1


def room(N, longest, size):
    """Return how many elements of workspace the kernels need; see ``_balance_axis``."""
    rows = rows_needed(longest) + 3 * longest + rows_to_send(longest)
    return 2 * N + rows * size + CACHE_LINE


@traced("wide")
def _balance_axis(
    workspace, sizes, number, axes, s, comparators, figures, record, changed, wide
):  # fmt: skip
    """Balance the lines of axis s of a network; set its figures.

    ``sizes`` : (B, N), ``number`` that of the network. The workspace holds the loads, the least
    loads so far, rows for a ring's flows, and for bundles of the last axis rows of loads, flows and
    least loads; then rows for sending first. Without ``figures`` only loads are worked out.
    """
    (B, N), size = sizes, lanes(workspace.dtype) if wide else 1
    k, stride = axes[s, LENGTH], axes[s, STRIDE]
    ring_at = 2 * N
    sending_at = ring_at + (rows_needed(k) + 3 * k) * size
    zero = workspace[0] - workspace[0]
    targets = []
    if record:
        flows, stages, stream = record
        targets = [
            (flows, (number * axes.shape[0] + axes[s, NUMBER]) * N, stream),
            (stages, (s * B + number) * N, stream),
        ]

    def balance(bundle, flow_outs, outs, least):
        """Balance a bundle; return its units and rounds."""
        if figures is None:
            lines.set_to_quotas(bundle, k)
            return [zero, zero]
        rows = Rows(workspace, ring_at, bundle.size, bundle.size)
        sending = None
        if changed is not None:
            sending = Sending(workspace, sending_at, bundle, k, changed)
            flow_outs = [*flow_outs, sending.pending]

        def of_chains():
            return lines.balance(bundle, k, [bundle, *outs], flow_outs)

        def of_rings():
            columns = axes[s, FIRST], axes[s, LAST]
            ring = lines.Ring(rows, comparators, *columns, bundle.size > 1)
            return lines.balance(bundle, k, [bundle, *outs], flow_outs, ring=ring)

        if comparators is None:
            units, rounds = of_chains()
        else:
            units, rounds = cond(axes[s, IS_RING] != 0, of_rings, of_chains)
        return [units, sending.send(least) if sending else rounds]

    def add(bundle_counts, units, rounds):
        """Return units and longest rounds with those of one more bundle."""
        bundle_units, bundle_rounds = bundle_counts
        if not getattr(bundle_units, "size", 0) > 1:
            return [lines.add_units(units, bundle_units), maximum(rounds, bundle_rounds)]
        most = reduce_lanes(bundle_rounds, maximum)
        return [lines.sum_of_lanes(units, bundle_units), maximum(rounds, most)]

    def in_place(size):
        def balance_from(at, *counts):
            bundle = Rows(workspace, at, stride, size)
            outs = [Rows(a, first + at, stride, size, stream) for a, first, stream in targets]
            least = Rows(workspace, N + at, stride, size)
            return add(balance(bundle, outs[:1], outs[1:], least), *counts)

        return balance_from

    def block(b, *counts):
        """Balance ``stride`` lines that begin side by side."""
        first = b * (k * stride)
        whole = first + (stride - stride % size)
        counts = fori(whole, in_place(size), *counts, start=first, step=size)
        return fori(first + stride, in_place(1), *counts, start=whole) if wide else counts

    def transposed(b, *counts):
        """Balance ``size`` lines of the last axis."""
        first = b * size * k
        loads_at = ring_at + rows_needed(k) * size
        bundle = Rows(workspace, loads_at, size, size)
        flow_rows = Rows(workspace, loads_at + k * size, size, size)
        least_rows = Rows(workspace, loads_at + 2 * k * size, size, size)
        lines_to_rows(workspace, first, k, size - 1, k, bundle)
        if changed is not None:
            lines_to_rows(workspace, N + first, k, size - 1, k, least_rows)
        counts = add(balance(bundle, [flow_rows], [], least_rows), *counts)
        if changed is not None:
            rows_to_lines(least_rows, k, [(workspace, N + first, None)], k, size - 1)
        own = [(workspace, first, None)]
        rest = [(array, at + first, stream) for array, at, stream in targets]
        rows_to_lines(bundle, k, own + rest[1:], k, size - 1)
        if record:
            rows_to_lines(flow_rows, k, rest[:1], k, size - 1)
        return counts

    def last_axis():
        count = N // k
        counts = fori(count // size, transposed, zero, zero)
        return fori(count, lambda line, *counts: in_place(1)(line * k, *counts), *counts,
                    start=count - count % size)  # fmt: skip

    def other_axis():
        return fori(N // (k * stride), block, zero, zero)

    def of_single_nodes():
        def stay(i):
            for (array, first, _), value in zip(targets, (zero, workspace[i]), strict=False):
                array[first + i] = value

        fori(N, stay)
        return [zero, zero]

    def of_lines():
        return cond(stride == 1, last_axis, other_axis) if wide else other_axis()

    units, rounds = cond(k == 1, of_single_nodes, of_lines)
    if figures is not None:
        figures[AXES + s, number] = units
        figures[AXES + axes.shape[0] + s, number] = rounds


@traced()
def _copy(source, first, target, at, count):
    """Copy elements to an array of any dtype that they fit."""

    def copy(i):
        target[at + i] = source[first + i]

    fori(count, copy)


@traced()
def _keep_least(workspace, N):
    """Update the least loads that the nodes ever had: what is above has been sent away."""

    def keep(i):
        workspace[N + i] = minimum(workspace[N + i], workspace[i])

    fori(N, keep)


@traced()
def _summarise(added, first, ranked, count, figures, row, b):
    """Set three rows of figures of network b: a sum, least and largest of other elements."""
    sums = sum_and_extremes(Rows(added, first, 1, 1), Rows(ranked, 0, 1, 1), count)
    for i, value in enumerate(sums):
        figures[row + i, b] = value


@inlined
def _balance_all(
    source, target, figures, record, workspace, axes, comparators, top, changed, wide
):  # fmt: skip
    workspace = aligned(workspace)
    S, N = axes.shape[0], np.int64(1)
    for s in range(S):
        N = max(N, axes[s, LENGTH] * axes[s, STRIDE])
    B = source.size // N
    # Apart: numba leaves out a branch that asks for None alone.
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
            _balance_axis(
                workspace, (B, N), b, axes, s, comparators, figures, record, changed, wide
            )  # fmt: skip
            if figures is not None and changed is None:
                _keep_least(workspace, N)
        if figures is not None:
            _summarise(workspace, N, workspace, N, figures, LOCAL, b)
        _copy(workspace, 0, target, b * N, N)
    return BALANCED


@kernel
def balance(source, target, figures, record, workspace, axes, comparators, top, changed):
    """Balance networks, rows of ``source`` (B * N,), into ``target``, which may be the same.

    Parameters
    ----------
    source, target : (B * N,) int32, int64 or float64
    figures : (AXES + 2 S, B) int64 or float64, or None for the loads alone
        Receives the rows named above, units that pass int64 as -1; those before balancing only
        if there is a ``top``.
    record : (flows, stages, stream) or None
        Receive flows (B * d * N,) of each axis from each node to its successor, and loads
        (S * B * N,) after each; ``stream`` : past the caches, if all lines fill registers.
    workspace : (room(..),) int32, int64 or float64
        Of a dtype that the longest axis times every total fits; for int64 every total.
    axes : (S, COLUMNS) int64
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


@kernel
def balance_wide(source, target, figures, record, workspace, axes, comparators, top, changed):
    """Do the same, with bundles of as many lines as fill a register."""
    return _balance_all(
        source, target, figures, record, workspace, axes, comparators, top, changed, True
    )  # fmt: skip
