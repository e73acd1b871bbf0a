"""Nodes of few tasks: little more than the excess moves, and loads come near their mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests.oracles import tasks as oracle


def ten_a_node(seed: int, nodes: int = 100) -> tuple[Any, Any]:
    draws = np.random.default_rng(seed)
    return draws.random(10 * nodes), np.sort(draws.integers(0, nodes, 10 * nodes))


@pytest.mark.parametrize("seed", range(3))
def test_ten_tasks_a_node(seed: int) -> None:
    sizes, owner = ten_a_node(seed, 300)
    a = lb.assign_tasks(sizes, owner, 300)
    oracle.check(oracle.Problem(sizes.tolist(), owner.tolist(), 300), a)
    assert a.verify()
    # An excess of 2**-14 of the mean counts as none.
    assert a.gap < 1.01 * 2**-14
    assert a.moved < 1.6 * a.excess


@pytest.mark.parametrize("slack", [0.001, 0.01, 0.1])
def test_slack_is_not_exceeded(slack: float) -> None:
    sizes, owner = ten_a_node(4)
    a = lb.assign_tasks(sizes, owner, 100, slack=slack)
    assert a.verify()
    assert a.gap <= slack * (1 + 1e-12)
    above = np.maximum(a.initial_loads - a.bound * (1 + slack), 0).sum()
    assert above <= a.moved < 1.5 * above


def test_speeds_and_pins() -> None:
    sizes, owner = ten_a_node(5)
    draws = np.random.default_rng(6)
    weights = draws.choice([0.5, 1, 1.5], 100).tolist()
    movable = draws.random(1000) < 0.8
    a = lb.assign_tasks(sizes, owner, 100, weights=weights, movable=movable)
    twin = oracle.Problem(sizes.tolist(), owner.tolist(), 100, movable.tolist(), weights)
    oracle.check(twin, a)
    assert a.verify()
    assert a.gap < 1e-3
    assert a.moved < 1.5 * a.excess


def test_integers_meet_their_bound() -> None:
    draws = np.random.default_rng(7)
    sizes, owner = draws.integers(1, 100, 400), draws.integers(0, 50, 400)
    a = lb.assign_tasks(sizes, owner, 50)
    assert a.verify()
    assert (a.status, a.gap) == ("optimal", 0)
    assert a.moved < 2 * a.excess


def test_nothing_moves_where_the_excess_is_small() -> None:
    sizes = np.full(300, 1.0)
    sizes[0] += 1e-5
    a = lb.assign_tasks(sizes, np.arange(300) // 3, 100)
    assert a.moves == []
    assert a.gap < 1e-5
