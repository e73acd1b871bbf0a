"""Connectivity through the backend: equal to NetworkX's, and to the definitions."""

import itertools

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.networkx_backend.graphs import arcs_of, assert_same, graphs, served
from tests.oracles import connectivity as oracle


@given(graphs())
def test_whole_graphs_are_as_networkx_has_them(graph):
    assert_same("node_connectivity", graph)
    assert_same("edge_connectivity", graph)
    assert_same("average_node_connectivity", graph)


@given(graphs())
def test_all_pairs_are_as_networkx_has_them_in_its_order(graph):
    assert_same("all_pairs_node_connectivity", graph)
    assert_same("all_pairs_node_connectivity", graph, list(graph)[::2])
    assert_same("all_pairs_node_connectivity", graph, [*list(graph)[:1], "missing"])
    assert_same("all_pairs_node_connectivity", graph, ["missing"])


@given(graphs(), st.data())
def test_two_nodes_are_parted_as_networkx_has_it(graph, data):
    ends = st.sampled_from([*graph, "missing", [], None])
    s, t = data.draw(ends), data.draw(ends)
    assert_same("node_connectivity", graph, s, t)
    assert_same("edge_connectivity", graph, s, t)
    if s in graph and t in graph:
        cutoff = data.draw(st.sampled_from([None, 0, 1, 2, 1.5, -1, True, float("inf")]))
        assert_same("local_node_connectivity", graph, s, t, cutoff=cutoff)
        assert_same("local_edge_connectivity", graph, s, t, cutoff=cutoff)


@given(graphs(), st.sampled_from([0, 1, 2, 3, 1.5, 2.0, -1, True, 1e300, float("inf")]))
def test_a_cutoff_is_as_networkx_has_it(graph, cutoff):
    assert_same("edge_connectivity", graph, cutoff=cutoff)


@given(graphs(most=6))
def test_numbers_are_those_of_the_definitions(graph):
    n, arcs = len(graph), arcs_of(graph)
    for (i, s), (j, t) in itertools.permutations(enumerate(graph), 2):
        assert served("node_connectivity", graph, s, t) == oracle.nodes_between(n, arcs, i, j)
        assert served("edge_connectivity", graph, s, t) == oracle.edges_between(n, arcs, i, j)


@given(graphs((nx.Graph,), most=6))
def test_a_graph_has_the_least_of_its_pairs(graph):
    # NetworkX counts loops among the edges that isolate a node.
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    n, arcs = len(graph), arcs_of(graph)
    if n < 2:
        return
    pairs = list(itertools.combinations(range(n), 2))
    fewest = min(oracle.edges_between(n, arcs, i, j) for i, j in pairs)
    assert served("edge_connectivity", graph) == fewest
    fewest = min(oracle.nodes_between(n, arcs, i, j) for i, j in pairs)
    assert served("node_connectivity", graph) == fewest


def test_known_graphs():
    assert served("node_connectivity", nx.petersen_graph()) == 3
    assert served("edge_connectivity", nx.icosahedral_graph()) == 5
    assert served("node_connectivity", nx.hypercube_graph(5)) == 5
    assert served("edge_connectivity", nx.barbell_graph(6, 0)) == 1
    assert served("average_node_connectivity", nx.cycle_graph(9)) == 2.0
    assert served("node_connectivity", nx.complete_graph(7).to_directed()) == 6


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_larger_graphs_are_as_networkx_has_them(kind):
    graph = nx.gnm_random_graph(40, 110, seed=3, directed=kind is nx.DiGraph)
    assert_same("all_pairs_node_connectivity", graph, list(graph)[:9])
    assert_same("node_connectivity", graph)
    assert_same("edge_connectivity", graph)
    s, t = 1, 30
    assert_same("edge_connectivity", graph, s, t)


def test_an_answer_serves_the_next_call():
    graph = nx.gnm_random_graph(30, 80, seed=5)
    from fastlb.networkx_backend.connectivity import edge_connectivity, node_connectivity
    from fastlb.networkx_backend.graph import ConvertedGraph

    converted = ConvertedGraph(graph, with_data=False)
    first = [node_connectivity(converted), edge_connectivity(converted)]
    made = dict(converted.derived)
    assert [node_connectivity(converted), edge_connectivity(converted)] == first
    assert converted.derived == made
