"""Minimum cuts through the backend: NetworkX's own, and proven."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from tests.networkx_backend.graphs import assert_same, graphs, served


@given(graphs())
def test_whole_graphs_are_cut_where_networkx_cuts_them(graph):
    assert_same("minimum_node_cut", graph)
    assert_same("minimum_edge_cut", graph)


@given(graphs(), st.data())
def test_two_nodes_are_parted_where_networkx_parts_them(graph, data):
    ends = st.sampled_from([*graph, "missing", [], None])
    s, t = data.draw(ends), data.draw(ends)
    assert_same("minimum_node_cut", graph, s, t)
    assert_same("minimum_edge_cut", graph, s, t)
    if s in graph and t in graph:
        assert_same("minimum_st_node_cut", graph, s, t)
        assert_same("minimum_st_edge_cut", graph, s, t)


@given(graphs((nx.Graph, nx.DiGraph)), st.data())
def test_cuts_part_two_nodes_and_are_as_large_as_the_paths_are_many(graph, data):
    if len(graph) < 2:
        return
    s, t = data.draw(st.permutations(list(graph)))[:2]
    edges = served("minimum_edge_cut", graph, s, t)
    assert edges <= {e for u, v in graph.edges for e in ((u, v), (v, u))}
    rest = graph.copy()
    rest.remove_edges_from(edges)
    assert not nx.has_path(rest, s, t)
    assert len(edges) == served("edge_connectivity", graph, s, t)
    if graph.has_edge(s, t) or graph.has_edge(t, s):
        return
    nodes = served("minimum_node_cut", graph, s, t)
    rest = graph.copy()
    rest.remove_nodes_from(nodes)
    assert not nx.has_path(rest, s, t)
    assert len(nodes) == served("node_connectivity", graph, s, t)


def test_a_larger_graph_is_cut_where_networkx_cuts_it():
    graph = nx.connected_watts_strogatz_graph(60, 6, 0.2, seed=8)
    for name in ("minimum_node_cut", "minimum_edge_cut"):
        assert_same(name, graph)
        assert_same(name, graph, 4, 33)
        assert_same(name, graph.to_directed())


def test_a_graph_with_names_that_collide_in_sets_is_cut_where_networkx_cuts_it():
    graph = nx.relabel_nodes(nx.circular_ladder_graph(12), lambda i: (i * 37) % 64 * 64)
    assert_same("minimum_node_cut", graph)
    assert_same("minimum_edge_cut", graph)
