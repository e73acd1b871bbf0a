"""Balancing by weights: against plain twins in Fractions, and what holds for any weights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.topologies.colouring import colouring
from tests.oracles import weighted

DRAWS = 400
LARGE = [2, 30, 10**6, 2**40, 2**57]


def some_weights(rng: np.random.Generator, n: int) -> list[int]:
    """Weights, now and then wide ones, or some of them 0, not all equal."""
    top = int(rng.choice([2, 10, 1000, 2**31, 2**61 // (n + 1)]))
    weights = rng.integers(0 if rng.random() < 0.4 else 1, top, n, endpoint=True)
    if (weights == weights[0]).all():
        weights[-1] = 2 if weights[-1] == 1 else 1
    return weights.tolist()


def some_loads(rng: np.random.Generator, n: int, top: int | None = None) -> list[int]:
    top = int(rng.choice(LARGE)) if top is None else top
    return rng.integers(0, top, n).tolist()


def grids(draws: int, seed: int) -> Iterator[tuple[np.random.Generator, lb.Grid, list[int]]]:
    """Grids with an order of their axes."""
    for number in range(draws):
        rng = np.random.default_rng([seed, number])
        shape = tuple(rng.integers(1, 6, rng.integers(1, 5)).tolist())
        while math.prod(shape) > 60:
            shape = shape[1:]
        grid = lb.Grid(shape, wrap=(rng.random(len(shape)) < 0.5).tolist())
        yield rng, grid, rng.permutation(len(shape)).tolist()


def cubes(draws: int, seed: int) -> Iterator[tuple[np.random.Generator, int, list[int]]]:
    for number in range(draws):
        rng = np.random.default_rng([seed, number])
        n = int(rng.integers(0, 6))
        yield rng, n, rng.permutation(n).tolist()


@pytest.mark.parametrize("mode", ["rbs", "sbr"])
def test_dde_is_that_of_the_twin(mode: str) -> None:
    for rng, grid, axes in grids(DRAWS // 2, 1):
        if grid.size < 2:
            continue
        loads, weights = some_loads(rng, grid.size), some_weights(rng, grid.size)
        expected = weighted.dde(loads, weights, grid.shape, grid.wrap, axes, mode)
        b = lb.dde(loads, grid, axes=axes, exchange=mode, weights=weights, record="flows")
        assert b.loads.tolist() == expected.loads
        assert b.flows.reshape(grid.ndim, -1).tolist() == expected.flows
        assert b.stages.tolist() == expected.stages
        assert b.moved_per_stage.tolist() == expected.moved_per_axis
        assert b.rounds_per_stage.tolist() == expected.rounds_per_axis
        assert (b.moved, b.local) == (expected.moved, expected.local)
        assert (b.steps, b.simulated_steps) == (expected.steps, expected.simulated_steps)
        figures = lb.dde(loads, grid, axes=axes, exchange=mode, weights=weights)
        assert (figures.moved, figures.rounds, figures.local) == (b.moved, b.rounds, b.local)
        final = lb.dde(loads, grid, axes=axes, weights=weights, record="loads")
        assert final.loads.tolist() == figures.loads.tolist() == expected.loads


def test_dem_is_that_of_the_twin() -> None:
    for rng, n, dims in cubes(DRAWS // 2, 2):
        if n < 1:
            continue
        size = 2**n
        loads, weights = some_loads(rng, size, 50), some_weights(rng, size)
        cube = lb.Hypercube(n)
        links = cube.edges.tolist()
        if rng.random() < 0.5:
            chosen = rng.choice(len(links), rng.integers(0, n + 1))
            cube = lb.Hypercube(n, faults=[links[i] for i in chosen])
        expected = weighted.dem(loads, weights, n, dims, faults=cube.faults)
        b = lb.dem(loads, cube, dims=dims, weights=weights, record="flows")
        assert b.loads.tolist() == expected.loads
        assert b.flows.reshape(n, -1).tolist() == expected.flows
        assert b.stages.tolist() == expected.stages
        assert b.moved_per_stage.tolist() == expected.moved_per_dim
        assert (b.moved, b.local, b.steps) == (expected.moved, expected.local, 3 * n)
        final = lb.dem(loads, cube, dims=dims, weights=weights, record="loads")
        assert final.loads.tolist() == expected.loads


def networks(draws: int, seed: int) -> Iterator[tuple[np.random.Generator, lb.Topology]]:
    """Graphs, now and then in several parts, grids, cubes with faults and without."""
    for number in range(draws):
        rng = np.random.default_rng([seed, number])
        kind, n = number % 4, int(rng.integers(2, 10))
        if kind == 0:
            yield rng, lb.Grid((2, n), wrap=(False, bool(rng.random() < 0.5)))
        elif kind == 1:
            yield rng, lb.Hypercube(3, faults=[(0, 1), (2, 6)][: int(rng.integers(0, 3))])
        elif kind == 2:
            yield rng, lb.HyperHexaCell(1)
        else:
            pairs = rng.integers(0, n, (int(rng.integers(1, 2 * n)), 2))
            pairs[:, 1] = np.where(pairs[:, 0] == pairs[:, 1], (pairs[:, 1] + 1) % n, pairs[:, 1])
            yield rng, lb.Network(pairs.tolist(), n=n)


def reachable(topology: Any, weights: list[int]) -> list[bool]:
    """From which nodes links lead to one with a weight."""
    links = [tuple(pair) for pair in topology.links.tolist()]
    return [far is not None for far in weighted.distances(weights, links)]


@pytest.mark.parametrize("lam", ["1/2", "723/1000", "2/5", "1/20", "9/10"])
def test_gde_is_that_of_the_twin(lam: str) -> None:
    for rng, topology in networks(DRAWS // 5, 3):
        weights = some_weights(rng, topology.size)
        loads = (some_loads(rng, topology.size) * np.array(reachable(topology, weights))).tolist()
        links = colouring(topology)
        ends = list(zip(links.u.tolist(), links.v.tolist(), strict=True))
        colours = [
            ends[first:end] for first, end in zip(links.starts, links.starts[1:], strict=False)
        ]
        most = int(rng.choice([1, 4, 60]))
        expected = weighted.gde(loads, weights, colours, Fraction(lam), max_sweeps=most)
        options = {"lam": lam, "weights": weights, "max_sweeps": most}
        b = lb.gde(loads, topology, **options, record="flows")
        assert b.loads.tolist() == expected.loads
        assert (b.moved, b.local, b.sweeps) == (expected.moved, expected.local, expected.sweeps)
        assert (b.stalled, b.converged) == (expected.stalled, expected.converged)
        flows = b.flows.reshape(-1)[links.slot].tolist()
        assert flows == [expected.flows[pair] for pair in ends]
        assert lb.gde(loads, topology, **options, record="loads").loads.tolist() == expected.loads


def test_gde_ends_with_every_link_as_near_as_whole_units_allow() -> None:
    """``|a / w - b / w'| <= (1/w + 1/w') / 2``, and so ``|a w' - b w| <= (w + w') / 2``."""
    for rng, topology in networks(DRAWS, 4):
        weights = [w + 1 for w in some_weights(rng, topology.size)]
        weights[0] += weights[0] == weights[-1]
        b = lb.gde(some_loads(rng, topology.size), topology, weights=weights)
        assert b.converged
        for u, v in topology.links.tolist():
            apart = abs(int(b.loads[u]) * weights[v] - int(b.loads[v]) * weights[u])
            assert 2 * apart <= weights[u] + weights[v]


@pytest.mark.parametrize("lam", ["1/2", "1/3", "99/100"])
def test_every_sweep_that_moves_lowers_the_sum_of_squares_over_weights(lam: str) -> None:
    """So that GDE ends, whatever the weights."""
    for rng, topology in networks(DRAWS // 3, 13):
        weights = [w + 1 for w in some_weights(rng, topology.size)]
        loads = some_loads(rng, topology.size)

        def potential(loads: list[int], weights: list[int] = weights) -> Fraction:
            squares = (Fraction(x * x, w) for x, w in zip(loads, weights, strict=True))
            return sum(squares, Fraction())

        for _ in range(4):
            b = lb.gde(loads, topology, weights=weights, lam=lam, max_sweeps=1)
            after = potential(b.loads.tolist())
            assert after < potential(loads) if b.moved else b.loads.tolist() == loads
            loads = b.loads.tolist()


def test_real_loads_reach_their_shares_by_dde_and_by_a_weighted_dem() -> None:
    """Marginal weights are exact for any weights on any grid."""
    for rng, grid, axes in grids(DRAWS, 5):
        loads, weights = some_loads(rng, grid.size, 1000), some_weights(rng, grid.size)
        if grid.size < 2 or not any(weights):
            continue
        shares = weighted.shares(sum(loads), weights)
        twin = weighted.dde(loads, weights, grid.shape, grid.wrap, axes, real=True)
        assert twin.loads == shares
        b = lb.dde(np.array(loads, np.float64), grid, axes=axes, weights=weights)
        assert b.loads == pytest.approx(np.array(shares, np.float64), rel=1e-13)
        assert float(b.moved) == pytest.approx(float(twin.moved), rel=1e-11, abs=1e-9)
    for rng, n, dims in cubes(DRAWS, 6):
        loads, weights = some_loads(rng, 2**n, 1000), some_weights(rng, 2**n)
        if n < 1:
            continue
        shares = weighted.shares(sum(loads), weights)
        assert weighted.dem(loads, weights, n, dims, real=True).loads == shares
        b = lb.dem(np.array(loads, np.float64), lb.Hypercube(n), dims=dims, weights=weights)
        assert b.loads == pytest.approx(np.array(shares, np.float64), rel=1e-13, abs=1e-12)


def test_whole_units_end_at_most_one_an_axis_off_the_share() -> None:
    for rng, grid, axes in grids(DRAWS, 7):
        if grid.size < 2:
            continue
        loads, weights = some_loads(rng, grid.size), some_weights(rng, grid.size)
        b = lb.dde(loads, grid, axes=axes, weights=weights, record="loads")
        for load, share in zip(b.loads.tolist(), weighted.shares(sum(loads), weights), strict=True):
            assert abs(load - share) < grid.ndim
    for rng, n, dims in cubes(DRAWS, 8):
        if n < 1:
            continue
        loads, weights = some_loads(rng, 2**n), some_weights(rng, 2**n)
        b = lb.dem(loads, lb.Hypercube(n), dims=dims, weights=weights, record="loads")
        for load, share in zip(b.loads.tolist(), weighted.shares(sum(loads), weights), strict=True):
            assert abs(load - share) < n


def test_nodes_of_weight_0_are_evacuated() -> None:
    for rng, grid, _ in grids(DRAWS, 9):
        if grid.size < 2:
            continue
        weights = np.array(some_weights(rng, grid.size))
        weights[rng.random(grid.size) < 0.5] = 0
        # A light node between heavy ones lets little pass, and GDE would take long.
        weights[rng.integers(grid.size)] = weights.max() + 3
        for loads in (some_loads(rng, grid.size, 10**6), rng.random(grid.size)):
            results = [lb.dde(loads, grid, weights=weights), lb.gde(loads, grid, weights=weights)]
            results.append(lb.gde(loads, grid, weights=weights, lam="1/3"))
            if set(grid.shape) == {2}:
                results.append(lb.dem(loads, lb.Hypercube(grid.ndim), weights=weights))
            for b in results:
                assert not b.loads.reshape(-1)[weights == 0].any()
                assert (b.loads >= 0).all()
                assert b.loads.sum() == pytest.approx(np.sum(loads))


def test_real_loads_by_gde_are_those_of_the_twin() -> None:
    for rng, topology in networks(DRAWS // 4, 10):
        weights = some_weights(rng, topology.size)
        loads = (rng.random(topology.size) * reachable(topology, weights)).tolist()
        links = colouring(topology)
        ends = list(zip(links.u.tolist(), links.v.tolist(), strict=True))
        colours = [
            ends[first:end] for first, end in zip(links.starts, links.starts[1:], strict=False)
        ]
        expected = weighted.gde(
            loads, weights, colours, Fraction(1, 2), tol=Fraction(1, 10**6), max_sweeps=8
        )
        b = lb.gde(
            loads, topology, lam="1/2", weights=weights, tol=1e-6, max_sweeps=8, record="flows"
        )
        assert b.loads == pytest.approx(np.array(expected.loads, np.float64), abs=1e-12)
        assert (b.sweeps, b.converged) == (expected.sweeps, expected.converged)
        assert float(b.moved) == pytest.approx(float(expected.moved), abs=1e-10)
        assert b.loads.sum() == pytest.approx(sum(loads))


def test_the_figures_are_those_of_load_over_weight() -> None:
    for rng, grid, _ in grids(100, 11):
        if grid.size < 2:
            continue
        weights = [Fraction(w, 8) for w in some_weights(rng, grid.size)]
        loads = some_loads(rng, grid.size)
        b = lb.dde(loads, grid, weights=weights)
        for held, difference, imbalance in (
            (loads, b.initial_difference, b.initial_imbalance),
            (b.loads.tolist(), b.difference, b.imbalance),
        ):
            ratios = [load / w for load, w in zip(held, weights, strict=True) if w]
            total = sum(load for load, w in zip(held, weights, strict=True) if w)
            mean = Fraction(total) / sum(weights)
            rounding = 1e-15 * float(max(ratios))
            assert difference == pytest.approx(float(max(ratios) - min(ratios)), abs=rounding)
            expected = float(max(ratios) / mean - 1) if total else 0.0
            assert imbalance == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert b.cost == pytest.approx(b.moved / max(1, sum(loads)))
        assert b.weights.tolist() == [float(w) for w in weights]


@pytest.mark.parametrize("ring", [False, True])
def test_one_line_as_a_table(ring: bool) -> None:
    for number in range(DRAWS):
        rng = np.random.default_rng([12, number])
        k = int(rng.integers(1, 9))
        loads, weights = some_loads(rng, k), some_weights(rng, k)
        if not any(weights):
            continue
        expected = weighted.dde_line(loads, weights, ring)
        line = lb.dde_line(loads, ring=ring, weights=weights)
        assert line.quotas.tolist() == expected.quotas
        assert line.suffix_quotas.tolist() == expected.suffix_quotas
        assert line.suffix_sums.tolist() == expected.suffix_sums
        assert (line.flows.tolist(), line.shift) == (expected.flows, expected.shift)
    real = lb.dde_line([6.0, 1.0, 0.0], ring=ring, weights=[1, 2, 4])
    assert real.quotas.tolist() == [1.0, 2.0, 4.0]
    assert real.flows.tolist() == ([1.0, 0.0, -4.0] if ring else [5.0, 4.0, 0.0])
    assert lb.dde_line([5, 1, 1], ring=ring, weights=[2, 2, 2]).flows.tolist() == (
        lb.dde_line([5, 1, 1], ring=ring).flows.tolist()
    )
