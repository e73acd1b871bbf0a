"""Whole tasks along a plan: over its links, and as near to the mean as exchanges bring them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb
from tests.oracles import tasks as oracle

TOPOLOGIES = [
    "chain:5",
    "ring:6",
    "mesh:3x4",
    "torus:4x4",
    "torus:2x3x3",
    "hypercube:3",
    "grid:4wx3",
    "hhc:2",
]


def loads_of(sizes: Any, owner: Any, nodes: int) -> np.ndarray:
    loads = np.zeros(nodes, np.asarray(sizes).dtype)
    np.add.at(loads, np.asarray(owner, int), sizes)
    return loads


def plans(spelling: str, loads: np.ndarray) -> list[Any]:
    """Return plans of all methods that suit a topology."""
    topology = lb.parse_topology(spelling)
    network = topology.network()
    excess = lb.excess_load(loads)
    found: list[Any] = [lb.minimax_flow(network, excess)]
    methods = ["hexa_cell"] if spelling.startswith("hhc") else ["dde", "gde"]
    if spelling.startswith("hypercube"):
        methods.append("dem")
    shaped = loads.reshape(topology.shape)
    found += [lb.balance(shaped, topology, method, record="flows") for method in methods]
    return found


@pytest.mark.parametrize("spelling", TOPOLOGIES)
@given(st.data())
def test_tasks_follow_links(spelling: str, data: st.DataObject) -> None:
    topology = lb.parse_topology(spelling)
    count = data.draw(st.integers(0, 60))
    seed = data.draw(st.integers(0, 2**32))
    draws = np.random.default_rng(seed)
    sizes = draws.integers(0, data.draw(st.sampled_from([3, 50, 10**12])), count)
    if data.draw(st.booleans()):
        sizes = sizes + draws.random(count)
    owner = draws.integers(0, topology.size, count)
    movable = draws.random(count) < data.draw(st.sampled_from([1.0, 0.7]))
    slack = data.draw(st.sampled_from([0, 0.1]))
    links = {tuple(link) for link in topology.links.tolist()}
    twin = oracle.Problem(sizes.tolist(), owner.tolist(), topology.size, movable.tolist())
    for plan in plans(spelling, loads_of(sizes, owner, topology.size)):
        a = lb.assign_tasks(sizes, owner, topology.size, movable=movable, along=plan, slack=slack)
        oracle.check(twin, a)
        assert a.verify()
        for move in a.moves:
            for u, v in zip(move.path, move.path[1:], strict=False):
                assert (u, v) in links or (v, u) in links


@pytest.mark.parametrize("spelling", TOPOLOGIES)
def test_fine_tasks_come_near_the_mean(spelling: str) -> None:
    topology = lb.parse_topology(spelling)
    draws = np.random.default_rng(5)
    count = 200 * topology.size
    sizes = draws.integers(1, 1000, count)
    owner = draws.integers(0, topology.size, count) * draws.integers(0, 2, count)
    for plan in plans(spelling, loads_of(sizes, owner, topology.size)):
        a = lb.assign_tasks(sizes, owner, plan_nodes(plan), along=plan)
        assert a.verify()
        assert a.gap < 1e-5


def plan_nodes(plan: Any) -> lb.Topology:
    return plan.network if isinstance(plan, lb.MinimaxPlan) else plan.topology


def test_giants_change_places_with_many() -> None:
    # Two giants at one node: each neighbour that takes one gives back many.
    sizes = np.array([60, 60, *[1] * 240])
    owner = np.array([0, 0, *np.repeat([1, 2, 3], 80)])
    ring = lb.Ring(4)
    plan = lb.dde(loads_of(sizes, owner, 4), ring, record="flows")
    a = lb.assign_tasks(sizes, owner, 4, along=plan)
    assert a.verify()
    assert a.largest <= 91


def test_slack_spares_moves() -> None:
    draws = np.random.default_rng(6)
    sizes = draws.random(3000)
    owner = np.minimum(draws.geometric(0.25, 3000) - 1, 15)
    plan = lb.dde(loads_of(sizes, owner, 16).reshape(4, 4), lb.Torus(4, 4), record="flows")
    tight = lb.assign_tasks(sizes, owner, 16, along=plan)
    loose = lb.assign_tasks(sizes, owner, 16, along=plan, slack=0.2)
    assert tight.gap < 1e-4
    assert loose.gap <= 0.2
    assert len(loose.moves) < len(tight.moves)
    few = lb.assign_tasks(sizes, owner, 16, along=plan, max_moves=100)
    assert len(few.moves) <= 100
    assert few.verify()


def test_links_of_limited_capacity_carry_no_more_than_planned() -> None:
    network = lb.Network([(0, 1), (1, 0), (1, 2), (2, 1)], capacity=[50, 50, 10, 10])
    sizes = np.ones(90, int)
    owner = np.zeros(90, int)
    plan = lb.minimax_flow(network, lb.excess_load([90, 0, 0]))
    a = lb.assign_tasks(sizes, owner, network, along=plan)
    assert a.verify()
    carried = np.zeros((3, 3), int)
    for move in a.moves:
        for u, v in zip(move.path, move.path[1:], strict=False):
            carried[u, v] += 1
    assert carried[0, 1] <= 50
    assert carried[1, 2] <= 10
    assert a.loads.tolist() == [50, 30, 10]


def test_cycles_of_a_plan_are_cancelled() -> None:
    ring = lb.Ring(4)
    plan = lb.dde([8, 0, 0, 0], ring, record="flows")
    # Five units more around the ring: the same loads.
    around = lb.Balance("dde", ring, "flows", {"loads": plan.loads, "flows": plan.flows + 5})
    a = lb.assign_tasks([1] * 8, [0] * 8, ring, along=around)
    assert a.verify()
    assert a.loads.tolist() == [2, 2, 2, 2]
    assert a.hops <= 12


def test_a_batch_has_a_plan_each_or_one() -> None:
    draws = np.random.default_rng(7)
    sizes = draws.integers(1, 50, (3, 80))
    owner = draws.integers(0, 4, (3, 80)) // 2
    loads = np.stack([loads_of(s, o, 4) for s, o in zip(sizes, owner, strict=True)])
    plan = lb.dde(loads, "ring:4", record="flows")
    batch = lb.assign_tasks(sizes, owner, "ring:4", along=plan)
    assert batch.verify()
    excess = lb.minimax_flow("ring:4", lb.excess_load(loads))
    assert lb.assign_tasks(sizes, owner, 4, along=excess).verify()
    single = lb.dde(loads[1], "ring:4", record="flows")
    alone = lb.assign_tasks(sizes[1], owner[1], 4, along=single)
    assert (alone.owner == batch[1].owner).all()
    with pytest.raises(ValueError, match="along must have one plan or one for each of 2 rows"):
        lb.assign_tasks(sizes[:2], owner[:2], 4, along=plan)
    with pytest.raises(ValueError, match=r"along must have the batch \(2,\)"):
        lb.assign_tasks(sizes[:2], owner[:2], 4, along=excess)


def test_plans_that_do_not_fit_are_refused() -> None:
    plan = lb.dde([3, 0, 0, 0], "ring:4")
    with pytest.raises(ValueError, match="along must have flows: call dde with record='flows'"):
        lb.assign_tasks([1] * 3, [0] * 3, 4, along=plan)
    plan = lb.dde([3, 0, 0, 0], "ring:4", record="flows")
    with pytest.raises(ValueError, match="along must be a plan for 5 nodes"):
        lb.assign_tasks([1] * 3, [0] * 3, 5, along=plan)
    with pytest.raises(ValueError, match=r"nodes must be the topology of the plan, Ring\(4\)"):
        lb.assign_tasks([1] * 3, [0] * 3, "chain:4", along=plan)
    with pytest.raises(ValueError, match="along cannot keep limits of memory or prices"):
        lb.assign_tasks([1] * 3, [0] * 3, 4, along=plan, memory=1, memory_limit=2)
