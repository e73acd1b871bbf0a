"""Maximum flow on arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..accelerate import kernels
from ..errors import UnboundedError
from .scaling import Integers, exact_sum

# The capacity of a link that carries any amount.
UNLIMITED = 2**63 - 1


class MaxFlow(NamedTuple):
    """A maximum flow and the cut that proves it.

    ``value`` is the flow from sources to sinks, ``flow`` (E,) int64 that along the links. The cut
    is of the links from ``source_side`` (N,) bool to the other nodes, those that a sink could still
    be reached from: all are full, and no flow returns.
    """

    value: int
    flow: Integers
    source_side: NDArray[np.bool_]


def max_flow(
    n: int,
    tail: NDArray[Any],
    head: NDArray[Any],
    capacity: Integers,
    source: ArrayLike,
    sink: ArrayLike,
) -> MaxFlow:
    """Return a maximum flow.

    Parameters
    ----------
    n : int
        Number of nodes.
    tail, head : (E,) int
        Ends of the links; parallel links and loops are allowed.
    capacity : (E,) int64
        0 or more; ``UNLIMITED``, the largest int64, is none.
    source, sink : int or (K,) int
        Nodes from which and to which it flows; none is both.

    Raises
    ------
    UnboundedError
        If a way from a source to a sink is of unlimited links alone.
    OverflowError
        If the value does not fit int64.
    """
    tail, head = np.asarray(tail, np.int64), np.asarray(head, np.int64)
    capacity = np.ascontiguousarray(capacity, np.int64)
    sources, sinks = np.atleast_1d(np.asarray(source)), np.atleast_1d(np.asarray(sink))
    # Several sources are one node, and so are several sinks.
    merged = np.arange(n)
    merged[sources], merged[sinks] = sources[0], sinks[0]
    residual = kernels("flows.residual").residual_graph(n, merged[tail], merged[head])
    unlimited = capacity == UNLIMITED
    bound = min(exact_sum(np.where(unlimited, 0, capacity)) + 1, 2**61)
    value, flow, side = kernels("flows.maximum").maximum_flow(
        residual, np.minimum(capacity, bound), sources[0], sinks[0], np.int64(bound)
    )
    if value == bound:
        raise UnboundedError("a way from source to sink is unlimited")
    return MaxFlow(int(value), flow, side[merged])
