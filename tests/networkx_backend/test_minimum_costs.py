"""Flows of least cost through the backend: NetworkX's own flows, costs and errors."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.networkx_backend.graphs import graphs, outcome, served

DIRECTED = (nx.DiGraph, nx.MultiDiGraph)
SIMPLE = ("network_simplex", "min_cost_flow", "min_cost_flow_cost")


@st.composite
def edges(draw, capacity, weight):
    data = {"capacity": draw(capacity), "weight": draw(weight)}
    return {name: value for name, value in data.items() if value is not None}


AMOUNTS = st.one_of(st.none(), st.integers(0, 9), st.just(math.inf))
COSTS = st.one_of(st.none(), st.integers(0, 7), st.integers(-2, 7))
WHOLE = edges(AMOUNTS, COSTS)
BELOW_ZERO = edges(st.one_of(AMOUNTS, st.just(-1)), COSTS)
BAD = edges(
    st.sampled_from([None, -1, math.inf, -math.inf, 3]),
    st.sampled_from([None, math.inf, -math.inf]),
)
EIGHTHS = edges(
    st.one_of(st.none(), st.integers(0, 40).map(lambda n: n / 8)),
    st.integers(-4, 40).map(lambda n: n / 8),
)


@st.composite
def problems(draw, kinds=DIRECTED, weights=WHOLE, unit=1):
    """Draw a graph with demands, most of which add up to 0."""
    graph = draw(graphs(kinds, weights=weights))
    demands = draw(st.lists(st.integers(-4, 4), min_size=len(graph), max_size=len(graph)))
    if demands and draw(st.sampled_from([True] * 9 + [False])):
        demands[-1] -= sum(demands)
    for node, demand in zip(graph, demands, strict=True):
        if demand:
            graph.add_node(node, demand=demand * unit)
    return graph


def text(result):
    """Return a result as text: with its types and the order of its dictionaries."""
    return repr(result)


@given(problems())
def test_the_network_simplex_method_returns_networkx_s_flow(graph):
    for name in SIMPLE:
        own = outcome(served, name, graph)
        assert text(own) == text(outcome(getattr(nx, name), graph))


@given(problems(weights=BAD))
def test_bad_numbers_are_refused_as_by_networkx(graph):
    for name in SIMPLE:
        own = outcome(served, name, graph)
        assert text(own) == text(outcome(getattr(nx, name), graph))


@given(problems((nx.Graph, nx.MultiGraph)))
def test_undirected_graphs_are_refused_as_by_networkx(graph):
    for name in ("min_cost_flow", "min_cost_flow_cost", "capacity_scaling"):
        assert outcome(served, name, graph) == outcome(getattr(nx, name), graph)


def arcs(graph, flow):
    """Yield the data and the flow of each arc, and its ends."""
    if graph.is_multigraph():
        for u, v, key, data in graph.edges(keys=True, data=True):
            yield u, v, data, flow[u][v][key]
    else:
        for u, v, data in graph.edges(data=True):
            yield u, v, data, flow[u][v]


def assert_meets_demands(graph, cost, flow):
    """Assert that a flow is within capacities, meets the demands and costs what it should."""
    excess = {node: -data.get("demand", 0) for node, data in graph.nodes(data=True)}
    total = 0
    for u, v, data, x in arcs(graph, flow):
        assert 0 <= x <= max(data.get("capacity", math.inf), 0)
        assert type(x) in (int, float)
        excess[u] -= x
        excess[v] += x
        total += x * data.get("weight", 0)
    assert not any(excess.values())
    assert total == cost


@given(problems(weights=BELOW_ZERO))
def test_capacity_scaling_returns_a_flow_of_networkx_s_cost(graph):
    expected = outcome(nx.capacity_scaling, graph)
    own = outcome(served, "capacity_scaling", graph)
    if expected[0] is not tuple:
        assert own == expected
        return
    (cost, flow), (expected_cost, expected_flow) = own[1], expected[1]
    assert cost == expected_cost
    assert type(cost) is int
    assert [(u, list(row)) for u, row in flow.items()] == [
        (u, list(row)) for u, row in expected_flow.items()
    ]
    # Without arcs that a flow could use NetworkX does not look at demands.
    if any(data.get("capacity", 1) > 0 and u != v for u, v, data, _ in arcs(graph, flow)):
        assert_meets_demands(graph, cost, flow)


@given(graphs((nx.Graph, nx.DiGraph, nx.MultiDiGraph), weights=WHOLE), st.data())
def test_a_maximum_flow_of_least_cost_is_networkx_s(graph, data):
    nodes = [*graph, "nowhere"]
    ends = data.draw(st.sampled_from(nodes)), data.draw(st.sampled_from(nodes))
    own = outcome(served, "max_flow_min_cost", graph, *ends)
    assert text(own) == text(outcome(nx.max_flow_min_cost, graph, *ends))


@given(problems(weights=EIGHTHS, unit=0.25))
def test_floats_are_as_networkx_has_them_where_sums_are_exact(graph):
    own, expected = outcome(served, "network_simplex", graph), outcome(nx.network_simplex, graph)
    if expected[0] is not tuple:
        assert own == expected
    else:
        assert own[1][0] == expected[1][0]
        assert_meets_demands(graph, *own[1])


def test_floats_that_do_not_scale_are_left_to_networkx():
    graph = nx.DiGraph([(0, 1, {"capacity": 1e30, "weight": 1})])
    graph.add_node(0, demand=-0.1)
    graph.add_node(1, demand=0.1)
    with pytest.raises(NotImplementedError, match="far apart"):
        served("network_simplex", graph)


def test_large_weights_are_exact_or_left_to_networkx():
    graph = nx.DiGraph([(0, 1, {"weight": 2**50}), (1, 2, {"weight": 2**50 + 1})])
    graph.add_node(0, demand=-(2**20))
    graph.add_node(2, demand=2**20)
    assert served("min_cost_flow_cost", graph) == 2**20 * (2**51 + 1)
    graph.add_edge(0, 2, weight=2**62)
    with pytest.raises(NotImplementedError):
        served("min_cost_flow_cost", graph)


def test_a_larger_flow_is_networkx_s():
    rng = np.random.default_rng(3)
    graph = nx.DiGraph()
    demands = rng.integers(-20, 20, 200)
    demands[-1] -= demands.sum()
    for node, demand in enumerate(demands.tolist()):
        graph.add_node(node, demand=demand)
        graph.add_edge(node, (node + 1) % 200, weight=500)
    for u, v, c, w in rng.integers(0, 200, (1500, 4)).tolist():
        graph.add_edge(u, v, capacity=c % 40, weight=w)
    expected = nx.network_simplex(graph)
    assert text(served("network_simplex", graph)) == text(expected)
