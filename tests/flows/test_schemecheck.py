"""P1-P3 of routing schemes against the definitions, over all walks of small networks."""

from __future__ import annotations

import itertools
import random

import pytest

import fastlb as lb

Walk = tuple[int, ...]
LONGEST = 4


def walks(n: int, links: set[Walk]) -> list[Walk]:
    lengths = range(2, LONGEST + 2)
    every = itertools.chain(*(itertools.product(range(n), repeat=k) for k in lengths))
    return [w for w in every if all(pair in links for pair in itertools.pairwise(w))]


def violated(links: set[Walk], feasible: set[Walk]) -> str | None:
    if not links <= feasible:
        return "P1"
    parts = ((w[i:j], w) for w in feasible for i in range(len(w)) for j in range(i + 2, len(w) + 1))
    if any(part not in feasible for part, _ in parts):
        return "P2"
    joined = ((*a, *b[2:]) for a in feasible for b in feasible if a[-2:] == b[:2])
    return "P3" if any(len(w) <= LONGEST + 1 and w not in feasible for w in joined) else None


@pytest.mark.parametrize("seed", range(300))
def test_the_check_is_the_definition(seed: int) -> None:
    draws = random.Random(seed)
    n = draws.randint(2, 4)
    pairs = itertools.permutations(range(n), 2)
    links: set[Walk] = {(u, v) for u, v in pairs if draws.random() < 0.5} or {(0, 1)}
    every = walks(n, links)
    turns = {w: draws.random() < 0.6 for w in every if len(w) == 3}
    slips = draws.choice([0.0, 0.0, 0.02])
    feasible = {
        w
        for w in every
        if all(turns[t] for t in zip(w, w[1:], w[2:], strict=False)) != (draws.random() < slips)
    }
    check = lb.check_routing(
        lb.Network(sorted(links), n=n), lambda path: tuple(path) in feasible, longest=LONGEST
    )
    expected = violated(links, feasible)
    assert bool(check) == (expected is None)
    if not check:
        wanted, *given = check.counterexample
        assert wanted not in feasible
        assert all(path in feasible for path in given)


def test_a_path_none_of_whose_parts_is_feasible() -> None:
    chain = lb.Chain(5).network()
    check = lb.check_routing(chain, lambda path: len(path) == 2 or tuple(path) == (0, 1, 2, 3, 4))
    assert (check.violated, check.counterexample[1]) == ("P2", (0, 1, 2, 3, 4))


@pytest.mark.parametrize(
    ("topology", "scheme"),
    [
        (lb.Mesh(3, 3), "dimension-order"),
        (lb.Hypercube(3), "e-cube"),
        (lb.Ring(3), "dimension-order"),
    ],
)
def test_named_schemes_hold(topology: lb.Topology, scheme: str) -> None:
    assert lb.check_routing(topology.network(), scheme)


@pytest.mark.parametrize("shape", [(4,), (6,), (4, 3)])
def test_shortest_direction_on_rings_violates_p3(shape: tuple[int, ...]) -> None:
    network = lb.Torus(*shape).network()
    check = lb.check_routing(network, "shortest-direction")
    assert check.violated == "P3"
    whole, first, second = check.counterexample
    assert (whole[:-1], whole[1:]) == (first, second)
    with pytest.raises(ValueError, match="P3"):
        lb.minimax_flow(network, [0] * network.size, routing="dimension-order")


@pytest.mark.parametrize(
    ("edges", "text"),
    [
        ([(0, 1), (0, 8)], r"links of Mesh\(3, 3\) alone, got \(0, 8\)"),
        ([(0, 1), (1, 1)], r"got \(1, 1\)"),
        ([(0, 2)], r"got \(0, 2\)"),
    ],
)
def test_routing_needs_the_links_of_the_topology(edges: list[Walk], text: str) -> None:
    network = lb.Network(edges, n=9, topology=lb.Mesh(3, 3))
    with pytest.raises(ValueError, match=text):
        lb.minimax_flow(network, [0] * 9, routing="dimension-order")
    with pytest.raises(ValueError, match="must have the 4 nodes"):
        lb.check_routing(lb.Network([(0, 1)], topology=lb.Hypercube(2)), "e-cube")


@pytest.mark.parametrize("topology", [lb.Mesh(1, 1), lb.Hypercube(0), lb.Chain(1)])
def test_networks_without_links_can_be_routed(topology: lb.Topology) -> None:
    for routing in ("dimension-order", lb.RoutingScheme(lambda u, via, w: True)):
        p = lb.minimax_flow(topology.network(), [3], routing=routing)
        assert (p.eliminated, p.routes()) == (0, [])
        assert p.verify()
