"""Cut trees and Stoer and Wagner's cuts through the backend: NetworkX's own, and proven."""

import itertools
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.networkx_backend.graphs import assert_same, graphs, outcome, served
from tests.oracles import connectivity as oracle

INTEGERS = st.integers(0, 9)
# Sums of eighths are exact.
EIGHTHS = st.integers(0, 40).map(lambda n: n / 8)


def weighted(values, name):
    """Return a strategy for the attributes of an edge, at times without a value."""
    return st.one_of(st.just({}), *[values.map(lambda value: {name: value})] * 4)


def by_number(graph, name, default):
    number = {node: i for i, node in enumerate(graph)}
    return {
        (number[u], number[v]): data.get(name, default) for u, v, data in graph.edges(data=True)
    }


def tree_outcome(function, graph, *args, **kwargs):
    """Return the tree that a call returns as lists, in their orders, or the error."""
    result = outcome(function, graph, *args, **kwargs)
    if isinstance(result[1], nx.Graph):
        return list(result[1]), list(result[1].edges(data=True)), type(result[1])
    return result


@given(graphs((nx.Graph, nx.MultiGraph), weights=INTEGERS.map(lambda c: {"capacity": c})))
def test_trees_are_networkx_s(graph):
    expected = tree_outcome(nx.gomory_hu_tree, graph)
    assert tree_outcome(lambda g: served("gomory_hu_tree", g), graph) == expected


@given(graphs((nx.Graph,), weights=weighted(EIGHTHS, "room")))
def test_trees_with_floats_and_missing_capacities_are_networkx_s(graph):
    own = tree_outcome(lambda g: served("gomory_hu_tree", g, "room"), graph)
    assert own == tree_outcome(nx.gomory_hu_tree, graph, "room")


@given(graphs((nx.Graph,), most=6, weights=INTEGERS.map(lambda c: {"capacity": c})))
def test_the_least_weight_on_the_way_is_that_of_a_minimum_cut(graph):
    if not len(graph):
        return
    tree = served("gomory_hu_tree", graph)
    assert nx.is_tree(tree)
    weights = by_number(graph, "capacity", 0)
    for (i, s), (j, t) in itertools.combinations(enumerate(graph), 2):
        path = nx.shortest_path(tree, s, t)
        least, link = min(
            ((tree[u][v]["weight"], (u, v)) for u, v in itertools.pairwise(path)),
            key=lambda pair: pair[0],
        )
        assert least == oracle.cut_between(weights, len(graph), i, j)
        parts = tree.copy()
        parts.remove_edge(*link)
        side = nx.node_connected_component(parts, s)
        assert least == nx.cut_size(graph, side, weight="capacity")


@given(graphs((nx.Graph,), weights=weighted(st.integers(-1, 9), "weight")))
def test_cuts_without_flows_are_networkx_s_to_the_order_of_nodes(graph):
    assert_same("stoer_wagner", graph)


@given(graphs((nx.Graph,), weights=weighted(st.floats(0, 9), "w")))
def test_cuts_with_floats_are_networkx_s_to_the_bit(graph):
    for u, v in graph.edges:
        graph[u][v].setdefault("w", 1.0)
    assert_same("stoer_wagner", graph, "w")


@given(graphs((nx.Graph,), most=7, weights=INTEGERS.map(lambda w: {"weight": w})))
def test_cuts_are_the_least_of_all_partitions(graph):
    if len(graph) < 2 or not nx.is_connected(graph):
        return
    value, (side, rest) = served("stoer_wagner", graph)
    assert value == oracle.global_cut(by_number(graph, "weight", 1), len(graph))
    assert value == nx.cut_size(graph, side, weight="weight")
    assert sorted(map(repr, [*side, *rest])) == sorted(map(repr, graph))
    assert side
    assert rest


def test_larger_graphs_are_as_networkx_has_them():
    graph = nx.connected_watts_strogatz_graph(70, 6, 0.3, seed=2)
    draws = np.random.default_rng(4)
    for u, v in graph.edges:
        graph[u][v].update(weight=int(draws.integers(1, 6)), capacity=int(draws.integers(1, 50)))
    assert_same("stoer_wagner", graph)
    expected = nx.gomory_hu_tree(graph)
    tree = served("gomory_hu_tree", graph)
    assert list(tree.edges(data=True)) == list(expected.edges(data=True))


def test_bad_weights_are_refused_as_networkx_does():
    path = nx.path_graph(3)
    path[0][1]["weight"] = -1
    assert_same("stoer_wagner", path)
    path.add_node(3)
    assert_same("stoer_wagner", path)
    assert_same("stoer_wagner", nx.path_graph(1))
    assert_same("stoer_wagner", nx.empty_graph(2))
    assert_same("gomory_hu_tree", nx.Graph())


@pytest.mark.parametrize("value", [2**62, 2**70, Fraction(1, 2), float("nan"), "1"])
def test_weights_that_do_not_fit_are_left_to_networkx(value):
    path = nx.path_graph(3)
    path[0][1]["weight"] = path[1][2]["weight"] = value
    with pytest.raises(NotImplementedError):
        served("stoer_wagner", path)
    if value == value:
        with pytest.raises(NotImplementedError):
            served("gomory_hu_tree", path, "weight")


def test_large_integers_stay_exact():
    graph = nx.cycle_graph(5)
    for u, v in graph.edges:
        graph[u][v]["weight"] = 2**58 + u + 7 * v
    assert_same("stoer_wagner", graph)
    expected = nx.gomory_hu_tree(graph, "weight")
    assert nx.utils.graphs_equal(served("gomory_hu_tree", graph, "weight"), expected)
