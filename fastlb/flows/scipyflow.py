"""Maximum flow by ``scipy.sparse.csgraph``, guarded: its int32 capacities wrap silently."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .problem import Nodes, Problem
from .scaling import Integers, exact_sum

LARGEST_CAPACITY = 2**31 - 1


def scipy_flow(problem: Problem, beta: Fraction | None) -> tuple[int, Integers, Nodes, int]:
    """Return (value, flow, cut side, q) of a maximum flow at ``beta``, in units of 1/q.

    The flow is that of ``scipy.sparse.csgraph.maximum_flow``, summed over parallel links; it is
    not divided among them.

    Raises
    ------
    OverflowError
        If the scaled totals do not fit scipy's int32.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    capacity, q = problem.capacity(beta)
    scaled = problem.scaled(q)
    n = len(problem.excess)
    sendable = min(exact_sum(scaled.excess), exact_sum(scaled.room), scaled.limit)
    # Flow and residual capacities of a pair of links add up inside scipy.
    if 2 * max(exact_sum(scaled.excess), exact_sum(scaled.room)) > LARGEST_CAPACITY:
        raise OverflowError(
            "method 'scipy' works in 32 bits: the scaled totals must be at most "
            f"{LARGEST_CAPACITY // 2}, got {exact_sum(scaled.excess)}"
        )
    tail, head, limits = problem.tail, problem.head, np.minimum(capacity, sendable)
    link = (tail != head) & (limits > 0)
    pairs, pair_of_link = np.unique(tail[link] * n + head[link], return_inverse=True)
    merged = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(merged, pair_of_link, limits[link])
    sources, sinks = np.flatnonzero(scaled.excess), np.flatnonzero(scaled.room)
    # Node n is the source; n + 1 lets at most the limit through to it, n + 2 is the sink.
    rows = np.concatenate([pairs // n, np.full(len(sources), n), sinks, [n + 1]])
    columns = np.concatenate([pairs % n, sources, np.full(len(sinks), n + 2), [n]])
    values = np.concatenate(
        [np.minimum(merged, sendable), scaled.excess[sources], scaled.room[sinks], [scaled.limit]]
    )
    shape = (n + 3, n + 3)
    graph = csr_array(
        (np.minimum(values, LARGEST_CAPACITY).astype(np.int32), (rows, columns)), shape
    )
    flow = maximum_flow(graph, n + 1, n + 2)
    residual = csr_array(graph - flow.flow)
    residual.eliminate_zeros()
    reachable = breadth_first_order(residual, n + 1, return_predecessors=False)
    side = np.zeros(n + 3, dtype=bool)
    side[reachable] = True
    return int(flow.flow_value), np.zeros(len(tail), dtype=np.int64), side[:n], q
