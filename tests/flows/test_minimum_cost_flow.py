"""Minimum-cost flow in networks: statuses and their proofs, kinds of numbers, NetworkX's costs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb

TRIANGLE = [(0, 1), (0, 2), (1, 2)]


@given(st.data())
def test_as_networkx(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 6))
    node = st.integers(0, n - 1)
    graph = nx.MultiDiGraph()
    demand = [data.draw(st.integers(-4, 4)) for _ in range(n)]
    demand[0] -= sum(demand)
    graph.add_nodes_from((u, {"demand": amount}) for u, amount in enumerate(demand))
    limit = st.one_of(st.integers(0, 6), st.integers(0, 6), st.none())
    for _ in range(data.draw(st.integers(0, 14))):
        capacity = data.draw(limit)
        limits = {} if capacity is None else {"capacity": capacity}
        weight = data.draw(st.integers(-3, 9))
        graph.add_edge(data.draw(node), data.draw(node), weight=weight, **limits)
    cost = [weight for *_, weight in graph.edges(data="weight")]
    result = lb.minimum_cost_flow(lb.Network.from_networkx(graph), demand, cost=cost)
    assert result.verify()
    try:
        expected = nx.network_simplex(graph)[0]
    except nx.NetworkXUnbounded:
        assert result.status == "unbounded"
        assert len(result.circle)
        return
    except nx.NetworkXUnfeasible:
        assert result.status == "infeasible"
        return
    assert (result.status, result.cost) == ("optimal", expected)


@pytest.mark.parametrize(
    ("capacity", "demand", "cost", "total"),
    [
        ([4, 3, 5], [-5, 0, 5], [1, 4, 2], 16),
        ([4, None, 5], [-9, 0, 9], [1, "1/3", 2], Fraction(3)),
        ([4, 3, 5], ["-5/2", 0, 2.5], 1, 2.5),
        ([4.5, 3, 5], [-5.25, 0, 5.25], [0.25, 0.5, 0.125], 2.0625),
        ([0.1, 0.3, None], [-0.3, 0, 0.1 + 0.2], [1.5, 1, 1], 0.3),
        ([None] * 3, [-(2**62), 0, 2**62], [2**40, 2**41, 2**40], 2**103),
        ([10**30, None, None], {0: -3, 2: 3}, [-1, 1, 1], 0),
    ],
)
def test_kinds_of_numbers(capacity: Any, demand: Any, cost: Any, total: Any) -> None:
    result = lb.minimum_cost_flow(lb.Network(TRIANGLE, capacity=capacity), demand, cost=cost)
    assert result.status == "optimal"
    assert type(result.cost) is type(total)
    assert result.cost == pytest.approx(total, rel=1e-15)
    assert result.verify()


def test_names_traffic_and_prices() -> None:
    network = lb.Network(TRIANGLE, capacity=[4, 5, 5], traffic=[0, 2, 0], names=list("abc"))
    result = lb.minimum_cost_flow(network, {"a": -5, "c": 5}, cost=[1, 4, 2])
    assert (result.value, result.cost) == (5, 16)
    assert result.flow is not None
    assert result.prices is not None
    assert (result.flow.tolist(), result.prices.tolist()) == ([4, 1, 4], [0, 2, 4])


def test_what_cannot_be_met() -> None:
    result = lb.minimum_cost_flow(lb.Network(TRIANGLE, capacity=[4, 3, 5]), [-8, 0, 8])
    assert (result.status, result.cost, result.flow) == ("infeasible", None, None)
    assert result.cut.tolist() == [0, 1]
    assert result.verify()
    with pytest.raises(ValueError, match="a cut carries less"):
        vars(replace(result))["_side"] = np.ones(3, bool)
        other = replace(result)
        vars(other)["_side"] = np.ones(3, bool)
        other.verify()


def test_circles_without_end() -> None:
    network = lb.Network([(0, 1), (1, 0), (1, 2)])
    result = lb.minimum_cost_flow(network, [-1, 0, 1], cost=[1, -2, 0])
    assert (result.status, result.circle.tolist()) == ("unbounded", [0, 1])
    assert result.verify()


@pytest.mark.parametrize(
    ("kind", "demand", "cost", "said"),
    [
        (ValueError, [1, 0, 0], 1, "demand must have a sum of 0"),
        (ValueError, [1.0, -1.5, 0], 1, "demand must have a sum of 0"),
        (ValueError, [1, -1], 1, "demand must be one value for each of 3"),
        (ValueError, {9: 1}, 1, "demand must be nodes 0..2"),
        (ValueError, [1, -1, float("nan")], 1, "demand must not be NaN"),
        (ValueError, [1, -1, 0], [1, 2], "cost must be one value for each of 3"),
        (ValueError, [1, -1, 0], float("inf"), "cost must be finite"),
        (TypeError, [1, -1, 0], "cheap", "cost must be"),
        (OverflowError, [2**63, -(2**63), 0], 1, "demand must fit int64"),
        (OverflowError, [1, -1, 0], 2**70, "cost must fit int64"),
        (OverflowError, [1, -1, 0], 2**61, "cost must be at most"),
        (OverflowError, [1e308, 1e308, -1e308], 1, "must fit a float64"),
    ],
)
def test_bad_input(kind: Any, demand: Any, cost: Any, said: str) -> None:
    with pytest.raises((kind, ValueError) if kind is TypeError else kind, match=said):
        lb.minimum_cost_flow(lb.Network(TRIANGLE, capacity=5), demand, cost=cost)


def test_flows_beyond_int64() -> None:
    network = lb.Network([(0, 1), (1, 0)], capacity=[10**30, 10**30])
    with pytest.raises(OverflowError, match="capacity must"):
        lb.minimum_cost_flow(network, [0, 0], cost=[1, -2])


def test_verify_finds_what_does_not_hold() -> None:
    network = lb.Network(TRIANGLE, capacity=[4, 3, 5])
    result = lb.minimum_cost_flow(network, [-5, 0, 5], cost=[1, 4, 2])
    for field, values, said in (
        ("flow", [5, 0, 5], "capacity"),
        ("flow", [4, 0, 4], "demand"),
        ("flow", [2, 3, 2], "worth"),
        ("flow", [-1, 3, 1], "negative"),
        ("prices", [0, 1, 4], "worth using"),
        ("cost", 15, "the cost is"),
    ):
        value = np.array(values) if field != "cost" else values
        other = replace(result, _found=result._found._replace(**{field: value}))
        with pytest.raises(ValueError, match=said):
            other.verify()


def test_what_is_shown() -> None:
    network = lb.Network(TRIANGLE, capacity=[4, 3, 5])
    result = lb.minimum_cost_flow(network, [-5, 0, 5], cost=[1, "1/2", 2])
    assert repr(result) == "<MinimumCostFlow: optimal, 5 sent at a cost of 15/2>"
    assert result.to_dict()["prices"] == [0, 1, 3]
    for demand in ([-5, 0, 5], [-9, 0, 9]):
        assert "minimum-cost flow" in lb.minimum_cost_flow(network, demand)._repr_html_()
