"""Minimax flow of exact and float data against every cut of small networks, in rationals."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastlb as lb


@dataclass
class Given:
    """A problem as a caller may write it."""

    n: int
    edges: list[tuple[int, int]]
    capacity: list[Any]
    traffic: list[Any]
    excess: list[Any]
    counted: list[bool]
    pinned: list[int]
    max_moves: Any
    contention: str

    def plan(self, **options: Any) -> lb.MinimaxPlan:
        ends = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        network = lb.Network(ends, n=self.n, capacity=self.capacity, traffic=self.traffic)
        p = lb.minimax_flow(
            network,
            self.excess,
            contention=self.contention,
            counted=self.counted,
            pinned=self.pinned,
            max_moves=self.max_moves,
            **options,
        )
        assert isinstance(p, lb.MinimaxPlan)
        return p


@dataclass
class Truth:
    """The same problem in rationals, solved by looking at every cut."""

    value: Fraction
    beta: Fraction
    usable: list[Fraction]
    base: list[Fraction]
    excess: list[Fraction]


def number(draws: random.Random, kind: str, low: int, high: int) -> Any:
    if kind == "integer":
        return draws.randint(low, high)
    if kind == "float":
        size = draws.choice([1e-320, 1e-6, 0.1, 1.0, 1.0, 1e6, 1e306])
        return draws.uniform(low, high) * size
    parts = draws.choice([1, 2, 3, 5, 7])
    exact = Fraction(draws.randint(low * parts, high * parts), parts)
    return exact if kind == "rational" else str(exact)


def problem(seed: int, kind: str) -> Given:
    draws = random.Random(seed)
    n, E = draws.randint(1, 6), draws.randint(0, 12)
    edges = [(draws.randrange(n), draws.randrange(n)) for _ in range(E)]
    return Given(
        n,
        edges,
        [draws.choice([None, math.inf, 0, number(draws, kind, 0, 12)]) for _ in edges],
        [draws.choice([0, 0, number(draws, kind, 0, 9)]) for _ in edges],
        [draws.choice([0, number(draws, kind, -12, 12)]) for _ in range(n)],
        [draws.random() < 0.8 for _ in edges],
        [node for node in range(n) if draws.random() < 0.1],
        draws.choice([None, None, number(draws, kind, 0, 15)]),
        draws.choice(["transfer", "total"]),
    )


def truth(given: Given, whole: bool) -> Truth:
    E = range(len(given.edges))
    excess = [Fraction(0 if i in given.pinned else Fraction(x)) for i, x in enumerate(given.excess)]
    unlimited = sum(map(abs, excess))
    carried = [Fraction(f) for f in given.traffic]
    usable = [
        unlimited if c in (None, math.inf) else max(Fraction(c) - f, Fraction(0))
        for c, f in zip(given.capacity, carried, strict=True)
    ]
    count = given.contention == "total"
    base = [f if count and c else Fraction(0) for f, c in zip(carried, given.counted, strict=True)]

    def passes(cut: tuple[Fraction, list[int]], beta: Fraction | None) -> Fraction:
        ends, across = cut
        limits = [
            usable[k]
            if beta is None or not given.counted[k]
            else min(usable[k], max(beta - base[k], Fraction(0)))
            for k in across
        ]
        return ends + sum(limits)

    cuts = []
    for side in range(1 << given.n):
        inside = [bool(side >> i & 1) for i in range(given.n)]
        ends = sum((-min(x, 0) if s else max(x, 0) for x, s in zip(excess, inside, strict=True)), 0)
        across = [k for k in E if inside[given.edges[k][0]] and not inside[given.edges[k][1]]]
        cuts.append((Fraction(ends), across))
    value = min(passes(cut, None) for cut in cuts)
    if given.max_moves is not None:
        most = Fraction(given.max_moves)
        value = min(value, Fraction(math.floor(most)) if whole else most)
    beta = max((base[k] for k in E if given.counted[k]), default=Fraction(0))
    for cut in cuts:
        corners = {c for k in cut[1] for c in (base[k], base[k] + usable[k])}
        below = beta
        for corner in sorted(c for c in corners if c > beta):
            if passes(cut, below) >= value:
                break
            there, here = passes(cut, corner), passes(cut, below)
            if there >= value:
                beta = below + (value - here) * (corner - below) / (there - here)
                break
            below = corner
    if whole:
        beta = Fraction(math.ceil(beta))
    return Truth(value, beta, usable, base, excess)


def check_flow(given: Given, known: Truth, p: lb.MinimaxPlan) -> None:
    """The flow keeps to the numbers as given, and to the contention told."""
    net = [Fraction(0)] * given.n
    for k, ((u, v), f) in enumerate(zip(given.edges, p.flow.tolist(), strict=True)):
        assert 0 <= Fraction(f) <= known.usable[k]
        if f and given.counted[k]:
            assert Fraction(f) + known.base[k] <= Fraction(p.contention)
        net[u] += Fraction(f)
        net[v] -= Fraction(f)
    for out, amount in zip(net, known.excess, strict=True):
        assert min(amount, 0) <= out <= max(amount, 0)
    assert sum(out for out in net if out > 0) == Fraction(p.eliminated)
    assert p.verify()


@pytest.mark.parametrize("seed", range(120))
@pytest.mark.parametrize("kind", ["integer", "rational", "text"])
@pytest.mark.parametrize("method", ["fused", "mmc01"])
def test_exact_data(seed: int, kind: str, method: str) -> None:
    given = problem(seed, kind)
    numbers = [*given.excess, *given.traffic, *given.capacity]
    exact = [Fraction(x) for x in numbers if x not in (None, math.inf)]
    integral = False if kind == "integer" and seed % 2 else None
    whole = integral is None and all(x.denominator == 1 for x in exact)
    p = given.plan(method=method, integral=integral)
    known = truth(given, whole)
    assert (p.eliminated, p.contention) == (known.value, known.beta)
    assert isinstance(p.contention, int if whole else Fraction)
    assert p.iterations <= sum(given.counted) + 1
    check_flow(given, known, p)


@pytest.mark.parametrize("seed", range(250))
@pytest.mark.parametrize("method", ["fused", "mmc01"])
def test_float_data_are_within_a_quantum(seed: int, method: str) -> None:
    given = problem(seed, "float")
    given.excess[0] = float(given.excess[0])
    p = given.plan(method=method)
    known = truth(given, whole=False)
    assert isinstance(p.contention, float)
    assert abs(Fraction(p.eliminated) - known.value) <= Fraction(p.quantum)
    assert abs(Fraction(p.contention) - known.beta) <= Fraction(p.quantum)
    check_flow(given, known, p)


@pytest.mark.parametrize(
    ("excess", "pinned", "kind"),
    [
        ([5, Fraction(-11, 2), 0], [], Fraction),
        (["11/2", -5, 0], [], Fraction),
        ([5, -5, Fraction(1, 2)], [2], Fraction),
        ([5, -5.5, 0], [], float),
        ([5, -5, 0.5], [2], float),
    ],
)
def test_data_stay_divisible_when_what_divides_them_cannot_move(
    excess: list[Any], pinned: list[int], kind: type
) -> None:
    p = lb.minimax_flow(lb.Network([(0, 1), (0, 1)], n=3), excess, pinned=pinned)
    assert p.contention == 2.5
    assert isinstance(p.contention, kind)


def test_the_most_that_may_move_is_exact() -> None:
    network = lb.Network([(0, 1), (0, 1)])
    assert lb.minimax_flow(network, [5, -5], max_moves="7/2").eliminated == 3
    divided = lb.minimax_flow(network, [5, -5], max_moves="7/2", integral=False)
    assert (divided.eliminated, divided.contention) == (Fraction(7, 2), Fraction(7, 4))
    assert lb.minimax_flow(network, ["1/3", -1], max_moves=0.1).eliminated == Fraction(1, 10)
    more = lb.minimax_flow(network, [Fraction(5, 2), -5], max_moves=Fraction(8, 3))
    assert more.eliminated == Fraction(5, 2)


def test_tiny_traffic_under_huge_loads_still_counts() -> None:
    p = lb.minimax_flow(lb.Network([(0, 1)], capacity=2.0**1000, traffic=5e-324), [1e308, -1e308])
    assert Fraction(p.flow[0]) + Fraction(5e-324) <= Fraction(2) ** 1000
    assert p.verify()


def test_contention_beyond_the_digits_of_a_float() -> None:
    network = lb.Network([(0, 1)], traffic=1e12)
    p = lb.minimax_flow(network, [1e-3, -1e-3], contention="total")
    assert 0 <= Fraction(1e-3) - Fraction(p.eliminated) <= Fraction(p.quantum)
    assert Fraction(p.contention) >= 10**12 + Fraction(p.flow[0])
    assert abs(Fraction(p.contention) - 10**12 - Fraction(1e-3)) <= Fraction(p.quantum)
    heavy = lb.Network([(0, 1)], traffic=1.7e308)
    with pytest.raises(OverflowError, match="float64"):
        lb.minimax_flow(heavy, [1e308, -1e308], contention="total")


def test_networks_without_links_take_empty_masks() -> None:
    network = lb.Network([], n=2)
    assert lb.minimax_flow(network, [5, -5], counted=[], pinned=[]).eliminated == 0


def test_levels_end_with_the_links_that_count() -> None:
    p = lb.minimax_flow(lb.Network([(0, 1), (0, 1)]), [7, -7], integral=False, levels=3)
    assert p.levels == (Fraction(7, 2),)


def test_too_large_a_contention_is_refused_at_once() -> None:
    network = lb.Network([(0, 1)], traffic=2**61)
    with pytest.raises(OverflowError, match="numerator"):
        lb.minimax_flow(network, [1, -1], contention="total", integral=False)
    with pytest.raises(OverflowError, match=r"about 2\*\*16609"):
        lb.minimax_flow(network, [10**5000, -(10**5000)])


@pytest.mark.parametrize("excess", [[7, -7, 0], ["7/2", "-7/2", 0], [7.5, -7.5, 0.0]])
def test_verify_looks_at_what_is_shown(excess: list[Any]) -> None:
    network = lb.Network([(0, 1), (0, 2), (2, 1)], capacity=[5, 5, 5])

    def plan() -> lb.MinimaxPlan:
        p = lb.minimax_flow(network, excess)
        assert isinstance(p, lb.MinimaxPlan)
        assert p.verify()
        return p

    altered = plan()
    altered.flow.flags.writeable = True
    altered.flow[0] += 1
    with pytest.raises(ValueError, match="flow is the one"):
        altered.verify()
    other = plan()
    other.bottleneck.flags.writeable = True
    other.bottleneck[0] = 1
    with pytest.raises(ValueError, match="bottleneck"):
        other.verify()
    fuller = plan()
    vars(fuller)["full_links"] = np.array([0])
    with pytest.raises(ValueError, match="full links"):
        fuller.verify()
    narrower = plan()
    vars(narrower)["network"] = network.network(capacity=1)
    with pytest.raises(ValueError, match="capacity left"):
        narrower.verify()
    poorer = plan()
    vars(poorer)["excess"] = type(poorer.excess)(poorer.excess.values // 2, np.zeros(3, bool))
    with pytest.raises(ValueError, match="more than it has"):
        poorer.verify()
