"""Connectivity, cuts and cut trees as a backend of NetworkX, beside NetworkX's own functions.

A call begins with a NetworkX graph and ends with NetworkX's result: its conversion is included, but
in the rows of a graph that was converted before.
"""

import networkx as nx
import numpy as np
import pytest

from fastlb.networkx_backend.graph import ConvertedGraph
from fastlb.networkx_backend.interface import backend


def random_graph(nodes, links, *, directed=False):
    """Return a connected random graph with capacities and weights of 1 to 50."""
    graph = nx.gnm_random_graph(nodes, links - nodes, seed=7, directed=directed)
    nx.add_cycle(graph, range(nodes))
    draws = np.random.default_rng(7)
    for u, v in graph.edges:
        graph[u][v]["capacity"] = graph[u][v]["weight"] = int(draws.integers(1, 51))
    return graph


def as_arrays(result):
    """Return a result as arrays that are equal where results are."""
    if isinstance(result, dict):
        return np.array([list(row.values()) for row in result.values()])
    if isinstance(result, nx.Graph):
        return np.array(sorted((*sorted(e), w) for *e, w in result.edges(data="weight")))
    if isinstance(result, tuple):
        return np.append(result[1][0], result[0])
    return np.array(sorted(result) if isinstance(result, set) else result)


ROWS = [
    ("all_pairs_node_connectivity", 60, 240, False),
    ("average_node_connectivity", 60, 240, True),
    ("node_connectivity", 200, 800, False),
    ("node_connectivity", 200, 1600, True),
    ("edge_connectivity", 1000, 4000, False),
    ("edge_connectivity", 200, 1600, True),
    ("minimum_node_cut", 100, 400, False),
    ("minimum_edge_cut", 1000, 4000, False),
    ("gomory_hu_tree", 100, 400, False),
    ("gomory_hu_tree", 400, 1600, False),
    ("stoer_wagner", 200, 800, False),
    ("stoer_wagner", 100, 3000, False),
]


@pytest.mark.parametrize(("name", "nodes", "links", "directed"), ROWS)
def test_function(race, quick, name, nodes, links, directed):
    if quick:
        nodes, links = 12, 30
    graph = random_graph(nodes, links, directed=directed)
    with_data = name in ("gomory_hu_tree", "stoer_wagner")
    own, peer = getattr(backend, name), getattr(nx, name)
    race(
        f"networkx {name}: {nodes} nodes, {links} links{', directed' if directed else ''}",
        lambda: as_arrays(own(ConvertedGraph(graph, with_data=with_data))),
        {"networkx": lambda: as_arrays(peer(graph))},
        nodes=nodes,
        targets={"networkx": 50},
    )


def test_two_nodes_of_a_graph_converted_before(race, quick):
    graph = random_graph(*((12, 30) if quick else (1000, 4000)))
    converted = ConvertedGraph(graph, with_data=False)
    race(
        "networkx node_connectivity: two of 1000 nodes, converted before",
        lambda: np.array(backend.node_connectivity(converted, 1, 7)),
        {"networkx": lambda: np.array(nx.node_connectivity(graph, 1, 7))},
        nodes=len(graph),
        targets={"networkx": 100},
    )
