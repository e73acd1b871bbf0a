"""Maximum flow in networks: names, kinds of numbers, cuts, and NetworkX's and scipy's values."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow as scipy_maximum_flow

import fastlb as lb

TRIANGLE = [(0, 1), (0, 2), (1, 2)]


@given(st.data(), st.booleans())
def test_as_networkx(data: st.DataObject, directed: bool) -> None:
    n = data.draw(st.integers(2, 7))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v and (directed or u < v)]
    links = data.draw(st.lists(st.sampled_from(pairs), unique=True))
    graph: Any = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(f"node {u}" for u in range(n))
    for u, v in links:
        graph.add_edge(f"node {u}", f"node {v}", capacity=data.draw(st.integers(0, 9)))
    for _ in range(data.draw(st.integers(0, 1)) and len(links)):
        u, v = data.draw(st.sampled_from(links))
        graph.edges[f"node {u}", f"node {v}"].pop("capacity", None)
    network = lb.Network.from_networkx(graph)
    try:
        value, (side, _) = nx.minimum_cut(graph, "node 0", "node 1")
    except nx.NetworkXUnbounded:
        with pytest.raises(lb.UnboundedError):
            lb.maximum_flow(network, "node 0", "node 1")
        return
    result = lb.maximum_flow(network, "node 0", "node 1")
    assert result.value == value
    assert {network.names[u] for u in np.flatnonzero(result.source_side)} == side
    assert result.verify()


@pytest.mark.parametrize("seed", range(3))
def test_as_scipy(seed: int) -> None:
    draws = np.random.default_rng(seed)
    n, links = 400, 3000
    ends, limits = draws.integers(0, n, (links, 2)), draws.integers(0, 50, links)
    result = lb.maximum_flow(lb.Network(ends, n=n, capacity=limits), 0, 1)
    matrix = csr_array((limits.astype(np.int32), tuple(ends.T)), shape=(n, n))
    assert result.value == scipy_maximum_flow(matrix, 0, 1).flow_value > 0
    assert result.verify()


@pytest.mark.parametrize(
    ("capacity", "value"),
    [
        ([4, 2, 3], 5),
        ([4, "1/2", 3], Fraction(7, 2)),
        ([4.5, 0.25, 3], 3.25),
        ([4, None, 0], None),
        ([10**30, 1, 2], 3),
        ([1e300, 1.5, 0.1], 1.6),
        ([2**62, 2**62 - 1, 2**62], 2**63 - 1),
    ],
)
def test_kinds_of_numbers(capacity: Any, value: Any) -> None:
    network = lb.Network(TRIANGLE, capacity=capacity)
    if value is None:
        with pytest.raises(lb.UnboundedError, match="capacity"):
            lb.maximum_flow(network, 0, 2)
        return
    result = lb.maximum_flow(network, 0, 2)
    assert type(result.value) is type(value)
    assert abs(result.value - value) <= result.quantum + 1e-15 * isinstance(value, float)
    assert sum(result.flow[[1, 2]].tolist()) == result.value
    assert result.verify()


@given(st.lists(st.floats(0, 1e6), min_size=8, max_size=8), st.floats(0, 10))
def test_floats_are_within_the_quantum(capacity: list[float], used: float) -> None:
    """The exact maximum of the floats, as Fractions."""
    edges = [(0, 1), (0, 2), (1, 2), (2, 1), (1, 3), (2, 3), (0, 3), (3, 0)]
    network = lb.Network(edges, capacity=capacity, traffic=used)
    exact = lb.Network(
        edges, capacity=[Fraction(c) for c in capacity], traffic=[Fraction(used)] * 8
    )
    result = lb.maximum_flow(network, 0, 3)
    try:
        expected = lb.maximum_flow(exact, 0, 3).value
    except OverflowError:
        return
    assert abs(Fraction(result.value) - expected) <= result.quantum + Fraction(result.value) / 2**52
    assert result.verify()


def test_traffic_is_taken_off() -> None:
    network = lb.Network(TRIANGLE, capacity=[4, 2, 3], traffic=[3, 5, 0])
    result = lb.maximum_flow(network, 0, 2)
    assert (result.value, result.flow.tolist(), result.cut.tolist()) == (1, [1, 0, 1], [0, 1])


def test_several_sources_and_sinks() -> None:
    torus = lb.Torus(4, 4).network(capacity=3)
    result = lb.maximum_flow(torus, [0, 1, 0], (10, 11))
    assert (result.value, result.sources.tolist(), result.sinks.tolist()) == (18, [0, 1], [10, 11])
    assert result.verify()


def test_nodes_by_name() -> None:
    names = [(0, 0), "b", 7]
    network = lb.Network(TRIANGLE, capacity=[4, 2, 3], names=names)
    assert lb.maximum_flow(network, (0, 0), 7).value == 5
    assert lb.maximum_flow(network, [(0, 0), "b"], 2).value == 5
    assert lb.maximum_flow(network, 0, "b").value == 4


@pytest.mark.parametrize(
    ("source", "sink", "said"),
    [
        (0, 0, "source and sink must differ"),
        (0, 3, "sink must be nodes 0..2"),
        (-1, 2, "source must be nodes 0..2"),
        ("a", 2, "source must be"),
        ([], 2, "source must be"),
        (True, 2, "source must be"),
        (0.5, 2, "source must be"),
        (None, 2, "source must be"),
        ([[0]], 2, "source must be"),
    ],
)
def test_nodes_that_are_none(source: Any, sink: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        lb.maximum_flow(lb.Network(TRIANGLE, capacity=1), source, sink)


def test_a_value_beyond_int64() -> None:
    for capacity in ([10**30, 1, 10**30], [2**62] * 3, [2**63 - 1, 1, 2**63 - 1]):
        with pytest.raises(OverflowError, match="int64"):
            lb.maximum_flow(lb.Network(TRIANGLE, capacity=capacity), 0, 2)


def test_verify_finds_what_does_not_hold() -> None:
    result = lb.maximum_flow(lb.Network(TRIANGLE, capacity=[4, 2, 3]), 0, 2)
    for units, said in (
        ([3, 2, 4], "capacity"),
        ([2, 2, 3], "other nodes"),
        ([-1, 2, -1], "negative"),
        ([2, 2, 2], "the value"),
    ):
        with pytest.raises(ValueError, match=said):
            replace(result, _units=np.array(units)).verify()
    less = replace(result, _units=np.array([2, 2, 2]), _sent=4)
    with pytest.raises(ValueError, match="capacity of the cut"):
        less.verify()
    with pytest.raises(ValueError, match="parts the sources"):
        replace(result, source_side=np.ones(3, bool)).verify()


def test_what_is_shown() -> None:
    result = lb.maximum_flow(lb.Network(TRIANGLE, capacity=[4, "1/2", 3]), 0, 2)
    assert repr(result) == "<MaximumFlow: 7/2 from 1 node to 1 node, cut of 2 links>"
    assert result.to_dict()["flow"] == [3, "1/2", 3]
    assert "cut" in result._repr_html_()
