"""Paths between nodes that share no link, or no node: flows in which each carries one unit at most.

Legend: ``N`` nodes, ``A`` arcs, ``P`` pairs of nodes, ``K`` nodes chosen. Nodes are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ..accelerate import kernels
from .graph import ConvertedGraph

Integers = NDArray[np.int64]


class UnitFlows:
    """A network whose arcs carry one unit each, and flows between its nodes.

    Where paths may not share a node either, ``split``, node u is an arc from node 2 u, where links
    end, to node 2 u + 1, where they begin. A flow leaves its source and enters its sink then
    without passing through them.
    """

    def __init__(self, size: int, tail: Integers, head: Integers, *, split: bool) -> None:
        self.split = split
        if split:
            nodes = np.arange(size)
            tail = np.concatenate([2 * nodes, 2 * tail + 1])
            head = np.concatenate([2 * nodes + 1, 2 * head])
            size *= 2
        self.tail, self.head = tail, head
        self._graph = kernels("flows.residual").residual_graph(size, tail, head)
        self._capacity = (self._graph.link >= 0).astype(np.int8)

    def between(self, nodes: Sequence[int], *, both_ways: bool) -> NDArray[np.int32]:
        """Return the flows (K, K) from and to each of some nodes, the same ``both_ways`` or not."""
        flows: NDArray[np.int32] = kernels("connectivity.pairs").flows_between(
            self._graph, self._capacity, *self._ends(nodes, nodes), both_ways
        )
        return flows

    def least(self, pairs: Sequence[tuple[int, int]], bound: float | None) -> tuple[int, int]:
        """Return the least flow of (P, 2) pairs and the last such pair; ``bound`` and -1 if above.

        A bound between two integers counts as the larger one.
        """
        sources, sinks = zip(*pairs, strict=True) if pairs else ((), ())
        most = len(self._capacity)
        limit = most if bound is None else ceil(min(max(bound, 0), most))
        least, last = kernels("connectivity.pairs").fewest(
            self._graph, self._capacity, *self._ends(sources, sinks), np.int64(limit)
        )
        return int(least), int(last)

    def crossing(self, source: int, sink: int) -> tuple[Integers, Integers]:
        """Return tails and heads of the minimum cut nearest to the sink, in the graph's numbers.

        Where nodes are split, the two are the same but at source and sink.
        """
        (start,), (end,) = self._ends([source], [sink])
        side = kernels("connectivity.pairs").sink_side(self._graph, self._capacity, start, end)
        cut = ~side[self.tail] & side[self.head]
        return self.tail[cut] >> self.split, self.head[cut] >> self.split

    def _ends(self, sources: Sequence[int], sinks: Sequence[int]) -> tuple[Integers, Integers]:
        """Return the nodes at which flows begin and end."""
        start, end = np.array(sources, np.int64), np.array(sinks, np.int64)
        return (2 * start + 1, 2 * end) if self.split else (start, end)


def without_common_links(graph: ConvertedGraph) -> UnitFlows:
    """Return the flows of paths that share no link; parallel links are one."""
    return _unit_flows(graph, split=False)


def without_common_nodes(graph: ConvertedGraph) -> UnitFlows:
    """Return the flows of paths that share no node between their ends."""
    return _unit_flows(graph, split=True)


def _unit_flows(graph: ConvertedGraph, *, split: bool) -> UnitFlows:
    name = "split nodes" if split else "links"
    if name not in graph.derived:
        tail, head = graph.tail, graph.head
        if graph.is_multigraph():
            tail, head = np.divmod(np.unique(tail * len(graph) + head), max(len(graph), 1))
        graph.derived[name] = UnitFlows(len(graph), tail, head, split=split)
    result: UnitFlows = graph.derived[name]
    return result
