"""Graphs of all kinds for property tests, and calls of this backend beside NetworkX's own."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
from hypothesis import strategies as st

from fastlb.networkx_backend.graph import ConvertedGraph
from fastlb.networkx_backend.interface import backend

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
# Names whose sets are not in the order of insertion, and differ in hash and type.
NAMES = [7, "b", (1, 2), -3, 1024, "node", 16, 0, 8, frozenset({1})]


@st.composite
def graphs(draw: st.DrawFn, kinds: Any = KINDS, *, most: int = 8, weights: Any = None) -> nx.Graph:
    """Draw a graph: sparse, dense or complete, with loops or not, disconnected or not."""
    graph = draw(st.sampled_from(kinds))()
    n = draw(st.integers(0, most))
    names = draw(st.permutations(NAMES))[:n]
    graph.add_nodes_from(names[: draw(st.integers(0, n))])
    pairs = st.tuples(st.sampled_from(names), st.sampled_from(names)) if n else st.nothing()
    loops = draw(st.booleans())
    links = draw(st.lists(pairs, max_size=3 * n)) if n else []
    if n and draw(st.booleans()):
        # A path through all nodes: without it large graphs are rarely connected.
        links += list(pairwise(names))
    if draw(st.sampled_from([False] * 5 + [True])):
        links += [(u, v) for u in names for v in names]
    for u, v in links:
        if loops or u != v:
            graph.add_edge(u, v, **({} if weights is None else draw(weights)))
    graph.add_nodes_from(names)
    return graph


def served(name: str, graph: nx.Graph, *args: Any, **kwargs: Any) -> Any:
    """Call this backend's function on a converted graph."""
    return getattr(backend, name)(ConvertedGraph(graph), *args, **kwargs)


def outcome(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a call returns, with the types of numbers, or the error that it raises."""
    try:
        result = function(*args, **kwargs)
    except (nx.NetworkXException, KeyError) as error:
        return type(error), str(error)
    if isinstance(result, dict):
        return [(node, list(row.items())) for node, row in result.items()]
    return type(result), result


def assert_same(name: str, graph: nx.Graph, *args: Any, **kwargs: Any) -> None:
    """Assert that this backend and NetworkX return the same, or raise the same."""
    own = outcome(served, name, graph, *args, **kwargs)
    function = getattr(nx, name, None) or getattr(nx.algorithms.connectivity, name)
    expected = outcome(function, graph, *args, **kwargs)
    assert own == expected, (own, expected, graph.edges)


def arcs_of(graph: nx.Graph) -> set[tuple[int, int]]:
    """Return the arcs of a graph by the numbers of its nodes."""
    number = {node: i for i, node in enumerate(graph)}
    arcs = {(number[u], number[v]) for u, v in graph.edges()}
    return arcs if graph.is_directed() else arcs | {(v, u) for u, v in arcs}
