"""Push-relabel on residual graphs (Goldberg and Tarjan 1988): nodes send on what they hold.

A node sends along arcs to nodes whose label is one less. Where none is left, its label rises to
one more than that of the lowest node that an arc leads to. ``N`` nodes; amounts are int64.
"""

import numpy as np
from numba import types

from .residual import number
from .tracing import cond, fori, traced, while_loop
from .vectors import minimum, select

# Global relabelling after so much work: that many units a node and one an arc; a relabel costs its
# degree + 12. Half as much or twice as much takes up to a fifth longer.
WORK_PER_NODE = 6
RELABEL_COST = 12


@traced(returns=types.int64)
def discharge(graph, ahead, behind, balance, label, queue, current, waiting, most):
    """Discharge first-in-first-out until the work allowed is done; return what arrived.

    The nodes to discharge are the first ``waiting`` ones of the queue, a ring of N places. No more
    are once ``most`` units have arrived.
    """
    start, head, rev, _ = graph
    n = label.shape[0]
    allowed = WORK_PER_NODE * n + head.shape[0]

    def begin(u):
        current[u] = start[u]

    def relabel(u, performed):
        first, end = number(start, u), number(start, u + 1)

        # Arcs before the first that leads to the lowest neighbour are of no use.
        def lowest(b, lower, a):
            d = number(label, number(head, b))
            better = (d < lower) & (ahead[b] > 0)
            return select(better, d, lower), select(better, b, a)

        lower, a = fori(end, lowest, n, first, start=first)
        label[u] = minimum(lower + 1, n)
        return lower, a, performed + (end - first) + RELABEL_COST

    def push(a, v, amount, place, arrived):
        back, moved = number(rev, a), minimum(amount, ahead[a])
        ahead[a] = ahead[a] - moved
        behind[back] = behind[back] - moved
        ahead[back] = ahead[back] + moved
        behind[a] = behind[a] + moved
        held = balance[v]
        balance[v] = held + moved
        # The node waits from now on if it had no load; else the place stays free.
        queue[select(place >= n, place - n, place)] = v
        new = (held <= 0) & (held + moved > 0)
        arrived = arrived + select(held <= 0, minimum(-held, moved), 0)
        return amount - moved, place + new.astype(np.int64), arrived

    def discharge_node(count, first, arrived, performed):
        u = number(queue, first)
        first = select(first + 1 == n, 0, first + 1)
        end = number(start, u + 1)

        def try_arc(going, a, lower, amount, place, arrived, performed):
            lower, a, performed = cond(
                a == end, lambda: relabel(u, performed), lambda: (lower, a, performed)
            )

            def follow():
                v = number(head, a)
                is_open = (number(label, v) == lower) & (ahead[a] > 0)
                return cond(
                    is_open,
                    lambda: push(a, v, amount, place, arrived),
                    lambda: (amount, place, arrived),
                )

            reaches = lower + 1 < n
            amount_after, place, arrived = cond(reaches, follow, lambda: (amount, place, arrived))
            going = reaches & (amount_after > 0)
            return going, select(going, a + 1, a), lower, amount_after, place, arrived, performed

        amount = balance[u]
        _, a, _, amount, place, arrived, performed = while_loop(
            lambda going, *_: going,
            try_arc,
            amount > 0, number(current, u), number(label, u) - 1, amount, first + count - 1,
            arrived, performed,
        )  # fmt: skip
        current[u] = a
        balance[u] = amount
        return place - first, first, arrived, performed

    fori(n, begin)
    _, _, arrived, _ = while_loop(
        lambda count, _, arrived, performed: (
            (count > 0) & (performed < allowed) & (arrived < most)
        ),
        discharge_node, waiting, 0, 0, 0,
    )  # fmt: skip
    return arrived
