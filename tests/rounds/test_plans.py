"""Rounds of plans and balances: hops in their order, and nodes that send only what they hold."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import fastlb as lb

NETWORKS = ["mesh:5x5", "torus:4x5", "chain:9", "hypercube:4", "hhc:2"]


def drawn(topology: lb.Topology, seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, 200, topology.shape)


def carry_out(rounds: lb.Rounds, loads: Any) -> list[Any]:
    """Carry transfers out round by round; what arrives can be sent on in the next round."""
    now = list(np.asarray(loads).ravel().tolist())
    assert rounds.amount is not None
    for transfers in rounds:
        for e in transfers:
            now[rounds.src[e]] -= rounds.amount[e]
        assert min(now) >= 0
        for e in transfers:
            now[rounds.dst[e]] += rounds.amount[e]
    return now


@pytest.mark.parametrize("spec", NETWORKS)
@pytest.mark.parametrize(
    "limits", [{"per_node": 1}, {"send": 1, "receive": 2}, {"per_link": 1}, {}]
)
def test_plans_can_be_carried_out(spec: str, limits: dict[str, int]) -> None:
    topology = lb.parse_topology(spec)
    loads = drawn(topology, 1)
    plan = lb.minimax_flow(topology.network(), lb.excess_load(loads.ravel()))
    rounds = lb.schedule(plan, **limits)
    assert rounds.verify()
    final = carry_out(rounds, loads)
    assert final == (loads.ravel() - lb.excess_load(loads.ravel())).tolist()
    routes = plan.routes()
    hops = defaultdict(list)
    assert rounds.route is not None
    assert rounds.hop is not None
    for e in np.argsort(rounds.round, kind="stable"):
        hops[int(rounds.route[e])].append((int(rounds.src[e]), int(rounds.dst[e])))
    for number, route in enumerate(routes):
        assert hops[number] == list(zip(route.path, route.path[1:], strict=False))
    longest = max(len(route.path) - 1 for route in routes)
    assert longest <= rounds.bound <= rounds.count
    if not limits:
        assert rounds.count == longest


def test_the_bound_counts_what_comes_before_and_after() -> None:
    # All of three routes pass from node 1 to node 2, after one hop and before another.
    network = lb.Network([(0, 1), (1, 2), (2, 3), (4, 1), (5, 1)])
    plan = lb.minimax_flow(network, [1, 0, 0, -3, 1, 1])
    rounds = lb.schedule(plan, per_link=1, receive=1)
    assert rounds.bound == 5
    assert rounds.count == 5


def test_routes_from_end_to_end() -> None:
    plan = lb.minimax_flow(
        lb.Torus(4, 4).network(), lb.excess_load(drawn(lb.Torus(4, 4), 2).ravel())
    )
    rounds = lb.schedule(plan, per_node=1, hops=False)
    routes = plan.routes()
    assert rounds.src.tolist() == [route.source for route in routes]
    assert rounds.dst.tolist() == [route.sink for route in routes]
    # Sources and sinks are two sides.
    assert rounds.gap == 0
    some = lb.schedule(routes[:3], per_node=1)
    assert some.route is not None
    assert set(some.route.tolist()) == {0, 1, 2}


def test_divisible_plans_keep_exact_amounts() -> None:
    plan = lb.minimax_flow(lb.Hypercube(3).network(), [7, 0, 0, -1, -1, -1, -2, -2], integral=False)
    rounds = lb.schedule(plan, per_node=1)
    assert rounds.amount is not None
    assert {type(x) for x in rounds.amount.tolist()} <= {int, Fraction}
    assert carry_out(rounds, [7, 0, 0, 0, 0, 0, 0, 0]) == [0, 0, 0, 1, 1, 1, 2, 2]


def test_a_plan_that_moves_nothing() -> None:
    rounds = lb.schedule(lb.minimax_flow(lb.Chain(3).network(), [0, 0, 0]), per_node=1)
    assert (rounds.count, rounds.bound) == (0, 0)
    assert rounds.verify()
    assert lb.schedule(lb.dde([1, 1], lb.Chain(2), record="flows"), per_node=1).count == 0


@pytest.mark.parametrize("spec", ["mesh:5x5", "torus:4x5", "chain:9", "ring:7", "torus:2x3"])
@pytest.mark.parametrize("per_node", [1, 2, None])
def test_balances_can_be_carried_out(spec: str, per_node: int | None) -> None:
    topology = lb.parse_topology(spec)
    for seed in range(5):
        loads = drawn(topology, seed)
        loads.ravel()[seed % 3 :: 2] = 0
        b = lb.dde(loads, topology, record="flows")
        rounds = lb.schedule(b, per_node=per_node)
        assert rounds.verify()
        assert carry_out(rounds, loads) == b.loads.ravel().tolist()
        assert len(rounds.src) == np.count_nonzero(b.flows)


def test_balances_of_other_methods() -> None:
    cube = lb.Hypercube(4)
    balances = [
        lb.dem(drawn(cube, 1), cube, record="flows"),
        lb.fault_tolerant_dem(drawn(cube, 1), lb.Hypercube(4, faults=[(0, 1)]), record="flows"),
        lb.hexa_cell(drawn(lb.HyperHexaCell(2), 1), lb.HyperHexaCell(2), "B", record="flows"),
        lb.gde(drawn(cube, 2), cube, record="flows"),
        lb.gde([5.5, 0, 0, 0.5], lb.Network([(0, 1), (2, 3), (0, 2), (1, 3)]), record="flows"),
    ]
    initial = [*(drawn(t, 1) for t in (cube, cube, lb.HyperHexaCell(2))), drawn(cube, 2)]
    for b, loads in zip(balances, initial, strict=False):
        assert carry_out(lb.schedule(b, per_node=1), loads) == b.loads.ravel().tolist()
    rounds = lb.schedule(balances[-1], per_node=1)
    assert rounds.verify()
    assert rounds.amount is not None
    assert rounds.amount.dtype == np.float64


def test_a_node_that_holds_nothing_waits() -> None:
    rounds = lb.schedule(lb.dde([9, 0, 0], lb.Chain(3), record="flows"), per_link=1)
    assert rounds.round.tolist() == [0, 1]
    at_once = lb.schedule(lb.dde([9, 6, 0], lb.Chain(3), record="flows"), per_link=1)
    assert at_once.round.tolist() == [0, 0]


def test_flows_in_a_circle_are_refused() -> None:
    from fastlb.exchange.result import Balance

    fields = {"loads": np.array([0, 0, 0]), "flows": np.array([[1, 1, 1]])}
    circle = Balance("own", lb.Ring(3), "flows", fields)
    with pytest.raises(lb.DeadlockError, match="circle"):
        lb.schedule(circle, per_node=1)


def test_moves_without_amounts() -> None:
    class Move(NamedTuple):
        task: int
        path: tuple[int, ...]

    rounds = lb.schedule([Move(7, (0, 1, 2)), Move(8, (3, 1))], per_node=1)  # type: ignore[arg-type]
    assert rounds.amount is None
    assert rounds.verify()
    assert rounds.count == rounds.bound == 3
    assert "amount" not in rounds.to_dict()
