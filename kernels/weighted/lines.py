"""Direct dimension exchange by weights: lines of nodes whose quotas are shares (Wu-Shu Figs 3-10).

Legend: ``B`` networks, ``N`` nodes, ``S`` axes in the order balanced, ``k`` length of a line.

What a line is due of its total follows from its weights (``shared/proportions.py``); flows, rounds
and the shift of rings follow from that as they do without weights (``shared/lines.py``). Line after
line is balanced where it lies, by one general kernel for networks of any size.
"""

from ..shared import lines
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.medians import rows_needed
from ..shared.proportions import set_quotas
from ..shared.rows import Rows
from ..shared.send_first import Sending, rows_to_send
from ..shared.tracing import fori, traced
from ..shared.vectors import maximum, minimum

# Columns of ``axes``, as in ``kernels/dde/networks.py``: the axis' number, the length of its lines,
# the stride from node to node, whether lines are rings of 3 or more nodes, and which of the
# comparators are its own.
NUMBER, LENGTH, STRIDE, IS_RING, FIRST, LAST = 0, 1, 2, 3, 4, 5


def room(N, longest):
    """Return how many elements of workspace ``balance`` needs: of a network, and of a line.

    They are, one after another:

        N                     quotas of the network in hand
        k                     remainders of a line
        rows_needed(k)        flows of a ring, and workspace for their middle one
        rows_to_send(k)       loads, flows and arrivals of a line, for send-before-receive
    """
    return N + longest + rows_needed(longest) + rows_to_send(longest)


@traced()
def _balance_axis(
    loads, weights, least, counts, record, workspace, axes, comparators, base, changed, b, s
):  # fmt: skip
    """Balance the lines of axis ``axes[s]`` of network b; for the others see ``balance``."""
    (B, N), S = loads.shape, axes.shape[0]
    k, stride = axes[s, LENGTH], axes[s, STRIDE]
    ring_at = N + k
    sending_at = ring_at + rows_needed(k)
    zero = loads[0] - loads[0]

    def balance_line(j, units, rounds):
        first = j // stride * (k * stride) + j % stride
        line = Rows(loads, b * N + first, stride, 1)
        quotas = Rows(workspace, first, stride, 1)
        line_weights = Rows(weights, s * N + first, stride, 1)
        set_quotas(line, line_weights, quotas, Rows(workspace, N, 1, 1), k, base)
        if counts is None:

            def set_node(i):
                line[i] = quotas[i]

            fori(k, set_node)
            return [units, rounds]
        flow_outs, sending = [], None
        if record is not None:
            flows_at = (b * S + axes[s, NUMBER]) * N
            flow_outs.append(Rows(record[0], flows_at + first, stride, 1))
        if changed is not None:
            sending = Sending(workspace, sending_at, line, k, changed)
            flow_outs.append(sending.pending)

        ring = None
        if comparators is not None:
            rows, is_ring = Rows(workspace, ring_at, 1, 1), axes[s, IS_RING] != 0
            ring = lines.Ring(rows, comparators, axes[s, FIRST], axes[s, LAST], False, is_ring)
        line_units, line_rounds = lines.balance(
            line, k, [line], flow_outs, ring=ring, quotas=quotas
        )
        if sending:
            line_rounds = sending.send(Rows(least, b * N + first, stride, 1))
        return [lines.add_units(units, line_units), maximum(rounds, line_rounds)]

    units, rounds = fori(N // k, balance_line, zero, zero)
    if counts is not None:
        counts[s, b] = units
        counts[S + s, b] = rounds

        def finish(i):
            load = loads[b * N + i]
            if changed is None:
                least[b * N + i] = minimum(least[b * N + i], load)
            if record is not None:
                record[1][(s * B + b) * N + i] = load

        fori(N, finish)


@long_kernel
def balance(loads, weights, least, counts, record, workspace, axes, comparators, base, changed):
    """Balance networks in place.

    Parameters
    ----------
    loads : (B, N) int64 or float64
        The total of every network fits.
    weights : (S, N) of the same dtype, not negative
        What each node counts on each axis, in the order balanced, among those of its line. The
        load of lines without any weight is 0.
    least : (B, N) of the same dtype, or None
        The loads, becomes the least load of each node.
    counts : (2 S, B) of the same dtype, or None for the loads alone
        Receives S rows of units moved, -1 where they pass int64, and S rows of rounds.
    record : (flows, stages) or None
        ``flows`` (B, S, N) receives for each network, axis by its number, and node what flows to
        the next node of its line; ``stages`` (S, B, N) the loads after each axis, in the order
        balanced.
    workspace : (room(..),) of the same dtype
    axes : (S, 6) int64, in the order balanced
    comparators : (C, 2) int64, see ``medians.middle``, or None if no axis is a ring
    base : (bits, digits), see ``proportions.part_of``
    changed : (3 longest,) int64 or None
        A workspace for send-before-receive; without it nodes receive before they send.
    """
    meter = new_meter()
    for b in range(loads.shape[0]):
        for s in range(axes.shape[0]):
            if interrupted(meter, 16 * loads.shape[1]):
                return
            _balance_axis(
                loads, weights, least, counts, record, workspace, axes, comparators, base, changed,
                b, s,
            )  # fmt: skip
