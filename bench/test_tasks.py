"""Whole tasks beside HiGHS, an assignment problem, and the reading of their file."""

import json

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp

import fastlb as lb


def random_tasks(tasks, nodes, seed):
    """Return sizes (T,) and owners (T,), drawn to few nodes."""
    draws = np.random.default_rng(seed)
    share = draws.exponential(size=nodes)
    sizes = np.ceil(1000 * draws.exponential(size=tasks)).astype(np.int64)
    return sizes, draws.choice(nodes, tasks, p=share / share.sum())


def least_by_milp(sizes, nodes):
    """Return the least largest load of tasks at any nodes."""
    T = len(sizes)
    # Variable t N + u is 1 if node u has task t; the last one is the largest load.
    one_node = np.zeros((T, T * nodes + 1))
    loads = np.zeros((nodes, T * nodes + 1))
    for task, size in enumerate(sizes.tolist()):
        one_node[task, task * nodes : (task + 1) * nodes] = 1
        loads[np.arange(nodes), task * nodes + np.arange(nodes)] = size
    loads[:, -1] = -1
    result = milp(
        np.append(np.zeros(T * nodes), 1.0),
        constraints=[LinearConstraint(one_node, 1, 1), LinearConstraint(loads, -np.inf, 0)],
        integrality=np.append(np.ones(T * nodes), 0),
        bounds=Bounds(0, np.append(np.ones(T * nodes), np.inf)),
    )
    return round(result.fun)


@pytest.mark.parametrize(("tasks", "nodes"), [(8, 2), (10, 3), (12, 4)])
def test_few_tasks(race, quick, tasks, nodes):
    several = [random_tasks(tasks, nodes, seed) for seed in range(2 if quick else 10)]
    race(
        f"tasks, {tasks} on {nodes} nodes, proven optimal",
        lambda: np.array([lb.assign_tasks(s, o, nodes).largest for s, o in several]),
        {"milp": lambda: np.array([least_by_milp(s, nodes) for s, _ in several])},
        nodes=tasks * len(several),
        targets={"milp": 1},
    )


def test_one_task_a_node(race, quick):
    """As many equal tasks as nodes: each node keeps one, the others go where none is."""
    count = 20 if quick else 200
    owner = np.random.default_rng(2).integers(0, count, count)
    sizes = np.ones(count, np.int64)

    def moved_by_assignment():
        # A task costs 1 at any node but its own.
        cost = np.ones((count, count))
        cost[np.arange(count), owner] = 0
        rows, columns = linear_sum_assignment(cost)
        return np.array(int(cost[rows, columns].sum()))

    race(
        f"tasks, one a node, {count} nodes",
        lambda: np.array(lb.assign_tasks(sizes, owner, count).moved),
        {"linear_sum_assignment": moved_by_assignment},
        nodes=count,
    )


@pytest.mark.parametrize(("tasks", "nodes"), [(25_000, 64), (500_000, 256)])
def test_many_tasks(race, quick, tasks, nodes):
    if quick:
        tasks //= 100
    sizes, owner = random_tasks(tasks, nodes, 3)
    # As vt writes its tasks.
    text = json.dumps(
        [
            {
                "entity": {
                    "id": i,
                    "home": node,
                    "collection_id": 7,
                    "index": [i, 0, 3],
                    "migratable": True,
                    "type": "object",
                },
                "node": node,
                "resource": "cpu",
                "time": float(size),
            }
            for i, (size, node) in enumerate(zip(sizes.tolist(), owner.tolist(), strict=True))
        ]
    )
    result = lb.assign_tasks(sizes, owner, nodes)
    assert result.verify()
    assert result.gap == 0
    if not quick:
        assert result.moved <= 1.01 * result.excess
    race(
        f"tasks, {tasks:,} on {nodes} nodes",
        lambda: lb.assign_tasks(sizes, owner, nodes).owner,
        {},
        nodes=tasks,
        yardsticks={"json.loads": lambda: json.loads(text)},
        targets={"json.loads": 0.05},
    )


@pytest.mark.parametrize("spec", ["hypercube:6", "torus:8x8", "mesh:8x8"])
def test_along_a_plan(race, quick, spec):
    topology = lb.parse_topology("torus:4x4" if quick else spec)
    sizes, owner = random_tasks(400 if quick else 25_000, topology.size, 4)
    loads = np.bincount(owner, weights=sizes, minlength=topology.size).astype(np.int64)
    plan = lb.dde(loads.reshape(topology.shape), topology, record="flows")
    result = lb.assign_tasks(sizes, owner, topology, along=plan)
    assert result.verify()
    race(
        f"tasks along a plan, {len(sizes):,} on {spec}",
        lambda: lb.assign_tasks(sizes, owner, topology, along=plan).owner,
        {},
        nodes=len(sizes),
        yardsticks={"np.sort": lambda: np.sort(sizes)},
    )
