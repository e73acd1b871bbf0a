"""The simulated search against its twin, its invariants, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests.oracles import binary, search
from tests.programs.strategies import programs


def setting(chance: np.random.Generator) -> dict[str, Any]:
    return {
        "trigger": str(chance.choice(["idle", "always", "period"])),
        "period": int(chance.integers(1, 4)),
        "round_cost": float(chance.integers(0, 3)) / 2,
        "unit_cost": float(chance.integers(0, 3)) / 4,
        "granularity": str(chance.choice(["row", "sequence"])),
        "assignment": str(chance.choice(["modular", "central"])),
    }


def some_faults(chance: np.random.Generator, dim: int) -> list[tuple[int, int]]:
    links = lb.Hypercube(dim).edges
    chosen = chance.permutation(len(links))[: chance.integers(0, max(dim, 1))]
    return [(int(u), int(v)) for u, v in links[chosen]]


@pytest.mark.parametrize("seed", range(4))
def test_simulations_equal_the_twin(seed: int) -> None:
    chance = np.random.default_rng(seed)
    for c, A, b in programs(seed, 100, 9, 7):
        dim = int(chance.integers(0, 5))
        faults = some_faults(chance, dim)
        options = setting(chance)
        balanced = bool(chance.random() < 0.8)
        run = lb.simulate_search(
            c, A, b, lb.Hypercube(dim, faults=faults), balance=balanced, **options
        )
        program = c.tolist(), A.tolist(), b.tolist()
        twin = search.simulate(*program, dim, faults, balanced=balanced, **options)
        optimum = None if twin.optimum is None else float(twin.optimum)
        assert (run.time, run.units, run.work.tolist()) == (twin.time, twin.units, twin.work)
        assert (run.moved, run.balances) == (twin.moved, twin.balances)
        assert (run.objective, run.argmin) == (optimum, twin.argmin)
        best = binary.brute_force(*program)
        assert optimum == (None if best is None else float(best[0]))


def test_a_batch_equals_its_problems_and_costs_only_add_time() -> None:
    c, A, b = lb.random_binary("planted", 20, 7, seed=4, trials=30)
    cube = lb.Hypercube(4, faults=[(0, 1), (2, 3), (0, 2)])
    together = lb.search_speedup(c, A, b, cube)
    assert together.speedup.shape == (30,)
    assert together.with_balancing.work.shape == (30, 16)
    assert (together.without.time == together.without.work.max(axis=1)).all()
    assert (together.with_balancing.time >= together.with_balancing.work.max(axis=1)).all()
    for i in (0, 17):
        alone = lb.search_speedup(c[i], A[i], b[i], cube)
        assert alone.speedup == together.speedup[i]
        assert alone.with_balancing.moved == together.with_balancing.moved[i]
    dear = lb.simulate_search(c, A, b, cube, round_cost=2, unit_cost=0.5)
    free = together.with_balancing
    assert (dear.work == free.work).all()
    assert (dear.time >= free.time + 2 * free.balances).all()


def test_without_rows_a_sequence_is_feasible_with_its_cost_test() -> None:
    run = lb.simulate_search([1, 1], [], [], lb.Hypercube(2), balance=False)
    assert (run.time, run.objective, run.argmin) == (1, 0, 0)


def test_queues_grow_with_the_items_split() -> None:
    """One sequence a processor, split over and over among 64."""
    c, A, b = np.array([1]), np.ones((300, 1), int), np.zeros(300, int)
    run = lb.simulate_search(c, A, b, lb.Hypercube(6), trigger="always")
    twin = search.simulate(c, A, b, 6, balanced=True, trigger="always")
    assert (run.work.tolist(), run.moved) == (twin.work, twin.moved)
    assert run.time < 20


def test_what_is_refused() -> None:
    program = [1], [[1]], [1]
    cube = lb.Hypercube(1)
    for options, error, text in (
        ({"topology": lb.Ring(4)}, TypeError, "topology must be a Hypercube, got Ring"),
        ({"trigger": "now"}, ValueError, "trigger must be one of idle, always, period, got 'now'"),
        ({"granularity": "bit"}, ValueError, "granularity must be one of row, sequence"),
        ({"assignment": "none"}, ValueError, "assignment must be one of modular, central"),
        ({"period": 0}, ValueError, "period must be a whole number, 1 or more, got 0"),
        ({"round_cost": -1}, ValueError, "round_cost must be finite and not negative, got -1"),
        ({"unit_cost": float("nan")}, ValueError, "unit_cost must be finite and not negative"),
        ({"unit_cost": 10**400}, ValueError, "unit_cost must be finite and not negative"),
        ({"round_cost": float("inf")}, ValueError, "round_cost must be finite and not negative"),
        ({"round_cost": "a"}, TypeError, "round_cost must be a number, got 'a'"),
        ({"period": 10**30}, ValueError, r"period must be .* below 2\*\*63, got 1000"),
        ({"period": 1.5}, TypeError, "period must be a whole number, got 1.5"),
        ({"trigger": ["idle"]}, ValueError, "trigger must be one of"),
        ({"balance": "no"}, TypeError, "balance must be True or False, got 'no'"),
        ({"order": "up", "balance": False}, ValueError, "order must be one of lowest, highest"),
        ({"donor": 1}, ValueError, "donor must be one of latest, earliest, got 1"),
        ({"topology": lb.Hypercube(50), "balance": False}, MemoryError, "the simulation of 1"),
    ):
        with pytest.raises(error, match=text):
            lb.simulate_search(*program, **{"topology": cube, **options})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="runs with and without balancing, got balance"):
        lb.search_speedup(*program, cube, balance=True)
    with pytest.raises(OverflowError, match="c must have costs whose sums compare"):
        lb.simulate_search([1e17, 1e17, 1e-9, 2e-9], np.ones((1, 4)), [1], cube)
    with pytest.raises(MemoryError, match=r"the pairs of the plan of Hypercube\(40"):
        _ = lb.fault_plan(lb.Hypercube(40, faults=[(0, 1)])).pairs
    with pytest.raises(lb.FaultError):
        lb.simulate_search(*program, lb.Hypercube(2, faults=[(0, 1), (0, 2)]))
    with pytest.raises(ValueError, match="at most 24 variables to simulate, got 25"):
        lb.simulate_search(np.ones(25), np.ones((1, 25)), [1], cube)
