"""Engines for maximum flow, each searching beta by Newton steps as MMC01 does.

A peer's model is built once; what is timed are the solves and, between them, the new capacities.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np


class Problem:
    """Whole units on a network without traffic or capacities, as the engines take it."""

    def __init__(self, network, excess):
        self.n, self.excess = network.size, excess
        self.tail, self.head = np.ascontiguousarray(network.edges.T)
        self.gives, self.takes = np.flatnonzero(excess > 0), np.flatnonzero(excess < 0)
        self.total = int(excess[self.gives].sum())
        s, t = self.n, self.n + 1
        self.tails = np.concatenate([self.tail, np.full(len(self.gives), s), self.takes])
        self.heads = np.concatenate([self.head, self.gives, np.full(len(self.takes), t)])
        self.ends = np.concatenate([excess[self.gives], -excess[self.takes]])

    def capacities(self, beta):
        return np.concatenate([np.full(len(self.tail), beta), self.ends])

    def search(self, solve):
        """Newton from the left; ``solve(beta)`` gives the value and the source side."""
        beta = 0
        while True:
            value, side = solve(beta)
            if value == self.total:
                return beta
            crossing = np.zeros(self.n + 2, dtype=bool)
            crossing[side] = True
            rho = np.count_nonzero(crossing[self.tail] & ~crossing[self.head])
            beta += -(-(self.total - value) // rho)


def ortools(problem):
    """Return (search, one maximum flow at a given beta), or None without OR-tools."""
    if find_spec("ortools") is None:
        return None
    from ortools.graph.python import max_flow

    engine = max_flow.SimpleMaxFlow()
    links = engine.add_arcs_with_capacity(problem.tails, problem.heads, problem.capacities(0))
    links = links[: len(problem.tail)]

    def solve(beta):
        engine.set_arcs_capacity(links, np.full(len(links), beta))
        assert engine.solve(problem.n, problem.n + 1) == engine.OPTIMAL
        return engine.optimal_flow(), engine.get_source_side_min_cut()

    return lambda: problem.search(solve), lambda beta: solve(beta)[0]


def ortools_least(problem, beta):
    """Return the least traffic at beta by OR-tools' minimum-cost flow, or None without it."""
    if find_spec("ortools") is None:
        return None
    from ortools.graph.python import min_cost_flow

    engine = min_cost_flow.SimpleMinCostFlow()
    links = len(problem.tail)
    capacities = np.full(links, beta)
    engine.add_arcs_with_capacity_and_unit_cost(
        problem.tail, problem.head, capacities, np.ones(links, dtype=np.int64)
    )
    engine.set_nodes_supplies(np.arange(problem.n), problem.excess)

    def run():
        assert engine.solve() == engine.OPTIMAL
        return engine.optimal_cost()

    return run


def igraph(problem):
    """Return the search by igraph, or None without it."""
    if find_spec("igraph") is None:
        return None
    import igraph

    graph = igraph.Graph(
        n=problem.n + 2,
        edges=np.stack([problem.tails, problem.heads], axis=1).tolist(),
        directed=True,
    )

    def solve(beta):
        capacity = problem.capacities(beta).astype(float).tolist()
        flow = graph.maxflow(problem.n, problem.n + 1, capacity)
        return round(flow.value), flow.partition[0]

    return lambda: problem.search(solve)


def networkx(problem):
    """Return the search by networkx's preflow-push, or None without it."""
    if find_spec("networkx") is None:
        return None
    import networkx as nx

    pairs = list(zip(problem.tails.tolist(), problem.heads.tolist(), strict=True))
    graph = nx.DiGraph(pairs)

    def solve(beta):
        capacity = dict(zip(pairs, problem.capacities(beta).tolist(), strict=True))
        nx.set_edge_attributes(graph, capacity, "capacity")
        value, (side, _) = nx.minimum_cut(graph, problem.n, problem.n + 1)
        return value, sorted(side)

    return lambda: problem.search(solve)


def highs(problem):
    """Return the least contention by HiGHS: one linear program, rounded up to whole units."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, eye_array, hstack, vstack

    E = len(problem.tail)
    rows = np.concatenate([problem.tail, problem.head])
    signs = np.concatenate([np.ones(E), -np.ones(E)])
    balance = coo_array((signs, (rows, np.tile(np.arange(E), 2))), shape=(problem.n, E))
    balance = hstack([balance, coo_array((problem.n, 1))]).tocsr()
    above = hstack([eye_array(E), coo_array(-np.ones((E, 1)))]).tocsr()
    takers = np.flatnonzero(problem.excess < 0)
    others = np.flatnonzero(problem.excess >= 0)
    upper = vstack([above, -balance[takers]])
    limits = np.concatenate([np.zeros(E), -problem.excess[takers].astype(float)])
    cost = np.append(np.zeros(E), 1.0)

    def run():
        found = linprog(cost, upper, limits, balance[others], problem.excess[others].astype(float))
        assert found.status == 0
        return int(np.ceil(found.fun - 1e-6))

    return run
