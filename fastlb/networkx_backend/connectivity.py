"""How many nodes or edges must fail to part two nodes or a graph, as NetworkX counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx

from .candidates import (
    both_or_none,
    is_connected,
    least_degree,
    numbered,
    pairs_for_edges,
    pairs_for_nodes,
)
from .graph import ConvertedGraph
from .unit_flows import without_common_links, without_common_nodes

FlowFunction = Callable[..., Any] | None


def node_connectivity(
    G: ConvertedGraph, s: Any = None, t: Any = None, flow_func: FlowFunction = None
) -> int:
    """Return the fewest nodes that part s from t, or the graph."""
    if both_or_none(G, s, t):
        return local_node_connectivity(G, s, t)
    if not is_connected(G):
        return 0
    node, degree = least_degree(G)
    pairs = numbered(G, pairs_for_nodes(G, node))
    return without_common_nodes(G).least(pairs, degree)[0]


def edge_connectivity(
    G: ConvertedGraph,
    s: Any = None,
    t: Any = None,
    flow_func: FlowFunction = None,
    cutoff: float | None = None,
) -> int | float:
    """Return the fewest edges that part s from t, or the graph; ``cutoff`` if more."""
    if both_or_none(G, s, t):
        return local_edge_connectivity(G, s, t, cutoff=cutoff)
    if not is_connected(G):
        return 0
    _, degree = least_degree(G)
    bound = degree if cutoff is None else min(cutoff, degree)
    pairs = pairs_for_edges(G)
    if len(G) == 1 and pairs:
        raise nx.NetworkXError("source and sink are the same node")
    return min(bound, without_common_links(G).least(numbered(G, pairs), bound)[0])


def local_node_connectivity(
    G: ConvertedGraph,
    s: Any,
    t: Any,
    flow_func: FlowFunction = None,
    auxiliary: None = None,
    residual: None = None,
    cutoff: float | None = None,
) -> int:
    """Return the fewest nodes that part s from t; for neighbors, the edge counts as a node."""
    return without_common_nodes(G).least([(G.index[s], G.index[t])], cutoff)[0]


def local_edge_connectivity(
    G: ConvertedGraph,
    s: Any,
    t: Any,
    flow_func: FlowFunction = None,
    auxiliary: None = None,
    residual: None = None,
    cutoff: float | None = None,
) -> int:
    """Return the fewest edges that part s from t."""
    return without_common_links(G).least([two_nodes(G, s, t)], cutoff)[0]


def two_nodes(graph: ConvertedGraph, s: Any, t: Any) -> tuple[int, int]:
    """Return the numbers of two nodes, or raise what NetworkX's flow functions raise."""
    for node in (s, t):
        if node not in graph:
            raise nx.NetworkXError(f"node {node!s} not in graph")
    if s == t:
        raise nx.NetworkXError("source and sink are the same node")
    return graph.index[s], graph.index[t]


def average_node_connectivity(G: ConvertedGraph, flow_func: FlowFunction = None) -> float:
    """Return the mean of the local node connectivity of all pairs of nodes."""
    pairs = len(G) * (len(G) - 1)
    if not pairs:
        return 0
    flows = without_common_nodes(G).between(range(len(G)), both_ways=not G.is_directed())
    return int(flows.sum(dtype="int64")) / pairs


def all_pairs_node_connectivity(
    G: ConvertedGraph, nbunch: Iterable[Any] | None = None, flow_func: FlowFunction = None
) -> dict[Any, dict[Any, int]]:
    """Return the local node connectivity of all pairs of some nodes, by node and node."""
    nodes = G.nodes if nbunch is None else list(set(nbunch))
    if len(nodes) < 2:
        return {node: {} for node in nodes}
    numbers = [G.index[node] for node in nodes]
    flows = without_common_nodes(G).between(numbers, both_ways=not G.is_directed())
    result = {}
    for node, row in zip(nodes, flows.tolist(), strict=True):
        result[node] = dict(zip(nodes, row, strict=True))
        del result[node][node]
    return result
