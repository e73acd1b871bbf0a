"""Properties of minimax flow on random networks, against the plain twin and linear programs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

import fastlb as lb
from tests.oracles import minimax as plain


class Instance(NamedTuple):
    n: int
    edges: Any
    capacity: list[int | None]
    traffic: list[int]
    excess: Any
    counted: Any

    @property
    def network(self) -> lb.Network:
        return lb.Network(self.edges, n=self.n, capacity=self.capacity, traffic=self.traffic)

    def links(self) -> list[plain.Link]:
        rows = zip(self.edges.tolist(), self.capacity, self.counted, self.traffic, strict=True)
        return [plain.Link(u, v, c, int(w), f) for (u, v), c, w, f in rows]

    def twin(self, contention: str, integral: bool) -> plain.Minimax:
        links = self.links()
        for node, amount in enumerate(self.excess.tolist()):
            if amount > 0:
                links.append(plain.Link(self.n, node, amount, 0))
            elif amount < 0:
                links.append(plain.Link(node, self.n + 1, -amount, 0))
        return plain.minimax(self.n + 2, links, self.n, self.n + 1, contention, integral=integral)


def instance(seed: int) -> Instance:
    """Any network: parallel links, self-loops, parts cut off, failed and unlimited links."""
    draws = np.random.default_rng(seed)
    n, E = int(draws.integers(1, 9)), int(draws.integers(0, 24))
    return Instance(
        n,
        draws.integers(0, n, (E, 2)),
        [None if draws.random() < 0.2 else int(draws.integers(0, 15)) for _ in range(E)],
        [int(draws.integers(0, 5)) if draws.random() < 0.5 else 0 for _ in range(E)],
        draws.integers(-12, 13, n),
        draws.random(E) < 0.8,
    )


def check_plan(given: Instance, p: lb.MinimaxPlan) -> None:
    """Feasible by plain sums, acyclic, and made of its routes."""
    assert p.verify()
    flow = [Fraction(f) for f in p.flow.tolist()]
    net = [Fraction(0)] * given.n
    for (u, v), f, c, carried in zip(
        given.edges.tolist(), flow, given.capacity, given.traffic, strict=True
    ):
        assert f >= 0
        assert f == 0 or c is None or f + carried <= c
        net[u] += f
        net[v] -= f
    for out, amount in zip(net, given.excess.tolist(), strict=True):
        assert min(amount, 0) <= out <= max(amount, 0)
    assert sum(out for out in net if out > 0) == p.eliminated
    graph = nx.DiGraph(e for e, f in zip(map(tuple, given.edges.tolist()), flow, strict=True) if f)
    assert nx.is_directed_acyclic_graph(graph)
    routes = p.routes()
    assert sum(r.amount for r in routes) == p.eliminated
    assert sum(r.amount * (len(r.path) - 1) for r in routes) == p.traffic == sum(flow)
    for r in routes:
        assert (r.path[0], r.path[-1]) == (r.source, r.sink)
        assert len(set(r.path)) == len(r.path)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("contention", ["transfer", "total"])
@pytest.mark.parametrize("integral", [True, False])
def test_methods_agree_with_the_twin(seed: int, contention: str, integral: bool) -> None:
    given = instance(seed)
    expected = given.twin(contention, integral)
    traffic = {}
    for method in ("fused", "mmc01", "scipy"):
        for plan in ("short", "least"):
            p = lb.minimax_flow(
                given.network,
                given.excess,
                contention=contention,
                integral=integral,
                counted=given.counted,
                method=method,
                plan=plan,
            )
            assert (p.eliminated, p.contention) == (expected.value, expected.beta)
            check_plan(given, p)
            traffic[plan] = p.traffic
            if method == "mmc01":
                assert p.iterations <= int(given.counted.sum()) + 1
    assert traffic["least"] <= traffic["short"]


def programme(given: Instance, value: Any, top: list[float | None], cost: Any, extra: int) -> float:
    """The least cost of moving ``value``; ``extra`` 1 adds a variable above counted contention."""
    E, n = len(given.edges), given.n
    rows = np.zeros((2 * n, E + extra))
    for k, (u, v) in enumerate(given.edges):
        rows[u, k] += 1
        rows[v, k] -= 1
    rows[n:] = -rows[:n]
    limits = np.concatenate([np.maximum(given.excess, 0), np.maximum(-given.excess, 0)])
    sources = given.excess > 0
    moved = rows[:n][sources].sum(axis=0)[None]
    if extra:
        above = np.zeros((int(given.counted.sum()), E + 1))
        above[np.arange(len(above)), np.flatnonzero(given.counted)] = 1
        above[:, E] = -1
        rows, limits = np.vstack([rows, above]), np.append(limits, np.zeros(len(above)))
    bounds = [(0, limit) for limit in top] + [(0, None)] * extra
    found = linprog(cost, rows, limits, moved, [float(value)], bounds)
    assert found.status == 0, found.message
    return float(found.fun)


@pytest.mark.parametrize("seed", range(0, 400, 10))
def test_linear_programs_agree(seed: int) -> None:
    given = instance(seed)
    if len(given.edges) == 0:
        return
    p = lb.minimax_flow(
        given.network, given.excess, integral=False, counted=given.counted, plan="least"
    )
    pairs = zip(given.capacity, given.traffic, strict=True)
    usable = [None if c is None else float(max(0, c - f)) for c, f in pairs]
    beta = programme(given, p.eliminated, usable, [0] * len(usable) + [1], 1)
    assert beta == pytest.approx(float(p.contention), abs=1e-6)
    top = [
        min(10**6 if limit is None else limit, float(p.contention) + 1e-9) if w else limit
        for limit, w in zip(usable, given.counted, strict=True)
    ]
    traffic = programme(given, p.eliminated, top, [1] * len(usable), 0)
    assert traffic == pytest.approx(float(p.traffic), abs=1e-6)


@pytest.mark.parametrize("seed", range(30))
def test_order_of_links_does_not_matter(seed: int) -> None:
    given = instance(seed)
    order = np.random.default_rng(seed).permutation(len(given.edges))
    shuffled = lb.Network(
        given.edges[order],
        n=given.n,
        capacity=[given.capacity[k] for k in order],
        traffic=[given.traffic[k] for k in order],
    )
    for contention in ("transfer", "total"):
        p = lb.minimax_flow(given.network, given.excess, contention=contention, integral=False)
        q = lb.minimax_flow(shuffled, given.excess, contention=contention, integral=False)
        assert (p.eliminated, p.contention) == (q.eliminated, q.contention)


@pytest.mark.parametrize("seed", range(40))
def test_bottleneck_proves_the_contention(seed: int) -> None:
    """With a little less on the links of the cut, and no limit elsewhere, less passes."""
    given = instance(seed)
    p = lb.minimax_flow(given.network, given.excess, integral=False)
    if p.contention == 0:
        assert p.bottleneck.size == 0
        return
    cut = set(p.bottleneck.tolist())
    assert cut
    assert all(p.flow[k] == p.contention for k in cut)
    for step in (Fraction(1, 1000), p.contention / 2):
        lower = [
            (p.contention - step) + given.traffic[k] if k in cut else c
            for k, c in enumerate(given.capacity)
        ]
        less = lb.Network(given.edges, n=given.n, capacity=lower, traffic=given.traffic)
        assert lb.minimax_flow(less, given.excess, integral=False).eliminated < p.eliminated


@pytest.mark.parametrize("seed", range(40))
def test_full_links_hold_back_what_does_not_move(seed: int) -> None:
    """They are full, hold load back by themselves, and are none where no capacity would help."""
    given = instance(seed)
    p = lb.minimax_flow(given.network, given.excess, integral=False)
    gives = sum(Fraction(x) for x in given.excess if x > 0)
    takes = sum(-Fraction(x) for x in given.excess if x < 0)
    assert p.held_back == min(gives, takes) - p.eliminated
    full = set(p.full_links.tolist())
    assert not full or p.held_back
    for k in full:
        limit = given.capacity[k]
        assert limit is not None
        assert p.flow[k] == max(0, limit - given.traffic[k])
    wider = lb.Network(given.edges, n=given.n)
    assert (lb.minimax_flow(wider, given.excess).eliminated > p.eliminated) == bool(full)
    others = [c if k in full else None for k, c in enumerate(given.capacity)]
    network = lb.Network(given.edges, n=given.n, capacity=others, traffic=given.traffic)
    assert not full or lb.minimax_flow(network, given.excess).held_back
    assert lb.minimax_flow(given.network, given.excess, max_moves=p.eliminated).held_back == 0


@pytest.mark.parametrize("seed", range(40))
def test_routing_schemes_agree_with_the_rules(seed: int) -> None:
    given = instance(seed)
    draws = np.random.default_rng(1000 + seed)
    turns = draws.random((given.n,) * 3) < 0.6
    scheme = lb.RoutingScheme(lambda u, via, w: bool(turns[u, via, w]))
    excess = {u: int(x) for u, x in enumerate(given.excess) if x > 0}
    deficit = {u: -int(x) for u, x in enumerate(given.excess) if x < 0}
    _, _, made, s, t = plain.transformed(given.n, given.links(), scheme.allows, excess, deficit)
    p = lb.minimax_flow(given.network, given.excess, integral=False, routing=scheme)
    weighted = [
        plain.Link(k.tail, k.head, k.capacity, int(i < len(given.edges)), k.traffic)
        for i, k in enumerate(made)
    ]
    expected = plain.minimax(t + 1, weighted, s, t, "transfer")
    assert (p.eliminated, p.contention) == (expected.value, expected.beta)
    assert p.verify()
    assert sum(r.amount for r in p.routes()) == p.eliminated
    for r in p.routes():
        assert all(turns[r.path[i : i + 3]] for i in range(len(r.path) - 2))


@pytest.mark.parametrize(
    ("topology", "name"),
    [
        (lb.Hypercube(3), "e-cube"),
        (lb.Hypercube(3, faults=[(0, 1), (5, 7)]), "e-cube"),
        (lb.Mesh(3, 4), "dimension-order"),
        (lb.Torus(3, 2), "dimension-order"),
        (lb.Mesh(2, 3, 2), lb.dimension_order((2, 0, 1))),
    ],
)
def test_layers_are_the_rules(topology: lb.Topology, name: Any) -> None:
    draws = np.random.default_rng(5)
    network = topology.network(capacity=9)
    graph = lb.routing_graph(network, name)
    pairs = {
        (
            int(network.edges[a // 2][0]),
            int(network.edges[b // 2][0]),
            int(network.edges[b // 2][1]),
        )
        for a, b in graph.edges[network.edge_count :]
    }
    rules = lb.RoutingScheme(lambda u, via, w: (u, via, w) in pairs)
    for _ in range(8):
        excess = draws.integers(-12, 13, topology.size)
        p = lb.minimax_flow(network, excess, routing=name, integral=False)
        q = lb.minimax_flow(network, excess, routing=rules, integral=False)
        assert (p.eliminated, p.contention) == (q.eliminated, q.contention)
        assert p.verify()
        assert q.verify()
        for r in p.routes():
            assert all(r.path[i : i + 3] in pairs for i in range(len(r.path) - 2))


@pytest.mark.parametrize("seed", range(30))
def test_levels_are_lexicographic(seed: int) -> None:
    """No level below can be lowered without raising one above it."""
    given = instance(seed)
    if len(given.edges) == 0:
        return
    p = lb.minimax_flow(given.network, given.excess, integral=False, levels=2)
    check_plan(given, p)
    first = lb.minimax_flow(given.network, given.excess, integral=False)
    assert p.levels[0] == first.contention == p.contention
    assert list(p.levels) == sorted(p.levels, reverse=True)
    if len(p.levels) == 2:
        at_most = [k for k, f in enumerate(p.flow.tolist()) if f > p.levels[1]]
        limit = {k: p.levels[0] + given.traffic[k] for k in at_most}
        rest = [k not in limit for k in range(len(given.edges))]
        capped = [
            c if k not in limit else min(limit[k], limit[k] if c is None else c)
            for k, c in enumerate(given.capacity)
        ]
        network = lb.Network(given.edges, n=given.n, capacity=capped, traffic=given.traffic)
        q = lb.minimax_flow(network, given.excess, integral=False, counted=rest)
        assert q.eliminated == p.eliminated
        assert q.contention == p.levels[1]


@pytest.mark.parametrize("seed", range(60))
def test_floats_never_exceed_what_was_given(seed: int) -> None:
    draws = np.random.default_rng(seed)
    n, E = int(draws.integers(2, 9)), int(draws.integers(1, 24))
    edges = draws.integers(0, n, (E, 2))
    scale = 10.0 ** draws.integers(-3, 4)
    capacity = np.where(draws.random(E) < 0.3, np.inf, draws.random(E) * scale)
    traffic = draws.random(E) * (draws.random(E) < 0.4)
    excess = draws.normal(size=n) * 10.0 ** draws.integers(-5, 6)
    network = lb.Network(edges, n=n, capacity=capacity, traffic=traffic)
    for contention in ("transfer", "total"):
        p = lb.minimax_flow(network, excess, contention=contention)
        q = lb.minimax_flow(network, excess, contention=contention, method="mmc01")
        assert (p.eliminated, p.contention) == (q.eliminated, q.contention)
        assert p.verify()
        flow = [Fraction(f) for f in p.flow.tolist()]
        net = [Fraction(0)] * n
        for (u, v), f, c, carried in zip(
            edges.tolist(), flow, capacity.tolist(), traffic.tolist(), strict=True
        ):
            assert f == 0 or c == np.inf or f + Fraction(carried) <= Fraction(c)
            net[u] += f
            net[v] -= f
        for out, amount in zip(net, excess.tolist(), strict=True):
            assert min(Fraction(amount), 0) <= out <= max(Fraction(amount), 0)
        assert sum(out for out in net if out > 0) == Fraction(p.eliminated)
