"""NetworkX's functions through its backends, conversion and result included.

A cold graph is converted in every call; a converted one was converted before, which NetworkX
keeps on the graph. The large graphs are those of NetworkX's own tests.
"""

import networkx as nx
import numpy as np
import pytest

nx.config.warnings_to_ignore.add("cache")
BACKENDS = set(nx.utils.backends.backends)
if "fastlb" not in BACKENDS:
    pytest.skip("fastlb is not installed: NetworkX does not see it", allow_module_level=True)
GRAPHS = ("gl1", "gw1", "wlm3")
LEAST = {"gl1": 40, "gw1": 40, "wlm3": 10}


def compete(race, name, function, graph, *arguments, cold, peers, targets):
    """Race backends; compared is the first number of the result, a value or a cost."""

    def program(backend):
        def call():
            if cold:
                graph.__networkx_cache__.clear()
            return function(graph, *arguments, backend=backend)[0]

        return call if backend == "networkx" or backend in BACKENDS else None

    race(
        f"networkx {name}, {'cold' if cold else 'converted'}",
        program("fastlb"),
        {peer: program(peer) for peer in peers},
        nodes=len(graph),
        targets=targets,
    )


@pytest.mark.parametrize("cold", [True, False], ids=["cold", "converted"])
@pytest.mark.parametrize("name", GRAPHS)
def test_maximum_flow(race, quick, name, cold):
    if quick:
        graph = nx.grid_2d_graph(6, 6, create_using=nx.DiGraph)
        nx.set_edge_attributes(graph, 3, "capacity")
        ends = (0, 0), (5, 5)
    else:
        tests = pytest.importorskip("networkx.algorithms.flow.tests.test_maxflow_large_graph")
        # As read, its graphs have no place for conversions.
        graph = nx.DiGraph(tests.read_graph(name))
        ends = 1, len(graph)
    targets = {"networkx": LEAST[name] if cold else 100, "franken_networkx": 5}
    compete(race, name, nx.maximum_flow, graph, *ends, cold=cold, peers=targets, targets=targets)


def with_demands(nodes, arcs, seed=1):
    """Return a connected graph with random demands, capacities and weights."""
    draws = np.random.default_rng(seed)
    graph = nx.DiGraph()
    demand = draws.integers(-50, 51, nodes)
    demand[-1] -= demand.sum()
    graph.add_nodes_from((u, {"demand": d}) for u, d in enumerate(demand.tolist()))
    ends = draws.integers(0, nodes, (arcs - nodes, 2)).tolist()
    limits = draws.integers(1, 100, (arcs - nodes, 2)).tolist()
    for (u, v), (capacity, weight) in zip(ends, limits, strict=True):
        graph.add_edge(u, v, capacity=capacity, weight=weight)
    graph.add_edges_from(((u, (u + 1) % nodes) for u in range(nodes)), weight=1000)
    return graph


@pytest.mark.parametrize("nodes", [1_000, 4_000])
def test_network_simplex(race, quick, nodes):
    graph = with_demands(*(40, 200) if quick else (nodes, 8 * nodes))
    name, targets = f"network simplex, {nodes:,} nodes", {"networkx": 50}
    compete(race, name, nx.network_simplex, graph, cold=True, peers=targets, targets=targets)
