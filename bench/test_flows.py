"""Maximum and minimum-cost flow from arrays of links, models and networks built in each call."""

from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

import fastlb as lb


def random_links(nodes, links, seed=1):
    """Return random links and capacities, and the first and the last node."""
    draws = np.random.default_rng(seed)
    return nodes, draws.integers(0, nodes, (links, 2)), draws.integers(1, 1000, links)


def frames(side, depth, seed=1):
    """Return the links of Goldfarb and Grigoriadis' genrmf: square grids, joined at random."""
    draws = np.random.default_rng(seed)
    node = np.arange(depth * side * side).reshape(depth, side, side)
    parts, limits = [], []
    for before, after in (
        (node[:, :-1], node[:, 1:]),
        (node[:, :, :-1], node[:, :, 1:]),
    ):
        pairs = np.stack([before.ravel(), after.ravel()], axis=1)
        parts += [pairs, pairs[:, ::-1]]
        limits += [np.full(2 * len(pairs), 100 * side * side)]
    for one, other in pairwise(node):
        parts.append(np.stack([one.ravel(), draws.permutation(other.ravel())], axis=1))
        limits.append(draws.integers(1, 101, side * side))
    return node.size, np.concatenate(parts), np.concatenate(limits)


def grid_links(side, seed=1):
    """Return both directions of a square mesh's links."""
    draws = np.random.default_rng(seed)
    edges = lb.Mesh(side, side).network().edges
    return side * side, edges, draws.integers(1, 1000, len(edges))


def across(side):
    """Return a square mesh between a first node before its one side and a last node behind."""
    nodes, edges, limits = grid_links(side)
    column = np.arange(0, nodes, side) + 1
    before = np.stack([np.zeros(side, np.int64), column], axis=1)
    behind = np.stack([column + side - 1, np.full(side, nodes + 1)], axis=1)
    ends = np.full(2 * side, 10**6)
    return nodes + 2, np.concatenate([before, behind, edges + 1]), np.append(ends, limits)


MAXIMUM = {
    "genrmf long, 10x10x50": lambda: frames(10, 50),
    "genrmf wide, 30x30x12": lambda: frames(30, 12),
    "200x200 mesh": lambda: across(200),
    "random, 20000 nodes, 100000 links": lambda: random_links(20_000, 100_000),
    "random, 200000 nodes, 1000000 links": lambda: random_links(200_000, 1_000_000),
}


def ortools_maximum(nodes, edges, limits):
    """Return the value by OR-tools, or None without it."""
    if find_spec("ortools") is None:
        return None
    from ortools.graph.python import max_flow

    tail, head = np.ascontiguousarray(edges.T)

    def run():
        engine = max_flow.SimpleMaxFlow()
        links = engine.add_arcs_with_capacity(tail, head, limits)
        assert engine.solve(0, nodes - 1) == engine.OPTIMAL
        engine.flows(links)
        return engine.optimal_flow()

    return run


def igraph_maximum(nodes, edges, limits):
    """Return the value by igraph, whose graph is built before, or None without it."""
    if find_spec("igraph") is None:
        return None
    import igraph

    graph = igraph.Graph(n=nodes, edges=edges.tolist(), directed=True)
    capacity = limits.astype(float).tolist()
    return lambda: round(graph.maxflow(0, nodes - 1, capacity).value)


@pytest.mark.parametrize("name", MAXIMUM)
def test_maximum(race, quick, name):
    nodes, edges, limits = frames(4, 5) if quick else MAXIMUM[name]()

    def fastlb():
        network = lb.Network(edges, n=nodes, capacity=limits)
        return lb.maximum_flow(network, 0, nodes - 1).value

    def scipy():
        matrix = csr_array((limits.astype(np.int32), tuple(edges.T)), shape=(nodes, nodes))
        return maximum_flow(matrix, 0, nodes - 1).flow_value

    race(
        f"maximum flow, {name}",
        fastlb,
        {
            "OR-tools": ortools_maximum(nodes, edges, limits),
            "igraph": igraph_maximum(nodes, edges, limits),
            "scipy": scipy,
        },
        nodes=nodes,
        targets={"OR-tools": 0.5, "igraph": 1, "scipy": 1},
    )


def supplied(nodes, edges, limits, seed=1):
    """Add demands at a tenth of the nodes, dear links around that carry all, and costs."""
    draws = np.random.default_rng(seed)
    around = np.stack([np.arange(nodes), np.roll(np.arange(nodes), -1)], axis=1)
    edges = np.concatenate([edges, around])
    limits = np.concatenate([limits, np.full(nodes, 10**6)])
    cost = np.append(draws.integers(1, 10_000, len(edges) - nodes), np.full(nodes, 10_000))
    demand = np.zeros(nodes, np.int64)
    chosen = draws.choice(nodes, nodes // 10, replace=False)
    demand[chosen] = draws.integers(-100, 101, len(chosen))
    demand[chosen[0]] -= demand.sum()
    return nodes, edges, limits, cost, demand


def transport(side, seed=1):
    """Return a transportation problem: as many that send as that receive, each to each."""
    draws = np.random.default_rng(seed)
    edges = np.stack([np.repeat(np.arange(side), side), np.tile(np.arange(side), side) + side], 1)
    sent = draws.integers(1, 1000, side)
    demand = np.concatenate([-sent, draws.permutation(sent)])
    cost = draws.integers(1, 10_000, len(edges))
    return 2 * side, edges, np.full(len(edges), 10**6), cost, demand


LEAST_COST = {
    "random, 1000 nodes, 8000 links": lambda: supplied(*random_links(1000, 7000)),
    "random, 10000 nodes, 80000 links": lambda: supplied(*random_links(10_000, 70_000)),
    "32x32 mesh": lambda: supplied(*grid_links(32)),
    "100x100 mesh": lambda: supplied(*grid_links(100)),
    "transport, 300 to 300": lambda: transport(300),
    "genrmf wide, 20x20x10": lambda: supplied(*frames(20, 10)),
}


def ortools_least_cost(edges, limits, cost, demand):
    """Return the cost by OR-tools, or None without it."""
    if find_spec("ortools") is None:
        return None
    from ortools.graph.python import min_cost_flow

    tail, head = np.ascontiguousarray(edges.T)
    nodes = np.arange(len(demand))

    def run():
        engine = min_cost_flow.SimpleMinCostFlow()
        links = engine.add_arcs_with_capacity_and_unit_cost(tail, head, limits, cost)
        engine.set_nodes_supplies(nodes, -demand)
        assert engine.solve() == engine.OPTIMAL
        engine.flows(links)
        return engine.optimal_cost()

    return run


@pytest.mark.parametrize("name", LEAST_COST)
def test_least_cost(race, quick, name):
    instance = supplied(*random_links(30, 200)) if quick else LEAST_COST[name]()
    nodes, edges, limits, cost, demand = instance

    def fastlb():
        network = lb.Network(edges, n=nodes, capacity=limits)
        return lb.minimum_cost_flow(network, demand, cost=cost).cost

    race(
        f"minimum-cost flow, {name}",
        fastlb,
        {"OR-tools": ortools_least_cost(edges, limits, cost, demand)},
        nodes=nodes,
        targets={"OR-tools": 0.5},
    )
