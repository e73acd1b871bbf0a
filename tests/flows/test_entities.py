"""route_entities against the cases, exhaustive optima and perfect packings."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import fastlb as lb
from tests.flows.test_minimax_oracle import cases


@pytest.mark.parametrize(("case", "out"), cases("s002_odfs"))
def test_ordered_search_cases(case: dict[str, Any], out: dict[str, Any]) -> None:
    s, t = case["s"], case["t"]
    n = case["n"] - 2
    inner = [k for k, e in enumerate(case["edges"]) if e[0] != s and e[1] != t]
    template = [Fraction(case["template"][k]) for k in inner]
    room = [Fraction(0)] * n
    targets = [Fraction(0)] * n
    door = {}
    for k, (u, v, c, *_) in enumerate(case["edges"]):
        if v == t and u != s:
            room[u] += Fraction(c)
            targets[u] = Fraction(case["template"][k])
            door[u] = k
    edges = [case["edges"][k] for k in inner]
    network = lb.Network(
        np.array([e[:2] for e in edges]).reshape(-1, 2),
        n=n,
        capacity=[e[2] for e in edges],
        traffic=[e[4] for e in edges],
    )
    r = lb.route_entities(
        network, case["entities"], room, method="odfs", template=[*template, *targets]
    )
    for path, expected in zip(r.paths, out["paths"], strict=True):
        if expected is None:
            assert path is None
        else:
            assert [inner[k] for k in path or []] == expected[:-1]
    assert r.eliminated == Fraction(out["eliminated"])
    assert r.contention == Fraction(out["contention"])
    assert [Fraction(f) for f in r.load.tolist()] == [Fraction(out["load"][k]) for k in inner]
    b = lb.route_entities(network, case["entities"], room, orders=20)
    best = out["optimum"]
    assert b.eliminated <= best["eliminated"]
    if b.eliminated == best["eliminated"]:
        assert b.bound <= best["contention"] <= b.contention
    lb.route_entities(network, case["entities"], room, method="odfs")


def optimum(
    network: lb.Network, entities: list[tuple[int, int]], room: list[int]
) -> tuple[float, float]:
    """Most load moved, then least contention, by two integer programs."""
    E, n, K = network.edge_count, network.size, len(entities)
    # Entity i on link k: i (E + n) + k; delivered at node u: i (E + n) + E + u; last: contention.
    width = E + n
    size = K * width + 1
    kept, wide, rows = [], [], []
    sizes = np.array([s for _, s in entities], dtype=float)
    for i, (at, _) in enumerate(entities):
        for u in range(n):
            row = np.zeros(size)
            for k, (a, b) in enumerate(network.edges.tolist()):
                row[i * width + k] += (a == u) - (b == u)
            row[i * width + E + u] = 1
            low, high = (0, 1) if u == at else (0, 0)
            kept.append(LinearConstraint(row, low, high))
    for u in range(n):
        row = np.zeros(size)
        row[E + u : -1 : width] = sizes
        rows.append(LinearConstraint(row, 0, room[u]))
    for k, limit in enumerate(network.capacity):
        row = np.zeros(size)
        row[k:-1:width] = sizes
        rows.append(LinearConstraint(row, 0, np.inf if limit is None else float(limit)))
        row = row.copy()
        row[-1] = -1
        wide.append(LinearConstraint(row, -np.inf, 0))
    moved = np.zeros(size)
    for i in range(K):
        moved[i * width + E : (i + 1) * width] = sizes[i]
    whole = np.append(np.ones(size - 1), 0)
    bounds = Bounds(np.zeros(size), np.append(np.ones(size - 1), np.inf))
    most = milp(-moved, constraints=kept + rows, integrality=whole, bounds=bounds)
    fixed = LinearConstraint(moved, round(-most.fun) - 0.5, np.inf)
    cost = np.append(np.zeros(size - 1), 1.0)
    least = milp(cost, constraints=[*kept, *rows, *wide, fixed], integrality=whole, bounds=bounds)
    return float(round(-most.fun)), float(round(least.fun))


@pytest.mark.parametrize("seed", range(20))
def test_against_integer_programs(seed: int) -> None:
    draws = np.random.default_rng(seed)
    n, E, K = int(draws.integers(3, 6)), int(draws.integers(4, 11)), int(draws.integers(1, 6))
    network = lb.Network(
        draws.integers(0, n, (E, 2)),
        n=n,
        capacity=[None if draws.random() < 0.4 else int(draws.integers(1, 14)) for _ in range(E)],
    )
    entities = [(int(draws.integers(n)), int(draws.integers(1, 8))) for _ in range(K)]
    room = draws.integers(0, 12, n).tolist()
    moved, contention = optimum(network, entities, room)
    for method in ("odfs", "budget"):
        r = lb.route_entities(network, entities, room, method=method, orders=10)
        assert r.eliminated <= moved
        assert r.bound <= r.contention
        if r.eliminated == moved:
            assert r.bound <= contention <= r.contention
        check_routes(network, entities, room, r)


def check_routes(
    network: lb.Network, entities: list[tuple[int, int]], room: list[int], r: lb.EntityRoutes
) -> None:
    load = np.zeros(network.edge_count, dtype=np.int64)
    left = np.array(room)
    for (at, size), path in zip(entities, r.paths, strict=True):
        if path is None:
            continue
        node = at
        for k in path:
            assert network.edges[k][0] == node
            node = int(network.edges[k][1])
            load[k] += size
        left[node] -= size
    assert (left >= 0).all()
    assert load.tolist() == r.load.tolist()
    limits = zip(load.tolist(), network.capacity, network.traffic, strict=True)
    assert all(c is None or f == 0 or f + carried <= c for f, c, carried in limits)
    assert r.contention == load.max(initial=0)
    assert r.traffic == load.sum()
    assert r.unrouted == [i for i, path in enumerate(r.paths) if path is None]
    assert r.eliminated == sum(
        s for (_, s), p in zip(entities, r.paths, strict=True) if p is not None
    )


@pytest.mark.parametrize("seed", range(6))
def test_perfect_packings(seed: int) -> None:
    lengths = lb.perfect_packing(4, 20, 3, seed=seed)
    assert (len(lengths), sum(lengths), min(lengths) > 0) == (12, 80, True)
    network, entities, room = lb.scheduling_network(lengths, 4, 20)
    divisible = lb.minimax_flow(network, [*lengths, *[0] * 6, -80], integral=False)
    assert divisible.eliminated == 80
    r = lb.route_entities(network, entities, room, orders=200, seed=1)
    check_routes(network, entities, room, r)
    assert r.eliminated >= 70
    one = lb.route_entities(network, entities, room)
    assert one.eliminated <= r.eliminated


def test_routing_schemes_hold_for_entities() -> None:
    topology = lb.Mesh(3, 3)
    network = topology.network()
    entities = [(0, 5), (0, 3), (4, 2), (6, 4)]
    room = [0, 0, 9, 0, 2, 0, 0, 0, 9]
    for method in ("odfs", "budget"):
        r = lb.route_entities(network, entities, room, routing="dimension-order", method=method)
        check_routes(network, entities, room, r)
        assert not r.unrouted
        for path in r.paths:
            rows = [k for k in path or [] if abs(np.subtract(*network.edges[k])) == 3]
            assert (path or [])[: len(rows)] == rows
    stays = lb.route_entities(network, [(4, 2)], room)
    assert (stays.paths, stays.contention, stays.bound) == ([[]], 0, 0)


@pytest.mark.parametrize("method", ["odfs", "budget"])
def test_entities_stay_where_there_is_room_whatever_the_scheme(method: str) -> None:
    scheme = lb.RoutingScheme(lambda u, via, w: u < via < w)
    network = lb.Chain(3).network(capacity=4)
    r = lb.route_entities(
        network, [(0, 9), (0, 4), (2, 1)], [9, 0, 5], method=method, routing=scheme
    )
    assert (r.paths[0], r.paths[2], r.unrouted) == ([], [], [])
    assert (r.eliminated, r.contention, r.bound) == (14, 4, 4)


def test_entities_of_every_number() -> None:
    network = lb.Network([(0, 1), (0, 1)], capacity=["7/2", 3.5])
    exact = lb.route_entities(
        lb.Network([(0, 1), (0, 1)], capacity="7/2"), [(0, "5/3"), (0, "7/2")], [0, "31/6"]
    )
    assert (exact.eliminated, exact.contention) == (Fraction(31, 6), Fraction(7, 2))
    real = lb.route_entities(network, [(0, 0.1), (0, 3.4)], [0, 9.0])
    assert (real.eliminated, real.unrouted) == (3.5, [])


@pytest.mark.parametrize("seed", range(40))
def test_bounds_of_floats_are_true(seed: int) -> None:
    draws = np.random.default_rng(seed)
    links = draws.integers(0, 4, (8, 2))
    capacity, sizes, room = draws.random(8) * 2, draws.random(6), draws.random(4) * 2
    entities = [
        (int(node), float(size)) for node, size in zip(draws.integers(0, 4, 6), sizes, strict=True)
    ]
    r = lb.route_entities(lb.Network(links, n=4, capacity=capacity), entities, room)
    exact = lb.route_entities(
        lb.Network(links, n=4, capacity=[Fraction(c) for c in capacity]),
        [(node, Fraction(size)) for node, size in entities],
        [Fraction(x) for x in room],
    )
    assert r.paths == exact.paths
    # Whole entities load links by multiples of what divides all sizes.
    parts = math.lcm(*(Fraction(size).denominator for size in sizes))
    assert Fraction(r.bound) <= Fraction(math.ceil(exact.bound * parts), parts)
    assert float(exact.bound) - r.bound < 1e-12


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "best"}, "method must be"),
        ({"orders": 0}, "orders must be"),
        ({"entities": [(9, 1)]}, r"entities must be at nodes 0\.\.2, got 9 at 0"),
        ({"entities": [(0, -1)]}, "size of an entity must not be negative"),
        ({"entities": [3]}, "pairs"),
        ({"room": [1]}, "room must be one value for each of 3 nodes"),
        ({"template": [1, 2], "method": "odfs"}, "template must be"),
    ],
)
def test_bad_entities(options: dict[str, Any], text: str) -> None:
    given: dict[str, Any] = {"entities": [(0, 1)], "room": [0, 1, 0], **options}
    with pytest.raises(ValueError, match=text):
        lb.route_entities(lb.Network([(0, 1), (0, 2), (2, 1)]), **given)
