"""Cut trees of undirected graphs, and their least cuts without flows, as NetworkX returns them."""

from __future__ import annotations

from math import inf
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..accelerate import kernels
from .candidates import is_connected
from .connectivity import FlowFunction
from .graph import Attribute, ConvertedGraph
from .numbers import UNLIMITED

# The most that integers may add up to: what flows one way adds to what may flow back.
MAX_TOTAL = 2**62 - 1


def gomory_hu_tree(
    G: ConvertedGraph, capacity: Attribute = "capacity", flow_func: FlowFunction = None
) -> Any:
    """Return a tree in which the least weight between two nodes is that of a minimum cut.

    It is NetworkX's tree: each flow's cut is the one nearest to the sink.
    """
    if not len(G):
        raise nx.NetworkXError("Empty Graph does not have a Gomory-Hu tree representation")
    if G.is_multigraph():
        raise nx.NetworkXError("MultiGraph and MultiDiGraph not supported (yet).")
    values = G.attribute(capacity, inf)
    # NaN counts as no capacity, too.
    values = np.where((values > 0) & (G.tail != G.head), values, 0)
    if (values == (UNLIMITED if values.dtype == np.int64 else inf)).any():
        # The two nodes of that link are parted by some link of the tree.
        raise nx.NetworkXUnbounded("Infinite capacity path, flow unbounded above.")
    limit = _total(values[G.once]) + 1
    residual = kernels("flows.residual").residual_graph(len(G), G.tail, G.head)
    parent, cut = kernels("connectivity.cut_tree").cut_tree(
        residual, values[residual.link], values.dtype.type(limit)
    )
    tree: Any = nx.Graph()
    tree.add_nodes_from(G.nodes)
    numbers = zip(range(1, len(G)), parent[1:].tolist(), cut[1:].tolist(), strict=True)
    tree.add_weighted_edges_from((G.nodes[u], G.nodes[v], value or 0) for u, v, value in numbers)
    return tree


def stoer_wagner(
    G: ConvertedGraph, weight: Attribute = "weight", heap: Any = None
) -> tuple[int | float, tuple[list[Any], list[Any]]]:
    """Return the weight of a minimum cut of the whole graph, and the nodes on both sides."""
    if len(G) < 2:
        raise nx.NetworkXError("graph has less than two nodes.")
    tail, head = G.links
    weights = G.attribute(weight, 1, once=True)[tail != head]
    tail, head = tail[tail != head], head[tail != head]
    if (weights < 0).any() and is_connected(G):
        raise nx.NetworkXError("graph has a negative-weighted edge.")
    _total(weights)
    # NetworkX works on a copy of the graph, whose nodes are in the order in which links name them.
    ends = np.stack([tail, head], axis=1).reshape(-1)
    first = np.full(len(G), len(ends))
    first[ends[::-1]] = np.arange(len(ends))[::-1]
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    cuts, merged = kernels("connectivity.global_cut").cuts_of_phases(
        len(G), place[tail], place[head], abs(weights), every=weights.dtype == np.float64
    )
    if not len(cuts):
        raise nx.NetworkXError("graph is not connected.")
    best = int(np.argmin(cuts))
    nodes = [G.nodes[u] for u in order.tolist()]
    mergers = [(nodes[u], nodes[v]) for u, v in merged[: best + 1].tolist()]
    # As a set is made of a dictionary and of the rest: so are NetworkX's, whose order this is.
    side = set(_merged_into(mergers[:best], mergers[best][1]))
    return cuts[best].item(), (list(side), list(set(nodes) - side))


def _merged_into(mergers: list[tuple[Any, Any]], node: Any) -> dict[Any, None]:
    """Return the nodes that mergers join with a node, breadth first."""
    joined: dict[Any, list[Any]] = {node: []}
    for u, v in mergers:
        joined.setdefault(u, []).append(v)
        joined.setdefault(v, []).append(u)
    reached = dict.fromkeys([node])
    queue = [node]
    for u in queue:
        for v in joined[u]:
            if v not in reached:
                reached[v] = None
                queue.append(v)
    return reached


def _total(values: NDArray[Any]) -> int | float:
    """Return the sum, or raise where kernels could not count so far."""
    if values.dtype == np.float64:
        total = float(values.sum())
        if not total <= np.finfo(np.float64).max / 4:
            raise NotImplementedError(f"capacities or weights add up to {total}")
        return total
    # Sums of the upper and lower halves of each: none can wrap.
    exact = (int((values >> 31).sum()) << 31) + int((values & (2**31 - 1)).sum())
    if exact > MAX_TOTAL:
        raise NotImplementedError(f"capacities or weights add up to {exact}, above 2**62 - 1")
    return exact
