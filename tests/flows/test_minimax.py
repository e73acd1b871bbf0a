"""minimax_flow against the cases: every method and plan, verified."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests.flows.test_minimax_oracle import cases, one_order


def given(case: dict[str, Any]) -> tuple[lb.Network, list[Fraction]]:
    """The network and excess of a case: links out of s are excess, links into t are room."""
    s, t = case["s"], case["t"]
    n = case["n"] - 2
    assert {s, t} == {n, n + 1}
    inner = [e for e in case["edges"] if e[0] != s and e[1] != t]
    excess = [Fraction(0)] * n
    for u, v, c, *_ in case["edges"]:
        if u == s:
            excess[v] += Fraction(c)
        elif v == t:
            excess[u] -= Fraction(c)
    network = lb.Network(
        np.array([e[:2] for e in inner], dtype=np.int64).reshape(-1, 2),
        n=n,
        capacity=[None if e[2] is None else Fraction(e[2]) for e in inner],
        traffic=[Fraction(e[4]) for e in inner],
    )
    return network, excess


@pytest.mark.parametrize(("case", "out"), cases("s002_minimax"))
@pytest.mark.parametrize("method", ["fused", "mmc01", "scipy"])
@pytest.mark.parametrize("plan", ["short", "least"])
def test_cases(case: dict[str, Any], out: dict[str, Any], method: str, plan: str) -> None:
    network, excess = given(case)
    for name, contention in (("C1", "total"), ("C2", "transfer")):
        p = lb.minimax_flow(
            network, excess, contention=contention, integral=False, method=method, plan=plan
        )
        assert p.eliminated == Fraction(out[name]["f_star"])
        assert p.contention == Fraction(out[name]["beta"])
        assert p.verify()
        if f"{name}_integral_beta" in out:
            p = lb.minimax_flow(network, excess, contention=contention, method=method, plan=plan)
            assert p.contention == out[f"{name}_integral_beta"]
            assert p.flow.dtype == np.int64
            assert p.verify()


@pytest.mark.parametrize(("case", "out"), cases("s002_routing"))
@pytest.mark.parametrize("method", ["fused", "mmc01"])
def test_routing_cases(case: dict[str, Any], out: dict[str, Any], method: str) -> None:
    kind, *size = case["topology"]
    topology: lb.Topology = lb.Hypercube(*size) if kind == "cube" else lb.Mesh(*size)
    network = topology.network(capacity=case["capacity"])
    excess = np.zeros(topology.size, dtype=np.int64)
    for node, amount in case["excess"].items():
        excess[int(node)] += amount
    for node, amount in case["deficit"].items():
        excess[int(node)] -= amount
    name = "e-cube" if kind == "cube" else "dimension-order"
    graph = lb.routing_graph(network, name)
    assert (graph.n, len(graph.edges)) == (out["n_vertices_r123"], out["n_edges_r123"])
    rule = one_order(case["topology"])[2]
    for routing in (name, lb.RoutingScheme(rule)):
        p = lb.minimax_flow(network, excess, routing=routing, integral=False, method=method)
        assert p.eliminated == Fraction(out["routed"]["f_star"])
        assert p.contention == Fraction(out["routed"]["beta"])
        assert p.verify()
        assert sum(r.amount for r in p.routes()) == p.eliminated
        for route in p.routes():
            assert all(rule(*route.path[i : i + 3]) for i in range(len(route.path) - 2))
    free = lb.minimax_flow(network, excess, integral=False, method=method)
    assert free.contention == Fraction(out["unrestricted"]["beta"])
