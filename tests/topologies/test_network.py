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


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: lb.Network([]), ValueError, "n must be at least 1 node"),
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
