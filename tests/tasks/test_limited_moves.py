"""A limit of moves: never worse than the best single moves, one after the other."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests.oracles import tasks as oracle
from tests.tasks.test_vt_tasks import tasks_of_vt


def drawn(seed: int) -> dict[str, Any]:
    """Draw tasks on few nodes; some are pinned, nodes have speeds, and memory is short."""
    draws = np.random.default_rng(seed)
    nodes = int(draws.integers(2, 6))
    count = int(draws.integers(16, 30))
    sizes = draws.integers(1, 10 ** int(draws.integers(1, 5)), count)
    owner = np.minimum(draws.integers(0, nodes, count), draws.integers(0, nodes, count))
    problem: dict[str, Any] = {"sizes": sizes.tolist(), "owner": owner.tolist(), "nodes": nodes}
    if seed % 2:
        problem["sizes"] = (draws.exponential(size=count) + 0.1).tolist()
    if seed // 2 % 2:
        problem["movable"] = (draws.random(count) < 0.8).tolist()
    if seed // 4 % 2:
        problem["weights"] = draws.choice([1, 2, 4], nodes).tolist()
    if seed // 8 % 2:
        problem["memory"] = draws.integers(1, 20, count).tolist()
        held = np.bincount(owner, problem["memory"], nodes)
        problem["memory_limit"] = (np.maximum(held, held.mean()) + 3).tolist()
    return problem


@pytest.mark.parametrize("seed", range(16))
def test_single_moves_one_after_the_other_are_no_better(seed: int) -> None:
    problem = drawn(seed)
    for most in (1, 2, 4, 9):
        twin = oracle.Problem(**problem, max_moves=most)
        sizes, owner, nodes, *_ = problem.values()
        options = {name: problem[name] for name in list(problem)[3:]}
        a = lb.assign_tasks(sizes, owner, nodes, max_moves=most, **options)
        oracle.check(twin, a)
        assert a.verify()
        assert len(a.moves) <= most
        assert a.largest <= oracle.greedy(twin, most) * (1 + (seed % 2) * 1e-12), most


def test_tasks_of_vt() -> None:
    sizes, owner = tasks_of_vt()
    twin = oracle.Problem(sizes.tolist(), owner.tolist(), 16)
    largest = []
    for most in range(0, 46, 5):
        a = lb.assign_tasks(sizes, owner, 16, max_moves=most)
        assert a.verify()
        assert len(a.moves) <= most
        if most <= 10:
            assert a.largest <= oracle.greedy(twin, most)
        largest.append(a.largest)
    assert all(more <= fewer for fewer, more in pairwise(largest))
    # As good as without a limit.
    assert largest[-1] == lb.assign_tasks(sizes, owner, 16).largest
    few = [lb.assign_tasks(sizes, owner, 16, max_moves=k).largest for k in (1, 8, 20)]
    assert few[:2] == [2363, 1431]
    assert few[2] < 1030


def test_one_move_is_the_best_one() -> None:
    """All owners that differ in one place are tried."""
    draws = np.random.default_rng(9)
    sizes, owner = draws.integers(1, 100, 20), draws.integers(0, 2, 20)
    loads = np.bincount(owner, sizes, 3)
    best = loads.max()
    for task in range(20):
        for node in range(3):
            after = loads.copy()
            after[owner[task]] -= sizes[task]
            after[node] += sizes[task]
            best = min(best, after.max())
    assert lb.assign_tasks(sizes, owner, 3, max_moves=1).largest == best


@pytest.mark.parametrize("most", [0, 1, 2, 3, 6, 16, 20])
def test_an_exchange_counts_two_moves(most: int) -> None:
    # Moving one task makes it worse; each exchange takes 2 off the 32 that are the difference.
    sizes, owner = np.repeat([102, 100], 16), np.repeat([0, 1], 16)
    a = lb.assign_tasks(sizes, owner, 2, max_moves=most)
    assert a.verify()
    assert a.largest == 1632 - 2 * min(most // 2, 8)


def test_many_tasks_with_a_limit() -> None:
    draws = np.random.default_rng(3)
    sizes, owner = draws.lognormal(0, 1.5, 5000), draws.integers(0, 32, 5000) // 2
    before = lb.assign_tasks(sizes, owner, 32, max_moves=0)
    assert before.largest == before.initial_largest
    largest = [before.largest]
    for most in (16, 64, 256, 1024):
        a = lb.assign_tasks(sizes, owner, 32, max_moves=most)
        assert a.verify()
        assert len(a.moves) <= most
        largest.append(a.largest)
    assert sorted(largest, reverse=True) == largest
    assert largest[-1] == pytest.approx(a.bound, rel=1e-4)


def test_slack_ends_the_steps() -> None:
    sizes, owner = tasks_of_vt()
    a = lb.assign_tasks(sizes, owner, 16, max_moves=25, slack=0.2)
    assert a.largest <= 1.2 * a.bound
    assert len(a.moves) < 20
