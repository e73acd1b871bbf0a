"""Which pairs of nodes NetworkX compares to find the connectivity of a whole graph, in its order.

The orders are those of its dictionaries and sets: of several minimum cuts NetworkX returns the
last, and so it is the same one here.
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import networkx as nx
import numpy as np

from .graph import ConvertedGraph
from .unit_flows import UnitFlows, without_common_links

Pairs = list[tuple[Any, Any]]


def is_connected(graph: ConvertedGraph) -> bool:
    """Return whether links join all nodes, whatever way they go."""
    if not len(graph):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if "connected" not in graph.derived:
        flows = without_common_links(graph)
        if graph.is_directed():
            tail, head = flows.tail, flows.head
            both = np.concatenate([tail, head]), np.concatenate([head, tail])
            flows = UnitFlows(len(graph), *both, split=False)
        graph.derived["connected"] = flows.all_lead_to(0)
    return bool(graph.derived["connected"])


def least_degree(graph: ConvertedGraph) -> tuple[Any, int]:
    """Return the first node of the least degree, and its degree: a loop counts twice."""
    ends = graph.head if graph.is_directed() else graph.tail[graph.tail == graph.head]
    degrees = np.bincount(np.concatenate([graph.tail, ends]), minlength=len(graph))
    u = int(np.argmin(degrees))
    return graph.nodes[u], int(degrees[u])


def pairs_for_edges(graph: ConvertedGraph) -> Pairs:
    """Return pairs of nodes, one of which has the least edge cut unless it isolates a node.

    In a directed graph, they are each node and the next one, all around. In an undirected one, a
    cut that leaves whole neighborhoods on both sides parts any dominating set.
    """
    nodes = graph.nodes
    if graph.is_directed():
        return list(zip(nodes, nodes[1:] + nodes[:1], strict=True))
    for node in nodes:
        dominating = _dominating_set(graph, node)
        first = dominating.pop()
        if dominating:
            return [(first, other) for other in dominating]
    return []


def _dominating_set(graph: ConvertedGraph, first: Any) -> set[Any]:
    """Return nodes that have all others as neighbors, or nearly so few: NetworkX's choice."""
    adjacency = graph.original._adj
    chosen = {first}
    remaining = set(graph.nodes) - set(adjacency[first]) - chosen
    while remaining:
        node = remaining.pop()
        remaining -= set(adjacency[node]) - chosen
        chosen.add(node)
    return chosen


def pairs_for_nodes(graph: ConvertedGraph, node: Any) -> Pairs:
    """Return pairs of nodes, one of which has the least node cut, if any has one.

    Either ``node`` is not in the cut, and some other node is parted from it; or it is, and has
    neighbors on both sides.
    """
    adjacency = graph.original._adj
    around = list(adjacency[node])
    if graph.is_directed():
        around = [*graph.original._pred[node], *around]
    others = set(graph.nodes) - set(around) - {node}
    ordered = permutations if graph.is_directed() else combinations
    pairs = [(node, other) for other in others]
    return pairs + [(x, y) for x, y in ordered(around, 2) if y not in adjacency[x]]


def numbered(graph: ConvertedGraph, pairs: Pairs) -> list[tuple[int, int]]:
    """Return pairs of nodes as pairs of their numbers."""
    return [(graph.index[x], graph.index[y]) for x, y in pairs]


def both_or_none(graph: ConvertedGraph, s: Any, t: Any) -> bool:
    """Return whether source and target are given, or raise what NetworkX raises."""
    if (s is None) != (t is None):
        raise nx.NetworkXError("Both source and target must be specified.")
    if s is None:
        return False
    for node in (s, t):
        if node not in graph:
            raise nx.NetworkXError(f"node {node} not in graph")
    return True
