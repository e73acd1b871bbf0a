"""Maximum flows and minimum cuts through the backend: NetworkX's values and cuts, proven flows."""

from __future__ import annotations

import contextlib
import math
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlb.networkx_backend import arguments
from fastlb.networkx_backend.graph import ConvertedGraph
from fastlb.networkx_backend.interface import backend
from tests.networkx_backend.graphs import graphs, outcome, served

KINDS = (nx.Graph, nx.DiGraph)
INTEGERS = st.integers(-2, 9)
# Sums of eighths are exact, so that floats can be compared to the bit.
EIGHTHS = st.integers(-2, 40).map(lambda n: n / 8)
ODD = st.sampled_from([math.inf, math.nan, -math.inf, True, np.int32(3), np.float64(0.5), 4])


def capacities(*values):
    """Return a strategy for the data of an edge, at times without a capacity."""
    return st.one_of(st.just({}), *[value.map(lambda c: {"capacity": c}) for value in values])


ANY = st.one_of(capacities(INTEGERS, INTEGERS), capacities(EIGHTHS, EIGHTHS), capacities(ODD))


def two_nodes(graph, data):
    nodes = [*graph, "nowhere"]
    return data.draw(st.sampled_from(nodes)), data.draw(st.sampled_from(nodes))


def assert_flow(graph, s, t, value, flow):
    """Assert that a flow is one: within capacities, conserved, of the value, with ints for 0."""
    assert list(flow) == list(graph)
    excess = dict.fromkeys(graph, 0)
    for u, row in flow.items():
        assert list(row) == list(graph[u])
        for v, x in row.items():
            capacity = graph[u][v].get("capacity", math.inf)
            assert 0 <= x <= (max(capacity, 0) if capacity == capacity else 0)
            assert type(x) in (int, float)
            assert x or type(x) is int
            assert not x or not flow[v].get(u, 0)
            excess[u] -= x
            excess[v] += x
    assert excess.pop(s) == -value
    assert excess.pop(t) == value
    assert not any(excess.values())


@given(graphs(KINDS, weights=ANY), st.data())
def test_values_and_cuts_are_networkx_s_and_flows_are_proven(graph, data):
    ends = two_nodes(graph, data)
    for name in ("maximum_flow_value", "minimum_cut_value", "minimum_cut"):
        own = outcome(served, name, graph, *ends)[1]
        assert own == outcome(getattr(nx, name), graph, *ends)[1]
    own = outcome(served, "maximum_flow", graph, *ends)
    if own[0] is tuple:
        assert type(own[1][0]) in (int, float)
        assert_flow(graph, *ends, *own[1])
    else:
        assert own == outcome(nx.maximum_flow, graph, *ends)


@given(graphs(KINDS, weights=capacities(INTEGERS)), st.data())
def test_integers_stay_integers(graph, data):
    ends = two_nodes(graph, data)
    for name in ("maximum_flow_value", "minimum_cut_value"):
        assert outcome(served, name, graph, *ends) == outcome(getattr(nx, name), graph, *ends)


@given(graphs((nx.MultiGraph, nx.MultiDiGraph), weights=capacities(INTEGERS)), st.data())
def test_parallel_links_are_refused_as_by_networkx(graph, data):
    ends = two_nodes(graph, data)
    assert outcome(served, "maximum_flow", graph, *ends) == outcome(nx.maximum_flow, graph, *ends)


FLOATS = st.floats(1e-3, 1e3, allow_nan=False)


@given(graphs(KINDS, weights=FLOATS.map(lambda c: {"capacity": c})), st.data())
def test_floats_are_as_networkx_has_them_within_rounding(graph, data):
    ends = two_nodes(graph, data)
    expected = outcome(nx.minimum_cut, graph, *ends)
    own = outcome(served, "minimum_cut", graph, *ends)
    if expected[0] is not tuple:
        assert own == expected
        return
    value, (sources, _) = own[1]
    cut = [
        c
        for u, v, c in graph.to_directed().edges(data="capacity")
        if u in sources and v not in sources
    ]
    assert value == pytest.approx(expected[1][0], rel=1e-12)
    assert value == math.fsum(cut)
    flow_value, flow = served("maximum_flow", graph, *ends)
    assert flow_value == value
    for node in set(graph) - set(ends):
        into = math.fsum(flow[u].get(node, 0) for u in graph)
        assert into == pytest.approx(math.fsum(flow[node].values()), abs=1e-12)


def test_large_and_small_floats_meet():
    graph = nx.DiGraph([(0, 1, {"capacity": 1e300}), (1, 2, {"capacity": 1e-300})])
    assert served("maximum_flow", graph, 0, 2) == (1e-300, {0: {1: 1e-300}, 1: {2: 1e-300}, 2: {}})


def test_what_is_rounded_away_carries_nothing():
    graph = nx.DiGraph([(0, 1, {"capacity": 1.5}), (1, 2, {"capacity": 1.5})])
    graph.add_edge(1, 3, capacity=1e-30)
    value, flow = served("maximum_flow", graph, 0, 2)
    assert (value, flow) == nx.maximum_flow(graph, 0, 2)


def test_integers_are_exact_up_to_64_bits():
    graph = nx.DiGraph([("s", "a", {"capacity": 2**60 + 1}), ("a", "t", {"capacity": 2**60 - 1})])
    assert served("maximum_flow_value", graph, "s", "t") == 2**60 - 1


@pytest.mark.parametrize(
    "value", [2**63 - 1, 2**63, 10**30, -(2**70), Fraction(1, 3), Decimal(1), "1", None, 1 + 0j]
)
def test_what_does_not_fit_is_left_to_networkx(value):
    graph = nx.DiGraph([("s", "t", {"capacity": value})])
    with pytest.raises(NotImplementedError):
        served("maximum_flow_value", graph, "s", "t")


def test_large_totals_are_left_to_networkx_or_exact():
    graph = nx.DiGraph(
        [("s", v, {"capacity": 2**62}) for v in "ab"]
        + [(v, "t", {"capacity": 2**62}) for v in "ab"]
    )
    with contextlib.suppress(NotImplementedError):
        assert served("maximum_flow_value", graph, "s", "t") == 2**63


def test_whole_numbers_that_floats_would_round_are_left_to_networkx():
    graph = nx.DiGraph([(0, 1, {"capacity": 2**53 + 1}), (1, 2, {"capacity": 0.5})])
    with pytest.raises(NotImplementedError, match="lose digits"):
        served("maximum_flow_value", graph, 0, 2)


@pytest.mark.skipif(not arguments.CALLS_CAPACITY, reason="capacities are called from NetworkX 3.7")
@given(graphs(KINDS, weights=capacities(INTEGERS)), st.data())
def test_a_capacity_may_be_a_function(graph, data):
    ends = two_nodes(graph, data)

    def capacity(u, v, edge):
        value = edge.get("capacity", 3)
        return None if value == 4 else 2 * value

    expected = outcome(nx.minimum_cut, graph, *ends, capacity=capacity)
    assert outcome(served, "minimum_cut", graph, *ends, capacity=capacity) == expected


def test_a_function_that_solves_is_refused_without_its_options_as_by_networkx():
    graph = nx.path_graph(3, create_using=nx.DiGraph)
    for options in ({"cutoff": 3}, {"flow_func": "fast"}):
        own = outcome(served, "maximum_flow", graph, 0, 2, **options)
        assert own == outcome(nx.maximum_flow, graph, 0, 2, **options)


def test_arguments_are_bound_by_position_and_by_name():
    flow_func = nx.algorithms.flow.dinitz
    graph = nx.DiGraph([(0, 1)])
    for args, kwargs in (
        ((graph, 0, 1, "capacity", flow_func), {}),
        ((graph, 0, 1), {"flow_func": flow_func}),
        ((), {"flowG": graph, "_s": 0, "_t": 1, "flow_func": flow_func}),
    ):
        assert isinstance(backend.can_run("maximum_flow", args, kwargs), str)
        for key in [key for key in kwargs if key == "flow_func"]:
            kwargs.pop(key)
        plain = args[:3]
        assert backend.can_run("maximum_flow", plain, kwargs) is True


def test_a_view_of_a_graph_is_converted():
    graph = nx.gnp_random_graph(12, 0.4, seed=3, directed=True)
    nx.set_edge_attributes(graph, 2, "capacity")
    for view in (graph.subgraph(range(9)), graph.reverse(copy=False), nx.freeze(graph.copy())):
        assert served("maximum_flow_value", view, 0, 8) == nx.maximum_flow_value(view, 0, 8)


def test_a_graph_of_another_kind_of_dictionary():
    from collections import OrderedDict

    class Ordered(nx.DiGraph):
        node_dict_factory = adjlist_outer_dict_factory = adjlist_inner_dict_factory = OrderedDict

    graph = Ordered([(0, 1, {"capacity": 2}), (1, 2, {"capacity": 1})])
    assert ConvertedGraph(graph).neighbors == [1, 2]
    assert served("maximum_flow", graph, 0, 2) == nx.maximum_flow(graph, 0, 2)
