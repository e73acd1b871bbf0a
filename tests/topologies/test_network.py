"""General networks: what is kept, the undirected links, networkx both ways, bad arguments."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import fastlb as lb


def test_links_are_kept_as_given() -> None:
    network = lb.Network([(2, 0), (0, 2), (1, 1), (2, 0)], capacity=[5, None, math.inf, "41/7"])
    assert network.edges.tolist() == [[2, 0], [0, 2], [1, 1], [2, 0]]
    assert network.links.tolist() == [[0, 2]]
    assert network.capacity == (5, None, None, Fraction(41, 7))
    assert network.traffic == (0, 0, 0, 0)
    assert (network.shape, network.size, network.edge_count) == ((3,), 3, 4)
    assert network.adjacency().toarray().tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]


def test_nodes_without_links() -> None:
    network = lb.Network([], n=4)
    assert (network.size, network.edges.shape, network.links.shape) == (4, (0, 2), (0, 2))
    assert lb.Network([(0, 1)], n=4).address(3) == (3,)


def test_the_same_network_again() -> None:
    network = lb.Network([(0, 1), (1, 2)], capacity=[5, "41/7"], traffic=1)
    again = pickle.loads(pickle.dumps(network))
    assert again == network
    assert hash(again) == hash(network)
    assert lb.Network.from_networkx(network.to_networkx()) == network
    assert network.network(capacity=9) == lb.Network([(0, 1), (1, 2)], capacity=9, traffic=1)
    assert network != lb.Network([(0, 1), (1, 2)], capacity=[5, "41/7"])


def test_undirected_graphs_give_both_directions() -> None:
    graph = nx.Graph()
    graph.add_edge("a", "b", capacity=3)
    graph.add_edge("b", "c", traffic=2)
    network = lb.Network.from_networkx(graph)
    assert network.edges.tolist() == [[0, 1], [1, 2], [1, 0], [2, 1]]
    assert network.capacity == (3, None, 3, None)
    assert network.traffic == (0, 2, 0, 2)
    directed = lb.Network.from_networkx(graph.to_directed(), capacity="traffic", traffic="none")
    assert directed.edges.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert directed.capacity == (None, None, 2, 2)


def test_names_are_kept() -> None:
    graph = nx.Graph([("db", "web"), ("web", "cache")])
    network = lb.Network.from_networkx(graph)
    assert network.names == ("db", "web", "cache")
    assert network.node("cache") == 2
    assert network.by_name([3, 1, 2]) == {"db": 3, "web": 1, "cache": 2}
    assert set(network.to_networkx()) == set(graph)
    assert pickle.loads(pickle.dumps(network)).names == network.names
    assert network.network(capacity=2).names == network.names
    assert network == lb.Network(network.edges)
    assert "names=['db', 'web', 'cache']" in repr(network)
    b = lb.gde([9, 0, 0], network, lam="1/2")
    assert b.to_dict()["names"] == ["db", "web", "cache"]
    assert "names" not in lb.gde([9, 0, 0], lb.Network(network.edges), lam="1/2").to_dict()
    plan = lb.minimax_flow(network, [3, -1, -2])
    assert plan.routes(named=True)[0].path[0] == "db"
    assert plan.to_dict()["links"][0] == ["db", "web"]
    assert [r.amount for r in plan.routes(named=True)] == [r.amount for r in plan.routes()]


def test_networks_of_one_size_are_told_apart_by_their_labels() -> None:
    graphs = [nx.path_graph(4), nx.star_graph(3)]
    networks = [lb.Network.from_networkx(graph) for graph in graphs]
    with pytest.raises(ValueError, match=r"both 'network:4' \(label= tells networks apart"):
        lb.Study("two", networks, ["gde:lam=1/2"], "uniform:9")
    with pytest.raises(ValueError, match=r"topologies must differ, got .* twice$"):
        lb.Study("two", networks[:1] * 2, ["gde:lam=1/2"], "uniform:9")
    called = [lb.Network.from_networkx(graph, label=str(i)) for i, graph in enumerate(graphs)]
    study = lb.Study("two", called, ["gde:lam=1/2"], "uniform:9")
    assert [cell.topology.spec for cell in study.cells] == ["0", "1"]
    for graph, name in zip(graphs, ("path", "star"), strict=True):
        graph.name = name
    labelled = [lb.Network.from_networkx(graph) for graph in graphs]
    assert labelled == networks
    study = lb.Study("two", labelled, ["gde:lam=1/2"], "uniform:9")
    assert [cell.topology.spec for cell in study.cells] == ["path", "star"]


def test_it_tells_how_many_links_and_whether_they_go_both_ways() -> None:
    graph = nx.circulant_graph(12, [1, 2])
    network = lb.Network.from_networkx(graph)
    assert repr(network) == "<Network: 12 nodes, 24 links, both ways>"
    ring = lb.Network.from_networkx(nx.cycle_graph(12, nx.DiGraph), label="ring")
    assert repr(ring) == "<Network ring: 12 nodes, 12 edges>"
    doubled = lb.Network([(0, 1), (0, 1), (1, 0)], label="d")
    assert repr(doubled) == "<Network d: 2 nodes, 3 edges>"
    assert repr(lb.Network([], n=2, label="none")) == "<Network none: 2 nodes, 0 edges>"


def test_a_networkx_graph_is_told_how_to_become_a_network() -> None:
    with pytest.raises(TypeError, match=r"Network.from_networkx\(graph\) makes one"):
        lb.gde([1, 2, 3], nx.path_graph(3))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"got 3$"):
        lb.gde([1, 2, 3], 3)  # type: ignore[arg-type]


def test_nodes_without_names_are_numbers() -> None:
    network = lb.Network([(0, 1)], n=10**9)
    assert (len(network.names), network.node(7), network.is_named) == (10**9, 7, False)
    with pytest.raises(ValueError, match="network has no node 'x'"):
        network.node("x")
    with pytest.raises(ValueError, match="values must be one for each of 1000000000 nodes"):
        network.by_name([1])


def test_a_bandwidth_that_is_not_read_is_told() -> None:
    graph = nx.Graph()
    graph.add_edge("a", "b", bandwidth=3)
    with pytest.warns(UserWarning, match="capacity='bandwidth' makes it their capacity"):
        lb.Network.from_networkx(graph)
    assert lb.Network.from_networkx(graph, capacity="bandwidth").capacity == (3, 3)
    assert lb.Network.from_networkx(graph, traffic="bandwidth").traffic == (3, 3)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: lb.Network([]), ValueError, "n must be at least 1 node"),
        (lambda: lb.Network([(0, 1)], names=["a"]), ValueError, "names must be one for each of 2"),
        (lambda: lb.Network([(0, 1)], names="aa"), ValueError, "names must differ, got 'a' twice"),
        (lambda: lb.Network([(0, 1)], n=1), ValueError, "edges must join nodes 0..0, got (0, 1)"),
        (lambda: lb.Network([(0, 1)], n=2.0), TypeError, "n must be an integer"),
        (lambda: lb.Network([(0, -1)], n=2), ValueError, "edges must join nodes 0..1"),
        (lambda: lb.Network([(0.5, 1)]), ValueError, "edges must be integers of shape (E, 2)"),
        (lambda: lb.Network([(0, 1, 2)]), ValueError, "edges must be integers of shape (E, 2)"),
        (
            lambda: lb.Network(np.array([[2**64 - 1, 0]], np.uint64)),
            ValueError,
            "edges must join nodes below 2**62, got 18446744073709551615",
        ),
        (lambda: lb.Network([(0, 1)], capacity=-1), ValueError, "capacity must not be negative"),
        (lambda: lb.Network([(0, 1)], capacity=math.nan), ValueError, "capacity must not be"),
        (lambda: lb.Network([(0, 1)], capacity="x"), ValueError, "capacity must be a number"),
        (lambda: lb.Network([(0, 1)], capacity=[1, 2]), ValueError, "capacity must be one"),
        (lambda: lb.Network([(0, 1)], capacity=[[1]]), TypeError, "capacity must be int"),
        (
            lambda: lb.Network([(0, 1)], capacity="1e9_999_999_999"),
            ValueError,
            "such as 12 or 41/7",
        ),
        (lambda: lb.Network([(0, 1)], capacity=Decimal("1e999999999")), TypeError, "capacity must"),
        (lambda: lb.Network([(0, 1)], capacity=[Decimal("1e999999999")]), TypeError, "capacity m"),
        (lambda: lb.Network([(0, 1)], traffic=math.inf), ValueError, "traffic must be finite"),
        (lambda: lb.Network.from_networkx(3), TypeError, "graph must be a networkx graph"),
    ],
)
def test_bad_arguments(call: Callable[[], object], error: type[Exception], says: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
