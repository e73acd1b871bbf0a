"""What nodes have too much of, against plain sorting."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import fastlb as lb


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
