"""What nodes have too much of, against plain sorting."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests.oracles import weighted


@pytest.mark.parametrize("seed", range(40))
def test_the_most_loaded_nodes_keep_the_rest(seed: int) -> None:
    draws = random.Random(seed)
    loads = [draws.choice([draws.randint(-5, 9), draws.randint(-(2**62), 2**62)]) for _ in range(9)]
    quota, rest = divmod(sum(loads), len(loads))
    keep = sorted(range(len(loads)), key=lambda i: (-loads[i], i))[:rest]
    expected = [load - quota - (i in keep) for i, load in enumerate(loads)]
    if max(map(abs, expected)) < 2**63:
        assert lb.excess_load(loads).tolist() == expected
        assert sum(expected) == 0


def test_targets_and_batches() -> None:
    loads = np.array([[4, 0, 2], [1, 1, 1]])
    assert lb.excess_load(loads).tolist() == [[2, -2, 0], [0, 0, 0]]
    assert lb.excess_load(loads, target=1).tolist() == [[3, -1, 1], [0, 0, 0]]
    assert lb.excess_load(loads, target=[4, 1, 0.5]).tolist() == [[0, -1, 1.5], [-3, 0, 0.5]]
    assert lb.excess_load([0.5, 1.5]).tolist() == [-0.5, 0.5]


@pytest.mark.parametrize("seed", range(40))
def test_by_weight_the_largest_remainders_get_the_rest(seed: int) -> None:
    """Of equal remainders the most loaded nodes, so that fewer units move."""
    draws = random.Random(seed)
    loads = [draws.choice([draws.randint(-5, 9), draws.randint(0, 2**59)]) for _ in range(9)]
    weights = [draws.choice([0, 1, 1, 2, draws.randint(1, 2**50)]) for _ in loads]
    weights[0] += 1
    shares = weighted.shares(sum(loads), weights)
    floors = [math.floor(share) for share in shares]
    order = sorted(range(9), key=lambda i: (floors[i] - shares[i], -loads[i], i))
    rounded_up = order[: sum(loads) - sum(floors)]
    expected = [load - floors[i] - (i in rounded_up) for i, load in enumerate(loads)]
    assert lb.excess_load(loads, weights=weights).tolist() == expected
    batch = lb.excess_load([loads, loads[::-1]], weights=weights)
    assert batch[0].tolist() == expected
    equal = lb.excess_load([loads, loads[::-1]], weights=["1/3"] * 9)
    assert equal.tolist() == lb.excess_load([loads, loads[::-1]]).tolist()


def test_weights_of_floats_and_bad_ones() -> None:
    assert lb.excess_load([0.5, 1.5, 1.0], weights=[1, 0.5, 0]).tolist() == [-1.5, 0.5, 1.0]
    ring = lb.Ring(4).network(capacity=10)
    plan = lb.minimax_flow(ring, lb.excess_load([8, 0, 0, 0], weights=[1, 2, 1, 0]))
    assert (plan.eliminated, plan.verify()) == (6, True)
    with pytest.raises(ValueError, match="target must be left out with weights"):
        lb.excess_load([1, 2], target=1, weights=[1, 2])
    with pytest.raises(ValueError, match="weights must be one number for each of 2 nodes, got 3"):
        lb.excess_load([1, 2], weights=[1, 2, 3])


@pytest.mark.parametrize(
    ("loads", "error", "text"),
    [
        ([], ValueError, "one number for each node"),
        ([True, False], TypeError, "must be integers"),
        ([1.0, float("nan")], ValueError, "finite"),
        ([1e308, 1e308], OverflowError, "totals that fit float64"),
        ([2**63 - 1, -(2**63), -(2**63)], OverflowError, "fit int64"),
    ],
)
def test_bad_loads(loads: list[Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        lb.excess_load(loads)
