"""Maximum flow on arrays, and the cut that proves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..accelerate import kernels
from ..errors import UnboundedError
from .problem import Nodes
from .scaling import Integers, exact_sum

if TYPE_CHECKING:
    from ..kernels.shared.residual import ResidualGraph

# The capacity of a link that carries any amount.
UNLIMITED = 2**63 - 1
# Up to this bound two links between two nodes have capacities whose sum fits int64.
LARGEST_PAIR = 2**62 - 2


class MaxFlow(NamedTuple):
    """A maximum flow and the cut that proves it.

    Attributes
    ----------
    value : int
        What flows from the sources to the sinks in all.
    flow : (E,) int64
        What flows along each link.
    source_side : (N,) bool
        The nodes that no sink could be reached from any more: all links that leave them are full,
        those that enter them are empty. Of all minimum cuts it has the largest side.
    """

    value: int
    flow: Integers
    source_side: Nodes


def max_flow(
    n: int,
    tail: NDArray[Any],
    head: NDArray[Any],
    capacity: NDArray[Any],
    source: ArrayLike,
    sink: ArrayLike,
    *,
    graph: ResidualGraph | None = None,
) -> MaxFlow:
    """Return a maximum flow along links of integer capacities.

    Parameters
    ----------
    n : int
        Number of nodes.
    tail, head : (E,) int
        Ends of the links; parallel links and loops are allowed.
    capacity : (E,) int
        0 or more; ``UNLIMITED``, the largest int64, is none.
    source, sink : int or (K,) int
        Nodes from which and to which it flows, all different.
    graph : ResidualGraph, optional
        That of the links, for several flows on one network; used with one source and one sink.

    Raises
    ------
    UnboundedError
        If a way from a source to a sink is of unlimited links alone.
    OverflowError
        If the value does not fit int64.

    Notes
    -----
    Push-relabel with exact labels from time to time, first in, first out (Goldberg and Tarjan
    1988). Arguments are not checked. The flow may go around in circles.

    Examples
    --------
    >>> tail, head = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> max_flow(3, tail, head, np.array([4, UNLIMITED, 3]), 0, 1).value
    4
    """
    limits = np.ascontiguousarray(capacity, np.int64)
    unlimited = limits == UNLIMITED
    total = exact_sum(np.where(unlimited, 0, limits) if unlimited.any() else limits)
    sources, sinks = (np.atleast_1d(np.asarray(nodes)) for nodes in (source, sink))
    return bounded_flow(n, tail, head, limits, unlimited, total, sources, sinks, graph)


def bounded_flow(
    n: int,
    tail: NDArray[Any],
    head: NDArray[Any],
    capacity: Integers,
    unlimited: NDArray[np.bool_],
    total: int,
    sources: NDArray[Any],
    sinks: NDArray[Any],
    graph: ResidualGraph | None = None,
) -> MaxFlow:
    """Do the same where ``unlimited`` (E,) says which links are, and the others' sum is ``total``.

    Capacities beyond int64 may be given as ``UNLIMITED``.
    """
    # For arrays that are read-only numba would compile the kernel once more.
    tail, head = (np.require(nodes, np.int64, ("C", "W")) for nodes in (tail, head))
    # With no way of unlimited links alone, those limited cut sources from sinks.
    bound = min(total, UNLIMITED)
    # An unlimited link is never full below the bound.
    capacity = np.minimum(capacity, min(bound + 1, UNLIMITED))
    if bound > LARGEST_PAIR:
        # A node in the midst of each link, so that none goes back from its head to its tail.
        middle = n + np.arange(len(tail))
        tails, heads = np.concatenate([tail, middle]), np.concatenate([middle, head])
        twice = np.tile(capacity, 2), np.tile(unlimited, 2)
        value, flow, side = _search(n + len(tail), tails, heads, *twice, bound, sources, sinks)
        return MaxFlow(value, flow[: len(tail)], side[:n])
    return _search(n, tail, head, capacity, unlimited, bound, sources, sinks, graph)


def _search(
    n: int,
    tail: NDArray[Any],
    head: NDArray[Any],
    capacity: Integers,
    unlimited: NDArray[np.bool_],
    bound: int,
    sources: NDArray[Any],
    sinks: NDArray[Any],
    graph: ResidualGraph | None = None,
) -> MaxFlow:
    """Do so where capacities are at most ``bound + 1``."""
    node: NDArray[Any] = np.arange(n)
    if len(sources) > 1 or len(sinks) > 1:
        # Several sources are one node, and so are several sinks.
        node[sources], node[sinks] = sources[0], sinks[0]
        tail, head = node[tail], node[head]
        graph = None
    if graph is None:
        graph = kernels("flows.residual").residual_graph(n, tail, head)
    ends = np.int64(sources[0]), np.int64(sinks[0])
    solve = kernels("flows.maximum").maximum_flow
    value, flow, side = solve(graph, capacity, *ends, np.int64(bound))
    # At the bound more may flow: if no cut is full, or an unlimited link is in it.
    if value == bound and (not side[ends[0]] or (unlimited & side[tail] & ~side[head]).any()):
        if solve(graph, unlimited.astype(np.int64), *ends, np.int64(1))[0]:
            raise UnboundedError(
                "capacity must limit every way from source to sink, but unlimited links lead there"
            )
        raise OverflowError(f"the maximum flow must fit int64, but it exceeds {value}")
    return MaxFlow(int(value), flow, side[node])
