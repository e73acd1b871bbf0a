"""The order in which tasks are listed, and so summed, does not change where they go."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastlb as lb


@pytest.mark.parametrize("seed", range(24))
def test_tasks_in_another_order_go_to_the_same_nodes(seed: int) -> None:
    """Sizes that all differ, so that no tie is decided by the number of a task."""
    draws = np.random.default_rng(seed)
    nodes, count = int(draws.integers(2, 9)), int(draws.integers(3, 120))
    sizes = draws.permutation(np.unique(draws.lognormal(0, 3, count)))
    owner = draws.integers(0, nodes, count) // 2
    options: dict[str, Any] = {}
    if seed % 3 == 0:
        options["weights"] = draws.integers(1, 9, nodes) / 10
    if seed % 2:
        exact = [sum(map(Fraction, sizes[owner == node])) for node in range(nodes)]
        options["along"] = lb.dde(list(map(float, exact)), lb.Ring(nodes), record="flows")
    a = lb.assign_tasks(sizes, owner, lb.Ring(nodes), **options)
    other = draws.permutation(count)
    b = lb.assign_tasks(sizes[other], owner[other], lb.Ring(nodes), **options)
    assert b.owner.tolist() == a.owner[other].tolist()
    assert b.loads.tolist() == a.loads.tolist()
    assert (b.moved, b.bound, b.gap, b.hops) == (a.moved, a.bound, a.gap, a.hops)


def test_loads_do_not_depend_on_the_order_of_sums() -> None:
    """Added one by one in floats, these sums depend on the order."""
    sizes = np.array([1e16, *[1.0] * 64, -0.0, 1e-8, 3.7e15])
    rng = np.random.default_rng(1)
    expected = float(sum(map(Fraction, sizes)))
    naive = set()
    for _ in range(20):
        listed = rng.permutation(sizes)
        naive.add(float(np.add.accumulate(listed)[-1]))
        a = lb.assign_tasks(listed, np.zeros(len(listed), int), 2, max_moves=0)
        assert a.loads.tolist() == [expected, 0.0]
    assert len(naive) > 1
