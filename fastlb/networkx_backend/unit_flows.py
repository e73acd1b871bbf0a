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
# Bounds the memory that pairs of many nodes take.
PAIRS_AT_ONCE = 2**20
# More than any flow, and one less than what int32 holds.
MAX_FLOW = 2**31 - 2


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
        K = len(nodes)
        numbers = np.array(nodes, np.int64)
        flows = np.zeros(K * K, np.int32)
        for begin in range(0, K * K, PAIRS_AT_ONCE):
            i, j = np.divmod(np.arange(begin, min(begin + PAIRS_AT_ONCE, K * K)), K)
            computed = i < j if both_ways else i != j
            i, j = i[computed], j[computed]
            flows[i * K + j] = self._flows(numbers[i], numbers[j], MAX_FLOW)
        matrix = flows.reshape(K, K)
        return matrix + matrix.T if both_ways else matrix

    def least(self, pairs: Sequence[tuple[int, int]], bound: float | None) -> tuple[int, int]:
        """Return the least flow of (P, 2) pairs and the last such pair; ``bound`` and -1 if above.

        A bound between two integers counts as the larger one.
        """
        limit = MAX_FLOW if bound is None else ceil(min(max(bound, 0), MAX_FLOW))
        sources, sinks = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
        flows = self._flows(sources, sinks, limit + 1, falling=True)
        least = min(limit, int(flows.min(initial=limit)))
        last = np.flatnonzero(flows == least)
        return least, int(last[-1]) if len(last) else -1

    def crossing(self, source: int, sink: int) -> tuple[Integers, Integers]:
        """Return tails and heads of the minimum cut nearest to the sink, in the graph's numbers.

        Where nodes are split, the two are the same but at source and sink.
        """
        start, end = (2 * source + 1, 2 * sink) if self.split else (source, sink)
        side = kernels("connectivity.pairs").sink_side(self._graph, self._capacity, start, end)
        cut = ~side[self.tail] & side[self.head]
        return self.tail[cut] >> self.split, self.head[cut] >> self.split

    def all_lead_to(self, sink: int) -> bool:
        """Return whether arcs lead from every node to one of them."""
        side = kernels("connectivity.pairs").sink_side(self._graph, self._capacity, None, sink)
        return bool(side.all())

    def _flows(
        self, sources: Integers, sinks: Integers, limit: int, *, falling: bool = False
    ) -> NDArray[np.int32]:
        """Return the flows of pairs (P,), each counted up to a limit."""
        if self.split:
            sources, sinks = 2 * sources + 1, 2 * sinks
        flows: NDArray[np.int32] = kernels("connectivity.pairs").flows_of_pairs(
            self._graph, self._capacity, sources, sinks, limit, falling=falling
        )
        return flows


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
