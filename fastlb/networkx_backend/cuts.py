"""The nodes or edges that part two nodes or a graph, as NetworkX returns them.

Of all minimum cuts between two nodes NetworkX returns the one nearest to the second, which is the
same whatever maximum flow led to it.
"""

from __future__ import annotations

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
from .connectivity import FlowFunction, two_nodes
from .graph import ConvertedGraph
from .unit_flows import without_common_links, without_common_nodes


def minimum_node_cut(
    G: ConvertedGraph, s: Any = None, t: Any = None, flow_func: FlowFunction = None
) -> Any:
    """Return the fewest nodes that part s from t, or the graph."""
    if both_or_none(G, s, t):
        return minimum_st_node_cut(G, s, t)
    _require_connected(G)
    node, _ = least_degree(G)
    neighbors = set(G.original._adj[node])
    pairs = pairs_for_nodes(G, node)
    for x, y in pairs:
        # NetworkX takes two nodes with a link from the second alone for such as nothing can part,
        # and that for the smallest cut.
        if x in G.original._adj[y]:
            return minimum_st_node_cut(G, x, y)
    _, last = without_common_nodes(G).least(numbered(G, pairs), len(neighbors))
    return minimum_st_node_cut(G, *pairs[last]) if last >= 0 else neighbors


def minimum_edge_cut(
    G: ConvertedGraph, s: Any = None, t: Any = None, flow_func: FlowFunction = None
) -> set[tuple[Any, Any]]:
    """Return the fewest edges that part s from t, or the graph."""
    if both_or_none(G, s, t):
        return minimum_st_edge_cut(G, s, t)
    _require_connected(G)
    node, _ = least_degree(G)
    around = {(node, neighbor) for neighbor in G.original._adj[node]}
    pairs = pairs_for_edges(G)
    if len(G) == 1 and pairs:
        raise nx.NetworkXError("source and sink are the same node")
    _, last = without_common_links(G).least(numbered(G, pairs), len(around))
    return minimum_st_edge_cut(G, *pairs[last]) if last >= 0 else around


def minimum_st_node_cut(
    G: ConvertedGraph,
    s: Any,
    t: Any,
    flow_func: FlowFunction = None,
    auxiliary: None = None,
    residual: None = None,
) -> Any:
    """Return the fewest nodes that part s from t, none for neighbors."""
    if G.original.has_edge(s, t) or G.original.has_edge(t, s):
        # An empty set, and before NetworkX 3.5 an empty dictionary.
        cut = nx.algorithms.connectivity.minimum_st_node_cut
        return cut(G.original, s, t, backend="networkx")
    ends = without_common_nodes(G).crossing(G.index[s], G.index[t])
    nodes = {G.nodes[u] for side in ends for u in side.tolist()}
    return nodes - {s, t}


def minimum_st_edge_cut(
    G: ConvertedGraph,
    s: Any,
    t: Any,
    flow_func: FlowFunction = None,
    auxiliary: None = None,
    residual: None = None,
) -> set[tuple[Any, Any]]:
    """Return the fewest edges that part s from t, each from the side of s to that of t."""
    tails, heads = without_common_links(G).crossing(*two_nodes(G, s, t))
    edges = zip(tails.tolist(), heads.tolist(), strict=True)
    return {(G.nodes[u], G.nodes[v]) for u, v in edges}


def _require_connected(graph: ConvertedGraph) -> None:
    if not is_connected(graph):
        raise nx.NetworkXError("Input graph is not connected")
